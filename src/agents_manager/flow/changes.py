"""What a task's work changes, in all or since a review, for those who look at it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from agents_manager.domain.change import Changes, FileChange, ReviewRound
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import Prompt, PromptStatus
from agents_manager.domain.run import Run, RunStatus
from agents_manager.domain.task import ArtifactType, Project, Task
from agents_manager.errors import NotFound
from agents_manager.flow import sharing
from agents_manager.flow.ports import Services, Tx


@dataclass(frozen=True, slots=True)
class _Work:
    task: Task
    project: Project
    ends: tuple[str, str] | None
    """None: nothing was committed yet."""
    rounds: Sequence[ReviewRound]


async def of_task(s: Services, task_ref: str, since: int | None) -> Changes:
    work = await s.store.read(lambda tx: _work(tx, task_ref))
    ends = _ends(work, since)
    if ends:
        await sharing.visible(s, work.task, work.project, *ends)
    files = await s.workspaces.files(Path(work.project.path), *ends) if ends else []
    base, head = ends or (None, None)
    return Changes(
        base_sha=base,
        head_sha=head,
        since=since,
        rounds=work.rounds,
        files=files,
    )


async def of_file(s: Services, task_ref: str, path: str, since: int | None) -> FileChange:
    work = await s.store.read(lambda tx: _work(tx, task_ref))
    ends, repo = _ends(work, since), Path(work.project.path)
    if ends:
        await sharing.visible(s, work.task, work.project, *ends)
    files = await s.workspaces.files(repo, *ends) if ends else []
    found = next((file for file in files if file.path == path), None)
    if ends is None or found is None:
        when = f" since review {since}" if since else ""
        raise NotFound(f'The work of "{work.task.title}" does not change "{path[:200]}"{when}.')
    return await s.workspaces.file(repo, *ends, found)


def _ends(work: _Work, since: int | None) -> tuple[str, str] | None:
    if since is None:
        return work.ends
    seen = next((r.head_sha for r in work.rounds if r.number == since), None)
    if seen is None or work.ends is None:
        known = ", ".join(str(r.number) for r in work.rounds if r.head_sha) or "none"
        raise NotFound(f"There is no review {since} of a commit; there are: {known}.")
    return seen, work.ends[1]


def _work(tx: Tx, task_ref: str) -> _Work:
    task = tx.tasks.find(task_ref)
    found = tx.tasks.artifacts(task.id, ArtifactType.DIFF)
    ends = (found[-1].data["base_sha"], found[-1].data["head_sha"]) if found else None
    reviews = sorted(
        [
            *(_by_person(p) for p in tx.prompts.of_task(task.id) if _is_review(p)),
            *(_by_agent(r) for r in tx.runs.of_task(task.id) if _reviewed(r)),
        ],
        key=lambda review: review.at,
    )
    return _Work(
        task=task,
        project=tx.projects.get(task.project_id),
        ends=ends,
        rounds=[review.round(number) for number, review in enumerate(reviews, 1)],
    )


# ---------------------------------------------------------------------------------- the reviews


@dataclass(frozen=True, slots=True, kw_only=True)
class _Review:
    at: datetime
    by: str
    verdict: str
    said: Mapping[str, Any]
    head_sha: str | None
    prompt_id: str | None = None
    run_id: str | None = None

    def round(self, number: int) -> ReviewRound:
        return ReviewRound(
            number=number,
            at=self.at,
            by=self.by,
            agent=self.run_id is not None,
            verdict=self.verdict,
            summary=self.said.get("summary"),
            head_sha=self.head_sha,
            prompt_id=self.prompt_id,
            run_id=self.run_id,
        )


def _is_review(prompt: Prompt) -> bool:
    return prompt.type is PromptType.REVIEW and prompt.status is PromptStatus.RESPONDED


def _by_person(prompt: Prompt) -> _Review:
    said = prompt.response or {}
    return _Review(
        at=prompt.responded_at or prompt.created_at,
        by=prompt.responded_by or "",
        verdict=said["decision"],
        said=said,
        head_sha=prompt.payload.get("head_sha"),
        prompt_id=prompt.id,
    )


def _reviewed(run: Run) -> bool:
    return run.mode == "review" and run.status is RunStatus.COMPLETED and run.outcome is not None


def _by_agent(run: Run) -> _Review:
    return _Review(
        at=run.ended_at or run.created_at,
        by=run.agent or "",
        verdict=run.outcome or "",
        said=run.payload or {},
        head_sha=run.head_sha,
        run_id=run.id,
    )
