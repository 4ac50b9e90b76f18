"""A task whose agent prints until it is told to finish, for what happens to a server meanwhile."""

import json
from pathlib import Path

from tests.e2e.am_program import Am
from tests.repos import executable

AGENT = """
n=0
until [ -e "$HOME/finish" ]; do n=$((n+1)); echo "line $n"; sleep 0.05; done
echo $n > work.txt
git add .; git -c user.name=Me -c user.email=me@x commit -qm Work
echo '<<<OUTCOME:pr_ready>>>'; echo '<<<END_PAYLOAD>>>'
"""


def prepare(am: Am) -> None:
    am.make_repo()
    executable(am.repo / "agent.sh", AGENT)
    (am.repo / ".agents-manager").mkdir()
    agent = {"adapter": "command", "command": ["./agent.sh", "{prompt_file}"]}
    config = {"defaultAgentType": "mine", "agents": {"mine": agent}}
    (am.repo / ".agents-manager" / "config.json").write_text(json.dumps(config))


def begin(am: Am) -> str:
    """The task, which waits for a server."""
    am.json("project", "add", ".", "--name", "shop")
    am.json("project", "consent", "shop")
    task = am.json("task", "create", "Work", "--pipeline", "simple")["task"]["id"]
    am.json("task", "start", task)
    return task


def finish(am: Am) -> None:
    (Path(am.env["HOME"]) / "finish").touch()


def printed(am: Am) -> int:
    return sum(file.stat().st_size for file in am.home.glob("jobs/*/1/output"))


def undisturbed(am: Am, task: str) -> None:
    """The run ended well, and nothing was tried again, repaired or told twice."""
    [run] = am.json("run", "list", "--task", task)
    assert (run["status"], run["outcome"]) == ("completed", "pr_ready")
    events = am.json("task", "events", task)
    assert [e["seq"] for e in events] == list(range(1, len(events) + 1))
    wrong = ("hook.retried", "hook.failed", "task.repaired", "agent.failed", "prompt_reminded")
    assert [e for e in events if e["type"] in wrong] == []
