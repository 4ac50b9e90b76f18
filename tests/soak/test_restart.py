"""A server that is killed under a hundred working agents is there again at once, and goes on with
each of them."""

import json
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests import figures
from tests.e2e.am_program import Am
from tests.postgres import fresh_database
from tests.repos import executable, scripted_home
from tests.soak.test_server_kills import killed_server

LIVE = 100
PATIENCE_S = 300.0
AGENT = """
echo $$ >> "$HOME/pid-$AM_TASK_ID"
until [ -e "$HOME/finish" ]; do sleep 0.5; done
"""


@pytest.fixture(params=["SQLite", "Postgres"])
def am(tmp_path: Path, request: pytest.FixtureRequest) -> Generator[Am]:
    am = Am(tmp_path)
    if request.param == "Postgres":
        am.env["AM_DATABASE_URL"] = fresh_database(request.getfixturevalue("postgres_url"))
    scripted_home(am.home, limits={"host": LIVE})
    am.make_repo()
    with am.quickly():
        yield am
    (Path(am.env["HOME"]) / "finish").touch()


def client(server: dict[str, Any]) -> httpx.Client:
    token = Path(server["token_file"]).read_text().strip()
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.Client(base_url=server["address"], headers=headers, timeout=60, trust_env=False)


def patiently(look: Callable[[], bool]) -> None:
    """Two processes for each of a hundred agents take their time to begin and to end."""
    end = time.monotonic() + PATIENCE_S
    while not look():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.5)


def ready(http: httpx.Client) -> bool:
    """Whether all work can be done; that the pages are built is no question here."""
    parts = http.get("/api/v1/health").json()["parts"]
    return all(part["ok"] for part in parts if part["name"] != "web app")


def started(am: Am) -> tuple[float, int]:
    """How long a server takes until it says that it is ready, and how many runs it has then."""
    begun = time.monotonic()
    with killed_server(am) as server, client(server) as http:
        while not ready(http):
            time.sleep(0.01)
        took = time.monotonic() - begun
        runs = http.get("/api/v1/runs", params={"live": True, "limit": LIVE}).json()["items"]
        return took, len(runs)


@pytest.mark.timeout(0)
def test_a_server_is_ready_at_once_with_a_hundred_live_tasks(
    am: Am, request: pytest.FixtureRequest
) -> None:
    executable(am.repo / "agent.sh", AGENT)
    agent = {"adapter": "command", "command": ["./agent.sh", "{prompt_file}"]}
    config = am.repo / ".agents-manager" / "config.json"
    config.parent.mkdir()
    config.write_text(json.dumps({"defaultAgentType": "mine", "agents": {"mine": agent}}))
    am.json("project", "add", ".", "--name", "shop")
    am.json("project", "consent", "shop")
    empty, _ = started(am)
    for number in range(LIVE):
        am.json("task", "create", f"Task {number}", "--pipeline", "simple", "--start")
    home = Path(am.env["HOME"])
    with killed_server(am):
        patiently(lambda: len([*home.glob("pid-*")]) == LIVE)

    took, live = min(started(am) for _ in range(3))
    assert live == LIVE
    figures.note("G-11", request.node.callspec.params["am"], tasks=live, seconds=took, empty=empty)

    (home / "finish").touch()
    with am.serving("serve", "--port", "0") as server, client(server) as http:
        patiently(lambda: not http.get("/api/v1/runs", params={"live": True}).json()["items"])
        runs = http.get("/api/v1/runs", params={"limit": 2 * LIVE}).json()["items"]
    assert [run["outcome"] for run in runs] == ["no_changes"] * LIVE
    assert all(len(pid.read_text().splitlines()) == 1 for pid in home.glob("pid-*"))
