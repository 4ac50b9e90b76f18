"""Who decided what, when and from where."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from agents_manager.api import forms, pages
from agents_manager.api.context import Admin, Services
from agents_manager.domain.audit import as_csv
from agents_manager.errors import InvalidInput
from agents_manager.flow import audit, figures, ports

router = APIRouter(prefix="/audit", tags=["access"])
CSV = {"text/csv": {"schema": {"type": "string"}}}


@router.get("")
async def list_audit(
    s: Services, _: Admin, query: Annotated[forms.AuditQuery, Query()]
) -> pages.Audit:
    """Decisions that are no events of a task, the newest first; `next` is the cursor of the page
    that follows. `what` is a deed such as `token.made`, or `token` for all of that kind."""
    before = _before(query.cursor)
    found = await s.store.read(
        lambda tx: audit.page(
            tx,
            since=_since(s, query),
            who=query.who,
            what=query.what,
            before=before,
            limit=query.limit + 1,
        )
    )
    more = len(found) > query.limit
    items = [pages.AuditEntry.of(entry) for entry in found[: query.limit]]
    return pages.Audit(items=items, next=str(items[-1].id) if more else None)


@router.get("/export", response_class=Response, responses={200: {"content": CSV}})
async def export_audit(
    s: Services, _: Admin, query: Annotated[forms.AuditExport, Query()]
) -> Response:
    """The same as a table for a spreadsheet, all of it."""
    since = _since(s, query)
    text = await s.store.read(
        lambda tx: as_csv(audit.every(tx, since=since, who=query.who, what=query.what))
    )
    name = f"audit-{s.clock.now():%Y%m%d}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type="text/csv", headers=headers)


def _since(s: ports.Services, query: forms.AuditExport) -> datetime | None:
    return figures.since(query.since, s.clock.now()) if query.since else None


def _before(cursor: str | None) -> int | None:
    if cursor is None:
        return None
    if not cursor.isascii() or not cursor.isdigit() or len(cursor) > 18:
        raise InvalidInput("The cursor is not one of this listing.", ["cursor"])
    return int(cursor)
