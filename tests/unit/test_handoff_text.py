"""The section of a handoff is found where it is one, and its YAML is read as text."""

import json
import re
import time
from importlib import resources
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from agents_manager.domain.handoff import MAX_TEXT, Handoff
from agents_manager.domain.handoff_rules import check
from agents_manager.domain.handoff_text import MAX_BYTES, parse, without
from agents_manager.domain.ids import TaskId

YAML = """\
outcome: completed
gotchas:
  - issue: Version 1.10 answers no at 12:30
    discovered_in: 2026-01-01
    mitigation: no
    severity: high
"""
FENCED = f"## Handoff\n\n```yaml\n{YAML}```\n"
SEED = """\
# Task 7: Tokens

## Handoff

```yaml
outcome: completed

files_created:
  - path: src/auth/jwt.ts
    purpose: JWT token generation and validation
    lines: 1-150

patterns_discovered:
  - id: pattern-12  # Auto-generated if not provided
    pattern: Use AuthContext.getCurrentUser() for user state
    location: src/context/AuthContext.tsx
    applies_to: [auth, user-state, react-context]

open_questions:
  - question: Should refresh tokens be stored in httpOnly cookies or localStorage?
    context: Security vs UX tradeoff
    recommendation: httpOnly cookies for better security
    blocking: false
```

---

*Task completed: 2026-01-01*
"""


def value(text: str) -> Any:
    parsed = parse(text)
    assert parsed is not None
    assert not parsed.violations, parsed.violations
    return parsed.value


def wrong(text: str) -> str:
    parsed = parse(text)
    assert parsed is not None
    [violation] = parsed.violations
    assert violation.field == "handoff"
    return violation.wrong


# --------------------------------------------------------------------------- where it is found


@pytest.mark.parametrize(
    "text",
    [
        FENCED,
        f"## Handoff\n{YAML}",
        f"I am done.\n\n## HANDOFF ##\n\nHere it is:\n\n~~~\n{YAML}~~~\n\nThat is all.",
        f"## Handoff\n# what I did\n{YAML}\n## Next\nwords: [",
        FENCED + "\n# Appendix\n\n```python\nprint()\n```",
        FENCED.replace("\n", "\r\n"),
        f"```\n## Handoff\nquoted\n```\n{FENCED}",
    ],
)
def test_its_section_is_found(text: str) -> None:
    assert value(text)["gotchas"][0]["issue"] == "Version 1.10 answers no at 12:30"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I hand off now.",
        f"```\n{FENCED}",
        f"````md\n{FENCED}````",
        "".join(f"> {line}\n" for line in FENCED.splitlines()),
        "".join(f"    {line}\n" for line in FENCED.splitlines()),
        f"### Handoff\n{YAML}",
        f"## Handoff notes\n{YAML}",
        f"Words\u2028## Handoff\u2028{YAML}",
    ],
)
def test_what_is_quoted_or_something_else_is_none(text: str) -> None:
    assert parse(text) is None
    assert without(text) == text


def test_the_form_of_the_seed_is_read() -> None:
    found = check(value(SEED)).handoff
    assert found is not None
    assert found.files_created[0].lines == "1-150"
    assert found.patterns_discovered[0].applies_to == ("auth", "user-state", "react-context")
    assert found.open_questions[0].blocking is False


def test_two_sections_are_one_too_many() -> None:
    assert wrong(FENCED + FENCED) == "there are 2 sections `## Handoff`"


def test_two_blocks_are_one_too_many() -> None:
    assert "2 blocks" in wrong(FENCED + f"\n```yaml\n{YAML}```\n")


@pytest.mark.parametrize("text", ["## Handoff", "## Handoff\n\n```yaml\n```\n", "## Handoff\n \n"])
def test_an_empty_section_is_told(text: str) -> None:
    assert wrong(text) == "its section is empty"


def test_the_words_beside_it_are_kept() -> None:
    assert without(f"The plan.\n\n{FENCED}\n## More\nwords") == "The plan.\n\n## More\nwords"
    assert without(f"The plan.\n\n## Handoff\n{YAML}") == "The plan."


# ---------------------------------------------------------------------------------- how it is read


def test_words_stay_words() -> None:
    read = value(
        "## Handoff\na: no\nb: 12:30\nc: 2026-01-01\nd: 1.10\ne: 0x1F\nf: true\ng: 1_000\nh:"
    )
    assert read == {
        **{"a": "no", "b": "12:30", "c": "2026-01-01", "d": "1.10", "e": "0x1F", "f": "true"},
        **{"g": "1_000", "h": None},
    }


