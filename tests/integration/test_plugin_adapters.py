"""Agents, forges, channels, checks and pipelines of plugins: they are used like what is built in,
and one that fails fails what was asked of it alone, with its name."""

import json
from pathlib import Path

import pytest

from agents_manager import built_in
from agents_manager.errors import ChannelDown, InvalidConfig, InvalidPipeline, PluginFailed
from agents_manager.flow import agents, pipelines, tasks
from agents_manager.flow.channels import overview
from agents_manager.flow.runs import checking
from agents_manager.settings import ConfigFiles
from agents_manager.testing import values
from tests.installed import install, install_example, site
from tests.repos import run, scripted_home, sha
from tests.worlds import ANN, NO_RETRIES, working

__all__ = ["site"]

DONE = {"say": "It is fixed.\n\n<<<OUTCOME:pr_ready>>>"}
NOTHING_DONE = {"implement": [[{"outcome": "no_changes"}]]}


def parrot(folder: Path) -> str:
    """The program of an agent that mends a greeting and costs two cents."""
    program = folder / "parrot"
    lines = f"echo '{json.dumps(DONE)}'\necho '{json.dumps({'cost': 0.02})}'\n"
    program.write_text(f"#!/bin/sh\necho hello > greeting.txt\n{lines}")
    program.chmod(0o700)
    return str(program)


# ------------------------------------------------------------------------------------- in use


async def test_one_of_each_kind_goes_the_whole_way(site: Path, tmp_path: Path, repo: Path) -> None:
    install_example(site)
    bare, book = tmp_path / "bare.git", tmp_path / "logbook"
    run(tmp_path, "clone", "-q", "--bare", str(repo), str(bare))
    run(repo, "remote", "add", "origin", str(bare))
    home = scripted_home(
        tmp_path / "home",
        **NO_RETRIES,
        agents={"polly": {"adapter": "parrot", "program": parrot(tmp_path)}},
        defaultAgentType="polly",
        defaultPipeline="hotfix",
        forge={"type": "plain-git", "settings": {"remote": "origin"}},
        checks={"todos": {"kind": "todos", "settings": {"most": 0}}},
        notifications={"logbook": {"enabled": True, "file": str(book)}},
    )
    async with working(home, repo) as world:
        new = tasks.NewTask(title="Mend the greeting")
        task = await tasks.create(world.s, world.project, new, ANN)
        await tasks.move(world.s, task.id, ANN)
        view = await world.until(task, "pr_review")
        await world.settled(task)
        [one] = view.runs
        assert (one.agent, one.outcome, one.cost_usd) == ("polly", "pr_ready", 0.02)
        [checks] = checking.of_run(world.s, one.id)
        assert {(c["name"], c["how"]) for c in checks} == {
            ("todos", "0 TODOs, 0 are allowed"),
            ("no-secrets", "passed"),
        }
        await world.review(task, "approved")
        await world.until(task, "done")
        await world.settled(task)
        pulls = await world.s.store.read(lambda tx: tx.pulls.all_of_task(task.id))
        assert [(p.forge, p.state, p.merge_sha) for p in pulls] == [
            ("plain-git", "merged", sha(bare, "main"))
        ]
        assert run(bare, "show", "main:greeting.txt") == "hello"
        assert "Mend the greeting: merging → done" in (repo / "hotfixes.txt").read_text()
        found = {one.name: one for one in await agents.examine(world.s, world.project)}
        assert found["polly"].usable
        assert found["polly"].diagnosis.program == str(tmp_path / "parrot")
        assert await world.s.forge.trouble(world.project) is None
        told = await overview.test(world.s, "logbook")
        assert (told.speaks_as, told.places) == (str(book), ("logbook",))
    assert "Agents Manager can reach you here." in book.read_text()


def test_settings_of_plugins_are_held_to_their_models(site: Path, tmp_path: Path) -> None:
    install_example(site)
    home = scripted_home(
        tmp_path / "home",
        agents={"parrot": {"programme": "x"}},
        checks={"todos": {"kind": "todos", "settings": {"most": -1}}, "x": {"kind": "todoes"}},
        forge={"type": "plain-git", "settings": {"remot": "x"}},
        notifications={"logbook": {"files": "x"}, "logboook": {}},
    )
    with pytest.raises(InvalidConfig) as refused:
        ConfigFiles(home, built_in.known(None).adapters).config(None)
    told = "\n".join(refused.value.details)
    for part in (
        'agents.parrot.programme: there is no key "programme". Did you mean "program"?',
        "checks.todos: settings.most: Input should be greater than or equal to 0",
        'checks.x: there is no kind of check "todoes". Did you mean "todos"?',
        "forge: settings.remot: Extra inputs are not permitted",
        'notifications.logbook.files: there is no key "files". Did you mean "file"?',
        'notifications.logboook: there is no key "logboook". Did you mean "logbook"?',
    ):
        assert part in told


