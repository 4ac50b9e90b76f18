"""A judge's run: what it is told of the contenders, without their names, and what it may pick."""

from agents_manager.domain import race
from agents_manager.domain.context import Section
from agents_manager.domain.event.races import Figures
from agents_manager.domain.outcome import Reported
from agents_manager.domain.race import Judgement, Race
from agents_manager.domain.run import Run
from agents_manager.domain.task import Project, Task
from agents_manager.errors import AgentsManagerError
from agents_manager.flow import comparing, race_choice, races, starting
from agents_manager.flow.comparing import Checked
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.runs.verdict import Again, Verdict

BUDGET = 50_000
"""Characters of all that the contenders changed."""


async def held(run: Run, reading: Reported, s: Services) -> Verdict:
    """What the agent is asked to mend, where it picked whom nobody can pick."""
    if run.mode != race.JUDGE:
        return Verdict()
    pick = Judgement.model_validate(reading.payload).pick

    def read(tx: Tx) -> str | None:
        runs = tx.runs.of_task(run.task_id)
        found = races.undecided(tx, runs)
        return race.judged_fault(found, runs, pick, starting.asking(s)) if found else None

    fault = await s.store.read(read)
    return Verdict(again=Again(kind="repair", round=0, text=fault)) if fault else Verdict()


async def contenders(s: Services, run: Run, task: Task, project: Project) -> list[Section]:
    """A section for each that can be picked: its figures, and what it changed."""
    if run.mode != race.JUDGE:
        return []

    def read(tx: Tx) -> tuple[Race, list[Run], dict[str, Figures], dict[str, Checked]] | None:
        runs = tx.runs.of_task(run.task_id)
        found = races.undecided(tx, runs)
        if found is None:
            return None
        known = races.compared(tx, task.id, found.group)
        return found, runs, known, {r.id: comparing.checked(tx, r) for r in found.members(runs)}

    known = await s.store.read(read)
    if known is None:
        return []
    found, runs, figures, checks = known
    fit = [r for r in found.members(runs) if race.unfit(r, starting.asking(s)) is None]
    return [
        Section(
            heading=f"Contender {found.letter(one)}",
            before=_figures(one, figures.get(one.id), checks[one.id]),
            quoted=[await _diff(s, task, project, one, runs) or "(It changed nothing.)"],
            budget=BUDGET // len(fit),
            where=f"am run diff {one.id}",
        )
        for one in fit
    ]


def _figures(run: Run, made: Figures | None, checks: Checked) -> str:
    cost = "unknown" if run.cost_usd is None else f"${run.cost_usd:.2f}"
    took = "unknown" if run.seconds is None else f"{run.seconds:.0f} s"
    said = {True: "passed", False: "failed", None: "none were run"}[checks.passed]
    change = race_choice.change(made)
    return f"Checks: {said}. Change: {change}. Cost: {cost}. Time: {took}. What it changed:"


async def _diff(s: Services, task: Task, project: Project, run: Run, runs: list[Run]) -> str:
    try:
        return await comparing.changed(s, task, project, run, runs)
    except AgentsManagerError as error:
        return f"(It cannot be shown: {error.message})"
