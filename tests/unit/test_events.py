import json
from typing import Any, get_args

import pytest

from agents_manager.domain import event
from agents_manager.domain.budget import BudgetScope
from agents_manager.domain.effects import BESIDE, EFFECT, HOOK_POLICIES, Effect
from agents_manager.domain.event import EVENT, Event
from agents_manager.domain.event.happening import SENTENCE_LIMIT, Happening, Level
from agents_manager.domain.event.races import Figures
from agents_manager.domain.event.workspaces import WorkspaceEvent
from agents_manager.domain.race import Contender
from agents_manager.domain.run import RunStatus

MEMBERS: tuple[type[Any], ...] = get_args(get_args(Event)[0])
CATEGORIES = {
    *("lifecycle", "transition", "agent", "payload", "prompt", "review", "guard", "hook", "edit"),
    *("dependency", "git", "handoff", "cost", "note", "error", "tool"),
}
OF_PARTS = {"join_parts", "settle_race", "take_part"}
HOSTILE = "first\nsecond\r\n\x1b[31mred\u2028third\u202e"


def sample(member: type[Any], text: str = "words") -> Any:
    """An event with `text` wherever a text may stand."""
    values: dict[str, Any] = {
        "str": text,
        "int": 3,
        "bool": True,
        "float": 0.5,
        "BudgetScope": "task",
        "float | None": None,
        "<class 'datetime.datetime'>": "2026-11-15T12:00:00Z",
        "datetime.datetime | None": "2026-11-15T12:00:00Z",
        "str | None": text,
        "int | None": 3,
        "tuple[str, ...]": [text],
        "tuple[int, ...]": [1, 2],
        "typing.Literal['success', 'needs_external_debug']": "success",
        "collections.abc.Mapping[str, typing.Any] | None": {"number": 1},
        "tuple[collections.abc.Mapping[str, typing.Any], ...]": [{"comment": text}],
        "collections.abc.Mapping[str, typing.Any]": {"text": text},
        "tuple[collections.abc.Mapping[str, str], ...]": [{"field": text}],
        "bool | None": True,
        str(Contender): {"agent": text},
        f"{Contender.__module__}.Contender | None": {"agent": text, "model": text},
        f"tuple[{Contender.__module__}.Contender, ...]": [{"agent": text}, {"agent": text}],
        f"tuple[{Figures.__module__}.Figures, ...]": [{"run": text, "commits": [text]}],
    }
    fields = {
        name: values[getattr(field.annotation, "__name__", "")]
        if field.annotation in (str, int, bool, float, BudgetScope)
        else values[str(field.annotation)]
        for name, field in member.model_fields.items()
        if name != "type"
    }
    return member.model_validate(fields)


@pytest.mark.parametrize("member", [pytest.param(m, id=m.__name__) for m in MEMBERS])
class TestEveryEvent:
    def test_says_itself_in_a_sentence(self, member: type[Any]) -> None:
        said = sample(member).sentence()
        assert said.strip() == said != ""
        assert "None" not in said

    def test_says_it_on_one_line_whatever_others_wrote(self, member: type[Any]) -> None:
        said = sample(member, HOSTILE).sentence()
        assert said.isprintable()
        assert len(said.splitlines()) == 1
        assert len(sample(member, "x" * 10_000).sentence()) <= SENTENCE_LIMIT

    def test_is_read_again_as_what_it_was(self, member: type[Any]) -> None:
        first = sample(member)
        stored = json.loads(json.dumps(first.model_dump(mode="json")))
        assert EVENT.validate_python(stored) == first
        assert type(EVENT.validate_json(first.model_dump_json())) is member

    def test_has_a_known_category_and_level(self, member: type[Any]) -> None:
        assert member.category in CATEGORIES
        assert member.level in Level


def test_type_tags_are_unique_and_every_class_is_in_the_union() -> None:
    tags = [m.model_fields["type"].default for m in MEMBERS]
    assert len(set(tags)) == len(tags)
    classes = {*Happening.__subclasses__(), *WorkspaceEvent.__subclasses__()}
    assert classes - {WorkspaceEvent} == set(MEMBERS)


@pytest.mark.parametrize(
    ("happened", "said"),
    [
        (
            event.StatusChanged(source="a", to="b", trigger="manual"),
            "Moved from a to b (manual).",
        ),
        (
            event.StatusChanged(source="a", to="b", trigger="manual", forced=True),
            "Moved from a to b by force (manual).",
        ),
        (
            event.AgentCompleted(run="r", outcome="pr_ready", inferred=False, cost_usd=0.5),
            "The agent ended with pr_ready ($0.50).",
        ),
        (
            event.AgentCompleted(run="r", outcome="pr_ready", inferred=True, cost_usd=None),
            "The agent was taken to have ended with pr_ready (cost unknown).",
        ),
        (event.ChecksPassed(run="r", checks=()), "Checks passed: none."),
        (
            event.ChecksPassed(run="r", checks=("test",), warnings=("lint",)),
            "Checks passed: test; failed, which is only told: lint.",
        ),
        (
            event.MergeConflicted(number=3, files=()),
            "Pull request #3 conflicts in its history.",
        ),
        (event.Noted(text="\u200b"), "A note without words."),
    ],
)
def test_sentences(happened: Any, said: str) -> None:
    assert happened.sentence() == said


@pytest.mark.parametrize(
    ("decision", "comments", "summary", "said"),
    [
        ("approved", 0, None, "ann approved."),
        ("approved", 1, None, "ann approved with 1 comment."),
        ("changes_requested", 2, "Too long.", "ann asked for changes with 2 comments: Too long."),
        ("changes_requested", 0, "Shorter", "ann asked for changes: Shorter."),
    ],
)
def test_reviews_say_what_was_decided(
    decision: str, comments: int, summary: str | None, said: str
) -> None:
    happened = event.ReviewSubmitted(
        prompt="p",
        decision=decision,
        by="ann",
        via="cli",
        summary=summary,
        comments=({},) * comments,
        head_sha=None,
    )
    assert happened.sentence() == said


def test_effects_are_told_apart_by_their_kind_and_named_like_their_hooks() -> None:
    members = get_args(get_args(Effect)[0])
    kinds = [m.model_fields["kind"].default for m in members]
    assert len(set(kinds)) == len(kinds)
    assert set(kinds) <= {
        *HOOK_POLICIES,
        *BESIDE,
        *OF_PARTS,
        "plugin_hook",
        "recheck_run",
        "hand_over",
    }
    assert type(EFFECT.validate_python({"kind": "merge_pr", "head_sha": None})) in members


def test_a_run_is_live_until_it_ended() -> None:
    assert {s for s in RunStatus if s.live} == {RunStatus.QUEUED, RunStatus.RUNNING}
