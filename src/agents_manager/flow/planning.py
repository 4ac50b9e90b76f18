"""From hooks to work items: what a transition asks for becomes effect rows of its transaction."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

from agents_manager.domain import event, parts, run_settings
from agents_manager.domain.course import delivered
from agents_manager.domain.effects import (
    CreateFinalPr,
    CreateTaskBranch,
    DeleteWorktree,
    Effect,
    MergePr,
    Notify,
    PluginHook,
    PushAndCreatePr,
    RunChecks,
    StartAgent,
)
from agents_manager.domain.guards import Fired
from agents_manager.domain.ids import EffectId, HistoryId, RunId
from agents_manager.domain.phase import active
from agents_manager.domain.pipeline import AGENT_HOOKS, HookSpec, Policy
from agents_manager.domain.prompt import ResumePoint
from agents_manager.domain.race import Contender
from agents_manager.domain.routing import Occasion
from agents_manager.domain.run import Run, RunStatus
from agents_manager.domain.run_settings import Overrides
from agents_manager.domain.task import SYSTEM, EffectRow, Project, Task
from agents_manager.errors import HookFailed, NotFound
from agents_manager.flow import agents, choices, phases, races, stages, starting
from agents_manager.flow.memory import questions
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.starting import Start

NOTHING: Mapping[str, Any] = {}


def effects(
    tx: Tx,
    s: Services,
    task: Task,
    hooks: Sequence[HookSpec],
    fired: Fired,
    history_id: HistoryId,
    resume: ResumePoint,
) -> dict[int, str]:
    """Adds the rows; the ids by the hook's position, of several runs that of the first. Hooks that
    only write our own tables are done on the spot and make no row."""
    made: dict[int, str] = {}
    for position, hook in enumerate(hooks):
        effect_id = EffectId(f"{history_id}-{position}")
        if hook.type in AGENT_HOOKS:
            chosen = starting.starts(tx, s, task, hook, fired, resume)
            if chosen[0].contender is not None:
                races.begin(tx, s, task, parts.group_of(chosen[0].part))
            for number, begins in enumerate(chosen):
                named = EffectId(f"{effect_id}.{number}") if number else effect_id
                start(tx, s, task, hook, fired, named, history_id, position, begins)
            made[position] = effect_id
            continue
        effect = _effect(tx, s, task, hook, fired)
        if effect is None:
            continue
        policy = s.registry.policy(hook)
        add(tx, s, task, effect, effect_id, history_id, position, policy)
        made[position] = effect_id
    return made


def start(
    tx: Tx,
    s: Services,
    task: Task,
    hook: HookSpec,
    fired: Fired,
    effect_id: EffectId,
    history_id: HistoryId,
    position: int,
    begins: Start,
) -> RunId:
    """Queues a run, and the effect that begins it."""
    run_id = _queue_run(tx, s, task, hook, effect_id, begins)
    stages.begun(tx, s, task, run_id, fired, begins.given)
    questions.ask_first(tx, s, task, run_id, history_id)
    policy, effect = s.registry.policy(hook), StartAgent(run_id=run_id)
    add(tx, s, task, effect, effect_id, history_id, position, policy, begins.part)
    return run_id


def add(
    tx: Tx,
    s: Services,
    task: Task,
    effect: Effect,
    effect_id: EffectId,
    history_id: HistoryId,
    position: int,
    policy: str,
    part: str = "",
) -> None:
    now = s.clock.now()
    tx.effects.add(
        EffectRow(
            id=effect_id,
            task_id=task.id,
            history_id=history_id,
            position=position,
            kind=effect.hook if isinstance(effect, PluginHook) else effect.kind,
            payload=effect.model_dump(mode="json"),
            policy=policy,
            status="pending",
            attempt=1,
            due_at=now,
            error=None,
            result=None,
            created_at=now,
            finished_at=None,
            part=part,
        )
    )


def notice(
    tx: Tx,
    s: Services,
    task: Task,
    effect_id: EffectId,
    title: str,
    body: str,
    occasion: Occasion = Occasion.NOTICE,
    prompt: str | None = None,
) -> None:
    """Tells people something that no hook asked for; under the same id they are told once."""
    told = Notify(title=title, body=body, occasion=occasion, prompt=prompt)
    beside(tx, s, task, told, effect_id)


def beside(tx: Tx, s: Services, task: Task, effect: Effect, effect_id: EffectId) -> None:
    """Has something done that no hook asked for and no move waits for."""
    entries = tx.history.of_task(task.id)
    history_id = entries[-1].id if entries else HistoryId(task.id)
    add(tx, s, task, effect, effect_id, history_id, 0, Policy.BEST_EFFORT)


def was_told(tx: Tx, effect_id: EffectId) -> bool:
    try:
        tx.effects.get(effect_id)
    except NotFound:
        return False
    return True


def _effect(tx: Tx, s: Services, task: Task, hook: HookSpec, fired: Fired) -> Effect | None:
    match hook.type:
        case "notify":
            title = str(hook.params.get("title") or f"{task.title}: {task.status}")
            return Notify(title=title, body=str(hook.params.get("body", "")), of_move=True)
        case "merge_pr" | "merge_phase_pr" | "merge_final_pr":
            return MergePr(head_sha=fired.head_sha, which=_WHICH[hook.type])
        case name if name in _PLAIN:
            return _PLAIN[name]
        case name if name in s.registry.handlers:
            return PluginHook(hook=name, params=hook.params)
        case _:
            return _at_once(tx, s, task, hook, fired)


_WHICH: dict[str, Literal["current", "phase", "final"]] = {
    "merge_pr": "current",
    "merge_phase_pr": "phase",
    "merge_final_pr": "final",
}
_PLAIN: dict[str, Effect] = {
    "create_task_branch": CreateTaskBranch(),
    "push_and_create_pr": PushAndCreatePr(),
    "run_checks": RunChecks(),
    "delete_worktree": DeleteWorktree(),
}


def _at_once(tx: Tx, s: Services, task: Task, hook: HookSpec, fired: Fired) -> Effect | None:
    """Hooks that write our own tables in this transaction, and what is left to do for them."""
    match hook.type:
        case "execute_split":
            phases.split(tx, s, task, fired.payload)
            return CreateTaskBranch()
        case "advance_phase":
            phases.advance(tx, s, task)
        case "create_final_pr":
            phases.finish(tx, s, task)
            return CreateFinalPr()
        case "log_activity":
            text = str(hook.params.get("message") or hook.params.get("text") or task.status)
            tx.events.add(task.id, event.Noted(text=text), SYSTEM, s.clock.now())
        case "stop_agent" | "inject_payload_context":
            pass  # A live run is stopped before the move is made, and the exchange is always told.
        case _:
            raise HookFailed(f'Nothing is known to perform the hook "{hook.type}".')
    return None


def _queue_run(
    tx: Tx,
    s: Services,
    task: Task,
    hook: HookSpec,
    effect_id: EffectId,
    begins: Start,
) -> RunId:
    """The hook's own agent wins, but over none that contends; then that of the task, the role of
    the mode, and the resume point. A session is resumed only by the same agent in the same mode, so
    a reviewer never has that of the author; then what was set for its run stays set."""
    resume, contender = begins.resume, begins.contender
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    mode = starting.mode_of(pipeline.status(task.status), hook, resume)
    named = hook.params.get("agent") or hook.params.get("agentType")
    phase = active(tx.phases.of_task(task.id))
    phase_id = phase.id if phase else None
    runs = tx.runs.of_task(task.id)
    project = tx.projects.get(task.project_id)
    if resume.mode == agents.REVIEW != mode:
        resume = _author(tx, runs, mode, phase_id) or resume
    before = next((r for r in runs if r.id == resume.run), None)
    choice = choices.of_mode(s, project, task, mode)
    if contender:
        agent = contender.agent
    else:
        agent = str(named) if named else _next_agent(s, project, mode, resume, choice, before)
    was_in = before.phase_id if before else None
    same = mode == resume.mode and agent == resume.agent and phase_id == was_in
    # Whoever delivered what its stage is for is done; the next one of its role begins anew.
    same = same and not (before and delivered(before))
    kept = before.overrides.run if before and same else NOTHING
    # A session is of its workspace; what was set for who works there is not.
    same = same and not (before and before.part != begins.part)
    of_hook = run_settings.picked(hook.params)
    if contender or (choice and not named):
        of_hook.pop("model", None)  # It is for the agent that the hook would have started.
    overrides = Overrides(
        role=agents.settings_of_role(s, project, mode, agent),
        task=choices.recorded(choice, agent if not contender else None),
        hook=of_hook,
        run={**kept, **begins.own},
    )
    run_id = RunId(s.ids.new())
    now = _after(runs, s.clock.now())
    model = overrides.together.get("model")
    tx.runs.add(
        Run(
            id=run_id,
            task_id=task.id,
            project_id=task.project_id,
            effect_id=effect_id,
            agent=agent,
            mode=mode,
            model=str(model) if model else None,
            status=RunStatus.QUEUED,
            attempt=1 + sum(r.mode == mode for r in runs),
            session=resume.session if same else None,
            created_at=now,
            phase_id=phase_id,
            overrides=overrides,
            part=begins.part,
        )
    )
    queued = event.AgentQueued(run=run_id, agent=agent or "The default agent", mode=mode)
    tx.events.add(task.id, queued, SYSTEM, now)
    return run_id


def _after(runs: Sequence[Run], now: datetime) -> datetime:
    """Runs are told in the order they were asked for, also where the clock has not moved on since
    the last one, or was put back."""
    return max([now, *(run.created_at + timedelta(microseconds=1) for run in runs[-1:])])


def _next_agent(
    s: Services,
    project: Project,
    mode: str,
    resume: ResumePoint,
    choice: Contender | None,
    before: Run | None,
) -> str | None:
    """Whoever works in a mode goes on in it, until another agent is chosen for the task. Into
    another mode, an agent that only had the role of its mode is not taken along."""
    replaced = choices.is_replaced(choice, before)
    if resume.mode == mode and resume.agent and not replaced:
        return resume.agent
    if choice is not None:
        return choice.agent
    if before is not None and replaced:
        return agents.of_role(s, project, mode)
    in_its_role = resume.mode and resume.agent == agents.of_role(s, project, resume.mode)
    return agents.of_role(s, project, mode) or (None if in_its_role else resume.agent)


def _author(tx: Tx, runs: Sequence[Run], mode: str, phase_id: str | None) -> ResumePoint | None:
    """Whose work was reviewed: what is sent back goes on there, not with the reviewer."""
    last = races.author(tx, [r for r in runs if (r.mode, r.phase_id) == (mode, phase_id)])
    if last is None:
        return None
    return ResumePoint(status="", mode=mode, agent=last.agent, session=last.session, run=last.id)
