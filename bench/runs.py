"""What does a whole run cost, from a new task until its work can be merged? Beside a script that
does the same git work by hand with the same agent: a branch with a worktree, the agent, then what
it committed and left. First one at a time in a small and a large repository, then many at once."""

import asyncio
import statistics
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

from agents_manager import bootstrap
from bench import commands
from bench.places import place
from bench.rows import Row

SIZES = ((50, 25, 3.0), (20_000, 5, 1.2))
"""Files in the repository, how many runs are measured, and the goal."""
AT_ONCE = 50

# Git cannot add two worktrees at a time: without the lock, some of fifty scripts fail.
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
"""


def run() -> list[Row]:
    alone = [asyncio.run(_alone(*size)) for size in SIZES]
    return [*alone, asyncio.run(_at_once())]


async def _alone(files: int, times: int, goal: float) -> Row:
    ours: list[float] = []
    theirs: list[float] = []
    with place(files) as (settings, repo):
        agent = commands.install(settings, commands.WRITES, 1)
        async with bootstrap.worker(settings) as program:
            s = program.services
            project = await commands.project_of(s, repo)
            for number in range(times + 1):
                begun = time.time()
                ours.append(await commands.mergeable(s, [await commands.start(s, project)]) - begun)
                theirs.append(await asyncio.to_thread(_by_hand, repo, [number], agent))
    # The first run asks the login shell for its PATH, and finds files cold.
    own, other = statistics.median(ours[1:]), statistics.median(theirs[1:])
    return _row(f"task -> mergeable, {files:,} files, median of {times}", own, other, goal)


async def _at_once() -> Row:
    with place(SIZES[0][0]) as (settings, repo):
        agent = commands.install(settings, commands.WRITES, AT_ONCE)
        async with bootstrap.worker(settings) as program:
            s = program.services
            project = await commands.project_of(s, repo)
            await commands.mergeable(s, [await commands.start(s, project)])
            begun = time.time()
            started = [await commands.start(s, project) for _ in range(AT_ONCE)]
            ours = await commands.mergeable(s, started) - begun
            theirs = await asyncio.to_thread(_by_hand, repo, range(AT_ONCE), agent)
    return _row(f"{AT_ONCE} runs at once, {SIZES[0][0]} files", ours, theirs, None)


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
