"""A program of the user's own takes tasks through the whole walk, and every way it can go wrong
leaves a clear state."""

import json
import shlex
from collections.abc import Mapping
from typing import Any

import pytest

from agents_manager.domain.run import RunStatus
from agents_manager.domain.task import Task
from agents_manager.flow import tasks
from agents_manager.flow.views import TaskView
from tests.repos import executable, own_home
from tests.worlds import ANN, World, repo, world

__all__ = ["own_home", "repo", "world"]

COMMIT = "git -c user.name=Me -c user.email=me@example.org commit -qam"
WORKS = f"""
test "$AM_TASK_ID" && test "$AM_RUN_ID" && grep -q Title "$AM_PROMPT_FILE" || exit 9
echo "I was told: $(grep Title: "$1")"
case "$AM_MODE" in
plan)
  echo "1. Do it."
  echo "<<<OUTCOME:plan_complete>>>"
  echo "<<<END_PAYLOAD>>>" ;;
*)
  echo hello >> greeting.txt
  {COMMIT} "Say hello"
  echo "<<<OUTCOME:pr_ready>>>"
  echo "<<<END_PAYLOAD>>>" ;;
esac
"""


async def configured(world: World, script: str, **settings: Any) -> None:
    """The agent "mine" is this shell script, trusted."""
    executable(world.repo / "agent.sh", script)
    entry: Mapping[str, Any] = {"adapter": "command", "command": ["./agent.sh", "{prompt_file}"]}
    config = {"defaultAgentType": "mine", "agents": {"mine": {**entry, **settings}}}
    world.configure(config)
    world.project = await tasks.trust_project(world.s, world.project)


async def started(world: World, pipeline: str = "simple", **fields: Any) -> Task:
    new = tasks.NewTask(**{"title": "Add greeting", "pipeline": pipeline, **fields})
    task = await tasks.create(world.s, world.project, new, ANN)
    await tasks.move(world.s, task.id, ANN)
    return task


async def failed(world: World, task: Task) -> tuple[TaskView, str]:
    """The task once its run failed and a person is asked, with the error."""
    view = await world.wait(task, lambda v: bool(v.prompts), "a question")
    error = view.runs[0].error
    assert error is not None
    return view, f"{error.error_class}: {error.error}"


async def test_from_creation_to_merge(world: World) -> None:
    await configured(world, WORKS, model="m-1")
    task = await started(world, "feature")
    view = await world.until(task, "planned")
    assert view.task.plan == "I was told: Title: Add greeting\n1. Do it."
    await world.review(task, "approved")
    view = await world.until(task, "pr_review")
    run = view.runs[-1]
    assert (run.agent, run.model, run.outcome, run.usage) == ("mine", "m-1", "pr_ready", None)
    await world.review(task, "approved")
    await world.until(task, "done")
    assert (world.repo / "greeting.txt").read_text() == "hi\nhello\n"


async def test_commands_of_a_project_run_only_once_trusted(world: World) -> None:
    await configured(world, WORKS)
    world.configure(
        {
            "defaultAgentType": "mine",
            "agents": {"mine": {"adapter": "command", "command": ["./agent.sh", "-x"]}},
        }
    )
    task = await started(world)
    _, error = await failed(world, task)
    assert error.startswith("environment: The commands of project")
    assert "am project trust" in error
    assert "agent.started" not in await world.types(task)


async def test_a_program_that_is_not_installed(world: World) -> None:
    await configured(world, WORKS, command=["no-such-agent", "{prompt}"])
    task = await started(world)
    view, error = await failed(world, task)
    assert error.startswith('environment: The program "no-such-agent" of agent "mine"')
    assert "PATH: /" in error
    assert view.runs[0].status is RunStatus.FAILED


async def test_an_unknown_agent_is_refused_with_the_closest(world: World) -> None:
    world.configure({"defaultAgentType": "scriptde"})
    task = await started(world)
    _, error = await failed(world, task)
    assert 'There is no agent "scriptde". Did you mean "scripted"?' in error


