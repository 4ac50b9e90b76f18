"""Which files tell agents and checks what to do."""

import pytest

from agents_manager.domain import policy


@pytest.mark.parametrize(
    "path",
    [
        ".agents-manager/config.json",
        "packages/shop/.claude/settings.json",
        ".CLAUDE/settings.json",
        ".cla\u200cude/hooks.json",
        ".mcp.json",
        "AGENTS.md",
        "docs/CLAUDE.md",
        ".github/workflows/test.yml",
        ".husky/pre-commit",
        ".gitattributes",
        ".codex",
    ],
)
def test_such_files(path: str) -> None:
    assert policy.touched(["a.py", path]) == (path,)


@pytest.mark.parametrize(
    "path",
    [
        "src/app.py",
        "docs/agents.md.txt",
        ".github/ISSUE_TEMPLATE.md",
        "claude/main.py",
        "workflows/x",
    ],
)
def test_other_files(path: str) -> None:
    assert policy.touched([path]) == ()


def test_each_is_named_once_and_in_order() -> None:
    assert policy.touched(["b/AGENTS.md", ".envrc", "b/AGENTS.md"]) == (".envrc", "b/AGENTS.md")
