"""What earlier versions recorded is decided, read and told by this one as it was by them."""

import asyncio
import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agents_manager import bootstrap
from agents_manager.bootstrap import Program
from agents_manager.domain import effects, pipeline, transition
from agents_manager.domain.event import EVENT
from agents_manager.domain.ids import EffectId, TaskId
from agents_manager.domain.outcome import Reported, validate
from agents_manager.flow import asking, contexts, views
from agents_manager.settings import Settings
from agents_manager.store import migrate
from tests import repos
from tests.histories.record import FACTS, FOLDER, WALKS, standing, told_of
from tests.worlds import ANN, NO_RETRIES

VERSIONS = sorted(file.stem for file in FOLDER.glob("*.json"))


@dataclass
class Past:
    """What a version recorded, and its database as this one has brought it up."""

    version: str
    told: dict[str, Any]
    program: Program
    runner: asyncio.Runner

    @property
    def tasks(self) -> list[TaskId]:
        return [TaskId(task["task"]) for task in self.told["tasks"].values()]

    def read(self, fn: Any) -> Any:
        return self.runner.run(self.program.services.store.read(fn))


def unpacked(version: str, home: Path) -> dict[str, Any]:
    home.mkdir()
    told = json.loads((FOLDER / f"{version}.json").read_text())
    for name, kept in (("agents-manager.db", "db"), ("engine.db", "engine.db")):
        packed = (FOLDER / f"{version}.{kept}.gz").read_bytes()
        (home / name).write_bytes(gzip.decompress(packed))
    (home / "host-id").write_text(told["engine"]["host"])
    return told


@pytest.fixture(scope="module", params=VERSIONS)
def past(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Past]:
    home = tmp_path_factory.mktemp("past") / "home"
    told = unpacked(request.param, home)
    with asyncio.Runner() as runner:
        opened = bootstrap.client(Settings(home, None))
        program = runner.run(opened.__aenter__())
        yield Past(request.param, told, program, runner)
        runner.run(opened.__aexit__(None, None, None))


def test_there_are_histories_of_earlier_versions() -> None:
    told = {v: json.loads((FOLDER / f"{v}.json").read_text())["tasks"] for v in VERSIONS}
    assert all(len(tasks) >= 20 for tasks in told.values())
    assert max(told.values(), key=len).keys() == WALKS.keys()
    assert sum(version < migrate.HEAD for version in VERSIONS) >= 2


def test_every_decision_is_made_as_it_was(past: Past) -> None:
    known = past.program.services.registry
    for name, task in past.told["tasks"].items():
        for n, entry in enumerate(task["decisions"]):
            id, version = entry["pipeline"]
            graph = past.read(lambda tx, i=id, v=version: tx.pipelines.get(i, v))
            facts = FACTS.validate_python(entry["facts"])
            decision = transition.decide(
                graph, entry["status"], entry["origin"], facts, known, force=entry["force"]
            )
            assert told_of(decision) == entry["decision"], (past.version, name, n)


def test_every_task_stands_as_it_stood(past: Past) -> None:
    s = past.program.services
    for name, task in past.told["tasks"].items():
        id = TaskId(task["task"])
        view = past.read(lambda tx, t=id: views.task(tx, s, t, ANN))
        assert standing(view) == task["state"], (past.version, name)
        assert view.why


def test_every_event_is_read_and_told(past: Past) -> None:
    for id in past.tasks:
        logged = past.read(lambda tx, t=id: tx.events.of_task(t, after_seq=0, limit=10_000))
        assert [one.seq for one in logged] == list(range(1, len(logged) + 1))
        for one in logged:
            event = EVENT.validate_python({"type": one.type, **one.data})
            assert event.sentence()
            assert (event.category, event.level) == (one.category, one.level)


def test_every_effect_is_read(past: Past) -> None:
    kinds: set[str] = set()
    for kind, payload in rows(past, "SELECT kind, payload FROM am_effect"):
        kept = json.loads(payload)
        effect = effects.EFFECT.validate_python(kept)
        told = effect.model_dump(mode="json")
        assert (effect.kind, {name: told[name] for name in kept}) == (kind, kept)
        kinds.add(kind)
    assert {"start_agent", "stop_agent", "push_and_create_pr", "merge_pr", "notify"} <= kinds


def rows(past: Past, query: str) -> list[Any]:
    with past.program.database.engines.reader.begin() as connection:
        return [*connection.exec_driver_sql(query)]


def test_every_prompt_outcome_and_pipeline_is_read(past: Past) -> None:
    known = past.program.services.registry
    types: set[str] = set()
    for id in past.tasks:
        for prompt in past.read(lambda tx, t=id: tx.prompts.of_task(t)):
            assert asking.summary(prompt)
            types.add(prompt.type)
        for run in past.read(lambda tx, t=id: tx.runs.of_task(t)):
            if run.outcome is not None:
                found = validate(run.outcome, run.payload, [run.outcome], known.outcomes)
                assert isinstance(found, Reported), (past.version, run.outcome, found)
    assert {"info_request", "review", "document_review", "split_proposal", "choice"} <= types
    documents = rows(past, "SELECT document FROM am_pipeline")
    assert len(documents) >= 5
    for (document,) in documents:
        pipeline.parse(json.loads(document))


def test_what_stages_said_is_read(past: Past) -> None:
    staged = past.told["tasks"].get("staged")
    if staged is None:
        return
    s, id = past.program.services, TaskId(staged["task"])
    told = past.read(lambda tx: contexts.of_task(tx, s, id))
    assert len(told.stages) > 10


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
async def test_what_the_engine_had_begun_is_ended_by_this_version(
    version: str, tmp_path: Path, own_home: Path
) -> None:
    """Nobody starts it again, as its workflow is known and not over: it is recovered."""
    home = tmp_path / "home"
    held = unpacked(version, home)["engine"]
    repos.scripted_home(home, **NO_RETRIES)
    async with bootstrap.worker(Settings(home, None)) as program, asyncio.timeout(30):
        while True:
            row = await program.services.store.read(
                lambda tx: tx.effects.get(EffectId(held["effect"]))
            )
            if row.status not in ("pending", "started"):
                break
            await asyncio.sleep(0.05)
    assert (row.status, row.attempt, row.error) == ("done", held["attempt"], None)
