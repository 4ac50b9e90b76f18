"""What a task is told of what was found out before: chosen, put on record, and explained."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agents_manager.domain import recall
from agents_manager.domain.handoff import Handoff
from agents_manager.domain.knowledge import (
    STANDING,
    EdgeKind,
    Fit,
    Hit,
    LeftOut,
    Node,
    NodeKind,
    NodeState,
    Query,
    Use,
)
from agents_manager.domain.phase import Phase, active
from agents_manager.domain.predecessor import Block
from agents_manager.domain.recall import About, Chosen
from agents_manager.domain.run import Run
from agents_manager.domain.task import ArtifactType, Task
from agents_manager.errors import AgentsManagerError
from agents_manager.flow.memory import handed, ranking
from agents_manager.flow.ports import Services, Tx

POOL = 40
"""Candidates that are scored."""
MOST_RETIRED = 20
MOST_REMEMBERED = 20
"""Of the newest, that the memory is chosen from."""
ENDS = ("base_sha", "head_sha")
NOTHING = Chosen(hits=(), left_out=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    before: Sequence[Task]
    """The finished tasks that this one builds on."""
    blocks: Sequence[Block]
    phase_blocks: Sequence[Block]
    memory: Chosen
    found: Chosen
    against: Mapping[str, Node]
    """What contradicts a finding, by the finding."""

    @property
    def hits(self) -> tuple[Hit, ...]:
        """Everything that is told, each once."""
        blocks = [hit for block in (*self.blocks, *self.phase_blocks) for hit in block.hits]
        by_id = {hit.node.id: hit for hit in (*self.found.hits, *self.memory.hits, *blocks[::-1])}
        return tuple(by_id.values())[::-1]

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        told = {hit.node.id for hit in self.hits}
        blocks = [left for block in (*self.blocks, *self.phase_blocks) for left in block.left_out]
        all_left = (*self.found.left_out, *self.memory.left_out, *blocks)
        return tuple({x.node.id: x for x in all_left if x.node.id not in told}.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    run: Run
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    task: Task
    runs: tuple[Given, ...]
    """Those that were given something, the oldest first."""
    next: Recalled | None
    """What a run that began now would be told; None of a task that is finished."""


def recalled(
    tx: Tx,
    s: Services,
    task: Task,
    phases: Sequence[Phase],
    now: Phase | None,
    *,
    touched: Collection[str] = (),
    wide: bool = True,
    explain: bool = False,
) -> Recalled:
    """With `wide` off, what every agent is told and nothing else. What is only needed to explain
    the choice is looked for only then."""
    if not wide:
        memory = recall.remembered(tx.knowledge.memory(task.project_id, limit=MOST_REMEMBERED))
        return Recalled(
            before=(), blocks=(), phase_blocks=(), memory=memory, found=NOTHING, against={}
        )
    before = handed.predecessors(tx, task)
    blocks = handed.blocks(tx, before)
    of_phases = handed.phase_blocks(tx, task, phases, now)
    told = {hit.node.id for block in (*blocks, *of_phases) for hit in block.hits}
    memory = recall.remembered(tx.knowledge.memory(task.project_id, limit=MOST_REMEMBERED), told)
    told |= {hit.node.id for hit in memory.hits}
    about = _about(tx, task, now, touched)
    candidates = _candidates(tx, task, about, STANDING, POOL)
    if explain:
        candidates += _candidates(tx, task, about, (NodeState.RETIRED,), MOST_RETIRED)
    boosts = ranking.boosts(tx, s, task, about, candidates)
    answered, against = _edges(tx, [fit.node for fit in candidates])
    found = recall.chosen(
        candidates, about, told=told, answered=answered, against=against, boosts=boosts
    )
    return Recalled(
        before=before,
        blocks=blocks,
        phase_blocks=of_phases,
        memory=memory,
        found=found,
        against=against,
    )


def note(tx: Tx, s: Services, run: Run, hits: Sequence[Hit]) -> None:
    """Puts on record what is in the prompt of a run, in the transaction that keeps the prompt."""
    now = s.clock.now()
    tx.knowledge.use(
        [
            Use(run_id=run.id, node_id=hit.node.id, score=hit.score, why=hit.why, at=now)
            for hit in hits
        ]
    )


def explained(tx: Tx, s: Services, task_ref: str, touched: Collection[str] = ()) -> Explained:
    task = tx.tasks.find(task_ref)
    runs = tx.runs.of_task(task.id)
    uses = tx.knowledge.uses([run.id for run in runs])
    given = [
        Given(
            run=run,
            hits=tuple(
                Hit(node=tx.knowledge.get(use.node_id), score=use.score, why=use.why)
                for use in uses
                if use.run_id == run.id
            ),
        )
        for run in runs
    ]
    phases = tx.phases.of_task(task.id)
    over = tx.pipelines.get(task.pipeline_id, task.pipeline_version).is_final(task.status)
    return Explained(
        task=task,
        runs=tuple(one for one in given if one.hits),
        next=None
        if over
        else recalled(tx, s, task, phases, active(phases), touched=touched, explain=True),
    )


async def why(s: Services, task_ref: str) -> Explained:
    task = await s.store.read(lambda tx: tx.tasks.find(task_ref))
    files = await touched(s, task)
    return await s.store.read(lambda tx: explained(tx, s, task.id, files))


async def touched(s: Services, task: Task) -> list[str]:
    """The files that its work has changed so far, as far as that can be seen now."""

    def ends(tx: Tx) -> tuple[str, str, str] | None:
        changes = tx.tasks.artifacts(task.id, ArtifactType.DIFF)
        base, head = (changes[-1].data.get(end) if changes else None for end in ENDS)
        path = tx.projects.get(task.project_id).path
        return (path, base, head) if base and head else None

    known = await s.store.read(ends)
    if known is None:
        return []
    try:
        files = await s.workspaces.files(Path(known[0]), known[1], known[2])
    except (AgentsManagerError, OSError):  # A repository that is away does not keep the run.
        return []
    return [file.path for file in files]


def _about(tx: Tx, task: Task, now: Phase | None, touched: Collection[str]) -> About:
    own = handed.of_task(tx, task.id)
    files = [*touched, *(_files(own) if own else ())]
    return recall.about(task, (now.name, now.description) if now else (), files)


def _files(handoff: Handoff) -> list[str]:
    return [one.path for one in (*handoff.files_created, *handoff.files_modified)]


def _candidates(
    tx: Tx, task: Task, about: About, states: tuple[NodeState, ...], limit: int
) -> list[Fit]:
    query = Query(
        project_id=task.project_id,
        tags=about.tags,
        files=about.files,
        kinds=recall.KINDS,
        states=states,
    )
    return tx.knowledge.ranked(query, about.words, limit=limit)


def _edges(tx: Tx, nodes: Sequence[Node]) -> tuple[set[str], dict[str, Node]]:
    """The questions that a decision answers, and what contradicts a finding."""
    questions = {n.id for n in nodes if n.kind is NodeKind.QUESTION}
    disputed = {n.id for n in nodes if n.state is NodeState.CONTRADICTED}
    edges = tx.knowledge.edges(questions | disputed) if questions or disputed else []
    answered: set[str] = set()
    against: dict[str, Node] = {}
    for edge in edges:
        for one, other in ((edge.target, edge.source), (edge.source, edge.target)):
            answers = edge.kind is EdgeKind.ANSWERS and one == edge.target and one in questions
            denies = edge.kind is EdgeKind.CONTRADICTS and one in disputed
            node = tx.knowledge.get(other) if answers or denies else None
            if node is None or node.state is NodeState.RETIRED:
                continue
            if answers:
                answered.add(one)
            else:
                against[one] = node
    return answered, against