async def test_the_program_is_not_taken_from_the_agents_tree(world: World) -> None:
    """What an agent puts in the place of its own program is never run."""
    evil = f"printf '#!/bin/sh\\nexit 7\\n' > agent.sh; git add .; {COMMIT} Evil; exit 0"
    await configured(world, evil)
    first = await started(world)
    view = await world.until(first, "review")
    await world.review(first, "changes_requested", summary="Again.")
    await world.wait(first, lambda v: len(v.runs) == 2 and v.run is None, "a second run")
    view = await world.view(first)
    assert view.runs[1].status is RunStatus.COMPLETED


# ------------------------------------------------------------------------------ sources of outcomes


def no_changes(reason: str) -> dict[str, Any]:
    return {"outcome": "no_changes", "payload": {"reason": reason}}


def report(content: str) -> str:
    return f"""echo {shlex.quote(content)} > "$(dirname "$AM_PROMPT_FILE")/report.json"\n"""


def result(structured: Any = None, text: str = "") -> str:
    message = {"type": "result", "text": text, "structured": structured}
    return f"printf '%s\\n' {shlex.quote(json.dumps(message))}\n"


REPORT = report(json.dumps(no_changes("by report")))
STRUCTURED = no_changes("by structure")
MARKED = '<<<OUTCOME:no_changes>>>{"reason": "by mark"}<<<END_PAYLOAD>>>'


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        pytest.param(REPORT + result(STRUCTURED, MARKED), "by report", id="report first"),
        pytest.param(result(STRUCTURED, MARKED), "by structure", id="structure second"),
    ],
)
async def test_the_first_source_of_an_outcome_counts(
    world: World, script: str, reason: str
) -> None:
    await configured(world, script)
    task = await started(world)
    view = await world.wait(task, lambda v: bool(v.prompts), "a decision")
    assert view.runs[0].outcome == "no_changes"
    assert view.runs[0].payload == {"reason": reason}


@pytest.mark.parametrize(
    ("script", "words"),
    [
        pytest.param(
            REPORT + result({"outcome": "needs_info", "payload": {"question": "Which?"}}),
            'Both "no_changes" and "needs_info" were reported',
            id="a question beside a report",
        ),
        pytest.param(
            REPORT + result(text="<<<OUTCOME:needs_info>>><<<END_PAYLOAD>>>"),
            'Both "no_changes" and "needs_info" were reported',
            id="a question in a block beside a report",
        ),
        pytest.param(result({"outcome": "approvd"}), 'no outcome "approvd"', id="unknown"),
        pytest.param(report("{") + result(STRUCTURED), "is an object with", id="torn file"),
    ],
)
async def test_an_outcome_that_cannot_be_taken_is_no_outcome(
    world: World, script: str, words: str
) -> None:
    """Not even where another source has a good one, or where the work could be guessed at."""
    work = f"echo x >> greeting.txt; {COMMIT} Work\n"
    await configured(world, work + script)
    _, error = await failed(world, await started(world))
    assert error.startswith("bad_output: ")
    assert words in error


HALF = f"""
echo half >> greeting.txt; {COMMIT} Half >/dev/null
printf '%s\\n' '{{"type": "assistant", "text": "Now I write the second half."}}'
"""


async def test_a_message_stream_without_its_result_was_cut_off(world: World) -> None:
    """Exit 0 and a commit are not enough where the agent's own stream has no end."""
    await configured(world, HALF)
    _, error = await failed(world, await started(world))
    assert error == (
        "interrupted: The agent's output ended without the message that ends its stream."
    )


async def test_a_message_stream_with_its_result_has_ended(world: World) -> None:
    await configured(world, HALF + """printf '%s\\n' '{"type": "result", "text": "Done."}'""")
    view = await world.until(await started(world), "review")
    assert view.runs[-1].outcome == "pr_ready"
