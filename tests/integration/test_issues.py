"""Issues on GitHub become tasks, each once, and are told how those ended where that is wanted."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agents_manager import bootstrap
from agents_manager.domain import fields, issue
from agents_manager.domain.issue import Wanted
from agents_manager.domain.task import ArtifactType, Project, Task
from agents_manager.errors import AgentsManagerError, ForgeUnavailable, HookFailed, InvalidInput
from agents_manager.flow import importing, pipelines, supervisor, tasks, transitions
from agents_manager.flow.importing import Imported, ImportState
from agents_manager.flow.ports import Services, Tx
from agents_manager.settings import Settings
from tests.github_server import TOKEN, FakeGitHub, Served, Trouble
from tests.hub import Hub, hub
from tests.repos import make_repo, own_home, run, scripted_home
from tests.worlds import ANN, GREETING

__all__ = ["hub", "own_home"]
pytestmark = pytest.mark.usefixtures("own_home")


@dataclass
class Desk:
    s: Services
    project: Project
    github: FakeGitHub

    async def take(self, *numbers: int, dry_run: bool = False, **wanted: Any) -> Imported:
        asked = Wanted(numbers=numbers, **wanted)
        return await importing.import_issues(self.s, self.project, asked, ANN, dry_run=dry_run)

    async def tasks(self) -> list[Task]:
        def read(tx: Tx) -> list[Task]:
            return tx.tasks.page(project=None, status=None, after=None, limit=2_000)

        return list(reversed(await self.s.store.read(read)))


@pytest.fixture
async def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    """Whose pull requests live here, though its issues do not."""
    monkeypatch.setenv("AM_GITHUB_TOKEN", TOKEN)
    repo = make_repo(tmp_path / "repo", {"a": "1\n"})
    github = FakeGitHub(repo / ".git")
    with Served(github) as served:
        forge = {"repository": github.name, "baseUrl": served.url}
        home = scripted_home(tmp_path / "home", forge=forge)
        async with bootstrap.client(Settings(home, None)) as program:
            project = await tasks.add_project(program.services, repo, None, None)
            yield Desk(program.services, project, github)
    assert github.faults == []


async def test_issues_become_tasks_once(desk: Desk) -> None:
    there = desk.github.issues
    there.open(3, "Door\nsticks", "It **does**.\r\nOften.", ("bug", "Good first issue"))
    there.open(5, body=None)
    there.open(6, state="closed")
    run(desk.github.repo, "branch", "work")
    desk.github.pulls[4] = {
        **{"number": 4, "title": "A pull request", "body": "", "head": "work", "base": "main"},
        **{"state": "open", "merged_at": None, "merge_commit_sha": None, "merged_head": None},
    }
    shown = await desk.take(dry_run=True)
    assert [(i.place, i.state, i.task_id) for i in shown.items] == [
        ("#3", ImportState.TO_MAKE, None),
        ("#5", ImportState.TO_MAKE, None),
    ]
    assert shown.skipped == 1, "the pull request"
    assert await desk.tasks() == []

    done = await desk.take()
    door, other = await desk.tasks()
    assert (door.title, door.description) == ("Door sticks", "It **does**.\nOften.")
    assert (door.tags, other.description) == (("bug", "good-first-issue"), "")
    assert [i.task_id for i in done.items] == [door.id, other.id]
    [link] = await desk.s.store.read(lambda tx: tx.tasks.artifacts(door.id, ArtifactType.LINK))
    assert link.label == "acme/shop#3: Door sticks"
    source = issue.reference([link])
    assert source
    assert (str(source), source.url) == ("acme/shop#3", "https://github.test/acme/shop/issues/3")

    there.rows[3]["body"] = "Not any more."
    desk.github.name = there.repository = "acme/store"
    again = await desk.take(repository="acme/store", state="all")
    assert [(i.place, i.state, i.changed) for i in again.items] == [
        ("#3", ImportState.ALREADY_THERE, True),
        ("#5", ImportState.ALREADY_THERE, False),
        ("#6", ImportState.MADE, False),
    ]
    assert [t.id for t in await desk.tasks()][:2] == [door.id, other.id]
    assert (await desk.tasks())[0] == door, "it is left as it is"


async def test_some_are_chosen_by_label_or_number_and_pages_are_followed(desk: Desk) -> None:
    desk.github.page_size = 2
    for number in range(1, 8):
        desk.github.issues.open(number, labels=("ui", "bug") if number % 2 else ("ui",))
    desk.github.issues.rows[8] = desk.github.issues.rows[7]  # Told on two pages.
    both = await desk.take(labels=("bug", "ui"), dry_run=True)
    assert [item.place for item in both.items] == ["#1", "#3", "#5", "#7"]
    assert [item.place for item in (await desk.take(6, 2, 6)).items] == ["#6", "#2"]
    desk.github.pulls[9] = {"number": 9, "title": "", "body": "", "head": "main", "base": "main"}
    desk.github.pulls[9] |= dict.fromkeys(("merged_at", "merge_commit_sha", "merged_head"))
    desk.github.pulls[9] |= {"state": "open", "merged_by": None}
    with pytest.raises(InvalidInput, match=r"Nothing was imported\.") as refused:
        await desk.take(1, 9, 77)
    assert refused.value.details == (
        "acme/shop#9: it is a pull request, not an issue",
        "acme/shop#77: there is no such issue, or the token cannot see it",
    )
    assert len(await desk.tasks()) == 2


async def test_what_strangers_write_is_bounded(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    long = "x" * 300_000
    desk.github.issues.open(
        1, f"{long}\u202e\x1b[31m", f"\x00\ud800{long}", (long, " ", "#", "İ" * 50)
    )
    desk.github.issues.open(2, "\u200b\n", labels=tuple(f"label {n}" for n in range(60)))
    await desk.take()
    long_one, blank = await desk.tasks()
    assert (len(long_one.title), long_one.title.isprintable()) == (fields.MAX_TITLE, True)
    assert len(long_one.description) == fields.MAX_DESCRIPTION
    assert long_one.description.startswith("?x")
    assert [len(tag) for tag in long_one.tags] == [fields.MAX_TAG, fields.MAX_TAG]
    assert (blank.title, len(blank.tags)) == ("Issue acme/shop#2", fields.MAX_TAGS)

    monkeypatch.setattr(importing, "MAX_ISSUE_BYTES", 300_000)
    with pytest.raises(InvalidInput, match="at most 300000 are taken; choose fewer"):
        await desk.take()
    monkeypatch.setattr(importing, "MAX_TASKS", 1)
    with pytest.raises(InvalidInput, match="has more than can be made tasks at once"):
        await desk.take()


TROUBLES: list[tuple[Trouble, type[AgentsManagerError], str]] = [
    (Trouble(401, "Bad credentials"), HookFailed, "set AM_GITHUB_TOKEN to one that is valid"),
    (Trouble(403, "Resource not accessible"), HookFailed, 'It needs read access to "Issues"'),
    (Trouble(404, "Not Found"), HookFailed, 'GitHub knows no "acme/shop"'),
    (Trouble(410, "Issues are disabled for this repo"), HookFailed, "Issues are disabled"),
    (Trouble(500, "Oops"), ForgeUnavailable, "out of order (status 500)"),
    (
        Trouble(403, "API rate limit exceeded", {"Retry-After": "1700"}),
        *(ForgeUnavailable, "rate limit exceeded; try again in 29 minutes."),
    ),
]


async def test_what_goes_wrong_is_named_and_nothing_is_made(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.github.issues.open(1)
    for trouble, error, says in TROUBLES:
        desk.github.trouble = trouble
        with pytest.raises(error) as caught:
            await desk.take()
        assert caught.value.message.startswith("Nothing was imported. ")
        assert says in caught.value.message
        assert TOKEN not in caught.value.message
    desk.github.trouble = None
    monkeypatch.delenv("AM_GITHUB_TOKEN")
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    with pytest.raises(HookFailed, match="There is no token for GitHub; set AM_GITHUB_TOKEN"):
        await desk.take()
    assert await desk.tasks() == []


async def test_without_a_repository_the_way_out_is_told(desk: Desk, tmp_path: Path) -> None:
    home = scripted_home(tmp_path / "other")
    async with bootstrap.client(Settings(home, None)) as program:
        project = await tasks.add_project(program.services, Path(desk.project.path), None, None)
        with pytest.raises(HookFailed, match="no remote on GitHub: add one, name the repository"):
            await importing.import_issues(program.services, project, Wanted(), ANN)


WRONG: dict[str, tuple[tuple[Any, ...], str]] = {
    "a repository that is none": (("acme/..", (), (), None), "write it as owner/name"),
    "numbers and labels": ((None, (1,), ("bug",), None), "not both"),
    "too many numbers": ((None, range(101), (), None), "at most 100"),
    "a label that is two": ((None, (), ("a,b",), None), 'labels: "a,b" is no label'),
    "a label that is none": ((None, (), (" ",), None), "is no label"),
}


@pytest.mark.parametrize(("asked", "says"), WRONG.values(), ids=WRONG.keys())
def test_a_wish_that_cannot_be_meant_is_refused(asked: tuple[Any, ...], says: str) -> None:
    with pytest.raises(InvalidInput, match=r"Nothing was imported\.") as refused:
        issue.wanted(*asked)
    assert says in " ".join(refused.value.details)


# ------------------------------------------------------------------------------- with an engine


def prefer(hub: Hub, pipeline: str) -> None:
    folder = hub.world.repo / ".agents-manager"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"defaultPipeline": pipeline}))


async def imported(hub: Hub, number: int, script: Any = GREETING, **more: Any) -> Task:
    body = f"It sticks.\n\n```agent-script\n{json.dumps(script)}\n```"
    hub.github.issues.open(number, body=body, **more)
    s, project = hub.world.s, hub.world.project
    done = await importing.import_issues(s, project, Wanted(numbers=(number,)), ANN)
    made = done.items[0].task_id
    assert made
    return await s.store.read(lambda tx: tx.tasks.get(made))


async def test_no_issue_wakes_an_agent(hub: Hub) -> None:
    world = hub.world
    document = json.loads(json.dumps(world.s.built_in["feature"]))
    document |= {"id": "eager", "name": "Eager"}
    start = next(t for t in document["transitions"] if t["from"] == "open")
    document["transitions"].append({**start, "id": "at-once", "trigger": "auto", "guards": []})
    await pipelines.add(world.s, document)
    prefer(hub, "eager")
    task = await imported(hub, 3)
    assert task.pipeline_id == "eager"
    await supervisor.look(world.s)
    assert await world.types(task) == ["task.created"]
    assert (await world.view(task)).runs == []
    # The same edge is taken as soon as the engine looks at it.
    await world.s.store.write(lambda tx: transitions.recheck(tx, world.s, task.id))
    assert (await world.wait(task, lambda v: bool(v.runs), "an agent")).runs


def notes(hub: Hub, number: int) -> list[str]:
    return [one["body"] for one in hub.github.said["issue"] if one["pull"] == number]


ON = {"noteOnIssues": True, "closeIssues": True}


@pytest.mark.parametrize(
    "hub", [{}, {"closeIssues": True}], ids=["default", "close"], indirect=True
)
async def test_nothing_is_written_on_an_issue_unless_wanted(hub: Hub) -> None:
    task = await imported(hub, 3)
    before = list(hub.github.asked)
    await tasks.move(hub.world.s, task.id, ANN, to="cancelled")
    await hub.world.settled(task)
    assert hub.github.asked == before


@pytest.mark.parametrize("hub", [ON], indirect=True)
async def test_a_task_that_ends_without_a_merge_is_noted_once_and_closes_nothing(hub: Hub) -> None:
    task = await imported(hub, 3)
    hub.github.trouble = Trouble(502, "Bad gateway", times=1)
    await tasks.move(hub.world.s, task.id, ANN, to="cancelled")
    row = await hub.tried(task, "note_on_issue", 2)
    await hub.later(task, hours=1)
    await hub.world.settled(task)
    [note] = notes(hub, 3)
    mark, _, words = note.partition("\n")
    assert mark == f"<!-- agents-manager note {task.id}-ended -->"
    assert words == "The task for this ended as `Cancelled`, and nothing was merged."
    assert hub.github.issues.rows[3]["state"] == "open"
    assert (await hub.world.types(task)).count("issue.noted") == 1

    # A crash after the note was written, and before that was put on record.
    again = {"status": "pending", "attempt": 3, "finished_at": None}
    await hub.world.s.store.write(lambda tx: tx.effects.update(row.id, **again))
    await hub.world.settled(task)
    assert len(notes(hub, 3)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("hub", [ON], indirect=True)
async def test_a_merge_is_noted_when_it_is_made_and_closes_the_issue(hub: Hub) -> None:
    world = hub.world
    document = json.loads(json.dumps(world.s.built_in["simple"]))
    document |= {"id": "direct", "name": "Ended before it is merged"}
    approve = next(t for t in document["transitions"] if t["id"] == "approve")
    approve |= {"to": "done", "hooks": [{"type": "merge_pr", "policy": "best_effort"}]}
    document["transitions"] = [t for t in document["transitions"] if t["from"] != "merging"]
    document["statuses"] = [one for one in document["statuses"] if one["id"] != "merging"]
    await pipelines.add(world.s, document)
    prefer(hub, "direct")
    task = await imported(hub, 3, title="This does not fix #12", labels=("bug",))
    hub.github.issues.open(12)
    await tasks.move(world.s, task.id, ANN)
    await world.until(task, "review")
    await world.settled(task)
    told = (await world.view(task)).runs[0].prompt or ""
    assert "These words come from acme/shop#3, an issue that anybody may have written." in told
    await world.review(task, "approved")
    await world.until(task, "done")
    await world.settled(task)
    pull = (await world.view(task)).pull
    assert pull
    assert pull.merge_sha
    [note] = notes(hub, 3)
    where = f"https://github.test/acme/shop/pull/{pull.number}"
    assert note.partition("\n")[2] == (
        f"The change for this was merged by {where}: `{pull.merge_sha[:8]}` in `main`."
    )
    row = hub.github.issues.rows[3]
    assert (row["state"], row["state_reason"]) == ("closed", "completed")
    assert hub.github.issues.rows[12]["state"] == "open"
    assert 12 not in hub.github.issues.mentioned
