"""What a few words or the beginning of an id may mean."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from agents_manager.domain.task import Task
from agents_manager.errors import InvalidInput, NotFound
from agents_manager.flow import asking, pipelines
from agents_manager.flow.ports import Tx

Kind = Literal["task", "prompt", "run", "project", "pipeline"]
MOST_TASKS = 500
"""Of those with the longest word, among which the other words are looked for."""


@dataclass(frozen=True, slots=True)
class Hit:
    kind: Kind
    id: str
    title: str
    detail: str
    task_id: str | None = None


def search(tx: Tx, text: str, limit: int) -> list[Hit]:
    """The most specific first: what an id names, then places, then what words are found in."""
    words = text.casefold().split()
    if not words:
        return []
    by_word = (_places(tx, words), _prompts(tx, words), _tasks(tx, words))
    unique: dict[tuple[Kind, str], Hit] = {}
    for hit in chain(_by_id(tx, text.strip()), *by_word):
        unique.setdefault((hit.kind, hit.id), hit)
        if len(unique) == limit:
            break
    return list(unique.values())


def _by_id(tx: Tx, text: str) -> Iterator[Hit]:
    for find in (_task, _run, _prompt):
        try:
            yield find(tx, text)
        except (NotFound, InvalidInput):
            continue


def _task(tx: Tx, text: str) -> Hit:
    return _of_task(tx, tx.tasks.find(text))


def _run(tx: Tx, text: str) -> Hit:
    run = tx.runs.find(text)
    detail = f"{run.mode}, {run.status}"
    return Hit("run", run.id, tx.tasks.get(run.task_id).title, detail, run.task_id)


def _prompt(tx: Tx, text: str) -> Hit:
    prompt = tx.prompts.find(text)
    title = tx.tasks.get(prompt.task_id).title
    return Hit("prompt", prompt.id, asking.summary(prompt), title, prompt.task_id)


def _places(tx: Tx, words: list[str]) -> Iterator[Hit]:
    for project in tx.projects.all():
        if _holds(project.name, words):
            yield Hit("project", project.id, project.name, project.path)
    for pipeline in tx.pipelines.all():
        if _holds(f"{pipelines.plain(pipeline.id)} {pipeline.name}", words):
            yield Hit("pipeline", pipeline.id, pipeline.name, pipelines.plain(pipeline.id))


def _prompts(tx: Tx, words: list[str]) -> Iterator[Hit]:
    for prompt in tx.prompts.pending():
        title, asks = tx.tasks.get(prompt.task_id).title, asking.summary(prompt)
        if _holds(f"{title} {asks}", words):
            yield Hit("prompt", prompt.id, asks, title, prompt.task_id)


def _tasks(tx: Tx, words: list[str]) -> Iterator[Hit]:
    longest = max(words, key=len)
    page = tx.tasks.page(project=None, status=None, after=None, title=longest, limit=MOST_TASKS)
    yield from (_of_task(tx, task) for task in page if _holds(task.title, words))


def _of_task(tx: Tx, task: Task) -> Hit:
    project = tx.projects.get(task.project_id).name
    return Hit("task", task.id, task.title, f"{project}, {task.status}", task.id)


def _holds(text: str, words: list[str]) -> bool:
    known = text.casefold()
    return all(word in known for word in words)
