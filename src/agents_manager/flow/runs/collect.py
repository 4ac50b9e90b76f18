"""Step 8: what the run made, put on record. Best effort: what cannot be collected is an event,
and the run goes on."""

from pathlib import Path

from agents_manager.domain import event
from agents_manager.domain.ids import RunId
from agents_manager.domain.run import Run
from agents_manager.domain.task import SYSTEM, ArtifactType, Project, Task
from agents_manager.errors import AgentsManagerError, ExternalError
from agents_manager.flow import artifacts, branches
from agents_manager.flow.branches import Ground
from agents_manager.flow.ports import Change, Services, Tx
from agents_manager.flow.runs.prepare import of
from agents_manager.flow.runs.verdict import Verdict

DOCUMENTS = {
    "plan_complete": "Plan",
    "design_ready": "Design",
    "investigation_complete": "Investigation",
}
"""Outcomes whose result is the text of the final message, and what that is called."""


async def collect(run_id: RunId, verdict: Verdict, s: Services) -> None:
    run, task, project = await s.store.read(lambda tx: of(tx, run_id))
    if "outcome" not in verdict or run.branch is None:
        return
    ground = await s.store.read(lambda tx: branches.of_run(tx, s, run, task, project))
    try:
        change = await _change(s, project, ground, verdict)
        await s.store.write(lambda tx: _keep(tx, s, run, task, ground, change, verdict))
    except AgentsManagerError as error:
        missed = event.CollectionFailed(run=run.id, error=error.message)
        now = s.clock.now()
        await s.store.write(lambda tx: tx.events.add(task.id, missed, SYSTEM, now))


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


def _keep(
    tx: Tx, s: Services, run: Run, task: Task, ground: Ground, change: Change, verdict: Verdict
) -> None:
    # Checks that failed end the run with an error, which is not collected.
    passed = True if verdict.get("checks") else None
    artifacts.keep_change(tx, s, task, ground.branch, ground.base, change, run.id, passed)
    title = DOCUMENTS.get(verdict.get("outcome", ""))
    if title is not None:
        document = {"text": verdict.get("document", "")}
        key = f"{title.lower()}-{run.id}"
        artifacts.keep(tx, s, task, ArtifactType.DOCUMENT, key, title, document, run.id)
