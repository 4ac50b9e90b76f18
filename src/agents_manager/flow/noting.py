"""Tells the issue that a task comes from how the task ended, once: the forge looks before it
leaps."""

from datetime import timedelta

from agents_manager.domain import event, issue, names
from agents_manager.domain.effects import NoteOnIssue
from agents_manager.domain.issue import Note, Reference
from agents_manager.domain.pipeline import Pipeline
from agents_manager.domain.task import (
    SYSTEM,
    ArtifactType,
    EffectRow,
    Project,
    PullRequest,
    Task,
)
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.settling import finish

SKEW = timedelta(days=1)
"""A forge has a clock of its own."""


async def tell(row: EffectRow, effect: NoteOnIssue, s: Services) -> None:
    def read(tx: Tx) -> tuple[Task, Project, Pipeline, Reference | None, PullRequest | None]:
        task = tx.tasks.get(row.task_id)
        pulls = tx.pulls.all_of_task(task.id)
        return (
            task,
            tx.projects.get(task.project_id),
            tx.pipelines.get(task.pipeline_id, task.pipeline_version),
            issue.reference(tx.tasks.artifacts(task.id, ArtifactType.LINK)),
            next((pull for pull in pulls if pull.id == effect.pull_id), None),
        )

    task, project, pipeline, source, pull = await s.store.read(read)
    rules = s.configs.of(project).forge
    if source is None or not pipeline.is_final(task.status):
        await finish(s, row)  # Somebody took the task up again.
        return
    ended = names.visible(pipeline.status(task.status).title, names.LINE_LIMIT)
    note = Note(
        key=f"{task.id}-{pull.id if pull else 'ended'}",
        text=_words(pull, ended) if rules.note_on_issues else None,
        close=rules.close_issues and pull is not None,
    )
    closed = await s.forge.note(project, source, note, task.created_at - SKEW)

    def then(tx: Tx) -> None:
        if note.text or closed:
            told = event.IssueNoted(issue=str(source), closed=closed)
            tx.events.add(task.id, told, SYSTEM, s.clock.now())

    await finish(s, row, then)


def _words(pull: PullRequest | None, ended: str) -> str:
    if pull is None:
        return f"The task for this ended as {_inert(ended)}, and nothing was merged."
    commit = f"{_inert(pull.merge_sha[:8])} in " if pull.merge_sha else ""
    by = f" by {pull.url}" if pull.url else ""
    return f"The change for this was merged{by}: {commit}{_inert(pull.base_branch)}."


def _inert(text: str) -> str:
    """In a span of code nothing calls people or leads anywhere."""
    plain = text.replace("`", "'")
    return f"`{plain}`"
