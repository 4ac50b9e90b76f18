"""Set-up commands: run when they are due, in the worktree, one at a time, with their words kept."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agents_manager.checks.copies import CheckCopies
from agents_manager.checks.installing import SetupInstaller
from agents_manager.checks.running import CheckNotRun, CopyCommands, SandboxReports
from agents_manager.checks.setup import MARK, TAIL_CHARACTERS, SetupCommands
from agents_manager.checks.setup_cache import SetupCache
from agents_manager.engine.processes import kill_marked
from agents_manager.errors import ExternalError
from agents_manager.flow.ports import Setup, SetupPlan, SetupResult, SetupSpec, Workspace
from agents_manager.sandbox.keeper import ended
from tests.sandboxes import keeper


@pytest.fixture
def setup(tmp_path: Path) -> SetupCommands:
    made = unsandboxed(tmp_path / "setup")
    fitting: Setup = made
    assert fitting
    return made


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    for name in ("a trée", "state"):
        (tmp_path / name).mkdir()
    return Workspace(
        path=tmp_path / "a trée",
        branch="agent/one",
        head_sha="0" * 40,
        created=True,
        state=tmp_path / "state",
    )


def unsandboxed(root: Path) -> SetupCommands:
    """Set-up without a cache that could help."""
    keep, copies = keeper(root).command, CheckCopies(root / "copies", kill_marked)
    commands = CopyCommands(copies, keep, SandboxReports(ended))
    installer = SetupInstaller(SetupCache(root), copies, commands, _not_here)
    return SetupCommands(root, keep, installer)


async def _not_here(repo: Path, sha: str, into: Path) -> None:
    raise CheckNotRun("setup_failed", "there is no repository", "")


async def run(
    setup: SetupCommands, workspace: Workspace, spec: SetupSpec, inputs: str, log: Path
) -> SetupResult | None:
    """Runs set-up in the workspace itself."""
    plan = SetupPlan(spec=spec, commit="0" * 40, inputs=inputs, task=None)
    return await setup.run(workspace, plan, Path("/nowhere"), log)


def spec(*commands: str, timeout_s: float = 10) -> SetupSpec:
    return SetupSpec(commands=commands, inputs=(), timeout_s=timeout_s)


async def test_run_once_until_commands_or_inputs_change(
    setup: SetupCommands, workspace: Workspace, tmp_path: Path
) -> None:
    log = tmp_path / "job" / "setup.log"
    count = spec("echo x >> times", "wc -l < times; echo ä >&2")
    done = await run(setup, workspace, count, "inputs", log)
    assert done
    assert done.failed is None
    assert log.read_text() == "$ echo x >> times\n\n$ wc -l < times; echo ä >&2\n1\nä\n\n"
    assert await run(setup, workspace, count, "inputs", log) is None
    assert await run(setup, workspace, count, "others", log)
    assert await run(setup, workspace, spec("echo x >> times"), "others", log)
    assert (workspace.path / "times").read_text() == "x\n" * 3


async def test_failure_tells_its_last_words_and_is_tried_again(
    setup: SetupCommands, workspace: Workspace, tmp_path: Path
) -> None:
    log = tmp_path / "setup.log"
    bad = spec("seq 100; exit 3", "touch never")
    for _ in range(2):
        done = await run(setup, workspace, bad, "", log)
        assert done
        assert done.failed is not None
        assert 'The set-up command "seq 100; exit 3" failed (exit code 3)' in done.failed
        assert str(log) in done.failed
        assert done.output.splitlines() == [str(n) for n in range(81, 101)]
    assert not (workspace.path / "never").exists()


async def test_the_end_of_a_long_last_line_is_told(
    setup: SetupCommands, workspace: Workspace, tmp_path: Path
) -> None:
    command = "head -c 50000 /dev/zero | tr '\\0' x; echo end; exit 3"
    done = await run(setup, workspace, spec(command), "", tmp_path / "log")
    assert done
    assert done.output.endswith("xend")
    assert len(done.output) == TAIL_CHARACTERS


async def test_a_command_that_hangs(
    setup: SetupCommands, workspace: Workspace, tmp_path: Path
) -> None:
    done = await run(setup, workspace, spec("sleep 60", timeout_s=0.3), "", tmp_path / "log")
    assert done
    assert done.failed is not None
    assert "took too long" in done.failed


async def test_marks_that_an_agent_left_are_not_believed_nor_followed(
    setup: SetupCommands, workspace: Workspace, tmp_path: Path
) -> None:
    mark = workspace.state / MARK
    os.mkfifo(mark)
    assert await run(setup, workspace, spec("true"), "", tmp_path / "log")
    (tmp_path / "precious").write_text("mine")
    mark.unlink()
    mark.symlink_to(tmp_path / "precious")
    assert await run(setup, workspace, spec("true"), "", tmp_path / "log")
    assert (tmp_path / "precious").read_text() == "mine"


async def test_what_a_killed_process_left_is_waited_for(
    setup: SetupCommands, workspace: Workspace, tmp_path: Path
) -> None:
    started, free = tmp_path / "started", tmp_path / "free"
    wait = f"for _ in $(seq 600); do [ -e '{free}' ] && break; sleep 0.05; done"
    slow = f"touch '{started}'; {wait}; echo first >> order"
    program = (
        "import asyncio; from pathlib import Path\n"
        "from tests.integration.test_setup import run, unsandboxed\n"
        "from agents_manager.flow.ports import SetupSpec, Workspace\n"
        f"root, tree = Path({str(tmp_path / 'setup')!r}), Path({str(workspace.path)!r})\n"
        f"state = Path({str(workspace.state)!r})\n"
        "w = Workspace(path=tree, branch='b', head_sha='0', created=True, state=state)\n"
        f"spec = SetupSpec(commands=({slow!r},), inputs=(), timeout_s=60)\n"
        "asyncio.run(run(unsandboxed(root), w, spec, '', state / 'log'))"
    )
    _start_and_kill(program, started)
    with pytest.raises(ExternalError, match="Another set-up still works"):
        await run(setup, workspace, spec("true", timeout_s=0.3), "", tmp_path / "log")
    free.touch()
    assert await run(setup, workspace, spec("echo second >> order"), "", tmp_path / "log")
    assert (workspace.path / "order").read_text() == "first\nsecond\n"


def _start_and_kill(program: str, started: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", program]) as victim:
        while not started.exists():
            time.sleep(0.02)
        victim.kill()
