"""Questions in messages that no outcome can be read from: the agent is asked for it, and people see
what it said. No outcome is inferred from such a message, whatever the agent committed."""

import json
import shlex
from typing import Any

import pytest

from agents_manager.cli.pages import run as pages
from agents_manager.cli.render import to_text
from agents_manager.domain.payload import ProposeSplit
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import validate_answer
from agents_manager.domain.run import RunStatus
from agents_manager.flow.runs import reporting, reports
from agents_manager.flow.runs.places import job_dir
from tests.integration.test_command_walk import COMMIT, configured, failed, result, started
from tests.repos import commit, own_home
from tests.worlds import World, repo, world

__all__ = ["own_home", "repo", "world"]

QUESTION = {"questions": [{"id": "q1", "question": "Which provider?"}]}
LINE = f"<<<OUTCOME:needs_info>>>{json.dumps(QUESTION)}<<<END_PAYLOAD>>>"
SHAPES = {
    "fenced": f"```\n{LINE}\n```",
    "joined": f"Done. {LINE}",
    "lower case": LINE.lower(),
    "coloured": f"\x1b[32m{LINE}\x1b[0m",
}
WORK: list[dict[str, Any]] = [
    {"modify": {"path": "greeting.txt", "append": "hello\n"}},
    {"commit": "Say hello"},
]


async def test_the_agent_is_asked_for_an_outcome_that_cannot_be_read(world: World) -> None:
    for name, text in SHAPES.items():
        visit = {
            "steps": [*WORK, {"malformed": text}],
            "repair": [{"outcome": {"name": "needs_info", "payload": QUESTION}}],
        }
        task = await world.start({"implement": [visit]}, pipeline="simple", title=name)
        view = await world.wait(task, lambda v: bool(v.prompts), "the question")
        assert view.runs[0].outcome == "needs_info", name
        assert view.prompts[0].payload["questions"][0]["question"] == "Which provider?"
        assert "agent.output_refused" in await world.types(task)


async def test_people_see_what_an_agent_said_that_is_asked_in_vain(world: World) -> None:
    visit = {
        "steps": [*WORK, {"malformed": SHAPES["joined"]}],
        "repair": [{"malformed": "I have asked already."}],
    }
    task = await world.start({"implement": [visit]}, pipeline="simple")
    view, error = await failed(world, task)
    assert error.startswith("bad_output: This looks like an outcome")
    assert view.runs[0].status is RunStatus.FAILED
    evidence = view.prompts[0].payload["evidence"]
    assert "Which provider?" in evidence
    page = to_text(pages.page(view.runs[0], "x"))
    assert "What the agent said\n  Done. <<<OUTCOME:needs_info>>>" in page


async def test_a_block_before_the_final_message_is_asked_for(world: World) -> None:
    """The final message alone looks like work that is ready."""
    visit = {
        "steps": [{"say": LINE}, *WORK, {"malformed": "Done."}],
        "repair": [{"outcome": {"name": "needs_info", "payload": QUESTION}}],
    }
    task = await world.start({"implement": [visit]}, pipeline="simple")
    view = await world.wait(task, lambda v: bool(v.prompts), "the question")
    assert view.runs[0].outcome == "needs_info"


async def test_a_plan_is_kept_when_the_agent_sends_only_its_outcome_again(world: World) -> None:
    visit = {
        "steps": [{"malformed": "# Plan\n\n1. Do it.\n\nDone: <<<OUTCOME:plan_complete>>>"}],
        "repair": [{"outcome": "plan_complete"}],
    }
    task = await world.start({"plan": [visit]}, pipeline="feature")
    view = await world.until(task, "planned")
    assert view.task.plan is not None
    assert view.task.plan.startswith("# Plan\n\n1. Do it.")


