"""The end of a race: when the last contender has ended, a judge or a person picks one. Its work
becomes the task's and its ending moves the task; the rest is kept as snapshots."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agents_manager.domain import event, names, race
from agents_manager.domain.effects import PushAndCreatePr, SettleRace, TakePart
from agents_manager.domain.event import Event
from agents_manager.domain.event.races import Figures
from agents_manager.domain.guards import Fired
from agents_manager.domain.ids import EffectId, RunId, TaskId
from agents_manager.domain.pipeline import HookSpec, Policy, PromptType, Trigger, TriggerType
from agents_manager.domain.prompt import Prompt, ResumePoint
from agents_manager.domain.race import Judgement, Race
from agents_manager.domain.run import Run
from agents_manager.domain.task import SYSTEM, Actor, ActorType, EffectRow, Project, Task
from agents_manager.domain.trail import went_on
from agents_manager.errors import HookFailed, NotAllowed, NotFound, TransitionRefused
from agents_manager.flow import (
    artifacts,
    asking,
    branches,
    budgets,
    comparing,
    parts,
    planning,
    race_choice,
    races,
    remedies,
    sharing,
    snapshots,
    starting,
    transitions,
)
from agents_manager.flow.branches import Ground
from agents_manager.flow.ports import Change, Services, Tx
from agents_manager.flow.settling import finish, task_and_project
from agents_manager.flow.starting import Start

WHOSE = "All have ended. Whose work is taken?"
NONE_FIT = "None of those who worked side by side came to work that can be taken."


# ---------------------------------------------------------------------------- all have ended


async def settle(row: EffectRow, effect: SettleRace, s: Services) -> None:
    task, project = await task_and_project(s, row)

    def read(tx: Tx) -> tuple[Race, list[Run]]:
        return _race_of(tx, RunId(effect.run_id)), tx.runs.of_task(task.id)

    found, runs = await s.store.read(read)
    figures = [await comparing.measured(s, task, project, run, runs) for run in found.members(runs)]
    await finish(s, row, lambda tx: _go_on(tx, s, row, found, figures))


def _race_of(tx: Tx, run_id: RunId) -> Race:
    run = tx.runs.get(run_id)
    found = races.last(tx, run.task_id)
    assert found is not None
    assert found.has(run)
    return found


def _go_on(tx: Tx, s: Services, row: EffectRow, found: Race, figures: Sequence[Figures]) -> None:
    """Once, and only where the task still stands where they worked."""
    task, runs = tx.tasks.get(row.task_id), tx.runs.of_task(row.task_id)
    told = event.RaceCompared(group=found.group, figures=tuple(figures))
    tx.events.add(task.id, told, SYSTEM, s.clock.now())
    entries = tx.history.of_task(task.id)
    if went_on(entries, tx.history.get(row.history_id)) or tx.runs.live(task.id):
        return
    members = found.members(runs)
    fit = [run for run in members if race.unfit(run, starting.asking(s)) is None]
    held = [run for run in members if parts.over_budget(tx, s, run)]
    if fit and found.judge:
        _start_judge(tx, s, row, task, found)
    elif not fit and held:
        budgets.hold(tx, s, held[0], held[0].error.error if held[0].error else "")
    else:
        race_choice.ask(tx, s, task.id, found, WHOSE if fit else NONE_FIT)


# ------------------------------------------------------------------------------------ the judge


def _start_judge(tx: Tx, s: Services, row: EffectRow, task: Task, found: Race) -> None:
    assert found.judge is not None
    hook = HookSpec(type="start_agent", params={"mode": race.JUDGE, "agent": found.judge.agent})
    own = {"model": found.judge.model} if found.judge.model else {}
    begins = Start(resume=ResumePoint(status=task.status), own=own)
    entry, effect_id = tx.history.of_task(task.id)[-1], EffectId(f"{row.id}-judge")
    position = len(entry.hooks)
    planning.start(tx, s, task, hook, transitions.AUTO, effect_id, entry.id, position, begins)


def judged(tx: Tx, s: Services, judge: Run) -> None:
    """A judge's run has ended; one that came to nothing leaves the question to a person."""
    runs = tx.runs.of_task(judge.task_id)
    found = races.undecided(tx, runs)
    if found is None:
        return
    said = Judgement.model_validate(judge.payload) if judge.payload else None
    why = judge.error.error if judge.error else "It picked nobody."
    if said is not None and judge.error is None:
        why = race.judged_fault(found, runs, said.pick, starting.asking(s))
    if said is None or why is not None:
        race_choice.ask(tx, s, judge.task_id, found, f"The judge did not pick: {why} {WHOSE}")
        return
    picked = next(run for run in found.members(runs) if found.letter(run) == said.pick)
    told = event.RaceJudged(group=found.group, judge=judge.id, run=picked.id, reasons=said.reasons)
    tx.events.add(judge.task_id, told, SYSTEM, s.clock.now())
    by = f"The judge {found.judge}"
    _order(tx, s, tx.tasks.get(judge.task_id), picked, by, EffectId(f"{judge.id}-take"))


