"""The real agents in the default sandbox: they find their model, which is a scripted one on this
machine, and commit."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agents_manager import bootstrap
from agents_manager.domain.run import Run, RunStatus
from agents_manager.flow import agents, tasks
from agents_manager.testing.scripted_model import ModelServer, Say, When, asked, outcome
from tests import sandboxes
from tests.real_agents.desk import MODEL, REAL, SCENARIO
from tests.repos import run
from tests.worlds import ANN, NO_RETRIES, World

pytestmark = [pytest.mark.usefixtures("programs"), pytest.mark.timeout(300)]
COMMIT = "printf 'moin\\n' > hello.txt && git add hello.txt && git commit -qm 'Say moin'"
EDIT = "hello.txt\n```\nmoin\n```\n\n<<<OUTCOME:pr_ready>>>\n<<<END_PAYLOAD>>>\n"


@pytest.fixture(autouse=True)
def sandboxed(no_sandbox: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "LEVELS", sandboxes.levels())
    monkeypatch.setattr("tests.worlds.PATIENCE_S", 200)


async def worked(world: World, name: str, settings: Mapping[str, Any], **sandbox: Any) -> Run:
    """Return the run of an agent that nobody consented to run without a sandbox."""
    (world.s.home / "config.json").write_text(json.dumps({"sandbox": sandbox, **NO_RETRIES}))
    world.configure({"defaultAgentType": name, "agents": {name: dict(settings)}})
    world.project = await tasks.trust_project(world.s, world.project)
    world.project = await agents.consent(world.s, world.project, given=False)
    new = tasks.NewTask(title="Add greeting", pipeline="simple")
    task = await tasks.create(world.s, world.project, new, ANN)
    await tasks.move(world.s, task.id, ANN)
    view = await world.wait(task, lambda v: bool(v.runs) and not v.runs[0].status.live, "over")
    return view.runs[0]


@pytest.mark.parametrize("name", REAL)
async def test_agent_works_in_the_sandbox(
    name: str, model: ModelServer, world: World, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = REAL[name]
    for key, value in real.set_up(own_home, model.url(SCENARIO)).items():
        monkeypatch.setenv(key, value)
    model.script(SCENARIO, [real.run(COMMIT), outcome("pr_ready")])
    done = await worked(world, name, real.settings)
    assert (done.status, done.sandbox) == (RunStatus.COMPLETED, "S3"), done.error
    assert run(world.repo, "show", f"{done.branch}:hello.txt") == "moin"
    log = await world.s.store.read(lambda tx: tx.events.newest(done.task_id, "tool", limit=9))
    assert [e.data["ok"] for e in log] == [True]
    assert "printf" in log[0].summary


async def test_aider_works_in_the_sandbox(
    model: ModelServer, world: World, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_BASE", f"{model.url(SCENARIO)}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "scripted")
    model.script(SCENARIO, [When(asked("Add greeting"), [Say(EDIT)])], side=None)
    done = await worked(world, "aider", {"model": f"openai/{MODEL}"})
    assert (done.status, done.sandbox) == (RunStatus.COMPLETED, "S3"), done.error
    assert run(world.repo, "show", f"{done.branch}:hello.txt") == "moin"


async def test_model_server_that_the_sandbox_does_not_know_can_be_allowed(
    model: ModelServer, world: World, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, url = REAL["opencode"], model.url(SCENARIO)
    real.set_up(own_home, url)
    file = own_home / ".config" / "opencode" / "opencode.json"
    file.write_text(file.read_text().replace(f"{url}/v1", "{env:MODELS}"))
    monkeypatch.setenv("MODELS", f"{url}/v1")
    model.script(SCENARIO, [real.run(COMMIT), outcome("pr_ready")])
    settings = {"env": ["MODELS"]}
    failed = await worked(world, "opencode", settings)
    assert failed.error is not None
    assert "am config set --user sandbox.addresses '[\"127.0.0.1:PORT\"]'" in failed.error.error
    place = url.removeprefix("http://").partition("/")[0]
    done = await worked(world, "opencode", settings, addresses=[place])
    assert (done.status, done.sandbox) == (RunStatus.COMPLETED, "S3"), done.error
