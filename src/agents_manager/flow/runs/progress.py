"""Halts a task whose runs get no further, before the pipeline has the next one started."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from agents_manager.domain import event, progress
from agents_manager.domain.guards import Fired
from agents_manager.domain.prompt import Choice
from agents_manager.domain.run import AgentError, ErrorClass, Run
from agents_manager.domain.task import Actor, Project, Task
from agents_manager.domain.transition import Refusal, Refused
from agents_manager.errors import AgentsManagerError, StoreUnavailable
from agents_manager.flow import asking, branches, retries, transitions, unreviewed
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.runs.verdict import Verdict


async def located(run: Run, task: Task, project: Project, verdict: Verdict, s: Services) -> Verdict:
    """With where the branch stands, which a run that failed does not tell."""
    if verdict.get("head_sha") or run.branch is None or run.workspace is None:
        return verdict
    try:
        await s.workspaces.gather(Path(run.workspace), run.branch)
        ground = await s.store.read(lambda tx: branches.of_run(tx, s, run, task, project))
        _, head = await s.workspaces.ends(Path(project.path), ground.branch, ground.base)
    except StoreUnavailable:
        raise
    except AgentsManagerError:
        return verdict
    return {**verdict, "head_sha": head}


async def halted(run: Run, project: Project, verdict: Verdict, s: Services) -> bool:
    """Whether this run is one too many that ended like those before it and left the same work. One
    of several side by side is not: with them, a person is asked whenever one does not get on."""
    if run.part:
        return False
    alike = await s.store.read(lambda tx: _alike(tx, _as_ended(run, verdict)))
    heads = [r.head_sha for r in alike if r.head_sha]
    repo = Path(project.path)
    try:
        changes = [await s.workspaces.diff(repo, a, b) for a, b in pairwise(heads) if a != b]
    except AgentsManagerError:
        return False
    return bool(alike) and not any(changes)


def _as_ended(run: Run, verdict: Verdict) -> Run:
    error = None
    if "error" in verdict:
        error_class = ErrorClass(verdict.get("error_class", ErrorClass.CRASH))
        error = AgentError(error=verdict["error"], error_class=error_class)
    head = verdict.get("head_sha")
    outcome, payload = verdict.get("outcome"), verdict.get("payload")
    return replace(run, outcome=outcome, payload=payload, error=error, head_sha=head)


def _alike(tx: Tx, ended: Run) -> list[Run]:
    """Of runs that were tried again only the last counts: how often that may be has a cap of its
    own."""
    runs = [r for r in tx.runs.of_task(ended.task_id) if r.id != ended.id and r.ended_at]
    runs = [r for r in runs if not r.part]
    runs.append(ended)
    final = [
        run
        for run, following in zip(runs, [*runs[1:], None], strict=True)
        if following is None or not (run.error and retries.automatic(tx, following))
    ]
    return [*progress.last_alike(final, progress.heard_at(tx.history.of_task(ended.task_id)))]


def halt(tx: Tx, s: Services, run: Run, fired: Fired, actor: Actor) -> None:
    """The task stays, and an admin is shown what repeats and how it can go on."""
    task = tx.tasks.get(run.task_id)
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    what = progress.ended_with(tx.runs.get(run.id))
    reason = (
        f"No progress: the last {progress.TIMES} runs ({run.mode}) ended the same way and left"
        " the same work."
    )
    transitions.refuse(tx, s, task, Refused(Refusal.GUARDS, (reason,)), fired, actor)
    entry = tx.history.of_task(task.id)[-1]
    told = event.NoProgress(run=run.id, mode=run.mode, times=progress.TIMES, ended_with=what)
    tx.events.add(task.id, told, actor, s.clock.now())
    ways = [
        Choice(id="rerun", label="Run the agent again", action="rerun"),
        Choice(id="onward", label="Go on all the same", action=f"redo:{entry.id}"),
        *unreviewed.choices(tx, task, pipeline),
    ]
    asking.open_choice(tx, s, task, pipeline, entry.id, reason, evidence=what, extra=ways)
