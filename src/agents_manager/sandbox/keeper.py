"""The sandbox as the flow knows it: which level there is, and the job of an agent or a command of
the project as one that runs in it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from agents_manager import registries
from agents_manager.addresses import is_number
from agents_manager.domain import policy
from agents_manager.domain.event.runs import blocked_connections
from agents_manager.flow.ports import CutShort, Job, Keeping, Refusals, Turn
from agents_manager.registries import Registries
from agents_manager.sandbox import bubblewrap, direct, refusals
from agents_manager.sandbox.bubblewrap import Bounds, Cage
from agents_manager.sandbox.egress import HTTPS
from agents_manager.sandbox.levels import Level, Levels
from agents_manager.sandbox.supervision import EGRESS_LOG, LIMIT, TROUBLE

CAGE = "sandbox.json"
LOG = "sandbox"
"""In the directory of a job: what the sandbox says."""
UNPRIVILEGED = 1024
"""The first port that programs without rights may listen at."""
LAST_PORT = 65_535
LOOPBACK = ("127.0.0.1", "localhost", "::1")
ADDRESSES = ("BASE_URL", "API_BASE")
"""How the names of variables end that lead to a model server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the user configured."""

    level: str = "auto"
    hosts: Sequence[str] = ()
    addresses: Sequence[str] = ()
    """`host:port` of a private network."""
    registries: bool = False
    """Whether the package registries that this machine is configured for may be reached, too."""
    reads: Sequence[Path] = ()
    writes: Sequence[Path] = ()
    lock_settings: bool = True
    bounds: Bounds = field(default_factory=Bounds)


class Keeper:
    def __init__(self, home: Path, rules: Callable[[], Rules], levels: Levels) -> None:
        self._home = home
        self._rules = rules
        self._levels = levels

    def keeping(self) -> Keeping:
        wanted = self._rules().level
        if wanted == Level.NONE:
            return Keeping(level=Level.NONE, why="The sandbox is switched off (sandbox.level).")
        found = self._levels.found()
        return Keeping(
            level=found.level,
            why=found.why,
            way_out=found.way_out,
            required=found.level.less_than(wanted),
        )

    def owner(self) -> int | None:
        """Returns the user to whom root's files belong in the sandbox; None if they stay ours."""
        apart = bubblewrap.is_root() and self.keeping().level == Level.S3
        return bubblewrap.SERVICE_ID if apart else None

    def job(self, job: Job, turn: Turn) -> Job:
        rules, needs, report = self._rules(), job.needs, turn.report
        env = {**job.env, **turn.reach.env, "HOME": str(turn.home)}
        urls = [*needs.addresses, *(env[name] for name in env if name.endswith(ADDRESSES))]
        places = [_place(url) for url in [*urls, *([report.url] if report else [])]]
        log, tools = job.dir / LOG, toolchains(env)
        hosts = (*needs.hosts, *rules.hosts, *(p.host for p in places if p.open))
        private = (*rules.addresses, *(p.name for p in places if not (p.open or p.near)))
        if hosts or private:  # Some programs ask the proxy for this machine, too.
            private += tuple(p.name for p in places if p.near)
        # Made by the runner, which begins when all of this is written.
        folders = (*job.folders, turn.home, log)
        cage = Cage(
            argv=job.argv,
            cwd=job.cwd,
            env={**tools, **_with_temp(env, job.folders)},
            writes=(
                *(() if turn.only_reads else turn.reach.writes),
                *(*job.folders, turn.home, *rules.writes),
            ),
            reads=(
                *(turn.reach.writes if turn.only_reads else ()),
                *(job.dir / name for name in job.files),
                *(*needs.shown, *turn.reach.reads, *rules.reads),
                *programs([job.argv[0], *needs.programs], env),
                *map(Path, tools.values()),
            ),
            locks=locked(turn.workspace) if rules.lock_settings and not turn.only_reads else (),
            logins={str(place): str(source) for place, source in needs.logins.items()},
            settings={str(place): str(source) for place, source in needs.settings.items()},
            hides=(self._home, Path.home(), Path(turn.project.path)),
            hosts=hosts,
            private=private,
            ports=tuple({*(p.port for p in places if p.near), *ports_allowed(rules)}),
            bounds=rules.bounds,
            level=turn.run.sandbox or Level.S3,
            log=log,
        )
        argv = bubblewrap.kept(cage, job.dir / CAGE)
        files = {**job.files, CAGE: cage.dumped()}
        # The environment is that of the launcher too, which hands on none of it: secrets are known
        # by it that are to be kept out of the output.
        supervised = job.dir / CAGE if cage.level == Level.S3 else None
        return replace(job, argv=argv, files=files, folders=folders, sandbox=supervised)

    def command(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        cwd: Path,
        *,
        writes: Sequence[Path],
        reads: Sequence[Path] = (),
        hides: Sequence[Path] = (),
        log: Path | None = None,
        inherits: Sequence[str] = (),
    ) -> tuple[str, ...]:
        """Returns the command line that runs a command of the project in the sandbox. `log` is a
        folder for the sandbox's own reports, which `ended` reads."""
        rules = self._rules()
        found = registries.from_machine(os.environ, Path.home())
        home = Path(env["HOME"]) if "HOME" in env else None
        if home is not None and home in writes:
            registries.write(found, home)
        packages, tools = Packages.allowed(rules, found), toolchains(env)
        cage = Cage(
            argv=argv,
            cwd=cwd,
            env={**tools, **registries.variables(os.environ), **env},
            writes=(*writes, *rules.writes),
            reads=(
                *(*reads, *rules.reads, *packages.reads, *programs([], env)),
                *map(Path, tools.values()),
            ),
            hides=(self._home, Path.home(), *hides),
            hosts=rules.hosts,
            private=(*rules.addresses, *packages.private),
            ports=tuple({*packages.ports, *ports_allowed(rules)}),
            bounds=rules.bounds,
            level=self._levels.found().level,
            log=log,
            inherits=inherits,
        )
        return bubblewrap.wrapped(cage)

    def start_git_helper(
        self, control: int, writes: Sequence[Path], reads: Sequence[Path]
    ) -> tuple["subprocess.Popen[bytes]", bool] | None:
        """Starts the program that runs git on files that an agent could write. It sees `writes` and
        `reads` and nothing else of the user's, and has no network. Also returns whether it can run
        one command after the other, which takes a process namespace. None without a sandbox."""
        level = self.keeping().level
        if level == Level.NONE:
            return None
        bounds = self._rules().bounds
        beside = (path.parent.parent for path in reads)  # The projects whose objects these are.
        cage = Cage(
            argv=(),
            cwd=Path("/"),
            writes=writes,
            reads=(*reads, *programs([], os.environ)),
            hides=(self._home, Path.home(), *beside),
            bounds=Bounds(processes=bounds.processes, open_files=bounds.open_files),
            level=level,
        )
        return direct.start_git_helper(cage, control)

    def cut_short(self, dir: Path) -> CutShort | None:
        return ended(dir / LOG)

    def refusals(self, dir: Path, complaints: str) -> Refusals:
        found = refusals.found(dir / LOG / EGRESS_LOG, dir / CAGE, complaints)
        return refusals.described(found, self._rules().addresses)

    def refused_by(self, log: Path) -> str:
        """Return which connections the sandbox of a command refused, in a sentence, by the log
        folder of that sandbox; empty if there is none."""
        found = refusals.found(log / EGRESS_LOG, log / CAGE, "")
        told = refusals.described(found, self._rules().addresses)
        places = [refusal.place for refusal in told.refused]
        return blocked_connections(places, told.more, told.allow) if places else ""


