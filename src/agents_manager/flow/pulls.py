"""Effects on pull requests: opened, brought up to date, merged. Each looks before it leaps."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from agents_manager.domain import effects, event, names
from agents_manager.domain.guards import Fired
from agents_manager.domain.ids import PromptId
from agents_manager.domain.payload import MergeTrouble
from agents_manager.domain.pipeline import PromptType, Trigger, TriggerType
from agents_manager.domain.prompt import Decision, Prompt
from agents_manager.domain.run import Run
from agents_manager.domain.task import (
    SYSTEM,
    ActorType,
    Artifact,
    ArtifactType,
    EffectRow,
    Project,
    PullRequest,
    Task,
)
from agents_manager.errors import ForgeError, HookFailed
from agents_manager.flow import artifacts, branches, leaks, reconcile, sharing, transitions
from agents_manager.flow.branches import Ground
from agents_manager.flow.ports import Conflicted, OwnReview, Pushed, Services, Tx
from agents_manager.flow.settling import before_leaving, finish, task_and_project

UNKEPT = """\
> [!CAUTION]
> **Made without a sandbox.** An agent worked on this with all the rights of the user who started
> it. A person has to approve it before it is merged.

"""
"""Stands above the text of a pull request; a forge draws it in red."""


async def perform(
    row: EffectRow,
    effect: effects.OfPulls,
    s: Services,
) -> None:
    match effect:
        case effects.PushAndCreatePr():
            await _open(row, s, branches.at_work)
        case effects.CreateFinalPr():
            await _open(row, s, branches.of_task)
        case effects.MergePr():
            await _merge(row, effect, s)
        case effects.MirrorReview():
            await _mirror(row, effect, s)
        case effects.LookAtPull():
            await reconcile.by_id(s, effect.pull_id)
            await finish(s, row)


async def collect(s: Services, task_ref: str) -> list[Artifact]:
    """Puts the branch's commits and what they add up to on record once more, by hand."""

    def read(tx: Tx) -> tuple[Task, Project, Ground]:
        task = tx.tasks.find(task_ref)
        project = tx.projects.get(task.project_id)
        return task, project, branches.at_work(tx, s, task, project)

    task, project, ground = await s.store.read(read)
    await artifacts.refresh_change(s, task, project, ground.branch, ground.base)
    return await s.store.read(lambda tx: tx.tasks.artifacts(task.id))


async def _merge(row: EffectRow, effect: effects.MergePr, s: Services) -> None:
    task, project = await task_and_project(s, row)
    pull = await s.store.read(lambda tx: _chosen(tx, s, task, project, effect))
    base = await s.store.read(lambda tx: branches.base_of(tx, s, task, project))
    into = Ground(pull.base_branch, base, task.title)
    made = Ground(pull.head_branch, pull.base_branch, task.title)
    await sharing.tell(s, task, await sharing.ready(s, task, project, [into, made]))
    approved, method = effect.head_sha or pull.head_sha, s.configs.of(project).merge_method
    if not await s.store.read(lambda tx: _a_person_decided(tx, row, approved)):
        await _check_kept(s, task, pull)
        await _check_policy(s, project, pull)
    ends = (pull.head_branch, pull.base_branch)
    await leaks.check(s, task, project, *ends, {"title": pull.title}, approved)
    await before_leaving(s, row)
    try:
        result = await s.forge.merge(project, pull, approved, method)
    except HookFailed:
        await _look_again(s, task, project, pull)
        raise
    whole = None
    if pull.base_branch != base:
        # What the phases add up to so far: the final review looks at this.
        whole = await s.workspaces.change(Path(project.path), pull.base_branch, base)
        await sharing.share(s, task, project, [into])

    def then(tx: Tx) -> None:
        if isinstance(result, Conflicted):
            _conflicted(tx, s, task, pull, result)
            return
        reconcile.note_merge(tx, s, pull, result.sha)
        if whole is not None:
            artifacts.keep_change(tx, s, task, pull.base_branch, base, whole)

    await finish(s, row, then)


def _a_person_decided(tx: Tx, row: EffectRow, approved: str) -> bool:
    """Who moved the task on to the merge, or who approved this very commit."""
    if tx.history.get(row.history_id).actor.type is ActorType.USER:
        return True
    return any(
        p.type is PromptType.REVIEW
        and p.payload.get("head_sha") == approved
        and (p.response or {}).get("decision") == Decision.APPROVED
        for p in tx.prompts.of_task(row.task_id)
    )


async def _check_kept(s: Services, task: Task, pull: PullRequest) -> None:
    runs = await s.store.read(lambda tx: tx.runs.of_task(task.id))
    if any(run.unkept for run in runs):
        raise HookFailed(
            f"Pull request #{pull.number} was made without a sandbox. A person has to approve it."
        )


async def _check_policy(s: Services, project: Project, pull: PullRequest) -> None:
    repo = Path(project.path)
    change = await s.workspaces.change(repo, pull.head_branch, pull.base_branch)
    if change.policy:
        raise HookFailed(
            f"Pull request #{pull.number} changes files by which agents and checks are told what to"
            f" do: {', '.join(change.policy)}. A person has to approve it."
        )


