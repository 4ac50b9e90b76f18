"""`am pipeline lint`, `simulate` and `graph` on what is saved and on files."""

import json
from pathlib import Path

import pytest

from tests.e2e.am_program import Am
from tests.installed import install, install_example
from tests.unit.pipeline_documents import document, edge

pytestmark = pytest.mark.slow

YAML = """\
id: mine
name: Mine
statuses:
- {id: open, category: open}
- {id: working, category: active}
- {id: done, category: final}
transitions:
- from: open
  to: working
  trigger: manual
  hooks:
  - {type: start_agent}
- {from: working, to: done, trigger: agent_outcome, outcomeValue: approved}
"""


@pytest.fixture
def am(tmp_path: Path) -> Am:
    made = Am(tmp_path)
    made.make_repo()
    return made


def test_a_pipeline_is_looked_at_before_it_is_saved(am: Am) -> None:
    with am.quickly():
        assert am.text("pipeline", "lint", "feature") == "feature, version 1: nothing is wrong.\n"
        (am.repo / "mine.yaml").write_text(YAML)
        linted = am("pipeline", "lint", "mine.yaml")
        assert linted.code == 1
        assert linted.err == ""
        assert linted.out == (
            "error: line 5, statuses.1 (no_error_edge)\n"
            '  An agent works in "working", and no transition takes its agent_error.\n'
            "  Add a transition with the trigger agent_error to a status that waits.\n"
            "\n"
            "1 error, 0 warnings\n"
        )
        told = json.loads(am("pipeline", "lint", "mine.yaml", "--json").out)
        assert (told["errors"], told["warnings"]) == (1, 0)
        assert told["findings"][0]["line"] == 5
        piped = am("pipeline", "lint", "-", input=json.dumps(document()))
        assert (piped.code, piped.out) == (0, "-: nothing is wrong.\n")

        assert am.text("pipeline", "graph", "mine.yaml") == (
            "Mine (mine, version 1)\n"
            "\n"
            "open (start)\n"
            "  manual → working\n"
            "      then start_agent\n"
            "\n"
            "working\n"
            "  approved → done\n"
            "\n"
            "done (end)\n"
        )
        assert am.json("pipeline", "graph", "feature")["initial"] == "open"

        (am.repo / "walk.yaml").write_text("- start\n- outcome: approved\n- start\n")
        walked = am.text("pipeline", "simulate", "mine.yaml", "--script", "walk.yaml")
        assert walked == (
            "Mine from open\n"
            "  1  start: open → working (open-manual-working-0)\n"
            "       would perform start_agent (required)\n"
            "  2  outcome approved: working → done (working-approved-done-1)\n"
            "  3  start: stays in done\n"
            '       "done" has no single next move; possible: none.\n'
            "\n"
            "Ends in done. The task is finished.\n"
        )


REFUSED = {
    "twice": ('{"id": "a", "id": "b"}', "p.json", 'the key "id" stands there twice'),
    "nan": ('{"id": NaN}', "p.json", "NaN is not JSON"),
    "deep": ("[" * 100_000, "p.json", "nested deeper than 32 levels"),
    "deep-yaml": ("[" * 100_000, "p.yaml", "nested too deeply"),
    "large": ("x" * 10_000_000, "p.json", "is longer than 4194304 bytes"),
    "binary": ("\udcff", "p.json", "is not UTF-8 text"),
}


def test_what_cannot_be_read_is_refused_in_a_sentence(am: Am) -> None:
    with am.quickly():
        for name, (text, file, says) in REFUSED.items():
            (am.repo / file).write_bytes(text.encode("utf-8", "surrogateescape"))
            ran = am("pipeline", "lint", file)
            assert (ran.code, ran.out) == (1, ""), name
            assert says in ran.err, name
            assert ran.err.count("\n") == 1, name
        missing = am("pipeline", "lint", "nowhere.json")
        assert '"nowhere.json" cannot be used: No such file or directory.' in missing.err
        unknown = am("pipeline", "graph", "feture")
        assert 'Did you mean "feature"?' in unknown.err
        how = am("pipeline", "simulate", "feature")
        assert how.code == 2
        assert "- outcome: pr_ready" in how.err
        (am.repo / "walk.json").write_text('["strat", {"review": "maybe"}]')
        wrong = am("pipeline", "simulate", "feature", "--script", "walk.json")
        assert 'step 1: there is no step "strat". Did you mean "start"?' in wrong.err
        assert "step 2: review: " in wrong.err
        (am.repo / "p.json").write_text(json.dumps({**document(), "statusses": []}))
        keyed = am("pipeline", "graph", "p.json")
        assert 'There is no key "statusses". Did you mean "statuses"?' in keyed.err


def test_plugins_are_listed_and_named_where_they_are_used(am: Am, tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    install_example(site)
    install(site, "zz-broken", {"bad": "zz_broken:register"}, {"zz_broken": "1 / 0"})
    am.env["PYTHONPATH"] = str(site)
    listed = am("plugin", "list")
    assert listed.code == 0
    rows = [line.split() for line in listed.out.splitlines()]
    for kind, name in (("guards", "few_rounds"), ("hooks", "write_down")):
        assert ["am-house-rules", "1.0", "house_rules", kind, name] in rows
    assert listed.err == (
        'Warning: The plugin zz-broken 1.0 ("bad") could not be used: '
        "ZeroDivisionError: division by zero\n"
    )
    told = {c["name"]: c for c in json.loads(am("doctor", "--json").out)["checks"]}
    assert told["plugin am-house-rules"]["state"] == "ok"
    assert told["plugin zz-broken"]["state"] == "warn"
    assert "ZeroDivisionError" in told["plugin zz-broken"]["text"]
    used = document(edge("working", "stuck", "ticket_filed"))
    (am.repo / "mine.json").write_text(json.dumps(used))
    assert am.text("pipeline", "lint", "mine.json") == (
        "mine.json: nothing is wrong.\nFrom plugins: outcome ticket_filed (am-house-rules 1.0).\n"
    )
    am.env["AM_PLUGINS"] = ""
    refused = am("pipeline", "lint", "mine.json")
    assert (refused.code, 'There is no outcome "ticket_filed"' in refused.out) == (1, True)
