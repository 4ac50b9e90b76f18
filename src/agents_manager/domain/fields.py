"""The words of a task: what each field may hold and how it is written down, at its creation and
whenever it is edited, whatever door they come through."""

import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from agents_manager.domain.names import visible
from agents_manager.domain.strict_json import check_text
from agents_manager.errors import closest

TYPES = ("feature", "bug", "chore", "document")
"""Known everywhere; a project adds those that it names a pipeline for."""
PRIORITIES = ("low", "medium", "high", "urgent")
SIZES = ("small", "medium", "large")
COMPLEXITIES = ("low", "medium", "high")

MAX_TITLE = 200
MAX_DESCRIPTION = 200_000
MAX_OBJECTIVE = 2_000
MAX_TAGS = 50
MAX_TAG = 50
MAX_CRITERIA = 100
MAX_CRITERION = 2_000
MAX_DEPENDENCIES = 100
MAX_NAME = 200
SHOWN = 60


def settled(
    given: Mapping[str, Any], types: Collection[str] = TYPES
) -> tuple[dict[str, Any], list[str]]:
    """The fields as they are kept, and what is wrong with the others, each named."""
    rules = {**_RULES, "type": _one_of(types)}
    kept: dict[str, Any] = {}
    problems: list[str] = []
    for name, value in given.items():
        try:
            kept[name] = rules[name](value)
        except ValueError as error:
            problems.append(f"{name}: {error}")
    return kept, problems


def _title(value: str) -> str:
    check_text(value)
    title = " ".join(value.split())
    if not title:
        raise ValueError("a task needs a title")
    if len(title) > MAX_TITLE:
        raise ValueError(f"at most {MAX_TITLE} characters")
    return title


def _prose(most: int) -> Callable[[str], str]:
    def rule(value: str) -> str:
        check_text(value)
        if len(value) > most:
            raise ValueError(f"at most {most} characters")
        return value

    return rule


def _one_of(known: Collection[str]) -> Callable[[str], str]:
    def rule(value: str) -> str:
        check_text(value)
        word = value.strip().lower()
        if word not in known:
            hint = closest(word, list(known))
            raise ValueError(f'there is no "{visible(value, SHOWN)}".{hint} {", ".join(known)}')
        return word

    return rule


def _each(rule: Callable[[str], str], most: int) -> Callable[[Sequence[str]], tuple[str, ...]]:
    def every(values: Sequence[str]) -> tuple[str, ...]:
        kept = tuple(dict.fromkeys(rule(value) for value in values))
        if len(kept) > most:
            raise ValueError(f"at most {most}")
        return kept

    return every


def _tag(value: str) -> str:
    """Lower case, one word: what two people write differently is one tag."""
    check_text(value)
    plain = visible(unicodedata.normalize("NFC", value), MAX_DESCRIPTION).lower()
    tag = "-".join(plain.lstrip("#").split())
    if not tag:
        raise ValueError(f'"{visible(value, SHOWN)}" is no word')
    if len(tag) > MAX_TAG:
        raise ValueError(f'"{visible(tag, SHOWN)}" is longer than {MAX_TAG} characters')
    return tag


def _criterion(value: str) -> str:
    check_text(value)
    criterion = value.strip()
    if not criterion:
        raise ValueError("one of them is empty")
    if len(criterion) > MAX_CRITERION:
        raise ValueError(f"at most {MAX_CRITERION} characters each")
    return criterion


def _name(value: str | None) -> str | None:
    """A name that may be left out."""
    if value is None:
        return None
    check_text(value)
    name = value.strip()
    if len(name) > MAX_NAME or len(name.splitlines()) > 1:
        raise ValueError(f"one line of at most {MAX_NAME} characters")
    return name or None


def _dependencies(values: Sequence[str]) -> tuple[str, ...]:
    if len(values) > MAX_DEPENDENCIES:
        raise ValueError(f"at most {MAX_DEPENDENCIES}")
    for value in values:
        check_text(value)
    return tuple(values)


_RULES: Mapping[str, Callable[[Any], Any]] = {
    "title": _title,
    "description": _prose(MAX_DESCRIPTION),
    "objective": _prose(MAX_OBJECTIVE),
    "priority": _one_of(PRIORITIES),
    "size": _one_of(SIZES),
    "complexity": _one_of(COMPLEXITIES),
    "tags": _each(_tag, MAX_TAGS),
    "acceptance_criteria": _each(_criterion, MAX_CRITERIA),
    "dependencies": _dependencies,
    "agent": _name,
    "model": _name,
}

EDITABLE = (*_RULES, "type")
OPTIONAL = ("agent", "model")
"""Fields that can be None."""
