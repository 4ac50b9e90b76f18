"""People look after what was found out, and what may be wrong shows."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agents_manager.domain.handoff import Level
from agents_manager.domain.ids import PromptId
from agents_manager.domain.knowledge import EdgeKind, Node, NodeKind, NodeState
from agents_manager.domain.prompt import PromptStatus
from agents_manager.errors import Conflict, InvalidInput, KnowledgeNotFound, StaleKnowledge
from agents_manager.flow.memory import care, freshness
from agents_manager.flow.ports import Tx
from tests import repos
from tests.contract.store_values import a_node, a_prompt, a_source
from tests.tellers import TOLD, Scene, opened
from tests.worlds import ANN, BOB


@pytest.fixture
async def scene(tmp_path: Path, own_home: Path) -> AsyncIterator[Scene]:
    async with opened(tmp_path) as scene:
        yield scene


@pytest.fixture
async def gotcha(scene: Scene) -> Node:
    await scene.end(await scene.task("First"))
    return (await scene.nodes(kinds=(NodeKind.GOTCHA,)))[0]


async def deeds(scene: Scene) -> list[tuple[str, str]]:
    entries = await scene.s.store.read(
        lambda tx: tx.audit.page(since=None, who=None, what="knowledge", before=None, limit=9)
    )
    return [(entry.what.partition(".")[2], entry.who) for entry in reversed(entries)]


async def add(scene: Scene, *nodes: Node) -> None:
    def write(tx: Tx) -> None:
        for node in nodes:
            tx.knowledge.add(node)

    await scene.s.store.write(write)


def of(scene: Scene, id: str, text: str, **fields: Any) -> Node:
    filled: dict[str, Any] = {"project_id": scene.project.id, "sources": (a_source(None),)}
    return a_node(id, text=text, **{**filled, **fields})


async def test_a_change_keeps_what_was_said_and_who_said_it(scene: Scene, gotcha: Node) -> None:
    s = scene.s
    done = await s.store.write(
        lambda tx: care.edit(
            tx,
            s,
            gotcha.id,
            ANN,
            text="  The API takes 50 requests a minute ",
            tags=["Rate Limit"],
            severity="low",
            detail={"mitigation": "Wait"},
            expect_version=1,
        )
    )
    assert (done.text, done.tags) == ("The API takes 50 requests a minute", ("rate-limit",))
    assert (done.severity, done.version) == (Level.LOW, 2)
    assert done.detail == {"discovered_in": "the payment API", "mitigation": "Wait"}
    assert [source.words for source in done.sources] == [gotcha.text]
    assert await deeds(scene) == [("edited", "ann")]


async def test_the_later_of_two_who_saw_the_same_is_refused(scene: Scene, gotcha: Node) -> None:
    s = scene.s
    await s.store.write(
        lambda tx: care.edit(tx, s, gotcha.id, ANN, text="As Ann has it", expect_version=1)
    )
    for act in (
        lambda tx: care.edit(tx, s, gotcha.id, BOB, text="As Bob has it", expect_version=1),
        lambda tx: care.retire(tx, s, gotcha.id, BOB, "No", expect_version=1),
        lambda tx: care.confirm(tx, s, gotcha.id, BOB, expect_version=1),
    ):
        with pytest.raises(StaleKnowledge, match="version 2 now"):
            await s.store.write(act)
    [kept] = await scene.nodes(kinds=(NodeKind.GOTCHA,))
    assert kept.text == "As Ann has it"
    assert await deeds(scene) == [("edited", "ann")]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"text": "  "}, "needs words"),
        ({"text": "x" * 2001}, "2001 characters"),
        ({"severity": "severe"}, "high, medium, low"),
        ({"detail": {"mitigaton": "x"}}, "mitigation"),
        ({"txt": "x"}, "text"),
    ],
)
async def test_what_cannot_be_kept_is_named(
    scene: Scene, gotcha: Node, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        await scene.s.store.write(lambda tx: care.edit(tx, scene.s, gotcha.id, ANN, **given))


async def test_only_a_gotcha_has_a_severity_and_a_task_is_edited_itself(
    scene: Scene, gotcha: Node
) -> None:
    [pattern] = await scene.nodes(kinds=(NodeKind.PATTERN,))
    with pytest.raises(InvalidInput, match="Only a gotcha"):
        await scene.s.store.write(
            lambda tx: care.edit(tx, scene.s, pattern.id, ANN, severity="low")
        )
    [task] = await scene.nodes(kinds=(NodeKind.TASK,))
    with pytest.raises(InvalidInput, match="am task edit"):
        await scene.s.store.write(lambda tx: care.edit(tx, scene.s, task.id, ANN, text="Mine"))
    with pytest.raises(KnowledgeNotFound):
        await scene.s.store.write(lambda tx: care.confirm(tx, scene.s, "nothing", ANN))


async def test_two_that_contradict_each_other_are_in_doubt_until_one_goes(
    scene: Scene, gotcha: Node
) -> None:
    s = scene.s
    await add(scene, of(scene, "other-1", "No limit", kind=NodeKind.GOTCHA))
    done = await s.store.write(
        lambda tx: care.contradict(tx, s, gotcha.id, ANN, "other-1", "Both cannot be")
    )
    assert done.state is NodeState.CONTRADICTED
    queue = await s.store.read(lambda tx: care.queue(tx, scene.project))
    pairs = {(one.node.id, one.other.id) for one in queue if one.other}
    assert pairs == {(gotcha.id, "other-1"), ("other-1", gotcha.id)}
    assert all("says otherwise" in one.reason for one in queue)
    edges = await s.store.read(lambda tx: tx.knowledge.edges(["other-1"]))
    assert [edge.kind for edge in edges] == [EdgeKind.CONTRADICTS]

    await s.store.write(lambda tx: care.retire(tx, s, "other-1", BOB, "There is one"))
    kept = await s.store.read(lambda tx: tx.knowledge.get(gotcha.id))
    assert kept.state is NodeState.ACTIVE
    assert await s.store.read(lambda tx: care.queue(tx, scene.project)) == []
    assert await deeds(scene) == [("contradicted", "ann"), ("retired", "bob")]
    with pytest.raises(Conflict, match="retired"):
        await s.store.write(lambda tx: care.contradict(tx, s, gotcha.id, ANN, "other-1"))
    with pytest.raises(InvalidInput, match="itself"):
        await s.store.write(lambda tx: care.contradict(tx, s, gotcha.id, ANN, gotcha.id))


async def test_what_is_told_in_vain_and_what_is_there_twice_is_to_be_looked_at(
    scene: Scene,
) -> None:
    await add(
        scene,
        of(scene, "n1", "Cache the session token here"),
        of(scene, "n2", "Never cache the session token here"),
        of(scene, "n3", "Something else entirely", used=5),
        of(scene, "n4", "Another matter altogether", used=5, helpful=1),
    )
    queue = await scene.s.store.read(lambda tx: care.queue(tx, scene.project))
    assert [(one.node.id, one.other and one.other.id) for one in queue] == [
        ("n3", None),
        ("n2", "n1"),
    ]


async def test_an_answer_is_kept_as_a_decision_once(scene: Scene) -> None:
    task = await scene.task("Tokens", tags=("auth",))
    await scene.end(task, gotchas=[], patterns_discovered=[])
    question = TOLD["open_questions"][0]["question"]
    prompt = a_prompt(
        "prompt-1",
        task.id,
        payload={"questions": [{"id": "q1", "question": question}]},
        status=PromptStatus.RESPONDED,
        response={"answers": [{"question_id": "q1", "option": "Cookies", "text": None}]},
    )

    def keep(tx: Tx) -> list[Node]:
        return care.decide(tx, scene.s, prompt, ANN)

    [decision] = await scene.s.store.write(keep)
    assert [one.id for one in await scene.s.store.write(keep)] == [decision.id]
    assert (decision.kind, decision.tags) == (NodeKind.DECISION, ("auth",))
    assert decision.text == "Cookies or not? Cookies"
    [source] = decision.sources
    assert (source.task_id, source.run_id, source.by) == (task.id, None, "ann")
    edges = await scene.s.store.read(lambda tx: tx.knowledge.edges([decision.id]))
    assert [edge.kind for edge in edges] == [EdgeKind.ANSWERS]
    assert (await scene.types(task)).count("knowledge.decided") == 1
    assert await deeds(scene) == [("decided", "ann")]
    unanswered = a_prompt(PromptId("prompt-2"), task.id)
    with pytest.raises(InvalidInput, match="nothing to keep"):
        await scene.s.store.write(lambda tx: care.decide(tx, scene.s, unanswered, ANN))


async def test_what_is_stale_without_a_file_is_to_be_looked_at_too(scene: Scene) -> None:
    """Brought in from elsewhere, or left when the task went that named the file."""
    await add(scene, of(scene, "n1", "Old words", state=NodeState.STALE, sources=()))
    [one] = await scene.s.store.read(lambda tx: care.queue(tx, scene.project))
    assert one.reason.startswith("A file that it speaks of changed since")


async def test_findings_go_stale_with_their_file_and_hold_once_confirmed(scene: Scene) -> None:
    s, repo = scene.s, Path(scene.project.path)
    old = repos.sha(repo, "main")

    def found_in(file: str | None) -> Any:
        return (a_source(None, commit=old, file=file),)

    await add(
        scene,
        of(scene, "n1", "About the readme", sources=found_in("README.md")),
        of(scene, "n2", "About another", sources=found_in("other.txt")),
        of(scene, "n3", "About nothing", sources=found_in(None)),
        of(
            scene,
            "n4",
            "A lost commit",
            sources=(a_source(None, commit="9" * 40, file="README.md"),),
        ),
    )
    assert await freshness.look(s) == ["n4"], "nobody can say, so that somebody has to look"
    assert await freshness.look(s) == []

    head = repos.commit(repo, {"README.md": "Hello, all\n"})
    assert await freshness.look(s) == ["n1"]
    queue = await s.store.read(lambda tx: care.queue(tx, scene.project))
    assert {one.node.id for one in queue} == {"n1", "n4"}
    assert "README.md changed since" in queue[0].reason

    done = await s.store.write(lambda tx: care.confirm(tx, s, "n1", ANN))
    assert (done.state, done.confirmed_commit) == (NodeState.ACTIVE, head)
    repos.commit(repo, {"other.txt": "x\n"})
    assert await freshness.look(s) == ["n2"]
    repos.commit(repo, {"README.md": "Hello\n"})
    assert await freshness.look(s) == ["n1"], "it was confirmed for the file in between"
    assert await deeds(scene) == [("confirmed", "ann")]


async def test_a_project_whose_repository_is_gone_keeps_no_other_from_being_looked_at(
    scene: Scene,
) -> None:
    shutil.rmtree(scene.project.path)
    assert await freshness.look(scene.s) == []
