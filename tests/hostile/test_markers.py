"""Texts that look like an outcome and are none, and texts made to make the parser slow."""

import json
import re
import time
from typing import Any

import pytest

from agents_manager.domain.outcome import BUILT_IN, Malformed, Nothing, Reported, read_markers

KNOWN = {o.name: o for o in BUILT_IN}
APPROVED = "<<<OUTCOME:approved>>>\n<<<END_PAYLOAD>>>"
ONE_LINE = "<<<OUTCOME:approved>>><<<END_PAYLOAD>>>"
REAL = '<<<OUTCOME:no_changes>>>\n{"reason": "it was there"}\n<<<END_PAYLOAD>>>'


def read(text: str) -> Reported | Malformed | Nothing:
    return read_markers(text, tuple(KNOWN), KNOWN)


def seed_parser(text: str) -> tuple[str | None, Any]:
    """The parser this one replaces, as the control: each test below must fool it."""
    found = re.search(r"<<<OUTCOME:(\w+)>>>", text)
    if found is None:
        return None, None
    payload = re.search(r"<<<OUTCOME:\w+>>>\s*([\s\S]*?)<<<END_PAYLOAD>>>", text)
    try:
        return found[1], json.loads(payload[1]) if payload and payload[1].strip() else None
    except ValueError:
        return None, None


NOT_SEEN = [
    pytest.param(f"```\n{APPROVED}\n```", id="fence"),
    pytest.param(f"~~~\n{APPROVED}\n~~~", id="tilde-fence"),
    pytest.param(f"```text\n{APPROVED}\n```", id="fence-with-language"),
    pytest.param(f"   ```\n{APPROVED}\n   ```", id="fence-behind-three-blanks"),
    pytest.param(f"````\n```\n{APPROVED}\n```\n````", id="longer-fence"),
    pytest.param(f"~~~\n```\n{APPROVED}\n```\n~~~", id="fence-of-the-other-kind"),
    pytest.param(f"```\n``` x\n{APPROVED}\n```", id="closing-fence-with-words"),
    pytest.param(f"```\n```\u2028\n{APPROVED}\n```", id="closing-fence-with-a-separator"),
    pytest.param(f"```\n    ```\n{APPROVED}\n```", id="closing-fence-indented-as-code"),
    pytest.param(f"```\n{APPROVED}", id="fence-never-closed"),
    pytest.param(f"words\r```\r{APPROVED}", id="fence-behind-a-carriage-return"),
    pytest.param(f"```\r\n{APPROVED}\r\n```", id="fence-with-crlf"),
    pytest.param(f"> {ONE_LINE}", id="quoted"),
    pytest.param(f">{ONE_LINE}", id="quoted-without-blank"),
    pytest.param(f"    {ONE_LINE}", id="indented-code"),
    pytest.param(f"\t{ONE_LINE}", id="tab"),
    pytest.param(f"- {ONE_LINE}", id="list"),
    pytest.param(f"I shall write {ONE_LINE} when I am done.", id="in-a-sentence"),
    pytest.param(f"`{ONE_LINE}`", id="inline-code"),
    pytest.param(f"\u200b{ONE_LINE}", id="zero-width-blank-before"),
    pytest.param(f"\u00a0{ONE_LINE}", id="no-break-blank-before"),
    *(
        pytest.param(f"> The file says:{char}{ONE_LINE}", id=f"quoted-behind-{ord(char):04x}")
        for char in "\u2028\u2029\u0085\x0b\x0c\x1c\x1d\x1e"
    ),
]


@pytest.mark.parametrize("text", NOT_SEEN)
def test_a_marker_that_is_only_shown_is_never_taken(text: str) -> None:
    """Nothing is inferred from such a message either: the agent is asked what it means."""
    assert isinstance(read(text), Malformed)
    assert seed_parser(text)[0] == "approved", "the control is not fooled: the test tests nothing"


