"""The server is killed with -9, again and again, while agents work: none of them is disturbed, and
nothing they print is lost or doubled, neither on disk nor for somebody who watches.

Not part of `make test`, because of its time; `make prove` kills it some times, `make soak` many."""

import json
import re
import signal
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests import figures
from tests.e2e.am_program import PROGRAM, Am, until
from tests.e2e.am_program import document as ready
from tests.repos import executable

KILLS = figures.size(10, 90)
AGENTS = 8
WATCH_S = 0.5

AGENT = """
trap 'echo disturbed' INT HUP
echo $$ >> "$HOME/pid-$AM_TASK_ID"
n=0
until [ -e "$HOME/finish" ]; do n=$((n+1)); echo "line $n"; sleep 0.02; done
echo $n > work-$AM_TASK_ID.txt
git add .; git -c user.name=Me -c user.email=me@x commit -qm Work
echo '<<<OUTCOME:pr_ready>>>'; echo '<<<END_PAYLOAD>>>'
"""


@contextmanager
def killed_server(am: Am) -> Generator[dict[str, Any]]:
    """A server that does not come to say goodbye."""
    command = [PROGRAM, "serve", "--port", "0", "--json"]
    log = am.home.parent / "server.log"
    with log.open("ab") as errors:
        server = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, env=am.env, text=True
        )
    try:
        yield ready(server, log)
    finally:
        server.send_signal(signal.SIGKILL)
        server.communicate()


class Watcher:
    """Somebody who watches a run, and comes back after the last thing seen."""

    def __init__(self, run: str) -> None:
        self.lines: list[str] = []
        self._run = run
        self._last: str | None = None

    def watch(self, server: dict[str, Any], seconds: float) -> None:
        token = Path(server["token_file"]).read_text().strip()
        headers = {"Authorization": f"Bearer {token}"}
        if self._last is not None:
            headers["Last-Event-ID"] = self._last
        url = f"{server['address']}/api/v1/runs/{self._run}/output"
        until_then = time.monotonic() + seconds
        with httpx.stream("GET", url, headers=headers, timeout=20, trust_env=False) as response:
            for line in response.iter_lines():
                if line.startswith("id: "):
                    self._last = line[4:]
                elif line.startswith("data: ") and "messages" in line:
                    self.lines += [m["text"] for m in json.loads(line[6:])["messages"]]
                elif line == "event: end" or (not line and time.monotonic() > until_then):
                    return


@pytest.fixture
def am(tmp_path: Path) -> Generator[Am]:
    am = Am(tmp_path)
    am.make_repo()
    with am.quickly():
        yield am
    # Whatever came of the test, the agents go.
    (Path(am.env["HOME"]) / "finish").touch()


@pytest.mark.timeout(0)
def test_agents_do_not_notice_that_the_server_dies(am: Am) -> None:
    finish = Path(am.env["HOME"]) / "finish"
    executable(am.repo / "agent.sh", AGENT)
    (am.repo / ".agents-manager").mkdir()
    agent = {"adapter": "command", "command": ["./agent.sh", "{prompt_file}"]}
    config = {"defaultAgentType": "mine", "agents": {"mine": agent}}
    (am.repo / ".agents-manager" / "config.json").write_text(json.dumps(config))
    am.json("project", "add", ".", "--name", "shop")
    am.json("project", "consent", "shop")
    titles = [f"Task {n}" for n in range(AGENTS)]
    tasks = [am.json("task", "create", t, "--pipeline", "simple")["task"]["id"] for t in titles]
    for task in tasks:
        am.json("task", "start", task)
    pids = [Path(am.env["HOME"]) / f"pid-{task}" for task in tasks]

    with killed_server(am):
        until(lambda: all(pid.exists() for pid in pids))
    runs = {task: am.json("run", "list", "--task", task)[0]["id"] for task in tasks}
    watcher = Watcher(runs[tasks[0]])
    for _ in range(KILLS - 1):
        with killed_server(am) as server:
            watcher.watch(server, WATCH_S)
    finish.touch()
    with am.serving("serve", "--port", "0") as server:
        watcher.watch(server, 60)
        for task in tasks:
            am.open_prompt(task)

    lines = 0
    for task, pid in zip(tasks, pids, strict=True):
        assert len(pid.read_text().splitlines()) == 1, "the agent was started twice"
        [run] = am.json("run", "list", "--task", task)
        assert (run["status"], run["outcome"]) == ("completed", "pr_ready")
        total = int(am.git("show", f"{run['branch']}:work-{task}.txt"))
        printed = (am.home / "jobs" / run["id"] / "1" / "output").read_text().splitlines()
        assert printed[:total] == [f"line {n}" for n in range(1, total + 1)]
        lines += total
        assert printed[total:] == ["<<<OUTCOME:pr_ready>>>", "<<<END_PAYLOAD>>>"]
        if task == tasks[0]:
            assert watcher.lines == printed
            assert total > KILLS
    figures.note("G-3", "kills", kills=KILLS, agents=AGENTS, lines=lines)
    assert not re.search("Traceback", (am.home.parent / "server.log").read_text())
