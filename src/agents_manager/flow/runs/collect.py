"""Step 8: what the run made, put on record. Best effort: what cannot be collected is an event,
and the run goes on."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from agents_manager.domain import event
from agents_manager.domain.ids import RunId
from agents_manager.domain.run import READ_ONLY_MODES, Run
from agents_manager.domain.stages import spec_text
from agents_manager.domain.stages.outputs import TaskSpec
from agents_manager.domain.task import SYSTEM, ArtifactType, Project, Task
from agents_manager.errors import AgentsManagerError, ExternalError, StoreUnavailable
from agents_manager.flow import artifacts, branches, check_decisions, snapshots
from agents_manager.flow.branches import Ground
from agents_manager.flow.ports import Change, Services, Tx
from agents_manager.flow.runs.prepare import of
from agents_manager.flow.runs.verdict import Verdict

DOCUMENTS = {
    "plan_complete": "Plan",
    "design_ready": "Design",
    "investigation_complete": "Investigation",
    "task_spec": "Specification",
}
"""Outcomes whose result is a text that people read, and what that is called."""


async def collect(run_id: RunId, verdict: Verdict, s: Services) -> None:
    run, task, project = await s.store.read(lambda tx: of(tx, run_id))
    if verdict.get("over_budget"):
        await _attempt(s, run, lambda: _save(s, run, task, project))
    if "outcome" not in verdict:
        await keep_commits(run_id, s)
        return
    if run.branch is None:
        return
    # First, and by itself: it is there whatever becomes of the branch.
    await _attempt(s, run, lambda: _keep_document(s, run, task, verdict))
    if not run.part:  # What all parts changed is put on record once they are put together.
        await _attempt(s, run, lambda: _keep_change(s, run, task, project, verdict))


async def keep_commits(run_id: RunId, s: Services) -> None:
    """Records the commits of a run that ended without handing them over, so that a person can."""
    run, task, project = await s.store.read(lambda tx: of(tx, run_id))
    if run.workspace is None or run.branch is None or run.part or run.mode in READ_ONLY_MODES:
        return
    workspace, branch = Path(run.workspace), run.branch

    async def keep() -> None:
        await s.workspaces.gather(workspace, branch)
        await _keep_change(s, run, task, project, Verdict())

    await _attempt(s, run, keep)


async def _save(s: Services, run: Run, task: Task, project: Project) -> None:
    """What the run had not committed. It goes on from there, if more is granted."""
    assert run.workspace is not None
    saved = await s.workspaces.save(Path(run.workspace))
    events = await snapshots.with_untold(s, task, project, saved)

    def write(tx: Tx) -> None:
        for happened in events:
            mine = happened.model_copy(update={"run": run.id})
            tx.events.add(task.id, mine, SYSTEM, s.clock.now())

    await s.store.write(write)


async def _attempt(s: Services, run: Run, part: Callable[[], Awaitable[None]]) -> None:
    try:
        await part()
    except StoreUnavailable:
        raise  # Nothing is wrong with the work: it is collected again.
    except (AgentsManagerError, OSError) as error:
        missed = event.CollectionFailed(run=run.id, error=str(error))
        now = s.clock.now()
        await s.store.write(lambda tx: tx.events.add(run.task_id, missed, SYSTEM, now))


async def _keep_document(s: Services, run: Run, task: Task, verdict: Verdict) -> None:
    title = DOCUMENTS.get(verdict.get("outcome", ""))
    if title is None:
        return
    text = verdict.get("document", "")
    if verdict.get("outcome") == "task_spec":
        text = spec_text.markdown(TaskSpec.model_validate(verdict.get("payload")))
    key, data = f"{title.lower()}-{run.id}", {"text": text}
    kind = ArtifactType.DOCUMENT
    await s.store.write(lambda tx: artifacts.keep(tx, s, task, kind, key, title, data, run.id))


async def _keep_change(
    s: Services, run: Run, task: Task, project: Project, verdict: Verdict
) -> None:
    ground = await s.store.read(lambda tx: branches.of_run(tx, s, run, task, project))
    change = await _change(s, project, ground, verdict)
    passed = verdict.get("checks_passed")
    failed = [c for c in verdict.get("checks", ()) if not c["passed"]]
    told = [f"{c['name']} ({c['how']})" for c in failed]

    def write(tx: Tx) -> None:
        known = tx.tasks.artifacts(task.id, ArtifactType.DIFF)
        if "checks" not in verdict and known and known[-1].data["head_sha"] == change.head_sha:
            return  # A run that changed nothing leaves what the checks said of the work.
        skipped = check_decisions.of_task(tx, task.id).skipped
        warnings = [*told, *(f"{name} (skipped for this task)" for name in skipped)]
        artifacts.keep_change(
            tx, s, task, ground.branch, ground.base, change, run.id, passed, warnings
        )

    await s.store.write(write)


async def _change(s: Services, project: Project, ground: Ground, verdict: Verdict) -> Change:
    """Tried twice: a review without this cannot be opened, or shows an older state."""
    try:
        return await _made(s, project, ground, verdict)
    except ExternalError:
        return await _made(s, project, ground, verdict)


async def _made(s: Services, project: Project, ground: Ground, verdict: Verdict) -> Change:
    """What was judged and checked, also if the branch went on since."""
    repo, start, head = Path(project.path), verdict.get("start_sha"), verdict.get("head_sha")
    if start is None or head is None:  # A verdict from before an upgrade.
        return await s.workspaces.change(repo, ground.branch, ground.base)
    return await s.workspaces.between(repo, start, head)
