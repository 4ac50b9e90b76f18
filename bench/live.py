"""What does a run take in memory while its agent is at work? The runner with a program that sleeps,
the growth of the server by each such run, and what stands beside the binaries of Codex and Claude
Code, which wait for a model that says nothing.

At the sandbox level that the machine has by default, and without a sandbox. What is compared with
the goal is PSS, in which processes that share a page have a part of it each, so that the numbers
add up to what the machine has less. RSS, which counts such a page for every process, stands
beside."""

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil
from codex_cli_bin import bundled_codex_path

from agents_manager import bootstrap
from agents_manager.domain.run import UNSANDBOXED
from agents_manager.sandbox.levels import probe
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
AGENTS = 4
"""Runs of a real agent at a time. The program that forks runners is one for all of them."""
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
        found = probe()
        print(f"The default level of the sandbox is {found.level}: {found.why}", file=sys.stderr)
        rows: list[Row] = []
        for level, told in ("auto", f"level {found.level}, the default"), ("none", "level none"):
            used = level if level == UNSANDBOXED else found.level
            rows += [replace(row, sandbox=used) for row in asyncio.run(_programs(level, told))]
            for name, agent, program, goal in (
                ("Codex", codex, "codex", GOAL_PROGRAM_MB),
                ("Claude Code", claude, "claude", GOAL_CLAUDE_MB),
            ):
                row = _beside(model, _Measured(f"{name}, {told}", agent, program, goal), level)
                rows.append(replace(asyncio.run(row), sandbox=used))
        return rows


async def _programs(level: str, told: str) -> list[Row]:
    with place() as (settings, repo):
        commands.install(settings, commands.SLEEPS, RUNS + 1)
        _sandbox(settings, level)
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
                family = own.children(recursive=True)
                taken = _taken([one for one in family if _program(one) != "sleep"])
    each = taken.pss / (RUNS + 1)
    return [
        Row(
            name=f"a live run beside its program, of {RUNS} ({told})",
            ours=f"{each:.1f} MB (PSS)",
            beside=f"{taken.rss / (RUNS + 1):.1f} MB (RSS)",
            goal=f"<= {GOAL_PROGRAM_MB} MB",
            met=each <= GOAL_PROGRAM_MB,
            timed=False,
        ),
        Row(
            name=f"the server's growth by each ({told})",
            ours=f"{grown:.2f} MB",
            beside=f"{before:.0f} MB (with one)",
            goal=f"<= {GOAL_SERVER_MB} MB",
            met=grown <= GOAL_SERVER_MB,
            timed=False,
        ),
    ]


@dataclass(frozen=True, slots=True)
class _Measured:
    name: str
    agent: Mapping[str, Any]
    program: str
    goal: int


async def _beside(model: ModelServer, measured: _Measured, level: str) -> Row:
    """What each of some runs of this agent needs beside the agent's own program."""
    seen = len(model.requests(SCENARIO))
    with place() as (settings, repo):
        commands.configure(settings, measured.agent, AGENTS)
        _sandbox(settings, level)
        with programs.serve(settings.home) as server:
            own = psutil.Process(server.pid)
            await _start_some(settings, repo)
            model.wait_for(
                SCENARIO, lambda all: sum(r.state == "hanging" for r in all[seen:]) == AGENTS
            )
            await asyncio.sleep(SETTLE_S)
            family = own.children(recursive=True)
            theirs = _taken([one for one in family if _program(one) == measured.program])
            ours = _taken([one for one in family if _program(one) != measured.program])
    each = ours.pss / AGENTS
    return Row(
        name=f"a live run of {measured.name}, beside its program, of {AGENTS}",
        ours=f"{each:.1f} MB (PSS)",
        beside=(
            f"{ours.rss / AGENTS:.1f} MB (RSS), {theirs.rss / AGENTS:.0f} MB ({measured.program})"
        ),
        goal=f"<= {measured.goal} MB",
        met=each <= measured.goal,
        timed=False,
    )


def _sandbox(settings: Settings, level: str) -> None:
    file = settings.home / "config.json"
    config = json.loads(file.read_text())
    file.write_text(json.dumps({**config, "sandbox": {"level": level}}))


async def _start_some(settings: Settings, repo: Path) -> None:
    async with bootstrap.client(settings) as program:
        project = await commands.project_of(program.services, repo)
        for _ in range(AGENTS):
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
