"""Every block of the documentation is what it says it is: commands and options are there, settings
and pipelines are taken, and none is left out."""

from pathlib import Path

import pytest

from tests.docs import blocks, command_lines, kinds
from tests.docs.blocks import ROOT, Block

WITH_BLOCKS = [page for page in blocks.PAGES if "```" in page.read_text()]


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=lambda page: str(page.relative_to(ROOT)))
def test_blocks_are_what_they_say(page: Path) -> None:
    assert [f"{block}: {wrong}" for block in blocks.of(page) for wrong in kinds.faults(block)] == []


def test_commands_that_are_named_are_there() -> None:
    found = [(page, words) for page in blocks.PAGES for words in blocks.named(page)]
    assert len(found) > 300
    wrong = [
        f"{page.relative_to(ROOT)}: am {' '.join(words)}: {fault}"
        for page, words in found
        for fault in command_lines.named(words)
    ]
    assert wrong == []
    assert command_lines.named(["task", "creat"])
    assert command_lines.named(["task", "create", "TITLE", "--colour"])


@pytest.mark.parametrize(
    ("language", "kind", "text"),
    [
        ("", None, "x"),
        ("ruby", None, "x"),
        ("json", "nothing", "{}"),
        ("sh", None, "am task creat x"),
        ("sh", None, "am task create x --colour red"),
        ("sh", None, "cat x | am task show"),
        ("sh", None, "X=1 am task import x --format doc"),
        ("sh", None, "am prompt list too much"),
        ("sh", None, 'pip install "agents-manager[gone]"'),
        ("console", None, "$ am gone\nwhat it prints"),
        ("console", None, "what it prints"),
        ("text", None, "am task list"),
        ("python", None, "if"),
        ("json", None, '{"defaultAgent": "x"}'),
        ("json", "answer", '{"decision": "perhaps"}'),
        ("json", "transition", '{"id": "a", "from": "b", "to": "c", "trigger": {"type": "x"}}'),
        ("json", "outcome-file", '{"type": "thing"}'),
        ("yaml", "script", "implement: [[{dance: now}]]"),
        ("yaml", "walk", "- jump"),
        ("yaml", "handoff", "outcome: splendid"),
        ("text", "outcome", "<<<OUTCOME:splendid>>>\n<<<END_PAYLOAD>>>"),
        ("toml", None, "[x"),
    ],
)
def test_what_is_wrong_is_found(language: str, kind: str | None, text: str) -> None:
    assert kinds.faults(Block(ROOT / "README.md", 1, text, language, kind))