ASKS_BADLY = f"""
if grep -q "cannot be read as one" "$1"; then
  grep -q "Title: Add greeting" "$1" || exit 8
  test "$(git log --format=%s | grep -c Hello)" = 1 || exit 7
  printf '%s\\n' {shlex.quote(LINE)}
else
  echo hello >> greeting.txt; {COMMIT} Hello
  printf '%s\\n' {shlex.quote(SHAPES["coloured"])}
fi
"""


async def test_a_command_is_started_once_more_with_the_reason(world: World) -> None:
    """It has no session, so it is told everything again, and finds its own commits."""
    await configured(world, ASKS_BADLY)
    task = await started(world)
    view = await world.wait(task, lambda v: bool(v.prompts), "the question")
    assert view.runs[0].outcome == "needs_info", view.runs[0].error
    assert len(view.runs) == 1


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(f"cat <<'END'\n{SHAPES['fenced']}\nEND\n", id="plain"),
        pytest.param(result(text=SHAPES["fenced"]), id="stream"),
    ],
)
async def test_a_command_that_asks_badly_twice_fails_and_shows_its_question(
    world: World, script: str
) -> None:
    await configured(world, f"echo x >> greeting.txt; {COMMIT} Work > /dev/null\n{script}")
    view, error = await failed(world, await started(world))
    assert error.startswith("bad_output: This looks like an outcome")
    assert "Which provider?" in view.prompts[0].payload["evidence"]


async def test_nothing_is_inferred_from_a_turn_that_may_have_been_cut_off(world: World) -> None:
    """Some agents end a turn in the same way when the model's response has no end. They are asked
    for their outcome once, and in vain here."""
    ending = json.dumps({"type": "result", "text": "I was going to", "ends_clearly": False})
    script = f"echo half >> greeting.txt; {COMMIT} Half > /dev/null; echo {shlex.quote(ending)}"
    await configured(world, script)
    view, error = await failed(world, await started(world))
    assert error.startswith("bad_output: No outcome was reported, and the last response may have")
    assert (view.runs[0].outcome, view.task.status) == (None, "needs_decision")
    assert len(view.runs) == 1
    assert "I was going to" in view.prompts[0].payload["evidence"]


async def test_a_refused_report_that_nothing_follows_is_the_reason_of_the_failure(
    world: World,
) -> None:
    """The agent calls the tool `propose_split` and then ends without another word, also when it is
    asked for its outcome."""
    steps = [{"meet": "Go on"}, {"malformed": ""}]
    task = await world.start(
        {"plan": [{"steps": steps, "repair": [{"malformed": ""}]}]}, pipeline="feature"
    )
    view = await world.wait(task, lambda v: bool(v.run and v.run.started_at), "running")
    assert view.run is not None
    directory = job_dir(world.s, view.run.id, 1)
    reporter = await reporting.enter(world.s, view.run.id, reports.new_token(directory))
    split = {"reason": "Too large.", "proposed_phases": [], "parts": 2}
    await reporting.report(reporter, {"outcome": "propose_split", "payload": split})
    commit(world.repo, {"go.txt": "go\n"}, "Go on")
    view, error = await failed(world, task)
    assert "was refused" in error
    assert "proposed_phases" in error
    assert "asked for it again and reported no outcome" in error
    assert "Too large." in view.prompts[0].payload["evidence"]


@pytest.mark.parametrize("name", ["phases", "proposedPhases", "proposed_phases"])
def test_the_phases_of_a_split_have_the_same_names_in_proposals_and_answers(name: str) -> None:
    phases = [{"name": "Store"}, {"name": "Show"}]
    proposal = ProposeSplit.model_validate({"reason": "Too large.", name: phases})
    assert [phase.name for phase in proposal.proposed_phases] == ["Store", "Show"]
    raw = {"decision": "approved", name: phases[:1]}
    payload = proposal.model_dump(mode="json")
    answer = validate_answer(PromptType.SPLIT_PROPOSAL, payload, raw)
    assert [phase["name"] for phase in answer["phases"]] == ["Store"]