def test_what_a_repository_says_of_an_agent_of_a_plugin_has_to_be_trusted(
    site: Path, tmp_path: Path
) -> None:
    install_example(site)
    folder = tmp_path / "repo" / ".agents-manager"
    folder.mkdir(parents=True)
    said = {
        "agents": {"parrot": {"program": "/tmp/evil", "model": "m"}},
        "checks": {"todos": {"kind": "todos"}},
    }
    (folder / "config.json").write_text(json.dumps(said))
    configs = ConfigFiles(scripted_home(tmp_path / "home"), built_in.known(None).adapters)
    config = configs.of(values.project(tmp_path / "repo"))
    assert config.own_agents == {"parrot": {"program": "/tmp/evil"}}
    assert config.commands == {"agents.parrot.program": "/tmp/evil", "checks.todos": "todos {}"}
    more = {"forge": {"settings": {}}, "notifications": {"logbook": {"file": "/tmp/x"}}}
    (folder / "config.json").write_text(json.dumps(more))
    found = configs.trouble(values.project(tmp_path / "repo"))
    assert found is not None
    assert "forge.settings: it is for the whole machine" in found.text
    assert "notifications.logbook.file: it is for the whole machine" in found.text


async def test_a_pipeline_of_a_plugin_cannot_be_replaced(
    site: Path, tmp_path: Path, repo: Path
) -> None:
    install_example(site)
    async with working(tmp_path / "home", repo) as world:
        with pytest.raises(InvalidPipeline, match='"hotfix" comes from the plugin am-house-rules'):
            await pipelines.add(world.s, dict(world.s.built_in["hotfix"]))


# ------------------------------------------------------------------------------ what is wrong

