"""The PATH of a login shell, whatever its start-up files do."""

import os
import time
from pathlib import Path

import pytest

from agents_manager.agents import login_shell
from tests.repos import executable

FALLBACK = "/only/here:/usr/bin"


@pytest.fixture(autouse=True)
def own_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{FALLBACK}:relative:")
    monkeypatch.setenv("SECRET", "x")


def shell(tmp_path: Path, rc: str) -> str:
    """A shell that runs these lines before what it is given."""
    body = f'{rc}\nfor command; do :; done\neval "$command"'
    return str(executable(tmp_path / "shell", body))


def found(tmp_path: Path, rc: str) -> str:
    return login_shell.search_path(shell(tmp_path, rc), patience_s=0.7)


def test_the_shells_folders_come_first_and_only_absolute_ones(tmp_path: Path) -> None:
    assert found(tmp_path, "PATH=/opt/node:.:bin:/usr/bin::") == "/opt/node:/usr/bin:/only/here"


def test_noise_and_secrets_stay_out(tmp_path: Path) -> None:
    rc = 'echo "welcome PATH=/evil"; echo oops >&2; PATH=/opt/a:/usr/bin'
    leak = '[ -z "$SECRET" ] || PATH=/leak'
    assert found(tmp_path, f"{rc}; {leak}").split(":")[0] == "/opt/a"


@pytest.mark.parametrize(
    "rc",
    [
        pytest.param("sleep 30", id="hangs"),
        pytest.param("exit 3", id="ends"),
        pytest.param("exec 1>&-", id="closes its output"),
        pytest.param("while :; do echo noise noise noise noise noise; done", id="floods"),
        pytest.param("cat", id="reads a terminal that is not there; then exit"),
    ],
)
def test_a_broken_shell_costs_a_moment_and_nothing_else(tmp_path: Path, rc: str) -> None:
    began = time.monotonic()
    path = found(tmp_path, f"{rc}; exit")
    assert path.split(":") == FALLBACK.split(":")
    assert time.monotonic() - began < 10


def test_a_program_left_behind_by_the_shell_delays_nothing(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    began = time.monotonic()
    path = login_shell.search_path(
        shell(tmp_path, f"sleep 60 & echo $! > {pid}; PATH=/opt/b:/usr/bin"), patience_s=20
    )
    assert path.startswith("/opt/b:")
    assert time.monotonic() - began < 15
    assert not _runs(int(pid.read_text()))


def test_an_interactive_shell_that_hangs_is_asked_plainly(tmp_path: Path) -> None:
    rc = 'case "$*" in *-i*) sleep 30;; esac; PATH=/opt/c:/usr/bin'
    assert found(tmp_path, rc).startswith("/opt/c:")


def test_no_shell_at_all() -> None:
    assert login_shell.search_path("/no/such/shell") == FALLBACK


def _runs(pid: int) -> bool:
    deadline = time.monotonic() + 2
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return False
            os.kill(pid, 0)
        except (OSError, IndexError):
            return False
        time.sleep(0.02)
    return True
