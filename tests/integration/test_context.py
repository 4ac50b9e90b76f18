"""What an agent is told, as it is stored: beside the golden files, and along a walk."""

import json
import sys
from pathlib import Path

import pytest

from agents_manager.cli.pages import run as run_pages
from agents_manager.cli.render import Line
from agents_manager.domain.context import TOTAL
from agents_manager.flow import tasks
from agents_manager.flow.runs import places
from tests import acp, prompt_goldens
from tests.worlds import ANN, NO_RETRIES, World

PROGRAM = """\
import json, os, sys
asked = sys.stdin.read()
run = os.environ["AM_RUN_ID"]
def say(**line):
    print(json.dumps(line))
if "You asked" not in asked:
    say(type="assistant", text="I look first.")
    say(type="tool_use", name="shell", input={"command": "ls"})
    question = {"question": "Which?", "id": "q"}
    block = "<<<OUTCOME:needs_info>>>" + json.dumps(question) + "<<<END_PAYLOAD>>>"
    say(type="result", text="I found two.\\n\\n" + block)
else:
    open("new.txt", "w").write("x")
    say(type="result", text="Done.\\n<<<OUTCOME:pr_ready>>>\\n<<<END_PAYLOAD>>>")
"""


async def test_the_prompts_are_those_of_the_golden_files(tmp_path: Path, own_home: Path) -> None:
    """A change that is meant: python -m tests.prompt_goldens, and read the difference."""
    found = await prompt_goldens.prompts(tmp_path)
    files = prompt_goldens.FOLDER.glob("prompt-*")
    kept = {f.stem.removeprefix("prompt-"): f.read_bytes() for f in files}
    assert {mode: text.encode() for mode, text in found.items()} == kept


@pytest.mark.parametrize("agent", prompt_goldens.OWN_FORM)
def test_agents_with_a_form_of_their_own_are_not_told_of_blocks(agent: str) -> None:
    text = (prompt_goldens.FOLDER / f"prompt-ending-{agent}.md").read_text()
    assert "<<<" not in text
    assert "outcome block" not in text
    assert '"outcome" is the name of the outcome' in text


@pytest.mark.parametrize("mode", prompt_goldens.MODES)
def test_every_mode_has_the_sources_in_their_order(mode: str) -> None:
    text = (prompt_goldens.FOLDER / f"prompt-{mode}.md").read_text()
    order = [
        "# Instructions\n\nYou are a",
        "# This phase",
        "# Task",
        "# Phases",
        "# Plan",
        "# What there is already",
        "# Documents",
        "# Earlier questions and answers",
        "# Comments",
        "# Review\n\nThis is review iteration #",
        "# Earlier runs",
        "# Transcript of earlier runs",
        "# The latest answer",
        "# How to end",
        "# Project instructions",
    ]
    places = [text.index(f"\n{heading}" if n else heading) for n, heading in enumerate(order)]
    assert places == sorted(places)


async def test_a_run_that_cannot_resume_is_told_what_was_said(world: World) -> None:
    """The agent has no session; the same walk by one that resumes has no transcript."""
    program = world.repo.parent / "agent.py"
    program.write_text(PROGRAM)
    home = world.program.settings.home
    command = {"adapter": "command", "command": [sys.executable, str(program)]}
    (home / "config.json").write_text(
        json.dumps({"agents": {"own": command}, "defaultAgentType": "own"})
    )
    new = tasks.NewTask(title="Add x", pipeline="simple", description="d " * 30_000)
    task = await tasks.create(world.s, world.project, new, ANN)
    await tasks.move(world.s, task.id, ANN)
    view = await world.until(task, "needs_info")
    await world.answer(view.prompts[0], {"answers": [{"question_id": "q", "text": "The left."}]})
    view = await world.until(task, "review")
    told = view.runs[-1].prompt or ""
    assert "# Transcript of earlier runs\n\n```text\nRun " in told
    assert '- said: I look first.\n- shell: {"command": "ls"}\nI found two.\n\n<<<OUTCOME:' in told
    assert "# The latest answer\n\n```text\nYou asked: Which?\nAnswer: The left.\n```" in told
    assert "The rest is left out here: 3" in told
    assert f"All of it: `am task show {task.id}`" in told
    assert len(told) < TOTAL
    stored = world.s.jobs_dir / view.runs[-1].id / "1" / "prompt.md"
    assert stored.read_bytes() == told.encode(), "what the adapter was given"


