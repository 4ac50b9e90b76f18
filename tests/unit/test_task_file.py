"""A task file says again what was written into it, whatever the texts hold, and what is wrong with
one is told by its line."""

import random

import pytest

from agents_manager.domain import fields, handoff_rules, handoff_text, task_file
from agents_manager.domain import task_file_reading as reading
from agents_manager.domain.task_file import TaskFile

YAML = "outcome: completed\ngotchas: []"
PLAIN = TaskFile(
    id="1a2b3c4d",
    title="Search by tag",
    metadata={"Type": "feature", "Priority": "high", "Tags": "ui, web", "Depends on": "9c0d"},
    objective="Guests find things.",
    acceptance_criteria=("Two tags narrow the list.", "One\n\n  and more."),
    description="A list.\n\nIt is long.",
    plan=None,
    log="- 2026-03-01 12:00:00 UTC, ann: Made.",
    handoff=YAML,
    note="",
    completed="2026-03-02 12:00:00 UTC (done)",
)
TEXT = """\
# Task 1a2b3c4d: Search by tag

## Metadata

- Type: feature
- Priority: high
- Tags: ui, web
- Depends on: 9c0d

## Objective

Guests find things.

## Acceptance Criteria

- [ ] Two tags narrow the list.
- [ ] One

        and more.

## Context Provided

### Description

A list.

It is long.

---

## Execution Log

- 2026-03-01 12:00:00 UTC, ann: Made.

---

## Handoff

```yaml
outcome: completed
gotchas: []
```

---

*Task completed: 2026-03-02 12:00:00 UTC (done)*
"""
HOSTILE = [
    *("", " ", "\n", "\r\n", "\r", "\t", "\u2028", "\x85", "\x0b", "\ufeff", "é", "🦀", "---"),
    *("# Task 9: Other", "## Handoff", "## Metadata", "### Plan", "### Description", "#", "##"),
    *(
        "```",
        "````",
        "```yaml",
        "```markdown",
        "~~~",
        "   ```",
        "    ```",
        "- [ ] x",
        "- Type: bug",
    ),
    *("outcome: completed", "*Task completed: never*", "*", "a", "`", "words  ", "  words"),
]


def drawn_text(dice: random.Random) -> str:
    between = dice.choice(["", "\n", "\n\n", "\r\n", " "])
    return between.join(dice.choices(HOSTILE, k=dice.randrange(6)))


def drawn(dice: random.Random) -> TaskFile:
    """Words as a task keeps them, history as any text."""
    words = {
        "title": f"{drawn_text(dice)}x",
        "tags": [f"{drawn_text(dice)}x" for _ in range(dice.randrange(4))],
        "acceptance_criteria": [f"{drawn_text(dice)}x" for _ in range(dice.randrange(4))],
    }
    kept, problems = fields.settled(words)
    assert [one for one in problems if "longer than" not in one] == []
    handoff = dice.choice(["", YAML, f"{YAML}\n# ```\n# ````"])
    metadata = {"Type": "bug", "Tags": task_file.BETWEEN.join(kept.get("tags", ()))}
    return TaskFile(
        id=f"{dice.randrange(2**64):x}",
        title=kept["title"],
        metadata={name: value for name, value in metadata.items() if value},
        objective=drawn_text(dice),
        acceptance_criteria=kept["acceptance_criteria"],
        description=drawn_text(dice),
        plan=dice.choice([None, drawn_text(dice)]),
        log=drawn_text(dice),
        handoff=handoff,
        note="" if handoff else drawn_text(dice),
        completed=dice.choice([None, "2026-03-02 12:00:00 UTC (done)"]),
    )


def test_what_is_written_is_read_again() -> None:
    dice = random.Random(7)
    for _ in range(500):
        file = drawn(dice)
        text = task_file.write(file)
        assert reading.looks(text)
        assert reading.read(text) == (file, [])


def test_it_has_the_form_of_the_template() -> None:
    assert task_file.write(PLAIN) == TEXT
    assert reading.read(TEXT) == (PLAIN, [])
    assert reading.read(TEXT.replace("\n", "\r\n")) == (PLAIN, [])
    assert PLAIN.listed("Tags") == ("ui", "web")


