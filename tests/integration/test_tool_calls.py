"""The tools that an agent called, in the log of its task: each once, bounded, and without what
agents could smuggle in."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain import routing
from agents_manager.domain.event import Logged
from agents_manager.domain.ids import RunId
from agents_manager.domain.run import Run
from agents_manager.flow import task_files
from agents_manager.flow.runs import tool_calls
from agents_manager.flow.runs.places import OUTPUT, job_dir
from agents_manager.flow.runs.tool_calls import Recorder
from agents_manager.flow.views import TaskView
from tests.repos import commit
from tests.worlds import PATIENCE_S, World, working

CALLS: list[Any] = [
    {"write": {"path": "door.txt", "text": "open\n"}},
    {"tool": {"name": "bash", "input": {"command": "echo moin"}, "result": "moin"}},
    {"commit": "Open the door"},
]
WORKS = {"implement": [[*CALLS, {"outcome": "pr_ready"}]]}


def used(events: list[Logged]) -> list[Logged]:
    return [e for e in events if e.category == "tool"]


def use(number: int, command: str = "true", name: str = "Bash") -> dict[str, Any]:
    return {"type": "tool_use", "id": f"c{number}", "name": name, "input": {"command": command}}


def result(number: int, *, ok: bool = True) -> dict[str, Any]:
    return {"type": "tool_result", "id": f"c{number}", "name": "Bash", "ok": ok, "text": "done"}


async def ended(world: World) -> tuple[TaskView, Run]:
    task = await world.start({"implement": [[{"outcome": "needs_info"}]]}, pipeline="simple")
    view = await world.wait(task, lambda v: bool(v.runs) and v.run is None, "over")
    return view, view.runs[0]


def prints(world: World, run: Run, turn: int, *messages: Any) -> None:
    file = job_dir(world.s, run.id, turn) / OUTPUT
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as output:
        output.writelines(f"{json.dumps(message)}\n" for message in messages)


def recorder(world: World, run: Run, turn: int = 1) -> Recorder:
    return Recorder(world.s, RunId(run.id), world.project, turn)


async def test_calls_of_a_run_are_in_the_log_before_its_end(world: World) -> None:
    task = await world.start(WORKS, pipeline="simple")
    await world.until(task, "review")
    events = await world.events(task)
    assert [(e.data["name"], e.data["ok"]) for e in used(events)] == [
        ("write", None),
        ("bash", True),
        ("commit", None),
    ]
    types = [e.type for e in events]
    assert types.index("agent.started") < types.index("agent.tool_use")
    assert types.index("agent.tool_use") < types.index("agent.completed")


async def test_a_second_reader_records_nothing_twice_and_goes_on_where_the_first_ended(
    world: World,
) -> None:
    """As after a restart of the server, at any place in the output."""
    view, run = await ended(world)
    prints(world, run, 1, use(1), result(1), use(2, "pytest -q"), use(3))
    first = recorder(world, run)
    await first.record(over=False)
    prints(world, run, 1, result(2, ok=False))
    await first.record(over=False)
    for _ in range(2):
        await recorder(world, run).finish()
    found = used(await world.events(view.task))
    assert [(e.summary, e.data["ok"]) for e in found] == [
        ("Bash: true", True),
        ("Bash (failed): pytest -q", False),
        ("Bash: true", None),
    ]


async def test_many_calls_are_cut_and_counted_turn_by_turn(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_calls, "MOST", 5)
    monkeypatch.setattr(tool_calls, "AT_ONCE", 2)
    view, run = await ended(world)
    for turn, calls in ((1, 8), (2, 3)):
        prints(world, run, turn, *(m for n in range(calls) for m in (use(n), result(n))))
        for _ in range(2):
            await recorder(world, run, turn).finish()
    found = used(await world.events(view.task))
    assert [e.type for e in found] == ["agent.tool_use"] * 5 + ["agent.tool_uses_left_out"] * 2
    assert [e.data["count"] for e in found[5:]] == [3, 3]
    assert [e.data["number"] for e in found] == [1, 2, 3, 4, 5, 5, 5]


async def test_what_an_agent_names_is_cut_and_has_no_control_characters(world: World) -> None:
    view, run = await ended(world)
    evil = "\x1b[2J\u202eevil\nline " + "x" * 100_000
    odd = [{"type": "tool_use", "name": 7}, {"type": "tool_result", "id": [1], "ok": "yes"}]
    prints(world, run, 1, use(1, evil, name=evil), result(1), use(2), result(2) | {"ok": 1}, *odd)
    await recorder(world, run).finish()
    first, second = used(await world.events(view.task))
    assert (len(first.data["name"]), len(first.data["summary"])) == (80, 160)
    assert first.summary.isprintable()
    assert (second.summary, second.data["ok"]) == ("Bash: true", None)


async def test_channels_and_task_files_leave_them_out(world: World) -> None:
    task = await world.start(WORKS, pipeline="simple")
    await world.until(task, "review")
    found = used(await world.events(task))
    assert found
    assert {routing.occasion(e.type, final=False) for e in found} == {None}
    text = await world.s.store.read(lambda tx: task_files.export(tx, tx.tasks.get(task.id)))
    assert "started (implement" in text
    assert "scripted: bash" not in text


@pytest.mark.slow
async def test_calls_before_and_after_a_restart_of_the_server_are_recorded_once(
    tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_calls, "EVERY_S", 0.1)
    go_on = "Go on"
    meets = {"implement": [[*CALLS, {"meet": go_on}, *CALLS, {"outcome": "pr_ready"}]]}
    async with working(tmp_path / "home", repo) as world:
        task = await world.start(meets, pipeline="simple")
        async with asyncio.timeout(PATIENCE_S):
            while len(used(await world.events(task))) < 3:
                await asyncio.sleep(0.05)
    async with working(tmp_path / "home", repo) as world:
        commit(repo, {"go": "on"}, go_on)
        await world.until(task, "review")
        found = used(await world.events(task))
    assert [e.data["number"] for e in found] == [1, 2, 3, 4, 5]
    assert [e.data["name"] for e in found] == ["write", "bash", "commit", "write", "bash"]
