"""Requests: which lines of a message are one, and who may ask whom."""

import pytest

from agents_manager.domain.stages import table
from agents_manager.domain.stages.request import Priority, Request, read, refusal

SEED = """All done.

### REQUEST

REQUEST: debugger - 3 test failures in auth module
Context: Failures in test_jwt_verify,
test_token_refresh
Priority: high

Thank you.
"""


def test_the_form_of_the_seed() -> None:
    assert read(SEED) == (
        [
            Request(
                target="debugger",
                reason="3 test failures in auth module",
                context="Failures in test_jwt_verify,\ntest_token_refresh",
                priority=Priority.HIGH,
            )
        ],
        [],
    )


@pytest.mark.parametrize(
    ("text", "target", "priority"),
    [
        ("REQUEST: debugger - it fails", "debugger", "normal"),
        ("REQUEST: [debugger] - [it fails]\nPriority: [Critical]", "debugger", "critical"),
        ("**REQUEST:** build-agent-3 \u2014 it fails\n**Priority:** high", "build-agent-3", "high"),
        ("REQUEST: debugger - it fails\nPriority: high\nContext: x", "debugger", "high"),
    ],
)
def test_other_notations_of_the_same(text: str, target: str, priority: str) -> None:
    [request], problems = read(text)
    assert (request.target, request.reason, request.priority) == (target, "it fails", priority)
    assert problems == []


@pytest.mark.parametrize(
    "text",
    [
        "```\nREQUEST: debugger - it fails\n```",
        "~~~markdown\nREQUEST: debugger - it fails\nPriority: high\n~~~",
        "> REQUEST: debugger - it fails",
        "Write REQUEST: debugger - it fails, if you must.",
        "    REQUEST: debugger - it fails",
        "request: debugger - it fails",
        "",
    ],
)
def test_what_is_quoted_asks_for_nothing(text: str) -> None:
    assert read(text) == ([], [])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("REQUEST: debugger", "cannot be read"),
        ("REQUEST: - no target", "cannot be read"),
        ("REQUEST: debugger - x\nPriority: urgent", '"urgent" is no priority'),
        (f"REQUEST: debugger - {'x' * 1001}", "at most 1000"),
        (f"REQUEST: debugger - x\nContext: {'y' * 10_001}", "at most 10000"),
        ("\n\n".join(["REQUEST: debugger - x"] * 11), "at most 10"),
    ],
)
def test_what_cannot_be_read_is_told(text: str, said: str) -> None:
    assert said in "; ".join(read(text)[1])


def test_several_of_one_message() -> None:
    text = (
        "REQUEST: debugger - one\nREQUEST: code-discovery - two\nPriority: critical\n\nContext: x"
    )
    requests, problems = read(text)
    assert [(r.target, r.priority, r.context) for r in requests] == [
        ("debugger", "normal", ""),
        ("code-discovery", "critical", ""),
    ]
    assert problems == []


ALLOWED = {
    "prompt-optimizer": set[str](),
    "decide-agent": set[str](),
    "test-writer": {"build-agent", "code-discovery", "debugger"},
    "logical-agent": {"build-agent", "debugger", "code-discovery", "test-agent"},
    "test-agent": {"debugger"},
    "integration-agent": {"debugger"},
    "review-agent": {"build-agent"},
    "pre-flight-checker": {
        *("prompt-optimizer", "task-breakdown", "code-discovery", "plan-agent", "docs-researcher")
    },
}
ROLES = {stage.role for stage in table.STAGES}


@pytest.mark.parametrize("source", sorted(ROLES))
def test_who_may_request_whom(source: str) -> None:
    expected = ALLOWED.get(source, ROLES - {source, "decide-agent"})
    found = {t for t in ROLES if refusal(source, Request(target=t, reason="r")) is None}
    assert found == expected


@pytest.mark.parametrize(
    ("source", "target", "said"),
    [
        ("test-agent", "debuger", 'There is no agent "debuger". Did you mean "debugger"?'),
        ("review-agent", "decide-agent", "Nobody may request decide-agent."),
        ("decide-agent", "debugger", "decide-agent may request nobody."),
        ("test-agent", "build-agent", "test-agent may not request build-agent; it may: debugger."),
        ("build-agent-2", "build-agent-3", "build-agent-2 may not request build-agent-3"),
        ("nobody", "debugger", "nobody may request nobody."),
    ],
)
def test_a_refusal_says_why(source: str, target: str, said: str) -> None:
    assert said in str(refusal(source, Request(target=target, reason="r")))


def test_one_of_the_builders_may_be_asked() -> None:
    assert refusal("review-agent", Request(target="build-agent-2", reason="r")) is None
    assert table.stage_of("build-agent-0") is None
