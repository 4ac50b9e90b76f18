"""Starts, adopts, awaits and stops detached runners (`runner.py`, the program this is the other
half of). A job's directory is its identity: `lock` is held while a runner lives, `runner.json` says
which process it is, `exit.json` how the job ended and that it will never be started again."""

import asyncio
import fcntl
import json
import os
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeVar, cast, get_args

import structlog
from pydantic import BaseModel, ConfigDict, ValidationError

from agents_manager import redaction
from agents_manager.domain.run import Limits
from agents_manager.engine import processes
from agents_manager.engine.processes import Process
from agents_manager.engine.starting import PROGRAM, Child, Starter
from agents_manager.errors import AgentProcessError
from agents_manager.flow.ports import Ended, Job, Pulse, StopReason
from agents_manager.redaction import Redactor

PROTOCOL = 1
ADOPTED_PROTOCOLS = (PROTOCOL - 1, PROTOCOL)
START_S = 2.0
"""How long a runner may take from nowhere to its `runner.json` when we do not know its process."""
STOP_S = 7.0
"""The runner's own grace of 5 s and 2 s more; then the runner itself is killed."""
LOCK_S = 5.0

OWN_FILES = (
    *("job.json", "lock", "runner.json", "runner.log", "output", "stderr", "exit.json"),
    *("report.json", "report.sha256", "pause.json", "stopped-for"),
    *("gateway.json", "gateway.jsonl", "gateway.sha256"),
)

log = structlog.get_logger()


class RunnerFile(Process):
    protocol: int


Reason = Literal["exited", "turns", "refused", "lost"] | StopReason
STOPPED_FOR = "stopped-for"
"""In the directory of a job that was stopped, but by no person: why."""


class ExitFile(BaseModel):
    model_config = ConfigDict(frozen=True)

    reason: Reason
    exit_code: int | None = None
    output_bytes: int = 0
    truncated: bool = False
    message: str | None = None
    survivors: tuple[int, ...] = ()


class DetachedRunners:
    def __init__(
        self,
        argv: Sequence[str] = PROGRAM,
        secrets: Redactor = redaction.NOTHING,
        lease: Path | None = None,
    ) -> None:
        """`secrets` are kept out of what is printed, besides those that the agent is given. `lease`
        is the file that says until when agents may work, where others take over from then on."""
        self._starter = Starter(argv)
        self._secrets = secrets
        self._lease = lease
        self._children: dict[Path, Child] = {}

    async def adopt(self, dir: Path) -> bool:
        return await asyncio.to_thread(_adopted, dir)

    async def start_or_adopt(self, job: Job) -> None:
        if await asyncio.to_thread(_must_start, job, self._lease):
            child = await asyncio.to_thread(self._spawn, job)
            running = {d: c for d, c in self._children.items() if c.returncode is None}
            self._children = {**running, job.dir: child}

    async def wait(self, dir: Path) -> Ended:
        """Only looks: whoever stops waiting leaves the agent at its work."""
        runner = await self._runner(dir)
        if runner is not None:
            await processes.gone(runner)
        end = await asyncio.to_thread(_settle, dir, "lost")
        stopped = end.reason == "cancelled"
        return Ended(
            reason=_stopped_for(dir) if stopped else end.reason,
            exit_code=end.exit_code,
            output_bytes=end.output_bytes,
            truncated=end.truncated,
        )

    async def stop(self, dir: Path, reason: StopReason = "cancelled") -> None:
        if reason != "cancelled":
            await asyncio.to_thread(_write, dir / STOPPED_FOR, reason, durable=True)
        if not await asyncio.to_thread(_forbid, dir):
            runner = await self._runner(dir)
            if runner is not None:
                await processes.end(runner, STOP_S)
        await asyncio.to_thread(_settle, dir, "cancelled")
        await asyncio.to_thread(_kill_marked, dir)

    async def at_work(self, jobs: Path) -> list[Path]:
        """By the processes there are, as there may be very many directories."""
        return await asyncio.to_thread(_at_work, jobs)

    async def pulse(self, dir: Path) -> Pulse | None:
        return await asyncio.to_thread(_pulse, dir)

    def _spawn(self, job: Job) -> Child:
        hidden = Redactor([*self._secrets.values, *job.secrets, *redaction.secrets_of(job.env)])
        return self._starter.start(job.dir.absolute(), hidden.needles)

    async def _runner(self, folder: Path) -> RunnerFile | None:
        """The runner of the job, which may still be starting; None when it ended or never was."""
        deadline = time.monotonic() + START_S
        while True:
            if _read(folder / "exit.json", ExitFile) is not None:
                return None
            runner = _read(folder / "runner.json", RunnerFile)
            if runner is not None:
                return runner
            child = self._children.get(folder)
            starting = time.monotonic() < deadline if child is None else child.returncode is None
            if not starting and not _is_locked(folder):
                return None
            await asyncio.sleep(0.01)


# ------------------------------------------------------------------------------------ the directory


def _must_start(job: Job, lease: Path | None) -> bool:
    """Writes the directory, unless it has or had a runner already."""
    if _adopted(job.dir):
        return False
    _write_job(job, lease)
    return True


def _adopted(folder: Path) -> bool:
    if _read(folder / "exit.json", ExitFile) is not None:
        return True
    runner = _read(folder / "runner.json", RunnerFile)
    if runner is None:
        return False
    if not processes.is_alive(runner):
        _settle(folder, "lost")
    elif runner.protocol not in ADOPTED_PROTOCOLS:
        raise AgentProcessError(
            f"The runner of {folder} speaks protocol {runner.protocol}, this version"
            f" {ADOPTED_PROTOCOLS}. Cancel the run, or go back to the version that started it."
        )
    return True


