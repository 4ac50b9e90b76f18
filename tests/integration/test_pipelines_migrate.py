"""Tasks go to another version of their pipeline: previewed, all or none, and never stranded."""

from collections.abc import Mapping
from typing import Any

import pytest

from agents_manager.domain.guards import Fired
from agents_manager.domain.pipeline import Trigger, TriggerType
from agents_manager.domain.prompt import Prompt, PromptStatus
from agents_manager.domain.run import RunStatus
from agents_manager.domain.task import SYSTEM, Artifact, ArtifactType, Project, Task
from agents_manager.errors import (
    InvalidInput,
    PipelineNotFound,
    TaskNotFound,
    TransitionRefused,
)
from agents_manager.flow import facts, migration, pipelines, prompts, tasks, transitions, views
from agents_manager.flow.migration import Migration
from agents_manager.flow.ports import Services, Tx
from tests.pipeline_desk import create, mine, program, project, s
from tests.worlds import ANN

__all__ = ["program", "project", "s"]

QUESTION = {"questions": [{"id": "q", "question": "Which colour?"}]}
ANSWER = {"answers": [{"question_id": "q", "text": "Blue"}]}


def renamed(document: dict[str, Any], **names: str) -> dict[str, Any]:
    """The same pipeline with other names for some statuses."""

    def walk(value: Any) -> Any:
        match value:
            case dict():
                return {key: walk(part) for key, part in value.items()}
            case list():
                return [walk(part) for part in value]
            case str():
                return names.get(value, value)
            case _:
                return value

    kept = {key: walk(value) for key, value in document.items() if key != "transitions"}
    moves = [
        {**t, "from": walk(t["from"]), "to": walk(t["to"]), "guards": walk(t.get("guards", []))}
        for t in document["transitions"]
    ]
    return {**kept, "transitions": moves}


def without(document: dict[str, Any], *statuses: str) -> dict[str, Any]:
    kept = [x for x in document["statuses"] if x["id"] not in statuses]
    moves = [
        t for t in document["transitions"] if t["from"] not in statuses and t["to"] not in statuses
    ]
    return {**document, "statuses": kept, "transitions": moves}


async def started(s: Services, project: Project) -> Task:
    task = await create(s, project, "mine")
    await tasks.move(s, task.id, ANN)
    return await now(s, task)


async def asking(
    s: Services,
    project: Project,
    outcome: str = "needs_info",
    payload: Mapping[str, Any] | None = QUESTION,
) -> Task:
    """A task whose agent ended with something that a person has to answer."""
    task = await started(s, project)
    trigger = Trigger(type=TriggerType.AGENT_OUTCOME, outcome=outcome)

    def write(tx: Tx) -> None:
        _ended(tx, s, task)
        transitions.report(tx, s, task.id, Fired(trigger=trigger, payload=payload), SYSTEM)

    await s.store.write(write)
    return await now(s, task)


async def reviewing(s: Services, project: Project) -> Task:
    task = await started(s, project)
    change = {"base_sha": "a", "head_sha": "b", "files": 1, "additions": 1, "deletions": 0}
    diff = Artifact(
        id="d" + task.id,
        task_id=task.id,
        run_id=None,
        type=ArtifactType.DIFF,
        key="diff",
        label="diff",
        data={**change, "branch": "x"},
        created_at=s.clock.now(),
    )
    trigger = Trigger(type=TriggerType.AGENT_OUTCOME, outcome="pr_ready")

    def write(tx: Tx) -> None:
        tx.tasks.add_artifact(diff)
        _ended(tx, s, task)
        transitions.report(tx, s, task.id, Fired(trigger=trigger), SYSTEM)
        _perform(tx, task)

    await s.store.write(write)
    return await now(s, task)


def _ended(tx: Tx, s: Services, task: Task) -> None:
    (run,) = tx.runs.live(task.id)
    tx.runs.update(run.id, status=RunStatus.COMPLETED, agent="scripted", ended_at=s.clock.now())
    _perform(tx, task)


def _perform(tx: Tx, task: Task) -> None:
    for effect in tx.effects.open(task.id):
        tx.effects.update(effect.id, status="done")


async def now(s: Services, task: Task) -> Task:
    return await s.store.read(lambda tx: tx.tasks.get(task.id))


async def pending(s: Services, task: Task) -> list[Prompt]:
    return await s.store.read(lambda tx: tx.prompts.pending(task.id))


async def look(s: Services, statuses: Mapping[str, str] | None = None, **kw: Any) -> Migration:
    return await migration.migrate(s, "mine", ANN, statuses=statuses or {}, **kw)


async def apply(s: Services, statuses: Mapping[str, str] | None = None, **kw: Any) -> Migration:
    return await look(s, statuses, apply=True, **kw)


