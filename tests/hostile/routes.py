"""Every address of the server, asked with the wrong key or none."""

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from agents_manager import bootstrap
from agents_manager.api.app import Application, build
from agents_manager.api.doors import doors
from agents_manager.api.gate import OPEN_PATHS, WEBHOOK
from agents_manager.api.pace import Pace
from agents_manager.api.stream import Feed
from agents_manager.bootstrap import Program
from agents_manager.domain.run import Run
from agents_manager.flow import tasks
from agents_manager.flow.runs import gateway, keys, lifecycle, reports
from agents_manager.settings import Settings
from tests.api.scenes import PORT, Scene
from tests.repos import make_repo, scripted_home

MORE = (
    ("GET", "/openapi.json"),
    ("POST", "/"),
    ("GET", "/mcp"),
    ("GET", "/model"),
)
REFUSED = (401, 404)
"""404 is of addresses that do not exist beside those of runs."""


def operations(app: Application) -> list[tuple[str, str]]:
    """Of people: those of agents are not in the description."""
    known = [
        (method.upper(), path.replace("{", "").replace("}", ""))
        for path, methods in app.openapi()["paths"].items()
        for method in methods
        if path not in OPEN_PATHS - {WEBHOOK}
    ]
    return [*known, *MORE]


async def let_in(
    app: Application, client: httpx.AsyncClient, headers: Mapping[str, str]
) -> list[str]:
    """The operations that did not refuse whoever sends these."""
    found: list[str] = []
    for method, path in operations(app):
        response = await client.request(method, path, headers=dict(headers))
        if response.status_code not in REFUSED or (
            response.status_code == 404 and (method, path) not in MORE
        ):
            found.append(f"{method} {path}: {response.status_code}")
    return found


def run_keys(program: Program, run: Run) -> dict[str, str]:
    """All that an agent is given for its run."""
    folder = lifecycle.job_dir(program.services, run.id, 1)
    return {"report": reports.new_token(folder), "model": keys.new(folder, gateway.KEYS)}


def ways(key: str) -> list[dict[str, str]]:
    """How somebody may try one."""
    return [
        {"Authorization": f"Bearer {key}"},
        {"Authorization": f"bearer  {key}"},
        {"x-api-key": key},
        {"Cookie": f"am_session={key}", "Origin": f"http://127.0.0.1:{PORT}"},
    ]


@asynccontextmanager
async def ground() -> AsyncIterator[tuple[Application, httpx.AsyncClient, Program, Run]]:
    """A server of its own, with a run that goes on."""
    with tempfile.TemporaryDirectory() as folder:
        home = scripted_home(Path(folder, "home"))
        async with bootstrap.client(Settings(home, None)) as program:
            s = program.services
            project = await tasks.add_project(s, make_repo(Path(folder, "shop")), None, None)
            _, run = await Scene(s, project).running()
            feed = Feed(s.store, program.database.watch)
            unhurried = Pace(10_000, 10_000)
            app = build(
                s, feed, doors("127.0.0.1", PORT), bootstrap.mounts(program), pace=unhurried
            )
            transport = httpx.ASGITransport(app)
            async with (
                feed.running(),
                httpx.AsyncClient(
                    transport=transport, base_url=f"http://127.0.0.1:{PORT}"
                ) as client,
            ):
                yield app, client, program, run


async def figures() -> tuple[int, int, int]:
    """Routes, those open without a token, and those open to a key of a run."""
    async with ground() as (app, client, program, run):
        without = await let_in(app, client, {})
        with_keys = [
            found
            for key in run_keys(program, run).values()
            for way in ways(key)
            for found in await let_in(app, client, way)
        ]
        return len(operations(app)), len(without), len(set(with_keys))


if __name__ == "__main__":
    sys.stdout.write(f"{asyncio.run(figures())}\n")
