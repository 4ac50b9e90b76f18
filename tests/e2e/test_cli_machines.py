"""Commands on one machine about the run of another, which has a real worker."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents_manager.flow.runs import reports
from tests.e2e.am_program import Am, until
from tests.postgres import fresh_database
from tests.repos import scripted_home

HANG = f"```agent-script\n{json.dumps({'implement': [[{'say': 'Up.'}, {'hang': True}]]})}\n```"


@pytest.mark.slow
def test_a_run_is_watched_and_stopped_from_another_machine(
    tmp_path: Path, postgres_url: str
) -> None:
    one, two = machines(tmp_path, fresh_database(postgres_url))
    one.make_repo()
    one.text("project", "add", ".")
    made = one.json(
        "task", "create", "Door", "--description", HANG, "--pipeline", "simple", "--start"
    )
    with one.serving("worker") as said:

        def said_there() -> Any:
            runs = two.json("run", "list", "--task", made["task"]["id"])
            found = two.json("run", "transcript", runs[0]["id"]) if runs else {"messages": []}
            return found if any(m.get("text") == "Up." for m in found["messages"]) else None

        shown = until(said_there)
        run = shown["run"]
        assert shown["missing"] is None
        report_by_tool(said["address"], one.home / "jobs" / run / "1", run)
        assert "Stopped run" in two.text("run", "stop", run)
        assert two.json("run", "show", run)["status"] == "cancelled"
    # With the machine gone, all that it printed is known.
    assert any(m.get("text") == "Up." for m in two.json("run", "watch", run)["messages"])
    assert {f.name for f in (two.home / "jobs" / run / "1").iterdir()} == {"output"}


def machines(folder: Path, url: str) -> tuple[Am, Am]:
    found: list[Am] = []
    for name in ("one", "two"):
        (folder / name).mkdir()
        am = Am(folder / name)
        am.env["AM_DATABASE_URL"] = url
        scripted_home(am.home)
        found.append(am)
    one, two = found
    two.repo = one.repo
    return one, two


def report_by_tool(address: str, folder: Path, run: str) -> None:
    """As the agent would, at the address that it was given."""
    assert httpx.get(f"{address}/readyz", trust_env=False).json() == {"status": "ok"}
    call = {"name": "report_outcome", "arguments": {"outcome": "pr_ready"}}
    answer = httpx.post(
        f"{address}/mcp/run/{run}",
        json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call},
        headers={"Authorization": f"Bearer {reports.new_token(folder)}"},
        trust_env=False,
    )
    assert not answer.json()["result"]["isError"], answer.text
    assert json.loads((folder / "report.json").read_text())["outcome"] == "pr_ready"