async def test_a_preview_changes_nothing_and_apply_moves_all(s: Services, project: Project) -> None:
    await pipelines.add(s, mine())
    first, second = await create(s, project, "mine"), await asking(s, project)
    done = await create(s, project, "mine")
    await tasks.move(s, done.id, ANN, to="cancelled")
    await pipelines.add(s, mine(name="Two"))

    preview = await look(s)
    assert [(x.task.id, x.task.status, x.to, x.problem) for x in preview.steps] == [
        (first.id, "open", "open", None),
        (second.id, "needs_info", "needs_info", None),
    ]
    assert (preview.pipeline.version, preview.applied) == (2, False)
    assert await now(s, first) == first

    assert (await apply(s)).applied
    moved = await now(s, first)
    assert (moved.pipeline_version, moved.version, moved.status) == (2, first.version + 1, "open")
    assert (await now(s, done)).pipeline_version == 1
    entry, logged = await s.store.read(
        lambda tx: (
            tx.history.of_task(first.id)[-1],
            tx.events.of_task(first.id, after_seq=0, limit=99)[-1],
        )
    )
    assert (entry.trigger, entry.result, entry.actor.name) == ("migration", "done", "ann")
    assert entry.payload == {"from_version": 1, "to_version": 2, "statuses": {}}
    assert (logged.type, logged.summary) == (
        "task.migrated",
        "Migrated from version 1 to 2: stays in open.",
    )
    assert (await look(s)).steps == []


async def test_a_migration_that_strands_tasks_moves_none(s: Services, project: Project) -> None:
    await pipelines.add(s, mine())
    fine, stranded = await create(s, project, "mine"), await asking(s, project)
    await pipelines.add(s, without(mine(), "needs_info"))
    steps = {x.task.id: x for x in (await look(s)).steps}
    assert steps[stranded.id].to is None
    assert '"needs_info" is not in version 2' in str(steps[stranded.id].problem)
    with pytest.raises(TransitionRefused, match="1 of 2 tasks cannot be") as refused:
        await apply(s)
    assert stranded.id in refused.value.details[0]
    assert [await now(s, t) for t in (fine, stranded)] == [fine, stranded]


async def test_an_open_question_is_kept_under_a_new_name_and_leads_back(
    s: Services, project: Project
) -> None:
    await pipelines.add(s, mine())
    task = await asking(s, project)
    (question,) = await pending(s, task)
    await pipelines.add(s, renamed(mine(), needs_info="asking", in_progress="coding"))
    half = await look(s, {"needs_info": "asking"})
    assert '"asking" leads back to "in_progress"' in str(half.steps[0].problem)
    await apply(s, {"needs_info": "asking", "in_progress": "coding"})
    assert await pending(s, task) == [question]
    view = await s.store.read(lambda tx: views.task(tx, s, task.id, ANN))
    assert (view.next_mover.kind, view.status.id) == ("prompt", "asking")
    await prompts.answer(s, question.id, ANSWER, ANN)
    assert (await now(s, task)).status == "coding"
    assert await s.store.read(lambda tx: tx.runs.live(task.id))


async def test_a_migration_is_no_round_and_rounds_keep_counting(
    s: Services, project: Project
) -> None:
    await pipelines.add(s, mine())
    task = await reviewing(s, project)
    back = {"decision": "changes_requested", "summary": "Again."}
    await prompts.review(s, task.id, back, ANN)
    await s.store.write(lambda tx: _ended(tx, s, task))
    await pipelines.add(s, renamed(mine(), in_progress="coding"))
    before = await _rounds(s, await now(s, task))
    await apply(s, {"in_progress": "coding"})
    assert before["in_progress"] == 1
    assert (await _rounds(s, await now(s, task)))["coding"] == 1


async def _rounds(s: Services, task: Task) -> Mapping[str, int]:
    manual = Fired(trigger=Trigger(type=TriggerType.MANUAL))
    return (await s.store.read(lambda tx: facts.gather(tx, s, task, manual, ANN))).rounds


async def test_a_live_run_and_a_required_effect_stand_in_the_way(
    s: Services, project: Project
) -> None:
    await pipelines.add(s, mine())
    task = await started(s, project)
    (run,) = await s.store.read(lambda tx: tx.runs.live(task.id))
    await pipelines.add(s, mine(name="Two"))
    assert f"Run {run.id} is still going on" in str((await look(s)).steps[0].problem)
    with pytest.raises(TransitionRefused):
        await apply(s)
    await s.store.write(lambda tx: tx.runs.update(run.id, status=RunStatus.COMPLETED))
    assert "start_agent is still to be performed" in str((await look(s)).steps[0].problem)
    await s.store.write(lambda tx: _perform(tx, task))
    await apply(s)
    (choice,) = await pending(s, task)
    assert "no agent is at work" in choice.payload["reason"]
    assert {c["id"] for c in choice.payload["choices"]} == {"rerun", "cancel"}


