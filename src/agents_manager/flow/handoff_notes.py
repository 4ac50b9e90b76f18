"""Handoffs in free words, brought into fields: by what their sentences say, or by an agent, when
somebody says so. What comes of it is kept only then, too."""

import hashlib
from dataclasses import dataclass, replace

from agents_manager.domain import (
    handoff_notes,
    handoff_rules,
    handoff_text,
    task_file,
    task_file_reading,
)
from agents_manager.domain.audit import Deed
from agents_manager.domain.document import Document, documents
from agents_manager.domain.event.happening import counted_as
from agents_manager.domain.handoff_notes import Migrated
from agents_manager.domain.knowledge import Node
from agents_manager.domain.task import Actor, Artifact, ArtifactType, Project, Task
from agents_manager.errors import InvalidInput
from agents_manager.flow import artifacts, audit, task_files, tasks
from agents_manager.flow.memory import absorb
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.runs import handoffs

PIPELINE = "document"
"""Its agents only read, and a person looks at what they wrote."""
REFUSAL = "The note was not kept."
NOTED = "The handoff in free words, before it was brought into fields:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    words: str
    """Empty where an agent made fields of it."""
    migrated: Migrated
    task: Task | None
    """Whose note it is; None: nobody said."""


def of_text(text: str) -> Note:
    """The note of a task file, or a text that is one as a whole."""
    words = text
    if task_file_reading.looks(text):
        file, faults = task_file_reading.read(text)
        if file is None:
            raise InvalidInput("The task file cannot be read.", faults)
        words = file.note
        if file.handoff:
            raise InvalidInput("The handoff of this task file is in fields already.")
    return Note(words=words, migrated=handoff_notes.migrate(words), task=None)


def of_task(tx: Tx, reference: str) -> Note:
    """What an agent made of a note in this task, else the note that came with its file."""
    task = tx.tasks.find(reference)
    links = tx.tasks.artifacts(task.id, ArtifactType.LINK)
    asked = next((link for link in links if "note_of" in link.data), None)
    if asked is not None:
        return _answered(tx, task, asked)
    origin = task_files.origin(tx, task)
    if origin is None or not origin.file.note:
        there = origin is not None and origin.file.handoff
        why = "it is in fields already" if there else "its task came from no task file with one"
        raise InvalidInput(f'"{task.title}" ({task.id}) has no handoff in free words: {why}.')
    words = origin.file.note
    return Note(words=words, migrated=handoff_notes.migrate(words), task=task)


def _answered(tx: Tx, task: Task, asked: Artifact) -> Note:
    written = documents(tx.tasks.artifacts(task.id, ArtifactType.DOCUMENT))
    if not written:
        raise InvalidInput(f'The agent of "{task.title}" ({task.id}) has not written anything yet.')
    subject = asked.data["note_of"]
    return Note(
        words="",
        migrated=_structured(tx, task, written[-1]),
        task=tx.tasks.find(subject) if subject else task,
    )


def _structured(tx: Tx, task: Task, document: Document) -> Migrated:
    parsed = handoff_notes.block(document.text)
    named = handoff_rules.named_tasks(parsed.value)
    return handoff_notes.structured(parsed, handoffs.known(tx, task.project_id, named))


def keep(tx: Tx, s: Services, note: Note, task: Task, actor: Actor) -> list[Node]:
    """What it tells becomes findings of the task, on the word of whoever keeps it; a task file that
    the task came from says it in fields from now on. No file and no blocker is noted: no run of
    ours did or met them."""
    handoff = note.migrated.handoff
    if handoff is None:
        raise InvalidInput(REFUSAL, [str(one) for one in note.migrated.violations])
    _update_file(tx, s, task, handoff_text.written(handoff))
    found = absorb.tell(tx, s, task, handoff, actor)
    summary = f'kept {counted_as(len(found), "finding")} of a handoff note for task "{task.title}"'
    said = {"task": task.id, "nodes": len(found)}
    audit.note(tx, s.clock.now(), actor, Deed.KNOWLEDGE_IMPORTED, summary, **said)
    return found


def _update_file(tx: Tx, s: Services, task: Task, yaml: str) -> None:
    """The note as it was stays, in the log."""
    origin = task_files.origin(tx, task)
    if origin is None or not origin.file.note:
        return
    log = f"{origin.file.log}\n\n{NOTED}\n\n{origin.file.note}".strip()
    text = task_file.write(replace(origin.file, handoff=yaml, note="", log=log))
    link, kind = origin.link, ArtifactType.LINK
    artifacts.keep(tx, s, task, kind, link.key, link.label, {**link.data, "file": text})


async def ask(s: Services, project: Project, note: Note, actor: Actor) -> Task:
    """Has an agent bring the note into fields, in a task of its own; once for each note."""
    if not note.words.strip() or not note.migrated.said:
        why = [str(one) for one in note.migrated.violations]
        raise InvalidInput("There is no note to give to an agent.", why)
    digest = hashlib.sha256(note.words.encode()).hexdigest()[:16]
    key = f"handoff note {digest}"
    of = note.task
    about = f' of "{of.title}"' if of else ""
    new = tasks.NewTask(
        title=f"Structure the handoff note{about}"[:200],
        description=handoff_notes.request(note.words),
        type="document",
        pipeline=PIPELINE,
    )
    task = await tasks.create(s, project, new, actor, key=f"{project.id}: {key}")

    def link(tx: Tx) -> bool:
        if not tx.tasks.artifacts(task.id, ArtifactType.LINK):
            data = {"note_of": of.id if of else None}
            artifacts.keep(tx, s, task, ArtifactType.LINK, key, f"the handoff note{about}", data)
        return not tx.history.of_task(task.id)

    if await s.store.write(link):
        await tasks.move(s, task.id, actor)
    return task
