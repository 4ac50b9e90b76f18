"""Detached runners through the port that the flow uses."""

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents_manager.engine import runners as module
from agents_manager.engine.runners import DetachedRunners
from agents_manager.errors import AgentProcessError
from agents_manager.flow.ports import Job, Runners
from tests.runner_jobs import DAEMON, eventually, job, processes_of, shell


@pytest.fixture
async def runners(tmp_path: Path) -> AsyncIterator[Runners]:
    runners = DetachedRunners()
    yield runners
    for folder in written_jobs(tmp_path):
        await runners.stop(folder)


def written_jobs(folder: Path) -> list[Path]:
    return [file.parent for file in folder.glob("*/job.json")]


def is_alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def runner_of(job: Job) -> dict[str, Any]:
    file = job.dir / "runner.json"
    eventually(file.exists)
    return json.loads(file.read_text())


def kill_runner(job: Job) -> None:
    pid = runner_of(job)["pid"]
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: not Path(f"/proc/{pid}").exists())


async def test_job_is_written_run_and_reported(tmp_path: Path, runners: Runners) -> None:
    given = replace(
        shell(tmp_path, "cat; cat job/more.txt; exit 4"), stdin="in ", files={"more.txt": "file"}
    )
    await runners.start_or_adopt(given)
    end = await runners.wait(given.dir)
    assert (end.reason, end.exit_code, end.output_bytes, end.truncated) == ("exited", 4, 7, False)
    assert (given.dir / "output").read_text() == "in file"
    assert stat.S_IMODE(given.dir.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in given.dir.iterdir()} == {0o600}


async def test_runner_is_detached_bare_and_reaped(tmp_path: Path, runners: Runners) -> None:
    given = job(tmp_path, ["sleep", "60"])
    await runners.start_or_adopt(given)
    pid = await asyncio.to_thread(lambda: runner_of(given)["pid"])
    process = Path(f"/proc/{pid}")
    assert (process / "environ").read_bytes() == b""
    assert (process / "cwd").readlink() == given.dir
    assert os.getsid(pid) == pid
    await runners.stop(given.dir)
    await asyncio.to_thread(eventually, lambda: not process.exists())


async def test_jobs_at_work_are_known_by_their_processes(tmp_path: Path, runners: Runners) -> None:
    jobs = tmp_path / "my jobs"
    working = replace(job(tmp_path, ["sleep", "60"]), dir=jobs / "run-1" / "2")
    over = replace(shell(tmp_path, "true"), dir=jobs / "run-2" / "1")
    for one in (working, over):
        await runners.start_or_adopt(one)
    await runners.wait(over.dir)
    await asyncio.to_thread(runner_of, working)
    assert await runners.at_work(jobs) == [working.dir]
    assert await runners.at_work(tmp_path) == []
    await runners.stop(working.dir)
    assert await runners.at_work(jobs) == []


async def test_many_starts_at_once_are_one_agent(tmp_path: Path, runners: Runners) -> None:
    given = shell(tmp_path, "echo ran >> ran; sleep 0.2")
    async with asyncio.TaskGroup() as group:
        for starter in [runners, runners, DetachedRunners(), DetachedRunners()]:
            group.create_task(starter.start_or_adopt(given))
    async with asyncio.TaskGroup() as group:
        ends = [group.create_task(runners.wait(given.dir)) for _ in range(2)]
    await runners.start_or_adopt(given)
    assert {end.result().reason for end in ends} == {"exited"}
    assert (tmp_path / "ran").read_text() == "ran\n"


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def told_of(pid: int, name: str) -> bytes:
    return Path(f"/proc/{pid}/{name}").read_bytes()


@pytest.mark.skipif(sys.platform != "linux", reason="runners are forked on Linux")
async def test_death_of_the_starter_ends_no_agent_and_costs_no_start(
    tmp_path: Path, runners: Runners
) -> None:
    first = shell(tmp_path, "sleep 0.5; echo done")
    await runners.start_or_adopt(first)
    runner = runner_of(first)["pid"]
    starter = parent_of(runner)
    assert starter != os.getpid()
    assert told_of(runner, "cmdline").rstrip(b"\0").endswith(b"\0" + os.fsencode(first.dir))
    assert told_of(starter, "environ") == b""
    os.kill(starter, signal.SIGKILL)
    eventually(lambda: parent_of(runner) != starter)
    second = replace(shell(tmp_path, "echo again"), dir=tmp_path / "second")
    await runners.start_or_adopt(second)
    assert (await runners.wait(second.dir)).exit_code == 0
    assert (await runners.wait(first.dir)).exit_code == 0
    assert (first.dir / "output").read_text() == "done\n"


