"""A handoff holds what the rules ask for, or is told all that is wrong with it."""

from typing import Any

import pytest

from agents_manager.domain.change import ChangedFile, FileStatus
from agents_manager.domain.handoff import (
    MAX_FILES,
    MAX_ITEMS,
    MAX_TEXT,
    Handoff,
    HandoffOutcome,
)
from agents_manager.domain.handoff_faults import MAX_TOLD, told
from agents_manager.domain.handoff_rules import check, completeness, disagrees, named_tasks
from agents_manager.domain.ids import TaskId

BLOCKER = {
    "blocker": "No credentials",
    "impact": "No payments",
    "suggested_resolution": "Ask for them",
    "blocking_tasks": ["task-5"],
}
STEP = {"step": "Add the middleware", "priority": "high"}
GOTCHA = {"issue": "i", "discovered_in": "d", "mitigation": "m", "severity": "low"}
PATTERN = {"pattern": "Use AuthContext", "location": "src/auth.py", "applies_to": ["auth"]}


def handoff(**sections: Any) -> dict[str, Any]:
    return {"outcome": "completed", **sections}


def taken(value: Any, **known: Any) -> Handoff:
    reading = check(value, **known)
    assert reading.handoff is not None, told(reading.violations)
    return reading.handoff


def fields(value: Any, **known: Any) -> list[str]:
    reading = check(value, **known)
    assert reading.handoff is None
    return [one.field for one in reading.violations]


def file(
    path: str, status: FileStatus = FileStatus.MODIFIED, old: str | None = None
) -> ChangedFile:
    return ChangedFile(
        path=path,
        old_path=old,
        status=status,
        additions=1,
        deletions=0,
        generated=False,
        old_blob=None,
        new_blob=None,
        names=(path.encode(),),
    )


def created(path: str) -> dict[str, str]:
    return {"path": path, "purpose": "p"}


def modified(path: str, change: str = "modify") -> dict[str, str]:
    return {"path": path, "change_type": change, "description": "d"}


# ------------------------------------------------------------------------------ by the outcome


def test_a_completed_one_needs_nothing_else() -> None:
    assert taken(handoff()).outcome == "completed"


@pytest.mark.parametrize("outcome", ["partial", "failed", "blocked"])
def test_others_need_blockers(outcome: str) -> None:
    value = handoff(outcome=outcome, suggested_next_steps=[STEP])
    assert fields(value) == ["blockers"]
    assert fields({**value, "blockers": []}) == ["blockers"]
    assert taken({**value, "blockers": [BLOCKER]})


def test_a_partial_one_says_how_to_go_on() -> None:
    assert fields(handoff(outcome="partial", blockers=[BLOCKER])) == ["suggested_next_steps"]


def test_a_failed_one_suggests_a_way_out_of_each_blocker() -> None:
    bare = {**BLOCKER, "suggested_resolution": " "}
    assert fields(handoff(outcome="failed", blockers=[BLOCKER, {**BLOCKER, "blocker": ""}])) == [
        "blockers.1.blocker"
    ]
    without = {k: v for k, v in BLOCKER.items() if k != "suggested_resolution"}
    assert fields(handoff(outcome="failed", blockers=[BLOCKER, without, bare])) == [
        "blockers.1.suggested_resolution",
        "blockers.2.suggested_resolution",
    ]


def test_a_blocked_one_names_the_tasks_of_each_blocker() -> None:
    bare = {**BLOCKER, "blocking_tasks": []}
    assert fields(handoff(outcome="blocked", blockers=[BLOCKER, bare])) == [
        "blockers.1.blocking_tasks"
    ]


# ------------------------------------------------------------------------------- field by field


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "../a", "a/../../b", "~/x", "C:\\x", "a\\b", "", "a\nb", ".git/config", "a//b"],
)
def test_a_path_stays_in_the_repository(path: str) -> None:
    assert fields(handoff(files_created=[created(path)])) == ["files_created.0.path"]
    assert fields(handoff(dependencies_for_next=[{"file": path, "reason": "r"}])) == [
        "dependencies_for_next.0.file"
    ]


