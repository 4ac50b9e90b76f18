"""Changing a task's words, and performing a failed hook once more."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents_manager.domain import event, fields
from agents_manager.domain.effects import BESIDE
from agents_manager.domain.ids import EffectId, TaskId
from agents_manager.domain.run import Run
from agents_manager.domain.task import Actor, EffectRow, Project, Task
from agents_manager.domain.trail import went_on
from agents_manager.errors import InvalidInput, RetryRefused, closest
from agents_manager.flow import choices, transitions
from agents_manager.flow.ports import Services, Tx


@dataclass(frozen=True, slots=True)
class Edited:
    task: Task
    fields: tuple[str, ...]
    """What is different now."""
    run: Run | None
    """A run that goes on with the words it was given."""


def words(
    s: Services,
    project: Project,
    given: Mapping[str, Any],
    refusal: str,
    task: Task | None = None,
) -> dict[str, Any]:
    """The fields as they are kept, of a new task or of one that is edited, or every reason why they
    cannot be."""
    types = fields.TYPES
    if given.get("type", types[0]) not in types:
        types = tuple(dict.fromkeys([*types, *s.configs.of(project).pipeline_by_type]))
    kept, problems = fields.settled(given, types)
    chosen, wrong = choices.settled(s, project, kept, task)
    kept |= chosen
    problems += wrong
    if problems:
        raise InvalidInput(refusal, problems)
    return kept


def dependencies(tx: Tx, given: Sequence[str], task: Task | None = None) -> tuple[str, ...]:
    """The tasks meant, each once; refused when one of them would wait for this one."""
    found = {other.id: other for other in (tx.tasks.find(name) for name in given)}
    if task is not None:
        circle = _circle(tx, task, list(found.values()))
        if circle:
            way = " waits for ".join(f'"{one.title}" ({one.id})' for one in circle)
            raise InvalidInput("A task cannot wait for itself.", [f"dependencies: {way}"])
    return tuple(found)


async def edit(
    s: Services,
    task_id: str,
    changes: Mapping[str, Any],
    actor: Actor,
    *,
    expect_version: int | None = None,
) -> Edited:
    """Changes words of a task, also of one that is finished or at work. The type of a task does
    not change its pipeline any more."""
    if not changes:
        raise InvalidInput("Nothing was given to change.", [", ".join(fields.EDITABLE)])
    unknown = [name for name in changes if name not in fields.EDITABLE]
    if unknown:
        raise InvalidInput(
            "The task cannot be edited like this.",
            [f"{n}: there is no such field.{closest(n, fields.EDITABLE)}" for n in unknown],
        )

    def read(tx: Tx) -> tuple[Task, Project]:
        task = tx.tasks.find(task_id)
        return task, tx.projects.get(task.project_id)

    task, project = await s.store.read(read)
    kept = words(s, project, changes, "The task cannot be edited like this.", task)
    return await s.store.write(lambda tx: change(tx, s, task_id, kept, actor, expect_version))


async def retry_hook(s: Services, task_id: str, hook: str | None, actor: Actor) -> EffectRow:
    """Performs one failed effect once more. Which one is said by its id, the beginning of it, or
    the name of its hook; it need not be said where only one can be."""

    def write(tx: Tx) -> EffectRow:
        return retry(tx, s, _to_retry(tx, tx.tasks.find(task_id), hook), actor)

    return await s.store.write(write)


def retry(tx: Tx, s: Services, row: EffectRow, actor: Actor) -> EffectRow:
    now = s.clock.now()
    tx.effects.update(
        row.id, status="pending", attempt=row.attempt + 1, due_at=now, finished_at=None
    )
    again = event.HookRetried(
        effect=row.id, hook=row.kind, attempt=row.attempt + 1, error=row.error or ""
    )
    tx.events.add(row.task_id, again, actor, now)
    return tx.effects.get(EffectId(row.id))


def change(
    tx: Tx,
    s: Services,
    task_id: str,
    kept: Mapping[str, Any],
    actor: Actor,
    expect_version: int | None = None,
) -> Edited:
    """Writes words that are settled; the task gets a new version if any of them is new."""
    task = tx.tasks.find(task_id)
    transitions.expect(task, expect_version)
    wanted = dict(kept)
    if "dependencies" in wanted:
        wanted["dependencies"] = dependencies(tx, wanted["dependencies"], task)
    changed = {name: value for name, value in wanted.items() if getattr(task, name) != value}
    live = next(iter(tx.runs.live(task.id)), None)
    if changed:
        now = s.clock.now()
        tx.tasks.update(task.id, now, version=task.version + 1, **changed)
        happened = event.TaskEdited(fields=tuple(changed), run=live.id if live else None)
        tx.events.add(task.id, happened, actor, now)
    if "dependencies" in changed:
        transitions.recheck(tx, s, task.id)
    return Edited(tx.tasks.get(task.id), tuple(changed), live)


def _circle(tx: Tx, task: Task, others: Sequence[Task]) -> list[Task]:
    """The way from a task back to itself over what it is to depend on; empty without one."""
    came_from: dict[str, Task] = {other.id: task for other in others}
    waiting = list(others)
    while waiting:
        one = waiting.pop()
        if one.id == task.id:
            circle = [task]
            while True:
                circle.append(came_from[circle[-1].id])
                if circle[-1].id == task.id:
                    return circle[::-1]
        for name in one.dependencies:
            if name not in came_from:
                came_from[name] = one
                waiting.append(tx.tasks.get(TaskId(name)))
    return []


def _to_retry(tx: Tx, task: Task, hook: str | None) -> EffectRow:
    failed = tx.effects.failed(task.id)
    meant = [e for e in failed if hook is None or e.kind == hook or e.id.startswith(hook)]
    if hook is not None and not meant:
        raise RetryRefused(
            f'{named(task)} has no failed hook "{hook}".', [_told(e, None) for e in failed]
        )
    if not meant:
        raise RetryRefused(f"{named(task)} has no failed hook.")
    refusals = {e.id: _why_not(tx, task, e) for e in meant}
    possible = [e for e in meant if refusals[e.id] is None]
    if len(possible) == 1:
        return possible[0]
    what = "no failed hook that may be performed again" if not possible else "several failed hooks"
    raise RetryRefused(
        f"{named(task)} has {what}{'; say which' if possible else ''}.",
        [_told(e, refusals[e.id]) for e in meant],
    )


def _why_not(tx: Tx, task: Task, effect: EffectRow) -> str | None:
    if effect.kind in BESIDE:  # Whatever became of the task since.
        return None
    if effect.kind == "start_agent":
        return "a run that ended is not repeated; start another one"
    entry = tx.history.get(effect.history_id)
    if went_on(tx.history.of_task(task.id), entry):
        return f"the task went on since, and is in {task.status} now"
    return None


def _told(effect: EffectRow, refusal: str | None) -> str:
    why = f" ({refusal})" if refusal else ""
    return f"{effect.id} {effect.kind}: {effect.error or 'no error is on record'}{why}"


def named(task: Task) -> str:
    return f'Task "{task.title}" ({task.id})'
