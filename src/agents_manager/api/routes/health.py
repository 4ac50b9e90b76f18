"""Whether the server lives and can do its work, and figures of it."""

from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse
from starlette.requests import Request

from agents_manager import meters
from agents_manager.api import metrics, pages
from agents_manager.api.context import LiveFeed, Services
from agents_manager.errors import NotReady
from agents_manager.flow import operation, ports
from agents_manager.flow.operation import Part

open_router = APIRouter(tags=["health"])
router = APIRouter(tags=["health"])


@open_router.get("/healthz")
async def get_health() -> pages.Health:
    """Answers as long as the server does; open to everybody, and tells nothing else."""
    return pages.Health(status="ok")


@open_router.get("/readyz")
async def get_readiness(s: Services, request: Request) -> pages.Health:
    """Answers with 503 while the database, the engine or the files of the web app are missing; open
    to everybody, and tells nothing else. `/api/v1/health` says what is missing."""
    if not all(part.ok for part in await _parts(s, request)):
        raise NotReady
    return pages.Health(status="ok")


@open_router.get("/metrics", response_class=PlainTextResponse)
async def get_metrics(s: Services, feed: LiveFeed, request: Request) -> PlainTextResponse:
    """Figures in the text form of Prometheus. Without a token only where `metrics.open` says so."""
    told = await metrics.text(s, feed, request.app.state.requests)
    return PlainTextResponse(told, media_type=meters.MEDIA_TYPE)


@router.get("/health")
async def get_parts(s: Services, request: Request) -> pages.Readiness:
    """Whether the server can do its work, part by part."""
    parts = await _parts(s, request)
    return pages.Readiness.of({"ready": all(part.ok for part in parts), "parts": parts})


async def _parts(s: ports.Services, request: Request) -> list[Part]:
    own = [await operation.database(s), operation.engine(s)]
    ui: Path | None = request.app.state.ui
    if ui is None:
        return own
    pages_there = (ui / "index.html").is_file()
    says = "They are there." if pages_there else "They are not built."
    return [*own, Part("web app", ok=pages_there, says=says)]
