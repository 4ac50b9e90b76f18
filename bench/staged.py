"""What does a stage cost, and how much of what the others said is each agent given? One task goes
through all stages with the scripted agent: eight features, each built by a builder of its own."""

import asyncio
import json
import statistics
from collections.abc import Mapping
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from agents_manager import bootstrap
from agents_manager.domain.ids import TaskId
from agents_manager.domain.run import Run
from agents_manager.flow import contexts, tasks
from agents_manager.flow.ports import Services
from bench import commands
from bench.places import ANN, git, place
from bench.rows import Row

FEATURES = 8
PATIENCE_S = 300.0
GOAL = 0.6
WORDS = (
    "It answers with the status of the service and of everything that the service depends on. " * 4
)
CRITERION = "GET /health answers 200 and names every part of the service"


def run() -> list[Row]:
    return asyncio.run(_run())


async def _run() -> list[Row]:
    with place() as (settings, repo):
        _files(repo)
        (repo / ".agents-manager").mkdir()
        config = {"staged": {"confirmSpec": False}}
        (repo / ".agents-manager" / "config.json").write_text(json.dumps(config))
        async with bootstrap.worker(settings) as program:
            s = program.services
            project = await commands.project_of(s, repo)
            told = f"```agent-script\n{json.dumps(_script())}\n```"
            new = tasks.NewTask(title="Add a health check", description=told, pipeline="staged")
            task = await tasks.create(s, project, new, ANN)
            await tasks.move(s, task.id, ANN)
            runs = await _walked(s, task.id)
            given = [
                await s.store.read(lambda tx, r=r: contexts.given(tx, s, task.id, r.id))
                for r in runs
            ]
    starts = [one.created_at for one in runs]
    gaps = [after - before for before, after in pairwise(starts)]
    worked = [one.ended_at - one.started_at for one in runs if one.ended_at and one.started_at]
    passed, everything = (sum(values) for values in zip(*_sizes(given), strict=True))
    return [
        Row(
            name=f"a stage, from its order to that of the next, median of {len(runs)}",
            ours=_ms(gaps),
            beside=f"{_ms(worked)} (from its start to its end)",
        ),
        Row(
            name=f"what {len(runs)} agents are given of each other's outputs",
            ours=f"{passed:,} characters",
            beside=f"{everything:,} (everything there was)",
            ratio=passed / everything,
            goal=f"<= {GOAL:.0%}",
            met=passed <= GOAL * everything,
            timed=False,
            sandboxed=False,
        ),
    ]


def _sizes(given: list[contexts.Given]) -> list[tuple[int, int]]:
    return [(one.characters, one.everything) for one in given]


def _ms(times: list[timedelta]) -> str:
    return f"{statistics.median(t.total_seconds() for t in times) * 1000:,.0f} ms"


async def _walked(s: Services, task_id: TaskId) -> list[Run]:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            task = await s.store.read(lambda tx: tx.tasks.get(task_id))
            if task.status == "pr_review":
                return await s.store.read(lambda tx: tx.runs.of_task(task_id))
            await asyncio.sleep(0.1)


def _files(repo: Path) -> None:
    for number in range(1, FEATURES + 1):
        (repo / f"part{number}.py").write_text("pass\n")
    git(repo, "add", ".")
    git(repo, "commit", "--quiet", "--message=Parts")


def _ends(outcome: str, payload: Mapping[str, Any]) -> list[Any]:
    return [{"outcome": {"name": outcome, "payload": payload}}]