@pytest.mark.parametrize("location", ["/etc/passwd", "../../x", "~/.ssh/id_rsa", "src/../../x"])
def test_a_location_that_is_a_path_stays_there_too(location: str) -> None:
    value = handoff(patterns_discovered=[{**PATTERN, "location": location}])
    assert fields(value) == ["patterns_discovered.0.location"]


@pytest.mark.parametrize("location", ["src/auth.py:12", "the retry code, see /docs", "Router.get"])
def test_a_location_may_be_words(location: str) -> None:
    found = taken(handoff(patterns_discovered=[{**PATTERN, "location": location}]))
    assert found.patterns_discovered[0].location == location


@pytest.mark.parametrize("lines", ["1-1", "45-67", "all", " all "])
def test_lines_are_a_range_or_all(lines: str) -> None:
    found = taken(handoff(files_created=[{**created("a.py"), "lines": lines}]))
    assert found.files_created[0].lines == lines.strip()


@pytest.mark.parametrize(
    "lines", ["67-45", "45", "0-3", "1-", "all lines", "1-2, 4-5", "1\u20132", "9" * 40]
)
def test_other_lines_are_not_taken(lines: str) -> None:
    value = handoff(files_created=[{**created("a.py"), "lines": lines}])
    assert fields(value) == ["files_created.0.lines"]


@pytest.mark.parametrize(
    "tag", ["Auth", "user state", "user_state", "-a", "a-", "a--b", "ä", "", 1]
)
def test_tags_are_in_small_letters_with_hyphens(tag: Any) -> None:
    value = handoff(patterns_discovered=[{**PATTERN, "applies_to": ["user-state", tag]}])
    assert fields(value) == ["patterns_discovered.0.applies_to.1"]


@pytest.mark.parametrize(
    ("section", "item", "name"),
    [
        ("gotchas", GOTCHA, "severity"),
        ("suggested_next_steps", STEP, "priority"),
        ("files_modified", modified("a.py"), "change_type"),
    ],
)
@pytest.mark.parametrize("value", ["urgent", "High", "", 1, None, ["high"]])
def test_values_that_there_are_not(section: str, item: Any, name: str, value: Any) -> None:
    assert fields(handoff(**{section: [{**item, name: value}]})) == [f"{section}.0.{name}"]


def test_an_unknown_value_is_told_with_those_that_there_are() -> None:
    [wrong] = check(handoff(gotchas=[{**GOTCHA, "severity": "urgent"}])).violations
    assert str(wrong) == 'gotchas.0.severity: "urgent" is unknown. Right is: high, medium or low.'


def test_an_unknown_field_is_told_with_the_closest() -> None:
    [wrong] = check(handoff(gotcha=[])).violations
    assert wrong.field == "gotcha"
    assert 'Did you mean "gotchas"?' in wrong.wrong
    [wrong] = check(handoff(gotchas=[{**GOTCHA, "sevrity": "low"}])).violations
    assert (wrong.field, 'Did you mean "severity"?' in wrong.wrong) == ("gotchas.0.sevrity", True)


@pytest.mark.parametrize("value", [None, [], "completed", 1, [handoff()]])
def test_what_has_no_fields_is_no_handoff(value: Any) -> None:
    assert fields(value) == ["handoff"]


def test_without_an_outcome_it_is_none() -> None:
    assert fields({}) == ["outcome"]
    assert fields({"outcome": None}) == ["outcome"]


