"""A handoff in free words becomes fields by what its sentences say; what is ambiguous is told."""

import pytest

from agents_manager.domain import handoff_notes
from agents_manager.domain.handoff_notes import MAX_BYTES, Section

NOTE = """\
Created src/auth/jwt.ts with token validation. Added a pool to `src/config/db.ts:45-67`.
Removed old/thing.py.

Watch out for the rate limit - it is 100/min, not 1000.
Be careful: src/pay.py retries twice.
Always use AuthContext.getCurrentUser() for user state (see src/context/Auth.tsx).

## Next steps
- Implement the middleware
- Add token refresh,
  with tests

Question: should refresh tokens be cookies?
Unclear whether the pattern should hold.
It went fine. Looked at src/x.py.

```
Watch out for this code.
```
"""


def became(note: str) -> list[tuple[int, list[str], str | None]]:
    return [
        (one.line, [str(kind) for kind in one.became], one.ambiguous)
        for one in handoff_notes.migrate(note).said
    ]


def test_each_sentence_says_what_it_became() -> None:
    assert became(NOTE) == [
        (1, ["files_created"], None),
        (1, ["files_modified"], None),
        (2, ["files_modified"], None),
        (4, ["gotchas"], None),
        (5, ["gotchas"], None),
        (6, ["patterns_discovered"], None),
        (9, ["suggested_next_steps"], None),
        (10, ["suggested_next_steps"], None),
        (13, ["open_questions"], None),
        (14, ["open_questions"], None),
        (15, [], "nothing tells what it is"),
        (15, [], "it does not say what was done to the file"),
    ]


def test_the_fields_hold_to_the_rules() -> None:
    found = handoff_notes.migrate(NOTE)
    assert found.violations == ()
    assert found.handoff is not None
    handoff = found.handoff.model_dump(mode="json")
    assert handoff["outcome"] == "completed"
    assert [one["path"] for one in handoff["files_created"]] == ["src/auth/jwt.ts"]
    assert [(f["path"], f["lines"], f["change_type"]) for f in handoff["files_modified"]] == [
        ("src/config/db.ts", "45-67", "add"),
        ("old/thing.py", "all", "delete"),
    ]
    assert [(g["issue"], g["discovered_in"], g["mitigation"]) for g in handoff["gotchas"]] == [
        ("Watch out for the rate limit", "not said", "it is 100/min, not 1000."),
        ("src/pay.py retries twice.", "src/pay.py", "not said"),
    ]
    assert handoff["patterns_discovered"][0]["location"] == "src/context/Auth.tsx"
    assert [one["step"] for one in handoff["suggested_next_steps"]] == [
        "Implement the middleware",
        "Add token refresh, with tests",
    ]
    assert [one["question"] for one in handoff["open_questions"]] == [
        "should refresh tokens be cookies?",
        "Unclear whether the pattern should hold.",
    ]
    assert [one.assumed for one in found.said[3:5]] == [
        ("discovered_in: not said", "severity: medium"),
        ("mitigation: not said", "severity: medium"),
    ]
    assert len(found.ambiguous) == 2


@pytest.mark.parametrize(
    ("note", "kind"),
    [
        ("Be careful with locks.", Section.GOTCHA),
        ("The pattern is one file per noun.", Section.PATTERN),
        ("Then write the docs.", Section.STEP),
        ("The page should load faster.", Section.STEP),
        ("Which port is free?", Section.QUESTION),
        ("Files created:\n- src/a.py", Section.CREATED),
        ("## Changed\n- `b.py`: quicker", Section.MODIFIED),
        ("Outcome: completed", Section.OUTCOME),
    ],
)
def test_the_words_that_tell(note: str, kind: Section) -> None:
    assert [one.became for one in handoff_notes.migrate(note).said] == [(kind,)]


@pytest.mark.parametrize(
    "note", ["We should watch out here.", "Is this pattern right?", "See https://a.b/c.html."]
)
def test_what_could_be_several_things_becomes_none(note: str) -> None:
    found = handoff_notes.migrate(note)
    assert len(found.ambiguous) == 1
    assert found.handoff is not None
    assert found.handoff.model_dump(exclude_defaults=True) == {"outcome": "completed"}


@pytest.mark.parametrize(
    ("note", "says"),
    [
        ("Created ../../etc/passwd.txt", "it leads out of the repository"),
        ("Changed /etc/hosts.txt", "it leads out of the repository"),
        ("Outcome: blocked", "blockers: it is missing"),
        ("\n \n", "the note is empty"),
        ("Watch out for \0", "a text holds a NUL character"),
        ("Then go. " * 51, "suggested_next_steps: it has too many items"),
        ("x" * (MAX_BYTES + 1), f"at most {MAX_BYTES}"),
    ],
)
def test_a_note_against_the_rules_is_no_handoff(note: str, says: str) -> None:
    found = handoff_notes.migrate(note)
    assert found.handoff is None
    assert says in "\n".join(map(str, found.violations))
