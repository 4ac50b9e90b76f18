"""Versions of pipelines: saved once, never changed, and kept when a project's file breaks."""

import json
import os
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from agents_manager import bootstrap, documents
from agents_manager.domain.task import Project
from agents_manager.errors import InvalidInput, InvalidPipeline, PipelineNotFound
from agents_manager.flow import pipelines, tasks
from agents_manager.flow.ports import Services
from agents_manager.settings import Settings
from tests.pipeline_desk import bring, create, mine, program, project, s, shipped
from tests.repos import make_repo

__all__ = ["program", "project", "s"]


# --------------------------------------------------------------------------------------- saving


async def test_a_version_is_saved_once_and_stays_as_it_is(s: Services, project: Project) -> None:
    first = await pipelines.add(s, mine())
    assert (first.pipeline.version, first.new, first.behind) == (1, True, 0)
    task = await create(s, project, "mine")
    again = await pipelines.add(s, mine(version=7))
    assert (again.pipeline.version, again.new) == (1, False)
    second = await pipelines.add(s, mine(name="Mine, better"))
    assert (second.pipeline.version, second.new, second.behind) == (2, True, 1)
    assert (await s.store.read(lambda tx: tx.tasks.get(task.id))).pipeline_version == 1
    assert (await create(s, project, "mine")).pipeline_version == 2

    old, new = await s.store.read(
        lambda tx: (pipelines.document(tx, "mine", 1), pipelines.document(tx, "mine", None))
    )
    assert (old, new["name"]) == (mine(), "Mine, better")
    assert not (await pipelines.add(s, dict(new))).new
    found = await s.store.read(lambda tx: pipelines.versions(tx, "mine"))
    assert [(v.version, v.tasks) for v in found] == [(2, 1), (1, 1)]


async def test_built_in_pipelines_are_not_replaced(tmp_path: Path, s: Services) -> None:
    with pytest.raises(InvalidPipeline, match="is built in"):
        await pipelines.add(s, shipped())
    changed = {**s.built_in, "simple": {**shipped(), "name": "Newly shipped"}}
    for _ in range(2):
        async with bootstrap.client(Settings(tmp_path / "home", None), built_in=changed) as later:
            found = await later.services.store.read(lambda tx: tx.pipelines.get("simple"))
            assert (found.name, found.version) == ("Newly shipped", 2)


async def test_unknown_pipelines_and_versions_are_named(s: Services) -> None:
    with pytest.raises(PipelineNotFound, match=r'"simpel".*Did you mean "simple"'):
        await s.store.read(lambda tx: pipelines.stored_id(tx, "simpel", None))
    with pytest.raises(PipelineNotFound, match='"simple" in version 9'):
        await s.store.read(lambda tx: pipelines.document(tx, "simple", 9))


# ------------------------------------------------------------------------------------ documents


@pytest.mark.parametrize(
    ("change", "place", "hint"),
    [
        ({"stauses": []}, "stauses", "statuses"),
        (
            {"statuses": [{"id": "a", "category": "open", "lable": "A"}]},
            "statuses.0.lable",
            "label",
        ),
        (
            {"transitions": [{"from": "open", "to": "done", "trigger": "manual", "hoks": []}]},
            "transitions.0.hoks",
            "hooks",
        ),
        (
            {
                "transitions": [
                    {
                        "from": "open",
                        "to": "done",
                        "trigger": "manual",
                        "guards": [{"type": "has_plan", "prams": {}}],
                    }
                ]
            },
            "transitions.0.guards.0.prams",
            "params",
        ),
    ],
)
async def test_an_unknown_key_comes_with_the_closest_and_its_line(
    s: Services, change: Mapping[str, Any], place: str, hint: str
) -> None:
    text = json.dumps(mine(**change), indent=1)
    document = documents.parse(text, "mine.json")
    with pytest.raises(InvalidPipeline) as refused:
        await pipelines.add(s, document.value, where="mine.json", lines=document.lines)
    key = place.rpartition(".")[2]
    line = 1 + next(i for i, row in enumerate(text.splitlines()) if f'"{key}"' in row)
    wanted = f'line {line}, {place}: there is no key "{key}". Did you mean "{hint}"?'
    assert wanted in refused.value.details


