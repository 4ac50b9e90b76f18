"""The commands that answer a question fit the question."""

from typing import Any

import pytest

from agents_manager.cli.pages.prompt import ways
from tests.contract.store_values import a_prompt, a_task

QUESTION = {"id": "q1", "question": "Which one?"}


@pytest.mark.parametrize(
    ("of", "offered"),
    [
        ({}, False),
        ({"suggested_answer": "red"}, False),
        ({"options": [{"label": "red"}, {"label": "blue"}]}, True),
        ({"input_type": "boolean"}, True),
    ],
)
def test_an_option_is_offered_where_there_is_one(of: dict[str, Any], offered: bool) -> None:
    prompt = a_prompt(payload={"questions": [QUESTION | of]})
    told = " ".join(ways(prompt, a_task()))
    assert ("--option" in told, "--text" in told) == (offered, True)