def test_sizes_are_bounded() -> None:
    long = {**GOTCHA, "issue": "x" * (MAX_TEXT + 1)}
    assert fields(handoff(gotchas=[long])) == ["gotchas.0.issue"]
    many = [{**GOTCHA, "issue": f"i{n}"} for n in range(MAX_ITEMS + 1)]
    assert fields(handoff(gotchas=many)) == ["gotchas"]
    files = [created(f"{n}.py") for n in range(MAX_FILES + 1)]
    assert fields(handoff(files_created=files)) == ["files_created"]
    tags = [f"t{n}" for n in range(21)]
    assert fields(handoff(patterns_discovered=[{**PATTERN, "applies_to": tags}])) == [
        "patterns_discovered.0.applies_to"
    ]


def test_everything_that_is_wrong_is_told_at_once() -> None:
    value = {
        "outcome": "blocked",
        "files_created": [{"path": "/a", "lines": "3-1"}],
        "gotchas": [{"issue": "", "severity": "bad"}],
        "blockers": [{"blocker": "b", "impact": "i", "blocking_tasks": ["nope"]}, "words"],
    }
    assert fields(value, changed=[file("b.py")], tasks={"nope": None}) == [
        "files_created.0.path",
        "files_created.0.purpose",
        "files_created.0.lines",
        "gotchas.0.issue",
        "gotchas.0.discovered_in",
        "gotchas.0.mitigation",
        "gotchas.0.severity",
        "blockers.1",
        "files_created.0.path",
        "files_modified",
        "blockers.0.blocking_tasks.0",
    ]


def test_very_many_violations_are_told_in_part() -> None:
    found = check(handoff(gotchas=[{}] * MAX_ITEMS)).violations
    assert len(told(found).splitlines()) == MAX_TOLD + 1
    assert found[-1].wrong == f"{4 * MAX_ITEMS - MAX_TOLD} more violations"


def test_both_notations_are_read() -> None:
    value = handoff(filesModified=[{"path": "a", "changeType": "add", "description": "d"}])
    assert taken(value).files_modified[0].change_type == "add"


def test_a_section_without_anything_is_empty() -> None:
    assert taken(handoff(gotchas=None, open_questions=[{"question": "q", "context": None}]))


# ------------------------------------------------------------------------------------------ ids


def test_ids_are_completed_and_the_same_finding_gets_the_same_one() -> None:
    again = {**PATTERN, "pattern": " use  authcontext "}
    ids = [
        taken(handoff(patterns_discovered=[p])).patterns_discovered[0].id for p in (PATTERN, again)
    ]
    assert ids[0] == ids[1]
    assert ids[0] is not None
    assert ids[0].startswith("pattern-")
    found = taken(handoff(gotchas=[GOTCHA, {**GOTCHA, "issue": "other", "id": "gotcha-7"}]))
    assert found.gotchas[0].id != found.gotchas[1].id == "gotcha-7"


def test_what_stands_there_twice_is_told() -> None:
    assert fields(handoff(gotchas=[GOTCHA, GOTCHA])) == ["gotchas.1.id"]
    assert fields(handoff(files_created=[created("a"), created("a")])) == ["files_created.1.path"]


def test_an_id_of_the_template_is_not_taken() -> None:
    assert fields(handoff(gotchas=[{**GOTCHA, "id": "gotcha-XXX"}])) == ["gotchas.0.id"]


# ------------------------------------------------------------------------------------- the diff


def test_files_that_were_changed_are_named() -> None:
    changed = [file("new.py", FileStatus.ADDED), file("old.py")]
    value = handoff(files_created=[created("new.py")], files_modified=[modified("old.py")])
    assert taken(value, changed=changed)
    assert fields(handoff(), changed=changed) == ["files_created", "files_modified"]
    assert fields(value, changed=changed[:1]) == ["files_modified.0.path"]
    assert fields(value, changed=[]) == ["files_created.0.path", "files_modified.0.path"]


def test_without_a_diff_nothing_is_compared() -> None:
    assert taken(handoff(files_created=[created("new.py")]), changed=None)


