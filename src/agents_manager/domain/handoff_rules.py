"""What a handoff must hold: every violation of it at once, each with its field, what is wrong
there and what is right. One without any is completed and can be kept."""

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from pydantic import ValidationError

from agents_manager.domain.change import ChangedFile, FileStatus
from agents_manager.domain.document import path_fault
from agents_manager.domain.handoff import MAX_FILES, Handoff, HandoffOutcome
from agents_manager.domain.handoff_faults import (
    FIELDS,
    WHOLE,
    Violation,
    bounded,
    of_fields,
    shown,
)
from agents_manager.domain.ids import TaskId
from agents_manager.domain.stages.table import BY_OUTCOME

RECOMMENDED = ("patterns_discovered", "gotchas", "dependencies_for_next", "suggested_next_steps")
_FILES = ("files_created", "files_modified")
_NEEDS_BLOCKERS = ("partial", "failed", "blocked")
_ENDS_ILL = (
    *("changes_requested", "cannot_reproduce", "no_changes"),
    *("conflicts_detected", "merge_failed"),
)
_CAMEL = re.compile(r"(?<=[a-z])([A-Z])")
_ID_LENGTH = 10


@dataclass(frozen=True, slots=True)
class Reading:
    """What was given for a handoff; `handoff` is None where it has violations."""

    handoff: Handoff | None
    violations: tuple[Violation, ...] = ()


def check(
    value: Any,
    *,
    changed: Sequence[ChangedFile] | None = None,
    merged: Collection[str] = (),
    tasks: Mapping[str, TaskId | None] | None = None,
) -> Reading:
    """A value with the fields of a handoff, held to the rules. `changed` is what the run changed;
    of that, the paths in `merged` are the work of others, which need not be named. `tasks` are the
    tasks that it names (see `named_tasks`), None for those that there are not. What is not given is
    not compared."""
    if not isinstance(value, dict):
        wrong = "it is no mapping of fields"
        return Reading(None, (Violation(WHOLE, wrong, f"fields, such as {FIELDS}"),))
    given = _normal(cast("dict[Any, Any]", value))
    found = _conditions(given)
    handoff: Handoff | None = None
    try:
        handoff = _completed(Handoff.model_validate(given, by_name=True, by_alias=False))
        found += _twice(handoff)
    except ValidationError as error:
        found = [*of_fields(error), *found]
    if changed is not None:
        found += _compared(given, changed, merged)
    if tasks is not None:
        found += _unknown(given, tasks)
    if found or handoff is None:
        return Reading(None, bounded(found))
    return Reading(_with_tasks(handoff, tasks or {}))


def named_tasks(value: Any) -> list[str]:
    """The tasks that a value names as blocked, each once."""
    given = _normal(cast("dict[Any, Any]", value)) if isinstance(value, dict) else {}
    return list(dict.fromkeys(name for _, name in _tasks(given)))


def disagrees(handoff: HandoffOutcome, outcome: str, *, asks: bool) -> bool:
    """Whether the note tells another end of the run than its typed outcome, which counts; a run
    that failed has none. `asks`: that outcome is a question to a person."""
    if not outcome or asks:
        return handoff is HandoffOutcome.COMPLETED
    ill = handoff in (HandoffOutcome.FAILED, HandoffOutcome.BLOCKED)
    return ill and outcome not in (*_ENDS_ILL, *BY_OUTCOME)


def completeness(handoff: Handoff, *, changed: bool) -> float:
    """The share of the sections asked for that the agent wrote: an empty list says that there is
    nothing, a missing one says nothing."""
    said = handoff.model_fields_set
    asked = [*(name in said for name in RECOMMENDED)]
    if changed:
        asked.append(bool(handoff.files_created or handoff.files_modified))
    if handoff.outcome in _NEEDS_BLOCKERS:
        asked.append(bool(handoff.blockers))
    return round((1 + sum(asked)) / (1 + len(asked)), 2)  # The outcome is always there.


# ---------------------------------------------------------------------------------- one notation


def _normal(value: dict[Any, Any]) -> dict[str, Any]:
    """Names as we write them, and what is nothing left out; of a section, that is an empty list."""
    fields = {_name(key): _section(_name(key), item) for key, item in value.items()}
    return {key: item for key, item in fields.items() if item is not None}


def _section(name: str, value: Any) -> Any:
    if value is None:
        return None if name == "outcome" else []
    if not isinstance(value, list):
        return value
    return [_item(item) for item in cast("list[Any]", value)]


def _item(item: Any) -> Any:
    if not isinstance(item, dict):
        return item
    fields = cast("dict[Any, Any]", item)
    return {_name(key): value for key, value in fields.items() if value is not None}


def _name(key: Any) -> str:
    return _CAMEL.sub(lambda m: f"_{m[1].lower()}", key) if isinstance(key, str) else str(key)


def _items(given: Mapping[str, Any], section: str) -> list[tuple[int, dict[str, Any]]]:
    rows = given.get(section)
    listed = cast("list[Any]", rows) if isinstance(rows, list) else []
    return [(i, cast("dict[str, Any]", r)) for i, r in enumerate(listed) if isinstance(r, dict)]


# ------------------------------------------------------------------------------ what goes together


