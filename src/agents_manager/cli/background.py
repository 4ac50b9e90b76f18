"""`am service`: the server or a worker as a service of its user, that the system keeps going."""

import asyncio
import stat
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agents_manager.cli import running, session
from agents_manager.cli.output import Output
from agents_manager.cli.render import Block, Line, Tone, lines, title
from agents_manager.cli.serve import as_json, serve_options, together
from agents_manager.errors import Conflict, InvalidInput

if TYPE_CHECKING:
    from agents_manager.engine.launchers import Launcher, State
    from agents_manager.engine.units import Owner, Unit
    from agents_manager.environment import Settings

SERVER, WORKER = "agents-manager", "agents-manager-worker"
SECRETS, LOG = "service.env", "service.log"
READY_S = 30.0
SETTLED_S = 5.0
"""What it is not by then, after it answered, it does not become by itself."""
worker_option = click.option("--worker", is_flag=True, help='"am worker" instead of "am serve".')
force_option = click.option("--force", is_flag=True, help="Also a file that was changed by hand.")


@dataclass(frozen=True, slots=True)
class Health:
    """Of the process behind the service."""

    ready: bool
    says: str
    answers: bool = False


@dataclass(frozen=True, slots=True)
class Post:
    """Where a service of this user stands."""

    place: "Settings"
    launcher: "Launcher"
    name: str

    @property
    def path(self) -> Path:
        return self.launcher.path(self.name)

    @property
    def found(self) -> str | None:
        try:
            return self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except UnicodeDecodeError:
            return ""

    @property
    def owner(self) -> "Owner | None":
        from agents_manager.engine import units

        found = self.found
        return None if found is None else units.owner(found)

    def refuse_others(self, *, force: bool) -> None:
        owner = self.owner
        if force or owner in (None, "ours"):
            return
        how = "was changed by hand" if owner == "edited" else 'was not made by "am service"'
        raise Conflict(f"{self.path} {how}, and is left as it is; --force takes it all the same.")


@click.group()
def service() -> None:
    """Have the system keep the server going: systemd on Linux, launchd on macOS."""


@service.command()
@worker_option
@serve_options
@force_option
@click.option("--dry-run", is_flag=True, help="Show what would be written, and end.")
@click.option("--yes", is_flag=True, help="Without being asked.")
@as_json
def install(
    worker: bool, force: bool, dry_run: bool, yes: bool, as_json: bool, **serving: Any
) -> None:
    """Write the file of the service, have it start with your session, and start it now.

    Done again it changes nothing, or takes over what changed: the program, the options, AM_HOME,
    PATH. No secret is written; those that the server needs stand in service.env of the data
    directory, as lines of NAME=value, and belong to you alone.
    """
    output = Output(as_json=as_json)
    together(serving["certificate"], serving["key"])
    if worker and any(value is not None for value in serving.values()):
        raise click.UsageError("A worker serves nothing; leave out how it would be reached.")

    def work() -> None:
        post = _post(worker=worker)
        unit = _unit(post, [] if worker else _arguments(serving))
        text = post.launcher.text(unit)
        changed = post.found != text
        document = {"service": post.name, "path": post.path, "text": text, "written": False}
        notes = _notes(post)
        if dry_run:
            output.show({**document, "notes": notes}, lambda: [*_shown(post, text), *_told(notes)])
            return
        _check(post, text, force=force)
        if changed and not yes:
            _confirm(output, post, text)
        if changed or not _goes_on(post):
            _start(post, text)
        health = _until_ready(post)
        state = post.launcher.state(post.name)
        document |= {"written": changed, "state": state, "health": health, "notes": notes}
        done = f"Wrote {post.path}." if changed else f"{post.path} says so already."
        output.show(document, lambda: [Line(done), *_standing(post, state, health), *_told(notes)])
        if not (state.running and health.ready):
            raise click.exceptions.Exit(1)

    session.run(output, lambda: asyncio.to_thread(work))