def test_a_deleted_file_is_named_as_deleted() -> None:
    changed = [file("old.py", FileStatus.DELETED)]
    assert taken(handoff(files_modified=[modified("old.py", "delete")]), changed=changed)
    assert fields(handoff(files_modified=[modified("old.py")]), changed=changed) == [
        "files_modified.0.path"
    ]
    assert fields(handoff(), changed=changed) == ["files_modified"]
    still_there = handoff(files_modified=[modified("a.py", "delete")])
    assert fields(still_there, changed=[file("a.py")]) == ["files_modified.0.change_type"]


def test_of_a_renamed_file_the_new_name_is_needed() -> None:
    changed = [file("new.py", FileStatus.RENAMED, old="old.py")]
    assert taken(handoff(files_created=[created("new.py")]), changed=changed)
    both = handoff(files_created=[created("new.py")], files_modified=[modified("old.py", "delete")])
    assert taken(both, changed=changed)
    only_old = handoff(files_modified=[modified("old.py", "delete")])
    assert fields(only_old, changed=changed) == ["files_created"]


def test_of_very_many_files_not_each_has_to_be_named() -> None:
    changed = [file(f"{n}.py") for n in range(MAX_FILES + 1)]
    assert taken(handoff(files_modified=[modified("7.py")]), changed=changed)
    assert fields(handoff(files_modified=[modified("x.py")]), changed=changed) == [
        "files_modified.0.path"
    ]


def test_a_file_whose_name_cannot_be_written_need_not_be_named() -> None:
    assert taken(handoff(), changed=[file("a\x1bb.py")])


# ---------------------------------------------------------------------------------------- tasks


def test_tasks_are_those_that_there_are_by_their_whole_ids() -> None:
    value = handoff(
        outcome="blocked", blockers=[{**BLOCKER, "blocking_tasks": ["12", " ab ", "ab"]}]
    )
    assert named_tasks(value) == ["12", "ab"]
    known = {"12": TaskId("1234"), "ab": TaskId("abcd")}
    assert taken(value, tasks=known).blockers[0].blocking_tasks == ("1234", "abcd")
    assert fields(value, tasks={**known, "12": None}) == ["blockers.0.blocking_tasks.0"]


@pytest.mark.parametrize("value", [None, "x", {"blockers": "x"}, {"blockers": [1, {}]}])
def test_of_what_is_no_handoff_no_tasks_are_looked_for(value: Any) -> None:
    assert named_tasks(value) == []


# --------------------------------------------------------------------------------- completeness


def test_completeness_is_the_share_of_the_sections_that_are_there() -> None:
    assert completeness(taken(handoff()), changed=False) == 0.2
    assert completeness(taken(handoff(gotchas=[])), changed=False) == 0.4
    whole = handoff(
        patterns_discovered=[PATTERN],
        gotchas=[GOTCHA],
        dependencies_for_next=None,
        suggested_next_steps=[],
    )
    assert completeness(taken(whole), changed=False) == 1
    assert completeness(taken(whole), changed=True) == 0.83
    assert completeness(taken({**whole, "files_created": [created("a")]}), changed=True) == 1
    assert completeness(taken({**whole, "open_questions": []}), changed=False) == 1


# ------------------------------------------------------------------------------- beside the outcome


@pytest.mark.parametrize(
    ("handoff", "outcome", "asks", "told"),
    [
        ("completed", "pr_ready", False, False),
        ("partial", "pr_ready", False, False),
        ("failed", "pr_ready", False, True),
        ("blocked", "approved", False, True),
        ("failed", "changes_requested", False, False),
        ("failed", "test_report", False, False),
        ("completed", "needs_info", True, True),
        ("blocked", "needs_info", True, False),
        ("completed", "", False, True),
        ("failed", "", False, False),
    ],
)
def test_whether_it_tells_another_end(handoff: str, outcome: str, asks: bool, told: bool) -> None:
    assert disagrees(HandoffOutcome(handoff), outcome, asks=asks) is told
