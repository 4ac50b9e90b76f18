"""A server with much to do: many agents at work, many who follow, retention meanwhile, and then
`kill -9`. `make bench QUESTIONS=load` says how fast it is."""

import asyncio
import json
import signal
import subprocess
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.am_program import PROGRAM, Am, document
from tests.followers import Follower

FOLLOWERS = 200
AGENTS = 50
WAITING = 50
EDITS = 200
PATIENCE_S = 300.0
READY_S = 60.0
"""The promise is 3 s on a machine with nothing else to do."""

ASKS = {"questions": [{"id": "q1", "question": "Which way?", "input_type": "text"}]}
AGENT = """#!/bin/sh
if [ -e "$HOME/ask" ]; then
    printf '<<<OUTCOME:needs_info>>>\\n%s\\n<<<END_PAYLOAD>>>\\n' "$(cat "$HOME/ask")"
    exit
fi
echo $$ >> "$HOME/pid-$AM_TASK_ID"
n=0
until [ -e "$HOME/finish" ]; do n=$((n+1)); echo "line $n"; sleep 1; done
printf '<<<OUTCOME:no_changes>>>\\n{"reason": "It is there."}\\n<<<END_PAYLOAD>>>\\n'
"""


@pytest.fixture
def am(tmp_path: Path) -> Generator[Am]:
    am = Am(tmp_path)
    am.make_repo()
    agent = am.home.parent / "agent.sh"
    agent.write_text(AGENT)
    agent.chmod(0o700)
    config = json.loads((am.home / "config.json").read_text())
    config |= {
        "defaultAgentType": "mine",
        "agents": {"mine": {"adapter": "command", "command": [str(agent)]}},
        "limits": {"host": AGENTS},
    }
    (am.home / "config.json").write_text(json.dumps(config))
    yield am
    # Whatever came of the test, the agents go.
    (Path(am.env["HOME"]) / "finish").touch()


@contextmanager
def server(am: Am) -> Generator[tuple[httpx.Client, int]]:
    """Killed at the end."""
    with (am.home.parent / "server.log").open("ab") as log:
        process = subprocess.Popen(
            [PROGRAM, "serve", "--port", "0", "--json"],
            stdout=subprocess.PIPE,
            stderr=log,
            env=am.env,
            text=True,
        )
    try:
        said = document(process)
        token = Path(said["token_file"]).read_text().strip()
        with httpx.Client(
            base_url=said["address"],
            headers={"Authorization": f"Bearer {token}"},
            timeout=60,
            trust_env=False,
        ) as api:
            yield api, process.pid
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()


def asked(api: httpx.Client, method: str, path: str, **more: Any) -> Any:
    response = api.request(method, f"/api/v1{path}", **more)
    assert response.is_success, response.text
    return response.json()


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.1)


def start(api: httpx.Client, number: int) -> list[str]:
    made: list[str] = []
    for n in range(number):
        new = {"project": "shop", "title": f"Task {n}", "pipeline": "simple"}
        made.append(asked(api, "POST", "/tasks", json=new)["task"]["id"])
        asked(api, "POST", f"/tasks/{made[-1]}/start")
    return made


async def follow(api: httpx.Client, tasks: list[str]) -> None:
    """While things happen to the tasks and retention is at work, everybody gets all of it once."""
    address, bearer = str(api.base_url), api.headers["Authorization"]
    everybody = [Follower(tasks[n % AGENTS] if n % 2 else None) for n in range(FOLLOWERS)]
    following = [asyncio.create_task(one.follow(address, bearer)) for one in everybody]
    await asyncio.gather(*(one.there.wait() for one in everybody))

    def work() -> None:
        for n in range(EDITS):
            change = {"objective": f"No. {n}"}
            asked(api, "PATCH", f"/tasks/{tasks[n % AGENTS]}", json=change)
            if n % 50 == 0:
                asked(api, "POST", "/retention")

    await asyncio.to_thread(work)
    written = {task: asked(api, "GET", f"/tasks/{task}/events?limit=500") for task in tasks}
    edits = {
        task: [e["id"] for e in page["items"] if e["type"] == "task.edited"]
        for task, page in written.items()
    }
    in_all = sorted(id for ids in edits.values() for id in ids)
    assert len(in_all) == EDITS
    async with asyncio.timeout(60):
        while not all(one.ids and one.ids[-1] >= in_all[-1] for one in everybody[::2]):
            await asyncio.sleep(0.1)
    for one in following:
        one.cancel()
    await asyncio.gather(*following, return_exceptions=True)
    for one in everybody:
        assert one.ids == sorted(set(one.ids))
        due = in_all if one.task is None else edits[one.task]
        assert [id for id in one.ids if id in set(in_all)] == due


def handles(pid: int) -> int:
    """The runners that a server holds: of each it adopted, it has a handle of the process."""
    links = [handle.readlink() for handle in Path(f"/proc/{pid}/fd").iterdir()]
    return sum("pidfd" in str(link) for link in links)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_many_agents_and_followers_and_a_server_that_is_killed(am: Am) -> None:
    user = Path(am.env["HOME"])
    (user / "ask").write_text(json.dumps(ASKS))
    am.json("project", "add", ".", "--name", "shop")
    am.json("project", "consent", "shop")
    with server(am) as (api, _):
        start(api, WAITING)
        until(lambda: asked(api, "GET", "/prompts")["total"] == WAITING)
        (user / "ask").unlink()
        tasks = start(api, AGENTS)
        pids = [user / f"pid-{task}" for task in tasks]
        until(lambda: all(pid.exists() for pid in pids))
        asyncio.run(follow(api, tasks))

    begun = time.monotonic()
    with server(am) as (api, pid):
        until(lambda: all(p["ok"] for p in asked(api, "GET", "/health")["parts"][:2]))
        until(lambda: handles(pid) >= AGENTS)
        assert time.monotonic() - begun < READY_S
        (user / "finish").touch()
        until(lambda: not asked(api, "GET", "/runs?live=true")["items"])
        runs = [asked(api, "GET", f"/runs?task={task}")["items"] for task in tasks]
        assert {run["status"] for [run] in runs} == {"completed"}
        assert {len(pid.read_text().splitlines()) for pid in pids} == {1}, "started twice"
        assert asked(api, "GET", "/prompts")["total"] >= WAITING
    assert "Traceback" not in (am.home.parent / "server.log").read_text()
