"""What was found out, the same on both databases."""

from dataclasses import replace
from typing import Any

import pytest

from agents_manager.domain import recall
from agents_manager.domain.handoff import Level
from agents_manager.domain.ids import ProjectId, RunId, TaskId
from agents_manager.domain.knowledge import (
    STANDING,
    Edge,
    EdgeKind,
    Node,
    NodeKind,
    NodeState,
    Query,
    Use,
)
from agents_manager.errors import BlockerNotFound, KnowledgeNotFound, StaleKnowledge
from agents_manager.flow.ports import Tx
from agents_manager.redaction import Redactor
from agents_manager.store.database import Database, open_database
from tests.contract.store_values import (
    NOW,
    a_blocker,
    a_file_note,
    a_handoff,
    a_node,
    a_project,
    a_run,
    a_source,
    a_task,
    an_effect,
    furnish,
    later,
)

SHOP = ProjectId("project-1")
T1, T2 = TaskId("task-1"), TaskId("task-2")


def set_up(tx: Tx, *nodes: Node) -> None:
    furnish(tx, "task-1", "task-2")
    for task in ("task-1", "task-2"):
        tx.effects.add(an_effect(f"effect-{task}", task))
        tx.runs.add(a_run(f"run-{task[-1]}", task, effect_id=f"effect-{task}"))
    for node in nodes:
        tx.knowledge.add(node)


async def found(store: Database, limit: int = 20, after: str | None = None, **query: Any) -> str:
    asked = Query(**{"project_id": SHOP, **query})
    nodes = await store.read(lambda tx: tx.knowledge.search(asked, limit=limit, after=after))
    return " ".join(node.id for node in nodes)


async def test_a_node_comes_back_as_it_was_kept(any_store: Database) -> None:
    node = a_node(
        detail={"mitigation": "größer", "blocking": True},
        severity=Level.HIGH,
        kind=NodeKind.GOTCHA,
        sources=(a_source(), a_source("task-2", file=None, lines=None, run_id=None, words="So")),
        confirmed_at=later(3),
        confirmed_commit="b" * 40,
    )
    await any_store.write(lambda tx: set_up(tx, node))
    assert await any_store.read(lambda tx: tx.knowledge.get("node-1")) == node
    assert await any_store.read(lambda tx: tx.knowledge.find("node")) == node
    assert await any_store.read(lambda tx: tx.knowledge.named(["node-1", "gone"])) == [node]
    with pytest.raises(KnowledgeNotFound, match="nothing"):
        await any_store.read(lambda tx: tx.knowledge.find("nothing"))


@pytest.mark.parametrize(
    ("text", "hits"),
    [
        ("getCurrentUser", "n1"),
        ("current user", "n1"),
        ("AUTHCON", "n1"),
        ("curr us", "n1"),
        ("rate", "n3 n2"),
        ("rate limit 100", "n2"),
        ("Größe", "n3"),
        ("groesse", ""),
        ("src/auth/jwt.ts", "n1"),
        ("payment", "n2"),
        ("user-state", "n1"),
        ("nothing of it", ""),
    ],
)
async def test_nodes_are_found_by_words_and_beginnings(
    any_store: Database, text: str, hits: str
) -> None:
    await any_store.write(lambda tx: set_up(tx, *THREE))
    assert sorted((await found(any_store, text=text)).split()) == sorted(hits.split())


THREE = (
    a_node("n1"),
    a_node(
        "n2",
        kind=NodeKind.GOTCHA,
        severity=Level.HIGH,
        text="The rate limit is 100/min",
        detail={"mitigation": "Try again", "discovered_in": "payment API"},
        tags=("api", "auth"),
        sources=(a_source("task-2", file="src/pay.py"),),
    ),
    a_node(
        "n3",
        kind=NodeKind.QUESTION,
        text="Which rate of the Größe?",
        detail={},
        tags=(),
        sources=(a_source("task-2", file=None),),
        state=NodeState.STALE,
    ),
)