@service.command()
@worker_option
@as_json
def status(worker: bool, as_json: bool) -> None:
    """Say whether it is installed, starts by itself, runs and is ready; exit code 1 if not."""
    output = Output(as_json=as_json)

    def work() -> None:
        post = _post(worker=worker)
        post.launcher.check()
        owner, state, health = post.owner, post.launcher.state(post.name), _health(post)
        document = {
            **{"service": post.name, "path": post.path, "installed": owner is not None},
            **{"edited": owner not in (None, "ours"), "state": state, "health": health},
        }
        output.show(document, lambda: [_installed(post, owner), *_standing(post, state, health)])
        if not (owner and state.running and health.ready):
            raise click.exceptions.Exit(1)

    session.run(output, lambda: asyncio.to_thread(work))


@service.command()
@worker_option
@force_option
@as_json
def remove(worker: bool, force: bool, as_json: bool) -> None:
    """Stop the service and remove its file. Data and running agents stay."""
    output = Output(as_json=as_json)

    def work() -> None:
        post = _post(worker=worker)
        there = post.owner is not None
        if there:
            post.refuse_others(force=force)
            post.launcher.check()
            post.launcher.stop(post.name)
            post.path.unlink()
            post.launcher.forget(post.name)
        told = f"Stopped and removed {post.path}." if there else f"There is no {post.path}."
        document = {"service": post.name, "path": post.path, "removed": there}
        output.show(document, lambda: [Line(told)])

    session.run(output, lambda: asyncio.to_thread(work))


def _post(*, worker: bool) -> Post:
    from agents_manager import environment

    place = environment.from_environment()
    return Post(place, launcher(place), WORKER if worker else SERVER)


def launcher(place: "Settings") -> "Launcher":
    from agents_manager import environment
    from agents_manager.engine.launchers import Launchd, Systemd

    if sys.platform == "darwin":
        return Launchd(Path.home(), place.home / LOG)
    return Systemd(environment.config_folder())


def _arguments(serving: dict[str, Any]) -> list[str]:
    """Those that were given, as the server takes them; files by their whole paths."""
    words: list[str] = []
    for name, value in serving.items():
        if value is not None:
            told = value.absolute() if isinstance(value, Path) else value
            words += [f"--{name.replace('_', '-')}", str(told)]
    return words


def _unit(post: Post, arguments: Sequence[str]) -> "Unit":
    from agents_manager import environment
    from agents_manager.engine.units import Unit

    program = Path(sys.executable).with_name("am")
    if not program.exists():
        raise InvalidInput(f"There is no {program}; install Agents Manager as a package.")
    work = "worker" if post.name == WORKER else "serve"
    home = post.place.home
    return Unit(
        name=post.name,
        title="Agents Manager" if work == "serve" else "Agents Manager, worker",
        command=[str(program), work, *arguments],
        environment=environment.of_service(home),
        secrets=home / SECRETS,
        log=home / LOG,
    )


def _check(post: Post, text: str, *, force: bool) -> None:
    """Everything that can be in the way, before anything is written."""
    from agents_manager import environment
    from agents_manager.engine import host, units

    post.launcher.check()
    post.refuse_others(force=force)
    if not force and post.found and units.home(post.found) != units.home(text):
        raise Conflict(f"{post.path} works on another data directory; --force replaces it.")
    home = post.place.home
    secrets = home / SECRETS
    if secrets.exists() and stat.S_IMODE(secrets.stat().st_mode) & 0o077:
        raise InvalidInput(f"{secrets} can be read by others on this machine: chmod 600 {secrets}")
    if "AM_DATABASE_URL" in environment.secret_names() and (
        "AM_DATABASE_URL" not in _names(secrets)
    ):
        raise InvalidInput(
            f"AM_DATABASE_URL holds a password, which does not belong into {post.path}. Write it"
            f" into {secrets} as AM_DATABASE_URL=…, with mode 600, then try again."
        )
    other = Post(post.place, post.launcher, SERVER if post.name == WORKER else WORKER)
    if other.found and units.home(other.found) == units.home(text):
        flag = " --worker" if other.name == WORKER else ""
        raise Conflict(
            f"{other.path} works on {home} already, and one engine is enough for it. First: am"
            f" service remove{flag}"
        )
    if host.is_live(home) and not post.launcher.state(post.name).running:
        raise Conflict(f"Another server works on {home}; end it, then try again.")


