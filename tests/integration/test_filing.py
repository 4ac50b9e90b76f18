"""A document of a task becomes a file on the task's branch, and nothing else changes."""

from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain.task import ArtifactType, Task
from agents_manager.errors import Conflict, DocumentNotFound, InvalidInput, WorkspaceInUse
from agents_manager.flow import artifacts, filing, tasks
from agents_manager.flow.ports import FiledAs, Tx
from tests import repos
from tests.repos import own_home, run
from tests.worlds import ANN, GREETING, World, repo, world

__all__ = ["own_home", "repo", "world"]

PLAN = "First this.\n\nThen that."
PLANS: dict[str, Any] = {
    "plan": [[{"say": PLAN}, {"outcome": "plan_complete"}]],
    **GREETING,
}
FILE = "docs/plans/add-greeting.md"


async def planned(world: World) -> Task:
    task = await world.start(PLANS, pipeline="feature")
    await world.until(task, "planned")
    await world.settled(task)
    return task


async def commit(world: World, task: Task, name: str = "plan", **more: Any) -> filing.Committed:
    return await filing.commit(world.s, task.id, name, ANN, **more)


async def second_version(world: World, task: Task) -> None:
    def write(tx: Tx) -> None:
        data = {"text": "Only that."}
        artifacts.keep(tx, world.s, task, ArtifactType.DOCUMENT, "plan-2", "Plan", data)

    await world.s.store.write(write)


async def test_a_document_is_committed_once(world: World) -> None:
    task = await planned(world)
    before = repos.refs(world.repo)
    done = await commit(world, task)
    assert (done.path, done.version, done.new) == (FILE, 1, True)
    branch = done.branch
    after = repos.refs(world.repo)
    assert {**after, f"refs/heads/{branch}": ""} == {**before, f"refs/heads/{branch}": ""}
    assert after[f"refs/heads/{branch}"] == done.sha
    assert run(world.repo, "show", f"{branch}:{FILE}") == PLAN
    assert run(world.repo, "diff", "--name-only", "main", branch) == FILE
    assert run(world.repo, "status", "--porcelain") == ""
    message = run(world.repo, "log", "-1", "--format=%an %B", branch)
    assert message.startswith("Ada Löve Add the plan: Add greeting\n\nAgents-Manager-Document: ")
    told = [e for e in await world.events(task) if e.type == "document.committed"]
    assert [e.summary for e in told] == [
        f"Version 1 of the plan was committed to {branch} as {FILE} ({done.sha[:8]})."
    ]
    view = await world.view(task)
    kinds = {(a.type.value, a.label) for a in view.artifacts}
    assert {("branch", branch), ("commit", "Add the plan: Add greeting")} <= kinds

    again = await commit(world, task)
    assert (again.sha, again.new) == (done.sha, False)
    assert repos.refs(world.repo) == after
    assert (await world.types(task)).count("document.committed") == 1

    # A crash between the commit and the log.
    with world.program.database.engines.writer.begin() as connection:
        connection.exec_driver_sql("DELETE FROM am_event WHERE type = 'document.committed'")
    mended = await commit(world, task)
    assert (mended.sha, mended.new) == (done.sha, True)
    assert (await world.types(task)).count("document.committed") == 1