@pytest.mark.parametrize(
    "text",
    [
        '"',
        "' OR 1=1 --",
        "AND",
        "NEAR(",
        "words:x",
        "a* OR b*",
        "^",
        "!!!",
        "-",
        ":*",
        "\\",
        "&|!<->",
    ],
)
async def test_no_sign_of_a_query_is_more_than_a_sign(any_store: Database, text: str) -> None:
    await any_store.write(lambda tx: set_up(tx, *THREE))
    assert await found(any_store, text=text) == ""
    fits = await any_store.read(
        lambda tx: tx.knowledge.ranked(Query(project_id=SHOP), [text], limit=5)
    )
    assert fits == []


async def test_what_is_asked_for_must_all_be_there(any_store: Database) -> None:
    await any_store.write(lambda tx: set_up(tx, *THREE))
    assert await found(any_store) == "n3 n2 n1"
    assert await found(any_store, tags=("auth",)) == "n2 n1"
    assert await found(any_store, tags=("auth", "api")) == "n2"
    assert await found(any_store, kinds=(NodeKind.GOTCHA, NodeKind.QUESTION)) == "n3 n2"
    assert await found(any_store, files=("src/auth/jwt.ts", "nowhere")) == "n1"
    assert await found(any_store, files=("src",)) == "n2 n1"
    assert await found(any_store, files=("src/au",)) == ""
    assert await found(any_store, states=(NodeState.STALE,)) == "n3"
    assert await found(any_store, task_id=T2) == "n3 n2"
    assert await found(any_store, text="rate", tags=("api",), task_id=T2) == "n2"
    assert await found(any_store, project_id=None) == "n3 n2 n1"
    assert await found(any_store, project_id=ProjectId("project-1-b"), text="rate") == ""
    tags = await any_store.read(lambda tx: tx.knowledge.tags(SHOP))
    assert tags == {"api": 1, "auth": 2, "user-state": 1}


@pytest.mark.parametrize("text", ["", "limit"])
async def test_pages_hold_each_node_once(any_store: Database, text: str) -> None:
    texts = ["limit", "limit of it", "limit of it all", "limit", "no limit is a limit"]
    nodes = [a_node(f"n{i}", text=text, detail={}) for i, text in enumerate(texts)]
    await any_store.write(lambda tx: set_up(tx, *nodes))
    whole = (await found(any_store, text=text)).split()
    assert sorted(whole) == [f"n{i}" for i in range(5)]
    pages: list[str] = []
    while page := await found(any_store, 2, pages[-1] if pages else None, text=text):
        pages += page.split()
    assert pages == whole


async def test_what_was_asked_for_says_why_a_node_fits(any_store: Database) -> None:
    await any_store.write(lambda tx: set_up(tx, *THREE))
    query = Query(project_id=SHOP, tags=("api",), files=("src/auth/jwt.ts",))
    fits = await any_store.read(
        lambda tx: tx.knowledge.ranked(query, ["rate", "limit", "zebra"], limit=9)
    )
    assert {fit.node.id: (fit.words, fit.tags, fit.files) for fit in fits} == {
        "n2": (("rate", "limit"), ("api",), ()),
        "n3": (("rate",), (), ()),
        "n1": ((), (), ("src/auth/jwt.ts",)),
    }
    assert fits[0].node.id == "n2"
    by_text = {fit.node.id: fit.text for fit in fits}
    assert by_text["n2"] == 1.0
    assert 0 < by_text["n3"] < 0.5, "the word that two nodes have says less"
    assert by_text["n1"] == 0.0
    only = replace(query, kinds=(NodeKind.QUESTION,))
    fits = await any_store.read(lambda tx: tx.knowledge.ranked(only, ["rate"], limit=9))
    assert [fit.node.id for fit in fits] == ["n3"]


async def test_other_projects_and_what_was_retired_are_not_told(any_store: Database) -> None:
    other = a_node("other", project_id=ProjectId("project-1-b"))

    def write(tx: Tx) -> None:
        set_up(tx, a_node(), a_node("old", state=NodeState.RETIRED))
        tx.projects.add(a_project("project-1-b", path="/b"))
        tx.tasks.add(a_task("task-b", project_id=ProjectId("project-1-b")))
        tx.knowledge.add(replace(other, sources=(a_source("task-b"),)))

    await any_store.write(write)
    fits = await any_store.read(
        lambda tx: tx.knowledge.ranked(
            Query(project_id=SHOP, tags=("auth",), files=("src/auth/jwt.ts",)), ["user"], limit=9
        )
    )
    assert [fit.node.id for fit in fits] == ["node-1"]
    assert await found(any_store, text="user") == "node-1"