def _notes(post: Post) -> list[str]:
    from agents_manager import environment

    secrets = post.place.home / SECRETS
    missing = [name for name in environment.secret_names() if name not in _names(secrets)]
    notes = [note] if (note := post.launcher.note()) else []
    if missing:
        notes.append(
            f"Set here, but not for the service: {', '.join(missing)}. What it needs of them, write"
            f" into {secrets} as NAME=value, with mode 600."
        )
    return notes


def _names(file: Path) -> list[str]:
    """Of the variables in a file of them."""
    if not file.exists():
        return []
    found = (
        line.strip() for line in file.read_text(encoding="utf-8", errors="replace").splitlines()
    )
    return [line.partition("=")[0].strip() for line in found if "=" in line and line[0] != "#"]


def _confirm(output: Output, post: Post, text: str) -> None:
    from agents_manager.cli import interview, render

    output.say(render.to_text(_shown(post, text)))
    if not interview.possible():
        raise InvalidInput("Nothing was written; give --yes to write and start it.")
    if not click.confirm("Write and start it?", err=True):
        raise InvalidInput("Nothing was written.")


def _goes_on(post: Post) -> bool:
    state = post.launcher.state(post.name)
    return state.running and state.enabled


def _start(post: Post, text: str) -> None:
    """What was there before comes back where it cannot be started."""
    from agents_manager.engine.launchers import LauncherFailed

    before = post.found
    _write(post.path, text)
    try:
        post.launcher.start(post.name)
    except LauncherFailed:
        if before is None:
            post.path.unlink()
        else:
            _write(post.path, before)
        post.launcher.forget(post.name)
        raise


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def _until_ready(post: Post) -> Health:
    end = time.monotonic() + READY_S
    while True:
        health = _health(post)
        if health.answers:
            end = min(end, time.monotonic() + SETTLED_S)
        if health.ready or time.monotonic() > end or not post.launcher.state(post.name).running:
            return health
        time.sleep(0.2)


def _health(post: Post) -> Health:
    from agents_manager.api.server import address_of
    from agents_manager.engine import host

    home = post.place.home
    if not host.is_live(home):
        return Health(ready=False, says=f"Nothing works on {home}.")
    if post.name == WORKER:
        return Health(ready=True, says=f"It works on {home}.", answers=True)
    address = address_of(home)
    if address is None:
        return Health(ready=False, says="It does not answer yet.")
    try:
        parts = running.get(f"{address}/api/v1/health", home / "token")
    except (OSError, ValueError, KeyError) as error:
        return Health(ready=False, says=f"{address} does not answer: {error}")
    wrong = [f"{part['name']}: {part['says']}" for part in parts["parts"] if not part["ok"]]
    says = " ".join(wrong) or f"It is ready at {address}"
    return Health(ready=parts["ready"], says=says, answers=True)


def _shown(post: Post, text: str) -> list[Block]:
    return [title(str(post.path)), *lines(text, indent=2)]


def _installed(post: Post, owner: "Owner | None") -> Line:
    if owner is None:
        return Line(f"Not installed: there is no {post.path}.", Tone.URGENT)
    changed = "" if owner == "ours" else ", changed by hand"
    return Line(f"Installed: {post.path}{changed}")


def _standing(post: Post, state: "State", health: Health) -> list[Line]:
    starts = "starts with your session" if state.enabled else "does not start by itself"
    process = f", process {state.pid}" if state.pid else ""
    running = Line(f"Service:   {state.says}{process}; it {starts}", _tone(good=state.running))
    told = Line(f"Health:    {health.says}", _tone(good=health.ready))
    log = post.launcher.log_command.format(name=post.name)
    return [running, told, Line(f"Log:       {log}", Tone.QUIET)]


def _tone(*, good: bool) -> Tone:
    return Tone.ADDED if good else Tone.URGENT


def _told(notes: Sequence[str]) -> list[Line]:
    return [Line(note, Tone.URGENT) for note in notes]
