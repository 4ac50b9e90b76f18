"""The program of the detached process: it owns one agent's process tree, keeps the output and says
how it ended. It knows only its job directory and is started without site-packages; of the product
it imports what supervises a sandbox, if the agent is in one. `engine.runners` is its other half."""

# Every live run has this process, so it does without pathlib, typing and dataclasses.
# ruff: noqa: PTH100, PTH105, PTH110, PTH120, PTH123, PTH208

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import select
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, NoReturn

    from agents_manager.sandbox.supervision import Supervision

PROTOCOL = 1
KNOWN_PROTOCOLS = (PROTOCOL,)

GRACE_S = 5.0
"""Between the polite signal and the one that cannot be ignored."""
DRAIN_S = 1.0
"""How long output is awaited of an agent that has already ended."""
KILL_S = 30.0
"""After this long a process that survives SIGKILL hangs in the kernel and is reported instead."""
LOCK_S = 2.0
LEASE_LOOK_S = 5.0
FULL_S = 1.0
"""How often a full disk is tried again."""
HELD_BYTES = 4 * 1024 * 1024
"""So much of what an agent prints is held back where it has no room."""
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
STDERR_BYTES = 1024 * 1024
CHUNK = 64 * 1024
MASK = b"[redacted]"
MAX_LINE = 1024 * 1024
"""A longer line is no message."""

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

LINUX = sys.platform == "linux"


