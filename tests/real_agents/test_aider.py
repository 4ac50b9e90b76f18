"""The real aider as a profile of the command adapter, against a scripted model on loopback."""

from pathlib import Path

import pytest

from agents_manager.flow import agents, tasks
from agents_manager.testing.scripted_model import ModelServer, Say, When, asked, outcome
from tests.real_agents.desk import MODEL, SCENARIO
from tests.repos import run
from tests.worlds import ANN, World

pytestmark = [pytest.mark.usefixtures("programs"), pytest.mark.timeout(300)]
QUESTION = {"questions": [{"id": "q1", "question": "Which greeting?"}]}
EDIT = """hello.txt
```
moin
```

<<<OUTCOME:pr_ready>>>
<<<END_PAYLOAD>>>
"""


@pytest.fixture
def key(model: ModelServer, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_BASE", f"{model.url(SCENARIO)}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "scripted")
    monkeypatch.setattr("tests.worlds.PATIENCE_S", 120)


@pytest.mark.usefixtures("key")
async def test_a_question_an_answer_and_work(model: ModelServer, world: World) -> None:
    (found,) = await agents.examine(world.s, None, "aider")
    assert found.usable
    settings = {"model": f"openai/{MODEL}"}
    world.configure({"defaultAgentType": "aider", "agents": {"aider": settings}})
    world.project = await tasks.trust_project(world.s, world.project)
    # Its prompt has examples of what a model says, which are no turns of this one.
    steps = [
        When(asked("Answer: Moin."), [Say(EDIT)]),
        When(asked("Add greeting"), [outcome("needs_info", QUESTION)]),
    ]
    model.script(SCENARIO, steps, side=None)
    new = tasks.NewTask(title="Add greeting", pipeline="simple")
    task = await tasks.create(world.s, world.project, new, ANN)
    await tasks.move(world.s, task.id, ANN)
    view = await world.wait(task, lambda v: bool(v.prompts), "a question")
    assert view.runs[0].outcome == "needs_info", view.runs[0].error
    await world.answer(view.prompts[0], {"answers": [{"question_id": "q1", "text": "Moin."}]})
    view = await world.wait(task, lambda v: v.task.status == "review" and v.run is None, "review")
    branch = view.runs[-1].branch
    assert branch
    assert run(world.repo, "show", f"{branch}:hello.txt") == "moin"
    changed = run(world.repo, "diff", "--name-only", f"main...{branch}")
    assert changed == "hello.txt"
    assert view.runs[-1].usage is None
