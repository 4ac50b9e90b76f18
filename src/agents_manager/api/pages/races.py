"""Agents side by side: what each of them made of the same task."""

from agents_manager.api import schemas


class Contender(schemas.Out):
    agent: str
    model: str | None
    """Null: the one that the agent has anyway."""


class RaceChecks(schemas.Out):
    passed: bool | None
    """Null: none of the project's own was run."""
    ran: list[str]
    failed: list[str]


class RaceFigures(schemas.Out):
    run: str
    files: int | None
    additions: int | None
    deletions: int | None
    """Null: unknown."""
    commits: list[str]
    """The first lines of what it committed last."""


class RaceContender(schemas.Out):
    contender: Contender
    run: schemas.Run | None
    """Its newest; null before the race begins."""
    unfit: str | None
    """Why it cannot be picked; null where it can."""
    checks: RaceChecks
    figures: RaceFigures | None
    """Null until it has ended."""
    snapshot: int | None
    """Under which number its work is kept, once another was picked."""
    seconds: float | None


class Race(schemas.Out):
    task: schemas.Task
    judge: Contender | None
    """Who picks; null: a person."""
    judge_run: schemas.Run | None
    reasons: str | None
    """Why the judge picked whom it picked."""
    picked: str | None
    """The run whose work is the task's."""
    prompt: str | None
    """The question whose work is taken, while it is open."""
    contenders: list[RaceContender]
