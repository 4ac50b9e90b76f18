"""Tasks out of files: all of them or none, none twice, and no agent is woken."""

import json
from pathlib import Path
from typing import Any

import pytest

from agents_manager import bootstrap
from agents_manager.domain.task import ArtifactType, Project, Task
from agents_manager.domain.task_list import MAX_BYTES, MAX_TASKS
from agents_manager.errors import InvalidInput
from agents_manager.flow import importing, pipelines, supervisor, tasks, transitions
from agents_manager.flow.importing import Format, Imported, ImportState
from agents_manager.flow.ports import Services, Tx
from agents_manager.settings import Settings
from tests.worlds import ANN, GREETING, World

TODO = """\
# Shop

- [ ] Door
  Paint it.
  - [ ] Buy paint
- [x] Frame
- [ ] Door

## Garden

- [ ] Fence
"""


async def take(
    s: Services, project: Project, text: str, format: Format = Format.MARKDOWN, **more: Any
) -> Imported:
    given = {"source": "TODO.md", **more}
    return await importing.import_(s, project, text, ANN, format=format, **given)


async def all_tasks(s: Services) -> dict[str, Task]:
    def read(tx: Tx) -> list[Task]:
        return tx.tasks.page(project=None, status=None, after=None, limit=2_000)

    return {task.id: task for task in reversed(await s.store.read(read))}


async def test_a_list_is_imported_once(world: World) -> None:
    s, shop = world.s, world.project
    shown = await take(s, shop, TODO, dry_run=True)
    assert {item.state for item in shown.items} == {ImportState.TO_MAKE}
    assert await all_tasks(s) == {}

    done = await take(s, shop, TODO)
    assert (done.count(ImportState.MADE), done.skipped) == (4, 1)
    made = await all_tasks(s)
    assert [task.title for task in made.values()] == ["Door", "Buy paint", "Door", "Fence"]
    door, paint, _, fence = made.values()
    assert (door.description, door.dependencies) == ("Paint it.", (paint.id,))
    assert fence.tags == ("garden",)
    assert [item.task_id for item in done.items] == list(made)
    links = await s.store.read(lambda tx: tx.tasks.artifacts(door.id, ArtifactType.LINK))
    assert [(link.label, link.data) for link in links] == [("TODO.md: Door", {"place": "line 3"})]

    again = await take(s, shop, TODO)
    assert {item.state for item in again.items} == {ImportState.ALREADY_THERE}
    assert [item.task_id for item in again.items] == list(made)
    longer = await take(s, shop, f"- [ ] Gate\n{TODO}\n  - [ ] Hinge\n")
    states = {item.title: item.state for item in longer.items}
    assert states == {
        **dict.fromkeys(("Door", "Buy paint", "Fence"), ImportState.ALREADY_THERE),
        **dict.fromkeys(("Gate", "Hinge"), ImportState.MADE),
    }
    other = await take(s, shop, "- [ ] Door", source="other.md")
    assert other.count(ImportState.MADE) == 1
    assert len(await all_tasks(s)) == 7


async def test_no_import_wakes_an_agent(world: World) -> None:
    document = json.loads(json.dumps(world.s.built_in["simple"]))
    document |= {"id": "eager", "name": "Eager"}
    start = next(t for t in document["transitions"] if t["from"] == "open")
    document["transitions"].append({**start, "id": "at-once", "trigger": "auto", "guards": []})
    await pipelines.add(world.s, document)
    script = f"```agent-script\n{json.dumps(GREETING)}\n```".replace('"', '""')
    sheet = f'title,description,pipeline\nDoor,"{script}",eager\nRoof,"{script}",eager\n'
    done = await take(world.s, world.project, sheet, Format.CSV)
    await supervisor.look(world.s)
    made = await all_tasks(world.s)
    assert [(task.title, task.status) for task in made.values()] == [
        ("Door", "open"),
        ("Roof", "open"),
    ]
    for task in made.values():
        assert await world.history(task) == []
        assert (await world.view(task)).runs == []
        assert await world.types(task) == ["task.created"]

    # The same edge is taken as soon as the engine looks at it.
    door = made[done.items[0].task_id or ""]
    await world.s.store.write(lambda tx: transitions.recheck(tx, world.s, door.id))
    assert (await world.until(door, "review")).runs


