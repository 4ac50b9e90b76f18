"""Which folders of a repository are skills, and what their SKILL.md says of them."""

import pytest

from agents_manager.domain import skills


def test_folders_below_agents_come_before_those_of_the_same_name_below_claude() -> None:
    paths = [
        ".claude/skills/a/SKILL.md",
        ".agents/skills/a/SKILL.md",
        ".claude/skills/b/SKILL.md",
        ".claude/skills/b/more/SKILL.md",
        ".claude/skills/SKILL.md",
    ]
    assert skills.folders(paths) == {"a": ".agents/skills/a", "b": ".claude/skills/b"}


@pytest.mark.parametrize(
    ("text", "name", "description"),
    [
        (
            "---\nname: deploy\ndescription: >-\n  To\n  production.\n---\n",
            "deploy",
            "To production.",
        ),
        ("---\ndescription: Use when: a release\n---\nx", "ship", "Use when: a release"),
        ("No front matter", "ship", ""),
        ("---\n- a\n---\n", "ship", ""),
        ("---\nname: a\x1b[2Jb\n---\n", "a [2Jb", ""),
    ],
)
def test_front_matter_names_and_describes_a_skill(text: str, name: str, description: str) -> None:
    found = skills.described(".agents/skills/ship", text)
    assert (found.name, found.description) == (name, description)
