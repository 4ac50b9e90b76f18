"""Plugins: what an installed package adds is used like what is built in, and what is wrong with it
is told by name and stops nothing."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agents_manager import built_in
from agents_manager.domain import lint
from agents_manager.domain.registry import Registry
from agents_manager.errors import InvalidPipeline, TransitionRefused
from agents_manager.flow import pipelines, plugin_hooks, tasks
from agents_manager.settings import from_environment
from tests.installed import install, install_example, site
from tests.pipeline_desk import shipped
from tests.worlds import ANN, World, working

FILED = {"implement": [[{"outcome": {"name": "ticket_filed", "payload": {"ticket": "SHOP-7"}}}]]}
__all__ = ["site"]

NOTES = {"type": "write_down", "params": {"file": "moves.txt"}}


@pytest.fixture
async def house(site: Path, tmp_path: Path, repo: Path) -> AsyncIterator[World]:
    """A worker beside which the example plugin is installed."""
    install_example(site)
    async with working(tmp_path / "home", repo) as world:
        yield world


def filing(**changed: Any) -> dict[str, Any]:
    """`simple`, where an agent may file a ticket, which is written down and may then be closed."""
    simple = shipped()
    rows = [row for row in simple["transitions"] if row["id"] != "finish"]
    filed = {
        "id": "filed",
        "from": "in_progress",
        "to": "needs_decision",
        "trigger": {"type": "agent_outcome", "outcome": "ticket_filed"},
        "hooks": [NOTES],
    }
    params = {"statusId": "in_progress", "max": 0}
    finish = {
        "id": "finish",
        "from": "needs_decision",
        "to": "done",
        "trigger": {"type": "manual"},
        "guards": [{"type": "few_rounds", "params": params}],
    }
    rows += [{**filed, **changed}, finish]
    return {**simple, "id": "filing", "transitions": rows}


def loaded(chosen: tuple[str, ...] | None = None) -> Registry:
    return built_in.known(chosen).registry


# ------------------------------------------------------------------------------------- in use


async def test_guard_hook_and_outcome_of_a_plugin_go_the_whole_way(house: World) -> None:
    await pipelines.add(house.s, filing())
    task = await house.start(FILED, pipeline="filing")
    view = await house.until(task, "needs_decision")
    await house.settled(task)
    assert (view.runs[0].outcome, view.runs[0].payload) == ("ticket_filed", {"ticket": "SHOP-7"})
    assert "You filed a ticket instead of changing code." in str(view.runs[0].prompt)
    written = (house.repo / "moves.txt").read_text()
    assert written.count("Add greeting: in_progress → needs_decision") == 1
    entry = (await house.history(task))[-1]
    assert [(h.name, h.policy) for h in entry.hooks] == [("write_down", "required")]
    await house.choose(task, "finish")
    done = (await house.history(task))[-1]
    assert [(g.name, g.passed, g.reason) for g in done.guards] == [
        ("few_rounds", True, "It came round 0 times; 0 are allowed.")
    ]


async def test_its_guard_refuses_with_its_reason(house: World) -> None:
    await pipelines.add(house.s, filing())
    again = {"implement": [*FILED["implement"], *FILED["implement"]]}
    task = await house.start(again, pipeline="filing")
    await house.until(task, "needs_decision")
    await house.choose(task, "again")
    await house.wait(task, lambda v: len(v.runs) == 2 and v.run is None, "run again")
    await house.until(task, "needs_decision")
    with pytest.raises(TransitionRefused, match=r"It came round 1 times; 0 are allowed."):
        await tasks.move(house.s, task.id, ANN, to="done")


async def test_parameters_of_its_guard_are_held_to_its_model(house: World) -> None:
    wrong = filing()
    wrong["transitions"][-1]["guards"][0]["params"] = {"statusId": "in_progress", "most": 1}
    with pytest.raises(InvalidPipeline) as refused:
        await pipelines.add(house.s, wrong)
    told = " ".join(refused.value.details)
    assert "params.max: Field required" in told
    assert "params.most" in told


async def test_lint_and_simulation_name_the_plugin(house: World) -> None:
    saved = (await pipelines.add(house.s, filing())).pipeline
    assert lint.check(saved, house.s.registry) == []
    assert {(b.kind, b.name, b.plugin) for b in house.s.registry.borrowed(saved)} == {
        ("hook", "write_down", "am-house-rules 1.0"),
        ("outcome", "ticket_filed", "am-house-rules 1.0"),
        ("guard", "few_rounds", "am-house-rules 1.0"),
    }


async def test_a_hook_that_gives_up_takes_the_task_back_as_its_policy_says(house: World) -> None:
    await pipelines.add(house.s, filing(hooks=[{"type": "write_down"}]))
    task = await house.start(FILED, pipeline="filing")
    view = await house.wait(
        task, lambda v: v.task.status == "in_progress" and bool(v.prompts), "taken back"
    )
    assert "write_down failed: write_down needs a file." in view.prompts[0].payload["reason"]


async def test_a_hook_that_nobody_requires_fails_alone(house: World) -> None:
    await pipelines.add(house.s, filing(hooks=[{"type": "write_down", "policy": "best_effort"}]))
    task = await house.start(FILED, pipeline="filing")
    await house.until(task, "needs_decision")
    await house.settled(task)
    assert "hook.failed" in await house.types(task)


async def test_a_pipeline_outlives_the_plugin_that_it_needs(
    site: Path, tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_example(site)
    home = tmp_path / "home"
    async with working(home, repo) as house:
        await pipelines.add(house.s, filing())
        task = await house.create(FILED, pipeline="filing")
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p != str(site)])
    async with working(home, repo) as without:
        await tasks.move(without.s, task.id, ANN)
        view = await without.until(task, "needs_decision")
        assert 'defines the outcome "ticket_filed" any more' in str(view.runs[0].error)
        with pytest.raises(TransitionRefused, match='no guard "few_rounds" any more'):
            await tasks.move(without.s, task.id, ANN, to="done")


# ------------------------------------------------------------------------------ what is wrong

RAISES = """
def register(add):
    add.guard("is_kind", lambda facts, params: 1 / 0)
    add.guard("is_odd", lambda facts, params: "yes")
    add.hook("ring", ring, policy="best_effort")
    add.hook("hang", hang)