@pytest.mark.parametrize("kinds", [(), recall.KINDS, (NodeKind.GOTCHA, NodeKind.QUESTION)])
async def test_what_is_retired_and_comes_back_is_found_as_what_it_is(
    any_store: Database, kinds: tuple[NodeKind, ...]
) -> None:
    def fitting(tx: Tx) -> tuple[list[str], list[str]]:
        standing, retired = (
            tx.knowledge.ranked(
                Query(project_id=SHOP, kinds=kinds, states=states), ["rate"], limit=5
            )
            for states in (STANDING, (NodeState.RETIRED,))
        )
        return [fit.node.id for fit in standing], [fit.node.id for fit in retired]

    def change(tx: Tx, state: NodeState) -> tuple[list[str], list[str]]:
        fitting(tx)
        tx.knowledge.update("n2", NOW, state=state)
        return fitting(tx)

    await any_store.write(lambda tx: set_up(tx, *THREE))
    retired = await any_store.write(lambda tx: change(tx, NodeState.RETIRED))
    assert retired == (["n3"], ["n2"])
    assert await any_store.read(fitting) == retired
    assert await any_store.write(lambda tx: change(tx, NodeState.STALE)) == (["n3", "n2"], [])
    assert await any_store.write(lambda tx: change(tx, NodeState.ACTIVE)) == (["n3", "n2"], [])


async def test_what_was_added_since_is_found_in_the_same_transaction(any_store: Database) -> None:
    def add(tx: Tx) -> list[str]:
        set_up(tx, THREE[1])
        asked = Query(project_id=SHOP)
        assert len(tx.knowledge.ranked(asked, ["rate"], limit=5)) == 1
        tx.knowledge.add(THREE[2])
        return [fit.node.id for fit in tx.knowledge.ranked(asked, ["rate"], limit=5)]

    assert await any_store.write(add) == ["n3", "n2"]


async def test_a_change_is_found_by_its_new_words_alone(any_store: Database) -> None:
    await any_store.write(lambda tx: set_up(tx, a_node(detail={}, sources=())))
    changed = await any_store.write(
        lambda tx: tx.knowledge.update(
            "node-1", later(1), version=1, text="Ask the session", tags=("session",)
        )
    )
    assert (changed.text, changed.tags, changed.version) == ("Ask the session", ("session",), 2)
    assert (changed.created_at, changed.updated_at) == (NOW, later(1))
    assert await found(any_store, text="getCurrentUser") == ""
    assert await found(any_store, tags=("auth",)) == ""
    assert await found(any_store, text="session", tags=("session",)) == "node-1"
    same = await any_store.read(
        lambda tx: tx.knowledge.same(SHOP, NodeKind.PATTERN, " ask the  SESSION. ")
    )
    assert same is not None
    with pytest.raises(StaleKnowledge, match="version 2"):
        await any_store.write(
            lambda tx: tx.knowledge.update("node-1", later(2), version=1, text="Mine")
        )


async def test_the_same_is_the_same_kind_and_project(any_store: Database) -> None:
    await any_store.write(lambda tx: set_up(tx, a_node(text="A limit of -1")))

    async def same(kind: NodeKind, text: str, project: str = "project-1") -> Node | None:
        of = ProjectId(project)
        return await any_store.read(lambda tx: tx.knowledge.same(of, kind, text))

    assert await same(NodeKind.PATTERN, "a  limit of -1!")
    assert await same(NodeKind.PATTERN, "A limit of 1") is None
    assert await same(NodeKind.GOTCHA, "A limit of -1") is None
    assert await same(NodeKind.PATTERN, "A limit of -1", "project-2") is None


