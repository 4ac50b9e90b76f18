"""Tasks that are done and left something, and what the agent of another is told then."""

from collections.abc import Mapping
from typing import Any

from agents_manager.domain.handoff import Handoff
from agents_manager.domain.ids import EffectId
from agents_manager.domain.knowledge import Node, NodeKind
from agents_manager.domain.run import Run, RunStatus
from agents_manager.domain.task import Project, Task
from agents_manager.flow import tasks
from agents_manager.flow.memory.absorb import absorb
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.runs import brief
from tests.contract.store_values import NOW, a_handoff, a_node, a_run
from tests.worlds import ANN


def gotcha(issue: str, severity: str = "high", mitigation: str = "Mind it") -> dict[str, str]:
    where = {"discovered_in": "here", "mitigation": mitigation}
    return {"issue": issue, "severity": severity, **where}


def pattern(text: str, *tags: str) -> dict[str, Any]:
    return {"pattern": text, "location": "src/auth/jwt.ts", "applies_to": list(tags)}


def question(text: str, **fields: Any) -> dict[str, Any]:
    return {"question": text, "context": "Both work.", "blocking": True, **fields}


def finding(text: str, kind: NodeKind = NodeKind.PATTERN, **fields: Any) -> Node:
    """One that nothing is known of but its words."""
    bare: dict[str, Any] = {"detail": {}, "tags": (), "sources": ()}
    return a_node(f"{kind}-{text}", kind=kind, text=text, **{**bare, **fields})


async def create(s: Services, project: Project, title: str, **fields: Any) -> Task:
    new = tasks.NewTask(title=title, pipeline="simple", **fields)
    return await tasks.create(s, project, new, ANN)


async def finished(
    s: Services, project: Project, title: str, handoff: Mapping[str, Any], **fields: Any
) -> Task:
    """A task whose one run left this."""
    task = await create(s, project, title, **fields)

    def write(tx: Tx) -> Task:
        left(tx, s, task, f"{task.id}-1", handoff)
        return tx.tasks.move(task, "done", NOW)

    return await s.store.write(write)


def left(
    tx: Tx, s: Services, task: Task, run_id: str, handoff: Mapping[str, Any], **fields: Any
) -> None:
    """A run of the task that is over and left this."""
    ended = {"status": RunStatus.COMPLETED, "started_at": NOW, "ended_at": NOW, **fields}
    run = added(tx, task, run_id, **ended)
    said = Handoff.model_validate({"outcome": "completed", **handoff})
    kept = a_handoff(run.id, task.id, project_id=task.project_id, handoff=said)
    absorb(tx, s, run, task, kept, None)


def added(tx: Tx, task: Task, run_id: str, **fields: Any) -> Run:
    effect = EffectId(f"{run_id}-effect")
    run = a_run(run_id, task.id, project_id=task.project_id, effect_id=effect, **fields)
    tx.runs.add(run)
    return run


async def told(s: Services, task: Task, mode: str = "implement", **fields: Any) -> str:
    """The prompt of a run that begins now, be it that one waits already."""

    def begun(tx: Tx) -> Run:
        running = {"status": RunStatus.RUNNING, "mode": mode, "started_at": NOW, **fields}
        waiting = tx.runs.live(task.id)
        return waiting[0] if waiting else added(tx, task, f"{task.id}-{mode}", **running)

    run = await s.store.write(begun)
    await brief.brief(run.id, s)

    def ended(tx: Tx) -> str:
        tx.runs.update(run.id, status=RunStatus.COMPLETED, ended_at=NOW)
        return str(tx.runs.get(run.id).prompt)

    return await s.store.write(ended)
