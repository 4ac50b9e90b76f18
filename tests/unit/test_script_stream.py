"""Reading an agent's message stream, whatever the agent printed."""

import json
from pathlib import Path
from typing import Any

import pytest

from agents_manager.agents import stream
from agents_manager.domain.run import ErrorClass, Usage


def written(folder: Path, *lines: str | dict[str, Any]) -> Path:
    output = folder / "output"
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    output.write_text("\n".join(texts))
    return output


def result(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "result", "text": text, "session": "s", **more}


def test_last_result_counts(tmp_path: Path) -> None:
    said = stream.read(written(tmp_path, result("one"), {"type": "assistant"}, result("two")))
    assert (said.final_text, said.session, said.usage, said.error) == ("two", "s", None, None)


def test_the_session_of_an_agent_that_was_killed_is_known(tmp_path: Path) -> None:
    said = stream.read(written(tmp_path, {"type": "session", "session": "s"}, '{"type": "ass'))
    assert (said.session, said.final_text) == ("s", "")


@pytest.mark.parametrize(
    "noise",
    [
        pytest.param("npm WARN deprecated", id="text"),
        pytest.param('{"type": "result", "text": "cut', id="cut line"),
        pytest.param('["result"]', id="not an object"),
        pytest.param('{"text": "no type"}', id="no type"),
        pytest.param('{"type": 3}', id="type is no text"),
        pytest.param("{" * 100_000, id="garbage"),
        pytest.param('{"type":' + "[" * 100_000, id="very deep"),
        pytest.param('{"type": "usage", "input_tokens": ' + "9" * 5000 + "}", id="huge number"),
        pytest.param(json.dumps(result("x" * stream.MAX_LINE)), id="line over the limit"),
        pytest.param("x" * (2 * stream.MAX_LINE - 1), id="line of twice the limit"),
    ],
)
def test_noise_is_passed_over(tmp_path: Path, noise: str) -> None:
    for lines in ([noise, result("kept")], [result("kept"), noise]):
        assert stream.read(written(tmp_path, *lines)).final_text == "kept"


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    output = written(tmp_path, result("kept"))
    output.write_bytes(b"\xff\xfe\n" + b'{"type": "\xff"}\n' + output.read_bytes())
    assert stream.read(output).final_text == "kept"


def test_nothing_printed_is_nothing_said(tmp_path: Path) -> None:
    for output in (written(tmp_path), tmp_path / "missing"):
        said = stream.read(output)
        assert (said.final_text, said.session) == ("", None)


def test_usage_is_added_up_and_unknown_stays_unknown(tmp_path: Path) -> None:
    said = stream.read(
        written(
            tmp_path,
            {"type": "usage", "input_tokens": 10, "cost_usd": 0.5},
            {"type": "usage", "input_tokens": 5, "output_tokens": 1, "cost_usd": 1},
            {"type": "usage", "cache_read_tokens": None},
        )
    )
    assert said.usage == Usage(input_tokens=15, output_tokens=1, cost_usd=1.5)
    assert said.usage_refused is None


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([{"input_tokens": -5}], "input_tokens is -5."),
        ([{"output_tokens": True}], "output_tokens is True."),
        ([{"cost_usd": "9"}], "cost_usd is '9'."),
        ([{"cost_usd": -0.01}], "cost_usd is -0.01."),
        ([{"cache_read_tokens": 1.5}], "cache_read_tokens is 1.5."),
        ([{"input_tokens": 10**12 + 1}], "input_tokens is 1000000000001."),
        ([{"input_tokens": 10**12}, {"input_tokens": 1}], "input_tokens is 1000000000001."),
    ],
)
def test_usage_that_cannot_be_is_not_believed(
    tmp_path: Path, lines: list[dict[str, Any]], why: str
) -> None:
    honest = {"type": "usage", "cache_write_tokens": 5}
    claims = [{"type": "usage", **line} for line in lines]
    said = stream.read(written(tmp_path, honest, *claims, honest))
    assert (said.usage, said.usage_refused) == (None, why)


def test_fault_and_its_class(tmp_path: Path) -> None:
    known = stream.read(written(tmp_path, result("", error="slow", error_class="rate_limit")))
    assert (known.error, known.error_class) == ("slow", ErrorClass.RATE_LIMIT)
    unknown = stream.read(written(tmp_path, result("", error="odd", error_class=["x"])))
    assert unknown.error_class is ErrorClass.CRASH


def test_text_is_made_fit_for_every_database(tmp_path: Path) -> None:
    said = stream.read(written(tmp_path, '{"type": "result", "text": "a\\u0000b\\ud800c"}'))
    assert said.final_text == "a\ufffdb?c"


def so_far(tokens: int) -> dict[str, Any]:
    return {"type": "usage_so_far", "input_tokens": tokens, "output_tokens": 2}


def test_an_agent_that_was_cut_off_used_at_least_what_it_last_had(tmp_path: Path) -> None:
    said = stream.read(written(tmp_path, so_far(5), so_far(9)))
    assert said.usage == Usage(input_tokens=9, output_tokens=2)
    ended = stream.read(written(tmp_path, so_far(5), {"type": "usage", "input_tokens": 7}))
    assert ended.usage == Usage(input_tokens=7)
    lied = stream.read(written(tmp_path, so_far(-1)))
    assert (lied.usage, lied.usage_refused) == (None, "input_tokens is -1.")
