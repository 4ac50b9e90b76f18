"""The transcript: live, bounded, and never ahead of its reader."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.am_program import until
from tests.web.conftest import Work

TOP = "document.querySelector('[data-virtuoso-scroller]').scrollTop"
NODES = "document.querySelectorAll('*').length"
STREAMS = """
  window.streams = new Set();
  const Real = EventSource;
  window.EventSource = class extends Real {
    constructor(url) { super(url); if (url.includes("/output")) window.streams.add(this); }
    close() { super.close(); window.streams.delete(this); }
  };
  for (const name of ["CONNECTING", "OPEN", "CLOSED"]) EventSource[name] = Real[name];
"""

SEEN = """(state) => {
  Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


class Agent:
    """One that hangs, and says what the test wants it to."""

    def __init__(self, work: Work, *steps: dict[str, object]) -> None:
        self.work = work
        script = {"implement": [[*steps, {"hang": True}]]}
        self.task = work.task(script=script, pipeline="simple")
        self.run = until(lambda: (work.view(self.task)["run"] or {}).get("id"))
        self.output = work.site.home / "jobs" / self.run / "1" / "output"
        until(lambda: self.output.exists() and self.output.stat().st_size)

    def say(self, *words: str) -> None:
        """As the agent would: the file is what the server reads."""
        with self.output.open("a") as file:
            file.writelines(f'{{"type": "assistant", "text": "{text}"}}\n' for text in words)

    def flood(self, data: bytes) -> None:
        with self.output.open("ab") as file:
            file.write(data)

    def open(self, page: Page, **query: str) -> None:
        page.goto(self.work.url(f"tasks/{self.task}", tab="transcript", **query))

    def stop(self) -> None:
        self.work.site.http.post(f"runs/{self.run}/stop")


@pytest.fixture
def agent(work: Work) -> Iterator[Agent]:
    made = Agent(work, {"say": "I begin."})
    yield made
    made.stop()


@pytest.mark.quick
def test_it_follows_at_the_end_and_nowhere_else(page: Page, agent: Agent) -> None:
    agent.say(*(f"Line {n}" for n in range(100)))
    agent.open(page)
    expect(page.get_by_text("Line 99", exact=True)).to_be_in_viewport()
    agent.say("Seen at once")
    expect(page.get_by_text("Seen at once")).to_be_in_viewport()
    page.get_by_text("Seen at once").hover()
    page.mouse.wheel(0, -1500)
    expect(page.get_by_role("button", name="To the end")).to_be_visible()
    before = until(lambda: page.evaluate(TOP))
    agent.say("Not seen", "Nor this")
    button = page.get_by_role("button", name="2 new")
    expect(button).to_be_visible()
    assert page.evaluate(TOP) == before
    expect(page.get_by_text("Not seen")).not_to_be_in_viewport()
    button.click()
    expect(page.get_by_text("Nor this")).to_be_in_viewport()
    agent.say("And it follows again")
    expect(page.get_by_text("And it follows again")).to_be_in_viewport()


def test_only_a_transcript_that_is_seen_holds_a_connection(page: Page, agent: Agent) -> None:
    page.add_init_script(STREAMS)
    agent.open(page)
    expect(page.get_by_text("I begin.")).to_be_visible()
    assert page.evaluate("streams.size") == 1
    page.keyboard.press("1")
    expect(page.get_by_text("Why it is where it is")).to_be_visible()
    assert page.evaluate("streams.size") == 0
    page.keyboard.press("2")
    expect(page.get_by_text("I begin.")).to_be_visible()
    page.evaluate(SEEN, "hidden")
    assert page.evaluate("streams.size") == 0
    agent.say("Said unseen")
    page.evaluate(SEEN, "visible")
    expect(page.get_by_text("Said unseen")).to_be_visible()
    assert page.get_by_text("I begin.").count() == 1


def test_tools_are_folded_searched_and_say_what_runs_now(page: Page, work: Work) -> None:
    shell = {"name": "bash", "input": {"command": "pytest -q", "why": "to see"}}
    listed = "\n".join(["a.py", *(f"file {n}" for n in range(100)), "needle.py"])
    steps: list[dict[str, object]] = [
        {"tool": {"name": "ls", "input": {}, "result": listed}},
        {"tool": {"name": "cat", "input": {}, "result": "<b>none</b>", "ok": False}},
        {"tool": shell},
    ]
    agent = Agent(work, {"say": "I *test*."}, *steps)
    agent.open(page)
    tool = page.get_by_role("button", name="bash pytest -q")
    expect(page.get_by_text("now: running bash")).to_be_visible()
    expect(page.get_by_text("last sign of life").last).to_be_visible()
    expect(page.get_by_text("to see")).to_be_hidden()
    tool.click()
    expect(page.get_by_text("to see")).to_be_visible()
    expect(page.get_by_text("needle.py")).to_be_hidden()
    page.get_by_role("button", name="ls a.py file 0").click()
    expect(page.get_by_text("needle.py")).to_be_visible()
    expect(page.get_by_role("button", name="cat failed <b>none</b>")).to_be_visible()
    page.get_by_label("Search in the transcript").fill("needle")
    expect(page.get_by_role("status").filter(has_text="1")).to_be_visible()
    agent.say("All is green")
    agent.flood(b"TypeError: none\n")
    expect(page.get_by_text("TypeError: none")).to_be_visible()
    page.keyboard.press("n")
    page.get_by_label("Search in the transcript").fill("GREEN")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="1 of 1")).to_be_visible()
    page.get_by_label("What to show").select_option("errors")
    expect(page.get_by_text("TypeError: none")).to_be_visible()
    expect(page.get_by_role("button", name="cat failed")).to_be_visible()
    expect(page.get_by_text("All is green")).to_be_hidden()
    agent.stop()


