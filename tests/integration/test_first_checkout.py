"""The first checkout of a clone: where it runs, and what the agent's git finds."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agents_manager.scm import checkout
from agents_manager.scm.clones import Clones
from agents_manager.scm.sandboxed import Box, Helpers, NoSandbox
from tests.repos import commit, make_repo, own_home, run, status, write

__all__ = ["own_home"]
pytestmark = pytest.mark.usefixtures("own_home")

BRANCH = "agent/one"
OWNER = 60800


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    files = {"README.md": "Hello\n", "a folder/ünï": "1\n", "b" * 200: "2\n"}
    return make_repo(tmp_path / "repo", files)


def stat_of_index(tree: Path) -> list[dict[str, str]]:
    entries = run(tree, "ls-files", "-z", "--debug").split("\0")[1:]
    pairs = [
        part.strip().split(": ") for one in entries for part in one.replace("\t", "\n").split("\n")
    ]
    fields = [pair for pair in pairs if len(pair) == 2]
    size = len(fields) // len(entries)
    return [dict(fields[at : at + size]) for at in range(0, len(fields), size)]


async def test_files_are_older_than_the_index(repo: Path, tmp_path: Path) -> None:
    made = await Clones(tmp_path / "trees").prepare(repo, "task1", BRANCH, "main")
    written = (made.path / ".git/index").stat().st_mtime
    for name in run(made.path, "ls-files", "-z").rstrip("\0").split("\0"):
        assert (made.path / name).stat().st_mtime < written - 1
    assert run(made.path, "fsck", "--strict") == ""
    assert status(made.path) == ""


async def test_change_of_the_same_length_is_noticed_at_once(repo: Path, tmp_path: Path) -> None:
    made = await Clones(tmp_path / "trees").prepare(repo, "task1", BRANCH, "main")
    write(made.path, {"README.md": "Hallo\n"})
    assert status(made.path) == " M README.md"


async def test_files_belong_to_the_sandboxs_user_in_the_index(repo: Path, tmp_path: Path) -> None:
    clones = Clones(tmp_path / "trees", start=lambda *_: None, owner=lambda: OWNER)
    made = await clones.prepare(repo, "task1", BRANCH, "main")
    found = stat_of_index(made.path)
    assert len(found) == 3
    assert {(one["uid"].split("\t")[0], one["gid"]) for one in found} == {(str(OWNER), str(OWNER))}


async def test_index_that_is_not_understood_stays_as_it_is(tmp_path: Path) -> None:
    index = tmp_path / "index"
    for content in (b"", b"DIRC", b"DIRC" + bytes(100), os.urandom(200)):
        index.write_bytes(content)
        place = checkout.Place(git_dir=tmp_path, work_tree=tmp_path)
        await checkout.age(place, None)
        assert index.read_bytes() == content


FILTER = ("filter.wash.smudge", "cat")


@pytest.mark.parametrize(
    ("branch", "base", "filtered", "boxed"),
    [
        (BRANCH, "main", False, False),
        (BRANCH, "main", True, True),
        (f"{BRANCH}--part-a", BRANCH, False, True),
    ],
    ids=["base", "filter", "part"],
)
async def test_only_the_projects_own_commit_is_checked_out_outside_of_the_sandbox(
    repo: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    branch: str,
    base: str,
    filtered: bool,
    boxed: bool,
) -> None:
    inside: list[str] = []

    async def run_outside(self: Helpers, box: Box, argv: Sequence[Any], *_: Any, **__: Any) -> None:
        inside.append(" ".join(os.fsdecode(part) for part in argv))
        raise NoSandbox

    monkeypatch.setattr(Helpers, "run", run_outside)
    if base != "main":
        run(repo, "branch", base)
    if filtered:
        commit(repo, {".gitattributes": "*.md filter=wash\n"})
        run(repo, "config", *FILTER)
    clones = Clones(tmp_path / "trees", start=lambda *_: None)
    await clones.prepare(repo, "task1", branch, base)
    assert any(line.endswith("reset --quiet --hard") for line in inside) is boxed
