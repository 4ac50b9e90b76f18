"""Scripts for the staged pipeline: every stage plays a sound output of the same small task, and a
test says only what differs."""

import copy
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain import pipeline
from agents_manager.domain.stages import table
from agents_manager.domain.task import Task
from agents_manager.flow.views import TaskView
from tests.repos import make_repo
from tests.stage_samples import BUILD_REPORT, SAMPLES
from tests.worlds import World, working

Step = dict[str, Any]
FILES = {"README.md": "Shop\n", "app.py": "app\n", "tests/test_app.py": "import app\n"}
"""The repository of the shop."""
UNCONFIRMED = {"staged": {"confirmSpec": False}}


def ends(outcome: str, payload: Mapping[str, Any] | None = None, text: str = "Done.") -> list[Step]:
    """The last steps of a run; the text is its final message beside the outcome."""
    ending = {"name": outcome, "payload": payload or SAMPLES[outcome], "text": text}
    return [{"outcome": ending}]


def builder(number: int, feature: str, file: str, text: str = "Done.") -> list[Step]:
    """Builds one file."""
    changed = {"created" if file.startswith("new") else "modified": [file]}
    report = {
        **BUILD_REPORT,
        "agent": f"build-agent-{number}",
        "features": [{"id": feature, "status": "COMPLETE"}],
        "files_modified": changed.get("modified", []),
        "files_created": changed.get("created", []),
        "changes": [{"id": "C1", "file": file, "description": "As planned."}],
        "tests": [],
    }
    return [*changes(file, f"built {number}\n"), *ends("build_report", report, text)]


def changes(file: str, text: str) -> list[Step]:
    return [{"modify": {"path": file, "append": text}}, {"commit": f"Change {file}"}]


def script(**differing: Any) -> dict[str, Any]:
    """The straight path; what differs by role, with `_` for `-`."""
    made: dict[str, Any] = {
        stage.role: [ends(stage.outcome)] for stage in table.STAGES if not stage.writes
    }
    made["build-agent"] = [builder(1, "F1", "app.py"), builder(2, "F2", "README.md")]
    made["test-writer"] = [
        [*changes("tests/test_app.py", "def test(): ...\n"), *ends("test_writing_report")]
    ]
    made["debugger"] = [[*changes("app.py", "mended\n"), *ends("debug_report")]]
    return {**made, **{role.replace("_", "-"): visits for role, visits in differing.items()}}


def sample(name: str, **fields: Any) -> dict[str, Any]:
    return {**copy.deepcopy(SAMPLES[name]), **fields}


FAILING = sample(
    "test_report",
    **{"status": "FAIL", "total": 12, "passed": 10, "failed": 1, "skipped": 1},
    failing=[{"test": "test_health", "error": "KeyError: status"}],
)


def failing(test: str) -> dict[str, Any]:
    return {**FAILING, "failing": [{"test": test, "error": "AssertionError"}]}


async def begun(world: World, made: Mapping[str, Any] | None = None, **fields: Any) -> Task:
    """A staged task under way, of which nobody confirms anything."""
    world.configure(UNCONFIRMED)
    return await world.start(made or script(), pipeline="staged", **fields)


async def until(world: World, task: Task, status: str) -> TaskView:
    return await patiently(world, task, lambda v: v.task.status == status and v.run is None, status)


async def patiently(
    world: World, task: Task, there: Callable[[TaskView], bool], what: str
) -> TaskView:
    """Waits as long as something happens: a way of so many runs takes longer than one."""
    before = -1
    while True:
        known = len(await world.events(task))
        try:
            return await world.wait(task, there, what)
        except AssertionError:
            if known == before:
                raise
            before = known


async def modes(world: World, task: Task) -> list[str]:
    return [run.mode for run in (await world.view(task)).runs]


def plain(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@pytest.fixture
async def shop(tmp_path: Path, own_home: Path) -> AsyncIterator[World]:
    """A worker on a small service."""
    async with working(tmp_path / "home", make_repo(tmp_path / "shop", FILES)) as world:
        yield world


def plan(*batches: Sequence[str]) -> list[Step]:
    """A plan with a batch for each of these, which are the files to create."""
    made = [
        {"number": n, "features": [{"id": f"F{2 - n % 2}", "create": [*files]}]}
        for n, files in enumerate(batches, 1)
    ]
    return ends("implementation_plan", sample("implementation_plan", batches=made))


def _moves(
    id: str, source: str, to: str, outcome: str | None, *guards: str, kind: str = "agent_outcome"
) -> dict[str, Any]:
    trigger = {"type": kind, **({"outcome": outcome} if outcome else {})}
    checked = [
        {"type": name.removeprefix("!"), **({"not": True} if name.startswith("!") else {})}
        for name in guards
    ]
    starts = [{"type": "start_agent"}] if to not in ("done", "failed", "needs_info") else []
    hooks = [{"type": "stop_agent"}] if to == "cancelled" else starts
    return {
        "id": id, "from": source, "to": to, "trigger": trigger, "guards": checked, "hooks": hooks
    }  # fmt: skip


def _stands(id: str, category: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "category": category, **more}


SHORT: dict[str, Any] = {
    "id": "short",
    "name": "Only what stage 4 needs",
    "statuses": [
        _stands("open", "open"),
        _stands("planning", "active", stage=2, role="plan-agent"),
        _stands("building", "active", stage=4, role="build-agent", parallel=True),
        _stands("debugging", "active", stage=5, role="debugger"),
        _stands("needs_info", "waiting", prompt={"type": "info_request"}),
        _stands("failed", "waiting", prompt={"type": "choice"}),
        _stands("done", "final"),
        _stands("cancelled", "final"),
    ],
    "transitions": [
        _moves("start", "open", "planning", None, kind="manual"),
        _moves("planned", "planning", "building", "implementation_plan", "!was_requested"),
        _moves("back", "planning", "$requester", "implementation_plan", "was_requested"),
        _moves("next", "building", "building", "build_report", "batches_remain"),
        _moves("built", "building", "done", "build_report", "!batches_remain"),
        _moves("conflict", "building", "debugging", "conflicts_detected"),
        _moves("debugged", "debugging", "done", "debug_report", "!batches_remain"),
        _moves("build_on", "debugging", "building", "debug_report", "batches_remain"),
        _moves("ask", "*", "needs_info", "needs_info"),
        _moves("answered", "needs_info", "$origin", None, kind="prompt_response"),
        _moves("fail", "*", "failed", None, kind="agent_error"),
        _moves("retry", "failed", "$origin", None, kind="manual"),
        _moves("cancel", "*", "cancelled", None, kind="manual"),
        _moves("plan_again", "*", "planning", None, kind="loop_back"),
    ],
}
"""The engine's part of stage 4, without the dozen runs around it."""


async def build(world: World, made: Mapping[str, Any]) -> Task:
    """A task of the short pipeline under way."""
    parsed, now = pipeline.parse(SHORT), world.s.clock.now()
    await world.s.store.write(lambda tx: tx.pipelines.save(parsed, SHORT, now))
    return await world.start(made, pipeline="short")
