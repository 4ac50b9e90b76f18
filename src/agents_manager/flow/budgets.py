"""Budgets: whether one is used up, telling people in time, and asking them for more. Nothing is
granted by itself."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from agents_manager.domain import event
from agents_manager.domain.audit import Deed
from agents_manager.domain.budget import Budget, Budgets, BudgetScope, Grant, dollars
from agents_manager.domain.cost import By, CostReport
from agents_manager.domain.guards import Fired
from agents_manager.domain.ids import EffectId, ProjectId, RunId, TaskId
from agents_manager.domain.pipeline import PromptType, Trigger, TriggerType
from agents_manager.domain.prompt import ADMIN, BudgetAnswer, BudgetPayload, Prompt, ResumePoint
from agents_manager.domain.question import Ask
from agents_manager.domain.run import Run
from agents_manager.domain.task import SYSTEM, Actor, ActorType, Project
from agents_manager.errors import AgentsManagerError
from agents_manager.flow import asking, audit, planning, remedies, transitions
from agents_manager.flow.ports import Services, Tx

SHARED = (BudgetScope.PROJECT, BudgetScope.DAY)
"""What is granted there holds for more than the task that asked."""


def over(tx: Tx, s: Services, run_id: RunId) -> str | None:
    """Why a run must not go on, nor begin; None if it may."""
    used_up = _used_up(tx, s, tx.runs.get(run_id))
    return None if used_up is None else used_up.sentence


def warn(tx: Tx, s: Services, run_id: RunId) -> None:
    """Tells people of each budget that is nearly used up, once for each of its limits."""
    run = tx.runs.get(run_id)
    task = tx.tasks.get(run.task_id)
    for budget in of_run(tx, s, run):
        notice = EffectId(f"budget-{budget.scope}-{budget.subject}-{budget.limit_usd:g}")
        if not budget.near or planning.was_told(tx, notice):
            continue
        told = event.BudgetNear(
            run=run.id,
            scope=budget.scope,
            subject=budget.subject,
            limit_usd=budget.limit_usd,
            spent_usd=budget.spent_usd,
            unknown=budget.unknown,
            text=budget.sentence,
        )
        tx.events.add(task.id, told, SYSTEM, s.clock.now())
        planning.notice(tx, s, task, notice, f"A budget runs out: {task.title}", budget.sentence)


def hold(tx: Tx, s: Services, run: Run, why: str) -> None:
    """The task stays where it is, and an admin is asked for more. If there is more by now, somebody
    is asked all the same: nothing is spent by default."""
    used_up = _used_up(tx, s, run)
    if used_up is None:
        remedies.after_stop(tx, s, run.task_id, why)
        return
    task = tx.tasks.get(run.task_id)
    resume = ResumePoint(
        status=task.status, mode=run.mode, agent=run.agent, session=run.session, run=run.id
    )
    payload = BudgetPayload.of(used_up).model_dump(mode="json")
    ask = Ask(PromptType.BUDGET, payload, None, (ADMIN,))
    asking.open_prompt(tx, s, task, ask, tx.history.of_task(task.id)[-1].id, resume)


def answer(tx: Tx, s: Services, prompt: Prompt, said: BudgetAnswer, actor: Actor) -> None:
    """More is granted and the agent goes on; or the run has failed, as others do."""
    assert prompt.run_id is not None
    run = tx.runs.get(prompt.run_id)
    if said.usd is None:
        assert run.error is not None
        trigger = Trigger(type=TriggerType.AGENT_ERROR)
        fired = Fired(trigger=trigger, payload=run.error.model_dump(mode="json"))
        by = Actor(type=ActorType.AGENT, name=run.agent or "agent", run=run.id)
        transitions.report(tx, s, run.task_id, fired, by)
        return
    started = [tx.runs.get(one) for one in remedies.rerun(tx, s, run.task_id, actor)]
    asked = BudgetPayload.model_validate(prompt.payload)
    subject = asked.subject
    if asked.scope is BudgetScope.RUN:
        subject = next(one.id for one in started if one.part == run.part)
    _grant(tx, s, prompt, asked.scope, subject, said.usd, actor)


def _grant(
    tx: Tx, s: Services, prompt: Prompt, scope: BudgetScope, subject: str, usd: float, actor: Actor
) -> None:
    now = s.clock.now()
    tx.grants.add(
        Grant(
            id=s.ids.new(),
            task_id=prompt.task_id,
            prompt_id=prompt.id,
            scope=scope,
            subject=subject,
            usd=usd,
            created_at=now,
        )
    )
    granted = event.BudgetGranted(
        scope=scope, subject=subject, usd=usd, by=actor.name, prompt=prompt.id
    )
    tx.events.add(prompt.task_id, granted, actor, now)
    if scope in SHARED:
        summary = f"granted {dollars(usd)} beyond the budget of {scope} {_name(tx, scope, subject)}"
        said = {"scope": scope, "subject": subject, "usd": usd, "prompt": prompt.id}
        audit.note(tx, now, actor, Deed.BUDGET_GRANTED, summary, **said)


def take_back(tx: Tx, s: Services, prompt: Prompt, actor: Actor) -> None:
    """What was granted in answer to a question, if anything."""
    tx.grants.take_back(prompt.id)
    if prompt.type is not PromptType.BUDGET or not (prompt.response or {}).get("usd"):
        return
    asked = BudgetPayload.model_validate(prompt.payload)
    if asked.scope in SHARED:
        summary = f"took back what was granted beyond the budget of {asked.scope} {asked.name}"
        said = {"scope": asked.scope, "subject": asked.subject, "prompt": prompt.id}
        audit.note(tx, s.clock.now(), actor, Deed.BUDGET_TAKEN_BACK, summary, **said)


# ------------------------------------------------------------------------------ how they stand


def of_run(tx: Tx, s: Services, run: Run) -> Iterator[Budget]:
    """Those that a run has to keep within, the narrowest first."""
    limits = _limits(s, tx.projects.get(run.project_id))
    day = f"{run.started_at or s.clock.now():%Y-%m-%d}"
    subjects = {
        BudgetScope.RUN: run.id,
        BudgetScope.TASK: run.task_id,
        BudgetScope.PROJECT: run.project_id,
        BudgetScope.DAY: day,
    }
    for scope in BudgetScope:
        if scope in limits:
            yield _standing(tx, scope, subjects[scope], limits[scope])


def overview(
    tx: Tx, s: Services, report: CostReport, project: ProjectId | None
) -> Sequence[Budget]:
    """Those of the projects, of today and, by task, of the tasks of a report."""
    projects = tx.projects.all() if project is None else [tx.projects.get(project)]
    limits = {p.id: _limits(s, p) for p in projects}
    found = list(_each(tx, BudgetScope.PROJECT, limits))
    if report.by is By.TASK:
        tasks = [tx.tasks.get(TaskId(share.key)) for share in report.shares if share.key]
        found += _each(tx, BudgetScope.TASK, {t.id: limits[t.project_id] for t in tasks})
    days = {of_day for each in limits.values() if (of_day := each.get(BudgetScope.DAY))}
    today = f"{s.clock.now():%Y-%m-%d}"
    return [*found, *(_standing(tx, BudgetScope.DAY, today, day) for day in sorted(days))]


def _each(tx: Tx, scope: BudgetScope, limits: Mapping[Any, Budgets]) -> Iterable[Budget]:
    for subject, each in limits.items():
        if scope in each:
            yield _standing(tx, scope, subject, each[scope])


def _standing(tx: Tx, scope: BudgetScope, subject: str, limit: float) -> Budget:
    """A run that goes on after a grant may spend what was granted; the others are raised by it."""
    granted = tx.grants.total(scope, subject)
    spent = tx.figures.spent(scope, subject)
    own = granted and scope is BudgetScope.RUN
    return Budget(
        scope=scope,
        subject=subject,
        name=_name(tx, scope, subject),
        limit_usd=round(granted if own else limit + granted, 6),
        granted_usd=granted,
        spent_usd=spent.cost_usd or 0.0,
        unknown=spent.unknown,
    )


def _name(tx: Tx, scope: BudgetScope, subject: str) -> str:
    match scope:
        case BudgetScope.TASK:
            return tx.tasks.get(TaskId(subject)).title
        case BudgetScope.PROJECT:
            return tx.projects.get(ProjectId(subject)).name
        case BudgetScope.RUN | BudgetScope.DAY:
            return subject


def _used_up(tx: Tx, s: Services, run: Run) -> Budget | None:
    return next((budget for budget in of_run(tx, s, run) if budget.reached), None)


def _limits(s: Services, project: Project) -> Budgets:
    try:
        return s.configs.of(project).budgets
    except AgentsManagerError:  # Then no run begins; one at work must be able to end.
        return {}
