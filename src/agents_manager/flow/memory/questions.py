"""What tasks before left open that must be answered before work begins: a person is asked once,
and the first run waits for the answer."""

from collections.abc import Iterator, Sequence

from agents_manager.domain import predecessor
from agents_manager.domain.handoff import OpenQuestion
from agents_manager.domain.ids import HistoryId, RunId, TaskId
from agents_manager.domain.knowledge import EdgeKind, Node, NodeKind, NodeState
from agents_manager.domain.payload import NeedsInfo, Question
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import Prompt, PromptStatus, ResumePoint
from agents_manager.domain.question import Ask
from agents_manager.domain.task import Task
from agents_manager.domain.words import normal
from agents_manager.flow import asking
from agents_manager.flow.memory import handed
from agents_manager.flow.ports import Services, Tx

MOST = 20


def ask_first(tx: Tx, s: Services, task: Task, run_id: RunId, history_id: HistoryId) -> None:
    """Opens the question in the transaction that queues the run, so that it is asked once whatever
    happens then. A run that has begun is not held up any more."""
    if not task.dependencies or any(run.started_at for run in tx.runs.of_task(task.id)):
        return
    asked = [question for other in _direct(tx, task) for question in _open(tx, other)]
    if not asked or any(p.resume.holds for p in tx.prompts.pending(task.id)):
        return
    run = tx.runs.get(run_id)
    resume = ResumePoint(status=task.status, mode=run.mode, agent=run.agent, run=run.id, holds=True)
    payload = NeedsInfo(questions=tuple(asked[:MOST])).model_dump(mode="json")
    asking.open_prompt(tx, s, task, Ask(PromptType.INFO_REQUEST, payload, None), history_id, resume)


def holds(tx: Tx, task_id: TaskId) -> str | None:
    """Why a run of the task must wait, if it must."""
    waits = [p for p in tx.prompts.pending(task_id) if p.resume.holds]
    return f"It begins once prompt {waits[0].id} is answered." if waits else None


def answered(tx: Tx, before: Sequence[Task], task: Task) -> list[Prompt]:
    """What was answered when other tasks began that build on the same ones."""
    others = {other.id: other for one in before for other in tx.tasks.depending_on(one.id)}
    others.pop(task.id, None)
    return [prompt for other in others.values() for prompt in _answered(tx, other)]


def _direct(tx: Tx, task: Task) -> list[Task]:
    return [t for t in handed.predecessors(tx, task) if t.id in task.dependencies]


def _open(tx: Tx, task: Task) -> Iterator[Question]:
    """Blocking questions of a finished task that nobody has answered since."""
    handoff = handed.of_task(tx, task.id)
    blocking = predecessor.blocking(handoff) if handoff else []
    if not blocking:
        return
    nodes = handed.nodes(tx, task.id, NodeKind.QUESTION)
    known = {
        question["id"]
        for other in tx.tasks.depending_on(task.id)
        for prompt in _answered(tx, other)
        for question in prompt.payload["questions"]
    }
    for number, question in enumerate(blocking, 1):
        node = nodes.get((NodeKind.QUESTION, normal(question.question)))
        name = node.id if node else f"{task.id}-{number}"
        if name not in known and not (node and _settled(tx, node)):
            yield _asked(question, name, task)


def _asked(question: OpenQuestion, name: str, task: Task) -> Question:
    left = f'"{task.title}" ({task.id[:8]}) left this open, and it blocks what builds on it.'
    return Question(
        id=name,
        question=question.question,
        context=f"{left}\n\n{question.context}".strip(),
        suggested_answer=question.recommendation or None,
    )


def _answered(tx: Tx, task: Task) -> list[Prompt]:
    asked = tx.prompts.of_task(task.id)
    return [p for p in asked if p.resume.holds and p.status is PromptStatus.RESPONDED]


def _settled(tx: Tx, node: Node) -> bool:
    """Whether a decision answers it, or it was retired."""
    if node.state is NodeState.RETIRED:
        return True
    edges = [e for e in tx.knowledge.edges([node.id]) if e.kind is EdgeKind.ANSWERS]
    decisions = [tx.knowledge.get(e.source) for e in edges if e.target == node.id]
    return any(decision.state is not NodeState.RETIRED for decision in decisions)