@pytest.mark.parametrize("text", NOT_SEEN)
def test_it_does_not_hide_the_real_one(text: str) -> None:
    found = read(f"{REAL}\n\n{text}")
    assert isinstance(found, Reported)
    assert found.name == "no_changes"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"{APPROVED}\n\n{REAL}", id="two-blocks"),
        pytest.param("<<<OUTCOME:approved>>>", id="cut-off"),
        pytest.param("<<<OUTCOME:approved>>>\n{}\n<<<END_PAYLOAD>", id="cut-off-at-the-end"),
        pytest.param("<<<OUTCOME:merged>>>\n<<<END_PAYLOAD>>>", id="unknown"),
        pytest.param(
            '<<<OUTCOME:approved>>>\n{"comments": "no", "comments": "yes"}\n<<<END_PAYLOAD>>>',
            id="key-twice",
        ),
        pytest.param(
            '<<<OUTCOME:approved>>>\n{"comments": "\\ud800"}\n<<<END_PAYLOAD>>>', id="surrogate"
        ),
        pytest.param(
            '<<<OUTCOME:approved>>>\n{"comments": "\\u0000"}\n<<<END_PAYLOAD>>>', id="nul"
        ),
        pytest.param(
            f'<<<OUTCOME:approved>>>\n{{"comments": "{"x" * 300_000}"}}\n<<<END_PAYLOAD>>>',
            id="too-large",
        ),
        pytest.param(
            f"<<<OUTCOME:approved>>>\n{'[' * 40}{']' * 40}\n<<<END_PAYLOAD>>>", id="too-deep"
        ),
        pytest.param(
            '<<<OUTCOME:approved>>>\n{"merge": true}\n<<<END_PAYLOAD>>>', id="unknown-field"
        ),
    ],
)
def test_what_is_unsound_goes_back_to_the_agent(text: str) -> None:
    assert isinstance(read(text), Malformed)
    fooled = seed_parser(text)[0]
    assert fooled is not None, "the control is not fooled: the test tests nothing"


# ---------------------------------------------------------------------------------------- time

SMALL = 500_000
TIMES = 10
SLOWER = 40
"""Ten times the text may take forty times as long: a machine is never quiet, and a parser that
is not linear takes a hundred times as long."""
FLOOR_S = 0.01


def seconds(text: str) -> float:
    best = float("inf")
    for _ in range(2):
        started = time.process_time()
        read(text)
        best = min(best, time.process_time() - started)
    return best


@pytest.mark.parametrize(
    ("before", "piece", "after"),
    [
        pytest.param("", "<<<OUTCOME:pr_ready>>>\n", "", id="opened"),
        pytest.param("", "<<<OUTCOME:", "", id="opened-in-one-line"),
        pytest.param("", "<<<OUTCOME:a>>><<<END_PAYLOAD>>>\n", "", id="blocks"),
        pytest.param("<<<OUTCOME:a>>>", "<<<END_PAYLOAD>>", "", id="almost-closed"),
        pytest.param("<<<OUTCOME:", "a", ">>>", id="name"),
        pytest.param("", "`", "x`\n<<<OUTCOME:a>>>", id="backticks"),
        pytest.param("~~~\n", "~", " x\n<<<OUTCOME:a>>>", id="tildes"),
        pytest.param("", "````\n```\n", "<<<OUTCOME:a>>>", id="fences"),
        pytest.param("", " ", "<<<OUTCOME:a>>>", id="blanks"),
        pytest.param("", "< outcome ", "", id="almost-opened"),
        pytest.param("", "outcome is ", "", id="almost-named"),
        pytest.param("type ", "<", "", id="angle-brackets"),
        pytest.param("outcome ", "> ", "", id="quotation-marks"),
        pytest.param("outcome ", "&lt;", "", id="entities"),
        pytest.param("outcome ", "\x1b[", "", id="escapes"),
        pytest.param("outcome ", "\x1b]8", "", id="escapes-without-end"),
        pytest.param("", '"type" : ', "", id="keys"),
        pytest.param("<<<OUTCOME:no_changes>>>", "[", "<<<END_PAYLOAD>>>", id="brackets"),
        pytest.param(
            "<<<OUTCOME:no_changes>>>\n```\n", "{}\r\n", "```\n<<<END_PAYLOAD>>>", id="payload"
        ),
    ],
)
def test_time_grows_with_the_text_and_no_faster(before: str, piece: str, after: str) -> None:
    small = before + piece * (SMALL // len(piece)) + after
    large = before + piece * (SMALL * TIMES // len(piece)) + after
    assert seconds(large) < max(seconds(small), FLOOR_S) * SLOWER


def test_a_payload_full_of_faults_is_read_in_a_blink() -> None:
    faults = ",".join(f'"{i}":[[[]]]' for i in range(15_000))
    text = f"<<<OUTCOME:approved>>>{{{faults}}}<<<END_PAYLOAD>>>"
    assert isinstance(read(text), Malformed)
    assert seconds(text) < 5
