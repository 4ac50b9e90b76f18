"""What a task has to show: artifacts, and the versions of its documents."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import PlainTextResponse

from agents_manager.api import forms, pages, schemas
from agents_manager.api.context import Caller, Services
from agents_manager.domain import document
from agents_manager.flow import artifacts, filing, pulls

router = APIRouter(prefix="/tasks/{task_id}", tags=["artifacts"])


@router.get("/artifacts")
async def list_artifacts(s: Services, task_id: str) -> pages.Artifacts:
    """Documents, branch, commits, diff and pull requests of a task, oldest first."""
    found = await s.store.read(lambda tx: tx.tasks.artifacts(tx.tasks.find(task_id).id))
    return pages.Artifacts(items=[schemas.Artifact.of(a) for a in found])


@router.post("/artifacts/collect")
async def collect_artifacts(s: Services, task_id: str) -> pages.Artifacts:
    """Puts the commits of the task's branch and their diff on record once more."""
    found = await pulls.collect(s, task_id)
    return pages.Artifacts(items=[schemas.Artifact.of(a) for a in found])


@router.get("/documents")
async def list_documents(s: Services, task_id: str) -> pages.Documents:
    """Every version of the documents that runs wrote, oldest first."""
    found = await s.store.read(lambda tx: artifacts.documents_of(tx, task_id))
    return pages.Documents(items=[schemas.Document.of(d) for d in found])


@router.get("/documents/{name}")
async def get_document(
    s: Services, task_id: str, name: str, query: Annotated[forms.DocumentQuery, Query()]
) -> schemas.Document:
    """One version of a document (`plan`, `design`, `investigation`); the newest unless given."""
    known = await s.store.read(lambda tx: artifacts.documents_of(tx, task_id))
    return schemas.Document.of(document.chosen(known, name, query.version))


@router.post("/documents/{name}/commit")
async def commit_document(
    s: Services,
    actor: Caller,
    task_id: str,
    name: str,
    form: forms.CommitDocument | None = None,
) -> pages.CommittedDocument:
    """Commits a version of a document to the task's branch, once. Refused while an agent works."""
    given = (form or forms.CommitDocument()).model_dump()
    return pages.CommittedDocument.of(await filing.commit(s, task_id, name, actor, **given))


@router.get("/documents/{name}/diff", response_class=PlainTextResponse)
async def compare_documents(
    s: Services, task_id: str, name: str, query: Annotated[forms.CompareQuery, Query()]
) -> PlainTextResponse:
    """What changed from one version to another, as a unified diff; unless given, from the one
    before the newest to the newest."""
    ends = await s.store.read(
        lambda tx: artifacts.compared(tx, task_id, name, query.since, query.to)
    )
    return PlainTextResponse(document.difference(*ends))
