"""A task as a Markdown file, out of here. What the file that it came from told of its time before
is told again, so that nothing is lost from place to place."""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agents_manager.domain import handoff_text, task_file, task_file_reading
from agents_manager.domain.event import Logged
from agents_manager.domain.names import visible
from agents_manager.domain.task import Artifact, ArtifactType, Task
from agents_manager.domain.task_file import TaskFile
from agents_manager.flow import pipelines
from agents_manager.flow.ports import Tx

MOST_LOGGED = 500
"""Entries of a log, the newest; all of them are in `am task events`."""
PAGE = 1_000
SENTENCE = 300
UNTOLD = ("agent.tool_use", "agent.tool_uses_left_out")
"""Types of events of which there are too many to read."""
FORM = "%Y-%m-%d %H:%M:%S UTC"


@dataclass(frozen=True, slots=True)
class Origin:
    """What the file said that a task was imported from."""

    link: Artifact
    file: TaskFile
    waits_for: Mapping[str, str | None]
    """The names that its dependencies have there, and what they are here."""


def origin(tx: Tx, task: Task) -> Origin | None:
    for artifact in tx.tasks.artifacts(task.id, ArtifactType.LINK):
        text = artifact.data.get("file")
        file = task_file_reading.read(text)[0] if isinstance(text, str) else None
        if file is not None:
            return Origin(artifact, file, artifact.data["waits_for"])
    return None


def export(tx: Tx, task: Task) -> str:
    before = origin(tx, task)
    told = before.file if before else None
    log = list(_log(tx, task))
    if told and len(log) == 1:
        log = []  # It was made of the file, and nothing happened since.
    handed = tx.knowledge.handoffs(task.id)
    handoff = told.handoff if told else ""
    if handed:
        handoff = handoff_text.written(handed[-1].handoff)
    metadata = {
        "Type": task.type,
        "Priority": task.priority,
        "Size": task.size,
        "Complexity": task.complexity,
        "Agent": task.agent or "",
        "Model": task.model or "",
        "Pipeline": pipelines.plain(task.pipeline_id),
        "Tags": task_file.BETWEEN.join(task.tags),
        "Depends on": task_file.BETWEEN.join(_dependencies(task, before)),
        "Created": (told and told.metadata.get("Created")) or f"{task.created_at:{FORM}}",
    }
    return task_file.write(
        TaskFile(
            id=told.id if told else task.id,
            title=task.title,
            metadata=metadata,
            objective=task.objective,
            acceptance_criteria=task.acceptance_criteria,
            description=task.description,
            plan=told.plan if told and task.plan is None else task.plan,
            log="\n".join([*([told.log] if told and told.log else []), *log]),
            handoff=handoff,
            note=told.note if told and not handed else "",
            completed=told.completed if told and not log else _completed(tx, task),
        )
    )


def _dependencies(task: Task, before: Origin | None) -> Iterator[str]:
    """By their names in the file and in its order, also those that are not known here; then those
    that came here."""
    named = before.file.listed("Depends on") if before else ()
    here = {name: before.waits_for.get(name) for name in named} if before else {}
    yield from (name for name, one in here.items() if one is None or one in task.dependencies)
    yield from (one for one in task.dependencies if one not in here.values())


def _log(tx: Tx, task: Task) -> Iterator[str]:
    newest: deque[Logged] = deque(maxlen=MOST_LOGGED)
    seq = 0
    while page := tx.events.of_task(task.id, after_seq=seq, limit=PAGE):
        newest.extend(one for one in page if one.type not in UNTOLD)
        seq = page[-1].seq
    for one in newest:
        who = visible(one.actor.name or one.actor.type, SENTENCE)
        yield f"- {one.time:{FORM}}, {who}: {visible(one.summary, SENTENCE)}"


def _completed(tx: Tx, task: Task) -> str | None:
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    if not pipeline.is_final(task.status):
        return None
    ends = [one.time for one in tx.history.of_task(task.id) if one.to == task.status]
    return f"{ends[-1] if ends else task.updated_at:{FORM}} ({task.status})"