def test_hostile_output_is_text(page: Page, agent: Agent) -> None:
    agent.say("<img src=x onerror=alert(1)> and [a link](javascript:alert(1)) **bold**")
    agent.flood("\x1b[31mred\x1b[0m \u202egnp.exe\n".encode())
    agent.flood(b"y" * 10_000_000 + b"\n")
    page.on("dialog", lambda _: pytest.fail("A script of the agent was run."))
    agent.open(page)
    more = page.get_by_role("button", name="Show more").last
    expect(more).to_be_visible()
    assert page.evaluate(NODES) < 4000
    more.click()
    assert page.evaluate("document.body.innerText.length") < 2_000_000
    page.locator("[data-virtuoso-scroller]").hover()
    page.mouse.wheel(0, -10_000_000)
    line = page.get_by_text("red �gnp.exe")
    until(lambda: line.is_visible() or page.mouse.wheel(0, -1_000_000))
    expect(line).to_be_visible()
    expect(page.locator("strong", has_text="bold")).to_be_visible()
    assert page.locator("img[src=x], a[href^=javascript]").count() == 0


def test_a_hundred_megabytes_are_read_in_parts(page: Page, agent: Agent) -> None:
    agent.flood(b"".join(b"%099d\n" % n for n in range(1_050_000)))
    agent.say("The very end")
    agent.open(page)
    expect(page.get_by_text("The very end")).to_be_in_viewport()
    assert page.evaluate(NODES) < 4000
    page.locator("[data-virtuoso-scroller]").hover()
    number = "Math.min(...[...document.querySelectorAll('[data-line] pre')].map(e => +e.innerText))"
    for reached in (1_045_000, 1_040_000, 1_035_000):
        until(lambda r=reached: page.mouse.wheel(0, -60_000) or page.evaluate(number) < r)
        assert page.evaluate(NODES) < 4000
    page.keyboard.press("f")
    expect(page.get_by_text("The very end")).to_be_in_viewport()
    held = page.evaluate("performance.memory.usedJSHeapSize")
    assert held < 100_000_000


def test_a_line_has_an_address(page: Page, agent: Agent) -> None:
    offset = agent.output.stat().st_size
    agent.say("Look here", *(f"Line {n}" for n in range(200)))
    agent.open(page)
    expect(page.get_by_text("Line 199", exact=True)).to_be_in_viewport()
    page.goto(page.url + f"#t1-{offset}")
    expect(page.get_by_text("Look here")).to_be_in_viewport()
    page.reload()
    expect(page.get_by_text("Look here")).to_be_in_viewport()
