"""What the tasks before a task left for it."""

from collections.abc import Sequence

from agents_manager.domain import predecessor
from agents_manager.domain.handoff import Handoff
from agents_manager.domain.ids import TaskId
from agents_manager.domain.knowledge import NodeKind, NodeState, Query
from agents_manager.domain.phase import Phase
from agents_manager.domain.predecessor import Block, Nodes
from agents_manager.domain.task import Task
from agents_manager.flow.ports import Tx

MOST_TASKS = 12
MOST_NODES = 500
"""Of a task, that are looked through for what became of its findings."""


def predecessors(tx: Tx, task: Task) -> list[Task]:
    """The finished tasks that it depends on, the nearest first, then those that they depend on."""
    seen = {task.id}
    found: list[Task] = []
    due = list(task.dependencies)
    while due and len(seen) <= 4 * MOST_TASKS:
        other_id = TaskId(due.pop(0))
        if other_id in seen:
            continue
        seen.add(other_id)
        other = tx.tasks.get(other_id)
        due += other.dependencies
        if tx.pipelines.get(other.pipeline_id, other.pipeline_version).is_final(other.status):
            found.append(other)
    return found[:MOST_TASKS]


def of_task(tx: Tx, task_id: TaskId) -> Handoff | None:
    """All that its runs left, together; None when they left nothing."""
    kept = tx.knowledge.handoffs(task_id)
    return predecessor.together(kept, tx.runs.of_task(task_id)) if kept else None


def blocks(tx: Tx, tasks: Sequence[Task]) -> list[Block]:
    """A block for each task that left something."""
    found: list[Block] = []
    for task in tasks:
        handoff = of_task(tx, task.id)
        if handoff is not None:
            title = f"From Task {task.id[:8]}: {task.title}"
            why = f'from "{task.title}", which this task depends on'
            found.append(predecessor.block(title, handoff, nodes(tx, task.id), why))
    return [block for block in found if block.text or block.left_out]


def phase_blocks(tx: Tx, task: Task, phases: Sequence[Phase], now: Phase | None) -> list[Block]:
    """The same for the phases of a task that come before one."""
    kept = tx.knowledge.handoffs(task.id) if now else []
    if now is None or not kept:
        return []
    runs, known = tx.runs.of_task(task.id), nodes(tx, task.id)
    found: list[Block] = []
    for phase in phases:
        mine = {run.id for run in runs if run.phase_id == phase.id}
        left = [one for one in kept if one.run_id in mine]
        if left and phase.position < now.position:
            title = f"From Phase {phase.number}: {phase.name}"
            why = f'from phase {phase.number}, "{phase.name}"'
            found.append(predecessor.block(title, predecessor.together(left, runs), known, why))
    return [block for block in found if block.text or block.left_out]


def steps(tx: Tx, task: Task, before: Sequence[Task]) -> list[str]:
    """Suggested next steps of the task's own runs, then of the tasks before it."""
    found: list[str] = []
    for other in (task, *before):
        handoff = of_task(tx, other.id)
        source = "an earlier run of this task" if other is task else f'"{other.title}"'
        found += predecessor.steps(handoff, source) if handoff else []
    return found


def nodes(tx: Tx, task_id: TaskId, *kinds: NodeKind) -> Nodes:
    query = Query(
        task_id=task_id,
        kinds=kinds or (NodeKind.PATTERN, NodeKind.GOTCHA),
        states=tuple(NodeState),
    )
    return predecessor.by_words(tx.knowledge.search(query, limit=MOST_NODES), task_id)
