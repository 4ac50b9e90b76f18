"""Runs checks on the base commit, to tell whether an agent can be the cause of their failure."""

import asyncio
import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path

from agents_manager.domain.run import Run
from agents_manager.domain.task import Project
from agents_manager.flow import branches, setup_plans
from agents_manager.flow.ports import (
    TASK_VARIABLES,
    CheckProblem,
    CheckResult,
    CheckSpec,
    Services,
    Surroundings,
)

FRESH_S = 3600.0
"""How long a result on the base counts: what it depends on outside of the commit changes."""
FOLDER = "base-checks"
"""Below `setup` of the data directory."""


async def failing_too(
    s: Services,
    run: Run,
    project: Project,
    failed: Sequence[CheckResult],
    specs: Sequence[CheckSpec],
    around: Surroundings,
    *,
    fresh: bool = False,
) -> list[CheckResult]:
    """Returns those of the failed checks that fail on the base commit too. A check that timed out
    there counts only if it timed out on the agent's commit as well; one that could not run there
    does not count. `fresh` ignores known results."""
    by_name = {spec.name: spec for spec in specs if spec.own}
    suspects = [result for result in failed if result.name in by_name]
    if not suspects:
        return []
    assert run.branch is not None
    repo = Path(project.path)
    base = await s.store.read(
        lambda tx: branches.base_of(tx, s, tx.tasks.get(run.task_id), project)
    )
    start, _ = await s.workspaces.ends(repo, run.branch, base)
    plan = await setup_plans.for_trusted(s, repo, s.configs.of(project, run).setup, start)
    env = sorted((k, v) for k, v in around.env.items() if k not in TASK_VARIABLES)
    found: list[CheckResult] = []
    for result in suspects:
        spec = by_name[result.name]
        problem = await _problem(
            s,
            [start, str(repo), repr(spec), repr(plan), env, run.kept],
            lambda spec=spec: s.checks.run(
                repo, start, start, [spec], kept=run.kept, setup=plan, surroundings=around
            ),
            fresh=fresh,
        )
        if problem == "failed" or problem == result.problem == "timed_out":
            found.append(result)
    return found


async def _problem(
    s: Services,
    about: Sequence[object],
    run: Callable[[], Awaitable[list[CheckResult]]],
    *,
    fresh: bool,
) -> CheckProblem | None:
    """Returns the known result for `about`, or runs the check and stores its result."""
    key = hashlib.sha256(json.dumps(about).encode()).hexdigest()[:32]
    file = s.home / "setup" / FOLDER / f"{key}.json"
    known = None if fresh else await asyncio.to_thread(_read, file)
    if known is not None:
        return known[0]
    [result] = await run()
    if result.problem in (None, "failed", "timed_out"):
        with suppress(OSError):  # The check runs again next time.
            await asyncio.to_thread(_write, file, result.problem)
    return result.problem


def _read(file: Path) -> tuple[CheckProblem | None] | None:
    try:
        if time.time() - file.stat().st_mtime > FRESH_S:
            return None
        return (json.loads(file.read_text(encoding="utf-8"))["problem"],)
    except (FileNotFoundError, ValueError, KeyError):
        return None


def _write(file: Path, problem: CheckProblem | None) -> None:
    """Removes results that are too old to be read, so that the folder stays small."""
    file.parent.mkdir(parents=True, exist_ok=True)
    for other in file.parent.iterdir():
        if time.time() - other.stat().st_mtime > FRESH_S:
            other.unlink(missing_ok=True)
    new = file.with_suffix(".new")
    new.write_text(json.dumps({"problem": problem}), encoding="utf-8")
    new.replace(file)
