"""A document of a task as a file on the task's branch, never on the base. Doing it again does
nothing new."""

from dataclasses import dataclass
from pathlib import Path

from agents_manager.domain import event, names
from agents_manager.domain.document import Document, checked_path, chosen, default_path
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.task import (
    Actor,
    ArtifactType,
    Project,
    PullRequest,
    PullState,
    Task,
)
from agents_manager.errors import Conflict, ForgeError, HookFailed, WorkspaceInUse
from agents_manager.flow import artifacts, asking, branches, edits, leaks, sharing
from agents_manager.flow.branches import Ground
from agents_manager.flow.ports import FiledAs, Pushed, Services, Tx

MORE = "A document was committed since this was asked."
EVENTS = 1_000
"""How far back it is looked whether a commit is on record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    document: str
    version: int
    path: str
    branch: str
    sha: str
    new: bool
    """False where the branch said the same there already."""


async def commit(
    s: Services,
    task_ref: str,
    name: str,
    actor: Actor,
    *,
    version: int | None = None,
    path: str | None = None,
    replace: bool = False,
) -> Committed:
    """Commits a version of a document, the newest unless given, to the task's branch."""

    def read(tx: Tx) -> tuple[Task, Project, Document, Ground, Ground]:
        task = tx.tasks.find(task_ref)
        project = tx.projects.get(task.project_id)
        document = chosen(artifacts.documents_of(tx, task.id), name, version)
        _idle(tx, task)
        own = branches.of_task(tx, s, task, project)
        return task, project, document, own, branches.at_work(tx, s, task, project)

    task, project, document, ground, at_work = await s.store.read(read)
    place = checked_path(default_path(document.name, task.title) if path is None else path)
    if ground.branch in (ground.base, project.base_branch):
        raise Conflict(f"{ground.branch} is a base branch; documents go to a task's own branch.")
    repo = Path(project.path)
    await sharing.tell(s, task, await sharing.ready(s, task, project, [ground]))
    await s.workspaces.ensure_branch(repo, ground.branch, ground.base)
    filed = FiledAs(
        key=document.artifact_id,
        path=place,
        text=f"{document.text.rstrip()}\n",
        message=f"Add the {document.name}: {names.one_line(task.title)}",
    )
    done = await s.workspaces.file_away(repo, ground.branch, filed, replace=replace)
    told = event.DocumentCommitted(
        document=document.name,
        version=document.version,
        path=place,
        branch=ground.branch,
        commit=done.sha,
    )

    def write(tx: Tx) -> bool:
        branches.keep(tx, s, task, ground)
        known = tx.events.newest(task.id, told.category, EVENTS)
        new = done.ours and all(one.data.get("commit") != done.sha for one in known)
        if new:
            tx.events.add(task.id, told, actor, s.clock.now())
        return new

    new = await s.store.write(write)
    await sharing.share(s, task, project, [ground])
    if at_work == ground:
        await _look_again(s, task, project, ground)
    return Committed(
        document=document.name,
        version=document.version,
        path=place,
        branch=ground.branch,
        sha=done.sha,
        new=new,
    )


async def _look_again(s: Services, task: Task, project: Project, ground: Ground) -> None:
    """The record follows the branch, and so does its pull request; a review that stands is asked
    once more, since nobody has looked at this commit yet."""
    repo = Path(project.path)
    change = await s.workspaces.change(repo, ground.branch, ground.base)
    pull = await s.store.read(lambda tx: branches.pull_from(tx, task, ground.branch))
    pushed: Pushed | None = None
    if pull is not None and pull.state is PullState.OPEN:
        said = {"title": pull.title, "description": pull.body}
        await leaks.check(s, task, project, ground.branch, ground.base, said)
        if s.configs.of(project).auto_push:
            pushed = await s.workspaces.push(repo, ground.branch)
        await _bring_up(s, task, project, pull)

    def write(tx: Tx) -> None:
        if pushed is not None:
            branches.keep_push(tx, s, task, ground, pushed)
        known = tx.tasks.artifacts(task.id, ArtifactType.DIFF)
        if known and known[-1].data["head_sha"] == change.head_sha:
            return
        artifacts.keep_change(tx, s, task, ground.branch, ground.base, change)
        for prompt in tx.prompts.pending(task.id):
            if prompt.type is PromptType.REVIEW:
                asking.ask_again(tx, s, tx.tasks.get(task.id), prompt, prompt.history_id, MORE)

    await s.store.write(write)


async def _bring_up(s: Services, task: Task, project: Project, pull: PullRequest) -> None:
    head, base = pull.head_branch, pull.base_branch
    try:
        await s.forge.publish(project, task, head, base, pull.title, pull.body)
    except (ForgeError, HookFailed) as error:
        raise ForgeError(
            f"The document is committed to {head}, but pull request #{pull.number} does not have it"
            f" yet: {error.message} When that is solved, commit it again: nothing is done twice."
        ) from None


def _idle(tx: Tx, task: Task) -> None:
    live = tx.runs.live(task.id)
    if live:
        raise WorkspaceInUse(
            f"Run {live[0].id} works at {edits.named(task)}. Wait for it, or stop it first "
            f"(am run stop {live[0].id})."
        )
    begun = [effect.kind for effect in tx.effects.open(task.id) if effect.status == "started"]
    if begun:
        what = f"{', '.join(begun)} for {edits.named(task)}"
        raise WorkspaceInUse(f"The engine performs {what}; try again when it is done.")
