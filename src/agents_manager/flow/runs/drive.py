"""Steps 4 and 5: start the agent, or find the one that is already there, and wait for its end."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agents_manager.domain import context, event, names, template
from agents_manager.domain.ids import RunId
from agents_manager.domain.pipeline import Pipeline
from agents_manager.domain.run import Run
from agents_manager.domain.task import Project, Task
from agents_manager.errors import InvalidInput
from agents_manager.flow import agents, budgets, surroundings
from agents_manager.flow.ports import (
    Agent,
    Ended,
    Endpoint,
    Job,
    Keeping,
    Reach,
    Services,
    Turn,
    Tx,
)
from agents_manager.flow.registries import registry_of
from agents_manager.flow.runs import brief, gateway, midway, permissions, reports, skills, spending
from agents_manager.flow.runs.places import ASKED, FRESH, SYSTEM
from agents_manager.flow.runs.prepare import agent_actor, of
from agents_manager.flow.runs.verdict import Again, Ending, Verdict

CUT_SHORT = {"limit": "limit", "failed": "refused"}
"""How a turn ended that the sandbox cut short, as reasons are called."""

TOOL_S = 60.0
"""What a tool takes beside waiting for a person; an agent that gives up earlier would ask twice."""


@dataclass(frozen=True, slots=True)
class _Known:
    run: Run
    task: Task
    project: Project
    pipeline: Pipeline
    visit: int


def _known(tx: Tx, run_id: RunId) -> _Known:
    run, task, project = of(tx, run_id)
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    return _Known(run, task, project, pipeline, earlier(tx, run))


async def drive(
    run_id: RunId, number: int, again: Again | None, directory: Path, s: Services
) -> Ending:
    known = await s.store.read(lambda tx: _known(tx, run_id))
    run, project = known.run, known.project
    if not run.status.live:
        return Ending(reason="cancelled", exit_code=None, truncated=False)
    assert run.agent is not None
    try:
        agent = agents.trusted_agent(s, run.agent, project, run.overrides.together)
        agents.check_consent(run.agent, project, _keeping(run))
    except InvalidInput as error:
        return await _refused(s, directory, error)
    past, over = await spending.before(run, project, number, s)
    if over is not None:
        return Ending(reason="no_budget", exit_code=None, truncated=False, message=over)
    if not await s.runners.adopt(directory):
        try:
            turn = await _turn(s, known, number, again, directory, agent)
            job = await _job(s, turn, again, agent, past)
        except InvalidInput as error:
            return await _refused(s, directory, error)
        if job.program and number == 1:
            await _note_program(s, known, job)
        await s.runners.start_or_adopt(job)
    ended = await _ended(s, run_id, agent, number, directory, past)
    ending = Ending(reason=ended.reason, exit_code=ended.exit_code, truncated=ended.truncated)
    ending = await _cut_short(s, run, directory, ending)
    if ending["reason"] == "budget":
        why = await s.store.read(lambda tx: budgets.over(tx, s, run_id))
        return {**ending, "message": why} if why else ending
    return ending


async def _note_program(s: Services, known: _Known, job: Job) -> None:
    noted = event.AgentProgram(run=known.run.id, program=job.program, version=job.program_version)
    actor = agent_actor(known.run)
    await s.store.write(lambda tx: tx.events.add(known.task.id, noted, actor, s.clock.now()))


async def _turn(
    s: Services, known: _Known, number: int, again: Again | None, directory: Path, agent: Agent
) -> Turn:
    run, task, project = known.run, known.task, known.project
    assert run.agent is not None
    assert run.workspace is not None
    assert run.prompt is not None
    offered = registry_of(s, project).offered(known.pipeline, task.status, run.mode)
    asked = None if again is None else _asked(s, agent, offered, again)
    fresh = ""
    if run.session is not None and agent.capabilities.resumes:
        fresh = await _anew(s, run, task, project, agent, asked)
    elif asked is not None and not agent.capabilities.resumes:
        asked = await _anew(s, run, task, project, agent, asked)
    return Turn(
        run=run,
        task=task,
        project=project,
        prompt=run.prompt if asked is None else asked,
        number=number,
        fix=again["round"] if again and again["kind"] == "fix" else 0,
        visit=known.visit,
        workspace=Path(run.workspace),
        dir=directory,
        home=s.agent_homes_dir / task.id / names.workspace_key(run.agent, run.part),
        session=run.session,
        fresh_prompt=fresh,
        offered=offered,
        reach=await _reach(s, run),
        report=await _endpoint(s, run, project, directory) if agent.capabilities.mcp else None,
    )


async def _job(
    s: Services, turn: Turn, again: Again | None, agent: Agent, past: Sequence[Verdict]
) -> Job:
    gate = await gateway.endpoint(s, turn.run, agent, turn.dir, past)
    around = await surroundings.of_run(s, turn.project, turn.run)
    turn = replace(turn, gateway=gate, variables=around.env)
    job = await asyncio.to_thread(agent.job, turn)
    kept = {SYSTEM: job.system_prompt} if job.system_prompt else {}
    folder = skills.folder_of(s, turn.run)
    if await asyncio.to_thread(folder.exists):
        job = replace(job, needs=replace(job.needs, shown=(*job.needs.shown, folder)))
    if again is not None:
        kept[ASKED] = turn.prompt
    if turn.fresh_prompt:
        kept[FRESH] = turn.fresh_prompt
    env = {**around.env, **s.workspaces.agent_env, **job.env}
    job = replace(job, env=env, files={**job.files, **kept})
    return s.sandbox.job(job, turn) if turn.run.kept else job


async def _anew(
    s: Services, run: Run, task: Task, project: Project, agent: Agent, asked: str | None
) -> str:
    """What is said where the session is gone."""
    told = await brief.anew(s, run, task, project, agent)
    return told if asked is None else f"{told}\n\n{asked}"


async def _reach(s: Services, run: Run) -> Reach:
    """Only what keeps agents in asks for it."""
    if run.sandbox is None or run.workspace is None:
        return Reach(writes=())
    return await s.workspaces.reach(Path(run.workspace), run.branch or "")


def _keeping(run: Run) -> Keeping | None:
    """As the run began; what there would be by now keeps nobody."""
    return None if run.sandbox is None else Keeping(level=run.sandbox, why="The run began so.")


async def _cut_short(s: Services, run: Run, directory: Path, ending: Ending) -> Ending:
    """The ending, or that which the sandbox made of it."""
    cut = await asyncio.to_thread(s.sandbox.cut_short, directory) if run.kept else None
    return ending if cut is None else {**ending, "reason": CUT_SHORT[cut.kind], "message": cut.why}


async def _ended(
    s: Services,
    run_id: RunId,
    agent: Agent,
    number: int,
    directory: Path,
    past: Sequence[Verdict],
) -> Ended:
    """Waits for the end of a turn; until then its budgets are watched, and people answer what it
    asks for."""
    asks = agent.capabilities.asks_permission
    async with asyncio.TaskGroup() as group:
        attendants = [group.create_task(spending.watch(s, run_id, agent, number, past))]
        if agent.capabilities.mcp:
            attendants.append(group.create_task(midway.attend(s, directory)))
        if asks:
            attendant = permissions.attend(s, run_id, number, directory)
            attendants.append(group.create_task(attendant))
        ended = await s.runners.wait(directory)
        for task in attendants:
            task.cancel()
    if asks:
        await permissions.withdraw(s, run_id)
    return ended


def earlier(tx: Tx, run: Run) -> int:
    """How many runs of this mode the task had before this one."""
    runs = tx.runs.of_task(run.task_id)
    before = runs[: [r.id for r in runs].index(run.id)]
    return sum(r.mode == run.mode and not r.never_began for r in before)


async def _endpoint(s: Services, run: Run, project: Project, directory: Path) -> Endpoint | None:
    """The agent can always end with words instead: a server may go, or come back elsewhere."""
    if s.reachable.url is None:
        return None
    if s.reachable.prepare is not None:
        await s.reachable.prepare()
    token = await asyncio.to_thread(reports.new_token, directory)
    takes_s = s.configs.of(project).ask_human_s + TOOL_S
    return Endpoint(url=f"{s.reachable.url}/mcp/run/{run.id}", token=token, takes_s=takes_s)


async def _refused(s: Services, directory: Path, error: InvalidInput) -> Ending:
    """Before a restart the agent may have been allowed, and be at work."""
    await s.runners.stop(directory)
    why = " ".join([error.message, *error.details])
    return Ending(reason="refused", exit_code=None, truncated=False, message=why)


def _asked(s: Services, agent: Agent, offered: Sequence[str], again: Again) -> str:
    """What failed checks found is fenced part by part already."""
    if again["kind"] == "repair":
        form = brief.outcome_form(s, agent.how_to_end if offered else "")
        reason = context.fenced(again["text"])
        return template.filled(s.templates["repair"], reason=reason, form=form)
    if again["kind"] == "fix":
        told = template.filled(s.templates["fix"], failed=again["text"])
    else:
        told = template.filled(s.templates["repair-handoff"], reason=context.fenced(again["text"]))
    return f"{told}\n\n{agent.how_to_end}".strip() if offered else told
