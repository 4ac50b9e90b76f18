"""The helper that runs git in the sandbox: as root and as a plain user, at each level there is."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from agents_manager.errors import GitKilled
from agents_manager.sandbox import landlock
from agents_manager.scm.clones import Clones
from agents_manager.scm.git import Place, git
from agents_manager.scm.sandboxed import Helpers, Started
from tests import debian, sandboxes
from tests.hostile.cells import SOURCES, Cell, cell
from tests.hostile.test_escapes import NOBODY, UNKEPT
from tests.repos import commit, make_repo, own_home, sha, write
from tests.workspaces import kept_git

__all__ = ["own_home"]
pytestmark = pytest.mark.usefixtures("own_home")

SCENES = Path(__file__).with_name("helper_scenes.py")
BRANCH = "agent/one"
ROOT = os.geteuid() == 0
CASES = [
    pytest.param("S3", None, id="S3"),
    pytest.param("S3", NOBODY, id="S3-plain", marks=() if ROOT else pytest.mark.skip("no root")),
    pytest.param("S2", NOBODY if ROOT else None, id="S2-plain"),
]


@pytest.fixture
def clones(tmp_path: Path) -> Clones:
    return Clones(tmp_path / "data/trees", start=kept_git(tmp_path))


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "repo", {"README.md": "Hello\n"})


@pytest.mark.parametrize(("level", "user"), CASES)
def test_command_in_the_sandbox_reaches_neither_the_helper_nor_the_machine(
    level: str, user: int | None
) -> None:
    sandboxes.installed()
    if user is not None:
        sandboxes.installed_for_another()
    if level == "S2" and landlock.version() < landlock.LEAST:
        debian.missing("Landlock that knows of TCP takes Linux 6.7.")
    with cell(user) as place:
        found = scenes(place, level)
    opened = frozenset(json.loads(found["escapes"][1])["open"])
    assert opened <= (UNKEPT if level == "S2" else frozenset())
    assert found["memory"][1] == ""
    assert found["connection"][1] == "0\n"
    assert found["killed"][0] == -signal.SIGKILL
    assert found["after"] == [0, "works\n"]
    assert found["left"] == 0
    if level == "S3":
        others = sorted(set(found["others"][1].split()))
        assert "sleep" not in others, "a process of the previous command is alive"
        assert found["started"] == 1


def scenes(place: Cell, level: str) -> dict[str, Any]:
    seen = place.folder / "data/jobs"
    hides = [str(place.folder / name) for name in ("home", "data", "project")]
    told = {**place.told, "alone": level != "S3", "hides": hides}
    (seen / "told.json").write_text(json.dumps(told))
    argv = [*place.prefix, place.python, "-I", "-S", "-", str(SOURCES), level, str(place.work)]
    done = subprocess.run(
        [*argv, str(seen / "told.json")],
        input=SCENES.read_text(),
        cwd=place.work,
        env={"PATH": "/usr/bin:/bin", "AM_CANARY": "secret"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


async def test_run_starts_one_helper_and_few_git_commands(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Started | None] = []
    boxed: list[Any] = []
    own: list[Any] = []
    start, run_boxed = kept_git(tmp_path), Helpers.run
    run_own = asyncio.create_subprocess_exec

    def counted(control: int, writes: Sequence[Path], reads: Sequence[Path]) -> Started | None:
        started.append(start(control, writes, reads))
        return started[-1]

    async def counted_run(self: Helpers, *args: Any, **more: Any) -> Any:
        boxed.append(args)
        return await run_boxed(self, *args, **more)

    async def counted_own(*command: Any, **more: Any) -> Any:
        own.append(command)
        return await run_own(*command, **more)

    monkeypatch.setattr(Helpers, "run", counted_run)
    monkeypatch.setattr(asyncio, "create_subprocess_exec", counted_own)
    workspaces = Clones(tmp_path / "data/trees", start=counted)
    made = await workspaces.prepare(repo, "task1", BRANCH, "main")
    mine = commit(made.path, {"mine": "1"})
    await workspaces.gather(made.path, BRANCH)
    assert (await workspaces.commit_all(made.path, BRANCH, "Left over")).sha is None
    assert sha(repo, BRANCH) == mine
    assert len([each for each in started if each]) <= 2
    assert len(boxed) <= 8
    assert len(own) <= 28


async def test_killed_helper_costs_one_retry(repo: Path, tmp_path: Path, clones: Clones) -> None:
    made = await clones.prepare(repo, "task1", BRANCH, "main")
    mine = commit(made.path, {"mine": "1"})
    clone = clones.find(made.path)
    assert clone
    async with clone.desk(BRANCH, made.head_sha) as desk:
        dies = Place(
            git_dir=desk.git_dir,
            work_tree=desk.work_tree,
            box=desk.box,
            settings=("alias.dies=!kill -9 $(ps -o ppid= -p $PPID)",),
        )
        with pytest.raises(GitKilled, match="trying again may help"):
            await git(dies, "dies")
    await clones.gather(made.path, BRANCH)
    write(made.path, {"left": "over"})
    assert await clones.commit_all(made.path, BRANCH, "Left over")
    assert mine in [line["sha"] for line in (await clones.change(repo, BRANCH, "main")).commits]


def test_helper_dies_with_its_parent(tmp_path: Path) -> None:
    sandboxes.installed()
    work = tmp_path / "work"
    work.mkdir()
    code = (
        "import os, sys, time\n"
        "from pathlib import Path\n"
        "from agents_manager.sandbox.keeper import Keeper, Rules\n"
        "from agents_manager.sandbox.levels import Levels\n"
        "from agents_manager.scm.sandboxed import Helpers\n"
        "import asyncio\n"
        "async def main():\n"
        "    keeper = Keeper(Path(sys.argv[1]), Rules, Levels())\n"
        "    helpers = Helpers(keeper.start_git_helper)\n"
        "    box = helpers.box([Path(sys.argv[2])], [])\n"
        "    await helpers.run(box, ['sleep', '300'], dict(os.environ), Path(sys.argv[2]))\n"
        "    print('runs', flush=True)\n"
        "    time.sleep(300)\n"
        "asyncio.run(main())\n"
    )
    argv = [sys.executable, "-c", code, str(tmp_path / "home"), str(work)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        assert parent.stdout.readline() == "runs\n"
        deadline = time.monotonic() + 20
        below: list[psutil.Process] = []
        names: set[str] = set()
        while "sleep" not in names and time.monotonic() < deadline:
            below = psutil.Process(parent.pid).children(recursive=True)
            names = {name for each in below if (name := _name(each))}
        parent.kill()
    assert "sleep" in names
    deadline = time.monotonic() + 20
    while any(each.is_running() for each in below) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [each for each in below if each.is_running()] == []


def _name(process: psutil.Process) -> str | None:
    try:
        return process.name()
    except psutil.NoSuchProcess:
        return None
