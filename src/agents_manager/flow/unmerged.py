"""Closing a task as done although some of its commits are not merged: a person confirms that first,
and says whether the tasks that depend on it may start."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents_manager.domain.prompt import ChoicePayload, Prompt, PromptStatus, PromptType
from agents_manager.domain.task import PullState, Task
from agents_manager.errors import AgentsManagerError, StoreUnavailable, UnmergedWork
from agents_manager.flow import branches, closing
from agents_manager.flow.branches import Ground
from agents_manager.flow.ports import Services, Tx

SHOWN = 20
TRANSITION = "transition:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    """What the person who closes a task agrees to."""

    leave_unmerged: bool = False
    """Its unmerged commits stay on their branch."""
    release_dependents: bool = False
    """The tasks that depend on it may start nevertheless."""


NONE = Consent()


@dataclass(frozen=True, slots=True)
class _Branch:
    ground: Ground
    merged: str | None
    """The head of its newest merged pull request."""


@dataclass(frozen=True, slots=True)
class _Closing:
    """A move that ends a task as done."""

    task: Task
    repo: Path
    branches: Sequence[_Branch]
    dependents: int


async def check_move(
    s: Services, task_id: str, to: str, consent: Consent
) -> Mapping[str, Any] | None:
    """Returns what a move by hand to a status says about unmerged commits, or None if it leaves
    none. Raises UnmergedWork if nobody consented to leave them."""
    ends = await s.store.read(lambda tx: _ends(tx, s, tx.tasks.find(task_id), to))
    return await _check(s, ends, consent) if ends else None


async def check_answer(
    s: Services, prompt_id: str, raw: Mapping[str, Any], consent: Consent
) -> Mapping[str, Any] | None:
    """Does the same for an answer that makes such a move."""

    def read(tx: Tx) -> _Closing | None:
        prompt = tx.prompts.find(prompt_id)
        task = tx.tasks.get(prompt.task_id)
        pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
        chosen = _transition(prompt, raw)
        ways = [t.to for t in pipeline.leaving(task.status) if t.id == chosen]
        return _ends(tx, s, task, ways[0]) if ways else None

    ends = await s.store.read(read)
    return await _check(s, ends, consent) if ends else None


def _transition(prompt: Prompt, raw: Mapping[str, Any]) -> str | None:
    """The transition that an answer to an open question makes."""
    if prompt.type is not PromptType.CHOICE or prompt.status is not PromptStatus.PENDING:
        return None
    choices = ChoicePayload.model_validate(prompt.payload).choices
    chosen = [c.action for c in choices if c.id == raw.get("choice_id")]
    made = [a.removeprefix(TRANSITION) for a in chosen if a.startswith(TRANSITION)]
    return made[0] if made else None


def _ends(tx: Tx, s: Services, task: Task, to: str) -> _Closing | None:
    """None where the move does not end the task, or cancels it."""
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    if not pipeline.has(to) or not pipeline.is_final(to) or pipeline.is_cancelled(to):
        return None
    if pipeline.is_final(task.status):
        return None
    project = tx.projects.get(task.project_id)
    own = branches.of_task(tx, s, task, project)
    phases = tx.phases.of_task(task.id)
    grounds = [own, *(branches.of_phase(tx, s, task, project, phase) for phase in phases)]
    known = [_Branch(ground, _merged(tx, task, ground.branch)) for ground in grounds]
    return _Closing(task, Path(project.path), known, len(closing.dependents(tx, task)))


def _merged(tx: Tx, task: Task, branch: str) -> str | None:
    pulls = [p for p in tx.pulls.all_of_task(task.id) if p.head_branch == branch]
    merged = [p.head_sha for p in pulls if p.state is PullState.MERGED]
    return merged[-1] if merged else None


async def _check(s: Services, ends: _Closing, consent: Consent) -> Mapping[str, Any] | None:
    lines: list[str] = []
    on: list[Ground] = []
    for branch in ends.branches:
        found = await _unmerged(s, ends.repo, branch)
        if found:
            on.append(branch.ground)
            lines += found
    if not lines:
        return None
    commits = list(dict.fromkeys(lines))
    if not consent.leave_unmerged:
        raise _refusal(ends, on[0], commits)
    return closing.payload(on[0].branch, on[0].base, commits, released=consent.release_dependents)


async def _unmerged(s: Services, repo: Path, branch: _Branch) -> list[str]:
    """The commits of a branch that its base does not have, one line each."""
    ground = branch.ground
    try:
        tip = await s.workspaces.stands_at(repo, ground.branch)
        if tip is None or tip == branch.merged:
            return []
        change = await s.workspaces.change(repo, ground.branch, ground.base)
        commits = [f"{c['sha'][:8]} {c['subject']}" for c in change.commits]
        if branch.merged is not None and commits:
            since = await s.workspaces.between(repo, branch.merged, tip)
            new = {c["sha"][:8] for c in since.commits}
            commits = [line for line in commits if line[:8] in new]
    except StoreUnavailable:
        raise
    except AgentsManagerError as error:
        return [f"The commits of {ground.branch} cannot be read: {error.message}"]
    return commits


def _refusal(ends: _Closing, ground: Ground, commits: Sequence[str]) -> UnmergedWork:
    number = len(commits)
    have = "1 commit that is" if number == 1 else f"{number} commits that are"
    said = (
        f'"{ends.task.title}" has {have} not merged into {ground.base} (branch {ground.branch}). '
        "Merge the work first, or confirm that it stays unmerged: --leave-unmerged on the command "
        "line, leave_unmerged over HTTP."
    )
    if ends.dependents:
        what = (
            "1 task that depends"
            if ends.dependents == 1
            else f"{ends.dependents} tasks that depend"
        )
        keeps = "keeps" if ends.dependents == 1 else "keep"
        said += f" {what} on it {keeps} waiting, unless you add --release-dependents too."
    more = [f"and {number - SHOWN} more"] if number > SHOWN else []
    return UnmergedWork(said, [*commits[:SHOWN], *more], dependents=ends.dependents)
