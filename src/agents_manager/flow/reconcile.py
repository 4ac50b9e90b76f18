"""What others do to a pull request on its forge, noticed by looking: merged, closed, moved to
another commit, reviewed. Each look compares what is there with our own rows, so that a crash or a
look too many changes nothing; all of it goes through the functions that everything goes through."""

import asyncio
import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path

import structlog

from agents_manager.domain import event
from agents_manager.domain.event import Event
from agents_manager.domain.ids import EffectId, ProjectId
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import Prompt
from agents_manager.domain.task import (
    SYSTEM,
    Actor,
    ActorType,
    ArtifactType,
    Project,
    PullRequest,
    PullState,
)
from agents_manager.errors import (
    AgentsManagerError,
    Conflict,
    ForgeUnavailable,
    HookFailed,
    InvalidInput,
    NotAllowed,
    NotFound,
    PromptAlreadyAnswered,
    PromptClosed,
)
from agents_manager.flow import (
    artifacts,
    asking,
    duty,
    patience,
    places,
    planning,
    prompts,
    transitions,
)
from agents_manager.flow.liveness import SUPERVISOR
from agents_manager.flow.ports import (
    Change,
    Merged,
    OutsideForge,
    OutsideReview,
    Services,
    Sighting,
    Tx,
)

log = structlog.get_logger()

EVERY_S = 5.0
"""How often it is looked whether a project's turn has come."""
LONGEST_PAUSE = timedelta(hours=1)
TROUBLED = timedelta(minutes=10)
AFTER_FAILURE = timedelta(minutes=1)
NO_WORDS = "See the comments on the pull request."
LAST = 200
"""As many events as are searched for what was told."""


async def run(s: Services) -> None:
    """For ever; the first look is at the start, for what happened while nobody looked."""
    due: dict[ProjectId, datetime] = {}
    while True:
        try:
            await look(s, due)
        except Exception as error:  # noqa: BLE001 - a hiccup of the database must not end it
            patience.tell("reconcile.failed", error)
        await asyncio.sleep(EVERY_S)


async def look(s: Services, due: dict[ProjectId, datetime]) -> None:
    """Looks at the open pull requests of the projects whose turn it is."""
    now = s.clock.now()
    pulls = await s.store.read(lambda tx: tx.pulls.open_outside())
    for project_id, mine in groupby(pulls, key=lambda pull: pull.project_id):
        if due.get(project_id, now) > now:
            continue
        due[project_id] = now + AFTER_FAILURE
        try:
            due[project_id] = now + await _look_at_all(s, project_id, list(mine))
        except Exception as error:  # noqa: BLE001 - one project must not keep others from theirs
            patience.tell("reconcile.failed", error, project=project_id)


async def _look_at_all(
    s: Services, project_id: ProjectId, pulls: Sequence[PullRequest]
) -> timedelta:
    """How long it takes until the next look."""
    project = await s.store.read(lambda tx: tx.projects.get(project_id))
    # Of several machines one asks the forge, which counts how often it is asked.
    mine = places.away(s, project) is None
    if not mine or not await duty.is_mine(s, f"forge {project.id}"):
        return AFTER_FAILURE
    try:
        pause = timedelta(seconds=s.configs.of(project).forge.poll_s)
    except InvalidInput:  # A broken file, which is told elsewhere.
        return timedelta(seconds=EVERY_S)
    refused: list[str] = []
    unavailable = 0
    for pull in pulls:
        try:
            await at(s, project, pull)
        except ForgeUnavailable as error:
            log.warning("reconcile.unavailable", project=project.name, error=error.message)
            unavailable += 1
            # One may have a trouble of its own, which is not to keep others from being looked at.
            if error.wait_s is not None or unavailable > 1:
                wait = timedelta(seconds=error.wait_s or 0)
                return min(max(pause, wait), LONGEST_PAUSE)
        except HookFailed as error:
            # Mostly the token or the repository: all fare the same, and one of them says so.
            if error.message not in refused:
                await s.store.write(lambda tx, p=pull, e=error: _refused(tx, s, p, e.message))
            refused.append(error.message)
        except AgentsManagerError as error:
            log.warning("reconcile.failed", project=project.name, error=error.message)
    return max(pause, TROUBLED) if len(refused) == len(pulls) else pause


def _refused(tx: Tx, s: Services, pull: PullRequest, reason: str) -> None:
    digest = hashlib.sha256(reason.encode()).hexdigest()[:8]
    notice = EffectId(f"{pull.id}-forge-{digest}")
    _tell_once(tx, s, pull, notice, event.ForgeRefused(pull=pull.number, reason=reason))


def _tell_once(tx: Tx, s: Services, pull: PullRequest, notice: EffectId, told: Event) -> None:
    if planning.was_told(tx, notice):
        return
    task = tx.tasks.get(pull.task_id)
    tx.events.add(task.id, told, SUPERVISOR, s.clock.now())
    planning.notice(tx, s, task, notice, f"Pull request #{pull.number}: {task.title}", told.says())