async def _look_again(s: Services, task: Task, project: Project, pull: PullRequest) -> None:
    """The next review must look at the work as it is now."""
    if s.forge.outside(pull) is not None:
        with suppress(HookFailed, ForgeError):
            await reconcile.at(s, project, pull)
        return
    head, base = pull.head_branch, pull.base_branch
    await artifacts.refresh_change(s, task, project, head, base)
    await s.forge.publish(project, task, head, base, pull.title, pull.body)


async def _mirror(row: EffectRow, effect: effects.MirrorReview, s: Services) -> None:
    def read(tx: Tx) -> tuple[Project, PullRequest | None, Prompt]:
        task, prompt = tx.tasks.get(row.task_id), tx.prompts.get(PromptId(effect.prompt_id))
        pull = branches.pull_from(tx, task, str(prompt.payload.get("branch")))
        return tx.projects.get(task.project_id), pull, prompt

    project, pull, prompt = await s.store.read(read)
    forge = s.forge.outside(pull) if pull else None
    said = prompt.response
    if pull and forge and said:
        own = OwnReview(
            key=prompt.id,
            author=prompt.responded_by or "",
            decision=said["decision"],
            summary=said.get("summary"),
            comments=said.get("comments", ()),
            head_sha=prompt.payload["head_sha"],
        )
        await forge.mirror(project, pull, own)
    await finish(s, row)


def _conflicted(tx: Tx, s: Services, task: Task, pull: PullRequest, result: Conflicted) -> None:
    conflict = event.MergeConflicted(number=pull.number, files=result.files)
    tx.events.add(task.id, conflict, SYSTEM, s.clock.now())
    trouble = MergeTrouble(message=result.message, files=result.files)
    outcome = Trigger(type=TriggerType.AGENT_OUTCOME, outcome="conflicts_detected")
    fired = Fired(trigger=outcome, payload=trouble.model_dump(mode="json"))
    transitions.report(tx, s, task.id, fired, SYSTEM)


def _chosen(
    tx: Tx, s: Services, task: Task, project: Project, effect: effects.MergePr
) -> PullRequest:
    match effect.which:
        case "current":
            pull = tx.pulls.of_task(task.id)
        case "phase":
            ground = branches.at_work(tx, s, task, project)
            pull = branches.pull_from(tx, task, ground.branch)
        case "final":
            pull = branches.pull_from(tx, task, branches.of_task(tx, s, task, project).branch)
    if pull is None:
        raise HookFailed(f'Task "{task.title}" has no pull request to merge.')
    return pull


async def _push(s: Services, project: Project, ground: Ground) -> Pushed | None:
    """Where pull requests live elsewhere, nothing comes of one whose branch is not there; nor of
    that of a phase without the branch that it goes to."""
    repo, needed = Path(project.path), s.forge.needs_push(project)
    phase = names.whole_of(ground.branch) == ground.base
    todo = [ground.base, ground.branch] if needed and phase else [ground.branch]
    pushed = None
    for branch in todo:
        pushed = await s.workspaces.push(repo, branch)
        if needed and pushed and pushed.refused:
            raise ForgeError(f"{branch} was not pushed to {pushed.remote}: {pushed.refused}")
    return pushed


async def _open(
    row: EffectRow, s: Services, where: Callable[[Tx, Services, Task, Project], Ground]
) -> None:
    """The pull request of the phase at work, or the one that takes all phases to the base."""

    def read(tx: Tx) -> tuple[Task, Project, Ground, list[Run]]:
        task = tx.tasks.get(row.task_id)
        project = tx.projects.get(task.project_id)
        return task, project, where(tx, s, task, project), tx.runs.of_task(task.id)

    task, project, ground, runs = await s.store.read(read)
    said = {"title": ground.title, "description": task.description}
    await sharing.tell(s, task, await sharing.ready(s, task, project, [ground]))
    await leaks.check(s, task, project, ground.branch, ground.base, said)
    wanted = s.configs.of(project, runs[-1] if runs else None).auto_push
    await before_leaving(s, row)
    pushed = await _push(s, project, ground) if wanted else None
    body = f"{UNKEPT if any(run.unkept for run in runs) else ''}{task.description}"
    pull = await s.forge.publish(project, task, ground.branch, ground.base, ground.title, body)

    def then(tx: Tx) -> None:
        if pushed is not None:
            branches.keep_push(tx, s, task, ground, pushed)
        happened: event.Event
        # By our own record: the forge may know it from an attempt that was cut short.
        known = tx.tasks.artifacts(task.id, ArtifactType.PULL_REQUEST)
        if any(a.key == str(pull.number) for a in known):
            happened = event.PullUpdated(number=pull.number, head_sha=pull.head_sha)
        else:
            happened = event.PullCreated(
                number=pull.number,
                head=pull.head_branch,
                base=pull.base_branch,
                head_sha=pull.head_sha,
            )
        tx.events.add(task.id, happened, SYSTEM, s.clock.now())
        label = f"Pull request #{pull.number}"
        data = {"number": pull.number, "head_sha": pull.head_sha, "id": pull.id}
        kind, key = ArtifactType.PULL_REQUEST, str(pull.number)
        artifacts.keep(tx, s, task, kind, key, label, data)

    await finish(s, row, then, {"number": pull.number})
