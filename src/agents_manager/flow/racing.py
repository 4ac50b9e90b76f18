"""Having several agents work at the same task: what the doors call."""

from collections.abc import Sequence

from agents_manager.domain import event, race
from agents_manager.domain.graph import Graph, closure
from agents_manager.domain.pipeline import Pipeline
from agents_manager.domain.race import Contender
from agents_manager.domain.task import Actor, Project, Task
from agents_manager.domain.transition import onward
from agents_manager.errors import InvalidInput, TransitionRefused
from agents_manager.flow import agents, later, picking, prompts, races, remedies, tasks
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.tasks import NewTask


def check(
    s: Services, project: Project, contenders: Sequence[Contender], judge: Contender | None
) -> None:
    """Refuses what cannot race, each of them with the model that it would really use."""
    real = [_real(s, project, one, race.MODE) for one in contenders]
    wrong = race.faults(real, _real(s, project, judge, race.JUDGE) if judge else None)
    if wrong:
        raise InvalidInput(wrong[0], wrong[1:])


def _real(s: Services, project: Project, one: Contender, mode: str) -> Contender:
    agent = s.agents.get(one.agent, project)
    of_role = agents.settings_of_role(s, project, mode, one.agent).get("model")
    return Contender(agent=one.agent, model=one.model or of_role or agent.model)


async def order(
    s: Services,
    task_ref: str,
    contenders: Sequence[Contender],
    judge: Contender | None,
    actor: Actor,
    *,
    start: bool = True,
) -> Task:
    """The next agent that is to implement the task becomes several. With `start` it is started,
    where it waits for somebody to start it or to say how it goes on."""

    def write(tx: Tx) -> Task:
        task = tx.tasks.find(task_ref)
        check(s, tx.projects.get(task.project_id), contenders, judge)
        pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
        _check_can(tx, s, task, pipeline)
        told = event.RaceOrdered(contenders=tuple(contenders), judge=judge, by=actor.name)
        tx.events.add(task.id, told, actor, s.clock.now())
        if start and _implements_here(s, pipeline, task.status):
            picking.begin_here(tx, s, task, actor)
        return task

    task = await s.store.write(write)
    if start and await s.store.read(lambda tx: _waits_for_start(tx, task)):
        try:
            await later.start(s, task.id, actor)
        except TransitionRefused as error:
            why = f"They are to work at it side by side, but it was not started: {error.message}"
            raise TransitionRefused(why, error.details) from None
    return await s.store.read(lambda tx: tx.tasks.get(task.id))


async def create(
    s: Services,
    project: Project,
    new: NewTask,
    contenders: Sequence[Contender],
    judge: Contender | None,
    actor: Actor,
    *,
    key: str | None = None,
) -> Task:
    """A new task that several agents are to implement; none is made where they cannot."""
    if new.agent or new.model:
        raise InvalidInput("A race names its own agents. Leave out the agent of the task.")
    check(s, project, contenders, judge)
    task = await tasks.create(s, project, new, actor, key=key)
    known = await s.store.read(lambda tx: races.ordered(tx, task.id) or races.last(tx, task.id))
    if known is None:
        await order(s, task.id, contenders, judge, actor, start=False)
    return task


def _check_can(tx: Tx, s: Services, task: Task, pipeline: Pipeline) -> None:
    live = tx.runs.live(task.id)
    if pipeline.is_final(task.status):
        raise TransitionRefused(f'"{task.title}" is finished ({task.status}).')
    if live:
        raise TransitionRefused(
            f'{live[0].agent or "An agent"} works at "{task.title}" ({live[0].mode}). Stop it'
            f" first: am run stop {live[0].id}"
        )
    remedies.check_unmoved(tx, task)
    graph = Graph(pipeline, s.registry)
    ahead = closure([task.status], lambda at: [t for e in graph.leaving[at] for t in e.targets])
    if not any(race.MODE in graph.agent_statuses().get(at, ()) for at in ahead):
        raise TransitionRefused(
            f'In {task.status} of pipeline "{pipeline.id}" no agent can be started that implements'
            f' "{task.title}"; only that work is done by several at once.'
        )


def _waits_for_start(tx: Tx, task: Task) -> bool:
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    return task.status == pipeline.initial.id and len(onward(pipeline, task.status)) == 1


def _implements_here(s: Services, pipeline: Pipeline, status: str) -> bool:
    return race.MODE in Graph(pipeline, s.registry).agent_statuses().get(status, ())


async def pick(s: Services, task_ref: str, which: str, actor: Actor) -> Task:
    """Picks a contender: in answer to the question, or in place of the one that was picked."""

    def write(tx: Tx) -> picking.Pick:
        found = picking.find(tx, s, task_ref, which)
        if found.prompt is None:
            picking.overrule(tx, s, found, actor)
        return found

    found = await s.store.write(write)
    if found.prompt is not None:
        await prompts.answer(s, found.prompt, {"choice_id": found.choice}, actor)
    return await s.store.read(lambda tx: tx.tasks.get(found.task.id))
