"""What does a whole run cost, from a new task until its work is merged? Measured as its users run
it: a server with default settings, reached over HTTP. The same server with the sandbox switched off
stands beside it, and a script that does the same git work by hand with the same agent: a branch
with a worktree, the agent, what it committed and left, and the merge."""

import asyncio
import json
import statistics
import subprocess
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
from httpx_sse import aconnect_sse

from agents_manager import bootstrap
from agents_manager.settings import Settings
from bench import commands, programs
from bench.places import place
from bench.rows import Row

SIZES = ((50, 15, 3.0), (20_000, 5, 1.2))
"""Files in the repository, how many runs are measured, and the goal."""
AT_ONCE = 20
GOAL_A_MINUTE = 120
PATIENCE_S = 600.0
# Each commits another file, so that every merge has something to merge.
AGENT = commands.WRITES.replace("made.txt", "made-$(date +%s%N).txt", 1).replace(
    "git add made.txt", "git add ."
)

# Git cannot add two worktrees at a time: without the lock, some of many scripts fail. The
# merge brings the checkout up to date, as the product's does.
BY_HAND = """#!/bin/bash
set -euo pipefail
repo=$1 tree=$2 agent=$3 branch="hand/${2##*/}"
git -C "$repo" rev-parse --quiet --verify "refs/heads/main^{commit}" > "$tree.base"
flock "$repo/.git" git -C "$repo" worktree add --quiet --lock -b "$branch" "$tree" main
cd "$tree"
"$agent" > "$tree.said"
grep --quiet "<<<OUTCOME:pr_ready>>>" "$tree.said"
test -z "$(git status --porcelain)"
git rev-parse --verify "refs/heads/$branch" > "$tree.head"
git log --format="%H %s" "main..$branch" > "$tree.log"
git diff --numstat "main...$branch" > "$tree.numstat"
git worktree unlock "$tree"
flock "$repo/.git" git -C "$repo" merge --quiet --no-ff --message=Merge "$branch"
"""


@dataclass(frozen=True, slots=True)
class Server:
    http: httpx.AsyncClient
    project_id: str


def run() -> list[Row]:
    level = bootstrap.LEVELS.found().level
    alone = [row for size in SIZES for row in asyncio.run(_alone(level, *size))]
    return [*alone, *asyncio.run(_at_once(level))]


async def _alone(level: str, files: int, times: int, goal: float) -> list[Row]:
    names = ("auto", "none")
    taken: dict[str, list[float]] = {name: [] for name in (*names, "hand")}
    with _server("auto", files, 1) as (auto, repo, agent), _server("none", files, 1) as (none, *_):
        servers = {"auto": await auto(), "none": await none()}
        for number in range(times + 1):
            for name in names:
                taken[name].append(await _merged(servers[name], 1))
            taken["hand"].append(await asyncio.to_thread(_by_hand, repo, [number], agent))
        for server in servers.values():
            await server.http.aclose()
    # The first run asks the login shell for its PATH, and finds files cold.
    middle = {name: statistics.median(values[1:]) for name, values in taken.items()}
    title = f"task -> merged, {files:,} files, median of {times}"
    rows = (("auto", f"sandbox auto ({level})", goal), ("none", "sandbox none", None))
    return [
        replace(
            _row(f"{title}, {label}", middle[name], middle["hand"], limit),
            sandbox=level if name == "auto" else name,
        )
        for name, label, limit in rows
    ]


async def _at_once(level: str) -> list[Row]:
    rows: list[Row] = []
    for name, goal in (("auto", GOAL_A_MINUTE), ("none", None)):
        with _server(name, SIZES[0][0], AT_ONCE) as (connected, repo, agent):
            server = await connected()
            await _merged(server, 1)
            ours = await _merged(server, AT_ONCE)
            theirs = await asyncio.to_thread(_by_hand, repo, range(AT_ONCE), agent)
            await server.http.aclose()
        label = f"auto ({level})" if name == "auto" else name
        a_minute = 60 * AT_ONCE / ours
        rows.append(
            Row(
                name=f"{AT_ONCE} tasks at once -> merged, {SIZES[0][0]} files, sandbox {label}",
                ours=f"{a_minute:,.0f} a minute",
                beside=f"{60 * AT_ONCE / theirs:,.0f} a minute (scripts by hand)",
                ratio=ours / theirs,
                goal="" if goal is None else f">= {goal} a minute",
                met=None if goal is None else a_minute >= goal,
                sandbox=level if name == "auto" else name,
            )
        )
    return rows


