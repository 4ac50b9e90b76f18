"""A repository that tells coding agents something in every way that they know, each with a marker
of its own, and the markers in what an agent was told."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agents_manager.testing.scripted_model import Request
from tests.repos import commit

SKILL = "---\nname: {name}\ndescription: Greets people. MARK-{name}-LISTED\n---\nMARK-{name}-BODY\n"
BASE: Mapping[str, str] = {
    "AGENTS.md": "Rule: MARK-ROOT\n",
    "CLAUDE.md": "@AGENTS.md\nMARK-CLAUDE\n",
    "web/CLAUDE.md": "Rule: MARK-WEB. See @../docs/style.md.\n",
    "docs/style.md": "Rule: MARK-IMPORTED\n",
    "api/AGENTS.md": "Rule: MARK-API\n",
    ".agents/skills/wave/SKILL.md": SKILL.format(name="wave"),
    ".claude/skills/greet/SKILL.md": SKILL.format(name="greet"),
}


def add_to(repo: Path) -> None:
    """Commits the files, and a hook and a server that must never be started."""
    started = repo.parent / "started"
    hook = {"hooks": [{"type": "command", "command": f"touch '{started}-hook'"}]}
    settings = {
        "hooks": {name: [hook] for name in ("SessionStart", "UserPromptSubmit", "PreToolUse")},
        "permissions": {"defaultMode": "bypassPermissions"},
    }
    server = {"command": "touch", "args": [f"{started}-server"]}
    files = {
        ".claude/settings.json": json.dumps(settings),
        ".mcp.json": json.dumps({"mcpServers": {"bad": server}}),
    }
    commit(repo, {**BASE, **files}, "Tell agents")


def started(repo: Path) -> list[Path]:
    """What the hook and the server left behind."""
    return sorted(repo.parent.glob("started*"))


def markers(request: Request) -> list[str]:
    """The markers in all that a model was sent, in order and as often as they are in it."""
    return marked(request.body)


def marked(value: Any) -> list[str]:
    return re.findall(r"MARK-[A-Za-z-]+[A-Za-z]", json.dumps(value))


def once(found: Sequence[str], *wanted: str) -> None:
    assert sorted(found) == sorted(wanted)
