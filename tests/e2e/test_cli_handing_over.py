"""Commits of a failed run are handed over from the command line and over HTTP."""

import json
from pathlib import Path

import httpx
import pytest

from tests.e2e.am_program import Am, until

DESCRIPTION = """Say hello.

```agent-script
implement: [[{write: {path: hello.txt, text: hello}}, {commit: Say hello}, {crash: 3}]]
```
"""


def failed(am: Am) -> tuple[str, str]:
    """Return a task whose agent crashed after a commit, and the question that it asks."""
    args = ("task", "create", "Greet", "--description-file", "-", "--pipeline", "simple")
    created = am(*args, "--start", "--json", input=DESCRIPTION)
    task: str = json.loads(created.out)["task"]["id"]
    return task, am.open_prompt(task)["prompt"]["id"]


def review_of(am: Am, task: str) -> None:
    until(lambda: am.json("task", "show", task)["status"]["id"] == "review")


@pytest.mark.slow
def test_a_person_hands_over_commits_by_the_command_line_and_by_http(tmp_path: Path) -> None:
    am = Am(tmp_path)
    am.make_repo()
    with am.quickly():
        am.text("project", "add", ".", "--name", "shop")
        am.text("config", "set", "--project", "shop", "--yes", "retries.crash.tries", "0")
        with am.serving("serve", "--port", "0") as server:
            task, prompt = failed(am)
            page = am.text("prompt", "show", prompt)
            assert "2) Check again\n     Run the checks on the branch (+1 -0 in 1 file)." in page
            assert f"am prompt answer {prompt[:8]} --option 3   # Review as it is" in page
            am.text("prompt", "answer", prompt, "--option", "3")
            review_of(am, task)

            task, prompt = failed(am)
            token = Path(server["token_file"]).read_text().strip()
            answered = httpx.post(
                f"{server['address']}/api/v1/prompts/{prompt}/answer",
                json={"choice_id": "check_again"},
                headers={"Authorization": f"Bearer {token}"},
            )
            assert answered.status_code == 200, answered.text
            review_of(am, task)
