"""An agent asks a person in the middle of its run. The call waits, and the answer is its result;
where that takes too long the run pauses and the answer starts it again."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import httpx
import pytest

from agents_manager.bootstrap import Program
from agents_manager.domain import event
from agents_manager.domain.ids import RunId
from agents_manager.domain.prompt import Prompt, PromptStatus
from agents_manager.domain.run import AgentError, ErrorClass, Run, RunStatus
from agents_manager.errors import InvalidAnswer, PromptClosed
from agents_manager.flow import prompts, views
from agents_manager.flow.ports import Tx
from agents_manager.flow.runs import close, lifecycle, midway, reports
from agents_manager.flow.runs.verdict import Verdict
from tests.api.scenes import ANN, Scene, serving

COLOUR: Mapping[str, Any] = {
    "questions": [
        {"id": "q1", "question": "Which colour?", "options": [{"label": "Red"}, {"label": "Blue"}]}
    ]
}
BLUE = {"answers": [{"question_id": "q1", "option": "Blue"}]}


@pytest.fixture
async def run(scene: Scene) -> Run:
    return (await scene.running())[1]


@pytest.fixture
def agent(stranger: httpx.AsyncClient, program: Program, run: Run) -> httpx.AsyncClient:
    token = reports.new_token(lifecycle.job_dir(program.services, run.id, 1))
    stranger.headers["Authorization"] = f"Bearer {token}"
    return stranger


@pytest.fixture
def at_once(program: Program) -> None:
    """Nobody waits for an answer."""
    config = program.settings.home / "config.json"
    said = json.loads(config.read_text())
    config.write_text(json.dumps({**said, "askHumanTimeout": 0}))


async def ask(agent: httpx.AsyncClient, run: Run, **arguments: Any) -> tuple[bool, str]:
    params = {"name": "ask_human", "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    response = await agent.post(f"/mcp/run/{run.id}", json=message)
    assert response.status_code == 200, response.text
    result = response.json()["result"]
    return not result["isError"], result["content"][0]["text"]


async def asked(program: Program, run: Run) -> Prompt:
    async with asyncio.timeout(10):
        while True:
            found = await program.services.store.read(lambda tx: midway.unanswered(tx, run))
            if found is not None:
                return found
            await asyncio.sleep(0.01)


async def ended(program: Program, run: Run, prompt: Prompt) -> Run:
    """As the steps of a run end one that pauses."""
    s = program.services

    def begin(tx: Tx) -> None:
        tx.effects.update(run.effect_id, status="started")
        tx.runs.update(run.id, status=RunStatus.RUNNING, started_at=s.clock.now(), session="s1")

    await s.store.write(begin)
    payload = dict(prompt.payload)
    verdict = Verdict(outcome=midway.OUTCOME, payload=payload, inferred=False, paused=prompt.id)
    await close.close(run.id, verdict, s)
    return await s.store.read(lambda tx: tx.runs.get(run.id))


async def test_the_answer_is_the_result_of_the_call(
    agent: httpx.AsyncClient, program: Program, run: Run
) -> None:
    s = program.services
    async with asyncio.TaskGroup() as group:
        call = group.create_task(ask(agent, run, **COLOUR))
        prompt = await asked(program, run)
        assert (prompt.midway, prompt.run_id, prompt.beside) == (True, run.id, True)
        (item,) = (await s.store.read(views.inbox)).items
        assert item.prompt.id == prompt.id
        with pytest.raises(InvalidAnswer):
            await prompts.answer(s, prompt.id, {"answers": []}, ANN)
        assert not call.done()
        done = await prompts.answer(s, prompt.id, BLUE, ANN, delay_s=5)
    good, said = call.result()
    assert good
    assert said.startswith("ann answered.")
    assert said.endswith("Answer: Blue")
    # Nothing moved, nothing was started, and there is nothing to take back.
    before = await s.store.read(lambda tx: tx.tasks.get(run.task_id))
    assert (done.task, done.prompt.undo_until) == (before, None)
    assert [r.id for r in await s.store.read(lambda tx: tx.runs.of_task(run.task_id))] == [run.id]
    assert reports.paused(lifecycle.job_dir(s, run.id, 1)) is None


async def test_an_agent_that_went_away_loses_nothing(
    agent: httpx.AsyncClient, program: Program, run: Run
) -> None:
    call = asyncio.get_running_loop().create_task(ask(agent, run, **COLOUR))
    prompt = await asked(program, run)
    call.cancel()
    await asyncio.wait([call])
    async with asyncio.TaskGroup() as group:
        again = group.create_task(ask(agent, run, **COLOUR))
        await asyncio.sleep(0.05)
        assert (await asked(program, run)).id == prompt.id
        await prompts.answer(program.services, prompt.id, BLUE, ANN)
    assert again.result()[0]
    assert (await ask(agent, run, **COLOUR)) == again.result()
    known = await program.services.store.read(lambda tx: midway.of_run(tx, run))
    assert len(known) == 1


@pytest.mark.slow
async def test_a_call_that_nobody_waits_for_pauses_nothing(program: Program, run: Run) -> None:
    directory = lifecycle.job_dir(program.services, run.id, 1)
    headers = {"Authorization": f"Bearer {reports.new_token(directory)}"}
    config = program.settings.home / "config.json"
    said = json.loads(config.read_text())
    config.write_text(json.dumps({**said, "askHumanTimeout": 3000}))
    async with serving(program) as client:
        client.headers.update(headers)
        await ask(client, run)  # Has the SDK imported, which takes a moment.
        client.timeout = httpx.Timeout(2)
        with pytest.raises(httpx.ReadTimeout):
            await ask(client, run, **COLOUR)
        await asyncio.sleep(3)
    assert reports.paused(directory) is None
    assert (await asked(program, run)).status is PromptStatus.PENDING


async def test_two_at_once_are_one_too_many(
    agent: httpx.AsyncClient, program: Program, run: Run
) -> None:
    async with asyncio.TaskGroup() as group:
        call = group.create_task(ask(agent, run, **COLOUR))
        prompt = await asked(program, run)
        good, said = await ask(agent, run, question="And how large?")
        assert not good
        assert said.startswith('Not asked: "Which colour?" is not answered yet.')
        await prompts.answer(program.services, prompt.id, BLUE, ANN)
    assert call.result()[0]


async def test_runs_side_by_side_ask_at_the_same_time(
    agent: httpx.AsyncClient, program: Program, run: Run
) -> None:
    """The one question that a task waits for is another matter."""
    s = program.services

    def both(tx: Tx) -> list[Prompt]:
        other = replace(tx.runs.get(run.id), id=RunId(f"{run.id}-2"), part="1-2")
        tx.runs.update(run.id, part="1-1")
        tx.runs.add(other)
        return [midway.put(tx, s, one, COLOUR) for one in (run.id, other.id)]

    first, second = await s.store.write(both)
    assert first.id != second.id
    assert len(await s.store.read(lambda tx: tx.prompts.pending(run.task_id))) == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param({}, "questions", id="nothing"),
        pytest.param({"questions": []}, "questions", id="none"),
        pytest.param({"question": "Why?", "colour": 1}, "colour", id="more"),
        pytest.param({"question": 3}, "question", id="no text"),
        pytest.param({"question": "x" * 300_000}, "bytes", id="too long"),
    ],
)
async def test_what_cannot_be_asked_is_told_exactly(
    agent: httpx.AsyncClient, program: Program, run: Run, arguments: Any, words: str
) -> None:
    good, said = await ask(agent, run, **arguments)
    assert not good
    assert said.startswith("Not asked: ")
    assert words in said
    assert await program.services.store.read(lambda tx: midway.of_run(tx, run)) == []


async def test_a_run_asks_only_so_often(
    agent: httpx.AsyncClient, program: Program, run: Run, at_once: None, monkeypatch: Any
) -> None:
    monkeypatch.setattr(midway, "MOST", 1)
    await ask(agent, run, **COLOUR)
    s, prompt = program.services, await asked(program, run)
    await prompts.answer(s, prompt.id, BLUE, ANN)
    (lifecycle.job_dir(s, run.id, 1) / reports.PAUSE).unlink()
    good, said = await ask(agent, run, question="And?")
    assert not good
    assert "at most 1 times" in said


async def test_a_run_that_ends_takes_its_question_along(
    agent: httpx.AsyncClient, program: Program, run: Run
) -> None:
    s = program.services
    async with asyncio.TaskGroup() as group:
        call = group.create_task(ask(agent, run, **COLOUR))
        prompt = await asked(program, run)
        error = AgentError(error="It broke.", error_class=ErrorClass.CRASH)
        await s.store.write(lambda tx: close.fail(tx, s, run.id, error))
    assert call.result() == (
        False,
        "Not asked: The question was cancelled; nobody answers it. Go on without.",
    )
    with pytest.raises(PromptClosed):
        await prompts.answer(s, prompt.id, BLUE, ANN)


async def test_after_the_limit_the_run_pauses_and_the_answer_starts_it_again(
    agent: httpx.AsyncClient, program: Program, run: Run, at_once: None
) -> None:
    s = program.services
    assert await ask(agent, run, **COLOUR) == (True, midway.PAUSES)
    assert (await ask(agent, run, question="And?"))[1].startswith("Not asked: This run pauses")
    prompt = await asked(program, run)
    assert reports.paused(lifecycle.job_dir(s, run.id, 1)) == prompt.id
    stopped = await ended(program, run, prompt)
    assert (stopped.status, stopped.outcome) == (RunStatus.COMPLETED, "needs_info")
    view = await s.store.read(lambda tx: views.task(tx, s, run.task_id, ANN))
    assert (view.task.status, view.next_mover.kind) == ("planning", "prompt")
    assert [p.id for p in view.prompts] == [prompt.id]
    done = await prompts.answer(s, prompt.id, BLUE, ANN)
    (again,) = await s.store.read(lambda tx: tx.runs.live(run.task_id))
    assert (again.session, again.mode, done.task.status) == ("s1", run.mode, "planning")
    told = await s.store.read(lambda tx: tx.events.of_task(run.task_id, after_seq=0, limit=100))
    kinds = [e.type for e in told]
    assert event.AgentPaused.model_fields["type"].default in kinds


async def test_an_answer_while_the_agent_ends_is_not_lost(
    agent: httpx.AsyncClient, program: Program, run: Run, at_once: None
) -> None:
    s = program.services
    await ask(agent, run, **COLOUR)
    prompt = await asked(program, run)
    await prompts.answer(s, prompt.id, BLUE, ANN)
    assert [r.id for r in await s.store.read(lambda tx: tx.runs.live(run.task_id))] == [run.id]
    await ended(program, run, prompt)
    (again,) = await s.store.read(lambda tx: tx.runs.live(run.task_id))
    assert again.id != run.id
    status = (await s.store.read(lambda tx: tx.prompts.get(prompt.id))).status
    assert status is PromptStatus.RESPONDED
