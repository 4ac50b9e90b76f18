"""The only caller of git. Every call has the same small environment and settings that keep a
repository's hooks and configuration from running programs; output is bytes, since file names need
not be text. Filters and merge drivers keep working (Git LFS, git-crypt): their names are free, so
no setting can switch them all off."""

import asyncio
import fcntl
import os
import shutil
import signal
import socket
import stat
import time
from collections.abc import AsyncGenerator, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agents_manager.domain import names
from agents_manager.errors import GitError, GitKilled, InvalidRepository
from agents_manager.scm import locks, remembered
from agents_manager.scm.remembered import Answers, OfSettings
from agents_manager.scm.sandboxed import Box, Command, NoSandbox

TIMEOUT_S = 600.0
STDERR_LIMIT = 64 * 1024
BLOCK = 512
CAPPED = 'ulimit -f "$0" && exec "$@"'
"""`prlimit` is not everywhere. The shell counts in blocks."""
CHUNK = 64 * 1024
NO_SANDBOX = ("bwrap: ", "The sandbox ", "The command could not be started in the sandbox")

SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    "core.sshCommand=ssh -o BatchMode=yes",
    "core.askPass=",
    "core.alternateRefsCommand=true",
    # Else a repository's own setting counts more than GIT_NO_REPLACE_OBJECTS.
    "core.useReplaceRefs=false",
    "core.pager=cat",
    "core.quotePath=false",
    "safe.bareRepository=explicit",
    "protocol.ext.allow=never",
    "diff.external=",
    "log.showSignature=false",
    "user.useConfigOnly=true",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "rebase.updateRefs=false",
    "worktree.guessRemote=false",
    "worktree.useRelativePaths=false",
    "i18n.commitEncoding=UTF-8",
    "i18n.logOutputEncoding=UTF-8",
    "advice.detachedHead=false",
    # A checkout of many files is written by all cores; of fewer, the helpers take longer to start.
    "checkout.workers=0",
    "checkout.thresholdForParallelism=1000",
)
FIXED_ENV = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_ALLOW_PROTOCOL": "file:https:ssh",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
}
# HOME stays: the user's own configuration holds their name, ignored files, filters and trust.
KEPT_ENV = ("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "USER", "LOGNAME")
# The user's keys and way out, for calls to a remote only: a filter of an agent gets neither.
NETWORK_ENV = (
    *("SSH_AUTH_SOCK", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"),
    *("no_proxy", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"),
)
# The home is hidden in the sandbox. What a command left there must not be read by the next one.
BOXED_ENV = {"GIT_CONFIG_GLOBAL": "/dev/null"}
# For a repository whose configuration and objects an agent wrote: nothing is fetched that it lacks.
FOREIGN_ENV = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}
AGENT_SETTINGS = (("gc.auto", "0"), ("maintenance.auto", "false"))
"""No garbage is collected in the repository that all worktrees share while agents work there."""
LFS = "git-lfs"
# Without its program, a filter that is configured as required would fail every checkout.
LFS_OFF = ("clean=", "smudge=", "process=", "required=false")


@dataclass(frozen=True, slots=True)
class Link:
    """A connection between two git commands, of which one may run in the sandbox."""

    asks: socket.socket | None = None
    """The end of the one that fetches, which is told its number."""
    answers: socket.socket | None = None
    """The end of the one that serves, which is its standard input and output."""


Process = asyncio.subprocess.Process | Command


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What git works on, said in full, so that no file in a work tree can lead it elsewhere."""

    git_dir: Path
    work_tree: Path | None = None
    index: Path | None = None
    author: tuple[str, str] | None = None
    settings: tuple[str, ...] = ()
    objects: Path | None = None
    """Where new objects go, instead of into the repository."""
    network: bool = False
    """Whether the user's keys and proxies may be used."""
    foreign: bool = False
    """Whether an agent could have written its configuration or its objects."""
    box: Box | None = None
    """The sandbox for git on files that an agent can write; None for our own repositories."""
    secret: tuple[str, str] | None = field(default=None, repr=False)
    """A setting that stands in the environment of git alone: arguments can be seen by others on the
    machine."""

    @property
    def alone(self) -> "Place":
        """The repository without its work tree. It stays in its sandbox: a filter that ran there
        could have written to it."""
        return replace(self, work_tree=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    stdout: bytes
    stderr: str
    code: int
    cut: bool
    """Whether there was more output than the limit; the rest was not waited for."""

    @property
    def line(self) -> str:
        return os.fsdecode(self.stdout.removesuffix(b"\n"))

    @property
    def path(self) -> Path:
        return Path(self.line).resolve()

    @property
    def items(self) -> list[bytes]:
        """The entries of a `-z` listing."""
        return self.stdout.removesuffix(b"\0").split(b"\0") if self.stdout else []


_held: ContextVar[tuple[int, ...]] = ContextVar("held", default=())


async def git(
    place: Place | Path,
    *args: str | bytes | Path,
    input: bytes | None = None,
    check: bool = True,
    limit: int | None = None,
    largest: int | None = None,
    timeout_s: float = TIMEOUT_S,
    connection: socket.socket | None = None,
) -> Output:
    """Runs git in a place. A folder instead of a place lets git find the repository itself: right
    for the user's checkouts only, never for a tree an agent can write to. No file that it writes
    grows beyond the `largest` number of bytes. A `connection` to another git is passed on under
    its own number."""
    verb = os.fsdecode(args[0])
    began = time.time()
    for guard in _held.get():
        os.pwrite(guard, f"{began:017.3f}".encode(), 0)
    command = [*_limited(largest), "git", *_flags(place), *args]
    try:
        link = Link(asks=connection)
        process = await _start(place, command, _environment(place), input is not None, link)
    except GitError as error:
        raise GitError(f"git {verb} could not be run: {error.message}") from error
    try:
        async with asyncio.timeout(timeout_s):
            output = await _collect(process, input, limit)
    except TimeoutError as error:
        raise GitError(f"git {verb} took longer than {timeout_s:g} s and was stopped.") from error
    finally:
        await _end(process)
    boxed = isinstance(process, Command)
    if boxed and output.code and not output.cut and (why := no_sandbox(output)):
        raise GitError(f"git {verb} could not be run: {why}")
    if (number := _killed_by(output.code)) and not output.cut:
        name = signal.Signals(number).name
        if isinstance(place, Place):
            _signal(process, signal.SIGKILL)  # The gits it started must not go on without it.
            await asyncio.to_thread(locks.drop_since, place.git_dir, began)
        raise GitKilled(f"git {verb} was killed by {name}; trying again may help.")
    if check and output.code and not output.cut:
        raise GitError(f"git {verb} failed: {first_error(output)}")
    return output


async def serve(
    place: Place, *args: str | Path, connection: socket.socket, timeout_s: float
) -> Output:
    """Runs git as the other end of a connection, for a repository that an agent wrote. Returns how
    it ended; the exit status says nothing, since the asking end may stop early."""
    # In the sandbox the repository may seem to be another user's; we say which one it is.
    trusting = replace(place, foreign=True, settings=("safe.directory=*",))
    env = _environment(trusting) | {"HOME": "/nonexistent", "GIT_PROTOCOL": "version=2"}
    flags = [part for setting in (*SETTINGS, *trusting.settings) for part in ("-c", setting)]
    command = ("git", *flags, *args)
    with connection:
        process = await _start(trusting, command, env, input=False, link=Link(answers=connection))
    try:
        async with asyncio.timeout(timeout_s):
            return await _collect(process, None, None)
    except TimeoutError as error:
        raise GitError(f"git {args[0]} took longer than {timeout_s:g} s.") from error
    finally:
        await _end(process)


def _killed_by(code: int) -> int | None:
    return -code if -code in range(1, 32) else None


def no_sandbox(output: Output) -> str | None:
    """Why there was none around a command that was to have one."""
    lines = output.stderr.splitlines()
    return next((names.one_line(line) for line in lines if line.startswith(NO_SANDBOX)), None)


async def both(
    one: Coroutine[Any, Any, Output], other: Coroutine[Any, Any, Output]
) -> tuple[Output, Output]:
    """Two questions that do not wait for each other; if one fails the other is ended."""
    try:
        async with asyncio.TaskGroup() as group:
            asked = group.create_task(one), group.create_task(other)
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from failed
    return asked[0].result(), asked[1].result()


def _limited(largest: int | None) -> Sequence[str]:
    return () if largest is None else ("sh", "-c", CAPPED, str(largest // BLOCK))


async def _start(
    place: Place | Path,
    command: Sequence[str | bytes | Path],
    env: Mapping[str, str],
    input: bool,
    link: "Link",
) -> Process:
    cwd = place if isinstance(place, Path) else place.work_tree or place.git_dir
    if isinstance(place, Place) and place.box:
        _check_folders(place, place.box)
        with suppress(NoSandbox):
            boxed = {**env, **BOXED_ENV}
            return await place.box.helpers.run(
                place.box, command, boxed, cwd, input=input, connection=link.answers
            )
    passed = _held.get()
    if link.asks:
        env, passed = {**env, "GIT_ALLOW_PROTOCOL": "fd"}, (*passed, link.asks.fileno())
    pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    answers = link.answers.fileno() if link.answers else None
    try:
        return await asyncio.create_subprocess_exec(
            *command,
            cwd=cwd,
            env=env,
            stdin=answers or (pipe if input else nothing),
            stdout=answers or pipe,
            stderr=pipe,
            start_new_session=True,
            pass_fds=passed,
        )
    except FileNotFoundError as error:
        missing = "git was not found on PATH; install it" if cwd.is_dir() else f"No folder {cwd}"
        raise GitError(f"{missing}.") from error


def _check_folders(place: Place, box: Box) -> None:
    for folder in (place.work_tree, place.git_dir, place.index):
        if folder is not None and not box.holds(folder):
            raise GitError(f'"{folder}" is not in the sandbox.')


def _flags(place: Place | Path) -> list[str]:
    own = place.settings if isinstance(place, Place) else ()
    lfs = () if shutil.which(LFS) else tuple(f"filter.lfs.{value}" for value in LFS_OFF)
    flags = [part for setting in (*SETTINGS, *lfs, *own) for part in ("-c", setting)]
    if isinstance(place, Place):
        flags.append(f"--git-dir={place.git_dir}")
        if place.work_tree:
            flags.append(f"--work-tree={place.work_tree}")
    return flags


def _environment(place: Place | Path) -> dict[str, str]:
    network = isinstance(place, Place) and place.network
    kept = (*KEPT_ENV, *NETWORK_ENV) if network else KEPT_ENV
    env = {name: os.environ[name] for name in kept if name in os.environ} | FIXED_ENV
    if isinstance(place, Place) and place.foreign:
        env |= FOREIGN_ENV
    if isinstance(place, Place) and place.index:
        env["GIT_INDEX_FILE"] = str(place.index)
    if isinstance(place, Place) and place.objects:
        env["GIT_OBJECT_DIRECTORY"] = str(place.objects)
    if isinstance(place, Place) and place.author:
        for who in ("AUTHOR", "COMMITTER"):
            env[f"GIT_{who}_NAME"], env[f"GIT_{who}_EMAIL"] = place.author
    if isinstance(place, Place) and place.secret:
        env["GIT_CONFIG_COUNT"] = "1"
        env["GIT_CONFIG_KEY_0"], env["GIT_CONFIG_VALUE_0"] = place.secret
    return env


def configured(settings: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The environment variables that give git these settings."""
    env = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings):
        env |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return env


async def _collect(process: Process, input: bytes | None, limit: int | None) -> Output:
    assert process.stderr
    async with asyncio.TaskGroup() as group:
        if input is not None:
            group.create_task(_feed(process, input))
        errors = group.create_task(_read(process.stderr, STDERR_LIMIT, drain=True))
        stdout, cut = await _read(process.stdout, limit) if process.stdout else (b"", False)
        if cut:
            _signal(process, signal.SIGKILL)
    stderr = errors.result()[0].decode(errors="replace")
    return Output(stdout=stdout, stderr=stderr, code=await process.wait(), cut=cut)


async def _feed(process: Process, input: bytes) -> None:
    assert process.stdin
    # A git that fails early closes its input; its exit status tells the story.
    with suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(input)
        await process.stdin.drain()
    process.stdin.close()


async def _read(
    stream: asyncio.StreamReader, limit: int | None, *, drain: bool = False
) -> tuple[bytes, bool]:
    kept = bytearray()
    while chunk := await stream.read(CHUNK):
        kept += chunk
        if limit is not None and len(kept) > limit:
            del kept[limit:]
            if not drain:
                return bytes(kept), True
    return bytes(kept), False


def _signal(process: Process, number: signal.Signals) -> None:
    if isinstance(process, Command):
        process.signal(number)
        return
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)


async def _end(process: Process) -> None:
    if process.returncode is not None:
        return
    # Asked politely first: git removes its lock files then.
    _signal(process, signal.SIGTERM)
    try:
        async with asyncio.timeout(5):
            await process.wait()
    except TimeoutError:
        if isinstance(process, Command):
            process.kill_helper()
        _signal(process, signal.SIGKILL)
        await process.wait()


def first_error(output: Output) -> str:
    lines = [line for line in output.stderr.splitlines() if line.strip()]
    telling = [line for line in lines if line.startswith(("fatal:", "error:"))]
    return names.one_line((telling or lines or [f"exit status {output.code}"])[0])


async def common_dir(repo: Path) -> Path:
    """The repository's own folder, shared by all its worktrees."""
    if not await asyncio.to_thread(repo.is_dir):
        raise InvalidRepository(f'There is no folder "{repo}".')
    if _is_plain(repo):
        return (repo / ".git").resolve()
    found = await git(repo, "rev-parse", "--path-format=absolute", "--git-common-dir", check=False)
    if found.code:
        raise InvalidRepository(f'"{repo}" cannot be used: {first_error(found)}')
    return found.path


def _is_plain(repo: Path) -> bool:
    """Whether this is surely a repository that git would take: the user's own, with all of it in
    its `.git`. To ask git takes longer than the rest of many a question."""
    git_dir = repo / ".git"
    folders = (repo, git_dir, git_dir / "objects", git_dir / "refs")
    try:
        found = [folder.lstat() for folder in folders]
    except OSError:
        return False
    own = all(stat.S_ISDIR(one.st_mode) and one.st_uid == os.geteuid() for one in found)
    return own and (git_dir / "HEAD").is_file() and not (git_dir / "commondir").exists()


async def commit_of(place: Place, name: str) -> str | None:
    found = await git(
        place, "rev-parse", "-q", "--verify", "--end-of-options", f"{name}^{{commit}}", check=False
    )
    return found.line if found.code == 0 else None


async def branch_tip(place: Place, branch: str) -> str | None:
    return await commit_of(place, f"refs/heads/{names.check_branch(branch)}")


_ancestries: Answers[tuple[Path, str, str], bool] = Answers()
_settings: OfSettings[tuple[Path, tuple[str, ...]], Output] = OfSettings()


async def contains(place: Place, tip: str, commit: str) -> bool:
    """Whether the commit is part of the history of the tip; both are hashes."""
    known = _ancestries.get((place.git_dir, tip, commit))
    if known is not None:
        return known
    asked = await git(
        place, "merge-base", "--is-ancestor", "--end-of-options", commit, tip, check=False
    )
    if asked.code > 1:
        raise GitError(f"git merge-base failed: {first_error(asked)}")
    remember_ancestry(place, tip, commit, held=asked.code == 0)
    return asked.code == 0


def remember_ancestry(place: Place, tip: str, commit: str, *, held: bool) -> None:
    """Keeps what `contains` answers, unless an agent could have made it up or it may change."""
    if place.box is None and not place.foreign and has_whole_history(place):
        _ancestries.keep((place.git_dir, tip, commit), held)


def has_whole_history(place: Place) -> bool:
    """Whether history is as the commits say: it is cut off in a shallow clone, which may grow."""
    return not any((place.git_dir / name).exists() for name in ("shallow", "info/grafts"))


async def asked_of_settings(place: Place, *args: str, check: bool = True) -> Output:
    """Runs a git command whose answer depends on configuration alone. It is not asked again while
    the configuration stays as it is."""
    linked = (place.git_dir / "commondir").exists()
    own = place.box or place.foreign or place.author or place.settings or place.network
    if linked or own:
        return await git(place, *args, check=check)
    question = place.git_dir, args
    known = _settings.get(question, place.git_dir)
    if known is not None:
        return known
    before = remembered.stamp(place.git_dir)
    output = await git(place, *args, check=check)
    return _settings.keep(question, before, output)


async def settings_of(place: Place) -> list[tuple[bytes, bytes, bytes | None]]:
    """The scope, the key and the value of each setting; None for a key without a value."""
    listed = (await asked_of_settings(place, "config", "--list", "-z", "--show-scope")).items
    pairs = zip(listed[::2], listed[1::2], strict=True)
    split = ((scope, *entry.partition(b"\n")) for scope, entry in pairs)
    return [(scope, key, value if told else None) for scope, key, told, value in split]


async def programs_off(place: Place, kind: str, values: Sequence[str]) -> tuple[str, ...]:
    """Settings that switch off the filters or merge drivers of the repository's own configuration,
    which an agent's worktree shares; those of the user's stay."""
    listed = await git(place, "config", "--list", "-z", "--name-only", "--show-scope")
    scopes, keys = listed.items[::2], listed.items[1::2]
    names = {
        os.fsdecode(key).rpartition(".")[0]
        for scope, key in zip(scopes, keys, strict=True)
        if key.startswith(f"{kind}.".encode()) and scope in (b"local", b"worktree")
    }
    return tuple(f"{name}.{value}" for name in sorted(names) for value in values)


async def signed(place: Place, store: Place | None = None) -> Place:
    """The same place with an author for our own commits: the user's where git knows one. The store
    is asked for a place that does not know its user."""
    known = await asked_of_settings(store or place, "var", "GIT_COMMITTER_IDENT", check=False)
    if known.code:
        return replace(place, author=("Agents Manager", "agents-manager@localhost"))
    if store is None:
        return place
    name, _, rest = known.line.rpartition(" <")
    return replace(place, author=(name, rest.partition(">")[0]))


@asynccontextmanager
async def locked(common: Path, timeout_s: float = TIMEOUT_S) -> AsyncGenerator[None]:
    """One change to a repository's worktrees and base branches at a time, over all processes. The
    gits started inside hold the lock too: after a kill -9 of this process the next holder waits
    until they are done. If they died as well, what the file tells of the last one is used to clear
    away its locks."""
    path = common / "agents-manager.lock"
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        await _acquire(fd, path, timeout_s)
        if last_git := os.pread(fd, 17, 0):
            await locks.drop_left(common, last_git)
        token = _held.set((*_held.get(), fd))
        try:
            yield
        finally:
            _held.reset(token)
            os.ftruncate(fd, 0)
            fcntl.flock(fd, fcntl.LOCK_UN)
    finally:
        os.close(fd)


async def _acquire(fd: int, path: Path, timeout_s: float) -> None:
    try:
        async with asyncio.timeout(timeout_s):
            # Polled, since a blocking flock would hold a thread that cannot be cancelled.
            while True:
                try:
                    return fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    await asyncio.sleep(0.02)
    except TimeoutError as error:
        raise GitError(f'"{path}" was held by another process for {timeout_s:g} s.') from error
