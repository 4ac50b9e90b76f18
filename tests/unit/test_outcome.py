import json
from typing import Any

import pytest

from agents_manager.domain import payload
from agents_manager.domain.outcome import (
    BUILT_IN,
    MAX_REASON,
    Malformed,
    Nothing,
    Reading,
    Reported,
    read_markers,
    read_value,
    validate,
)
from agents_manager.domain.pipeline import OUTCOME_ALIASES

KNOWN = {o.name: o for o in BUILT_IN}
ALL = tuple(KNOWN)
END = "<<<END_PAYLOAD>>>"
QUESTION = {"questions": [{"id": "q1", "question": "Which provider?"}]}


def block(name: str, value: object = None, *, eol: str = "\n") -> str:
    body = "" if value is None else json.dumps(value, ensure_ascii=False, indent=1) + "\n"
    return f"<<<OUTCOME:{name}>>>\n{body}{END}".replace("\n", eol)


def read(text: str, offered: tuple[str, ...] = ALL) -> Reading:
    return read_markers(text, offered, KNOWN)


def reported(text: str) -> Reported:
    reading = read(text)
    assert isinstance(reading, Reported), reading
    return reading


def reason(text: str, offered: tuple[str, ...] = ALL) -> str:
    reading = read(text, offered)
    assert isinstance(reading, Malformed), reading
    return reading.reason


# ------------------------------------------------------------------------------ what is taken


def test_an_outcome_without_payload() -> None:
    found = reported(f"All done.\n\n{block('pr_ready')}\n")
    assert found == Reported("pr_ready", None, "All done.")


def test_a_payload_comes_back_in_our_notation() -> None:
    older = {"question": "Which?", "options": ["JWT", "OAuth"], "suggestedAnswer": "JWT"}
    found = reported(block("needs_info", older))
    assert found.payload is not None
    [question] = found.payload["questions"]
    assert (question["id"], question["suggested_answer"]) == ("q1", "JWT")
    assert [o["label"] for o in question["options"]] == ["JWT", "OAuth"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(block("needs_info", QUESTION), id="alone"),
        pytest.param(block("needs_info", QUESTION, eol="\r\n"), id="crlf"),
        pytest.param(block("needs_info", QUESTION, eol="\r"), id="cr"),
        pytest.param(f"<<<OUTCOME:needs_info>>>{json.dumps(QUESTION)}{END}", id="one-line"),
        pytest.param(f"   {block('needs_info', QUESTION)}", id="three-blanks"),
        pytest.param(
            f"<<<OUTCOME:needs_info>>>\n```json\n{json.dumps(QUESTION)}\n```\n{END}",
            id="payload-in-a-fence",
        ),
        pytest.param(
            f"<<<OUTCOME:needs_info>>>\n````\n{json.dumps(QUESTION)}\n`````\n{END}",
            id="payload-in-a-longer-fence",
        ),
        pytest.param(
            f"<<<OUTCOME:needs_info>>>\r\n~~~json\r\n{json.dumps(QUESTION)}\r\n~~~\r\n{END}",
            id="payload-in-a-tilde-fence",
        ),
        pytest.param(f"```\ncode\n```\n{block('needs_info', QUESTION)}", id="after-a-fence"),
        pytest.param(f"> quoted\n\n{block('needs_info', QUESTION)}", id="after-a-quotation"),
        pytest.param(f"```inline``` code\n{block('needs_info', QUESTION)}", id="after-inline-code"),
        pytest.param(f"{block('needs_info', QUESTION)} Thanks!\nBye.", id="words-behind"),
    ],
)
def test_forms_of_one_block(text: str) -> None:
    found = reported(text)
    assert found.name == "needs_info"
    assert found.payload is not None
    assert found.payload["questions"][0]["question"] == "Which provider?"


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085", "\x7f"])
def test_separators_inside_a_payload_are_ordinary_characters(separator: str) -> None:
    value = {"questions": [{"id": "q1", "question": f"a{separator}b"}]}
    found = reported(block("needs_info", value))
    assert found.payload is not None
    assert found.payload["questions"][0]["question"] == f"a{separator}b"


