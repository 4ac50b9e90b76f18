"""The tables of docs/concepts/retries.md have a row for every unusual stream and agent, with the
class that the real agents are held to."""

from pathlib import Path

import pytest

from tests.real_agents import streams
from tests.real_agents.streams import AGENTS, SENT, Row


def test_every_stream_and_agent_has_a_row_with_its_class() -> None:
    found = streams.read(streams.PAGE.read_text(encoding="utf-8"))
    wanted = {pair: streams.expected(*pair)[0] for pair in streams.pairs()}
    missing = [f"{SENT[stream]}: {AGENTS[name].title}" for stream, name in wanted.keys() - found]
    assert sorted(missing) == [], "make test-agents writes the rows"
    assert {pair: row.error_class for pair, row in found.items()} == wanted
    assert all(row.next and row.seen for row in found.values())


def test_a_row_is_kept_as_it_is_and_the_others_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# Page\n\n{streams.BEGINS}\n{streams.ENDS}\n\nThe end.\n")
    monkeypatch.setattr(streams, "PAGE", page)
    monkeypatch.setenv("AM_KEEP_STREAMS", "1")
    told = streams.plain("A | of\nhttp://127.0.0.1:8/x at 2026-11-19 17:40:00+00:00 *is* <odd>")
    first, second = Row("quota", "Retried after 1 min", told), Row("", "It ends.", "a review")
    streams.keep("429", "codex", first)
    streams.keep("529", "codex", second)
    text = page.read_text()
    assert streams.read(text) == {("429", "codex"): first, ("529", "codex"): second}
    assert told == "A | of (address) at (time) *is* <odd>"
    assert text.startswith("# Page")
    assert text.endswith("The end.\n")
