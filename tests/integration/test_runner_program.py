"""The runner as a program of its own: what it promises about one agent's process. Each defence is
also shown to be needed, by a copy of the program without it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from agents_manager import runner
from agents_manager.engine import runners
from agents_manager.flow.ports import Job, boot_time
from tests.runner_jobs import DAEMON, eventually, job, processes_of, shell

PROGRAM = Path(runner.__file__)


class Started:
    """A runner started by hand on a job."""

    all: ClassVar[list["Started"]] = []

    def __init__(
        self, job: Job, program: Path = PROGRAM, told: bytes = b"[]", lease: Path | None = None
    ) -> None:
        runners._write_job(job, lease)  # pyright: ignore[reportPrivateUsage]
        self.job = job
        command = [sys.executable, "-I", "-S", str(program), str(job.dir)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, env={}, start_new_session=True
        )
        assert self.process.stdin is not None
        with self.process.stdin as said:
            said.write(told)
        self.all.append(self)

    def ended(self) -> dict[str, Any]:
        self.process.wait(20)
        return json.loads((self.job.dir / "exit.json").read_text())

    def cancel(self) -> None:
        eventually((self.job.dir / "runner.json").exists)
        self.process.terminate()

    def text(self, name: str) -> str:
        return (self.job.dir / name).read_text()


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Ends what a test left, by the ids of its own processes."""
    yield tmp_path
    while Started.all:
        started = Started.all.pop()
        started.process.kill()
        started.process.wait()
        for pid in processes_of(started.job.run_id):
            os.kill(pid, signal.SIGKILL)


def without(folder: Path, *lines: str) -> Path:
    """The program with these lines taken out."""
    source = PROGRAM.read_text()
    for line in lines:
        assert source.count(line) == 1, line
        source = source.replace(line, "pass")
    copy = folder / "runner_without.py"
    copy.write_text(source)
    return copy


@pytest.mark.parametrize("told", [b"", b'["secr'])
def test_a_runner_that_was_not_told_what_to_hide_starts_nothing(folder: Path, told: bytes) -> None:
    started = Started(shell(folder, "echo hi"), told=told)
    assert started.process.wait(20) == 1
    assert not (started.job.dir / "output").exists()


def test_agent_gets_exactly_its_environment_folder_and_input(folder: Path) -> None:
    given = job(folder, ["/usr/bin/env"])
    assert Started(given).ended()["reason"] == "exited"
    shown = dict(line.split("=", 1) for line in (given.dir / "output").read_text().splitlines())
    assert shown == {"PATH": os.environ["PATH"], "AM_RUN_ID": given.run_id}


def test_output_and_errors_are_kept_apart(folder: Path) -> None:
    started = Started(shell(folder, "pwd; cat; echo oh >&2; exit 3"))
    end = started.ended()
    assert (end["reason"], end["exit_code"], end["truncated"]) == ("exited", 3, False)
    assert started.text("output") == f"{folder}\n"
    assert end["output_bytes"] == len(f"{folder}\n")
    assert started.text("stderr") == "oh\n"
    assert started.text("runner.log") == ""


def test_death_by_signal_is_a_negative_code(folder: Path) -> None:
    assert Started(shell(folder, "kill -9 $$")).ended()["exit_code"] == -signal.SIGKILL


def test_program_that_does_not_exist(folder: Path) -> None:
    started = Started(job(folder, ["no-such-agent"]))
    assert started.ended()["exit_code"] == 127
    assert "no-such-agent" in started.text("stderr") or "No such file" in started.text("stderr")


def test_output_over_the_limit_is_dropped_and_memory_stays_small(folder: Path) -> None:
    one_line = "head -c 10000000 /dev/zero | tr '\\0' x; echo"
    script = f"{one_line}; touch done; until [ -e seen ]; do sleep 0.05; done"
    started = Started(shell(folder, script, output_bytes=200_000))
    eventually((folder / "done").exists)
    status = Path(f"/proc/{started.process.pid}/status").read_text()
    peak_kb = int(status.split("VmHWM:")[1].split()[0])
    (folder / "seen").touch()
    end = started.ended()
    assert (end["exit_code"], end["truncated"], end["output_bytes"]) == (0, True, 200_000)
    kept = started.text("output")
    assert kept == "x" * 200_000 + "\n[Truncated: only the first 200000 bytes are kept.]\n"
    assert peak_kb < 25_000