def test_json_is_read_too() -> None:
    document = {"outcome": "completed", "open_questions": [{"question": "a: b", "blocking": True}]}
    found = check(value(f"## Handoff\n```json\n{json.dumps(document)}\n```")).handoff
    assert found is not None
    assert found.open_questions[0].blocking is True


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ("a: &x 1\nb: *x", "anchors and aliases are not read (line 1)"),
        ("a: &a [x]\n" + "\n".join(f"b{n}: &b{n} [*a, *a]" for n in range(30)), "anchors"),
        ("<<: {a: 1}\na: *b", "anchors"),
        ("a: !!python/object/apply:os.system ['true']", "tags are not read (line 1)"),
        ("a: !x b", "tags"),
        ("a:\n\t- b", "(line 2)"),
        ("[" * 200, "nested too deeply"),
        ("a: " * 200, "not allowed here"),
        ("a: 1\na: 2", "twice"),
        ("a: b: c", "(line 1)"),
        ("a: `b`", "(line 1)"),
        ("a: 1\n---\nb: 2", "document"),
        ("a: \x00", "special characters"),
        ('a: "\\uD800"', "surrogate"),
        ("- " * 100 + "a", "nested too deeply"),
        ("a: " + "x" * MAX_BYTES, "over the limit"),
        ("[" + "a," * 30_000 + "a]", "values are not read"),
    ],
)
def test_what_is_no_plain_yaml_is_told(block: str, said: str) -> None:
    assert said in wrong(f"## Handoff\n```yaml\n{block}\n```")


def test_tabs_are_told_of() -> None:
    parsed = parse("## Handoff\n```yaml\ngotchas:\n\t- issue: x\n```")
    assert parsed is not None
    assert "by blanks and not by tabs" in parsed.violations[0].right


def test_ten_megabytes_are_refused_in_a_moment() -> None:
    began = time.monotonic()
    assert "over the limit" in wrong("## Handoff\n" + "- a: b\n" * 1_500_000)
    assert time.monotonic() - began < 20  # Read as YAML they would take many minutes.


# -------------------------------------------------------------------------------------- any text

PIECES = st.sampled_from(
    [
        *(
            "## Handoff\n",
            "```yaml\n",
            "```\n",
            "~~~\n",
            "> ",
            "    ",
            "\t",
            "# x\n",
            "\n",
            "---\n",
        ),
        *("outcome: completed\n", "outcome: blocked\n", "outcome: nope\n", "gotchas:\n", "- "),
        *(
            "  - issue: x\n",
            "    severity: high\n",
            "    discovered_in: y\n",
            "    mitigation: z\n",
        ),
        *("files_created:\n", "  - path: /etc/passwd\n", "  - path: ../a\n", "  - path: a.py\n"),
        *("    purpose: p\n", "    lines: 3-1\n", "blockers:\n", "  - blocker: b\n", "&a ", "*a"),
        *(
            "    impact: i\n",
            "!!str ",
            "[",
            "]",
            "{",
            "}",
            ": ",
            "? ",
            "|\n",
            "'",
            '"',
            "\\",
            "\x00",
        ),
        *("\ud800", "\u2028", "\ufeff", "%YAML 1.1\n", "<<: ", "null", "~", "12:30", "x" * 3_000),
    ]
)
TEXTS = st.sampled_from(
    ["a: b", "no", " ", "", "x" * 3_000, None, 7, ["a"], {"a": "b"}, "\x1b[31m"]
)
PATHS = st.sampled_from(
    ["a.py", "src/b.py", "/etc/passwd", "../a", "a/../b", "~/x", ".git/x", "a\\b"]
)
RANGES = st.sampled_from(["1-2", "all", "2-1", "7", "0-1", "-1"])
TAGS = st.lists(st.sampled_from(["auth", "user-state", "Auth", "a b", "a_b", "-"]), max_size=3)
LEVELS = st.sampled_from(["high", "low", "High", "urgent", ""])
TASKS = st.lists(st.sampled_from(["known", "unknown", "", "../x"]), max_size=2)
FIELDS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "files_created": {"path": PATHS, "purpose": TEXTS, "lines": RANGES},
    "patterns_discovered": {"pattern": TEXTS, "location": PATHS | TEXTS, "applies_to": TAGS},
    "gotchas": {"issue": TEXTS, "discovered_in": TEXTS, "mitigation": TEXTS, "severity": LEVELS},
    "dependencies_for_next": {"file": PATHS, "reason": TEXTS},
    "suggested_next_steps": {"step": TEXTS, "priority": LEVELS},
    "blockers": {
        **{"blocker": TEXTS, "impact": TEXTS, "suggested_resolution": TEXTS},
        "blocking_tasks": TASKS,
    },
}
RIGHT: dict[str, Any] = {
    "files_created": {"path": "a.py", "purpose": "p", "lines": "1-2"},
    "patterns_discovered": {"pattern": "p", "location": "a.py", "applies_to": ["auth"]},
    "gotchas": {"issue": "i", "discovered_in": "d", "mitigation": "m", "severity": "low"},
    "dependencies_for_next": {"file": "a.py", "reason": "r"},
    "suggested_next_steps": {"step": "s", "priority": "high"},
    "blockers": {
        **{"blocker": "b", "impact": "i", "suggested_resolution": "s"},
        "blocking_tasks": ["known"],
    },
}