def _script() -> dict[str, Any]:
    """Outputs of the size that such a task has."""
    ids = [f"F{number}" for number in range(1, FEATURES + 1)]
    checks = [{"check": WORDS[:80], "status": "PASS", "details": WORDS[:120]}]
    feature = {"name": "Health", "description": WORDS, "acceptance_criteria": [CRITERION] * 4}
    judged = [{"feature": i, "criterion": CRITERION, "evidence": "part.py:3"} for i in ids]
    command = {"command": "pytest", "verified": True}
    planned = {"modify": ["part1.py"], "notes": WORDS}
    return {
        "prompt-optimizer": [_ends("optimized_prompt", {"prompt": WORDS})],
        "task-breakdown": [
            _ends("task_spec", {"summary": WORDS, "features": [{"id": i, **feature} for i in ids]})
        ],
        "code-discovery": [
            _ends(
                "repo_profile",
                {
                    "overview": {"name": "shop", "type": "service", "language": "Python"},
                    "tree": "part.py\n" * 100,
                    "stack": {"dependencies": [{"name": "web", "purpose": WORDS[:90]}] * 20},
                    "conventions": {"naming": WORDS, "errors": WORDS},
                    "feature_files": [{"feature": i, "existing": ["part1.py"]} for i in ids],
                    "commands": {"install": command, "test": command},
                },
            )
        ],
        "plan-agent": [
            _ends(
                "implementation_plan",
                {
                    "batches": [
                        {
                            "number": n,
                            "features": [{"id": f"F{n}", **planned, "modify": [f"part{n}.py"]}],
                        }
                        for n in range(1, FEATURES + 1)
                    ]
                },
            )
        ],
        "docs-researcher": [
            _ends(
                "docs_research_output",
                {
                    "queries": ["health"],
                    "findings": [
                        {"source": "docs", "topic": "t", "content": WORDS * 2, "relevance": WORDS}
                    ]
                    * 6,
                },
            )
        ],
        "pre-flight-checker": [
            _ends(
                "pre_flight_check",
                {
                    **{"environment": checks * 5, "dependencies": checks * 5},
                    **{"file_system": checks * 5, "plan_consistency": checks * 5},
                    "status": "PASS",
                },
            )
        ],
        "build-agent": [_builder(n) for n in range(1, FEATURES + 1)],
        "test-writer": [
            _ends(
                "test_writing_report",
                {
                    "files": [],
                    "criteria": [
                        {"feature": i, "criterion": CRITERION, "status": "NOT", "gap": WORDS[:90]}
                        for i in ids
                    ],
                    "placeholders": {"checked": 0, "found": 0},
                },
            )
        ],
        "logical-agent": [
            _ends(
                "logic_verification",
                {
                    "checks": [{"kind": "order", "file": "part1.py", "result": WORDS[:90]}] * 10,
                    "issues": [],
                    "status": "PASS",
                    "counts": {"critical": 0, "major": 0, "minor": 0},
                },
            )
        ],
        "test-agent": [
            _ends(
                "test_report",
                {"status": "PASS", "total": 9, "passed": 9, "failed": 0, "skipped": 0},
            )
        ],
        "integration-agent": [
            _ends(
                "integration_test_report", {"suites": [{"name": "a", "status": "PASS", "total": 3}]}
            )
        ],
        "review-agent": [
            _ends(
                "review_report",
                {
                    "criteria": [{**one, "verdict": "MET"} for one in judged],
                    "issues": [],
                    "status": "PASS",
                    "counts": {"blocker": 0, "major": 0, "minor": 0},
                },
            )
        ],
        "decide-agent": [
            _ends(
                "decision",
                {
                    "decision": "COMPLETE",
                    "justification": WORDS,
                    "evidence": {"tests": "9", "review": "PASS", "criteria": "8", "changes": "8"},
                },
            )
        ],
    }


def _builder(number: int) -> list[Any]:
    file = f"part{number}.py"
    report = {
        "agent": f"build-agent-{number}",
        "features": [{"id": f"F{number}", "status": "COMPLETE", "notes": WORDS}],
        "files_modified": [file],
        "changes": [{"id": "C1", "file": file, "description": WORDS}],
    }
    steps = [{"modify": {"path": file, "append": "health = 1\n"}}, {"commit": f"Change {file}"}]
    return [*steps, *_ends("build_report", report)]