def ended(log: Path) -> CutShort | None:
    """Reads from the log folder of a sandboxed command what the sandbox did to it."""
    said = _said(log / LIMIT)
    if said is not None:
        return CutShort(kind="limit", why=said)
    said = _said(log / TROUBLE)
    return None if said is None else CutShort(kind="failed", why=said)


def locked(workspace: Path) -> tuple[Path, ...]:
    """What is there of the files by which a repository has commands run. What is not there yet can
    be made, and is pointed out then; so is a link that leads elsewhere by then."""
    places = (workspace / name for name in policy.LOCKED)
    return tuple(place for place in places if place.exists() and not place.is_symlink())


def _said(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a URL leads to."""

    host: str
    port: int
    tls: bool

    @property
    def name(self) -> str:
        return f"{self.host}:{self.port}"

    @property
    def near(self) -> bool:
        return self.host in LOOPBACK

    @property
    def open(self) -> bool:
        """Whether it is as any name in the network is; else it was meant by whoever wrote it."""
        return self.tls and self.port == HTTPS and not self.near and not is_number(self.host)


@dataclass(frozen=True, slots=True, kw_only=True)
class Packages:
    """What a sandboxed command needs to reach the package registries of this machine."""

    private: tuple[str, ...] = ()
    ports: tuple[int, ...] = ()
    reads: tuple[Path, ...] = ()

    @classmethod
    def allowed(cls, rules: Rules, found: Registries) -> "Packages":
        if not rules.registries:
            return cls(reads=found.reads)
        places = [_place(f"http://{address}") for address in found.addresses]
        return cls(
            private=tuple(place.name for place in places if not place.near),
            # Only root could open the others inside of the sandbox.
            ports=tuple({p.port for p in places if p.near and p.port >= UNPRIVILEGED}),
            reads=found.reads,
        )


def ports_allowed(rules: Rules) -> set[int]:
    """Returns the ports of this machine that `sandbox.addresses` allows. Programs connect to them
    without the proxy."""
    pairs = (address.rpartition(":") for address in rules.addresses)
    ports = {int(port) for host, _, port in pairs if host.strip("[]") in LOOPBACK}
    return {port for port in ports if UNPRIVILEGED <= port <= LAST_PORT}


def _place(url: str) -> Place:
    parts = urlsplit(url)
    tls = parts.scheme == "https"
    return Place((parts.hostname or "").lower(), parts.port or (HTTPS if tls else 80), tls)


def _with_temp(env: Mapping[str, str], folders: Sequence[Path]) -> dict[str, str]:
    """The user's folder for temporary files is hidden; one of the job's own is not."""
    temp = env.get("TMPDIR")
    mine = temp is not None and any(Path(temp).is_relative_to(folder) for folder in folders)
    return dict(env) if mine else {**env, "TMPDIR": "/tmp"}  # noqa: S108 - the sandbox's own


def programs(named: Iterable[str], env: Mapping[str, str]) -> list[Path]:
    """What has to be there for programs that lie in a home: this Python, those that are named, and
    those on the PATH."""
    found = [Path(sys.prefix), Path(sys.base_prefix)]
    for name in named:
        found += _of_program(Path(name))
    for folder in env.get("PATH", "").split(":"):
        if folder.startswith("/"):
            found += _of_folder(Path(folder))
    return list(dict.fromkeys(found))


def toolchains(env: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables that say where the tools are that programs on the PATH only start. The
    `cargo` of rustup looks for them in a home, which is another one in the sandbox."""
    rustup = shutil.which("rustup", path=env.get("PATH", ""))
    if rustup is None:
        return {}
    folder = Path(os.environ.get("RUSTUP_HOME") or Path.home() / ".rustup")
    return {"RUSTUP_HOME": str(folder)} if folder.is_dir() else {}


def _of_program(path: Path) -> list[Path]:
    """The program, where it leads to, and what it needs beside it."""
    if not path.is_absolute() or not path.exists():
        return []
    real = path.resolve()
    if "node_modules" in real.parts:
        # Also as the program is named: a folder above it may be a link.
        named = [one.parts for one in (path, real) if "node_modules" in one.parts]
        above = [Path(*parts[: parts.index("node_modules") + 1]) for parts in named]
        return [*_of_folder(path.parent), *above]
    return [path, real, *_of_folder(real.parent)]


def _of_folder(folder: Path) -> list[Path]:
    """A folder of programs, with all of an installation that is apart from others: one that has
    libraries beside its programs. A folder that holds other things is not shown for a program in
    it."""
    if folder.name not in ("bin", ".bin") or not folder.is_dir():
        return []
    apart = folder.parent.name != ".local" and folder.parent not in (Path("/"), Path.home())
    return [folder.parent] if apart and (folder.parent / "lib").is_dir() else [folder]