def test_the_text_around_the_block_is_kept() -> None:
    found = reported(f"# Plan\r\n\r\n1. Do it\r\n{block('plan_complete')}\r\nThat is all.")
    assert found.text == "# Plan\n\n1. Do it\nThat is all."


@pytest.mark.parametrize("text", ["", "Done.", "OUTCOME:pr_ready", END, "<<<OUTCOME"])
def test_no_outcome_is_nothing(text: str) -> None:
    assert read(text) == Nothing()


@pytest.mark.parametrize(("alias", "name"), OUTCOME_ALIASES.items())
def test_aliases_are_read_as_the_outcome(alias: str, name: str) -> None:
    assert reported(block(alias)).name == name
    assert alias in KNOWN[name].aliases
    assert read(block(alias), (name,)) == Reported(name, None, "")


def test_a_payload_that_may_be_left_out() -> None:
    assert reported(block("approved")).payload is None
    assert reported(block("approved", {"comments": "fine"})).payload == {"comments": "fine"}


# ---------------------------------------------------------------------------- what is refused


def test_two_blocks_are_refused_and_named() -> None:
    text = f"{block('pr_ready')}\n{block('needs_info', QUESTION)}"
    assert reason(text) == (
        "Exactly one outcome block is expected; there were 2 (pr_ready, needs_info)."
    )


def test_many_blocks_are_counted_and_not_all_named() -> None:
    found = reason(f"{block('pr_ready')}\n" * 1000)
    assert "there were 1000 (pr_ready, pr_ready, pr_ready, pr_ready, pr_ready, …)" in found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "<<<OUTCOME:pr_ready>>>\n",
            f'The block of outcome "pr_ready" has no closing {END}.',
            id="never-closed",
        ),
        pytest.param(
            '<<<OUTCOME:needs_info>>>\n{"questions": [{"id": "q1"',
            f'The block of outcome "needs_info" has no closing {END}.',
            id="cut-off",
        ),
        pytest.param(
            "<<<OUTCOME:needs_in",
            f'The block of outcome "needs_in" has no closing {END}.',
            id="cut-off-in-the-marker",
        ),
        pytest.param(
            f'<<<OUTCOME:needs_info>>>\n{{"questions": [\n{END}',
            'The payload of outcome "needs_info" is not valid JSON: Expecting value',
            id="truncated-json",
        ),
        pytest.param(
            f"<<<OUTCOME:needs_info>>>\n```json\n{{}}\n{END}\n```",
            'The payload of outcome "needs_info" is not valid JSON',
            id="fence-closed-too-late",
        ),
        pytest.param(
            f"<<<OUTCOME:pr_ready>>>\n<<<OUTCOME:pr_ready>>>\n{END}",
            'The payload of outcome "pr_ready" is not valid JSON',
            id="block-in-a-block",
        ),
        pytest.param(
            block("needs_inf", QUESTION),
            'There is no outcome "needs_inf". Did you mean "needs_info"? Possible now:',
            id="unknown",
        ),
        pytest.param(
            block("needs info", QUESTION),
            'There is no outcome "needs info". Did you mean "needs_info"?',
            id="not-a-name",
        ),
        pytest.param(
            f"<<<OUTCOME:needs_info>\n{{}}\n{END}",
            'There is no outcome "needs_info>". Did you mean "needs_info"?',
            id="marker-mistyped",
        ),
        pytest.param(
            block("needs_info"), 'The outcome "needs_info" needs a payload.', id="no-payload"
        ),
        pytest.param(
            f"<<<OUTCOME:needs_info>>>\nnull\n{END}",
            'The outcome "needs_info" needs a payload.',
            id="null-payload",
        ),
        pytest.param(
            block("needs_info", {"questions": []}),
            'The payload of outcome "needs_info" is not valid: questions: Tuple should have'
            " at least 1 item",
            id="invalid-payload",
        ),
        pytest.param(
            block("needs_info", [1]),
            'The payload of outcome "needs_info" is not valid: document: ',
            id="payload-is-no-object",
        ),
        pytest.param(
            f'<<<OUTCOME:no_changes>>>\n{{"reason": "a", "reason": "b"}}\n{END}',
            'the key "reason" stands there twice',
            id="duplicate-key",
        ),
    ],
)
def test_what_cannot_be_taken_is_told_exactly(text: str, expected: str) -> None:
    assert expected in reason(text)