FAULTY: dict[str, tuple[Format, str, list[str]]] = {
    "markdown": (
        Format.MARKDOWN,
        f"- [ ] Good\n- [ ]\n- [ ] {'x' * 201}\n",
        ["line 2: title: a task needs a title", "line 3: title: at most 200 characters"],
    ),
    "csv": (
        Format.CSV,
        "title,priority,pipeline,depends_on\n"
        "Good,,,\nA,hihg,,\nB,,simpel,\nC,,,Nowhere\nD,,,e\nE,,,D\n",
        [
            'line 6: a task cannot wait for itself: "D" (line 6) waits for "E" (line 7)',
            'line 3: priority: there is no "hihg". Did you mean "high"?',
            'line 4: pipeline: There is no pipeline "simpel".',
            "line 5: depends_on: nothing in the list is called so.",
        ],
    ),
    "json": (Format.JSON, "[1, {}]", ["document 1: it is no object", "document 2: it is no task"]),
    "broken json": (Format.JSON, "{", ["it is not valid JSON: Expecting property name"]),
    "too many dependencies": (
        Format.MARKDOWN,
        "- [ ] All\n" + "".join(f"  - [ ] {n}\n" for n in range(101)),
        ["line 1: dependencies: at most 100"],
    ),
    "half a letter": (Format.MARKDOWN, "- [ ] \ud800", ["line 1: title: a text holds half"]),
}


@pytest.mark.parametrize(("format", "text", "faults"), FAULTY.values(), ids=FAULTY.keys())
async def test_a_fault_refuses_all_of_it(
    client: tuple[Services, Project], format: Format, text: str, faults: list[str]
) -> None:
    for dry_run in (True, False):
        with pytest.raises(InvalidInput, match="Nothing was imported") as refused:
            await take(*client, text, format, dry_run=dry_run)
        told = refused.value.details
        assert [one for one, fault in zip(told, faults, strict=True) if fault not in one] == []
    assert await all_tasks(client[0]) == {}


async def test_a_list_is_bounded(client: tuple[Services, Project]) -> None:
    many = "".join(f"- [ ] Task {n}\n" for n in range(MAX_TASKS))
    for text, says in (
        (many + "- [ ] One more", f"1001 tasks, at most {MAX_TASKS}"),
        ("- [ ] A\n" + "x" * MAX_BYTES, f"at most {MAX_BYTES}"),
    ):
        with pytest.raises(InvalidInput, match=says):
            await take(*client, text)
    with pytest.raises(InvalidInput) as refused:
        await take(*client, "- [ ]\n" * 60)
    assert refused.value.details[-1] == "and 10 more"
    assert (await take(*client, many)).count(ImportState.MADE) == MAX_TASKS
    assert [t.title for t in (await all_tasks(client[0])).values()][-1] == f"Task {MAX_TASKS - 1}"


async def test_documents_that_belong_together_stay_together(
    client: tuple[Services, Project],
) -> None:
    s, project = client

    def document(id: str, title: str, *before: str) -> dict[str, Any]:
        words = {"title": title, "dependencies": list(before), "pipeline": "simple"}
        told = {"format": "agents-manager/task", "version": 1}
        return {**told, "task": words, "about": {"id": id}}

    both = json.dumps([document("a1", "Hang", "b1", "gone0000"), document("b1", "Paint")])
    done = await take(s, project, both, Format.JSON)
    hang, paint = (await all_tasks(s)).values()
    assert (hang.dependencies, hang.pipeline_id) == ((paint.id,), "simple")
    assert done.items[0].left_out == ("gone0000",)
    renamed = json.dumps(document("b1", "Paint"))
    assert (await take(s, project, renamed, Format.JSON, source="x.json")).items[0].task_id == (
        paint.id
    )


@pytest.fixture
async def client(tmp_path: Path, repo: Path) -> Any:
    async with bootstrap.client(Settings(tmp_path / "home", None)) as program:
        yield program.services, await tasks.add_project(program.services, repo, None, None)
