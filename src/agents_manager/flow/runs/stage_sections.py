"""What an agent of a stage is told of the others: the outputs that the passing table gives it, its
batch, and why it runs."""

from collections.abc import Mapping
from typing import Any

from agents_manager.domain import template
from agents_manager.domain.context import Section
from agents_manager.domain.course import Asked, Assignment, Course
from agents_manager.domain.run import Run
from agents_manager.domain.stages import context, outputs, summary, table
from agents_manager.domain.task import History, Task
from agents_manager.flow.ports import Services

BATCH = "Your batch"
REQUESTED = "What you are asked for"
RESTARTED = "Why the work begins again"
UNMERGED = "What kept it from being merged"
APPROVED = "The work was approved and could not be merged; see to it."
BESIDE = (
    "Builders worked side by side, and what these did could not be put together with the rest,"
    " which your branch holds. Merge each commit named here as head_sha (`git merge`), so that both"
    " works hold."
)
TROUBLE = frozenset({"conflicts_detected", "merge_failed"})
BUDGET = 16_000
"""Characters of a stage's output; longer ones are summarised."""
ALL_BUDGET = 5_000
"""The same for stages that are given everything."""


def given(known: Course, run: Run, task: Task) -> list[Section]:
    """The outputs, each under the name of its stage."""
    stage = table.BY_ROLE[run.mode]
    return [
        Section(
            heading=heading(table.BY_NUMBER[number]),
            quoted=[text],
            budget=max(len(text), 1),
            where=f"am context {task.id}",
        )
        for number, text in told(known, run, stage).items()
    ]


def heading(stage: table.Stage) -> str:
    return f"Stage {stage.number:g}: {stage.title}"


def told(known: Course, run: Run, stage: table.Stage) -> Mapping[float, str]:
    """By the stage that each output is of. Who is given everything gets it in brief."""
    before = known.before(run)
    made = before.made
    everything = len(stage.given) > table.MANY_GIVEN
    texts: dict[float, str] = {}
    for number in stage.given:
        other = table.BY_NUMBER[number]
        output = context.given_to(stage, made).get(other.field or "")
        output = _part_of(output, known.assignments.get(run.id))
        if output:
            budget = ALL_BUDGET if everything else BUDGET
            texts[number] = summary.within(output, budget, brief=everything)
    results = made.sub_pipeline_results
    if everything and results:
        texts[4] = f"{texts.get(4, '')}\n{summary.within(results, ALL_BUDGET, brief=True)}"
    return texts


def _part_of(output: Any, mine: Assignment | None) -> Any:
    """What concerns a builder's own batch alone; with a request instead of one, all but the plan's
    batches."""
    if mine is None:
        return output
    wanted = {feature.id for feature in mine.batch.features} if mine.batch else None
    match output:
        case outputs.ImplementationPlan():
            return output.model_copy(update={"batches": (mine.batch,) if mine.batch else ()})
        case outputs.TaskSpec() if wanted:
            features = tuple(one for one in output.features if one.id in wanted)
            return output.model_copy(update={"features": features})
        case outputs.RepoProfile() if wanted:
            files = tuple(one for one in output.feature_files if one.feature in wanted)
            return output.model_copy(update={"feature_files": files})
        case _:
            return output


def reasons(known: Course, run: Run, task: Task, came: History | None) -> list[Section]:
    """What the run is for beyond its stage; `came` is the move that brought the task there."""
    mine, request = known.assignments.get(run.id), known.served(run.id)
    restart = known.before(run).restart()
    where = f"am context {task.id}"
    sections: list[Section] = []
    if mine:
        batch = [summary.whole(mine.batch)] if mine.batch else []
        told = f"You are {mine.agent}. Others build the other batches: change no file but these."
        if not mine.batch:
            told = f"You are {mine.agent}. What you are asked for below is your batch."
        budget = BUDGET if batch else 0
        sections.append(
            Section(heading=BATCH, before=told, quoted=batch, budget=budget, where=where)
        )
    if request:
        sections.append(
            Section(
                heading=REQUESTED,
                before=f"{request.trigger.source_agent} had you run again; see to this.",
                quoted=[_asked(request)],
                budget=BUDGET,
                where=where,
            )
        )
    if came and came.outcome in TROUBLE:
        beside = "parts" in (came.payload or {})
        sections.append(
            Section(
                heading=UNMERGED,
                before=BESIDE if beside else APPROVED,
                quoted=[summary.whole(dict(came.payload or {}))],
                budget=BUDGET,
                where=where,
            )
        )
    if restart:
        sections.append(
            Section(
                heading=RESTARTED,
                before="It was decided that the work begins again, with this goal.",
                quoted=[summary.whole(restart)],
                budget=BUDGET,
                where=where,
            )
        )
    return sections


def _asked(request: Asked) -> str:
    trigger = request.trigger
    told = f"{trigger.trigger_id} ({trigger.priority}): {trigger.reason}"
    return f"{told}\n\n{trigger.context}" if trigger.context else told


def how_to_request(s: Services, run: Run) -> str:
    allowed = ", ".join(sorted(table.may_ask(run.mode)))
    return template.filled(s.templates["request"], agents=allowed) if allowed else ""
