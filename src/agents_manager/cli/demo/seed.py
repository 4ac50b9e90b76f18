"""The demo's sample data: a small repository, and tasks that the scripted agent brings to every
situation a person can meet. All of it is done by the ordinary functions."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from agents_manager.domain import plain_yaml
from agents_manager.domain.ids import TaskId
from agents_manager.domain.prompt import Prompt
from agents_manager.domain.task import Actor, ActorType, Project, Task
from agents_manager.flow import prompts, tasks
from agents_manager.flow.ports import Services, Tx
from agents_manager.scm.git import Place, git

PROJECT = "pantry"
ACTOR = Actor(type=ActorType.USER, name="demo", via="demo", admin=True)
POLL_S = 0.1
PATIENCE = 600
"""How often it is looked whether a task has come to its question."""
MAX_BYTES = 64 * 1024
MAX_DEPTH = 10


@dataclass(frozen=True, slots=True)
class Sample:
    new: tasks.NewTask
    after: Sequence[str]
    """Titles of the samples it depends on."""
    start: bool
    move: str | None
    answers: Sequence[Mapping[str, Any]]
    """What the demo itself answers before it leaves the task to the reader."""


async def seed(s: Services, home: Path) -> None:
    """Makes what is missing, also after an interruption; what a reader did is left alone."""
    project = await _project(s, home / PROJECT)
    known = {t.title: t.id for t in await s.store.read(lambda tx: _tasks(tx, project))}
    async with asyncio.TaskGroup() as group:
        for sample in samples():
            title = sample.new.title
            if title not in known:
                new = replace(sample.new, dependencies=[known[other] for other in sample.after])
                known[title] = (await tasks.create(s, project, new, ACTOR)).id
            group.create_task(_bring(s, sample, known[title]))


def samples() -> list[Sample]:
    folder = resources.files("agents_manager.cli.demo").joinpath("tasks")
    files = sorted(folder.iterdir(), key=lambda file: file.name)
    return [_sample(file.read_text(encoding="utf-8")) for file in files]


async def _project(s: Services, path: Path) -> Project:
    known = await s.store.read(lambda tx: tx.projects.by_path(str(path)))
    if known is not None:
        return known
    if not await asyncio.to_thread(path.joinpath(".git").exists):
        await _repository(path)
    return await tasks.add_project(s, path, PROJECT, None)


async def _repository(path: Path) -> None:
    files = resources.files("agents_manager.cli.demo").joinpath("repository")
    await asyncio.to_thread(_copy, files, path)
    await git(path, "init", "--quiet", "--initial-branch=main")
    place = Place(
        git_dir=path / ".git", work_tree=path, author=("Pantry", "pantry@example.invalid")
    )
    await git(place, "add", "--all")
    await git(place, "commit", "--quiet", "--message", "A shopping list")


def _copy(source: Traversable, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for entry in source.iterdir():
        # Folders with a dot are left out of packages and ignored by git.
        name = entry.name.replace("dot-", ".")
        if entry.is_dir():
            _copy(entry, target / name)
        else:
            target.joinpath(name).write_bytes(entry.read_bytes())


def _tasks(tx: Tx, project: Project) -> list[Task]:
    return tx.tasks.page(project=project.id, status=None, after=None, limit=500)


def _sample(text: str) -> Sample:
    _, head, description = text.split("---\n", 2)
    fields: dict[str, Any] = plain_yaml.loads(head, max_bytes=MAX_BYTES, max_depth=MAX_DEPTH)
    new = tasks.NewTask(
        title=fields["title"],
        description=description.strip(),
        type=fields.get("type", "feature"),
        priority=fields.get("priority", "medium"),
        tags=fields.get("tags", ()),
        acceptance_criteria=fields.get("criteria", ()),
        pipeline=fields.get("pipeline", "feature"),
    )
    return Sample(
        new,
        fields.get("after", ()),
        fields.get("start", False),
        fields.get("move"),
        fields.get("answers", ()),
    )


async def _bring(s: Services, sample: Sample, task_id: TaskId) -> None:
    """Starts a task and answers for the person, up to where the reader takes over."""
    begun, answered = await s.store.read(lambda tx: _progress(tx, task_id))
    if not begun and (sample.start or sample.move):
        await tasks.move(s, task_id, ACTOR, to=sample.move)
    if any(prompt.responded_via != ACTOR.via for prompt in answered):
        return
    for given in sample.answers[len(answered) :]:
        prompt = await _asked(s, task_id)
        if prompt is None:
            return
        await prompts.answer(s, prompt.id, given, ACTOR)


def _progress(tx: Tx, task_id: TaskId) -> tuple[bool, list[Prompt]]:
    answered = [p for p in tx.prompts.of_task(task_id) if p.responded_at]
    return bool(tx.history.of_task(task_id)), answered


async def _asked(s: Services, task_id: TaskId) -> Prompt | None:
    """The question that the task comes to; None when it takes too long."""
    for _ in range(PATIENCE):
        pending = await s.store.read(lambda tx: tx.prompts.pending(task_id))
        if pending:
            return pending[0]
        await asyncio.sleep(POLL_S)
    return None