# ---------------------------------------------------------------------------------- the picking


def choose(tx: Tx, s: Services, prompt: Prompt, run_id: str, actor: Actor) -> None:
    """What the answer to the question whose work is taken leads to; without a run, all of them
    begin anew."""
    task = tx.tasks.get(prompt.task_id)
    found = races.undecided(tx, tx.runs.of_task(task.id))
    if found is None:
        raise TransitionRefused(f'"{task.title}" went on another way.')
    if not run_id:
        _again(tx, s, task, found, actor)
        return
    run = tx.runs.get(RunId(run_id))
    _check_fit(s, run)
    _order(tx, s, task, run, actor.name, EffectId(f"{prompt.id}-take"))


def _check_fit(s: Services, run: Run) -> None:
    why = race.unfit(run, starting.asking(s))
    if why is not None:
        raise TransitionRefused(f"{race_choice.contender(run)} cannot be picked. {why}")


def _order(
    tx: Tx,
    s: Services,
    task: Task,
    run: Run,
    by: str,
    effect_id: EffectId,
    *,
    overrules: bool = False,
) -> None:
    entry = tx.history.of_task(task.id)[-1]
    taken = TakePart(run_id=run.id, by=by, overrules=overrules)
    policy = Policy.BEST_EFFORT if overrules else Policy.REQUIRED
    planning.add(tx, s, task, taken, effect_id, entry.id, len(entry.hooks), policy)


def begin_here(tx: Tx, s: Services, task: Task, actor: Actor) -> None:
    """Where an agent works but none is at it; a choice that stands open is closed by it."""
    asking.close_flow_prompts(tx, s, task.id)
    hook = HookSpec(type="start_agent", params={"mode": race.MODE})
    remedies.start_here(tx, s, task, hook, actor)


def _again(tx: Tx, s: Services, task: Task, found: Race, actor: Actor) -> None:
    """The same contenders begin anew, on new branches."""
    told = event.RaceOrdered(contenders=tuple(found.contenders), judge=found.judge, by=actor.name)
    tx.events.add(task.id, told, actor, s.clock.now())
    begin_here(tx, s, task, actor)


@dataclass(frozen=True, slots=True)
class Pick:
    task: Task
    run: Run
    prompt: str | None
    """The question that the pick is the answer to; None: it overrules an earlier one."""
    choice: str | None = None