FAULTY: dict[str, tuple[str, str, str]] = {
    "title": (
        "# Task 1a2b3c4d: Search",
        "# Search",
        'line 1: it must begin with "# Task ID: Name"',
    ),
    "section missing": ("## Objective", "Objective", "sections are missing: Objective"),
    "section unknown": ("## Objective", "## Objectiv", 'no section "Objectiv". Did you mean "Obj'),
    "section twice": (
        "## Objective",
        "## Handoff",
        'line 37: the section "Handoff" stands there tw',
    ),
    "metadata unknown": (
        "- Priority:",
        "- Priorty:",
        'line 6: there is no metadata "Priorty". Did',
    ),
    "metadata twice": ("- Priority:", "- Type:", 'line 6: the metadata "Type" stands there twice'),
    "metadata as prose": ("- Priority:", "Priority", 'line 6: metadata is written as "- Name: val'),
    "criterion as prose": ("- [ ] Two", "Two", 'line 16: a criterion begins with "- [ ] "'),
    "context": ("It is long.", "### More", 'line 27: beside Description and Plan there is no "Mor'),
    "context twice": (
        "It is long.",
        "### Description",
        'line 27: "Description" stands there twice',
    ),
    "two blocks": ("```yaml", "```yaml\n```\n```yaml", "line 37: the handoff has 2 blocks of code"),
    "words beside": ("```yaml", "Look:\n```yaml", "line 39: the handoff is one block of YAML"),
    "no outcome": ("outcome: completed", "files: []", "Handoff: outcome: it is missing"),
    "outcome": ("completed\ngot", "compleet\ngot", 'Handoff: outcome: "compleet" is unknown'),
    "bomb": ("gotchas: []", "gotchas: &a [*a]", "anchors and aliases are not read"),
    "path": (
        "gotchas: []",
        "files_created: [{path: ../../etc/passwd, purpose: x}]",
        "it leads out of the repository",
    ),
    "NUL": ("Guests", "\0", "a text holds a NUL character"),
}


@pytest.mark.parametrize(("old", "new", "says"), FAULTY.values(), ids=FAULTY.keys())
def test_what_is_wrong_is_told(old: str, new: str, says: str) -> None:
    assert old in TEXT
    file, faults = reading.read(TEXT.replace(old, new, 1))
    assert file is None
    assert says in "\n".join(faults)


def test_others_write_it_in_other_ways() -> None:
    hand = """

# Task 7: Door
## Metadata
* **Type**: bug
- **Depends on:** 5, 6
## Objective
## Acceptance Criteria
* It is blue.
  All over.
- [x] It shuts.
## Context Provided
Paint it.

```python
print()
```
## Handoff
outcome: completed
"""
    file, faults = reading.read(hand)
    assert faults == []
    assert file is not None
    assert file.metadata == {"Type": "bug", "Depends on": "5, 6"}
    assert file.acceptance_criteria == ("It is blue.\nAll over.", "It shuts.")
    assert file.description == "Paint it.\n\n```python\nprint()\n```"
    assert (file.handoff, file.completed) == ("outcome: completed", None)
    free = hand.replace("outcome: completed", "Watch out for the paint.")
    note, _ = reading.read(free)
    assert note is not None
    assert (note.handoff, note.note) == ("", "Watch out for the paint.")


def test_a_file_names_the_agent_of_the_task() -> None:
    text = TEXT.replace("- Priority: high\n", "- **Agent**: codex\n- Model: gpt-5.5\n")
    (entry,) = reading.listed(text).entries
    assert (entry.words["agent"], entry.words["model"]) == ("codex", "gpt-5.5")


def test_a_list_of_tasks_is_none() -> None:
    assert not reading.looks("# Task list: shop\n\n- [ ] Door\n")
    assert not reading.looks("# Shop\n\n## Metadata\n\n- [ ] Door\n")


def test_a_handoff_is_written_as_it_is_read() -> None:
    words = [
        "no",
        "12:30",
        "null",
        "~",
        "",
        "a: b",
        "# x",
        "```\n---\n- y",
        "é\x85🦀\u2028z",
        "a\r\nb",
        "\tx",
        "\x07",
        "1.10",
    ]
    value = {
        "outcome": "partial",
        "gotchas": [
            {"issue": f"x{w}", "discovered_in": f"{w}x", "mitigation": w or "-", "severity": "low"}
            for w in words
        ],
        "open_questions": [{"question": "12:30", "context": w, "blocking": "true"} for w in words],
        "suggested_next_steps": [{"step": "no", "priority": "high", "depends_on": ["no", "1-2"]}],
        "blockers": [{"blocker": "null", "impact": "~"}],
    }
    handoff = handoff_rules.check(value).handoff
    assert handoff is not None
    text = handoff_text.written(handoff)
    assert handoff_rules.check(handoff_text.read(text).value).handoff == handoff
    inside = "\n".join(task_file.fenced(text, "yaml"))
    parsed = handoff_text.parse(f"## Handoff\n\n{inside}\n")
    assert parsed is not None
    assert handoff_rules.check(parsed.value).handoff == handoff