def ring(call):
    raise RuntimeError("no bell")

def hang(call):
    import time
    time.sleep(1)
"""
BROKEN = {
    "cannot-import": ("import nothing_like_this", "ModuleNotFoundError"),
    "leaves": ("raise SystemExit(3)", "SystemExit: 3"),
    "no-function": ("", "AttributeError"),
    "taken": ("def register(add): add.guard('has_plan', print)", "it is built in"),
    "twice": (
        "def register(add):\n add.hook('ring', print)\n add.hook('ring', print)",
        'The hook "ring" cannot be registered',
    ),
    "bad-name": ("def register(add): add.guard('Has Plan', print)", '"Has Plan" cannot be'),
    "awaited": (
        "async def ring(call): ...\ndef register(add): add.hook('ring', ring)",
        'The hook "ring" is not a plain function',
    ),
    "no-policy": ("def register(add): add.hook('ring', print, policy='x')", "'x' is not a valid"),
    "alias": (
        "from agents_manager.domain.outcome import Outcome\n"
        "def register(add): add.outcome(Outcome('plan_ready', ''))",
        "it is built in",
    ),
    "asks-nothing": (
        "from agents_manager.domain.outcome import Outcome\n"
        "def register(add): add.outcome(Outcome('asks', '', prompt='info_request'))",
        "so its payload is a NeedsInfo or OptionsProposed",
    ),
    "bad-schema": (
        "from agents_manager.domain.outcome import Outcome\n"
        "def register(add): add.outcome(Outcome('odd', '', schema={'type': 'array'}))",
        'The schema of outcome "odd"',
    ),
    "bad-form": (
        "from agents_manager.domain.outcome import Outcome\n"
        "def register(add): add.outcome(Outcome('odd', '', prompt='info_request', answer={}))",
        "answer.type: an answer is an object",
    ),
    "form-elsewhere": (
        "from agents_manager.domain.outcome import Outcome\n"
        "def register(add): add.outcome(Outcome('odd', '', prompt='review', answer={}))",
        "answer: a form is an info_request",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_a_broken_plugin_is_told_by_name_and_stops_nothing(site: Path, name: str) -> None:
    source, says = BROKEN[name]
    module = f"broken_{name.replace('-', '_')}"
    install(site, "am-broken", {"bad": f"{module}:register"}, {module: source})
    install_example(site)
    known = loaded()
    broken, good = known.plugins
    assert (broken.package, broken.version, broken.entry_point) == ("am-broken", "1.0", "bad")
    assert says in (broken.error or "")
    assert (good.guards, good.hooks, good.outcomes) == (
        ("few_rounds",),
        ("write_down",),
        ("ticket_filed",),
    )
    assert "ring" not in known.hooks


async def test_of_two_plugins_with_one_name_the_second_is_refused_and_says_whose_it_is(
    site: Path,
) -> None:
    taken = "def register(add):\n add.guard('other', print)\n add.guard('few_rounds', print)"
    install(site, "zz-late", {"late": "zz_late:register"}, {"zz_late": taken})
    install_example(site)
    known = loaded()
    assert known.plugins[1].error == (
        'The guard "few_rounds" cannot be registered: the plugin am-house-rules 1.0 registers it.'
    )
    assert "other" not in known.guards  # Nothing of a refused plugin stays.


async def test_an_unknown_name_is_explained_by_the_plugin_that_failed(
    site: Path, tmp_path: Path, repo: Path
) -> None:
    install(site, "am-house-rules", {"rules": "hr:register"}, {"hr": "import nothing_like_this"})
    async with working(tmp_path / "home", repo) as world:
        with pytest.raises(InvalidPipeline) as refused:
            await pipelines.add(world.s, filing())
        task = await world.start({"implement": [[{"outcome": "no_changes"}]]}, pipeline="simple")
        assert task.status == "open"
    told = "\n".join(refused.value.details)
    assert 'There is no guard "few_rounds".' in told
    assert 'The plugin am-house-rules 1.0 ("rules") could not be used: ModuleNotFound' in told


async def test_a_guard_that_raises_refuses_even_where_it_is_negated(
    site: Path, tmp_path: Path, repo: Path
) -> None:
    install(site, "am-raises", {"raises": "am_raises:register"}, {"am_raises": RAISES})
    document = {**shipped(), "id": "kind"}
    start = document["transitions"][0]
    async with working(tmp_path / "home", repo) as world:
        for number, guard in enumerate(
            [{"type": "is_kind"}, {"type": "is_kind", "not": True}, {"type": "is_odd"}]
        ):
            made = {**document, "id": f"kind{number}"}
            made["transitions"] = [{**start, "guards": [guard]}, *document["transitions"][1:]]
            await pipelines.add(world.s, made)
            task = await world.create({}, pipeline=f"kind{number}")
            with pytest.raises(TransitionRefused, match=f'The guard "{guard["type"]}" failed: '):
                await tasks.move(world.s, task.id, ANN)


async def test_a_hook_that_raises_is_tried_again_and_then_fails(
    site: Path, tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents_manager.flow.hooks.BACKOFF_S", 0.01)
    monkeypatch.setattr(plugin_hooks, "LIMIT_S", 0.05)
    install(site, "am-raises", {"raises": "am_raises:register"}, {"am_raises": RAISES})
    document = {**shipped(), "id": "rings"}
    cancel = document["transitions"].pop()
    hooks = [{"type": "ring"}, {"type": "hang"}]
    document["transitions"].append({**cancel, "hooks": hooks})
    async with working(tmp_path / "home", repo) as world:
        await pipelines.add(world.s, document)
        task = await world.create({}, pipeline="rings")
        await tasks.move(world.s, task.id, ANN, to="cancelled")
        await world.settled(task)
        told = [e.summary for e in await world.events(task)]
    assert sum("RuntimeError: no bell" in line for line in told) == 3
    assert sum("It took longer than 0 s." in line for line in told) == 1


async def test_plugins_can_be_chosen(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_example(site)
    assert "few_rounds" in loaded(("AM_House.Rules",)).guards
    assert loaded(()).plugins == ()
    [missing] = loaded(("am-other",)).plugins
    assert missing.error == "it is named in AM_PLUGINS, but not installed"
    monkeypatch.delenv("AM_PLUGINS", raising=False)
    assert from_environment().plugins is None
    monkeypatch.setenv("AM_PLUGINS", " am-house-rules, ")
    assert from_environment().plugins == ("am-house-rules",)


async def test_an_outcome_of_a_project_cannot_hide_that_of_a_plugin(house: World) -> None:
    folder = house.repo / ".agents-manager" / "outcomes"
    folder.mkdir(parents=True)
    (folder / "ticket_filed.json").write_text('{"type": "object"}')
    _, errors = house.s.files.outcomes(house.project)
    assert "comes from the plugin am-house-rules 1.0; choose another name" in errors[0]
