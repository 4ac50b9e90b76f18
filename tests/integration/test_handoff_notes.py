"""Handoffs in free words: shown field by field, kept when somebody says so, given to an agent only
then, too."""

import pytest

from agents_manager.domain import handoff_notes
from agents_manager.domain.knowledge import Node, NodeKind, Query
from agents_manager.domain.task import Task
from agents_manager.errors import InvalidInput
from agents_manager.flow import audit, importing, task_files
from agents_manager.flow import handoff_notes as notes
from agents_manager.flow.importing import Format
from agents_manager.flow.ports import Tx
from tests.unit.test_task_file import TEXT, YAML
from tests.worlds import ANN, World

WORDS = "Watch out for wet paint - wait a day. Created src/door.py. It went fine."
FILE = TEXT.replace(f"```yaml\n{YAML}\n```", WORDS)
ANSWER = """\
Here it is:

```yaml
outcome: completed
patterns_discovered: [{pattern: Paint in the morning, location: src/door.py, applies_to: [paint]}]
```
"""


async def imported(world: World, text: str = FILE) -> Task:
    done = await importing.import_(world.s, world.project, text, ANN, format=Format.MARKDOWN)
    [item] = done.items
    assert item.note is (text == FILE)
    return await world.s.store.read(lambda tx: tx.tasks.find(item.task_id or ""))


async def found(world: World) -> list[Node]:
    query = Query(project_id=world.project.id)
    return await world.s.store.read(lambda tx: tx.knowledge.search(query, limit=9))


async def test_a_note_is_kept_when_somebody_says_so(world: World) -> None:
    task = await imported(world)
    note = await world.s.store.read(lambda tx: notes.of_task(tx, task.id))
    assert (note.words, note.task) == (WORDS, task)
    assert [one.ambiguous for one in note.migrated.said] == [None, None, "nothing tells what it is"]
    assert await found(world) == []

    kept = await world.s.store.write(lambda tx: notes.keep(tx, world.s, note, task, ANN))
    assert [(node.kind, node.text) for node in kept] == [
        (NodeKind.GOTCHA, "Watch out for wet paint")
    ]
    [source] = kept[0].sources
    assert (source.task_id, source.run_id, source.by) == (task.id, None, "ann")
    assert {node.kind for node in await found(world)} == {NodeKind.GOTCHA, NodeKind.TASK}
    deeds = await world.s.store.read(lambda tx: audit.page(tx, what="knowledge", limit=5))
    assert [one.summary for one in deeds] == [
        'kept 1 finding of a handoff note for task "Search by tag"'
    ]

    def told(tx: Tx) -> str:
        return task_files.export(tx, task)

    text = await world.s.store.read(told)
    assert "mitigation: wait a day." in text
    assert f"{notes.NOTED}\n\n{WORDS}" in text
    again = await imported(world, text.replace("Search by tag", "Another"))
    assert (await world.s.store.read(lambda tx: tx.tasks.get(again.id))).status == "open"
    with pytest.raises(InvalidInput, match="it is in fields already"):
        await world.s.store.read(lambda tx: notes.of_task(tx, task.id))
    view = await world.view(task)
    assert (view.task.status, view.runs, view.task.version) == ("open", [], 1)


async def test_a_note_against_the_rules_is_not_kept(world: World) -> None:
    task = await imported(world)
    note = notes.of_text("Created ../../etc/passwd.txt")
    with pytest.raises(InvalidInput, match="The note was not kept") as refused:
        await world.s.store.write(lambda tx: notes.keep(tx, world.s, note, task, ANN))
    assert "it leads out of the repository" in refused.value.details[0]
    assert await found(world) == []


async def test_an_agent_brings_it_into_fields_when_told(world: World) -> None:
    script = {"design": [[{"say": ANSWER}, {"outcome": "design_ready"}]]}
    world.configure({"agents": {"scripted": {"script": script}}})
    subject = await imported(world)
    note = await world.s.store.read(lambda tx: notes.of_task(tx, subject.id))
    asked = await notes.ask(world.s, world.project, note, ANN)
    assert asked.title == 'Structure the handoff note of "Search by tag"'
    assert WORDS in asked.description
    assert (await notes.ask(world.s, world.project, note, ANN)).id == asked.id
    view = await world.until(asked, "design_review")
    assert len(view.runs) == 1

    answer = await world.s.store.read(lambda tx: notes.of_task(tx, asked.id))
    assert answer.task is not None
    assert answer.task.id == subject.id
    assert await found(world) == []
    about = answer.task
    [node] = await world.s.store.write(lambda tx: notes.keep(tx, world.s, answer, about, ANN))
    assert (node.kind, node.text, node.tags) == (
        NodeKind.PATTERN,
        "Paint in the morning",
        ("paint",),
    )


async def test_what_an_agent_wrote_is_held_to_the_rules() -> None:
    for document, says in (
        ("No block.", "the document has 0 blocks of YAML"),
        (ANSWER + ANSWER, "the document has 2 blocks of YAML"),
        (ANSWER.replace("completed", "blocked"), "blockers: it is missing"),
        (ANSWER.replace("[paint]", "[Paint Job]"), "is not written right"),
        (ANSWER.replace("[paint]", "&a [*a]"), "anchors and aliases are not read"),
    ):
        held = handoff_notes.structured(handoff_notes.block(document), {})
        assert held.handoff is None
        assert says in "\n".join(map(str, held.violations))
    blocked = "blockers: [{blocker: x, impact: y, blocking_tasks: [ffff]}]"
    block = handoff_notes.block(f"```yaml\noutcome: blocked\n{blocked}\n```")
    assert "there is no task" in str(handoff_notes.structured(block, {"ffff": None}).violations[0])


async def test_there_may_be_no_note(world: World) -> None:
    task = await imported(world, TEXT)
    with pytest.raises(InvalidInput, match="it is in fields already"):
        await world.s.store.read(lambda tx: notes.of_task(tx, task.id))
    with pytest.raises(InvalidInput, match="in fields already"):
        notes.of_text(TEXT)
    with pytest.raises(InvalidInput, match="cannot be read"):
        notes.of_text(TEXT.replace("## Objective", "## Objectiv"))
    with pytest.raises(InvalidInput, match="no note to give"):
        await notes.ask(world.s, world.project, notes.of_text(" \n"), ANN)
