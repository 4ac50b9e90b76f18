"""Commands that a project brings along are bound to what a person looked at. That each of them is
not run without it is tested where it is run; here the one measure for all is switched off."""

from pathlib import Path

import pytest

from agents_manager.flow import agents, tasks
from tests.worlds import ANN, World

OUTCOME = "echo '<<<OUTCOME:pr_ready>>>'; echo '<<<END_PAYLOAD>>>'"


def commands(folder: Path) -> dict[str, object]:
    """A set-up, an agent and a check, each of which leaves a file when it is run."""
    work = f"touch '{folder}/agent'; echo x > new.txt; {OUTCOME}"
    return {
        "setup": [f"touch '{folder}/setup'"],
        "defaultAgentType": "mine",
        "agents": {"mine": {"adapter": "command", "command": ["sh", "-c", work]}},
        "checks": {"test": {"command": f"touch '{folder}/check'"}},
    }


@pytest.mark.parametrize("measure", ["on", "off"])
async def test_commands_that_changed_after_they_were_trusted_would_run_without_the_measure(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, measure: str
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    for folder in (old, new):
        folder.mkdir()
    world.configure(commands(old))
    world.project = await tasks.trust_project(world.s, world.project)
    world.configure(commands(new))
    if measure == "off":
        monkeypatch.setattr(agents, "trusted", lambda *_: True)
    task = await tasks.create(
        world.s, world.project, tasks.NewTask(title="Add", pipeline="simple"), ANN
    )
    await tasks.move(world.s, task.id, ANN)
    await world.until(task, "needs_decision" if measure == "on" else "review")
    ran = {"on": [], "off": ["agent", "check", "setup"]}[measure]
    assert sorted(file.name for file in new.iterdir()) == ran
    assert list(old.iterdir()) == []