@pytest.mark.skipif(sys.platform != "linux", reason="runners are forked on Linux")
async def test_starter_never_reads_what_runners_keep_out_of_output(
    tmp_path: Path, runners: Runners
) -> None:
    secret = "not-for-the-starter-" + "x" * 20
    given = replace(shell(tmp_path, f"echo {secret}; sleep 0.5"), secrets=(secret,))
    await runners.start_or_adopt(given)
    starter = parent_of(runner_of(given)["pid"])
    assert secret.encode() not in memory_of(starter)
    assert (await runners.wait(given.dir)).exit_code == 0
    assert (given.dir / "output").read_text() == "[redacted]\n"


def memory_of(pid: int) -> bytes:
    """All that a process can write, as far as it can be read."""
    found = b""
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            begin, end = (int(part, 16) for part in line.split()[0].split("-"))
            if line.split()[1].startswith("rw"):
                memory.seek(begin)
                found += memory.read(end - begin)
    return found


STARTER = """
import asyncio, json, os, signal, sys
from pathlib import Path
from agents_manager.domain.run import Limits
from agents_manager.engine.runners import DetachedRunners
from agents_manager.flow.ports import Job
job = json.loads(sys.argv[1])
job = Job(**{**job, "dir": Path(job["dir"]), "cwd": Path(job["cwd"]), "limits": Limits()})
asyncio.run(DetachedRunners().start_or_adopt(job))
os.kill(os.getpid(), signal.SIGKILL)
"""


async def test_killed_server_loses_nothing_and_the_next_one_adopts(
    tmp_path: Path, runners: Runners
) -> None:
    given = shell(tmp_path, "echo ran >> ran; sleep 0.8; echo done")
    fields = {name: getattr(given, name) for name in ("run_id", "argv", "env", "stdin", "files")}
    fields |= {"dir": str(given.dir), "cwd": str(given.cwd)}
    command = [sys.executable, "-c", STARTER, json.dumps(fields)]
    died = await asyncio.to_thread(subprocess.run, command, check=False)
    assert died.returncode == -signal.SIGKILL
    await runners.start_or_adopt(given)
    assert (await runners.wait(given.dir)).exit_code == 0
    assert (given.dir / "output").read_text() == "done\n"
    assert (tmp_path / "ran").read_text() == "ran\n"


async def test_who_stops_waiting_leaves_the_agent_at_work(tmp_path: Path, runners: Runners) -> None:
    given = shell(tmp_path, "sleep 0.5; echo done")
    await runners.start_or_adopt(given)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await runners.wait(given.dir)
    assert (await runners.wait(given.dir)).exit_code == 0
    assert (given.dir / "output").read_text() == "done\n"


async def test_lost_runner_is_cleaned_up_and_not_started_again(
    tmp_path: Path, runners: Runners
) -> None:
    given = shell(tmp_path, f"{DAEMON}; echo ran >> ran; sleep 60")
    await runners.start_or_adopt(given)
    await asyncio.to_thread(eventually, (tmp_path / "ran").exists)
    await asyncio.to_thread(kill_runner, given)
    assert processes_of(given.run_id), "the daemon outlived its runner"
    await runners.start_or_adopt(given)
    assert processes_of(given.run_id) == []
    assert (await runners.wait(given.dir)).reason == "lost"
    assert (tmp_path / "ran").read_text() == "ran\n"


async def test_loss_is_noticed_while_waiting(tmp_path: Path, runners: Runners) -> None:
    given = shell(tmp_path, f"echo some; {DAEMON}; touch up; sleep 60")
    await runners.start_or_adopt(given)
    await asyncio.to_thread(eventually, (tmp_path / "up").exists)
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(runners.wait(given.dir))
        group.create_task(asyncio.to_thread(kill_runner, given))
    end = waiting.result()
    assert (end.reason, end.exit_code, end.output_bytes) == ("lost", None, 5)
    assert processes_of(given.run_id) == []


async def test_runner_that_dies_at_once_is_lost(tmp_path: Path) -> None:
    runners = DetachedRunners(["false"])
    given = shell(tmp_path, "touch ran")
    await runners.start_or_adopt(given)
    assert (await runners.wait(given.dir)).reason == "lost"