async def test_a_run_that_resumes_is_not_told_it_twice(world: World) -> None:
    script = {"implement": [[{"say": "I look."}, {"ask": {"question": "Which?"}}], []]}
    task = await world.start(script, pipeline="simple")
    view = await world.until(task, "needs_info")
    asked = view.prompts[0].payload["questions"][0]["id"]
    await world.answer(view.prompts[0], {"answers": [{"question_id": asked, "text": "Left."}]})
    view = await world.wait(
        task, lambda v: len(v.runs) == 2 and v.runs[-1].prompt is not None, "told"
    )
    assert "# Transcript" not in (view.runs[-1].prompt or "")
    await world.wait(task, lambda v: v.run is None, "ended")


async def test_a_session_that_is_gone_is_told_what_was_said_in_it(world: World) -> None:
    asks = [{"say": "I look."}, {"tool": {"name": "ls", "input": {}}}, {"ask": {"question": "Q?"}}]
    task = await world.start({"implement": [asks, []]}, pipeline="simple")
    view = await world.until(task, "needs_info")
    (kept,) = (world.s.agent_homes_dir / task.id / "scripted").iterdir()
    kept.unlink()
    asked = view.prompts[0].payload["questions"][0]["id"]
    await world.answer(view.prompts[0], {"answers": [{"question_id": asked, "text": "Left."}]})
    view = await world.wait(task, lambda v: len(v.runs) == 2 and v.run is None, "ended")
    first, second = view.runs
    assert (first.session, second.session) == (first.id, second.id)
    told = second.prompt or ""
    assert "# Transcript of earlier runs" in told
    assert "- said: I look.\n- ls: {}" in told
    assert "# The latest answer\n\n```text\nYou asked: Q?\nAnswer: Left.\n```" in told
    assert (world.s.jobs_dir / second.id / "1" / "prompt.md").read_bytes() == told.encode()
    lost = [e for e in await world.events(task) if e.type == "agent.session_lost"]
    assert [e.data["run"] for e in lost] == [second.id]


@pytest.mark.slow
async def test_a_repair_turn_without_its_session_has_all_that_was_said(world: World) -> None:
    """The agent knows no way to take a session up."""
    script = world.repo.parent / "script.json"
    bad = "<<<OUTCOME:aproved>>>\n<<<END_PAYLOAD>>>"
    script.write_text(json.dumps({"steps": [{"say": bad}]}))
    home = world.program.settings.home
    own = {"adapter": "acp", "command": acp.command(script)}
    (home / "config.json").write_text(
        json.dumps({"agents": {"own": own}, "defaultAgentType": "own", **NO_RETRIES})
    )
    task = await world.start({}, pipeline="simple")
    view = await world.wait(task, lambda v: bool(v.runs) and v.run is None, "ended")
    first, second = places.told(world.s, view.runs[0])
    assert first == view.runs[0].prompt
    assert "# Transcript" not in first
    assert second.startswith(first.partition("# How to end")[0][:200])
    assert "# Transcript of earlier runs" in second
    assert f"{bad}\n```" in second.partition("# Transcript")[2]
    assert "Your last message could not be taken:" in second
    assert (await world.types(task)).count("agent.session_lost") == 1


async def test_the_repair_turn_is_kept_as_it_was_given(world: World) -> None:
    bad = [{"malformed": "<<<OUTCOME:aproved>>>\n<<<END_PAYLOAD>>>"}]
    visit = {
        "steps": bad,
        "repair": [{"outcome": {"name": "no_changes", "payload": {"reason": "x"}}}],
    }
    task = await world.start({"implement": [visit]}, pipeline="simple")
    view = await world.wait(task, lambda v: bool(v.runs) and v.run is None, "ended")
    first, second = places.told(world.s, view.runs[0])
    assert first == view.runs[0].prompt
    folder = world.s.jobs_dir / view.runs[0].id / "2"
    assert (folder / "prompt.md").read_bytes() == second.encode()
    assert '```text\nThere is no outcome "aproved". Did you mean "approved"?' in second
    shown = [
        block.text for block in run_pages.told(None, first, [second]) if isinstance(block, Line)
    ]
    assert shown.index("# Instructions") < shown.index("Your last message could not be taken:")
