"""Whether a run may begin now: how many go on already, whether the project's settings can be read,
and whether a question has to be answered first. Why it waits is kept with its effect, so that
everybody can see it."""

from collections.abc import Sequence

from agents_manager.domain.ids import RunId
from agents_manager.domain.run import Run
from agents_manager.domain.task import EffectRow
from agents_manager.errors import InvalidConfig
from agents_manager.flow.memory import questions
from agents_manager.flow.ports import Services, Tx

WAITS = "waits"
"""Of the result of a start that waits: why."""
NO_ROOM = "The disk has too little room left for another agent (limits.freeDiskMb)."
"""Without the number, which changes all the time; the event has it."""


def capacity(s: Services) -> int:
    """How many agents may work at a time on this machine."""
    said = s.here.capacity if s.here else None
    return said or s.configs.host_limit()


def full(s: Services, running: int) -> str | None:
    """Why no agent may begin on this machine, where so many are at work; None if one may."""
    most = capacity(s)
    if running >= most:
        return f"This machine has {running} of {most} agents at work."
    return NO_ROOM if s.disk.shortage() else None


def held(tx: Tx, s: Services, start: EffectRow, running: Sequence[EffectRow]) -> str | None:
    """Why a run must wait beside those that go on; None if it need not."""
    run = _run(tx, start)
    asked = questions.holds(tx, run.task_id)
    if asked is not None:
        return asked
    project = tx.projects.get(run.project_id)
    try:
        config = s.configs.of(project, run)
    except InvalidConfig as error:
        why = " ".join([error.message, *error.details])
        return f'The settings of project "{project.name}" cannot be read: {why}'
    others = [_run(tx, other) for other in running]
    agent, most = run.agent or config.default_agent, config.limits
    here = sum(other.project_id == run.project_id for other in others)
    if most.project is not None and here >= most.project:
        return f'Project "{project.name}" has {here} of {most.project} agents at work.'
    same = sum((other.agent or config.default_agent) == agent for other in others)
    if most.agent is not None and same >= most.agent:
        return f'Agent "{agent}" has {same} of {most.agent} runs at a time.'
    return None


def waits(start: EffectRow) -> str | None:
    """Why a start that is due has not begun, as far as that is on record."""
    result = start.result if start.status == "pending" else None
    return result.get(WAITS) if result else None


def _run(tx: Tx, start: EffectRow) -> Run:
    return tx.runs.get(RunId(start.payload["run_id"]))
