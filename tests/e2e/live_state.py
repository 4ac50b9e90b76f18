"""All that can be under way when a server has to make place for another: a question that waits, an
agent at work under its runner, and one that is yet to begin."""

import json
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.am_program import Am, until
from tests.repos import executable

AGENT = """
echo $$ >> "$HOME/pid-$AM_TASK_ID"
end() { echo "<<<OUTCOME:$1>>>"; echo "$2"; echo '<<<END_PAYLOAD>>>'; exit 0; }
if rm "$HOME/ask-$AM_TASK_ID" 2> /dev/null; then end needs_info '{"question": "Why?"}'; fi
until [ -e "$HOME/finish" ]; do sleep 0.05; done
echo work > work-$AM_TASK_ID.txt
git add .; git -c user.name=Me -c user.email=me@x commit -qm Work
end pr_ready
"""

_BEFORE = ("open", "in_progress", "needs_info")


@dataclass(frozen=True)
class Live:
    am: Am
    asking: str
    working: str
    waiting: str

    def pids(self, task: str) -> list[str]:
        """Of the agents that were started for a task."""
        file = Path(self.am.env["HOME"]) / f"pid-{task}"
        return file.read_text().split() if file.exists() else []

    def finish(self) -> None:
        (Path(self.am.env["HOME"]) / "finish").touch()


def prepare(am: Am) -> Live:
    """The tasks, started; a server is to come."""
    am.make_repo()
    settings = json.loads((am.home / "config.json").read_text())
    (am.home / "config.json").write_text(json.dumps({**settings, "limits": {"host": 1}}))
    executable(am.repo / "agent.sh", AGENT)
    agent = {"adapter": "command", "command": ["./agent.sh", "{prompt_file}"]}
    config = {"defaultAgentType": "mine", "agents": {"mine": agent}}
    (am.repo / ".agents-manager").mkdir()
    (am.repo / ".agents-manager" / "config.json").write_text(json.dumps(config))
    am.json("project", "add", ".", "--name", "shop")
    am.json("project", "consent", "shop")
    titles = ("Asks", "Works", "Waits")
    ids = [am.json("task", "create", t, "--pipeline", "simple")["task"]["id"] for t in titles]
    (Path(am.env["HOME"]) / f"ask-{ids[0]}").touch()
    return Live(am, *ids)


def bring_about(live: Live) -> None:
    """With a server at work."""
    am = live.am
    am.json("task", "start", live.asking)
    am.open_prompt(live.asking)
    am.json("task", "start", live.working)
    until(lambda: live.pids(live.working))
    am.json("task", "start", live.waiting)


def goes_on(live: Live) -> None:
    """With the server that came after it: nothing was lost, and nothing begun twice."""
    am = live.am
    [pid] = live.pids(live.working)
    assert Path("/proc", pid).exists(), "the agent was ended"
    prompt = am.open_prompt(live.asking)["prompt"]["id"]
    am.json("prompt", "answer", prompt, "--text", "Because.")
    live.finish()
    for task in (live.working, live.waiting, live.asking):
        until(lambda t=task: am.json("task", "show", t)["task"]["status"] not in _BEFORE)
    assert live.pids(live.working) == [pid]
    assert len(live.pids(live.waiting)) == 1
    [run] = am.json("run", "list", "--task", live.working)
    assert (run["status"], run["outcome"], run["attempt"]) == ("completed", "pr_ready", 1)