def _conditions(given: Mapping[str, Any]) -> list[Violation]:
    outcome = given.get("outcome")
    if outcome not in _NEEDS_BLOCKERS:
        return []
    found: list[Violation] = []
    if not given.get("blockers"):
        found.append(Violation("blockers", "it is missing", f"what made the outcome {outcome}"))
    if outcome == HandoffOutcome.PARTIAL and not given.get("suggested_next_steps"):
        right = "what is left to do, as the outcome is partial"
        found.append(Violation("suggested_next_steps", "it is missing", right))
    for name, of in _IN_EACH_BLOCKER.items():
        if outcome == of:
            found += [
                Violation(f"blockers.{i}.{name}", "it is missing", f"given where it is {of}")
                for i, row in _items(given, "blockers")
                if row.get(name) in (None, []) or not str(row[name]).strip()
            ]
    return found


_IN_EACH_BLOCKER = {
    "suggested_resolution": HandoffOutcome.FAILED,
    "blocking_tasks": HandoffOutcome.BLOCKED,
}


def _twice(handoff: Handoff) -> list[Violation]:
    found: list[Violation] = []
    for section, name in (
        ("files_created", "path"),
        ("files_modified", "path"),
        ("patterns_discovered", "id"),
        ("gotchas", "id"),
    ):
        seen: set[str] = set()
        for i, row in enumerate(getattr(handoff, section)):
            value = getattr(row, name)
            if value in seen:
                wrong = f"{shown(value)} stands there twice"
                found.append(Violation(f"{section}.{i}.{name}", wrong, "each once"))
            seen.add(value)
    return found


# ------------------------------------------------------------------------------------- the diff


def _compared(
    given: Mapping[str, Any], changed: Sequence[ChangedFile], merged: Collection[str]
) -> list[Violation]:
    """Named files against those that the run changed. Of a renamed file the new name is asked for,
    the old one may be named too. Of very many, not each has to be named."""
    known = {path for file in changed for path in (file.path, file.old_path) if path}
    gone = {file.path for file in changed if file.status is FileStatus.DELETED}
    gone |= {f.old_path for f in changed if f.status is FileStatus.RENAMED and f.old_path}
    named: set[str] = set()
    found: list[Violation] = []
    for section in _FILES:
        for i, row in _items(given, section):
            path, field = row.get("path"), f"{section}.{i}"
            if not isinstance(path, str):
                continue
            path = path.strip()
            named.add(path)
            deletes = row.get("change_type") == "delete"
            if path not in known:
                wrong = f"{shown(path)} was not changed by this run"
                found.append(Violation(f"{field}.path", wrong, "only files that it changed"))
            elif path in gone and not deletes:
                wrong = f"{shown(path)} was deleted by this run"
                right = "it under files_modified, with the change_type delete"
                found.append(Violation(f"{field}.path", wrong, right))
            elif deletes and path not in gone:
                wrong = f"{shown(path)} was not deleted by this run"
                found.append(Violation(f"{field}.change_type", wrong, "add, modify or refactor"))
    if len(changed) > MAX_FILES:
        return found
    left = [f for f in changed if f.path not in named and f.path not in merged]
    return [*found, *(_unnamed(f) for f in left if not path_fault(f.path))]


def _unnamed(file: ChangedFile) -> Violation:
    made = file.status in (FileStatus.ADDED, FileStatus.COPIED, FileStatus.RENAMED)
    how = "with the change_type delete" if file.status is FileStatus.DELETED else "by name"
    section = _FILES[0] if made else _FILES[1]
    wrong = f"{shown(file.path)} was changed by this run and is not named"
    return Violation(section, wrong, f"every file that it changed, {how}")


# ------------------------------------------------------------------------------------ its tasks


def _tasks(given: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Places and names."""
    return [
        (f"blockers.{i}.blocking_tasks.{n}", name.strip())
        for i, row in _items(given, "blockers")
        if isinstance(row.get("blocking_tasks"), list)
        for n, name in enumerate(row["blocking_tasks"])
        if isinstance(name, str)
    ]


def _unknown(given: Mapping[str, Any], tasks: Mapping[str, TaskId | None]) -> list[Violation]:
    right = "the id of a task of this project, or the beginning of one that no other task has"
    return [
        Violation(place, f"there is no task {shown(name)}", right)
        for place, name in _tasks(given)
        if tasks.get(name) is None
    ]


def _with_tasks(handoff: Handoff, tasks: Mapping[str, TaskId | None]) -> Handoff:
    blockers = tuple(
        one.model_copy(
            update={
                "blocking_tasks": tuple(
                    dict.fromkeys(tasks.get(name) or name for name in one.blocking_tasks)
                )
            }
        )
        for one in handoff.blockers
    )
    return _copied(handoff, blockers=blockers)


# ------------------------------------------------------------------------------------ completed


def _completed(handoff: Handoff) -> Handoff:
    """Ids where the agent gave none: the same finding gets the same one."""
    patterns = tuple(
        one.model_copy(update={"id": one.id or _id("pattern", one.pattern)})
        for one in handoff.patterns_discovered
    )
    gotchas = tuple(
        one.model_copy(update={"id": one.id or _id("gotcha", one.issue)}) for one in handoff.gotchas
    )
    return _copied(handoff, patterns_discovered=patterns, gotchas=gotchas)


def _copied(handoff: Handoff, **sections: Any) -> Handoff:
    """With what was there completed; what was not said stays unsaid."""
    return handoff.model_copy(update={n: v for n, v in sections.items() if v})


def _id(kind: str, sentence: str) -> str:
    plain = " ".join(sentence.casefold().split())
    return f"{kind}-{hashlib.sha256(plain.encode()).hexdigest()[:_ID_LENGTH]}"
