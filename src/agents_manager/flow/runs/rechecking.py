"""Runs the checks of an ended run again, after a person dealt with what kept them from passing."""

from typing import cast

from agents_manager.domain.effects import RecheckRun
from agents_manager.domain.ids import RunId
from agents_manager.domain.run import Run
from agents_manager.domain.task import EffectRow
from agents_manager.flow import branches, check_decisions, settling, sharing
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.runs import checking, close, collect
from agents_manager.flow.runs.prepare import of
from agents_manager.flow.runs.verdict import Verdict


async def perform(row: EffectRow, effect: RecheckRun, s: Services) -> None:
    """Judges the work of the run by its checks. If they pass, the task continues with the outcome
    that the agent reported."""
    run, task, project = await s.store.read(lambda tx: of(tx, RunId(effect.run_id)))
    data = await s.store.read(lambda tx: check_decisions.undecided(tx, run))
    if data is None or not await s.store.read(lambda tx: _is_current(tx, row, run)):
        await settling.finish(s, row)
        return
    verdict = cast("Verdict", dict(data["verdict"]))
    ground = await s.store.read(lambda tx: branches.of_run(tx, s, run, task, project))
    await sharing.tell(s, task, await sharing.ready(s, task, project, [ground]))
    base = verdict.get("start_sha", "")
    verdict = await checking.judge(
        run, project, verdict, base, checking.last_dir(s, run), s, fresh=True
    )
    if "error" not in verdict:
        await collect.collect(run.id, verdict, s)

    def then(tx: Tx) -> None:
        if _is_current(tx, row, run):
            close.rechecked(tx, s, run, verdict)

    await settling.finish(s, row, then)


def _is_current(tx: Tx, row: EffectRow, run: Run) -> bool:
    """Returns whether the task is still where it was when the checks were to run again."""
    last = tx.history.of_task(run.task_id)[-1]
    return last.id == row.history_id and not tx.runs.live(run.task_id)
