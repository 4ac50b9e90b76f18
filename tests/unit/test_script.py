"""The script language: what is read, what is refused and how that is said."""

import json
import time

import pytest

from agents_manager.agents import script
from agents_manager.errors import InvalidScript

WHERE = "The script"


def steps(text: str, mode: str = "plan") -> list[tuple[str, object]]:
    visit = script.parse(text, WHERE).visit(mode, 0)
    assert visit is not None
    return list(visit.steps)


def test_yaml_and_json_are_the_same_script() -> None:
    text = "plan:\n- - say: Hello.\n  - outcome: plan_complete\n"
    as_json = json.dumps({"plan": [[{"say": "Hello."}, {"outcome": "plan_complete"}]]})
    assert script.parse(text, WHERE) == script.parse(as_json, WHERE, is_json=True)


def test_notations_of_a_step() -> None:
    assert steps("plan: [[{hang: true, ignore_term: true}]]") == [("hang", {"ignore_term": True})]
    assert steps("plan: [[{hang: true}]]") == [("hang", {"ignore_term": False})]
    assert steps("plan: [[{hang: {ignore_term: true}}]]") == [("hang", {"ignore_term": True})]
    assert steps("plan: [[{crash: segv}]]") == [("crash", "SIGSEGV")]
    assert steps("plan: [[{crash: 3}]]") == [("crash", 3)]
    assert steps("plan: [[{modify: {path: a, replace: b, with: c}}]]") == [
        ("modify", {"path": "a", "replace": "b", "by": "c", "append": None})
    ]


def test_words_that_yaml_likes_to_change_stay_text() -> None:
    assert steps("plan: [[say: no, say: 12:30, say: 2026-01-01, say: 1e3]]") == [
        ("say", "no"),
        ("say", "12:30"),
        ("say", "2026-01-01"),
        ("say", "1e3"),
    ]


def test_last_visit_and_default_mode_serve_the_rest() -> None:
    read = script.parse("plan: [[say: one], [say: two]]\ndefault: [[say: any]]", WHERE)

    def said(mode: str, number: int) -> object:
        visit = read.visit(mode, number)
        return visit and visit.steps[0][1]

    assert [said("plan", n) for n in (0, 1, 2, 9)] == ["one", "two", "two", "two"]
    assert said("review", 0) == "any"
    assert script.parse("plan: [[]]", WHERE).visit("review", 0) is None


def test_repair_steps_stand_beside_the_steps() -> None:
    text = "plan:\n- steps: [malformed: '<<<OUTCOME:']\n  repair: [outcome: plan_complete]"
    visit = script.parse(text, WHERE).visit("plan", 0)
    assert visit is not None
    assert (visit.steps[0][0], visit.repair[0][0]) == ("malformed", "outcome")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            "plan: [[say: hi], [say: hi, comit: x]]",
            'The script, mode "plan", visit 2, step 2: there is no step "comit". '
            'Did you mean "commit"?',
            id="unknown step",
        ),
        pytest.param(
            "plan: [[say: 3]]", 'step 1, "say": Input should be a valid string', id="type"
        ),
        pytest.param("plan: [[write: {path: a}]]", '"write": text: Field required', id="missing"),
        pytest.param("plan: [[write: {path: a, text: b, mode: c}]]", "mode: Extra", id="extra"),
        pytest.param("plan: [[modify: {path: a}]]", 'either "replace" and "with"', id="modify"),
        pytest.param("plan: [[modify: {path: a, with: b}]]", 'either "replace"', id="half"),
        pytest.param("plan: [[flood: {}]]", 'either "bytes" or "lines"', id="flood"),
        pytest.param("plan: [[crash: STOP]]", '"STOP" is not one of', id="signal"),
        pytest.param("plan: [[crash: 999]]", '"crash"', id="exit code"),
        pytest.param("plan: [[outcome: a b]]", '"outcome": name', id="outcome name"),
        pytest.param("plan: [[{say: a, sleep: 1}]]", "each begins a step of its own", id="two"),
        pytest.param("plan: [[crash: 1, say: a]]", 'after the step "crash"', id="unreachable"),
        pytest.param("plan: [{say: hi}]", "in a list of their own", id="visit without list"),
        pytest.param("plan: [{steps: [], repairs: []}]", "repair", id="visit keys"),
        pytest.param("plan: []", "a mode has a list of visits", id="no visits"),
        pytest.param("plan: hello", "a mode has a list of visits", id="text as visits"),
        pytest.param("plan: [hello]", "the steps are a list", id="text as steps"),
        pytest.param("plan: [[hello]]", "a step is its name", id="text as step"),
        pytest.param("[]", "a script names modes", id="no modes"),
        pytest.param("", "a script names modes", id="empty"),
        pytest.param(
            "plan: [[say: a]\n",
            "expected ',' or ']', but got '<stream end>' (line 2)",
            id="not yaml",
        ),
        pytest.param("plan: &a [[say: hi]]\nimplement: *a", "anchors and aliases", id="alias"),
        pytest.param("plan: !!python/object:os.system [[]]", "tags are not read", id="tag"),
        pytest.param("plan: [[]]\nplan: [[]]", "a key stands there twice", id="duplicate key"),
        pytest.param("a: " + "[" * 30 + "]" * 30, "nested too deeply (line 1)", id="depth"),
        pytest.param("a: " + "[" * 200_000, "nested too deeply (line 1)", id="very deep"),
        pytest.param("a: " + "x" * 300_000, "over the limit", id="size"),
        pytest.param("a: [" + "x," * 30_000 + "]", "more than 20000 values", id="many values"),
        pytest.param('plan: [[say: "\\ud800"]]', "surrogate", id="surrogate"),
    ],
)
def test_faults_are_named_with_their_place(text: str, message: str) -> None:
    with pytest.raises(InvalidScript) as caught:
        script.parse(text, WHERE)
    assert message in caught.value.message
    assert caught.value.message.startswith(WHERE)


def test_alias_bomb_is_refused_quickly() -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)}, *{chr(97 + i)}]\n" for i in range(20)
    )
    began = time.monotonic()
    with pytest.raises(InvalidScript):
        script.parse(bomb, WHERE)
    assert time.monotonic() - began < 0.5


FENCED = "Please.\n\n```agent-script\nplan: [[say: hi]]\n```\nThanks."


@pytest.mark.parametrize(
    ("description", "found"),
    [
        pytest.param(FENCED, "plan: [[say: hi]]", id="fenced"),
        pytest.param(FENCED.replace("```", "~~~~"), "plan: [[say: hi]]", id="other fence"),
        pytest.param("No script here.", None, id="none"),
        pytest.param("```yaml\nplan: []\n```", None, id="another language"),
        pytest.param(f"````md\n{FENCED}\n````", None, id="quoted in a longer fence"),
    ],
)
def test_script_in_a_description(description: str, found: str | None) -> None:
    assert script.in_description(description) == found


@pytest.mark.parametrize("description", [FENCED + "\n" + FENCED, FENCED.partition("hi")[0]])
def test_two_blocks_or_an_open_one_are_refused(description: str) -> None:
    with pytest.raises(InvalidScript):
        script.in_description(description)
