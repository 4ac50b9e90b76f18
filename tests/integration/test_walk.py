"""The walk of the architecture: one task from creation to merge, on both databases."""

from pathlib import Path

import pytest

from agents_manager.domain.pipeline import PromptType
from agents_manager.flow import prompts
from tests import repos, worlds
from tests.postgres import fresh_database
from tests.worlds import ANN, GREETING

FEATURE = {
    "plan": [
        [
            {"say": "Looking around."},
            {
                "ask": {
                    "question": "Which greeting?",
                    "options": [{"label": "hello", "recommended": True}, {"label": "hey"}],
                }
            },
        ],
        [
            {
                "outcome": {
                    "name": "options_proposed",
                    "payload": {
                        "summary": "Where does it go?",
                        "options": [
                            {"id": "file", "label": "In the file"},
                            {"id": "new", "label": "In a new file"},
                        ],
                    },
                }
            }
        ],
        [{"say": "# Plan\n\nAppend a line."}, {"outcome": "plan_ready"}],
        [{"say": "# Plan\n\nAppend a line and test it."}, {"outcome": "plan_complete"}],
    ],
    **GREETING,
}


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def url(request: pytest.FixtureRequest) -> str | None:
    if request.param == "sqlite":
        return None
    return fresh_database(request.getfixturevalue("postgres_url"))


async def test_feature_from_creation_to_merge(tmp_path: Path, repo: Path, url: str | None) -> None:
    async with worlds.working(tmp_path / "home", repo, url) as world:
        task = await world.start(FEATURE, objective="Guests feel welcome.")

        view = await world.until(task, "needs_info")
        assert view.prompts[0].type is PromptType.INFO_REQUEST
        await prompts.accept(world.s, view.prompts[0].id, ANN)

        view = await world.until(task, "options_proposed")
        await world.answer(view.prompts[0], {"option_id": "file", "instructions": "keep it short"})

        view = await world.until(task, "planned")
        assert view.prompts[0].payload["document"] == "# Plan\n\nAppend a line."
        await world.review(task, "changes_requested", summary="Test it as well.")
        view = await world.wait(
            task, lambda v: v.task.status == "planned" and len(v.runs) == 4, "planned again"
        )
        assert view.task.plan == "# Plan\n\nAppend a line and test it."
        await world.review(task, "approved")

        view = await world.until(task, "pr_review")
        assert view.prompts[0].payload["additions"] == 1
        comment = {"file": "greeting.txt", "line": 2, "severity": "must_fix", "comment": "Again."}
        await world.review(task, "changes_requested", comments=[comment])

        view = await world.wait(
            task, lambda v: v.task.status == "pr_review" and len(v.runs) == 6, "reworked"
        )
        told = view.runs[-1].prompt
        assert told is not None
        assert "Objective: Guests feel welcome." in told
        assert "Answer: hello" in told
        assert "Further instructions: keep it short" in told
        assert "- [Must Fix] [Open] greeting.txt:2 - ann: Again." in told
        assert "Test it as well." in told
        await world.review(task, "approved")

        view = await world.until(task, "done")
        await world.settled(task)
        assert view.pull is not None
        assert view.pull.number == 1
        assert (repo / "greeting.txt").read_text() == "hi\nhello\nagain\n"
        assert repos.run(repo, "log", "--format=%s", "--first-parent", "main").splitlines() == [
            "Merge pull request #1: Add greeting",
            "First",
        ]
        assert repos.status(repo) == ""
        sequence = [e.seq for e in await world.events(task)]
        assert sequence == list(range(1, len(sequence) + 1))


async def test_simple_to_merge(world: worlds.World) -> None:
    task = await world.start(GREETING, pipeline="simple")
    view = await world.until(task, "review")
    assert view.runs[0].usage is not None
    assert view.runs[0].usage.cost_usd == 0.25
    await world.review(task, "approved")
    await world.until(task, "done")
    assert (world.repo / "greeting.txt").read_text() == "hi\nhello\n"


async def test_a_task_waits_for_what_it_depends_on(world: worlds.World) -> None:
    first = await world.create(GREETING, pipeline="simple", title="First")
    second = await world.create(GREETING, pipeline="simple", dependencies=[first.id])
    view = await world.view(second)
    start = next(m for m in view.moves if m.id == "start")
    assert not start.allowed
    assert start.reasons == ('It waits for "First".',)
    assert view.next_mover.kind == "dependency"
