"""`am pipeline import`, `export` and `migrate`, as their user meets them."""

import json
from pathlib import Path

import pytest

from tests.e2e.am_program import Am


@pytest.fixture
def am(tmp_path: Path) -> Am:
    am = Am(tmp_path)
    am.make_repo()
    am.text("project", "add", ".", "--name", "shop")
    return am


def test_a_version_is_imported_and_its_tasks_follow(am: Am) -> None:
    with am.quickly():
        mine = {**am.json("pipeline", "export", "simple"), "id": "mine"}
        text = json.dumps(mine, indent=2)
        (am.repo / "mine.json").write_text(text)
        assert am.text("pipeline", "import", "mine.json") == "Saved mine, version 1.\n"
        task = am.json("task", "create", "Door", "--pipeline", "mine")["task"]["id"]
        assert "says the same" in am.text("pipeline", "import", "-", input=text)
        assert am.json("pipeline", "export", "mine") == mine

        changed = text.replace('"id": "open"', '"id": "todo"')
        changed = changed.replace('"from": "open"', '"from": "todo"')
        said = am.text("pipeline", "import", "-", input=changed)
        assert "Saved mine, version 2.\n1 unfinished task on older versions." in said
        assert am.json("pipeline", "export", "mine", "--version", "1") == mine
        preview = am.text("pipeline", "migrate", "mine")
        assert "UNMAPPED" in preview
        assert "Nothing was changed" in preview
        refused = am("pipeline", "migrate", "mine", "--apply")
        assert (refused.code, refused.out) == (1, "")
        assert f'{task}: "open" is not in version 2' in refused.err
        done = am.json("pipeline", "migrate", "mine", "--map", "open=todo", "--apply")
        assert (done["applied"], [t["to"] for t in done["tasks"]]) == (True, ["todo"])
        assert am.json("task", "show", task)["task"]["pipeline_version"] == 2
        assert "No unfinished task" in am.text("pipeline", "migrate", "mine")


@pytest.mark.slow
def test_a_projects_pipeline_is_found_by_its_name_and_its_faults_are_told(am: Am) -> None:
    folder = am.repo / ".agents-manager" / "pipelines"
    folder.mkdir(parents=True)
    with am.quickly():
        own = {**am.json("pipeline", "export", "simple"), "name": "Ours"}
        (folder / "simple.json").write_text(json.dumps(own))
        (folder / "broken.yaml").write_text("id: broken\nname: Broken\nstauses: []\n")
        listed = am("pipeline", "list")
        assert "simple@shop" in listed.out
        assert 'broken.yaml (not used): line 3, stauses: there is no key "stauses".' in listed.err
        assert am.text("pipeline", "show", "simple").startswith("Ours\n")
        assert am("pipeline", "show", "simple", cwd=am.home).out.startswith("Simple\n")
        assert am("pipeline", "show", "simple@shop", cwd=am.home).out.startswith("Ours\n")
        made = am.json("task", "create", "Door", "--pipeline", "simple")["task"]
        assert made["pipeline_id"].startswith("simple@")
        refused = am("task", "create", "Door", "--pipeline", "broken")
        assert refused.code == 1
        assert "broken.yaml cannot be used." in refused.err


@pytest.mark.slow
def test_bad_input_is_refused_in_a_sentence(am: Am) -> None:
    (am.repo / "big.json").write_text('{"id": "' + "x" * 10_000_000 + '"}')
    (am.repo / "bomb.yaml").write_text("a: &a [x]\nb: [*a, *a]\n")
    (am.repo / "list.json").write_text("[]")
    (am.repo / "empty.yaml").write_text("")
    cases = {
        ("import", "missing.json"): (2, "missing.json"),
        ("import", "big.json"): (1, "longer than 4194304 bytes"),
        ("import", "bomb.yaml"): (1, "anchors and aliases are not read (line 1)"),
        ("import", "list.json"): (1, "a pipeline is an object"),
        ("import", "empty.yaml"): (1, "a pipeline is an object"),
        ("export", "nothing"): (1, 'no pipeline "nothing"'),
        ("export", "simple", "--version", "9"): (1, '"simple" in version 9'),
        ("export", "simple", "--version", "0"): (2, "--version"),
        ("export", "simple@nowhere"): (1, 'no such project: "nowhere"'),
        ("migrate", "nothing"): (1, 'no pipeline "nothing"'),
        ("migrate", "simple", "--to", "9"): (1, "version 9"),
        ("migrate", "simple", "--map", "open"): (2, "OLD=NEW"),
        ("migrate", "simple", "--map", "a=b", "--map", "a=c"): (2, "twice"),
        ("migrate", "simple", "--map", "opne=done"): (1, 'Did you mean "open"?'),
        ("migrate", "simple", "--task", "nobody"): (1, "nobody"),
    }
    with am.quickly():
        before = am.json("pipeline", "list")
        for args, (code, says) in cases.items():
            done = am("pipeline", *args)
            assert (done.code, done.out) == (code, ""), (args, done)
            assert says in done.err, (args, done)
            assert "Traceback" not in done.err
            assert len(done.err) < 1_000
        assert am.json("pipeline", "list") == before
