"""What each kind of text in the documentation is held to: the product's own readers."""

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from agents_manager import settings
from agents_manager.agents import script
from agents_manager.cli import files
from agents_manager.domain import (
    form_schema,
    handoff_rules,
    outcome,
    pipeline,
    plain_yaml,
    prompt,
    registry,
    simulation_script,
    task_file_reading,
)
from agents_manager.domain.card import Card
from tests.docs import command_lines
from tests.docs.blocks import ROOT, TYPED, Block

KNOWN = registry.built_in()
ANSWERS = (
    prompt.InfoAnswer,
    prompt.OptionAnswer,
    prompt.ReviewAnswer,
    prompt.SplitAnswer,
    prompt.ChoiceAnswer,
    prompt.PermissionAnswer,
)
EXTRAS = re.compile(r"agents-manager\[([\w,]+)\]")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def faults(block: Block) -> list[str]:
    """What is wrong with a block, also with one that is not run."""
    if not block.language:
        return ["its first line says no language, or something that is not understood"]
    held = HELD.get((block.language, block.kind))
    if held is None:
        return [f"nobody knows what {block.language} {block.kind or ''} is".rstrip()]
    try:
        return list(held(block.text) or ())
    except Exception as error:  # noqa: BLE001 - whatever a reader says of it
        details = getattr(error, "details", None) or ""
        return [f"{type(error).__name__}: {error} {details}".rstrip()]


def _shell(text: str) -> list[str]:
    extras = [name for group in EXTRAS.findall(text) for name in group.split(",")]
    unknown = set(extras) - PROJECT["optional-dependencies"].keys()
    return [*command_lines.faults(text), *(f'there is no extra "{name}"' for name in unknown)]


def _console(text: str) -> list[str]:
    typed = [line.removeprefix(TYPED) for line in text.splitlines() if line.startswith(TYPED)]
    return _shell("\n".join(typed)) if typed else ["nothing is typed in it: call it text"]


def _shown(text: str) -> list[str]:
    typed = re.findall(r"^(?:\$ .*|am [a-z].*)", text, re.MULTILINE)
    return [f'"{line}" is typed: call it sh or console' for line in typed]


def _python(text: str) -> None:
    compile(text, "a block", "exec")


def _settings(text: str) -> None:
    settings.ConfigFiles(ROOT).said_by(Path("config.json"), text, of_project=False)


def _transition(text: str) -> list[str]:
    row: dict[str, Any] = json.loads(text)
    statuses = [{"id": row["from"], "category": "active"}, {"id": row["to"], "category": "review"}]
    return _in_a_pipeline(statuses, [row])


def _status(text: str) -> list[str]:
    row: dict[str, Any] = json.loads(text)
    return _in_a_pipeline([row, {"id": "other", "category": "final"}], [])


def _in_a_pipeline(statuses: list[Any], transitions: list[Any]) -> list[str]:
    first = {"id": "first", "category": "open"}
    document = {"id": "shown", "name": "Shown", "statuses": [first, *statuses]}
    read = pipeline.parse({**document, "transitions": transitions})
    return list(KNOWN.problems(read))


def _outcome_file(text: str) -> list[str]:
    return form_schema.outcome_problems(json.loads(text))


def _answer(text: str) -> list[str]:
    value: Mapping[str, Any] = json.loads(text)
    wrong = list[str]()
    for model in ANSWERS:
        try:
            model.model_validate(value)
        except ValidationError as error:
            wrong.append(str(error))
        else:
            return []
    return wrong


def _card(text: str) -> list[str]:
    told: dict[str, Any] = json.loads(text)
    sent = {"kind", "message", *Card.model_fields}
    return [f"{key} is not sent, or not shown" for key in sent ^ told.keys()]


def _script(text: str) -> None:
    script.parse(text, "The example")


def _walk(text: str) -> None:
    simulation_script.parse(plain_yaml.loads(text, max_bytes=100_000, max_depth=32))


def _handoff(text: str) -> list[str]:
    read = handoff_rules.check(plain_yaml.loads(text, max_bytes=100_000, max_depth=32))
    return [str(violation) for violation in read.violations]


def _parsed(text: str) -> None:
    yaml.safe_load(text)


def _outcome(text: str) -> list[str]:
    offered = list(KNOWN.outcomes)
    read = outcome.read_markers(text, offered, KNOWN.outcomes)
    return [] if isinstance(read, outcome.Reported) else [repr(read)]


def _comments(text: str) -> list[str]:
    return [] if files.comments(BytesIO(text.encode())) else ["there is no comment in it"]


def _task_file(text: str) -> list[str]:
    return task_file_reading.read(text)[1]


def _toml(text: str) -> None:
    tomllib.loads(text)


Holds = Callable[[str], list[str] | None]
HELD: Mapping[tuple[str, str | None], Holds] = {
    ("sh", None): _shell,
    ("console", None): _console,
    ("python", None): _python,
    ("json", None): _settings,
    ("json", "answer"): _answer,
    ("json", "card"): _card,
    ("json", "of-others"): _parsed,
    ("json", "outcome-file"): _outcome_file,
    ("json", "status"): _status,
    ("json", "transition"): _transition,
    ("yaml", "handoff"): _handoff,
    ("yaml", "of-others"): _parsed,
    ("yaml", "script"): _script,
    ("yaml", "walk"): _walk,
    ("text", None): _shown,
    ("text", "comments"): _comments,
    ("text", "outcome"): _outcome,
    ("text", "task-file"): _task_file,
    ("toml", None): _toml,
}