async def by_id(s: Services, pull_id: str) -> None:
    """A look at one that is still open."""

    def read(tx: Tx) -> tuple[Project, PullRequest] | None:
        found = [pull for pull in tx.pulls.open_outside() if pull.id == pull_id]
        return (tx.projects.get(found[0].project_id), found[0]) if found else None

    known = await s.store.read(read)
    if known is not None:
        await at(s, *known)


async def at(s: Services, project: Project, pull: PullRequest) -> None:
    """Compares one pull request with what its forge says."""
    forge = s.forge.outside(pull)
    if forge is None:
        return
    seen = await forge.look(project, pull)
    match seen.state:
        case PullState.MERGED:
            await _merged(s, forge, project, pull, seen)
        case PullState.CLOSED:
            await s.store.write(lambda tx: _closed(tx, s, pull))
        case PullState.OPEN:
            await _open(s, project, pull, seen)


# ------------------------------------------------------------------------------- merged, closed


async def _merged(
    s: Services, forge: OutsideForge, project: Project, pull: PullRequest, seen: Sighting
) -> None:
    """Whoever merged it approved of it: the task moves as if they had said so here, and the merge
    that follows finds that it is done."""
    if seen.base_branch != pull.base_branch:
        raise HookFailed(
            f'Pull request #{pull.number} was merged into "{seen.base_branch}", and not into '
            f'"{pull.base_branch}". Say how the task goes on by moving it.'
        )
    by = Actor(type=ActorType.USER, name=seen.by or pull.forge, via=pull.forge, admin=True)
    key = f"{pull.forge}-merge-{pull.id}"
    prompt = await s.store.read(lambda tx: _unanswered(tx, pull, key))
    if prompt is not None:
        approval = {"decision": "approved", "summary": _as_merged(pull, prompt, seen)}
        try:
            await prompts.answer(s, prompt.id, approval, by, key=key)
        except (Conflict, InvalidInput, HookFailed) as error:
            log.info("reconcile.merge_not_taken", pull=pull.number, error=error.message)
        else:
            return
    if await s.store.read(lambda tx: _is_merging(tx, pull)):
        return
    method = s.configs.of(project).merge_method
    result = await forge.merge(project, pull, seen.head_sha, method)
    if isinstance(result, Merged):
        await s.store.write(lambda tx: _was_merged(tx, s, pull, result.sha, by.name))


def _as_merged(pull: PullRequest, prompt: Prompt, seen: Sighting) -> str:
    asked = prompt.payload.get("head_sha")
    if asked == seen.head_sha:
        return f"Merged on {pull.forge}."
    at = f"at {seen.head_sha[:8]}, while the question was about {str(asked)[:8]}"
    return f"Merged on {pull.forge}, {at}."


def _unanswered(tx: Tx, pull: PullRequest, key: str) -> Prompt | None:
    """The review that this pull request waits for, unless it was answered with the same before."""
    if any(prompt.answer_key == key for prompt in tx.prompts.of_task(pull.task_id)):
        return None
    return _asked(tx, pull)


def _asked(tx: Tx, pull: PullRequest) -> Prompt | None:
    for prompt in tx.prompts.pending(pull.task_id):
        mine = prompt.payload.get("branch") == pull.head_branch
        if prompt.type is PromptType.REVIEW and mine:
            return prompt
    return None


def _is_merging(tx: Tx, pull: PullRequest) -> bool:
    return any(effect.kind == "merge_pr" for effect in tx.effects.open(pull.task_id))


def _was_merged(tx: Tx, s: Services, pull: PullRequest, sha: str, by: str) -> None:
    note_merge(tx, s, pull, sha, by)
    transitions.recheck(tx, s, pull.task_id)


def note_merge(tx: Tx, s: Services, pull: PullRequest, sha: str, by: str | None = None) -> None:
    """Puts the merge on record once, whoever finds it."""
    now = s.clock.now()
    tx.pulls.update(pull.id, now, state=PullState.MERGED, merge_sha=sha)
    merged = event.PullMerged(number=pull.number, merge_sha=sha, by=by)
    known = tx.events.newest(pull.task_id, merged.category, LAST)
    told = (merged.type, pull.number, sha)
    if all((e.type, e.data.get("number"), e.data.get("merge_sha")) != told for e in known):
        tx.events.add(pull.task_id, merged, SUPERVISOR if by else SYSTEM, now)


def _closed(tx: Tx, s: Services, pull: PullRequest) -> None:
    """A person says how the task goes on."""
    if not _still(tx, pull):
        return
    tx.pulls.update(pull.id, s.clock.now(), state=PullState.CLOSED)
    closed = event.PullClosed(number=pull.number)
    tx.events.add(pull.task_id, closed, SUPERVISOR, s.clock.now())
    task = tx.tasks.get(pull.task_id)
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    if pipeline.is_final(task.status):
        return
    entry = tx.history.of_task(task.id)[-1]
    asking.open_choice(tx, s, task, pipeline, entry.id, closed.says(), evidence=pull.url or "")


