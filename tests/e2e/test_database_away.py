"""Postgres goes while a server works, for longer than anything tries again, and comes back."""

import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.debian import have
from tests.e2e import working
from tests.e2e.am_program import Am, until
from tests.faults import outages
from tests.postgres import find_programs, fresh_database

AWAY_S = 12.0
"""Longer than all that is tried three times; how long it is does not matter beyond that."""


@pytest.fixture
def cluster() -> Generator[Path]:
    have("postgresql", find_programs)
    with outages.cluster() as folder:
        yield folder


@pytest.fixture
def am(tmp_path: Path, cluster: Path) -> Generator[Am]:
    am = Am(tmp_path)
    working.prepare(am)
    am.env["AM_DATABASE_URL"] = fresh_database(outages.url(cluster))
    yield am
    working.finish(am)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("how", ["stop", "kill"])
def test_everything_waits_and_goes_on(am: Am, cluster: Path, how: str) -> None:
    task = working.begin(am)
    with am.serving("serve", "--port", "0") as server:
        until(lambda: working.printed(am))
        outages.end(cluster, how)
        gone = time.monotonic()
        _said_over_http(server)
        _said_by_the_command(am)
        before = working.printed(am)
        until(lambda: working.printed(am) > before)
        # The agent ends while nobody can put that down.
        working.finish(am)
        time.sleep(max(0.0, AWAY_S - (time.monotonic() - gone)))
        outages.start(cluster)
        am.open_prompt(task)
        until(lambda: all(_parts(server).values()))
    working.undisturbed(am, task)


def _get(server: dict[str, Any], path: str) -> httpx.Response:
    token = Path(server["token_file"]).read_text().strip()
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.get(server["address"] + path, headers=headers, timeout=20, trust_env=False)


def _parts(server: dict[str, Any]) -> dict[str, bool]:
    """Whether the database and the engine are well."""
    parts = _get(server, "/api/v1/health").json()["parts"]
    return {part["name"]: part["ok"] for part in parts if part["name"] != "web app"}


def _said_over_http(server: dict[str, Any]) -> None:
    refused = _get(server, "/api/v1/tasks")
    assert (refused.status_code, refused.json()["error"]) == (503, "StoreUnavailable")
    assert "cannot be reached; check that the server runs" in refused.json()["message"]
    assert int(refused.headers["Retry-After"]) > 0
    unready = _get(server, "/readyz")
    assert (unready.status_code, unready.headers["Retry-After"]) == (503, "5")
    assert _get(server, "/healthz").status_code == 200


def _said_by_the_command(am: Am) -> None:
    done = am("task", "list")
    assert done.code != 0
    assert "cannot be reached; check that the server runs" in done.err
    assert "Traceback" not in done.err
