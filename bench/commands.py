"""Agents that are no script of ours, mostly programs of one's own, and tasks for them."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agents_manager.domain.ids import TaskId
from agents_manager.domain.task import Project
from agents_manager.flow import agents, tasks
from agents_manager.flow.ports import Services, Tx
from agents_manager.settings import Settings
from bench.places import ANN, QUESTION

PATIENCE_S = 300.0

WRITES = """#!/bin/sh
set -e
echo "Some words." > made.txt
git add made.txt
git commit --quiet --message="Add some words"
printf 'I made a file.\\n<<<OUTCOME:pr_ready>>>\\n<<<END_PAYLOAD>>>\\n'
"""
ASKS = f"""#!/bin/sh
echo "I need to know something."
echo '<<<OUTCOME:needs_info>>>'
echo '{json.dumps(QUESTION)}'
echo '<<<END_PAYLOAD>>>'
"""
"""Asks one question whenever it runs."""
SLEEPS = """#!/bin/sh
exec sleep 600
"""


def install(settings: Settings, program: str, at_once: int) -> Path:
    """Makes a program the agent of all runs; returns where it lies."""
    settings.home.mkdir(parents=True, exist_ok=True)
    path = settings.home / "agent.sh"
    path.write_text(program)
    path.chmod(0o700)
    configure(settings, {"adapter": "command", "command": [str(path)]}, at_once)
    return path


def configure(settings: Settings, agent: Mapping[str, Any], at_once: int) -> None:
    """Makes it the agent of all runs; other settings stay as they are."""
    settings.home.mkdir(parents=True, exist_ok=True)
    file = settings.home / "config.json"
    before = json.loads(file.read_text()) if file.exists() else {}
    config = {
        "defaultAgentType": "measured",
        "agents": {"measured": agent},
        "limits": {"host": at_once},
    }
    file.write_text(json.dumps({**before, **config}))


async def project_of(s: Services, repo: Path) -> Project:
    return await agents.consent(s, await tasks.add_project(s, repo, None, None), given=True)


async def start(s: Services, project: Project) -> TaskId:
    task = await tasks.create(s, project, tasks.NewTask(title="Words", pipeline="simple"), ANN)
    await tasks.move(s, task.id, ANN)
    return task.id


async def mergeable(s: Services, wanted: Sequence[TaskId]) -> float:
    """When the last of the tasks could be merged: its pull request was open, and so was its
    review. Told by the events, so that asking seldom, which disturbs less, loses nothing."""
    times: dict[TaskId, float] = {}
    async with asyncio.timeout(PATIENCE_S):
        while True:
            for task in set(wanted) - set(times):
                opened = await s.store.read(lambda tx, task=task: _opened(tx, task))
                times |= {task: opened} if opened else {}
            if len(times) == len(wanted):
                return max(times.values())
            await asyncio.sleep(0.05)


def _opened(tx: Tx, task_id: TaskId) -> float | None:
    status = tx.tasks.get(task_id).status
    if status not in ("open", "in_progress", "review"):
        raise RuntimeError(f'a run ended in "{status}"')
    asked = [p.created_at for p in tx.prompts.pending(task_id) if p.type == "review"]
    git = tx.events.newest(task_id, "git", 10)
    created = [one.time for one in git if one.type == "pull_request.created"]
    return max(*asked, *created).timestamp() if asked and created else None