async def test_a_source_brings_its_file_and_words(any_store: Database) -> None:
    await any_store.write(lambda tx: set_up(tx, a_node()))
    second = a_source("task-2", file="lib/session.py", words="Take the zebra")

    def write(tx: Tx) -> None:
        tx.knowledge.add_source("node-1", second)
        tx.knowledge.add_source("node-1", a_source("task-2", file="lib/session.py"))
        tx.knowledge.add_files("node-1", ["docs/x.md", "docs/x.md", "lib/session.py"])
        tx.knowledge.say("node-1", "What it was")

    await any_store.write(write)
    node = await any_store.read(lambda tx: tx.knowledge.get("node-1"))
    assert [s.words for s in node.sources] == ["What it was", "Take the zebra", "What it was"]
    assert await found(any_store, files=("lib/session.py",)) == "node-1"
    assert await found(any_store, files=("docs",)) == "node-1"
    assert await found(any_store, text="zebra") == "node-1"


async def test_a_task_has_one_node_of_its_own(any_store: Database) -> None:
    task = a_node("t", kind=NodeKind.TASK)
    await any_store.write(lambda tx: set_up(tx, a_node(), task))
    assert await any_store.read(lambda tx: tx.knowledge.of_task(T1)) == task
    assert await any_store.read(lambda tx: tx.knowledge.of_task(T2)) is None


async def test_an_edge_is_there_once(any_store: Database) -> None:
    edge = Edge(source="n1", target="n2", kind=EdgeKind.CONTRADICTS)

    def write(tx: Tx) -> None:
        set_up(tx, *THREE)
        tx.knowledge.add_edge(edge)
        tx.knowledge.add_edge(edge)

    await any_store.write(write)
    for ids, edges in ((["n1"], [edge]), (["n2", "n3"], [edge]), (["n3"], []), ([], [])):
        assert await any_store.read(lambda tx, ids=ids: tx.knowledge.edges(ids)) == edges


async def test_memory_is_what_is_severe_and_stands(any_store: Database) -> None:
    severe = {"kind": NodeKind.GOTCHA, "severity": Level.HIGH}
    nodes = (
        a_node("n1", **severe),
        a_node("n2", **severe, state=NodeState.STALE),
        a_node("n3", **severe, state=NodeState.RETIRED),
        a_node("n4", kind=NodeKind.GOTCHA, severity=Level.LOW),
        a_node("n5", severity=None),
    )
    await any_store.write(lambda tx: set_up(tx, *nodes))
    memory = await any_store.read(lambda tx: tx.knowledge.memory(SHOP, limit=9))
    assert [node.id for node in memory] == ["n2", "n1"]
    assert len(await any_store.read(lambda tx: tx.knowledge.memory(SHOP, limit=1))) == 1


async def test_what_is_in_doubt_or_of_no_use_is_found(any_store: Database) -> None:
    nodes = (
        a_node("n1"),
        a_node("n2", state=NodeState.STALE),
        a_node("n3", state=NodeState.CONTRADICTED),
        a_node("n4", used=5),
        a_node("n5", used=5, helpful=1),
        a_node("n6", used=5, state=NodeState.RETIRED),
    )
    await any_store.write(lambda tx: set_up(tx, *nodes))
    doubtful = await any_store.read(lambda tx: tx.knowledge.doubtful(SHOP, limit=9))
    assert [node.id for node in doubtful] == ["n3", "n2", "n4"]
    assert len(await any_store.read(lambda tx: tx.knowledge.doubtful(SHOP, limit=1))) == 1


async def test_active_findings_are_found_by_the_files_they_come_from(any_store: Database) -> None:
    nodes = (*THREE, a_node("n4", kind=NodeKind.TASK), a_node("n5", state=NodeState.RETIRED))
    await any_store.write(lambda tx: set_up(tx, *nodes))

    async def about(paths: list[str] | None) -> list[str]:
        found = await any_store.read(lambda tx: tx.knowledge.about(SHOP, paths))
        return [node.id for node in found]

    assert await about(["src/auth/jwt.ts", "else"]) == ["n1"]
    assert await about([]) == []
    assert await about(None) == ["n1", "n2"]


