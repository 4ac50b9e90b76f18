"""The application: routes, and the layers that every request passes on its way to them."""

from collections.abc import Collection, Mapping
from importlib.metadata import version
from types import MappingProxyType
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from starlette.middleware import Middleware
from starlette.types import ASGIApp

from agents_manager.api import openapi, pages
from agents_manager.api.bodies import Bodies
from agents_manager.api.faults import HANDLERS, Edge
from agents_manager.api.gate import Addresses, Mounted, Tokens
from agents_manager.api.idempotency import Replies
from agents_manager.api.routes import (
    agents,
    artifacts,
    events,
    figures,
    phases,
    pipeline_checks,
    pipelines,
    plugins,
    projects,
    prompts,
    retention,
    runs,
    snapshots,
    task_edits,
    tasks,
)
from agents_manager.api.stream import Feed
from agents_manager.flow.ports import Services

PREFIX = "/api/v1"
ROUTERS = (
    projects.router,
    pipelines.router,
    pipeline_checks.router,
    plugins.router,
    tasks.router,
    task_edits.router,
    phases.router,
    prompts.router,
    runs.router,
    agents.router,
    figures.router,
    snapshots.router,
    artifacts.router,
    retention.router,
    events.router,
)

health = APIRouter()


@health.get("/healthz", tags=["health"])
async def get_health() -> pages.Health:
    """Answers as long as the server does; open to everybody, and tells nothing else."""
    return pages.Health(status="ok")


class Application(FastAPI):
    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            self.openapi_schema = openapi.document(self.routes, self.version)
        return self.openapi_schema


def build(
    services: Services,
    feed: Feed,
    hosts: Collection[str],
    mounts: Mapping[str, ASGIApp] = MappingProxyType({}),
) -> Application:
    """`mounts` are addresses that other parts answer, by their first folder."""
    app = Application(
        title=openapi.TITLE,
        version=version("agents-manager"),
        telemetry={"tracing": False, "metrics": False, "logs": False, "operation_spans": False},
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=_operation_id,
        exception_handlers=HANDLERS,
        middleware=[
            Middleware(Edge),
            Middleware(Addresses, hosts=hosts),
            Middleware(Mounted, parts=mounts),
            Middleware(Tokens, store=services.store),
            Middleware(Bodies),
            Middleware(Replies, store=services.store, clock=services.clock),
        ],
    )
    app.state.services = services
    app.state.feed = feed
    app.include_router(health)
    for router in ROUTERS:
        app.include_router(router, prefix=PREFIX)
    return app


def _operation_id(route: APIRoute) -> str:
    return route.name