@st.composite
def nearly_right(draw: st.DrawFn) -> dict[str, Any]:
    """A handoff with a few of its fields drawn anew."""
    outcome = draw(st.sampled_from(["completed", "partial", "failed", "blocked", "done"]))
    value: dict[str, Any] = {"outcome": outcome}
    for section, fields in FIELDS.items():
        if draw(st.booleans()):
            drawn = draw(st.lists(st.sampled_from(sorted(fields)), max_size=1))
            value[section] = [{**RIGHT[section], **{name: draw(fields[name]) for name in drawn}}]
    return value


def held(value: Any) -> bool:
    """Whether it is taken; what is taken keeps the rules, said here once more."""
    known = {"known": TaskId("known-1")}
    reading = check(value, tasks=known)
    assert (reading.handoff is None) == bool(reading.violations)
    found = reading.handoff
    if found is None:
        return False
    paths = [f.path for f in (*found.files_created, *found.files_modified)]
    paths += [one.file for one in found.dependencies_for_next]
    assert all(p[0] not in "/~" and not {"..", ".git"} & {*p.split("/")} for p in paths)
    assert all(f.lines == "all" or f.lines == "1-2" for f in found.files_created)
    assert all(
        {*p.applies_to} <= {"auth", "user-state"} and p.id for p in found.patterns_discovered
    )
    assert all(g.severity in ("high", "medium", "low") and g.id for g in found.gotchas)
    if found.outcome != "completed":
        assert found.blockers
    if found.outcome == "partial":
        assert found.suggested_next_steps
    for blocker in found.blockers:
        assert {*blocker.blocking_tasks} <= {"known-1"}
        assert found.outcome != "failed" or blocker.suggested_resolution
        assert found.outcome != "blocked" or blocker.blocking_tasks
    assert all(len(text) <= MAX_TEXT for text in texts(found.model_dump(mode="json")))
    again = check(found.model_dump(mode="json"), tasks={"known-1": TaskId("known-1")}).handoff
    assert again == found
    return True


def texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, list):
        return [text for one in value for text in texts(one)]
    return [value] if isinstance(value, str) else []


@settings(max_examples=300, deadline=None)
@given(pieces=st.lists(PIECES, max_size=40))
def test_any_text_is_read_or_refused(pieces: list[str]) -> None:
    parsed = parse("".join(pieces))
    if parsed is not None and not parsed.violations:
        held(parsed.value)


@settings(max_examples=300, deadline=None)
@given(value=nearly_right())
def test_any_value_is_taken_or_refused(value: dict[str, Any]) -> None:
    """The same by itself and as YAML, where all of it is text."""
    event(f"taken: {held(value)}")
    written = parse(f"## Handoff\n```\n{json.dumps(value)}\n```")
    assert written is not None
    if not written.violations:
        held(written.value)


# --------------------------------------------------------------------------- its page in the docs

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "handoffs.md"


def test_the_example_of_the_page_holds_and_the_page_names_every_field() -> None:
    page = PAGE.read_text()
    [example] = re.findall(r"```yaml[^\n]*\n(.*?)```", page, re.DOTALL)
    assert check(value(f"## Handoff\n{example}")).handoff is not None
    models = [
        get_args(f.annotation)[0] for f in Handoff.model_fields.values() if get_args(f.annotation)
    ]
    fields = {*Handoff.model_fields, *(name for model in models for name in model.model_fields)}
    assert {name for name in fields if f"`{name}`" not in page} == set()


def test_the_form_in_prompts_holds() -> None:
    shown = (resources.files("agents_manager") / "prompts" / "handoff.md").read_text()
    assert check(value(shown.replace("{task}", "12345678"))).handoff is not None
