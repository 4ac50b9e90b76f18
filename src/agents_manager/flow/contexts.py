"""The PipelineContext of a task, computed from its log and its runs whenever somebody asks, and
what of it each agent was given."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents_manager.domain.course import Course
from agents_manager.domain.stages import context, outputs, summary, table
from agents_manager.domain.stages.context import ContextMetadata, PipelineContext
from agents_manager.domain.task import Task
from agents_manager.errors import InvalidInput, NotFound
from agents_manager.flow import stage_views, stages
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.runs import stage_sections
from agents_manager.flow.stage_views import LoopBackSeen, RetrySeen, StageSeen


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    context: PipelineContext
    agent: str
    """Whose turn it is, or was last."""
    stages: Sequence[StageSeen]
    loop_backs: Sequence[LoopBackSeen]
    retries: Sequence[RetrySeen]

    @property
    def markdown(self) -> str:
        return context.markdown(self.context, self.agent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What an agent was given of what the others said."""

    run: str
    agent: str
    stage: float
    outputs: Mapping[str, str]
    """As they stand in its prompt, by the heading of their stage."""
    characters: int
    everything: int
    """How many it would have been with every output there was, uncut."""


def of_task(tx: Tx, s: Services, task_ref: str) -> View:
    task, known = _staged(tx, task_ref)
    runs = known.runs
    last = runs[-1] if runs else None
    stage = table.BY_ROLE.get(last.mode) if last else None
    latest = [run.ended_at or run.created_at for run in runs]
    latest += [task.updated_at, *(e.time for e in known.log[-1:])]
    cycle, index = _wave(known)
    found = PipelineContext(
        user_request=user_request(task),
        current_stage=stage.number if stage else table.STAGES[0].number,
        completed_stages=known.completed(),
        stage_outputs=known.made,
        loop_back_triggers=tuple(asked.trigger for asked in known.asked),
        retry_history=known.retries(),
        metadata=ContextMetadata(
            pipeline_start=runs[0].created_at if runs else task.created_at,
            last_updated=max(latest),
            total_agent_calls=sum(run.started_at is not None for run in runs),
            build_agent_cycle=cycle,
            build_agent_index=index,
        ),
    )
    agent = stages.agent_of(known, last) if last else table.STAGES[0].role
    return View(
        context=found,
        agent=agent,
        stages=stage_views.of_stages(known),
        loop_backs=stage_views.of_loop_backs(known),
        retries=stage_views.of_retries(known),
    )


def given(tx: Tx, s: Services, task_ref: str, run_ref: str) -> Given:
    task, known = _staged(tx, task_ref)
    run = tx.runs.find(run_ref)
    if run.task_id != task.id:
        raise NotFound(f'Run {run.id} is not one of "{task.title}".')
    stage = table.BY_ROLE.get(run.mode)
    if stage is None:
        raise InvalidInput(f"Run {run.id} ({run.mode}) is of no stage.")
    told = stage_sections.told(known, run, stage)
    made = known.before(run).made
    everything = sum(len(summary.whole(one)) for one in _all(made))
    return Given(
        run=run.id,
        agent=stages.agent_of(known, run),
        stage=stage.number,
        outputs={stage_sections.heading(table.BY_NUMBER[n]): text for n, text in told.items()},
        characters=sum(map(len, told.values())),
        everything=everything,
    )


def user_request(task: Task) -> str:
    """Word for word."""
    return f"{task.title}\n\n{task.description}" if task.description else task.title


def _staged(tx: Tx, task_ref: str) -> tuple[Task, Course]:
    task = tx.tasks.find(task_ref)
    known = stages.of(tx, task)
    if known is None:
        raise InvalidInput(
            f'"{task.title}" is in the pipeline {task.pipeline_id}, which has no stages; only'
            " staged tasks have a context."
        )
    return task, known


def _all(made: context.StageOutputs) -> list[object]:
    found = [*(made.of(stage) for stage in table.STAGES), made.sub_pipeline_results]
    return [one for one in found if one]


def _wave(known: Course) -> tuple[int | None, int | None]:
    """Of the newest builder that has a batch of the plan."""
    batches = [given.batch.number for given in known.assignments.values() if given.batch]
    if not batches:
        return None, None
    cycle, index = divmod(batches[-1] - 1, outputs.WAVE)
    return cycle + 1, index + 1
