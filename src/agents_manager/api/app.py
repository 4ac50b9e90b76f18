"""The application: routes, and the layers that every request passes on its way to them."""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from agents_manager import webbuild
from agents_manager.api import openapi
from agents_manager.api.bodies import Bodies
from agents_manager.api.doors import Doors
from agents_manager.api.failures import Failures
from agents_manager.api.faults import HANDLERS, Edge
from agents_manager.api.gate import Addresses, Based, Mounted, Tokens
from agents_manager.api.idempotency import Replies
from agents_manager.api.manual.door import Docs
from agents_manager.api.pace import Pace
from agents_manager.api.routes import (
    access,
    agents,
    artifacts,
    audit,
    board,
    channels,
    comments,
    contexts,
    events,
    figures,
    forges,
    health,
    hosts,
    knowledge,
    parts,
    phases,
    pipeline_checks,
    pipelines,
    plugins,
    projects,
    prompts,
    races,
    retention,
    runs,
    schedules,
    search,
    snapshots,
    task_edits,
    tasks,
)
from agents_manager.api.stream import Feed
from agents_manager.api.ui import Ui
from agents_manager.errors import NotFound
from agents_manager.flow.ports import Services
from agents_manager.meters import Times

PREFIX = "/api/v1"
SMALL_BYTES = 1000
"""What is not worth compressing."""
COMPRESSION = 5
"""Of nine; more takes long and saves little."""
ROUTERS = (
    projects.router,
    pipelines.router,
    pipeline_checks.router,
    parts.router,
    plugins.router,
    board.router,
    channels.router,
    tasks.router,
    task_edits.router,
    races.router,
    phases.router,
    schedules.router,
    comments.router,
    contexts.router,
    knowledge.router,
    prompts.router,
    runs.router,
    agents.router,
    figures.router,
    search.router,
    snapshots.router,
    artifacts.router,
    retention.router,
    hosts.router,
    access.router,
    audit.router,
    health.router,
    forges.router,
    events.router,
)


class Application(FastAPI):
    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            self.openapi_schema = openapi.document(self.routes, self.version)
        return self.openapi_schema


def build(
    services: Services,
    feed: Feed,
    doors: Doors,
    mounts: Mapping[str, ASGIApp] = MappingProxyType({}),
    ui: Path = webbuild.UI,
    pace: Pace | None = None,
) -> Application:
    """`mounts` are addresses that other parts answer, by their first folder; `ui` is the folder of
    the built web app."""
    requests = Times()
    app = Application(
        title=openapi.TITLE,
        version=version("agents-manager"),
        telemetry={"tracing": False, "metrics": False, "logs": False, "operation_spans": False},
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        routes=_routes(),
        exception_handlers=HANDLERS,
        middleware=[
            Middleware(Edge, times=requests),
            Middleware(Addresses, doors=doors),
            Middleware(Based, base=doors.public.base if doors.public else ""),
            Middleware(Mounted, parts=mounts),
            # Streams of events pass it as they are.
            Middleware(GZipMiddleware, minimum_size=SMALL_BYTES, compresslevel=COMPRESSION),
            Middleware(Docs),
            Middleware(Ui, doors=doors, folder=ui),
            Middleware(
                Tokens,
                store=services.store,
                clock=services.clock,
                pace=pace or Pace(),
                open_metrics=services.configs.open_metrics,
            ),
            Middleware(Bodies),
            Middleware(Replies, store=services.store, clock=services.clock),
        ],
    )
    app.state.services = services
    app.state.feed = feed
    app.state.doors = doors
    app.state.failures = Failures()
    app.state.requests = requests
    app.state.ui = ui
    return app


def build_inside(doors: Doors, mounts: Mapping[str, ASGIApp]) -> ASGIApp:
    """What agents need and nothing else."""
    return Edge(Addresses(Mounted(_nothing, mounts), doors))


def build_worker(
    services: Services, feed: Feed, doors: Doors, mounts: Mapping[str, ASGIApp]
) -> FastAPI:
    """What agents need, and whether the program lives."""
    requests = Times()
    app = FastAPI(
        title=openapi.TITLE,
        openapi_url=None,
        redirect_slashes=False,
        exception_handlers=HANDLERS,
        middleware=[
            Middleware(Edge, times=requests),
            Middleware(Addresses, doors=doors),
            Middleware(Mounted, parts=mounts),
            Middleware(
                Tokens,
                store=services.store,
                clock=services.clock,
                pace=Pace(),
                open_metrics=services.configs.open_metrics,
            ),
        ],
    )
    app.state.services = services
    app.state.feed = feed
    app.state.requests = requests
    app.state.ui = None
    app.include_router(health.open_router)
    return app


async def _nothing(scope: Scope, receive: Receive, send: Send) -> None:
    raise NotFound("Only agents are answered here.")


@cache
def _routes() -> list[BaseRoute]:
    """Made once for the process: what FastAPI works out of a route is kept with it."""
    every = APIRouter(redirect_slashes=False, generate_unique_id_function=_operation_id)
    every.include_router(health.open_router)
    every.include_router(access.entrance)
    for router in ROUTERS:
        every.include_router(router, prefix=PREFIX)
    return every.routes


def _operation_id(route: APIRoute) -> str:
    return route.name
