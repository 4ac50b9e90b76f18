"""Agents that are programs of one's own, and tasks for them."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

from agents_manager.domain.ids import TaskId
from agents_manager.domain.task import Project
from agents_manager.flow import agents, tasks
from agents_manager.flow.ports import Services, Tx
from agents_manager.settings import Settings
from bench.places import ANN

PATIENCE_S = 300.0

WRITES = """#!/bin/sh
set -e
echo "Some words." > made.txt
git add made.txt
git commit --quiet --message="Add some words"
printf 'I made a file.\\n<<<OUTCOME:pr_ready>>>\\n<<<END_PAYLOAD>>>\\n'
"""
SLEEPS = """#!/bin/sh
exec sleep 600
"""


def install(settings: Settings, program: str, at_once: int) -> Path:
    """Makes a program the agent of all runs; returns where it lies."""
    settings.home.mkdir(parents=True, exist_ok=True)
    path = settings.home / "agent.sh"
    path.write_text(program)
    path.chmod(0o700)
    config = {
        "defaultAgentType": "program",
        "agents": {"program": {"adapter": "command", "command": [str(path)]}},
        "limits": {"host": at_once},
    }
    (settings.home / "config.json").write_text(json.dumps(config))
    return path


async def project_of(s: Services, repo: Path) -> Project:
    return await agents.consent(s, await tasks.add_project(s, repo, None, None), given=True)


async def start(s: Services, project: Project) -> TaskId:
    task = await tasks.create(s, project, tasks.NewTask(title="Words", pipeline="simple"), ANN)
    await tasks.move(s, task.id, ANN)
    return task.id


class Reviews:
    """Tells when tasks can be merged: the pull request is open, and so is its review."""

    def __init__(self, s: Services) -> None:
        self._store = s.store
        self._loop = asyncio.get_running_loop()
        self._written = asyncio.Event()
        s.store.after_commit(lambda: self._loop.call_soon_threadsafe(self._written.set))

    async def of(self, wanted: Sequence[TaskId]) -> None:
        left = list(wanted)
        async with asyncio.timeout(PATIENCE_S):
            while True:
                self._written.clear()
                left = [task for task in left if not await self._store.read(_check(task))]
                if not left:
                    return
                await self._written.wait()


def _check(task_id: TaskId):  # noqa: ANN202
    def ready(tx: Tx) -> bool:
        status = tx.tasks.get(task_id).status
        if status not in ("open", "in_progress", "review"):
            raise RuntimeError(f'a run ended in "{status}"')
        asked = any(p.type == "review" for p in tx.prompts.pending(task_id))
        return asked and tx.pulls.of_task(task_id) is not None

    return ready