async def test_it_is_known_where_the_last_look_was(any_store: Database) -> None:
    await any_store.write(set_up)
    assert await any_store.read(lambda tx: tx.knowledge.looked(SHOP)) is None
    for commit in ("a" * 40, "b" * 40):
        await any_store.write(lambda tx, c=commit: tx.knowledge.look(SHOP, c))
        assert await any_store.read(lambda tx: tx.knowledge.looked(SHOP)) == commit


async def test_uses_and_what_came_of_them_are_counted_once(any_store: Database) -> None:
    await any_store.write(lambda tx: set_up(tx, *THREE))
    uses = [
        Use(run_id=RunId("run-1"), node_id="n1", score=0.5, why=("tag auth",), at=NOW),
        Use(run_id=RunId("run-1"), node_id="n2", score=0.75, why=("tag auth", "x"), at=NOW),
    ]
    for _ in range(2):
        await any_store.write(lambda tx: tx.knowledge.use(uses))
        await any_store.write(lambda tx: tx.knowledge.helped(RunId("run-1")))
        await any_store.write(lambda tx: tx.knowledge.helped(RunId("run-2")))
    assert await any_store.read(lambda tx: tx.knowledge.uses([RunId("run-1")])) == uses[::-1]
    nodes = await any_store.read(lambda tx: tx.knowledge.named(["n1", "n2", "n3"]))
    assert [(node.used, node.helpful) for node in nodes] == [(1, 1), (1, 1), (0, 0)]


