"""What real agents over the Agent Client Protocol are told by the files of a repository: the
instructions of the base commit, each of them once."""

import pytest

from agents_manager.flow import tasks
from agents_manager.testing.scripted_model import ModelServer, Say, When, asked, outcome
from tests import instruction_files
from tests.instruction_files import markers, once
from tests.real_agents.desk import SCENARIO, Real
from tests.real_agents.test_acp_agents import begin, name, real
from tests.repos import commit
from tests.worlds import ANN, World

__all__ = ["name", "real"]

pytestmark = [pytest.mark.usefixtures("programs"), pytest.mark.timeout(300)]
LISTED = ["MARK-greet-LISTED", "MARK-wave-LISTED"]
MORE = {
    "gemini": ["MARK-GEMINI", "MARK-wave-LISTED"],
    "qwen": ["MARK-QWEN", "MARK-wave-LISTED"],
    "kimi": ["MARK-wave-LISTED"],
}
"""What an agent reads in the workspace that nothing keeps it from."""


async def test_instructions_come_once_and_only_from_the_prompt(
    name: str, real: Real, model: ModelServer, world: World
) -> None:
    instruction_files.add_to(world.repo)
    commit(world.repo, {"GEMINI.md": "MARK-GEMINI\n", "QWEN.md": "MARK-QWEN\n"})
    task, folder = await begin(world, name, real, "simple")
    steps = [real.run("cat README.md"), real.write(folder / "hello.txt", "x"), outcome("pr_ready")]
    model.script(SCENARIO, [When(asked("Title: Add greeting"), steps)], side=Say("Nothing."))
    await tasks.move(world.s, task.id, ANN)
    view = await world.wait(task, lambda v: bool(v.runs) and v.run is None, "ended")
    assert view.runs[0].error is None, view.runs[0].error
    told = next(r for r in model.requests(SCENARIO) if "Title: Add greeting" in str(r.body))
    found = markers(told)
    if name == "copilot":  # It reads every file that is meant for any agent.
        assert sorted(instruction_files.marked(view.runs[0].prompt)) == LISTED
    else:
        once(found, *LISTED, "MARK-ROOT", *MORE.get(name, []))
    assert instruction_files.started(world.repo) == []