def find(tx: Tx, s: Services, task_ref: str, which: str) -> Pick:
    """What picking one by hand comes to, or why that is refused. A contender goes by its run, by
    its part, or by its agent and model."""
    task = tx.tasks.find(task_ref)
    found = races.last(tx, task.id)
    if found is None:
        raise TransitionRefused(f'No agents worked side by side at "{task.title}".')
    run = _named(found, found.members(tx.runs.of_task(task.id)), which)
    _check_fit(s, run)
    for prompt in tx.prompts.pending(task.id):
        for choice in prompt.payload.get("choices", ()):
            if choice["action"] == f"pick:{run.id}":
                return Pick(task, run, prompt.id, choice["id"])
    _check_overrule(tx, task, found, run)
    return Pick(task, run, None)


def _named(found: Race, members: Sequence[Run], which: str) -> Run:
    def names_it(run: Run) -> bool:
        known = (run.id, run.part, str(found.contender(run)))
        return which in known or (len(which) >= 4 and run.id.startswith(which))

    fits = [run for run in members if names_it(run)]
    if len(fits) != 1:
        there = ", ".join(f"{found.contender(run)} ({run.id[:8]})" for run in members)
        raise NotFound(f'"{which}" is none of the contenders: {there}.')
    return fits[0]


def _check_overrule(tx: Tx, task: Task, found: Race, run: Run) -> None:
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    live = tx.runs.live(task.id)
    if pipeline.is_final(task.status):
        raise TransitionRefused(f'"{task.title}" is finished ({task.status}); it is too late.')
    if found.picked == run.id:
        raise TransitionRefused(f"{race_choice.contender(run)} is picked already.")
    if live:
        raise TransitionRefused(
            f"{live[0].agent or 'An agent'} works at it ({live[0].mode}). Wait until it ends, or"
            f" stop it: am run stop {live[0].id}"
        )
    remedies.check_unmoved(tx, task)
    if found.picked is None or _review(tx, task) is None:
        raise TransitionRefused(
            f'"{task.title}" ({task.status}) waits neither for a pick nor for the review of its'
            " work; another contender can be picked only then."
        )


def _review(tx: Tx, task: Task) -> Prompt | None:
    pending = tx.prompts.pending(task.id)
    return next((p for p in pending if p.type is PromptType.REVIEW), None)


def overrule(tx: Tx, s: Services, pick: Pick, actor: Actor) -> None:
    """Another contender's work takes the place of the picked one's, where its review is waited
    for: the question is asked again about it, and its pull request follows."""
    if not actor.admin:
        raise NotAllowed("Only an admin may pick another contender.")
    effect_id = EffectId(s.ids.new())
    _order(tx, s, pick.task, pick.run, actor.name, effect_id, overrules=True)
    if tx.pulls.of_task(pick.task.id) is not None:
        pushed = EffectId(f"{effect_id}-pull")
        planning.beside(tx, s, pick.task, PushAndCreatePr(), pushed)


# ---------------------------------------------------------------------------------- the taking


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    found: Race
    run: Run
    raced: Sequence[Run]
    """The newest run of each contender, also of races that began anew."""
    whole: Ground
    over: bool
    """Whether the task has ended in the meantime."""


def _known(tx: Tx, s: Services, effect: TakePart, task: Task, project: Project) -> _Known:
    run = tx.runs.get(RunId(effect.run_id))
    found = _race_of(tx, run.id)
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    return _Known(
        found=found,
        run=run,
        raced=[*{r.part: r for r in tx.runs.of_task(task.id) if _raced(r)}.values()],
        whole=branches.whole_of(tx, s, run, task, project),
        over=pipeline.is_final(task.status),
    )


def _raced(run: Run) -> bool:
    return bool(run.part) and run.mode == race.MODE and not run.never_began