def test_yaml_and_json_say_the_same() -> None:
    text = "id: mine\nname: Mine\nstatuses:\n- {id: no, category: open}\ntransitions: []\n"
    document = documents.parse(text, "mine.yaml")
    assert document.value["statuses"] == [{"id": "no", "category": "open"}]
    assert document.lines()["statuses.0.category"] == 4


BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("big.json", '{"id": "' + "x" * 10_000_000 + '"}', "over the limit"),
        ("big.yaml", "id: " + "x" * 10_000_000, "for YAML; write it as JSON."),
        ("bomb.yaml", BOMB, "anchors and aliases are not read (line 1)"),
        ("tags.yaml", "id: !!python/object/apply:os.system [ls]", "tags are not read (line 1)"),
        ("deep.yaml", "[" * 200 + "]" * 200, "nested too deeply"),
        ("deep.json", "[" * 200 + "]" * 200, "nested deeper than"),
        (
            "wide.yaml",
            "[" + "x, " * 30_000 + "x]",
            "more than 20000 values are not read of YAML; write",
        ),
        ("twice.yaml", "id: a\nid: b\n", "a key stands there twice"),
        ("twice.json", '{"id": "a", "id": "b"}', 'the key "id" stands there twice'),
        ("two.yaml", "id: a\n---\nid: b\n", "line 2"),
        ("cut.json", '{"id": "a",', "line 1"),
        ("nul.json", '{"id": "\\u0000"}', "NUL"),
    ],
)
def test_hostile_documents_are_refused_in_a_sentence(name: str, text: str, says: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        documents.parse(text, name)
    assert refused.value.message.startswith(f"{name} cannot be read: ")
    assert says in refused.value.message
    assert len(refused.value.message) < 300


# -------------------------------------------------------------------------------- project files


def large(statuses: int, transitions: int) -> dict[str, Any]:
    """Steps in a row, each with ways back to the start and on to later ones."""
    ids = [f"step_{n}" for n in range(statuses - 2)]
    middle = [{"id": id, "label": f"The step {id}", "category": "active"} for id in ids]
    ways = [*pairwise(["open", *ids, "done"]), *((id, "open") for id in ids)]
    for skipped in range(2, 2 + transitions // statuses):
        ways += zip(ids, ids[skipped:], strict=False)
    notify = [{"type": "notify", "params": {"title": "Moved on"}}]
    rows = [
        {"id": f"way_{n}", "from": a, "to": b, "trigger": {"type": "manual"}, "hooks": notify}
        for n, (a, b) in enumerate(ways[:transitions])
    ]
    ends = {"id": "open", "category": "open"}, {"id": "done", "category": "final"}
    both = [ends[0], *middle, ends[1]]
    return {"id": "large", "name": "Large", "statuses": both, "transitions": rows}


@pytest.mark.slow
async def test_the_largest_pipeline_fits_into_a_file(
    s: Services, project: Project, repo: Path
) -> None:
    folder = repo / ".agents-manager" / "pipelines"
    folder.mkdir(parents=True)
    text = json.dumps(large(1_000, 5_000), indent=2)
    (folder / "large.json").write_text(text)
    [brought] = await pipelines.reload(s, project)
    assert (brought.errors, brought.pipeline and len(brought.pipeline.statuses)) == ((), 1_000)
    assert len(text) > 1024 * 1024

    (folder / "large.json").write_text(json.dumps(large(1_001, 5_000)))
    [brought] = await pipelines.reload(s, project)
    assert brought.errors[0].endswith(
        "statuses: Tuple should have at most 1000 items after validation, not 1001"
    ), brought.errors
    (folder / "large.json").write_text(text + " " * documents.MAX_BYTES)
    [brought] = await pipelines.reload(s, project)
    assert "4194304 are read at most" in brought.errors[0]
    assert brought.pipeline is not None  # The last good one.


async def test_a_projects_file_is_for_its_tasks_alone(
    s: Services, project: Project, repo: Path, tmp_path: Path
) -> None:
    other = await tasks.add_project(s, make_repo(tmp_path / "other", {"a": "b"}), "other", None)
    bring(repo, "simple.json", {**shipped(), "name": "Ours"})
    bring(repo, "tiny.yaml", _tiny())
    ours = await create(s, project, "simple")
    assert ours.pipeline_id == f"simple@{project.id}"
    assert (await create(s, other, "simple")).pipeline_id == "simple"
    assert (await create(s, project, "tiny")).status == "todo"
    assert (await create(s, project, "tiny@shop")).pipeline_id == f"tiny@{project.id}"
    with pytest.raises(PipelineNotFound, match='"tiny"'):
        await create(s, other, "tiny")
    with pytest.raises(InvalidInput, match='not of project "other"'):
        await create(s, other, "tiny@shop")
    found = await s.store.read(lambda tx: tx.pipelines.get(ours.pipeline_id, 1))
    assert (found.id, found.name) == (ours.pipeline_id, "Ours")
    assert await s.store.read(
        lambda tx: (
            pipelines.stored_id(tx, "tiny", project),
            pipelines.stored_id(tx, "tiny@shop", None),
            pipelines.stored_id(tx, "simple", other),
        )
    ) == (f"tiny@{project.id}", f"tiny@{project.id}", "simple")


def _tiny(extra: str = "") -> str:
    return (
        "id: tiny\nname: Tiny\nstatuses:\n"
        "- {id: todo, category: open}\n- {id: done, category: final}\n"
        f"transitions:\n- {{from: todo, to: done, trigger: manual{extra}}}\n"
    )


async def test_an_edited_file_is_read_again_and_a_broken_one_keeps_the_last_good(
    s: Services, project: Project, repo: Path, tmp_path: Path
) -> None:
    bring(repo, "tiny.yaml", _tiny())
    assert (await create(s, project, "tiny")).pipeline_version == 1
    bring(repo, "tiny.yaml", _tiny(", label: Finish"))
    assert (await create(s, project, "tiny")).pipeline_version == 2
    path = bring(repo, "tiny.yaml", _tiny(", guards: [{type: has_pln}]"))
    assert (await create(s, project, "tiny")).pipeline_version == 2
    _, (brought,) = await pipelines.listed(s)
    assert brought.pipeline is not None
    assert (brought.project.name, brought.path, brought.pipeline.version) == ("shop", str(path), 2)
    wanted = 'There is no guard "has_pln". Did you mean "has_plan"?'
    assert f"line 7, transitions.0.guards.0.type: {wanted}" in brought.errors[0]
    async with bootstrap.client(Settings(tmp_path / "home", None)) as later:
        assert (await create(later.services, project, "tiny")).pipeline_version == 2
    path.unlink()
    with pytest.raises(PipelineNotFound, match='"tiny"'):
        await create(s, project, "tiny")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("id: tiny\nname: [", "line"),
        ("[]", "a pipeline is an object"),
        ("id: other\nname: Other\n", 'line 1, id: the file\'s name says "tiny"'),
        ("id: tiny\nname: Tiny\n", "statuses: Field required"),
        (BOMB, "anchors and aliases"),
        ("x" * 600_000, "600000 bytes are over the limit of 524288 for YAML; write it as JSON."),
    ],
)
async def test_a_file_that_never_was_good_refuses_its_tasks_alone(
    s: Services, project: Project, repo: Path, content: str, says: str
) -> None:
    path = bring(repo, "tiny.yaml", content)
    with pytest.raises(InvalidPipeline) as refused:
        await create(s, project, "tiny")
    assert str(path) in refused.value.message
    assert says in " ".join(refused.value.details)
    assert (await create(s, project)).pipeline_id == "feature"


async def test_things_that_are_no_files_and_names_that_clash(
    s: Services, project: Project, repo: Path
) -> None:
    bring(repo, "tiny.yaml", _tiny())
    bring(repo, "tiny.json", "{}")
    folder = repo / ".agents-manager" / "pipelines"
    (folder / "folder.json").mkdir()
    os.mkfifo(folder / "pipe.yaml")
    (folder / "latin.json").write_bytes(b'{"name": "caf\xe9"}')
    (folder / "nowhere.json").symlink_to("missing")
    (folder / "notes.txt").write_text("Not one of ours.")
    _, brought = await pipelines.listed(s)
    told = {b.name: b.errors[0] for b in brought}
    assert set(told) == {"tiny", "folder", "pipe", "latin"}
    assert "tiny.json and tiny.yaml are called alike" in told["tiny"]
    assert told["pipe"].endswith("is not a file.")
    assert "not UTF-8" in told["latin"]
