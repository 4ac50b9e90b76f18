"""What a task has to show: each thing on record once, replaced when it is collected again."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agents_manager.domain import event
from agents_manager.domain.document import Document, chosen, documents
from agents_manager.domain.event.happening import counted_as
from agents_manager.domain.ids import RunId
from agents_manager.domain.task import SYSTEM, Artifact, ArtifactType, Project, Task
from agents_manager.errors import DocumentNotFound
from agents_manager.flow.ports import Change, Services, Tx


def keep(
    tx: Tx,
    s: Services,
    task: Task,
    kind: ArtifactType,
    key: str,
    label: str,
    data: Mapping[str, Any],
    run_id: RunId | None = None,
) -> None:
    tx.tasks.add_artifact(
        Artifact(
            id=s.ids.new(),
            task_id=task.id,
            run_id=run_id,
            type=kind,
            key=key,
            label=label,
            data=data,
            created_at=s.clock.now(),
        )
    )


def keep_change(
    tx: Tx,
    s: Services,
    task: Task,
    branch: str,
    base: str,
    change: Change,
    run_id: RunId | None = None,
    checks_passed: bool | None = None,
    warnings: Sequence[str] = (),
) -> None:
    """The branch's commits, each with the run that made it, and what they add up to."""
    known = {a.key for a in tx.tasks.artifacts(task.id, ArtifactType.COMMIT)}
    for commit in change.commits:
        if commit["sha"] in known:
            continue
        keep(tx, s, task, ArtifactType.COMMIT, commit["sha"], commit["subject"], commit, run_id)
    if not change.commits:
        return
    _tell_of_policy(tx, s, task, change)
    label = f"+{change.additions} -{change.deletions} in {counted_as(change.files, 'file')}"
    data = {
        "branch": branch,
        "base": base,
        "base_sha": change.base_sha,
        "head_sha": change.head_sha,
        "files": change.files,
        "additions": change.additions,
        "deletions": change.deletions,
        "checks_passed": checks_passed,
        "warnings": list(warnings),
        "policy": list(change.policy),
    }
    keep(tx, s, task, ArtifactType.DIFF, "change", label, data, run_id)


def _tell_of_policy(tx: Tx, s: Services, task: Task, change: Change) -> None:
    known = [a.data.get("policy") for a in tx.tasks.artifacts(task.id, ArtifactType.DIFF)]
    if change.policy and list(change.policy) not in known:
        told = event.PolicyChanged(files=change.policy)
        tx.events.add(task.id, told, SYSTEM, s.clock.now())


async def refresh_change(
    s: Services,
    task: Task,
    project: Project,
    branch: str,
    base: str,
    *,
    checks_passed: bool | None = None,
) -> Change:
    """Brings the recorded change up to date with the branch."""
    change = await s.workspaces.change(Path(project.path), branch, base)
    await s.store.write(
        lambda tx: keep_change(tx, s, task, branch, base, change, checks_passed=checks_passed)
    )
    return change


def documents_of(tx: Tx, task_ref: str) -> list[Document]:
    return documents(tx.tasks.artifacts(tx.tasks.find(task_ref).id, ArtifactType.DOCUMENT))


def compared(
    tx: Tx, task_ref: str, name: str, old: int | None, new: int | None
) -> tuple[Document, Document]:
    """Two versions of a document; unless given, the newest and the one before it."""
    known = documents_of(tx, task_ref)
    later = chosen(known, name, new)
    if old is None and later.version == 1:
        raise DocumentNotFound(f"Version 1 of the {later.name} has none before it to compare with.")
    return chosen(known, name, old or later.version - 1), later