@contextmanager
def _server(level: str, files: int, at_once: int) -> Generator[tuple[Any, Path, Path]]:
    """A server with default settings, except for the level of its sandbox if that is not `auto`."""
    with place(files) as (settings, repo):
        agent = commands.install(settings, AGENT, at_once)
        if level != "auto":
            file = settings.home / "config.json"
            file.write_text(
                json.dumps({**json.loads(file.read_text()), "sandbox": {"level": level}})
            )
        with programs.serve(settings.home) as server:

            async def connected() -> Server:
                return await _connected(settings, server.address, repo)

            yield connected, repo, agent


async def _connected(settings: Settings, address: str, repo: Path) -> Server:
    async with bootstrap.client(settings) as program:
        project = await commands.project_of(program.services, repo)
    token = (settings.home / "token").read_text().strip()
    headers = {"Authorization": f"Bearer {token}"}
    http = httpx.AsyncClient(base_url=f"{address}/api/v1", headers=headers, timeout=60)
    return Server(http, project.id)


async def _merged(server: Server, count: int) -> float:
    """Seconds from the first request until the last of the new tasks is merged. The reviews are
    answered as soon as the stream of events tells of them."""
    stream = aconnect_sse(server.http, "GET", "/events/stream")
    async with asyncio.timeout(PATIENCE_S), stream as source, asyncio.TaskGroup() as group:
        begun = time.perf_counter()
        starting = [group.create_task(_start(server)) for _ in range(count)]
        done: set[str] = set()
        async for sent in source.aiter_sse():
            if not sent.data:
                continue
            event = sent.json()
            if event["type"] == "prompt_created":
                if event["data"]["prompt_type"] != "review":
                    raise RuntimeError(f"a run asked: {event['data']}")
                order = f"/tasks/{event['task_id']}/review"
                group.create_task(_post(server, order, {"decision": "approved"}))
            if event["data"].get("to") == "done":
                done.add(event["task_id"])
            if all(each.done() and each.result() in done for each in starting):
                return time.perf_counter() - begun
    raise RuntimeError("the stream of events ended")


async def _start(server: Server) -> str:
    new = {"project": server.project_id, "title": "Words", "pipeline": "simple"}
    task = await _post(server, "/tasks", new)
    await _post(server, f"/tasks/{task['id']}/start", {})
    return task["id"]


async def _post(server: Server, path: str, body: dict[str, Any]) -> Any:
    response = await server.http.post(path, json=body)
    response.raise_for_status()
    return response.json()


def _row(name: str, ours: float, theirs: float, goal: float | None) -> Row:
    return Row(
        name=name,
        ours=f"{ours * 1000:,.0f} ms",
        beside=f"{theirs * 1000:,.0f} ms (a script by hand)",
        ratio=ours / theirs,
        goal="" if goal is None else f"<= {goal:g} x",
        met=None if goal is None else ours / theirs <= goal,
    )


def _by_hand(repo: Path, numbers: Iterable[int], agent: Path) -> float:
    """Seconds that as many scripts take at once."""
    folder = repo.parent / "by-hand"
    folder.mkdir(exist_ok=True)
    script = ("bash", "-c", BY_HAND, "by-hand", repo)
    begun = time.perf_counter()
    started = [subprocess.Popen([*script, folder / str(number), agent]) for number in numbers]
    codes = [process.wait() for process in started]
    taken = time.perf_counter() - begun
    assert not any(codes), codes
    return taken