@pytest.mark.parametrize(
    ("script", "limits", "reason"),
    [
        pytest.param("sleep 30", {"timeout_s": 0.3}, "timeout", id="too long"),
        pytest.param("echo a; sleep 30", {"silence_s": 0.3}, "stalled", id="too quiet"),
        pytest.param(
            "exec >&- 2>&-; sleep 30", {"silence_s": 0.3}, "stalled", id="closed its output"
        ),
        pytest.param(
            """while sleep 0.05; do echo '{"type": "usage"}'; echo '{"type": "assistant"}'; done""",
            {"turns": 3},
            "turns",
            id="too many turns",
        ),
        pytest.param(
            """echo '{"type": "assistant"}'; echo assistant; echo '["assistant"]'; sleep 0.3""",
            {"turns": 1},
            "exited",
            id="what is no message is no turn",
        ),
        pytest.param(
            "for i in 1 2 3 4; do echo $i; sleep 0.3; done",
            {"silence_s": 1.0},
            "exited",
            id="busy",
        ),
    ],
)
def test_limits_of_time(folder: Path, script: str, limits: dict[str, Any], reason: str) -> None:
    started = Started(shell(folder, script, **limits))
    began = time.monotonic()
    assert started.ended()["reason"] == reason
    assert time.monotonic() - began < 5
    assert processes_of(started.job.run_id) == []


@pytest.mark.parametrize(
    "until",
    [
        pytest.param(-1.0, id="over"),
        pytest.param(None, id="not to be read", marks=pytest.mark.slow),
    ],
)
def test_an_agent_whose_machine_lost_its_lease_is_ended(folder: Path, until: float | None) -> None:
    """Whoever would end it is gone or frozen, and others do its work."""
    lease = folder / "lease"
    if until is not None:
        lease.write_text(str(boot_time() + until))
    started = Started(shell(folder, "sleep 60"), lease=lease)
    assert started.ended()["reason"] == "interrupted"
    assert processes_of(started.job.run_id) == []


def test_an_agent_works_on_while_the_lease_is_renewed(folder: Path) -> None:
    path = folder / "lease"
    lease = runner.Lease(str(path))
    path.write_text(str(boot_time() + 0.2))
    assert not lease.over
    path.write_text(str(boot_time() + 60))
    time.sleep(0.25)
    assert not lease.over
    path.write_text(str(boot_time() - 1))
    assert not lease.over, "what was promised holds"


def test_cancelled_agent_can_say_goodbye(folder: Path) -> None:
    started = Started(shell(folder, "trap 'echo bye; exit 7' TERM; echo up; sleep 30 & wait"))
    eventually(lambda: (started.job.dir / "output").exists() and started.text("output"))
    started.cancel()
    end = started.ended()
    assert (end["reason"], end["exit_code"]) == ("cancelled", 7)
    assert started.text("output") == "up\nbye\n"


def test_polite_signal_is_the_agents_own(folder: Path) -> None:
    traps = "trap 'echo later; exit 3' TERM; trap 'echo now; exit 4' INT"
    script = f"{traps}; echo up; while :; do sleep 0.05; done"
    # As for everything that a script starts in the background.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    started = Started(replace(shell(folder, script), stop_signal="SIGINT"))
    signal.signal(signal.SIGINT, before)
    eventually(lambda: (started.job.dir / "output").exists() and started.text("output"))
    started.cancel()
    assert started.ended()["exit_code"] == 4
    assert started.text("output") == "up\nnow\n"


def test_turns_are_counted_across_pieces_and_not_in_lines_that_are_too_long() -> None:
    turns = runner.Turns("assistant", 2)
    message = b'{"type": "assistant", "text": "x"}\n'
    for byte in message:
        turns.take(bytes([byte]))
    turns.take(b"x" * runner.MAX_LINE)
    turns.take(b"x" + message)
    turns.take(message)
    assert not turns.too_many
    turns.take(message * 2)
    assert turns.too_many


