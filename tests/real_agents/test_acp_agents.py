"""Seven real agents over the Agent Client Protocol, each against a scripted model on loopback: they
write, commit, ask, go on, and are kept from writing where a mode only reads."""

from pathlib import Path

import pytest

from agents_manager.domain.task import Task
from agents_manager.flow import agents, tasks
from agents_manager.scm.repositories import home_name
from agents_manager.testing.scripted_model import ModelServer, Say, When, asked, outcome
from tests.real_agents.desk import REAL, SCENARIO, Real
from tests.repos import run
from tests.worlds import ANN, World

pytestmark = [pytest.mark.usefixtures("programs"), pytest.mark.timeout(300)]
PATIENCE_S = 120
QUESTION = {"questions": [{"id": "q1", "question": "Which greeting?"}]}


@pytest.fixture(params=REAL)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def real(
    name: str, own_home: Path, model: ModelServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Real:
    found = REAL[name]
    for key, value in found.set_up(own_home, model.url(SCENARIO)).items():
        monkeypatch.setenv(key, value)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tests.worlds.PATIENCE_S", PATIENCE_S)
    return found


async def begin(world: World, name: str, real: Real, pipeline: str) -> tuple[Task, Path]:
    """A task that has not begun, and the folder that it will have."""
    world.configure({"defaultAgentType": name, "agents": {name: dict(real.settings)}})
    world.project = await tasks.trust_project(world.s, world.project)
    new = tasks.NewTask(title="Add greeting", pipeline=pipeline)
    task = await tasks.create(world.s, world.project, new, ANN)
    folder = home_name(world.repo / ".git")
    return task, world.program.settings.home / "worktrees" / folder / task.id


async def test_it_is_found(name: str, real: Real, world: World) -> None:
    (one,) = await agents.examine(world.s, None, name)
    assert one.usable
    assert one.diagnosis.version
    assert one.diagnosis.doubts == ()


async def test_a_question_an_answer_and_work(
    name: str, real: Real, model: ModelServer, world: World
) -> None:
    task, folder = await begin(world, name, real, "simple")
    work = [
        real.write(folder / "hello.txt", "moin\n"),
        real.run("git add hello.txt && git commit -qm 'Say moin'"),
        outcome("pr_ready"),
    ]
    model.script(SCENARIO, [outcome("needs_info", QUESTION), When(asked("Answer: Moin."), work)])
    await tasks.move(world.s, task.id, ANN)
    view = await world.wait(task, lambda v: bool(v.prompts), "a question")
    assert view.runs[0].error is None, view.runs[0].error
    await world.answer(view.prompts[0], {"answers": [{"question_id": "q1", "text": "Moin."}]})
    view = await world.wait(task, lambda v: v.task.status == "review" and v.run is None, "review")
    first, second = view.runs
    assert (first.outcome, second.outcome) == ("needs_info", "pr_ready")
    assert second.branch
    assert run(world.repo, "show", f"{second.branch}:hello.txt") == "moin"
    assert first.session
    assert (first.session == second.session) == real.goes_on
    used = [each.usage and each.usage.input_tokens for each in view.runs]
    assert used == ([100, 300] if real.counts else [None, None])


async def test_a_plan_writes_nothing(
    name: str, real: Real, model: ModelServer, world: World
) -> None:
    task, folder = await begin(world, name, real, "feature")
    model.script(
        SCENARIO,
        [
            real.write(folder / "hello.txt", "moin\n"),
            outcome("plan_complete", text="1. Say moin."),
            Say("As I said."),
        ],
    )
    await tasks.move(world.s, task.id, ANN)
    view = await world.wait(task, lambda v: bool(v.runs) and not v.runs[-1].status.live, "planned")
    assert not (folder / "hello.txt").exists()
    assert [r.mode for r in view.runs] == ["plan"]
    # Some end their turn when something is refused, and then there is nothing to read.
    assert view.runs[-1].outcome in ("plan_complete", None)