def _still(tx: Tx, pull: PullRequest) -> bool:
    """Whether it is on record as it was when the look began; its task may be gone."""
    known = tx.pulls.all_of_task(pull.task_id)
    same = (pull.id, pull.state, pull.head_sha)
    return any((one.id, one.state, one.head_sha) == same for one in known)


# ----------------------------------------------------------------------------- moved, reviewed


async def _open(s: Services, project: Project, pull: PullRequest, seen: Sighting) -> None:
    if seen.head_sha != pull.head_sha:
        await moved(s, project, pull, seen)
    if (seen.url, seen.checks) != (pull.url, pull.checks):
        fields = {"url": seen.url, "checks": seen.checks}
        await s.store.write(lambda tx: tx.pulls.update(pull.id, s.clock.now(), **fields))
    if seen.strangers:
        notice = EffectId(f"{pull.id}-strangers-{seen.strangers}")
        told = event.StrangersReviewed(pull=pull.number, people=seen.strangers)
        await s.store.write(lambda tx: _tell_once(tx, s, pull, notice, told))
    # Who asks for changes is heard before who approves.
    for review in sorted(seen.reviews, key=lambda r: r.decision == "approved"):
        await _reviewed(s, pull, review)


async def moved(s: Services, project: Project, pull: PullRequest, seen: Sighting) -> None:
    """Takes note of a head that is not the one on record."""
    repo = Path(project.path)
    ours = await s.workspaces.stands_at(repo, pull.head_branch) == seen.head_sha
    try:
        change = await s.workspaces.change_there(repo, pull.head_branch, pull.base_branch)
    except InvalidInput as error:  # A history that has nothing to do with ours.
        log.warning("reconcile.not_compared", pull=pull.number, error=error.message)
        change = None
    await s.store.write(lambda tx: _note_head(tx, s, pull, seen, change, ours=ours))


def _note_head(
    tx: Tx, s: Services, pull: PullRequest, seen: Sighting, change: Change | None, *, ours: bool
) -> None:
    """What is asked about the old commit is asked again about the new one, which is what would be
    merged."""
    if not _still(tx, pull):
        return  # Another look, at the same time.
    now, task = s.clock.now(), tx.tasks.get(pull.task_id)
    tx.pulls.update(pull.id, now, head_sha=seen.head_sha)
    moved = event.PullMoved(number=pull.number, before=pull.head_sha, after=seen.head_sha)
    if not ours:
        tx.events.add(task.id, moved, SUPERVISOR, now)
    known = [a.data["head_sha"] for a in tx.tasks.artifacts(task.id, ArtifactType.DIFF)]
    if change is None or change.head_sha in known:
        return
    artifacts.keep_change(tx, s, task, pull.head_branch, pull.base_branch, change)
    prompt = _asked(tx, pull)
    if prompt is not None:
        asking.ask_again(tx, s, task, prompt, prompt.history_id, moved.says())


async def _reviewed(s: Services, pull: PullRequest, review: OutsideReview) -> None:
    """A review there answers the question here; each once, and only about what was asked."""
    key, notice = f"{pull.forge}-review-{review.id}", EffectId(f"{pull.id}-review-{review.id}")

    def find(tx: Tx) -> Prompt | None:
        return None if planning.was_told(tx, notice) else _unanswered(tx, pull, key)

    prompt = await s.store.read(find)
    if prompt is None:
        return
    try:
        await _answer(s, pull, prompt, review, key)
    except (PromptAlreadyAnswered, PromptClosed, NotFound):
        return  # Somebody was faster.
    except (Conflict, InvalidInput, NotAllowed, HookFailed) as error:
        why = " ".join([error.message, *error.details])
        told = event.ReviewNotTaken(
            pull=pull.number, by=review.author, decision=review.decision, reason=why
        )
        await s.store.write(lambda tx: _tell_once(tx, s, pull, notice, told))


async def _answer(
    s: Services, pull: PullRequest, prompt: Prompt, review: OutsideReview, key: str
) -> None:
    asked = prompt.payload.get("head_sha")
    if review.head_sha != asked:
        seen = f"it looked at {(review.head_sha or 'no commit')[:8]}"
        raise Conflict(f"{seen}, and the question is about {str(asked)[:8]}.")
    answer = {"decision": review.decision, "summary": review.summary or None}
    if review.decision == "changes_requested":
        answer["summary"] = review.summary or NO_WORDS
    actor = Actor(type=ActorType.USER, name=review.author, via=pull.forge)
    await prompts.answer(s, prompt.id, answer, actor, key=key)
