"""An outcome of a project that asks with a form, and the pipeline that waits for the answer."""

from pathlib import Path
from typing import Any

from tests.pipeline_desk import bring, define, shipped

OUTCOME = "release_planned"
PIPELINE = "releasing"
RELEASE: dict[str, Any] = {
    "title": "A release is planned",
    "description": "You know what goes into the release, and a person decides on the rest.",
    "type": "object",
    "required": ["summary"],
    "properties": {
        "summary": {"type": "string"},
        "changes": {"type": "array", "items": {"type": "string"}},
    },
    "answer": {
        "title": "Which release?",
        "description": "It is **public** at once.",
        "type": "object",
        "required": ["version", "announce"],
        "properties": {
            "version": {"type": "string", "pattern": "^[0-9]+[.][0-9]+$", "maxLength": 12},
            "channel": {"enum": ["stable", "beta"], "default": "stable"},
            "announce": {"type": "boolean", "title": "Tell the list"},
            "share": {"type": "integer", "minimum": 1, "maximum": 100},
            "notes": {"type": "string", "format": "markdown", "description": "For the page."},
            "labels": {"type": "array", "maxItems": 3, "items": {"type": "string"}},
            "contact": {
                "type": "object",
                "required": ["name"],
                "properties": {"name": {"type": "string"}, "phone": {"type": "string"}},
            },
        },
    },
}
PLANNED: dict[str, Any] = {"summary": "Search, and a fix.", "changes": ["search", "a fix"]}
VALUE: dict[str, Any] = {"version": "1.2", "announce": False}
SUGGESTING: dict[str, Any] = {**PLANNED, "suggested_answer": VALUE}


def releasing() -> dict[str, Any]:
    """`simple`, where an agent may also end by asking about a release."""
    simple = shipped()
    planned = {
        "from": "in_progress",
        "to": "needs_info",
        "trigger": {"type": "agent_outcome", "outcome": OUTCOME},
    }
    return {**simple, "id": PIPELINE, "transitions": [*simple["transitions"], planned]}


def bring_form(repo: Path) -> Path:
    """The outcome and the pipeline, in a project; the outcome's file."""
    bring(repo, f"{PIPELINE}.json", releasing())
    return define(repo, OUTCOME, RELEASE)
