"""The question whose work is taken, put to a person: each contender that can be picked with its
figures, and the ways out where none is."""

from collections.abc import Mapping

from agents_manager.domain import race
from agents_manager.domain.event.happening import counted_as
from agents_manager.domain.event.races import Figures
from agents_manager.domain.ids import TaskId
from agents_manager.domain.names import visible
from agents_manager.domain.prompt import Choice
from agents_manager.domain.race import Race
from agents_manager.domain.run import Run
from agents_manager.flow import asking, races, starting
from agents_manager.flow.ports import Services, Tx

SHOWN = 300
AGAIN = Choice(id="rerun", label="Run those again that are not done", action="rerun")
ANEW = Choice(id="race", label="None of them: all begin anew", action="race")


def ask(tx: Tx, s: Services, task_id: TaskId, found: Race, why: str) -> None:
    """Opens the choice, in place of an older one."""
    task, runs = tx.tasks.get(task_id), tx.runs.of_task(task_id)
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    known, asks = races.compared(tx, task_id, found.group), starting.asking(s)
    members = found.members(runs)
    fit = [run for run in members if race.unfit(run, asks) is None]
    lost = [run for run in members if run not in fit]
    picks = [
        Choice(id=f"pick-{run.part}", label=f"Take {label(run, known)}", action=f"pick:{run.id}")
        for run in fit
    ]
    evidence = " ".join(f"{contender(run)}: {race.unfit(run, asks)}" for run in lost)
    extra = [*picks, *([AGAIN] if lost else []), ANEW]
    entry = tx.history.of_task(task_id)[-1]
    shown = visible(evidence, SHOWN * race.MOST)
    asking.open_choice(tx, s, task, pipeline, entry.id, why, evidence=shown, extra=extra)


def contender(run: Run) -> str:
    """As people know it: by its agent and its model."""
    return f"{run.agent} ({run.model})" if run.model else run.agent or "an agent"


def label(run: Run, known: Mapping[str, Figures]) -> str:
    cost = "cost unknown" if run.cost_usd is None else f"${run.cost_usd:.2f}"
    took = "" if run.seconds is None else f", {run.seconds:.0f} s"
    return f"{contender(run)}: {change(known.get(run.id))}, {cost}{took}"


def change(made: Figures | None) -> str:
    if made is None or made.files is None:
        return "change unknown"
    return f"{counted_as(made.files, 'file')} +{made.additions} -{made.deletions}"
