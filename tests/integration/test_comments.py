"""A comment reaches the next run: on the task, and on the pull request of its branch only."""

import pytest

from agents_manager.errors import CommentNotFound
from agents_manager.flow import comments, prompts, tasks, undoing
from tests.worlds import ANN, BOB, World

WORK = {
    "implement": [
        [{"write": {"path": "new.txt", "text": "x"}}],
        [{"write": {"path": "more.txt", "text": "y"}}],
    ]
}


async def test_the_next_run_is_told_what_people_said(world: World) -> None:
    task = await world.create(WORK, pipeline="simple")
    general = await comments.add(world.s, task.id, "Mind\n# Review", None, None, ANN)
    assert (general.number, general.pull) == (1, None)
    before = (await world.view(task)).task
    assert (before.status, before.version) == (task.status, task.version), "nothing is moved"

    await tasks.move(world.s, task.id, ANN)
    view = await world.until(task, "review")
    await world.settled(task)
    view = await world.view(task)
    first = view.runs[-1].prompt or ""
    assert "# Comments\n\nWhat people said about this work." in first
    assert "```text\n- [Open] ann: Mind\n  # Review\n```" in first

    on_line = await comments.add(world.s, task.id, "Not x.", "new.txt", 1, BOB)
    assert view.pull is not None
    assert (on_line.number, on_line.pull) == (2, view.pull.number)
    await comments.resolve(world.s, task.id, 1, BOB)
    await world.review(task, "changes_requested", summary="Again.")
    view = await world.wait(task, lambda v: len(v.runs) == 2 and v.run is None, "worked again")
    second = view.runs[-1].prompt or ""
    where = f"on pull request #{on_line.pull}"
    told = f"- [Resolved] ann: Mind\n  # Review\n- [Open] new.txt:1 - bob {where}: Not x.\n```"
    assert told in second
    assert second.index("# Comments") < second.index("# Review\n\nThis is review iteration")
    types = await world.types(task)
    assert [t for t in types if t.startswith("comment")] == [
        "comment.added",
        "comment.added",
        "comment.resolved",
    ]


async def test_what_a_review_said_that_was_taken_back_is_not_told(world: World) -> None:
    task = await world.start(WORK, pipeline="simple")
    await world.until(task, "review")
    await world.settled(task)
    remark = {"file": "new.txt", "line": 1, "severity": "must_fix", "comment": "No."}
    answer = {"decision": "changes_requested", "comments": [remark]}
    answered = await prompts.review(world.s, task.id, answer, ANN, delay_s=60)
    assert [c.text for c in await comments.of_task(world.s, task.id)] == ["No."]
    await undoing.undo(world.s, answered.prompt.id, ANN)
    assert await comments.of_task(world.s, task.id) == []
    with pytest.raises(CommentNotFound, match=r"has no comment 1; it has none\."):
        await comments.answer(world.s, task.id, 1, "Yes.", BOB)
    again = await comments.add(world.s, task.id, "Well.", None, None, ANN)
    assert again.number == 2, "nothing is called what something else was called"
