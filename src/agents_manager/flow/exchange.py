"""A task as a document that can be kept or given to another project. It carries the words of the
task; where it stood is told, but a task that is imported begins at the beginning."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from agents_manager.domain import fields
from agents_manager.domain.task import Actor, Project, Task
from agents_manager.errors import InvalidInput, NotFound, closest
from agents_manager.flow import pipelines, tasks
from agents_manager.flow.ports import Services, Tx

FORMAT = "agents-manager/task"
VERSION = 1
KEYS = ("format", "version", "task", "about")
WORDS = (*fields.EDITABLE, "pipeline")
LISTS = ("tags", "acceptance_criteria", "dependencies")


@dataclass(frozen=True, slots=True)
class Imported:
    task: Task
    left_out: tuple[str, ...]
    """Dependencies that are not known here."""


def export(tx: Tx, task: Task) -> dict[str, Any]:
    words = {name: getattr(task, name) for name in fields.EDITABLE}
    return {
        "format": FORMAT,
        "version": VERSION,
        "task": {**words, "pipeline": pipelines.plain(task.pipeline_id)},
        "about": {
            "id": task.id,
            "project": tx.projects.get(task.project_id).name,
            "status": task.status,
            "plan": task.plan,
            "created_at": task.created_at,
            "updated_at": task.updated_at,
        },
    }


async def import_(
    s: Services, project: Project, document: Mapping[str, Any], actor: Actor
) -> Imported:
    """A new task with the words of the document; dependencies that are not known here are left
    out."""
    words = _words(document)
    wanted: list[str] = list(words.pop("dependencies", ()))
    known = [name for name in wanted if await s.store.read(lambda tx, n=name: _is_known(tx, n))]
    new = tasks.NewTask(**words, dependencies=known)
    task = await tasks.create(s, project, new, actor)
    return Imported(task, tuple(name for name in wanted if name not in known))


def _is_known(tx: Tx, name: str) -> bool:
    try:
        tx.tasks.find(name)
    except (NotFound, InvalidInput):
        return False
    return True


def _words(document: Mapping[str, Any]) -> dict[str, Any]:
    told = (document.get("format"), document.get("version"))
    if told != (FORMAT, VERSION):
        raise InvalidInput(
            f'The document is no task: "format" must be "{FORMAT}" and "version" {VERSION}.'
        )
    given = document.get("task")
    if not isinstance(given, dict):
        raise InvalidInput("The task cannot be imported.", ["task: an object is missing"])
    words = cast("dict[str, Any]", given)
    problems = [*_unknown("", document, KEYS), *_unknown("task.", words, WORDS)]
    problems += [f"task.{n}: {why}" for n, v in words.items() if (why := _fault(n, v))]
    if "title" not in words:
        problems.append("task.title: it is missing")
    if problems:
        raise InvalidInput("The task cannot be imported.", problems)
    return dict(words)


def _unknown(place: str, given: Mapping[str, Any], known: tuple[str, ...]) -> list[str]:
    names = [name for name in given if name not in known]
    return [f"{place}{n}: there is no such key.{closest(n, known)}" for n in names]


def _fault(name: str, value: object) -> str | None:
    if name not in WORDS:
        return None
    if name in LISTS:
        texts = isinstance(value, list) and all(isinstance(v, str) for v in cast("Any", value))
        return None if texts else "it must be a list of texts"
    return None if isinstance(value, str) else "it must be a text"
