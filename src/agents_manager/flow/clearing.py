"""Orders that the workspaces of a task are removed as soon as it is finished and nothing else is
left to do for it. They are removed in `cleanup`."""

from agents_manager.domain.effects import BESIDE, RemoveWorkspace
from agents_manager.domain.ids import EffectId
from agents_manager.domain.pipeline import Pipeline
from agents_manager.domain.task import Result, Task
from agents_manager.flow import planning
from agents_manager.flow.ports import Services, Tx


def settle(tx: Tx, s: Services, task: Task, pipeline: Pipeline) -> None:
    """Orders the removal once a task has ended."""
    if not pipeline.is_final(task.status):
        return
    if any(effect.kind not in BESIDE for effect in tx.effects.open(task.id)):
        return  # A hook of the last move may need the workspace.
    if not any(run.workspace for run in tx.runs.of_task(task.id)):
        return
    moves = [one for one in tx.history.of_task(task.id) if one.result is not Result.REFUSED]
    effect_id = EffectId(f"{moves[-1].id}-workspace") if moves else None
    if effect_id and not planning.was_told(tx, effect_id):
        planning.beside(tx, s, task, RemoveWorkspace(), effect_id)
