"""Real agents in the default sandbox, whose model sends unusual streams after half of the work is
committed. Each combination has its class and its consequence, nothing is taken for finished that
was cut off, and people see why. The rows of the tables in docs/concepts/retries.md come from
here."""

import json
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from agents_manager import bootstrap
from agents_manager.cli.pages import run as pages
from agents_manager.cli.render import to_text
from agents_manager.domain.retry import AFTER_RESET, RULES
from agents_manager.domain.run import ErrorClass, Run, RunStatus
from agents_manager.domain.task import Task
from agents_manager.flow import figures, tasks
from agents_manager.flow.runs import watch
from agents_manager.flow.views import TaskView
from agents_manager.testing.scripted_model import ModelServer
from agents_manager.testing.scripted_model.unusual import RESET
from tests import sandboxes
from tests.api.scenes import serving
from tests.real_agents import streams
from tests.real_agents.desk import SCENARIO
from tests.real_agents.streams import AGENTS, Row
from tests.repos import run as git
from tests.worlds import ANN, World

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


@pytest.fixture(autouse=True)
def kept(no_sandbox: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "LEVELS", sandboxes.levels())
    monkeypatch.setattr("tests.worlds.PATIENCE_S", 300)


@pytest.mark.parametrize(
    ("stream", "name"),
    [pytest.param(*pair, id=f"{pair[1]}, {pair[0]}") for pair in streams.pairs()],
)
async def test_an_unusual_stream(
    stream: str,
    name: str,
    request: pytest.FixtureRequest,
    model: ModelServer,
    own_home: Path,
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    agent = AGENTS[name]
    if agent.title.endswith("(ACP)"):
        request.getfixturevalue("programs")
    settings, env = agent.set_up(own_home, model, stream)
    (tmp_path / "temporary").mkdir()
    for key, value in {**env, "TMPDIR": str(tmp_path / "temporary")}.items():
        monkeypatch.setenv(key, value)
    entry = {**settings, **({"gateway": True} if agent.gateway else {})}
    # The addresses of other agents are allowed by their settings.
    sandbox = {"hosts": [], "addresses": [urlsplit(model.url(SCENARIO)).netloc]}
    config = {"defaultAgentType": name, "agents": {name: entry}, "sandbox": sandbox}
    (world.s.home / "config.json").write_text(json.dumps(config))
    model.script(SCENARIO, streams.steps(stream, agent))
    new = tasks.NewTask(title="Add greeting", pipeline="simple")
    task = await tasks.create(world.s, world.project, new, ANN)

    async with serving(world.program) if agent.gateway else nullcontext():
        await tasks.move(world.s, task.id, ANN)
        view = await world.wait(
            task, lambda v: len(v.runs) > 1 or (bool(v.prompts) and v.run is None), "the first run"
        )
        if streams.expected(stream, name)[1] == "new session":
            view = await world.wait(task, lambda v: bool(v.prompts) and v.run is None, "a question")
    first = view.runs[0]
    assert (first.agent, first.sandbox) == (name, "S3"), first.error
    assert git(world.repo, "log", "-1", "--format=%s", first.branch or "") == "Add half"

    error_class, ending = streams.expected(stream, name)
    assert (str(first.error.error_class) if first.error else "") == error_class, first.error
    if ending == "done":
        row = await finished(world, view, first)
    else:
        row = await failed(world, task, view, first, ending)
    if stream == streams.RESULT:
        check_large_result(world, first, has_text=name != "gemini")
    streams.keep(stream, name, replace(row, error_class=error_class))


async def finished(world: World, view: TaskView, run: Run) -> Row:
    assert (run.status, run.outcome) == (RunStatus.COMPLETED, "pr_ready")
    assert view.task.status == "review"
    report = await world.s.store.read(lambda tx: figures.stats(tx, project=None, since=None))
    assert (report.work.completed, report.work.failed) == (1, 0)
    return Row("", "The run continues and completes.", "a review of the finished work")


async def failed(world: World, task: Task, view: TaskView, run: Run, ending: str) -> Row:
    """Nothing is inferred from it, and what follows is as expected."""
    assert run.error is not None
    assert (run.status is RunStatus.COMPLETED, run.outcome) == (False, None)
    assert view.task.status not in ("review", "done")
    report = await world.s.store.read(lambda tx: figures.stats(tx, project=None, since=None))
    [performance] = [one for one in report.agents if one.agent == run.agent]
    ended = 2 if ending == "new session" else 1
    assert (performance.work.completed, performance.work.failed) == (0, ended)
    page = to_text(pages.page(run, "Add greeting"))
    shown = pages.one_line(run.error.error)
    assert shown in page
    if ending in ("asks", "new session"):
        (prompt,) = view.prompts
        assert len(view.runs) == ended, "nothing is tried again unchanged"
        assert run.error.error.strip()[:100] in prompt.payload["reason"]
        labels = ", ".join(f"*{one['label']}*" for one in prompt.payload["choices"])
        asks = f"person is asked: {labels}"
        if ending == "new session":
            assert view.runs[1].session != run.session
            assert "# Transcript of earlier runs" in (view.runs[1].prompt or "")
            follows = f"Retried once, in a new session with a summary. Then a {asks}"
            return Row("", follows, streams.plain(shown))
        return Row("", f"A {asks}", streams.plain(shown))
    waits = await retry_after(world, task, run)
    assert view.next_mover.kind == "timer"
    assert f"{run.error.error_class}: " in view.next_mover.text
    if ending == "reset":
        # A time of day that an agent tells has no seconds.
        assert abs(waits - (RESET + AFTER_RESET).total_seconds()) < 120
        return Row("", "Retried when the limit ends, after 2 h", streams.plain(shown))
    rule = RULES[ErrorClass(run.error.error_class)]
    assert rule.delay_s * (1 - rule.jitter) - 1 <= waits <= rule.delay_s + 1
    delay = f"{rule.delay_s / 60:g} min" if rule.delay_s >= 60 else f"{rule.delay_s:g} s"
    return Row("", f"Retried after {delay}, at most {rule.tries} times", streams.plain(shown))


async def retry_after(world: World, task: Task, run: Run) -> float:
    """How many seconds after its end a run is retried."""
    assert run.ended_at is not None
    (told,) = [e for e in await world.events(task) if e.type == "agent.retry_scheduled"]
    assert told.data["run"] == run.id
    return (datetime.fromisoformat(told.data["due_at"]) - run.ended_at).total_seconds()


def check_large_result(world: World, run: Run, *, has_text: bool) -> None:
    """What is kept of the result is small, and people see its beginning as the tool's result, where
    the agent reports it (`has_text`)."""
    outputs = list((world.s.jobs_dir / run.id).glob("*/output"))
    assert sum(one.stat().st_size for one in outputs) < streams.LARGE_BYTES / 10
    parse = watch.parser(world.s, run, world.project)
    messages = [shown for piece in watch.past(world.s, run.id) for shown in parse(piece)]
    assert max(len(json.dumps(one)) for one in messages) < 20_000
    *_, result = [m for m in messages if m["type"] == "tool_result"]
    assert ("x" * 100 in result["text"]) == has_text
