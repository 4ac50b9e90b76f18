"""Every kind of question, asked at a terminal by `am prompt answer`."""

import asyncio
import json
from typing import Any

import pytest

from agents_manager import bootstrap
from agents_manager.domain.prompt import Prompt
from agents_manager.settings import Settings
from agents_manager.store.database import open_database
from tests import forms
from tests.api.scenes import QUESTION, Scene
from tests.e2e.am_program import Am
from tests.e2e.test_cli_output import at_terminal

OPTIONS = {
    "summary": "Two ways.",
    "options": [
        {"id": "large", "label": "A server", "effort": "large"},
        {"id": "small", "label": "A file", "pros": ["Simple"], "recommended": True},
    ],
}
SPLIT = {"reason": "Too large.", "proposed_phases": [{"name": "Model"}, {"name": "Page"}]}
CHANGES = "2\nNearly there.\nsrc/a.py:3: [should_fix] Off by one.\nA test is missing.\n\n"


@pytest.fixture(scope="module")
def am(tmp_path_factory: pytest.TempPathFactory) -> Am:
    am = Am(tmp_path_factory.mktemp("asking"))
    am.make_repo()
    am.text("project", "add", ".")
    return am


def asked(am: Am, outcome: str, payload: Any, **fields: Any) -> Prompt:
    """A question that an agent put; nothing is there to go on after the answer."""

    async def ask() -> Prompt:
        async with bootstrap.client(Settings(am.home, None)) as program:
            [project] = await program.services.store.read(lambda tx: tx.projects.all())
            return await Scene(program.services, project).asking(outcome, payload, **fields)

    return asyncio.run(ask())


def answered(am: Am, prompt: Prompt) -> dict[str, Any]:
    store = open_database(am.home / "agents-manager.db")
    found = asyncio.run(store.read(lambda tx: tx.prompts.get(prompt.id)))
    store.close()
    assert found.response is not None
    return dict(found.response)


@pytest.mark.parametrize(
    ("outcome", "payload", "typed", "shown", "response"),
    [
        pytest.param(
            "needs_info",
            QUESTION,
            "A red that is nearly brown\n\n",
            "1) Red (recommended)",
            {"answers": [("q1", None, "A red that is nearly brown"), ("q2", None, "Because.")]},
            id="questions, one in own words, one as suggested",
        ),
        pytest.param(
            "options_proposed",
            OPTIONS,
            "\nKeep it small.\n",
            "1) A file (recommended)",
            {"option_id": "small", "instructions": "Keep it small."},
            id="the recommended option by Enter",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "plan_complete",
            None,
            CHANGES,
            "First this, then that.",
            {"decision": "changes_requested", "summary": "Nearly there."},
            id="a review with comments",
        ),
        pytest.param(
            "propose_split",
            SPLIT,
            "three\n2\nOne change is enough.\n",
            'There is no option "three".',
            {"decision": "rejected", "reason": "One change is enough."},
            id="a split, after a slip",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_question_is_shown_and_answered(
    am: Am, outcome: str, payload: Any, typed: str, shown: str, response: dict[str, Any]
) -> None:
    prompt = asked(am, outcome, payload)
    said = at_terminal(am, "prompt", "answer", prompt.id, typed=typed)
    assert shown in said
    kept = answered(am, prompt)
    if "answers" in response:
        told = [(a["question_id"], a["option"], a["text"]) for a in kept["answers"]]
        assert told == response["answers"]
        return
    assert {name: kept[name] for name in response} == response
    if response.get("decision") == "changes_requested":
        comments = [(c["file"], c["line"], c["severity"], c["comment"]) for c in kept["comments"]]
        assert comments == [
            ("src/a.py", 3, "should_fix", "Off by one."),
            (None, None, "must_fix", "A test is missing."),
        ]


FIELDS = "one\n1.2\n2\nmaybe\nyes\n\n\nfirst\nsecond\n\nyes\nAnn\n\n"
FILLED = {
    "version": "1.2",
    "channel": "beta",
    "announce": True,
    "labels": ["first", "second"],
    "contact": {"name": "Ann"},
}


@pytest.mark.slow
def test_a_form_is_filled_in_field_by_field(am: Am) -> None:
    forms.bring_form(am.repo)
    prompt = asked(am, forms.OUTCOME, forms.PLANNED, pipeline=forms.PIPELINE)
    said = at_terminal(am, "prompt", "answer", prompt.id, typed=FIELDS)
    assert "Changes: search, a fix" in said
    assert 'Version: does not fit the pattern "^[0-9]+[.][0-9]+$"' in said
    assert "Tell the list: must be true (yes) or false (no)" in said
    assert answered(am, prompt) == {"value": FILLED}
    assert "Contact / Name: Ann" in am.text("prompt", "show", prompt.id)


@pytest.mark.slow
def test_a_form_is_shown_and_filled_in_from_a_file(am: Am) -> None:
    forms.bring_form(am.repo)
    prompt = asked(am, forms.OUTCOME, forms.SUGGESTING, pipeline=forms.PIPELINE)
    shown = am.text("prompt", "show", prompt.id)
    assert "contact.name" in shown
    assert '--answers FILE   # {"value": {"version": "1.2", "announce": false}}' in shown
    words = am("prompt", "answer", prompt.id, "--text", "1.2")
    assert (words.code, words.out) == (1, "")
    assert "This is a form; fill it in with --answers FILE" in words.err
    wrong = am("prompt", "answer", prompt.id, "--answers", "-", input='{"value": {"share": 0}}')
    assert wrong.code == 1
    assert "value.share: must be 1 to 100" in wrong.err
    given = json.dumps({"value": forms.VALUE})
    am("prompt", "answer", prompt.id, "--answers", "-", input=given)
    assert answered(am, prompt) == {"value": forms.VALUE}