def test_an_outcome_the_graph_does_not_take_now() -> None:
    found = reason(block("pr_ready"), ("plan_complete", "needs_info"))
    assert found == (
        'The outcome "pr_ready" is not possible here. Possible now: plan_complete, needs_info.'
    )
    assert "Possible now: none." in reason(block("pr_ready"), ())


def test_size_and_depth_of_a_payload_are_limited_and_the_limit_is_named() -> None:
    fits = "x" * (payload.MAX_BYTES - len('{"reason": ""}'))
    assert isinstance(read(f'<<<OUTCOME:no_changes>>>{{"reason": "{fits}"}}{END}'), Reported)
    found = reason(f'<<<OUTCOME:no_changes>>>{{"reason": "{fits}x"}}{END}')
    assert f"262145 bytes are over the limit of {256 * 1024}" in found
    deep: Any = "x"
    for _ in range(payload.MAX_DEPTH):
        deep = [deep]
    assert "not valid: " in reason(block("no_changes", deep))
    assert "nested deeper than 32 levels" in reason(block("no_changes", [deep]))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(block("x" * 100_000), id="name"),
        pytest.param(block("needs_info", {"k" * 200_000: 1}), id="key"),
        pytest.param(block("needs_info", {str(i): 1 for i in range(9_000)}), id="many-faults"),
        pytest.param(
            f'<<<OUTCOME:no_changes>>>{{"{"k" * 9_000}":1,"{"k" * 9_000}":2}}{END}', id="twice"
        ),
    ],
)
def test_a_reason_stays_short_however_long_the_fault(text: str) -> None:
    assert len(reason(text)) <= MAX_REASON


# -------------------------------------------------------------------------------- the registry


def test_values_of_other_doors_are_held_to_the_same_registry() -> None:
    assert validate("no_changes", {"reason": "x"}, ALL, KNOWN) == Reported(
        "no_changes", {"reason": "x"}, ""
    )
    assert isinstance(validate("no_changes", {}, ALL, KNOWN), Malformed)


def test_every_outcome_is_described_and_has_a_schema() -> None:
    assert len(KNOWN) == len(BUILT_IN)
    for outcome in BUILT_IN:
        assert outcome.description.endswith(".")
        if outcome.payload is not None:
            json.dumps(outcome.payload.model_json_schema())


# ------------------------------------------------------------------------------ outcomes as data


def test_an_outcome_as_data_is_held_to_the_same_rules() -> None:
    def read(value: Any) -> Reading:
        return read_value(value, ALL, KNOWN, text="Said.")

    good = {"outcome": "no_changes", "payload": {"reason": "x"}}
    assert read(good) == Reported("no_changes", {"reason": "x"}, "Said.")
    assert read({"outcome": "plan_ready"}) == Reported("plan_complete", None, "Said.")
    deep: Any = 1
    for _ in range(40):
        deep = [deep]
    for content, words in (
        ({"reason": "x" * 300_000}, "over the limit"),
        (deep, "nested deeper"),
        ({"reason": "\x00"}, "NUL"),
        ({"reason": float("nan")}, "NaN"),
        ({"raeson": "x"}, "raeson"),
    ):
        refused = read({"outcome": "no_changes", "payload": content})
        assert isinstance(refused, Malformed)
        assert words in refused.reason
    for wrong in ([], "approved", {}, {"outcome": 3}, {"outcome": "approved", "and": "more"}):
        assert isinstance(read(wrong), Malformed)