async def take(row: EffectRow, effect: TakePart, s: Services) -> None:
    """Looks before it leaps: what a crash cut short is gone on with."""
    task, project = await task_and_project(s, row)
    known = await s.store.read(lambda tx: _known(tx, s, effect, task, project))
    if known.over:
        await finish(s, row)
        return
    whole, left = known.whole, () if effect.overrules else known.raced
    made = [Ground(run.branch, whole.branch, "") for run in left if run.branch]
    happened: list[Event] = [*await sharing.ready(s, task, project, [whole, *made])]
    sha = await _adopted(s, task, project, whole.branch, known.run)
    for run in left:
        happened += await _put_away(s, task, project, run)
    happened = await snapshots.with_untold(s, task, project, happened)
    change = await s.workspaces.change(Path(project.path), whole.branch, whole.base)
    await s.store.write(lambda tx: _keep_change(tx, s, task, known, change))
    await sharing.share(s, task, project, [whole])
    await finish(s, row, lambda tx: _taken(tx, s, row, effect, known, sha, happened))


async def _adopted(s: Services, task: Task, project: Project, branch: str, run: Run) -> str:
    """What lies in the way in the task's own workspace, where nobody works now, is saved."""
    assert run.head_sha is not None
    repo, message = Path(project.path), names.one_line(f"Take {run.branch} for {branch}")
    try:
        return await s.workspaces.adopt(repo, branch, run.head_sha, message)
    except HookFailed:
        await s.workspaces.remove(repo, task.id)
        return await s.workspaces.adopt(repo, branch, run.head_sha, message)


async def _put_away(s: Services, task: Task, project: Project, run: Run) -> list[Event]:
    """Takes workspace and branch of a contender away; what no other branch holds is saved."""
    if run.branch is None:
        return []
    events = await parts.cleared(s, task, project, run)
    kept = await s.workspaces.shelve(Path(project.path), task.id, run.branch)
    return [*events, *(e.model_copy(update={"run": run.id}) for e in kept)]


def _keep_change(tx: Tx, s: Services, task: Task, known: _Known, change: Change) -> None:
    checks, whole = comparing.checked(tx, known.run), known.whole
    artifacts.keep_change(
        tx, s, task, whole.branch, whole.base, change, known.run.id, checks.passed, checks.failed
    )


def _taken(
    tx: Tx,
    s: Services,
    row: EffectRow,
    effect: TakePart,
    known: _Known,
    sha: str,
    happened: Sequence[Event],
) -> None:
    task, run = tx.tasks.get(row.task_id), known.run
    picked = event.RacePicked(
        group=known.found.group,
        run=run.id,
        contender=known.found.contender(run),
        by=effect.by,
        branch=known.whole.branch,
        sha=sha,
    )
    for told in (*happened, picked):
        tx.events.add(task.id, told, SYSTEM, s.clock.now())
    if went_on(tx.history.of_task(task.id), tx.history.get(row.history_id)):
        return
    if effect.overrules:
        review = _review(tx, task)
        if review is not None:
            _ask_again(tx, s, task, run, review, effect.by)
        return
    actor = Actor(type=ActorType.AGENT, name=run.agent or "agent", run=run.id)
    trigger = Trigger(type=TriggerType.AGENT_OUTCOME, outcome=run.outcome)
    transitions.report(tx, s, task.id, Fired(trigger=trigger, payload=run.payload), actor)


def _ask_again(tx: Tx, s: Services, task: Task, run: Run, review: Prompt, by: str) -> None:
    """About the other work; what is sent back goes to its author."""
    resume = ResumePoint(status=review.resume.status, mode=run.mode, agent=run.agent, run=run.id)
    note = f"{by} picked the work of {race_choice.contender(run)} instead."
    about = replace(review, resume=resume)
    asking.ask_again(tx, s, task, about, review.history_id, note)


def gave_up(tx: Tx, s: Services, row: EffectRow, error: str) -> None:
    """What was to be done about a race cannot be; a person is asked again."""
    entries = tx.history.of_task(row.task_id)
    found = races.undecided(tx, tx.runs.of_task(row.task_id))
    if found and not went_on(entries, tx.history.get(row.history_id)):
        race_choice.ask(tx, s, TaskId(row.task_id), found, f"{row.kind} failed: {error} {WHOSE}")
