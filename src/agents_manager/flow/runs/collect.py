"""Step 8: what the run made, put on record. Best effort: what cannot be collected is an event,
and the run goes on."""

from pathlib import Path

from agents_manager.domain import event
from agents_manager.domain.ids import RunId
from agents_manager.domain.run import Run
from agents_manager.domain.task import SYSTEM, ArtifactType, Project, Task
from agents_manager.errors import AgentsManagerError, ExternalError
from agents_manager.flow import artifacts
from agents_manager.flow.ports import Change, Services, Tx
from agents_manager.flow.runs.prepare import of
from agents_manager.flow.runs.verdict import Verdict


async def collect(run_id: RunId, verdict: Verdict, s: Services) -> None:
    run, task, project = await s.store.read(lambda tx: of(tx, run_id))
    if "outcome" not in verdict or run.branch is None:
        return
    try:
        change = await _change(s, project, run.branch)
        await s.store.write(lambda tx: _keep(tx, s, run, task, project, change, verdict))
    except AgentsManagerError as error:
        missed = event.CollectionFailed(run=run.id, error=error.message)
        now = s.clock.now()
        await s.store.write(lambda tx: tx.events.add(task.id, missed, SYSTEM, now))


async def _change(s: Services, project: Project, branch: str) -> Change:
    """Tried twice: a review without this cannot be opened, or shows an older state."""
    try:
        return await s.workspaces.change(Path(project.path), branch, project.base_branch)
    except ExternalError:
        return await s.workspaces.change(Path(project.path), branch, project.base_branch)


def _keep(
    tx: Tx, s: Services, run: Run, task: Task, project: Project, change: Change, verdict: Verdict
) -> None:
    assert run.branch is not None
    artifacts.keep_change(tx, s, task, project, run.branch, change, run.id)
    if verdict.get("outcome") == "plan_complete":
        document = {"text": verdict.get("document", "")}
        key = f"plan-{run.id}"
        artifacts.keep(tx, s, task, ArtifactType.DOCUMENT, key, "Plan", document, run.id)
