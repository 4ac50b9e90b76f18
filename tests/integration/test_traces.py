"""What somebody who watches sees of runs: the run, its steps and the tools that its agent called,
in one trace for a task, also when the server is another one in the end."""

import asyncio
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import StatusCode

from agents_manager.flow.runs import traces
from agents_manager.telemetry import otel
from agents_manager.telemetry.otel import span_id, trace_id
from tests import repos, worlds
from tests.traces import Watcher, attributes, ids

SECRET = "sk-0123456789abcdef"
CALLS = [
    {"write": {"path": "door.txt", "text": "open\n"}},
    {"tool": {"name": "bash", "input": {"command": f"echo {SECRET}"}}},
    {"commit": "Open the door"},
    {"usage": {"input_tokens": 10, "output_tokens": 5, "cost_usd": 0.25}},
]
WORKS = {"implement": [[*CALLS, {"outcome": "pr_ready"}]]}
STEPS = ["prepare", "brief", "drive-1", "conclude-1", "collect", "close"]


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "LOOK_S", 0.05)


async def told(watcher: Watcher, name: str, count: int = 1) -> list[ReadableSpan]:
    async with asyncio.timeout(worlds.PATIENCE_S):
        while len(watcher.spans(name)) < count:
            await asyncio.sleep(0.02)
    return watcher.spans(name)


@pytest.mark.worktree
async def test_a_run_its_steps_and_its_tools_are_seen(tmp_path: Path, repo: Path) -> None:
    watcher = Watcher()
    async with worlds.working(tmp_path / "home", repo, traces=watcher.traces()) as world:
        task = await world.start(WORKS, pipeline="simple")
        view = await world.until(task, "review")
        await told(watcher, "invoke_agent")
    run = view.runs[0]
    root = watcher.one("invoke_agent")
    said = attributes(root)
    assert root.name == "invoke_agent scripted"
    assert {name: said[name] for name in said if name.startswith("gen_ai.")} == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "scripted",
        "gen_ai.agent.name": "scripted",
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 5,
        **{n: v for n, v in said.items() if n == "gen_ai.conversation.id"},
    }
    assert (said["agents_manager.task.id"], said["agents_manager.run.id"]) == (task.id, run.id)
    assert (said["agents_manager.run.outcome"], root.status.status_code) == (
        *("pr_ready", StatusCode.UNSET),
    )
    assert (ids(root).trace_id, ids(root).span_id) == (
        *(trace_id(task.id), span_id(f"run {run.id}")),
    )
    tools = watcher.spans("execute_tool")
    assert [attributes(t)["gen_ai.tool.name"] for t in tools] == ["write", "bash", "commit"]
    steps = watcher.spans(*STEPS)
    assert [step.name for step in steps] == STEPS
    for span in [*steps, *tools]:
        assert span.parent is not None
        assert span.parent.span_id == ids(root).span_id
        assert ids(span).trace_id == ids(root).trace_id
        assert (span.start_time or 0) <= (span.end_time or 0)
    assert "move in_progress" in {s.name for s in watcher.spans("move")}
    everything = "".join(str(attributes(s)) for s in watcher.spans())
    assert SECRET not in everything
    assert "echo" not in everything


@pytest.mark.slow
async def test_what_is_said_is_told_only_where_that_is_set_and_without_secrets(
    tmp_path: Path, repo: Path
) -> None:
    watcher = Watcher(secrets=(SECRET,), content=True)
    async with worlds.working(tmp_path / "home", repo, traces=watcher.traces()) as world:
        await world.until(await world.start(WORKS, pipeline="simple"), "review")
        tools = await told(watcher, "execute_tool", 3)
    given = str(attributes(tools[1])["gen_ai.tool.call.arguments"])
    assert "echo" in given
    assert SECRET not in given


async def test_a_failure_is_one_in_the_trace(tmp_path: Path, repo: Path) -> None:
    watcher = Watcher()
    fails = {"implement": [[{"tool": {"name": "bash", "input": {}}}, {"fail": {"message": "No."}}]]}
    async with worlds.working(tmp_path / "home", repo, traces=watcher.traces()) as world:
        task = await world.start(fails, pipeline="simple")
        await world.wait(task, lambda v: bool(v.prompts), "failed")
        (root,) = await told(watcher, "invoke_agent")
    assert root.status.status_code is StatusCode.ERROR
    assert attributes(root)["error.type"] == "crash"
    assert [s.name for s in watcher.spans("execute_tool")] == ["execute_tool bash"]


@pytest.mark.slow
@pytest.mark.worktree
async def test_a_run_that_goes_on_under_another_server_goes_on_in_its_trace(
    tmp_path: Path, repo: Path
) -> None:
    watcher = Watcher()
    go_on = "Go on"
    meets = {"implement": [[CALLS[0], {"meet": go_on}, *CALLS[1:], {"outcome": "pr_ready"}]]}
    async with worlds.working(tmp_path / "home", repo, traces=watcher.traces()) as world:
        task = await world.start(meets, pipeline="simple")
        await world.wait(task, lambda v: v.run is not None and v.run.status == "running", "working")
        await told(watcher, "brief")
    assert watcher.spans("invoke_agent", "execute_tool") == []
    async with worlds.working(tmp_path / "home", repo, traces=watcher.traces()) as world:
        repos.commit(repo, {"go": "on"}, go_on)
        await world.until(task, "review")
        await told(watcher, "execute_tool", 3)
    root = watcher.one("invoke_agent")
    done = watcher.spans(*STEPS, "execute_tool")
    names = [s.name for s in done if s.status.status_code is StatusCode.UNSET]
    assert sorted(n for n in names if n in STEPS) == sorted(STEPS)
    assert {ids(s).trace_id for s in done} == {ids(root).trace_id}
    assert {s.parent.span_id for s in done if s.parent} == {ids(root).span_id}
    assert len({ids(s).span_id for s in done}) == len(done)


@pytest.mark.slow
async def test_nobody_is_told_unless_somebody_said_where_to(
    tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with worlds.working(tmp_path / "home", repo) as world:
        assert not world.s.traces.on
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    async with worlds.working(tmp_path / "home", repo) as world:
        assert world.s.traces.on
        assert not world.s.traces.content
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    async with worlds.working(tmp_path / "home", repo) as world:
        assert not world.s.traces.on


@pytest.mark.slow
async def test_a_watcher_that_is_gone_holds_up_nothing(tmp_path: Path, repo: Path) -> None:
    """Nobody listens at that port; what is told is lost, and no work with it."""
    gone = otel.build("http://127.0.0.1:9/v1/traces", str, content=False)
    async with worlds.working(tmp_path / "home", repo, traces=gone) as world:
        task = await world.start(WORKS, pipeline="simple")
        await world.until(task, "review")
        await world.settled(task)