@pytest.mark.parametrize("field", ["start_time", "boot_id"])
async def test_another_process_with_the_runners_id_is_not_the_runner(
    tmp_path: Path, runners: Runners, field: str
) -> None:
    given = shell(tmp_path, "sleep 60")
    await runners.start_or_adopt(given)
    identity = await asyncio.to_thread(runner_of, given)
    stranger = replace(given, dir=tmp_path / "stranger", run_id=given.run_id[:-1])
    stranger.dir.mkdir()
    (stranger.dir / "runner.json").write_text(json.dumps({**identity, field: "1"}))
    await runners.stop(stranger.dir)
    await runners.start_or_adopt(stranger)
    assert (await runners.wait(stranger.dir)).reason == "cancelled"
    assert is_alive(identity["pid"])


async def test_runner_of_a_later_version_is_left_alone(tmp_path: Path, runners: Runners) -> None:
    given = shell(tmp_path, "sleep 60")
    await runners.start_or_adopt(given)
    identity = await asyncio.to_thread(runner_of, given)
    (given.dir / "runner.json").write_text(json.dumps({**identity, "protocol": 99}))
    with pytest.raises(AgentProcessError, match="protocol 99"):
        await runners.start_or_adopt(given)
    assert is_alive(identity["pid"])


async def test_stop_returns_when_all_are_gone(tmp_path: Path, runners: Runners) -> None:
    given = shell(tmp_path, f"{DAEMON}; touch up; sleep 60")
    await runners.start_or_adopt(given)
    await asyncio.to_thread(eventually, (tmp_path / "up").exists)
    await runners.stop(given.dir)
    assert processes_of(given.run_id) == []
    assert (await runners.wait(given.dir)).reason == "cancelled"
    await runners.stop(given.dir)


async def test_stop_right_after_the_start(tmp_path: Path, runners: Runners) -> None:
    given = shell(tmp_path, "sleep 60")
    await runners.start_or_adopt(given)
    await runners.stop(given.dir)
    assert (await runners.wait(given.dir)).reason == "cancelled"
    assert processes_of(given.run_id) == []


async def test_stop_before_the_start_prevents_it(tmp_path: Path, runners: Runners) -> None:
    given = shell(tmp_path, "touch ran")
    await runners.stop(given.dir)
    await runners.start_or_adopt(given)
    assert (await runners.wait(given.dir)).reason == "cancelled"
    assert not (tmp_path / "ran").exists()


async def test_stop_does_not_rewrite_a_natural_end(tmp_path: Path, runners: Runners) -> None:
    given = shell(tmp_path, "exit 2")
    await runners.start_or_adopt(given)
    await runners.wait(given.dir)
    await runners.stop(given.dir)
    assert (await runners.wait(given.dir)).exit_code == 2


async def test_runner_that_does_not_answer_is_killed(
    tmp_path: Path, runners: Runners, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STOP_S", 0.3)  # Seven seconds would prove nothing more.
    given = shell(tmp_path, f"{DAEMON}; touch up; sleep 60")
    await runners.start_or_adopt(given)
    await asyncio.to_thread(eventually, (tmp_path / "up").exists)
    os.kill(runner_of(given)["pid"], signal.SIGSTOP)
    began = time.monotonic()
    await runners.stop(given.dir)
    assert time.monotonic() - began < 4
    assert processes_of(given.run_id) == []
    assert (await runners.wait(given.dir)).reason == "cancelled"


async def test_waiting_without_pidfd(
    tmp_path: Path, runners: Runners, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "pidfd_open")  # As on macOS.
    given = shell(tmp_path, "sleep 0.2; exit 5")
    await runners.start_or_adopt(given)
    assert (await runners.wait(given.dir)).exit_code == 5
    other = replace(shell(tmp_path, "sleep 60"), dir=tmp_path / "other")
    await runners.start_or_adopt(other)
    await runners.stop(other.dir)
    assert (await runners.wait(other.dir)).reason == "cancelled"


@pytest.mark.parametrize("name", ["exit.json", "../escape", "job.json", "..", ""])
async def test_file_names_that_a_job_cannot_have(
    tmp_path: Path, runners: Runners, name: str
) -> None:
    given = replace(shell(tmp_path, "true"), files={name: "text"})
    with pytest.raises(AgentProcessError, match="cannot be the name"):
        await runners.start_or_adopt(given)
