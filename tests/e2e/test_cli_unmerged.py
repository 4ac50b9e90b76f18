"""Closing a task with unmerged commits on the command line and over HTTP."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.am_program import Am
from tests.e2e.test_cli_output import at_terminal

SCRIPT = {
    "implement": [[{"write": {"path": "a.txt", "text": "a"}}, {"commit": "Add a"}, {"crash": 3}]]
}


@pytest.fixture
def am(tmp_path: Path) -> Am:
    am = Am(tmp_path)
    am.make_repo()
    config = am.home / "config.json"
    told = json.loads(config.read_text())
    config.write_text(json.dumps({**told, "retries": {"crash": {"tries": 0}}}))
    am.text("project", "add", ".", "--name", "shop")
    return am


def create(am: Am, title: str, *more: str) -> str:
    block = f"```agent-script\n{json.dumps(SCRIPT)}\n```"
    words = ("task", "create", title, "--pipeline", "simple", "--description", block)
    made: dict[str, Any] = am.json(*words, *more)
    return str(made["task"]["id"])


@pytest.mark.slow
def test_it_is_refused_without_a_terminal_asked_at_one_and_confirmed_over_http(am: Am) -> None:
    first, second, third = (create(am, title) for title in ("One", "Two", "Three"))
    after = create(am, "After", "--depends-on", second)
    with am.quickly(), am.serving("serve", "--port", "0") as said:
        for task in (first, second, third):
            am.text("task", "start", task)
        prompts = [am.open_prompt(task)["prompt"]["id"] for task in (first, second, third)]

        refused = am("task", "move", first, "done")
        assert refused.code == 1
        assert '"One" has 1 commit that is not merged into main' in refused.err
        assert "Add a" in refused.err
        assert "--leave-unmerged" in refused.err
        am.text("task", "move", first, "done", "--leave-unmerged")

        token = Path(said["token_file"]).read_text().strip()
        headers = {"Authorization": f"Bearer {token}"}
        answer = {"choice_id": "finish"}
        url = f"/api/v1/prompts/{prompts[2]}/answer"
        with httpx.Client(base_url=said["address"], headers=headers, trust_env=False) as api:
            refusal = api.post(url, json=answer)
            assert (refusal.status_code, refusal.json()["error"]) == (409, "UnmergedWork")
            [commit] = refusal.json()["details"]
            assert commit.endswith(" Add a")
            done = api.post(url, json={**answer, "leave_unmerged": True})
            assert done.json()["task"]["status"] == "done", done.text

        close = ("prompt", "answer", prompts[1], "--option", "finish")
        shown = at_terminal(am, *close, typed="y\nn\n")
        assert "Close the task and leave them unmerged?" in shown
        assert "Let the task that depends on it start?" in shown
    assert 'It depends on "Two". Closed as done with 1 commit' in am.text("task", "why", after)