@pytest.mark.slow
def test_agent_that_ignores_the_polite_signal_is_dead_after_the_grace(folder: Path) -> None:
    script = f"trap '' TERM; {DAEMON}; echo up; while :; do sleep 1; done"
    started = Started(shell(folder, script))
    eventually(lambda: (started.job.dir / "output").exists() and started.text("output"))
    began = time.monotonic()
    started.cancel()
    end = started.ended()
    assert (end["reason"], end["exit_code"]) == ("cancelled", -signal.SIGKILL)
    assert runner.GRACE_S <= time.monotonic() - began < runner.GRACE_S + 3
    assert processes_of(started.job.run_id) == []


def test_daemon_that_holds_the_output_neither_lives_on_nor_delays_the_end(folder: Path) -> None:
    began = time.monotonic()
    started = Started(shell(folder, f"{DAEMON}; sleep 0.1; echo done"))
    end = started.ended()
    assert (end["reason"], end["exit_code"], end["survivors"]) == ("exited", 0, [])
    assert time.monotonic() - began < runner.DRAIN_S + 3
    assert started.text("output") == "done\n"
    assert processes_of(started.job.run_id) == []


def test_daemon_lives_on_without_the_subreaper(folder: Path) -> None:
    copy = without(folder, "prctl(PR_SET_CHILD_SUBREAPER, 1)")
    started = Started(shell(folder, f"{DAEMON} >/dev/null 2>&1; sleep 0.1"), copy)
    started.ended()
    assert processes_of(started.job.run_id) != []


def test_agent_does_not_outlive_a_killed_runner(folder: Path) -> None:
    started = Started(job(folder, ["sleep", "60"]))
    eventually(lambda: processes_of(started.job.run_id))
    started.process.kill()
    started.process.wait()
    eventually(lambda: not processes_of(started.job.run_id), 1)
    assert not (started.job.dir / "exit.json").exists()


def test_agent_outlives_a_killed_runner_without_the_death_signal(folder: Path) -> None:
    copy = without(folder, "prctl(PR_SET_PDEATHSIG, signal.SIGKILL)")
    started = Started(job(folder, ["sleep", "60"]), copy)
    eventually(lambda: processes_of(started.job.run_id))
    started.process.kill()
    started.process.wait()
    time.sleep(0.2)
    assert len(processes_of(started.job.run_id)) == 1


def test_second_runner_of_a_directory_starts_nothing(folder: Path) -> None:
    given = shell(folder, "echo ran >> ran; sleep 0.3")
    for each in [Started(given) for _ in range(4)]:
        each.process.wait(5)
    assert Started(given).ended()["reason"] == "exited"
    assert (folder / "ran").read_text() == "ran\n"


def test_second_runner_starts_a_second_agent_without_the_lock(folder: Path) -> None:
    look = """if lock is None or os.path.exists("exit.json") or os.path.exists("runner.json"):
        return 0"""
    copy = without(folder, "fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)", look)
    given = shell(folder, "echo ran >> ran; sleep 0.3")
    Started(given, copy)
    eventually((folder / "ran").exists)
    Started(given, copy).ended()
    assert (folder / "ran").read_text() == "ran\nran\n"


def test_unknown_protocol_is_refused(folder: Path) -> None:
    given = shell(folder, "touch ran")
    given.dir.mkdir()
    (given.dir / "job.json").write_text(json.dumps({"protocol": 99}))
    command = [sys.executable, "-I", "-S", PROGRAM, given.dir]
    subprocess.run(command, input=b"[]", check=False)
    end = json.loads((given.dir / "exit.json").read_text())
    assert end["reason"] == "refused"
    assert "protocol 99" in end["message"]
    assert not (given.dir / "runner.json").exists()


def test_both_halves_speak_the_same_protocol() -> None:
    assert runners.PROTOCOL == runner.PROTOCOL


def test_it_imports_little_since_every_run_has_one() -> None:
    show = (
        f"import sys; sys.path.append({str(PROGRAM.parent)!r}); import runner; print(*sys.modules)"
    )
    started = subprocess.run(
        [sys.executable, "-I", "-S", "-c", show], capture_output=True, text=True, check=True
    )
    big = {"asyncio", "dataclasses", "pathlib", "socket", "subprocess", "threading", "typing"}
    assert big.isdisjoint(started.stdout.split())