def main(folder: str) -> int:
    umask = os.umask(0o077)
    try:
        hidden = read_hidden()
    except ValueError:
        return 1  # Who started it was killed before it could say that; nothing has begun.
    os.chdir(folder)
    os.dup2(os.open("runner.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), 2)
    lock = take_lock()
    if lock is None or os.path.exists("exit.json") or os.path.exists("runner.json"):
        return 0
    signals = Signals()
    try:
        job = read_job()
    except (OSError, ValueError) as error:
        write_json("exit.json", ending("refused", message=str(error)))
        return 1
    write_json(
        "runner.json",
        {
            "protocol": PROTOCOL,
            "pid": os.getpid(),
            "start_time": start_time(),
            "boot_id": boot_id(),
        },
    )
    write_ending(run(job, umask, signals, hidden))
    return 0


def read_hidden() -> list[bytes]:
    """What must not stand in the output, from whoever started this program."""
    told = b""
    while piece := os.read(0, CHUNK):
        told += piece
    return [text.encode() for text in json.loads(told)]


def take_lock() -> int | None:
    """The lock says that this directory has a runner. Others hold it for a moment only, to look,
    so it is asked for again until its holder turns out to be a runner."""
    lock = os.open("lock", os.O_RDWR | os.O_CREAT, 0o600)
    deadline = time.monotonic() + LOCK_S
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if os.path.exists("runner.json") or time.monotonic() > deadline:
                return None
            time.sleep(0.02)
        else:
            return lock


def read_job() -> Mapping[str, Any]:
    with open("job.json", encoding="utf-8") as file:
        job: dict[str, Any] = json.loads(file.read())
    protocol = job.get("protocol")
    if protocol not in KNOWN_PROTOCOLS:
        raise ValueError(f"the job speaks protocol {protocol!r}, this runner {KNOWN_PROTOCOLS}")
    missing = [k for k in ("run_id", "argv", "cwd", "env", "limits") if k not in job]
    if missing:
        raise ValueError(f"the job lacks {', '.join(missing)}")
    return job


def run(
    job: Mapping[str, Any], umask: int, signals: Signals, hidden: list[bytes]
) -> dict[str, Any]:
    """From the agent's start to the end of the last process it left."""
    limits: Mapping[str, Any] = job["limits"]
    turns = Turns(str(job.get("turn_type", "assistant")), limits.get("turns"))
    output = Sink("output", int(limits["output_bytes"]), Veil(hidden), turns.take)
    errors = Sink("stderr", STDERR_BYTES, Veil(hidden))
    if signals.cancelled:
        return ending("cancelled")
    if LINUX:
        prctl(PR_SET_CHILD_SUBREAPER, 1)
    try:
        sandbox = Sandbox(job["sandbox"]) if job.get("sandbox") else None
    except (OSError, ValueError, LookupError) as error:
        return ending("refused", message=f"the sandbox cannot be prepared: {error}")
    pid, stdout, stderr = start(job, umask, sandbox)
    if sandbox is not None:
        sandbox.supervision.follow(pid)
    lease = Lease(job["lease"]) if job.get("lease") else None
    watch = Watch(pid, {stdout: output, stderr: errors}, signals, turns, lease)
    reason = watch.follow(float(limits["timeout_s"]), limits["silence_s"])
    survivors = watch.end(reason, getattr(signal, job.get("stop_signal", "SIGTERM")))
    if sandbox is not None:
        sandbox.supervision.close(unasked=reason == "exited")
    output.close()
    errors.close()
    return ending(
        reason,
        exit_code=watch.exit_code,
        output_bytes=output.written,
        truncated=output.truncated,
        survivors=survivors,
    )


def ending(reason: str, **fields: Any) -> dict[str, Any]:
    ended_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    blank = {"exit_code": None, "output_bytes": 0, "truncated": False}
    return {"protocol": PROTOCOL, "reason": reason, **blank, **fields, "ended_at": ended_at}


# ------------------------------------------------------------------------------ the agent's process


class Sandbox:
    """The sandbox that the agent is started in. Everything that supervises it is imported before
    the agent is started: the product may be upgraded meanwhile."""

    def __init__(self, file: str) -> None:
        sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        from agents_manager.sandbox import launch, supervision

        self._launch = launch
        self._cage = launch.read(f"@{file}")
        self.supervision: Supervision = supervision.Supervision(self._cage)

    def become(self, umask: int, runner: int) -> NoReturn:
        self._launch.become(self._cage, umask, self.supervision, runner)


def start(
    job: Mapping[str, Any], umask: int, sandbox: Sandbox | None = None
) -> tuple[int, int, int]:
    """Process id and the reading ends of its standard output and error."""
    out_read, out_write = os.pipe()
    err_read, err_write = os.pipe()
    runner = os.getpid()
    pid = os.fork()
    if pid == 0:
        become(job, umask, runner, (out_write, err_write), sandbox)
    os.close(out_write)
    os.close(err_write)
    return pid, out_read, err_read


def become(
    job: Mapping[str, Any],
    umask: int,
    runner: int,
    outputs: tuple[int, int],
    sandbox: Sandbox | None,
) -> NoReturn:
    """Turns the forked child into the agent. Every other descriptor closes on exec by itself."""
    try:
        signal.set_wakeup_fd(-1)
        # Some are ignored by all that a server in the background of a script starts.
        for name in ("SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP", "SIGCHLD", "SIGPIPE"):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
        os.setsid()
        if LINUX:
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != runner:
                os._exit(126)
        os.dup2(os.open("stdin", os.O_RDONLY), 0)
        for number, output in enumerate(outputs, 1):
            os.dup2(output, number)
        if sandbox is not None:
            sandbox.become(umask, runner)
        os.umask(umask)
        os.chdir(job["cwd"])
        argv: list[str] = job["argv"]
        env = {**job["env"], "AM_RUN_ID": job["run_id"]}
        os.execvpe(argv[0], argv, env)  # noqa: S606 - no shell is the point
    except (OSError, TypeError, ValueError) as error:
        os.write(outputs[1], f"The agent could not be started: {error}\n".encode())
        os._exit(127)
    finally:
        os._exit(126)


def prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


class Signals:
    """Signals as something that poll can wait for."""

    def __init__(self) -> None:
        self.cancelled = False
        self.fd, write = os.pipe()
        os.set_blocking(self.fd, False)
        os.set_blocking(write, False)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, self._wake)
        signal.signal(signal.SIGTERM, self._cancel)

    def _wake(self, *_: object) -> None:
        """Without a handler of its own a signal does not reach the descriptor."""

    def _cancel(self, *_: object) -> None:
        self.cancelled = True

    def clear(self) -> None:
        os.read(self.fd, CHUNK)


class Lease:
    """Until when the agent may work: a time in a file that is written again and again, on a clock
    that goes on while the machine sleeps. Where it is not, others do the work from then on."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._until = 0.0

    @property
    def over(self) -> bool:
        if self._now() >= self._until:
            try:
                with open(self._path, encoding="ascii") as file:
                    self._until = float(file.read())
            except (OSError, ValueError):
                return True
        return self._now() >= self._until

    def _now(self) -> float:
        return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class Turns:
    """Counts the messages of a type on their way; a line that is too long is none."""

    def __init__(self, kind: str, limit: int | None) -> None:
        self._kind = kind
        self._limit = limit
        self._number = 0
        self._begun = b""
        """The line that has no end yet; longer than a message once it can be none."""

    @property
    def too_many(self) -> bool:
        return self._limit is not None and self._number > self._limit

    def take(self, data: bytes) -> None:
        if self._limit is None:
            return
        *lines, rest = data.split(b"\n")
        for line in lines:
            whole = self._begun + line
            self._begun = b""
            self._number += len(whole) <= MAX_LINE and self._is_turn(whole)
        if len(self._begun) <= MAX_LINE:
            self._begun += rest

    def _is_turn(self, line: bytes) -> bool:
        if self._kind.encode() not in line:
            return False
        try:
            message = json.loads(line.decode("utf-8", "surrogatepass"))
            return message["type"] == self._kind
        except (ValueError, RecursionError, LookupError, TypeError):
            return False


class Veil:
    """Takes secrets out of what passes. What may be the beginning of one is held back until more
    has come, as output comes in pieces."""

    def __init__(self, needles: list[bytes]) -> None:
        self._needles = needles
        self._held = b""

    def through(self, data: bytes, *, last: bool = False) -> bytes:
        if not self._needles:
            return data
        data = self._held + data
        border = len(data) if last else self._border(data)
        data, self._held = data[:border], data[border:]
        for needle in self._needles:
            if needle in data:
                data = data.replace(needle, MASK)
        return data

    def _border(self, data: bytes) -> int:
        """Up to where it is known what it is; no secret lies on both sides."""
        border = len(data) - max(_begun(needle, data) for needle in self._needles)
        moved = True
        while moved:
            moved = False
            for needle in self._needles:
                at = data.find(needle, max(0, border - len(needle) + 1), border + len(needle) - 1)
                if at != -1 and at < border:
                    border, moved = at, True
        return border


def _begun(needle: bytes, data: bytes) -> int:
    """How many bytes at the end are the beginning of it, but not all."""
    most = min(len(needle) - 1, len(data))
    if needle[:1] not in data[len(data) - most :]:
        return 0
    return next((n for n in range(most, 0, -1) if data.endswith(needle[:n])), 0)


class Sink:
    """A file that takes bytes up to a limit, says so and drops the rest."""

    def __init__(
        self,
        name: str,
        limit: int,
        veil: Veil,
        listener: Callable[[bytes], None] | None = None,
    ) -> None:
        self._fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._limit = limit
        self._veil = veil
        self._listener = listener
        self._held = b""
        """What there was no room for yet."""
        self.written: int = 0
        self.truncated = False

    def take(self, data: bytes) -> None:
        if self._listener is not None:
            self._listener(data)
        self._keep(self._veil.through(data))

    def _keep(self, data: bytes) -> None:
        if self.truncated:
            return
        every = self._held + data
        kept = memoryview(every)[: self._limit - self.written]
        self.truncated = len(kept) < len(every)
        self._held = b""
        try:
            while kept:
                count = os.write(self._fd, kept)
                self.written += count
                kept = kept[count:]
            if self.truncated:
                mark = f"\n[Truncated: only the first {self.written} bytes are kept.]\n"
                os.write(self._fd, mark.encode())
        except OSError as error:
            # A full disk must not end the agent: what it says is held back, or dropped at last.
            passes = error.errno in NO_ROOM and not self.truncated and len(kept) <= HELD_BYTES
            self._held, self.truncated = (bytes(kept), False) if passes else (b"", True)

    def close(self) -> None:
        self._keep(self._veil.through(b"", last=True))
        while self._held:
            time.sleep(FULL_S)
            self._keep(b"")
        if self.written:
            os.fsync(self._fd)
        os.close(self._fd)


class Watch:
    """The agent while it runs: its output on the way to the files, and its end."""

    def __init__(
        self,
        pid: int,
        pipes: dict[int, Sink],
        signals: Signals,
        turns: Turns,
        lease: Lease | None = None,
    ) -> None:
        self.exit_code: int | None = None
        self._lease = lease
        self._pid = pid
        self._pipes = pipes
        self._signals = signals
        self._turns = turns
        self._heard = time.monotonic()
        self._poll = select.poll()
        for fd in (signals.fd, *pipes):
            self._poll.register(fd, select.POLLIN)

    def follow(self, timeout_s: float, silence_s: float | None) -> str:
        """Returns why the watching is over."""
        deadline = time.monotonic() + timeout_s
        while self.exit_code is None:
            now = time.monotonic()
            quiet_at = deadline if silence_s is None else self._heard + silence_s
            if self._signals.cancelled:
                return "cancelled"
            if self._turns.too_many:
                return "turns"
            if now >= deadline:
                return "timeout"
            if now >= quiet_at:
                return "stalled"
            if self._lease is not None and self._lease.over:
                return "interrupted"
            look_at = deadline if self._lease is None else now + LEASE_LOOK_S
            self._turn(min(deadline, quiet_at, look_at))
        return "exited"

    def end(self, reason: str, polite: int) -> list[int]:
        """Ends what is left of the agent; returns the processes that cannot be ended."""
        if reason == "exited":
            self._until(lambda: not self._pipes, DRAIN_S)
        else:
            self._signal_group(polite)
            self._until(lambda: self.exit_code is not None, GRACE_S)
        survivors = self._kill()
        self._until(lambda: not self._pipes, DRAIN_S)
        self._reap()
        return survivors

    def _kill(self) -> list[int]:
        if not LINUX:  # No subreaper there: what left the tree is found by its group only.
            self._signal_group(signal.SIGKILL)
        deadline = time.monotonic() + KILL_S
        # Again and again, because a process can fork between the look and the signal.
        while (alive := descendants()) and time.monotonic() < deadline:
            for pid in alive:
                try:
                    os.kill(pid, signal.SIGKILL)
                except (ProcessLookupError, PermissionError):
                    continue
            self._turn(time.monotonic() + 0.02)
        return alive

    def _signal_group(self, number: int) -> None:
        try:
            os.killpg(self._pid, number)
        except (ProcessLookupError, PermissionError):
            return

    def _until(self, done: Callable[[], bool], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not done() and time.monotonic() < deadline:
            self._turn(deadline)

    def _turn(self, until: float) -> None:
        """Waits for output or a signal, at most until then, and deals with what came."""
        seconds = min(max(0.0, until - time.monotonic()), 3600.0)
        for fd, _ in self._poll.poll(int(seconds * 1000) + 1):
            if fd == self._signals.fd:
                self._signals.clear()
            else:
                self._copy(fd)
        self._reap()

    def _copy(self, fd: int) -> None:
        data = os.read(fd, CHUNK)
        if data:
            self._heard = time.monotonic()
            self._pipes[fd].take(data)
        else:
            self._poll.unregister(fd)
            os.close(fd)
            del self._pipes[fd]

    def _reap(self) -> None:
        """Takes the ended children: the agent, and orphans that this subreaper inherited."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self._pid:
                self.exit_code = os.waitstatus_to_exitcode(status)


# ------------------------------------------------------------------------------- the process table


def descendants() -> list[int]:
    """Living processes below this one, however they detached themselves."""
    if LINUX and childless():
        return []
    children: dict[int, list[int]] = {}
    for pid, parent in parents():
        children.setdefault(parent, []).append(pid)
    found: list[int] = []
    ahead = [os.getpid()]
    while ahead:
        below = children.get(ahead.pop(), [])
        found += below
        ahead += below
    return found


def childless() -> bool:
    """Whether nobody can be below: as a subreaper this process inherits every orphan. To look
    through a long process table takes longer than the rest of the ending."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return False


def parents() -> list[tuple[int, int]]:
    """Process id and parent of every living process."""
    if not LINUX:
        rows = [line.split() for line in ps("-A", "-o", "pid=,ppid=,stat=").splitlines()]
        return [(int(pid), int(parent)) for pid, parent, state in rows if state[0] != "Z"]
    pairs: list[tuple[int, int]] = []
    for name in os.listdir("/proc"):
        if name.isdigit() and (fields := stat(name)) and fields[0] not in "ZX":
            pairs.append((int(name), int(fields[1])))
    return pairs


def stat(pid: str) -> list[str]:
    """The fields of /proc/<pid>/stat from the third on; the second may hold blanks and brackets."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return []


def start_time() -> str | None:
    """With the process id it names a process for good, because ids are used again."""
    if LINUX:
        return stat("self")[19]
    return ps("-o", "lstart=", "-p", str(os.getpid())).strip() or None


def ps(*arguments: str) -> str:
    """The process table where there is no /proc."""
    import subprocess

    done = subprocess.run(["/bin/ps", *arguments], capture_output=True, text=True, check=False)
    return done.stdout


def boot_id() -> str | None:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return None


# --------------------------------------------------------------------------------------- its files


def write_json(name: str, value: Mapping[str, Any]) -> None:
    """Whole or not at all, also after a power cut."""
    fd = os.open(f"{name}.tmp", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(fd, "w", encoding="utf-8") as file:
        json.dump(value, file)
        file.flush()
        os.fsync(fd)
    os.replace(f"{name}.tmp", name)
    folder = os.open(".", os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


def write_ending(value: Mapping[str, Any]) -> None:
    """How the agent ended is known nowhere else: on a full disk it waits for room."""
    while True:
        try:
            return write_json("exit.json", value)
        except OSError as error:
            if error.errno not in NO_ROOM:
                raise
            time.sleep(FULL_S)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
