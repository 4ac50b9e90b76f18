"""Committed work of failed runs reaches a review."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agents_manager.flow import tasks, undoing
from tests.repos import make_repo, own_home, run
from tests.staged_walk import FILES, begun, changes, script, until
from tests.worlds import ANN, World, repo, working, world

__all__ = ["own_home", "repo", "world"]
pytestmark = pytest.mark.usefixtures("own_home")

WRITE = [{"write": {"path": "work.txt", "text": "work\n"}}, {"commit": "Write work.txt"}]
CRASHES = [*WRITE, {"crash": 3}]
READY = [{"outcome": "pr_ready"}]
SECRET = "key = AKIA" + "Q4XV7ZJ2MPL6TWBD\n"


def implement(*visits: Any) -> Mapping[str, Any]:
    return {"implement": list(visits)}


async def test_the_automatic_retry_hands_over_the_commits_of_the_run_that_crashed(
    world: World,
) -> None:
    world.configure({"retries": {"crash": {"tries": 2, "delay": 20, "factor": 1}}})
    task = await world.start(implement(CRASHES, READY), pipeline="simple")
    view = await world.until(task, "review")
    assert [run.outcome for run in view.runs] == [None, "pr_ready"]
    await world.review(task, "approved")
    await world.until(task, "done")
    assert (world.repo / "work.txt").read_text() == "work\n"


async def test_work_is_handed_over_although_a_run_in_between_found_nothing_to_do(
    world: World,
) -> None:
    nothing = [{"outcome": {"name": "no_changes", "payload": {"reason": "It is there."}}}]
    task = await world.start(implement(CRASHES, nothing, READY), pipeline="simple")
    await world.until(task, "needs_decision")
    await world.choose(task, "again")
    await world.wait(task, lambda v: len(v.runs) == 2 and v.run is None, "run again")
    await world.until(task, "needs_decision")
    await world.choose(task, "again")
    view = await world.until(task, "review")
    assert [run.outcome for run in view.runs] == [None, "no_changes", "pr_ready"]


async def test_an_agent_that_changes_nothing_after_a_review_has_nothing_to_hand_over(
    world: World,
) -> None:
    task = await world.start(implement([*WRITE, *READY], READY), pipeline="simple")
    await world.until(task, "review")
    await world.review(task, "changes_requested", summary="Write more.")
    view = await world.until(task, "needs_decision")
    assert view.runs[-1].outcome == "no_changes"


async def test_a_person_can_review_the_commits_of_a_run_that_crashed(world: World) -> None:
    task = await world.start(implement(CRASHES), pipeline="simple")
    view = await world.until(task, "needs_decision")
    choices = view.prompts[0].payload["choices"]
    assert [c["id"] for c in choices] == ["again", "check_again", "review", "finish", "cancel"]
    assert [c["label"] for c in choices[1:3]] == ["Check again", "Review as it is"]
    assert "+1 -0 in 1 file" in choices[2]["detail"]
    await world.choose(task, "review")
    view = await world.until(task, "review")
    assert [(run.status, run.outcome) for run in view.runs] == [("failed", None)]
    assert view.prompts[0].payload["checks_passed"] is None
    assert not (world.repo / "work.txt").exists()
    await world.review(task, "approved")
    await world.until(task, "done")
    assert (world.repo / "work.txt").read_text() == "work\n"


@pytest.mark.slow
async def test_no_hand_over_is_offered_for_a_run_that_committed_nothing(world: World) -> None:
    task = await world.start(implement([{"crash": 3}]), pipeline="simple")
    view = await world.until(task, "needs_decision")
    assert [c["id"] for c in view.prompts[0].payload["choices"]] == ["again", "finish", "cancel"]


async def configure_check(world: World, command: str) -> None:
    world.configure({"checks": {"test": {"command": command}}, "maxFixRounds": 0})
    world.project = await tasks.trust_project(world.s, world.project)


async def test_checks_run_again_on_the_commits_until_they_pass(
    world: World, tmp_path: Path
) -> None:
    service = tmp_path / "service"
    await configure_check(world, f"echo broken; test -e '{service}' || ! test -e work.txt")
    task = await world.start(implement([*WRITE, *READY]), pipeline="simple")
    view = await world.until(task, "needs_decision")
    await world.choose(task, "check_again")
    view = await world.wait(task, lambda v: any(p.revision == 2 for p in v.prompts), "asked again")
    assert view.prompts[0].payload["reason"] == "Checks failed: test (exit code 1)."
    assert view.prompts[0].payload["evidence"] == "broken\n"
    service.touch()
    await world.choose(task, "check_again")
    view = await world.until(task, "review")
    assert len(view.runs) == 1
    assert view.prompts[0].payload["checks_passed"] is True


@pytest.mark.slow
async def test_a_review_as_it_is_shows_which_checks_failed(world: World) -> None:
    await configure_check(world, "! test -e work.txt")
    task = await world.start(implement([*WRITE, *READY]), pipeline="simple")
    await world.until(task, "needs_decision")
    await world.choose(task, "review")
    view = await world.until(task, "review")
    assert view.prompts[0].payload["checks_passed"] is False
    assert view.prompts[0].payload["warnings"] == ["test (exit code 1)"]


@pytest.mark.slow
async def test_checks_that_fail_on_the_base_too_can_be_left_out_by_a_review_as_it_is(
    world: World,
) -> None:
    await configure_check(world, "exit 1")
    task = await world.start(implement([*WRITE, *READY]), pipeline="simple")
    view = await world.wait(task, lambda v: bool(v.prompts), "asked")
    assert view.task.status == "in_progress"
    await world.choose(task, "review")
    view = await world.until(task, "review")
    assert view.prompts[0].payload["warnings"] == ["test (exit code 1)"]


@pytest.mark.slow
async def test_a_secret_in_the_commits_keeps_them_from_a_review_as_it_is(world: World) -> None:
    secret = [{"write": {"path": "work.txt", "text": SECRET}}, {"commit": "Write"}, {"crash": 3}]
    task = await world.start(implement(secret), pipeline="simple")
    await world.until(task, "needs_decision")
    await world.choose(task, "review")
    view = await world.wait(task, lambda v: any(p.revision == 2 for p in v.prompts), "asked again")
    assert view.task.status == "needs_decision"
    assert "secrets" in view.prompts[0].payload["reason"]


@pytest.mark.slow
async def test_the_commits_of_a_stopped_run_can_be_reviewed(world: World) -> None:
    task = await world.start(implement([*WRITE, {"sleep": 60}]), pipeline="simple")
    view = await world.wait(task, lambda v: bool(v.run and v.run.workspace), "running")
    assert view.run is not None
    assert view.run.workspace is not None
    async with asyncio.timeout(20):
        while "Write work.txt" not in run(Path(view.run.workspace), "log", "--format=%s"):
            await asyncio.sleep(0.05)
    await tasks.stop_run(world.s, view.run.id, ANN)
    await world.wait(task, lambda v: v.run is None and bool(v.prompts), "asked")
    await world.choose(task, "review")
    await world.until(task, "review")


@pytest.mark.slow
async def test_an_answer_that_hands_commits_over_can_be_taken_back(world: World) -> None:
    task = await world.start(implement(CRASHES, READY), pipeline="simple")
    view = await world.until(task, "needs_decision")
    prompt = view.prompts[0]
    await world.answer(prompt, {"choice_id": "review"}, delay_s=60)
    await undoing.undo(world.s, prompt.id, ANN)
    await world.choose(task, "again")
    view = await world.until(task, "review")
    assert [run.outcome for run in view.runs] == [None, "pr_ready"]


@pytest.mark.slow
async def test_the_staged_pipeline_has_its_own_way_to_a_review(tmp_path: Path) -> None:
    async with working(tmp_path / "home", make_repo(tmp_path / "shop", FILES)) as shop:
        wrote = changes("tests/test_app.py", "def test(): ...\n")
        task = await begun(shop, script(test_writer=[[*wrote, {"crash": 3}]]))
        await until(shop, task, "failed")
        await shop.choose(task, "review")
        await shop.until(task, "pr_review")
