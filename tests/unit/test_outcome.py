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
    names_in,
    question_beside,
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


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Done.",
        "The outcome is good: all tests pass.",
        "std::cout << outcome << std::endl;",
        "class Outcome<T>: pass",
        "a payload ends here",
        '{"outcome": "win", "type": "match"}',
        "I added the status pr_ready to the enum of outcomes.",
    ],
)
def test_no_outcome_is_nothing(text: str) -> None:
    assert read(text) == Nothing()


FLAT = f"<<<OUTCOME:needs_info>>>{json.dumps(QUESTION)}{END}"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"```\n{block('needs_info', QUESTION)}\n```", id="in-a-fence"),
        pytest.param(f"```json\n{block('needs_info', QUESTION)}", id="in-a-fence-never-closed"),
        pytest.param(f"I need an answer: {FLAT}", id="joined-to-a-sentence"),
        pytest.param(f"I need an answer.{FLAT}", id="joined-without-a-blank"),
        pytest.param(FLAT.lower(), id="lower-case"),
        pytest.param(f"<<<Outcome: needs_info>>>\n{END}", id="with-a-blank"),
        pytest.param(f"\x1b[1m\x1b[32m{FLAT}\x1b[0m", id="coloured"),
        pytest.param("<<<\x1b[1mOUTCOME\x1b[0m:needs_info>>>", id="coloured-inside"),
        pytest.param(f"\x1b]8;;x\x07{FLAT}", id="behind-a-link-of-the-terminal"),
        pytest.param(f"> {FLAT}", id="quoted"),
        pytest.param(f"    {FLAT}", id="indented"),
        pytest.param(f"**{FLAT}**", id="bold"),
        pytest.param("<<<\u200bOUTCOME:needs_info>>>", id="zero-width-blank"),
        pytest.param(
            "\uff1c\uff1c\uff1cOUTCOME\uff1aneeds_info\uff1e\uff1e\uff1e", id="full-width"
        ),
        pytest.param("&lt;&lt;&lt;OUTCOME:needs_info&gt;&gt;&gt;", id="html"),
        pytest.param("\\<\\<\\<OUTCOME:needs\\_info\\>", id="escaped"),
        pytest.param("<outcome>needs_info</outcome>", id="element"),
        pytest.param("<<OUTCOME:needs_info>>", id="two-brackets"),
        pytest.param("[OUTCOME:needs_info]", id="other-brackets"),
        pytest.param("OUTCOME:needs_info", id="without-brackets"),
        pytest.param("## Outcome: needs_info", id="heading"),
        pytest.param("Outcome: `needs-info`", id="other-notation-of-the-name"),
        pytest.param("outcome: plan_ready", id="alias"),
        pytest.param("<<<OUTCOME", id="cut-off"),
        pytest.param(END, id="only-the-end"),
        pytest.param(json.dumps({"outcome": "needs_info", "payload": QUESTION}), id="json"),
        pytest.param(json.dumps({"type": "needs_info", **QUESTION}, indent=1), id="json-by-type"),
        pytest.param('{\n  "outcome": "needs_info",\n  "payload": {"ques', id="json-cut-off"),
    ],
)
def test_what_looks_like_an_outcome_is_not_nothing(text: str) -> None:
    found = reason(f"I did the work.\n\n{text}", ("plan_complete", "needs_info"))
    assert found.startswith("This looks like an outcome, but it cannot be read as one: ")


def test_only_a_marker_is_recognised_for_outcomes_that_are_not_possible() -> None:
    assert read('{"type": "approved"}', ("pr_ready",)) == Nothing()
    assert isinstance(read("x <<<OUTCOME:approved>>>", ("pr_ready",)), Malformed)
    assert isinstance(read('{"type": "needs_info"}', ("pr_ready",)), Malformed)


def test_a_payload_may_repeat_the_name_of_its_outcome() -> None:
    found = reported(block("needs_info", {"type": "needs_info", **QUESTION}))
    assert found.payload == reported(block("needs_info", QUESTION)).payload
    older = {"type": "options_proposed", "description": "How?"}
    options = [{"id": "a", "title": "A"}, {"id": "b", "title": "B"}]
    assert reported(block("options_proposed", {**older, "options": options})).payload
    assert "type" in reason(block("needs_info", {"type": "approved", **QUESTION}))


@pytest.mark.parametrize(("alias", "name"), OUTCOME_ALIASES.items())
def test_aliases_are_read_as_the_outcome(alias: str, name: str) -> None:
    assert reported(block(alias)).name == name
    assert alias in KNOWN[name].aliases
    assert read(block(alias), (name,)) == Reported(name, None, "")


def test_a_payload_that_may_be_left_out() -> None:
    assert reported(block("approved")).payload is None
    assert reported(block("approved", {"comments": "fine"})).payload == {"comments": "fine"}


# ---------------------------------------------------------------------------- what is refused


def test_two_different_blocks_are_refused_and_named() -> None:
    text = f"{block('pr_ready')}\n{block('needs_info', QUESTION)}"
    assert reason(text) == (
        "Exactly one outcome is expected; there were 2 different blocks (pr_ready, needs_info)."
    )
    other = {"questions": [{"id": "q1", "question": "Which colour?"}]}
    assert "2 different" in reason(f"{block('needs_info', QUESTION)}\n{block('needs_info', other)}")


def test_a_block_that_is_repeated_is_one_outcome() -> None:
    text = f"# Plan\n{block('plan_complete')}\nAs said:\n{block('plan_complete')}"
    assert reported(text) == Reported("plan_complete", None, "# Plan\nAs said:")
    asked = block("needs_info", QUESTION)
    assert reported(f"{asked}\n\n{asked}\n{asked}").payload == reported(asked).payload


def test_many_different_blocks_are_counted_and_not_all_named() -> None:
    found = reason("\n".join(block(f"o{n}") for n in range(1000)))
    assert "there were 1000 different blocks (o0, o1, o2, o3, o4, …)" in found


def test_a_question_beside_a_report_is_found() -> None:
    def beside(name: str, text: str) -> str | None:
        return question_beside(name, names_in(text), KNOWN)

    assert beside("pr_ready", f"Done.\n{block('pr_ready')}") is None
    assert beside("no_changes", block("pr_ready")) is None
    assert beside("pr_ready", block("nonsense")) is None
    assert beside("needs_info", block("needs_info", QUESTION)) is None
    assert beside("pr_ready", block("needs_info", QUESTION)) == "needs_info"


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