@pytest.mark.worktree
@pytest.mark.slow
async def test_the_worktree_follows_where_it_is_clean(world: World) -> None:
    task = await world.start(
        {"implement": [PLANS["plan"][0][:1] + GREETING["implement"][0]]}, pipeline="simple"
    )
    view = await world.until(task, "review")
    await world.settled(task)
    await second_version(world, task)
    tree = Path(str(view.runs[0].workspace))
    (tree / "greeting.txt").write_text("not committed\n")
    done = await commit(world, task)
    assert (tree / FILE).read_text() == "Only that.\n"
    assert run(tree, "rev-parse", "HEAD") == done.sha
    assert run(tree, "status", "--porcelain") == " M greeting.txt"

    (tree / "notes.md").write_text("mine\n")
    with pytest.raises(Conflict, match=r"uncommitted changes in notes\.md"):
        await commit(world, task, path="notes.md")
    assert (tree / "notes.md").read_text() == "mine\n"
    outside = tree.parent / "outside"
    outside.mkdir()
    (tree / "elsewhere").symlink_to(outside)
    with pytest.raises(Conflict, match="uncommitted changes in"):
        await commit(world, task, path="elsewhere/plan.md")
    assert list(outside.iterdir()) == []
    assert run(world.repo, "rev-parse", done.branch) == done.sha

    # What was not looked at is not merged: the review is asked once more.
    asked = await world.view(task)
    assert [(p.revision, p.payload["head_sha"], p.note) for p in asked.prompts] == [
        (2, done.sha, "A document was committed since this was asked.")
    ]
    assert asked.pull
    assert asked.pull.head_sha == done.sha
    await commit(world, task)
    assert (await world.view(task)).prompts == asked.prompts
    await world.review(task, "approved")
    await world.until(task, "done")
    assert run(world.repo, "show", f"main:{FILE}") == "Only that."


async def test_what_is_in_the_way_is_refused(world: World) -> None:
    repos.write(world.repo, {"kept.md": "Kept\n", "folder/file.md": "x\n"})
    (world.repo / "link").symlink_to("/tmp")
    (world.repo / "linked.md").symlink_to("kept.md")
    repos.run(world.repo, "add", "-A")
    repos.run(world.repo, "commit", "-q", "-m", "More")
    task = await planned(world)
    for path, says in {
        "kept.md": '"kept.md" is there already on .*; choose another path, or replace it',
        "folder": "it is a folder there",
        "kept.md/plan.md": '"kept.md" is a file, not a folder',
        "link/plan.md": '"link" is a symbolic link, not a folder',
        "link/deep/plan.md": '"link" is a symbolic link',
        "linked.md": "it is a symbolic link there",
    }.items():
        for replace in (False, True):
            if replace and path == "kept.md":
                continue
            with pytest.raises(Conflict, match=says):
                await commit(world, task, path=path, replace=replace)
    done = await commit(world, task, path="kept.md", replace=True)
    assert run(world.repo, "show", f"{done.branch}:kept.md") == PLAN
    await second_version(world, task)
    with pytest.raises(Conflict, match="with other content"):
        await commit(world, task, path="kept.md")
    with pytest.raises(DocumentNotFound):
        await commit(world, task, "design")
    for outside in ("", "../plan.md", ".git/hooks/pre-commit"):
        with pytest.raises(InvalidInput, match="cannot be the path of a file"):
            await commit(world, task, path=outside)


async def test_it_is_refused_while_an_agent_works(world: World) -> None:
    script = {"plan": [PLANS["plan"][0]], "implement": [[{"say": "Up."}, {"hang": True}]]}
    task = await world.start(script, pipeline="feature")
    await world.until(task, "planned")
    await world.review(task, "approved")
    view = await world.wait(task, lambda v: bool(v.run and v.run.workspace), "at work")
    [branch] = [a.label for a in view.artifacts if a.type is ArtifactType.BRANCH]
    with pytest.raises(WorkspaceInUse, match="works at Task"):
        await commit(world, task)
    # Also for whoever looked a moment before it began.
    file = FiledAs(key="k", path="plan.md", text="x\n", message="Add it")
    with pytest.raises(WorkspaceInUse, match="An agent works in"):
        await world.s.workspaces.file_away(world.repo, branch, file, replace=False)
    assert run(world.repo, "log", "--format=%s", f"main..{branch}") == ""
    await tasks.move(world.s, task.id, ANN, to="cancelled")
    await world.until(task, "cancelled")


async def test_never_on_the_base(world: World) -> None:
    task = await world.create(PLANS)
    await second_version(world, task)

    def write(tx: Tx) -> None:
        artifacts.keep(tx, world.s, task, ArtifactType.BRANCH, "main", "main", {"base": "main"})

    await world.s.store.write(write)
    before = repos.refs(world.repo)
    with pytest.raises(Conflict, match="main is a base branch"):
        await commit(world, task)
    assert repos.refs(world.repo) == before
