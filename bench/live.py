"""What does a run take in memory while its agent is at work? The runner with a program that sleeps,
the growth of the server by each such run, and what stands beside the binaries of Codex and Claude
Code, which wait for a model that says nothing.

By RSS, which counts a page again for every process that shares it. PSS stands beside: there each
has its share, so that the numbers add up to what the machine has less."""

import asyncio
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from codex_cli_bin import bundled_codex_path

from agents_manager import bootstrap
from agents_manager.settings import Settings
from agents_manager.testing.scripted_model import (
    CODEX_KEY,
    CODEX_MODEL,
    Hang,
    ModelServer,
    Say,
    codex_settings,
)
from bench import commands, programs
from bench.places import place
from bench.rows import Row

RUNS = 20
SETTLE_S = 3.0
PATIENCE_S = 60.0
GOAL_PROGRAM_MB = 12
GOAL_SERVER_MB = 1
GOAL_CLAUDE_MB = 75
SCENARIO = "silent"


def run() -> list[Row]:
    with ModelServer() as model:
        model.script(SCENARIO, [Hang(Say("Never said."))])
        os.environ.update(
            ANTHROPIC_BASE_URL=model.url(SCENARIO), ANTHROPIC_API_KEY="scripted", **{CODEX_KEY: "x"}
        )
        codex = {
            "adapter": "codex",
            "command": [str(bundled_codex_path())],
            "model": CODEX_MODEL,
            "settings": codex_settings(model, SCENARIO),
            "env": [CODEX_KEY],
        }
        claude = {"adapter": "claude-code", "model": "claude-sonnet-4-5"}
        return [
            *asyncio.run(_programs()),
            asyncio.run(_beside(model, "Codex", codex, "codex", GOAL_PROGRAM_MB)),
            asyncio.run(_beside(model, "Claude Code", claude, "claude", GOAL_CLAUDE_MB)),
        ]


async def _programs() -> list[Row]:
    with place() as (settings, repo):
        commands.install(settings, commands.SLEEPS, RUNS + 1)
        with programs.serve(settings.home) as server:
            own = psutil.Process(server.pid)
            async with bootstrap.client(settings) as program:
                s = program.services
                project = await commands.project_of(s, repo)
                # The first run imports what all the others then find.
                await commands.start(s, project)
                await _until(lambda: _asleep(own) == 1)
                before = _taken([own]).rss
                for _ in range(RUNS):
                    await commands.start(s, project)
                await _until(lambda: _asleep(own) == RUNS + 1)
                grown = (_taken([own]).rss - before) / RUNS
                taken = _taken(own.children(recursive=True))
    each = taken.rss / (RUNS + 1)
    return [
        Row(
            name=f"a live run of a program with its runner, of {RUNS}",
            ours=f"{each:.1f} MB",
            beside=f"{taken.pss / (RUNS + 1):.1f} MB (PSS)",
            goal=f"<= {GOAL_PROGRAM_MB} MB",
            met=each <= GOAL_PROGRAM_MB,
        ),
        Row(
            name="the server's growth by each",
            ours=f"{grown:.2f} MB",
            beside=f"{before:.0f} MB (with one)",
            goal=f"<= {GOAL_SERVER_MB} MB",
            met=grown <= GOAL_SERVER_MB,
        ),
    ]


async def _beside(
    model: ModelServer, name: str, agent: Mapping[str, Any], binary: str, goal: int
) -> Row:
    """All that a run of this agent needs beside the agent's own program."""
    seen = len(model.requests(SCENARIO))
    with place() as (settings, repo):
        commands.configure(settings, agent, 1)
        with programs.serve(settings.home) as server:
            own = psutil.Process(server.pid)
            await _start_one(settings, repo)
            model.wait_for(SCENARIO, lambda all: any(r.state == "hanging" for r in all[seen:]))
            await asyncio.sleep(SETTLE_S)
            family = own.children(recursive=True)
            theirs = _taken([one for one in family if _program(one) == binary])
            ours = _taken([one for one in family if _program(one) != binary])
    return Row(
        name=f"a live run of {name}, beside its program",
        ours=f"{ours.rss:.1f} MB",
        beside=f"{ours.pss:.1f} MB (PSS), {theirs.rss:.0f} MB ({binary})",
        goal=f"<= {goal} MB",
        met=ours.rss <= goal,
    )


async def _start_one(settings: Settings, repo: Path) -> None:
    async with bootstrap.client(settings) as program:
        project = await commands.project_of(program.services, repo)
        await commands.start(program.services, project)


async def _until(ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not ready():
        if time.monotonic() > deadline:
            raise RuntimeError("the agents did not all start")
        await asyncio.sleep(0.2)
    await asyncio.sleep(SETTLE_S)


def _asleep(server: psutil.Process) -> int:
    return sum(_program(one) == "sleep" for one in server.children(recursive=True))


def _program(process: psutil.Process) -> str | None:
    """None for one that has ended in the meantime, as a git does."""
    try:
        return Path(process.exe()).name
    except psutil.NoSuchProcess:
        return None


@dataclass(frozen=True, slots=True)
class Taken:
    """Megabytes."""

    rss: float
    pss: float


def _taken(processes: Sequence[psutil.Process]) -> Taken:
    found = [one.memory_full_info() for one in processes]
    return Taken(sum(f.rss for f in found) / 1024**2, sum(f.pss for f in found) / 1024**2)