async def test_a_wait_that_has_nothing_to_ask_is_refused(s: Services, project: Project) -> None:
    await pipelines.add(s, mine())
    task = await create(s, project, "mine")
    await pipelines.add(s, mine(name="Two"))
    for target in ("needs_info", "review"):
        (step,) = (await look(s, {"open": target})).steps
        assert (step.to, step.problem) == (
            target,
            f'"{target}" waits for a person, and there is nothing to ask.',
        )
    await apply(s, {"open": "needs_decision"})
    (choice,) = await pending(s, task)
    assert {c["id"] for c in choice.payload["choices"]} == {"again", "finish", "cancel"}


async def test_a_choice_offers_the_moves_of_the_new_version(s: Services, project: Project) -> None:
    await pipelines.add(s, mine())
    task = await asking(s, project, "no_changes", {"reason": "All is well."})
    (before,) = await pending(s, task)
    document = mine()
    moves = [
        {**t, "id": "close"} if t.get("id") == "finish" else t for t in document["transitions"]
    ]
    await pipelines.add(s, {**document, "transitions": moves})
    await apply(s)
    (after,) = await pending(s, task)
    assert (after.payload["reason"], before.payload["reason"]) == (before.payload["reason"],) * 2
    assert {c["id"] for c in after.payload["choices"]} == {"again", "close", "cancel"}
    closed = await s.store.read(lambda tx: tx.prompts.get(before.id))
    assert closed.status is PromptStatus.SUPERSEDED
    await prompts.answer(s, after.id, {"choice_id": "close"}, ANN)
    assert (await now(s, task)).status == "done"


async def test_a_question_that_no_longer_fits_is_asked_as_the_status_asks(
    s: Services, project: Project
) -> None:
    """Out of a question into a review: there is work to look at."""
    await pipelines.add(s, mine())
    task = await reviewing(s, project)
    (review,) = await pending(s, task)
    await pipelines.add(s, mine(name="Two"))
    await apply(s, {"review": "needs_decision"})
    (choice,) = await pending(s, task)
    assert choice.type == "choice"
    assert choice.resume.status == "in_progress"
    assert (await s.store.read(lambda tx: tx.prompts.get(review.id))).status == "superseded"
    await pipelines.add(s, mine(name="Three"))
    await apply(s, {"needs_decision": "review"})
    (again,) = await pending(s, task)
    assert (again.type, again.payload["head_sha"]) == ("review", "b")


async def test_a_final_target_ends_the_task_and_wakes_those_behind_it(
    s: Services, project: Project
) -> None:
    await pipelines.add(s, mine())
    task = await asking(s, project)
    new = tasks.NewTask(title="Behind", pipeline="mine", dependencies=[task.id])
    behind = await tasks.create(s, project, new, ANN)
    await pipelines.add(s, without(mine(), "needs_info"))
    await apply(s, {"needs_info": "done"}, task_id=task.id)
    assert (await now(s, task)).status == "done"
    assert await pending(s, task) == []
    assert (await now(s, behind)).pipeline_version == 1
    await tasks.move(s, behind.id, ANN)


async def test_one_task_may_go_back_to_an_older_version(s: Services, project: Project) -> None:
    await pipelines.add(s, mine())
    task = await create(s, project, "mine")
    other = await create(s, project, "mine")
    await pipelines.add(s, mine(name="Two"))
    await apply(s, task_id=task.id[:8])
    assert [(await now(s, t)).pipeline_version for t in (task, other)] == [2, 1]
    await apply(s, task_id=task.id, version=1)
    assert (await now(s, task)).pipeline_version == 1
    with pytest.raises(InvalidInput, match=r"is on version 1 .* already"):
        await apply(s, task_id=task.id, version=1)


async def test_what_does_not_exist_is_named(s: Services, project: Project) -> None:
    await pipelines.add(s, mine())
    task = await create(s, project, "mine")
    elsewhere = await create(s, project, "simple")
    await pipelines.add(s, renamed(mine(), in_progress="coding"))
    with pytest.raises(InvalidInput) as refused:
        await look(s, {"in_progess": "coding", "open": "codng"})
    assert list(refused.value.details) == [
        'in_progess: there is no status "in_progess". Did you mean "in_progress"?',
        'open=codng: in version 2, there is no status "codng". Did you mean "coding"?',
    ]
    with pytest.raises(PipelineNotFound, match="version 9"):
        await look(s, version=9)
    with pytest.raises(PipelineNotFound, match='"nothing"'):
        await migration.migrate(s, "nothing", ANN, statuses={})
    with pytest.raises(TaskNotFound, match='"nobody"'):
        await look(s, task_id="nobody")
    with pytest.raises(InvalidInput, match='follows pipeline "simple"'):
        await look(s, task_id=elsewhere.id)
    await tasks.move(s, task.id, ANN, to="cancelled")
    with pytest.raises(InvalidInput, match="is finished"):
        await look(s, task_id=task.id)