def _write_job(job: Job, lease: Path | None = None) -> None:
    for folder in (job.dir, *job.folders, *job.needs.shown):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, text in {**job.files, "stdin": job.stdin}.items():
        if not name or "/" in name or name[0] == "." or name in OWN_FILES:
            raise AgentProcessError(f'"{name}" cannot be the name of a file of a job.')
        _write(job.dir / name, text)
    content = {
        "protocol": PROTOCOL,
        "run_id": job.run_id,
        "argv": list(job.argv),
        "cwd": str(job.cwd),
        "env": dict(job.env),
        "limits": job.limits.model_dump(),
        "stop_signal": job.stop_signal,
        "turn_type": job.turn_type,
        "lease": None if lease is None else str(lease),
        "sandbox": None if job.sandbox is None else str(job.sandbox),
    }
    _write(job.dir / "job.json", json.dumps(content))


def _at_work(jobs: Path) -> list[Path]:
    place = jobs.absolute()
    named = {Path(one) for one in processes.last_arguments() if one.startswith(f"{place}/")}
    return sorted(folder for folder in named if folder.parents[1] == place)


def _pulse(folder: Path) -> Pulse | None:
    runner = _read(folder / "runner.json", RunnerFile)
    if runner is None or (folder / "exit.json").exists() or not processes.is_alive(runner):
        return None
    try:
        job, printed = folder / "job.json", (folder / "output").stat().st_size
        limits = Limits.model_validate(json.loads(job.read_bytes())["limits"])
        age_s = max(0.0, time.time() - job.stat().st_mtime)
        return Pulse(limits=limits, output_bytes=printed, age_s=age_s)
    except (OSError, ValueError, LookupError, TypeError):
        return Pulse(limits=Limits(), output_bytes=0)


def _forbid(folder: Path) -> bool:
    """Marks a job that has no runner as never to be started; False when it has one."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _lock(folder, 0) as mine:
        if not mine:
            return False
        if not (folder / "runner.json").exists():
            _write_exit(folder, "cancelled")
        return True


def _settle(folder: Path, reason: Literal["lost", "cancelled"]) -> ExitFile:
    """How the job ended. Where nobody wrote it down the runner was killed: then what it left is
    ended first, and the reason is written in its place."""
    end = _read(folder / "exit.json", ExitFile)
    if end is None:
        _kill_marked(folder)
        with _lock(folder, LOCK_S) as mine:
            if not mine:
                raise AgentProcessError(f'A runner is still at work in "{folder}".')
            end = _write_exit(folder, reason)
        log.warning("runner.lost", dir=str(folder), reason=end.reason)
    if end.message or end.survivors:
        log.warning("runner.ended", dir=str(folder), **end.model_dump())
    return end


def _kill_marked(folder: Path) -> None:
    """Ends what an agent can leave behind whose runner was killed."""
    try:
        run_id: str = json.loads((folder / "job.json").read_bytes())["run_id"]
    except (OSError, ValueError, LookupError, TypeError):
        return
    processes.kill_marked(f"AM_RUN_ID={run_id}")


def _write_exit(folder: Path, reason: Reason) -> ExitFile:
    """Needs the lock. What is written already stays."""
    end = _read(folder / "exit.json", ExitFile)
    if end is None:
        reason = _stopped_for(folder, reason)
        output = folder / "output"
        end = ExitFile(reason=reason, output_bytes=output.stat().st_size if output.exists() else 0)
        ended_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        content = {"protocol": PROTOCOL, **end.model_dump(), "ended_at": ended_at}
        _write(folder / "exit.json", json.dumps(content), durable=True)
    return end


def _stopped_for(folder: Path, reason: Reason = "cancelled") -> Reason:
    """Why the job was stopped, if that was put down; else the reason given."""
    try:
        said = (folder / STOPPED_FOR).read_text(encoding="utf-8")
    except FileNotFoundError:
        return reason
    return cast("StopReason", said) if said in get_args(StopReason) else reason


@contextmanager
def _lock(folder: Path, seconds: float, kind: int = fcntl.LOCK_EX) -> Generator[bool]:
    """Whether the lock was had. It is free exactly when the directory has no runner."""
    fd = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield _had(fd, kind, time.monotonic() + seconds)
    finally:
        os.close(fd)


def _had(fd: int, kind: int, deadline: float) -> bool:
    while True:
        try:
            fcntl.flock(fd, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.02)
        else:
            return True


def _is_locked(folder: Path) -> bool:
    if not folder.exists():
        return False
    with _lock(folder, 0, fcntl.LOCK_SH) as free:
        return not free


M = TypeVar("M", bound=BaseModel)
UNREADABLE: dict[type[BaseModel], dict[str, Any]] = {
    ExitFile: {"reason": "lost", "message": "exit.json cannot be read"},
    RunnerFile: {"protocol": PROTOCOL, "pid": 0, "start_time": None, "boot_id": None},
}


def _read(path: Path, model: type[M]) -> M | None:
    """None when there is no such file. The files are written whole, so an unreadable one was
    tampered with, and counts as the end of a runner."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        return model.model_validate_json(content)
    except ValidationError:
        return model(**UNREADABLE[model])


def _write(path: Path, text: str, *, durable: bool = False) -> None:
    fd, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        file.write(text)
        if durable:
            file.flush()
            os.fsync(fd)
    Path(name).replace(path)
    if durable:
        parent = os.open(path.parent, os.O_RDONLY)
        os.fsync(parent)
        os.close(parent)
