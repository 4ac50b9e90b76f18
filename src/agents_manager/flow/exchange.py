"""A task as a document that can be kept or given to another project. It carries the words of the
task; where it stood is told, but a task that is imported begins at the beginning."""

from collections.abc import Mapping
from typing import Any, cast

from agents_manager.domain import fields, strict_json
from agents_manager.domain.names import visible
from agents_manager.domain.task import Task
from agents_manager.domain.task_list import MAX_BYTES, Entry, Listed
from agents_manager.errors import closest
from agents_manager.flow import pipelines
from agents_manager.flow.ports import Tx

FORMAT = "agents-manager/task"
VERSION = 1
MAX_DEPTH = 32
SHOWN = 60
KEYS = ("format", "version", "task", "about")
WORDS = (*fields.EDITABLE, "pipeline")
LISTS = ("tags", "acceptance_criteria", "dependencies")


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


def read(text: str) -> Listed:
    """The document of a task, or a list of them."""
    try:
        value = strict_json.loads(text, max_bytes=MAX_BYTES, max_depth=MAX_DEPTH)
    except ValueError as error:
        return Listed(faults=[f"it is not valid JSON: {error}"])
    documents = cast("list[Any]", value) if isinstance(value, list) else [value]
    places = [f"document {n}" for n in range(1, len(documents) + 1)]
    faults = [
        f"{place}: {fault}"
        for place, document in zip(places, documents, strict=True)
        for fault in _faults(document)
    ]
    if faults or not documents:
        return Listed(faults=faults or ["there is no task in it"])
    ids = {_id(document): n for n, document in enumerate(documents)}
    entries = [_entry(p, d, ids) for p, d in zip(places, documents, strict=True)]
    return Listed(entries=entries, forgiving=True)


def _entry(place: str, document: Mapping[str, Any], ids: Mapping[str | None, int]) -> Entry:
    words = dict(document["task"])
    before: list[str] = list(words.pop("dependencies", ()))
    return Entry(
        place=place,
        pipeline=words.pop("pipeline", None),
        words=words,
        needs=tuple(ids[name] for name in before if name in ids),
        waits_for=tuple(name for name in before if name not in ids),
        source=f"task {_id(document)}" if _id(document) else None,
    )


def _id(document: Mapping[str, Any]) -> str | None:
    about = document.get("about")
    found = cast("dict[str, Any]", about).get("id") if isinstance(about, dict) else None
    return visible(found, SHOWN) if isinstance(found, str) else None


def _faults(document: Any) -> list[str]:
    if not isinstance(document, dict):
        return ["it is no object"]
    given = cast("dict[str, Any]", document)
    told = (given.get("format"), given.get("version"))
    if told != (FORMAT, VERSION):
        return [f'it is no task: "format" must be "{FORMAT}" and "version" {VERSION}']
    words: Any = given.get("task")
    if not isinstance(words, dict):
        return ["task: an object is missing"]
    task = cast("dict[str, Any]", words)
    problems = [*_unknown("", given, KEYS), *_unknown("task.", task, WORDS)]
    problems += [f"task.{n}: {why}" for n, v in task.items() if (why := _fault(n, v))]
    if "title" not in task:
        problems.append("task.title: it is missing")
    return problems


def _unknown(place: str, given: Mapping[str, Any], known: tuple[str, ...]) -> list[str]:
    names = [name for name in given if name not in known]
    return [f"{place}{n}: there is no such key.{closest(n, known)}" for n in names]


def _fault(name: str, value: object) -> str | None:
    if name not in WORDS:
        return None
    if name in LISTS:
        texts = isinstance(value, list) and all(isinstance(v, str) for v in cast("Any", value))
        return None if texts else "it must be a list of texts"
    if value is None and name in fields.OPTIONAL:
        return None
    return None if isinstance(value, str) else "it must be a text"