async def test_the_handoff_of_a_run_is_replaced(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        set_up(tx)
        tx.knowledge.keep_handoff(a_handoff(completeness=0.1))
        tx.knowledge.keep_handoff(a_handoff())

    await any_store.write(write)
    assert await any_store.read(lambda tx: tx.knowledge.handoff(RunId("run-1"))) == a_handoff()
    assert await any_store.read(lambda tx: tx.knowledge.handoffs(T1)) == [a_handoff()]
    assert await any_store.read(lambda tx: tx.knowledge.handoff(RunId("run-2"))) is None


async def test_the_map_goes_by_path_and_the_newest_first(any_store: Database) -> None:
    notes = [
        a_file_note("f1", "src/a.py"),
        a_file_note("f2", "src/a.py", at=later(1)),
        a_file_note("f3", "src/a.py", at=later(1)),
        a_file_note("f4", "src-b/c.py"),
        a_file_note("f5", "README.md"),
    ]

    def write(tx: Tx) -> None:
        set_up(tx)
        for note in notes:
            tx.knowledge.add_file(note)

    await any_store.write(write)

    async def ids(**asked: Any) -> str:
        found = await any_store.read(lambda tx: tx.knowledge.files(SHOP, **asked))
        return " ".join(note.id for note in found)

    assert await ids(limit=9) == "f5 f4 f3 f2 f1"
    assert await ids(limit=9, under="src") == await ids(limit=9, under="src/") == "f3 f2 f1"
    assert await ids(limit=9, under="src/a.py") == "f3 f2 f1"
    assert await ids(limit=2, after="f4") == "f3 f2"
    assert await ids(limit=2, after="f2", under="src") == "f1"


async def test_a_blocker_blocks_until_it_is_resolved(any_store: Database) -> None:
    blocker = a_blocker()

    def write(tx: Tx) -> None:
        set_up(tx)
        tx.knowledge.add_blocker(blocker)

    await any_store.write(write)
    assert await any_store.read(lambda tx: tx.knowledge.blocking(T2)) == [blocker]
    assert await any_store.read(lambda tx: tx.knowledge.blocking(T1)) == []
    for project, count in ((SHOP, 1), (None, 1), (ProjectId("project-2"), 0)):
        got = await any_store.read(lambda tx, p=project: tx.knowledge.blockers(p))
        assert len(got) == count

    def resolve(tx: Tx) -> list[bool]:
        return [tx.knowledge.resolve("blocker-1", later(9), "ada", "Here it is") for _ in range(2)]

    assert await any_store.write(resolve) == [True, False]
    assert await any_store.read(lambda tx: tx.knowledge.blocking(T2)) == []
    assert await any_store.read(lambda tx: tx.knowledge.blockers(SHOP)) == []
    [over] = await any_store.read(lambda tx: tx.knowledge.blockers(SHOP, resolved=True))
    assert over == replace(blocker, resolved_at=later(9), resolved_by="ada", note="Here it is")
    with pytest.raises(BlockerNotFound):
        await any_store.read(lambda tx: tx.knowledge.find_blocker("blocker-2"))


async def test_what_a_deleted_task_alone_told_goes_with_it(any_store: Database) -> None:
    shared = a_node(
        "n2",
        text="As the first said",
        sources=(
            a_source(),
            a_source("task-2", words="As the second said", file="src/second.py"),
        ),
    )
    edited = replace(
        shared,
        id="n4",
        text="As a person put it",
        sources=(a_source(words="As the first said"), shared.sources[1]),
    )
    nodes = (a_node("n1"), shared, a_node("n3", sources=(a_source("task-2"),)), edited)

    def write(tx: Tx) -> None:
        set_up(tx, *nodes)
        tx.knowledge.keep_handoff(a_handoff())
        tx.knowledge.add_file(a_file_note("f1", "src/a.py"))
        tx.knowledge.add_edge(Edge(source="n2", target="n1", kind=EdgeKind.FOUND_BY))
        tx.knowledge.add_edge(Edge(source="n3", target="n2", kind=EdgeKind.CONTRADICTS))
        tx.knowledge.add_blocker(a_blocker())
        tx.knowledge.add_blocker(a_blocker("b2", "task-2", blocking_tasks=(T1, T2)))
        for run in ("run-1", "run-2"):
            use = Use(run_id=RunId(run), node_id="n1", score=1, why=(), at=NOW)
            tx.knowledge.use([use, replace(use, node_id="n3")])

    await any_store.write(write)
    await any_store.write(lambda tx: tx.tasks.delete(T1))
    assert await found(any_store) == "n4 n3 n2"
    assert (await any_store.read(lambda tx: tx.knowledge.get("n4"))).text == edited.text
    kept = await any_store.read(lambda tx: tx.knowledge.get("n2"))
    assert kept.text == "As the second said"
    assert [(s.task_id, s.words) for s in kept.sources] == [(T2, "")]
    assert await found(any_store, text="first") == ""
    assert set((await found(any_store, text="second said")).split()) == {"n2", "n4"}
    assert await found(any_store, files=("src/auth/jwt.ts",)) == "n3"
    assert len(await any_store.read(lambda tx: tx.knowledge.edges(["n1", "n2", "n3"]))) == 1
    assert await any_store.read(lambda tx: tx.knowledge.files(SHOP, limit=9)) == []
    [left] = await any_store.read(lambda tx: tx.knowledge.blockers(SHOP))
    assert (left.id, left.blocking_tasks) == ("b2", (T2,))
    uses = await any_store.read(lambda tx: tx.knowledge.uses([RunId("run-1"), RunId("run-2")]))
    assert [(use.run_id, use.node_id) for use in uses] == [("run-2", "n3")]


async def test_a_project_goes_with_what_was_brought_into_it(any_store: Database) -> None:
    brought = a_node("n1", sources=(a_source(None, run_id=None, by="ada"),))
    await any_store.write(lambda tx: set_up(tx, brought))

    def remove(tx: Tx) -> None:
        tx.knowledge.look(SHOP, "a" * 40)
        for task in (T1, T2):
            tx.tasks.delete(task)
        tx.projects.delete(SHOP)

    await any_store.write(remove)
    assert await found(any_store, project_id=None) == ""


async def test_no_part_of_a_secret_is_kept_in_words(ready_address: str) -> None:
    secret = "Zx-Secret-Q1.value_OfKey"
    store = open_database(ready_address, redactor=Redactor([secret]))
    node = a_node(text=f"Send {secret} along", tags=(), detail={"mitigation": secret})
    await store.write(lambda tx: set_up(tx, node))
    kept = await store.read(lambda tx: tx.knowledge.get("node-1"))
    assert kept.text == "Send [redacted] along"
    for part in ("zx", "secret", "q1", "ofkey"):
        assert await found(store, text=part) == ""
    assert await found(store, text="redacted") == "node-1"
    store.close()
