"""What leaves for a remote, a pull request or the base branch is searched for secrets first. One
that is found stops it until a person lets exactly this through; whatever is committed or written
anew is searched anew."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from agents_manager.domain import event
from agents_manager.domain.ids import TaskId
from agents_manager.domain.prompt import Choice
from agents_manager.domain.task import SYSTEM, Actor, EffectRow, Project, Task
from agents_manager.errors import SecretFound
from agents_manager.flow import asking, comments, remedies
from agents_manager.flow.ports import Services, Tx

NAMED = 10


async def check(
    s: Services,
    task: Task,
    project: Project,
    branch: str,
    base: str,
    texts: Mapping[str, str],
    head: str | None = None,
) -> None:
    """Searches the commits beyond the base, up to the branch or a commit of it, and the texts."""
    repo = Path(project.path)
    change = await s.workspaces.change(repo, branch, base)
    head = head or change.head_sha
    found = await s.checks.secrets(repo, change.base_sha, head, texts)
    if not found:
        return
    # A text is named before the colon where something was found in it, a commit or file else.
    named = {place.partition(": ")[0] for place in found}
    parts = [text for name, text in texts.items() if name in named]
    marks = tuple(_mark(part) for part in ([head] if named - texts.keys() else []) + parts)
    places = tuple(found[:NAMED])
    held = event.SecretHeld(branch=branch, head_sha=head, marks=marks, places=places)

    def write(tx: Tx) -> bool:
        said = tx.events.last(task.id, _LET_THROUGH)
        if said is not None and set(marks) <= set(said.data["marks"]):
            return True
        tx.events.add(task.id, held, SYSTEM, s.clock.now())
        return False

    if not await s.store.write(write):
        raise SecretFound(
            f"{branch} seems to hold a secret, so it goes nowhere: {'; '.join(places)}. Take it out"
            " of every commit, or let it through if it is none.",
            marks,
        )


def _mark(part: str) -> str:
    return hashlib.sha256(part.encode()).hexdigest()[:16]


def ways_out(tx: Tx, effect: EffectRow, found: SecretFound) -> list[Choice]:
    """What is offered where the task is taken back to; an agent, only where one works."""
    task, entry = tx.tasks.get(effect.task_id), tx.history.get(effect.history_id)
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    back = Choice(id="send_back", label="Send it back to the agent", action="send_back")
    through = _through("release", entry.id, found)
    return [through, back] if pipeline.is_active(entry.source) else [through]


def ask(tx: Tx, s: Services, effect: EffectRow, found: SecretFound) -> None:
    """Where the task goes on without what failed."""
    task = tx.tasks.get(effect.task_id)
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    through, note = _through("retry", effect.id, found), f"{effect.kind} failed: {found.message}"
    asking.open_choice(tx, s, task, pipeline, effect.history_id, note, extra=[through])


def _through(what: str, which: str, found: SecretFound) -> Choice:
    action = f"{what}:{which}:{'.'.join(found.marks)}"
    return Choice(id="let_through", label="It is no secret: let it through", action=action)


def release(tx: Tx, s: Services, task_id: TaskId, which: str, actor: Actor) -> str:
    """Takes note of who lets it through; the id of what is to be done once more."""
    id, _, marks = which.partition(":")
    held = tx.events.last(task_id, _HELD)
    places = tuple(held.data["places"]) if held else ()
    said = event.SecretLetThrough(by=actor.name, marks=tuple(marks.split(".")), places=places)
    tx.events.add(task_id, said, actor, s.clock.now())
    return id


def send_back(tx: Tx, s: Services, task_id: TaskId, actor: Actor) -> None:
    """The agent runs again and is told where to look."""
    held = tx.events.last(task_id, _HELD)
    places = "; ".join(held.data["places"]) if held else ""
    text = (
        f"Your commits seem to hold a secret ({places}), so they were not let out. Make them anew "
        "without it, also where a later commit took it back."
    )
    comments.say(tx, s, tx.tasks.get(task_id), text, actor)
    remedies.rerun(tx, s, task_id, actor)


_HELD, _LET_THROUGH = "secret.held", "secret.let_through"