HEAD = """
from typing import Literal
from pydantic import BaseModel
from agents_manager.flow.ports import AgentConfig, ChannelConfig
class Mine(AgentConfig):
    adapter: Literal["mine"] = "mine"
class Other(AgentConfig): ...
class Needs(ChannelConfig):
    file: str
async def run(work): ...
"""
BAD = {
    "agent taken": ("add.agent('codex', Mine, print)", 'The agent "codex" cannot be registered'),
    "profile taken": ("add.agent('gemini', Mine, print)", "it is built in"),
    "agent name": ("add.agent('My Agent', Mine, print)", '"My Agent" cannot be the name'),
    "agent model": ("add.agent('mine', BaseModel, print)", "are no AgentConfig"),
    "agent adapter": ("add.agent('mine', Other, print)", 'do not say adapter: Literal["mine"]'),
    "forge taken": ("add.forge('github', print)", 'The forge "github" cannot be registered'),
    "forge model": ("add.forge('mine', print, settings=dict)", "are no BaseModel"),
    "channel taken": ("add.channel('slack', ChannelConfig, print)", "it is built in"),
    "channel key": ("add.channel('digest', ChannelConfig, print)", 'The channel "digest"'),
    "channel model": ("add.channel('mine', Mine, print)", "are no ChannelConfig"),
    "channel default": ("add.channel('mine', Needs, print)", "have no default"),
    "check taken": ("add.check('no-secrets', run)", 'The check "no-secrets" cannot be'),
    "check blocks": ("add.check('mine', print)", "is not an async function"),
    "pipeline broken": ("add.pipeline({'id': 'mine'})", "statuses"),
    "pipeline taken": ("add.pipeline(dict(add.adapters.pipelines['bug']))", 'The pipeline "bug"'),
    "pipeline linted": (
        "add.pipeline({**add.adapters.pipelines['bug'], 'id': 'mine', 'transitions': []})",
        'Pipeline "mine" has errors. statuses.0: Nothing leads out of',
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_plugin_that_registers_what_it_may_not_is_named_and_skipped(
    site: Path, name: str
) -> None:
    source, says = BAD[name]
    register = f"{HEAD}\ndef register(add):\n add.check('first', run)\n {source}\n"
    install(site, "am-bad", {"bad": "am_bad:register"}, {"am_bad": register})
    known = built_in.known(None)
    [plugin] = known.registry.plugins
    assert says in (plugin.error or "")
    assert "first" not in known.adapters.checks, "nothing of it stays"
    assert 'The plugin am-bad 1.0 ("bad") could not be used' in known.adapters.lost
    assert known.adapters.agents.keys() == built_in.adapters().agents.keys()


RAISES = """
from typing import Literal
from agents_manager.flow.ports import AgentConfig, Capabilities, ChannelConfig
class Config(AgentConfig):
    adapter: Literal["clumsy"] = "clumsy"
class Late(AgentConfig):
    adapter: Literal["late"] = "late"
class Clumsy:
    capabilities = Capabilities()
    system_prompt = model = None
    how_to_end = ""
    def __init__(self, name, config): ...
    def __getattr__(self, name): raise RuntimeError("I fell")
class Channel:
    def __getattr__(self, name): raise RuntimeError("no bell")
async def check(work): raise RuntimeError("no eyes")
def forge(tools): raise RuntimeError("no fire")
def late(name, config): raise RuntimeError("too late")
def register(add):
    add.agent("clumsy", Config, Clumsy)
    add.agent("late", Late, late)
    add.channel("clumsy", ChannelConfig, lambda tools, config: Channel())
    add.check("clumsy", check)
    add.forge("clumsy", forge)
"""
WHO = "The plugin am-raises 1.0 failed: RuntimeError: "


async def test_an_adapter_that_raises_fails_what_was_asked_of_it_alone(
    site: Path, tmp_path: Path, repo: Path
) -> None:
    install(site, "am-raises", {"raises": "am_raises:register"}, {"am_raises": RAISES})
    home = scripted_home(
        tmp_path / "home", **NO_RETRIES, checks={"looks": {"kind": "clumsy"}}, maxFixRounds=0
    )
    async with working(home, repo) as world:
        s = world.s
        examined = {one.name: one for one in await agents.examine(s, None)}
        assert examined["clumsy"].diagnosis.missing == (f"{WHO}I fell",)
        assert examined["late"].diagnosis.missing == (f"{WHO}too late",)
        assert examined["scripted"].usable
        world.configure({"defaultAgentType": "clumsy"})
        task = await world.start({}, pipeline="simple")
        view = await world.wait(task, lambda v: bool(v.runs) and v.run is None, "ended")
        assert view.runs[0].error
        assert view.runs[0].error.error == f"{WHO}I fell"
        world.configure({})
        work = [{"write": {"path": "a.txt", "text": "1"}}, {"outcome": "pr_ready"}]
        checked = await world.start({"implement": [work]}, pipeline="chore")
        view = await world.wait(checked, lambda v: bool(v.runs) and v.run is None, "ended")
        assert view.runs[0].error
        assert (
            view.runs[0].error.error
            == "Checks fail on the base commit too: looks (its plugin failed)."
        )
        with pytest.raises(ChannelDown, match=f"{WHO}no bell"):
            await s.channels["clumsy"]().check()
        assert await s.forge.trouble(world.project) is None
        world.configure({"forge": {"type": "clumsy"}})
        assert await s.forge.trouble(world.project) == f"{WHO}no fire"
        with pytest.raises(PluginFailed, match="no fire"):
            await s.forge.publish(world.project, task, "main", "main", "", "")
        fine = await world.start(NOTHING_DONE, pipeline="simple")
        await world.until(fine, "needs_decision")


async def test_what_is_of_a_plugin_that_is_lost_says_so_and_stops_nothing_else(
    site: Path, tmp_path: Path, repo: Path
) -> None:
    install(site, "am-house-rules", {"rules": "hr:register"}, {"hr": "import nothing_like_this"})
    lost = 'The plugin am-house-rules 1.0 ("rules") could not be used: ModuleNotFoundError'
    home = scripted_home(
        tmp_path / "home",
        **NO_RETRIES,
        agents={"polly": {"adapter": "parrot", "program": "/bin/true"}},
        forge={"type": "plain-git", "settings": {"remote": "origin"}},
        checks={"todos": {"kind": "todos", "settings": {"most": 0}}},
        notifications={"logbook": {"enabled": True}},
    )
    async with working(home, repo) as world:
        s = world.s
        world.configure({"agents": {"parrot": {"program": "x"}}})
        [parrot] = await agents.examine(s, world.project, "parrot")
        assert parrot.diagnosis.missing
        world.configure({})
        [polly] = await agents.examine(s, None, "polly")
        assert lost in polly.diagnosis.missing[0]
        assert lost in str(await s.forge.trouble(world.project))
        specs = s.configs.of(world.project).checks
        base = sha(repo, "main")
        results = {r.name: r for r in await s.checks.run(repo, base, base, specs)}
        assert not results["todos"].passed, "what nobody can look at has not passed"
        assert lost in results["todos"].output
        assert results["no-secrets"].passed
        task = await world.start(NOTHING_DONE, pipeline="simple")
        await world.until(task, "needs_decision")
