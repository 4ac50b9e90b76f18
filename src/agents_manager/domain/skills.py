"""Skills of a repository: folders with a SKILL.md that says what they are for."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import cast

from agents_manager.domain import plain_yaml
from agents_manager.domain.names import visible

FOLDERS = (".agents/skills", ".claude/skills")
FILE = "SKILL.md"
MAX_SKILLS = 50
MAX_DESCRIPTION = 500
_SKILL = re.compile(rf"({'|'.join(map(re.escape, FOLDERS))})/([\w.-]+)/{re.escape(FILE)}")
_HEAD = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|$)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    name: str
    description: str
    folder: str
    """In the repository, such as `.agents/skills/release`."""


def folders(paths: Collection[str]) -> dict[str, str]:
    """Returns the folders of skills among the paths of a repository, by name; one below `.agents`
    comes before one of the same name below `.claude`."""
    found = [match for path in sorted(paths) if (match := _SKILL.fullmatch(path))]
    named: dict[str, str] = {}
    for match in sorted(found, key=lambda match: FOLDERS.index(match[1])):
        named.setdefault(match[2], f"{match[1]}/{match[2]}")
    return dict(list(named.items())[:MAX_SKILLS])


def described(folder: str, text: str) -> Skill:
    """Returns the skill of a folder whose SKILL.md has this text."""
    head = _head(text)
    name = folder.rpartition("/")[2]
    return Skill(
        name=visible(str(head.get("name") or name), 100),
        description=visible(str(head.get("description") or ""), MAX_DESCRIPTION),
        folder=folder,
    )


def _head(text: str) -> dict[object, object]:
    """The front matter; empty if there is none that can be read."""
    match = _HEAD.match(text)
    if match is None:
        return {}
    try:
        value = plain_yaml.loads(match[1], max_bytes=64 * 1024, max_depth=10, texts=True)
    except ValueError:
        return _plain_head(match[1])
    return cast("dict[object, object]", value) if isinstance(value, dict) else {}


def _plain_head(text: str) -> dict[object, object]:
    """Descriptions with a colon are common, and no YAML."""
    lines = (line.partition(":") for line in text.splitlines() if not line.startswith((" ", "\t")))
    return {key.strip(): value.strip() for key, colon, value in lines if colon}
