"""Has the issue that a task comes from told how the task ended, where the project wants that: only
when nothing of the task is left to be done. It is told in `noting`."""

from agents_manager.domain import issue, names
from agents_manager.domain.effects import BESIDE, NoteOnIssue
from agents_manager.domain.ids import EffectId
from agents_manager.domain.pipeline import Pipeline
from agents_manager.domain.task import (
    ArtifactType,
    History,
    PullRequest,
    PullState,
    Result,
    Task,
)
from agents_manager.errors import InvalidConfig
from agents_manager.flow import planning
from agents_manager.flow.ports import Services, Tx


def settle(tx: Tx, s: Services, task: Task, pipeline: Pipeline) -> None:
    """Orders the note of a task that has ended."""
    if not pipeline.is_final(task.status):
        return
    if any(effect.kind not in BESIDE for effect in tx.effects.open(task.id)):
        return  # What is merged is not known yet.
    source = issue.reference(tx.tasks.artifacts(task.id, ArtifactType.LINK))
    if source is None:
        return
    try:
        rules = s.configs.of(tx.projects.get(task.project_id)).forge
    except InvalidConfig:  # What cannot be read orders nothing, and keeps no task from its end.
        return
    pull, move = _merged(tx, task), _last_move(tx, task)
    wanted = rules.note_on_issues or (rules.close_issues and pull)
    effect_id = EffectId(f"{move.id}-issue") if move else None
    if wanted and effect_id and not planning.was_told(tx, effect_id):
        order = NoteOnIssue(pull_id=pull.id if pull else None)
        planning.beside(tx, s, task, order, effect_id)


def _merged(tx: Tx, task: Task) -> PullRequest | None:
    """The last that brought the work in; those of phases only brought it together."""
    whole = [
        pull
        for pull in tx.pulls.all_of_task(task.id)
        if pull.state is PullState.MERGED and names.whole_of(pull.head_branch) == pull.head_branch
    ]
    return max(whole, key=lambda pull: pull.created_at, default=None)


def _last_move(tx: Tx, task: Task) -> History | None:
    moves = [one for one in tx.history.of_task(task.id) if one.result is not Result.REFUSED]
    return moves[-1] if moves else None
