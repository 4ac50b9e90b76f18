"""Live events, over server-sent events."""

from typing import Annotated

from fastapi import APIRouter, Header, Query

from agents_manager.api import forms, schemas
from agents_manager.api.context import LiveFeed, Services, StillKnown
from agents_manager.api.stream import EventStream, live

router = APIRouter(prefix="/events", tags=["events"])


@router.get("/stream", response_class=EventStream, responses={200: {"model": schemas.Event}})
async def stream_events(
    s: Services,
    feed: LiveFeed,
    permit: StillKnown,
    query: Annotated[forms.StreamQuery, Query()],
    last_event_id: Annotated[forms.Number | None, Header(alias="Last-Event-ID")] = None,
) -> EventStream:
    """Events as they happen, of one task or of all. With `after`, or the header that browsers send
    when they come back, those after that event first; none is missed and none comes twice."""
    after = query.after if last_event_id is None else last_event_id
    wanted = query.task
    task = await s.store.read(lambda tx: tx.tasks.find(wanted).id) if wanted else None
    return live(await feed.follow(task, after, permit))
