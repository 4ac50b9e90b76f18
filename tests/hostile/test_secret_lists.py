"""What the search for secrets finds on a list that its rules were not written with, and what the
redaction hides in every form."""

import random

import pytest

from agents_manager.checks import secrets as rules
from agents_manager.redaction import NOTHING, Redactor
from tests.hostile import secret_figures, secret_lists

NAMED = "value that looks like a key or password"


def test_the_lists_are_long_enough_and_have_no_kind_in_common() -> None:
    held_out, tuned = (set(secret_lists.kinds(held_out=h)) for h in (True, False))
    assert not held_out & tuned
    assert len(list(secret_lists.secrets(held_out=True))) >= 200
    assert len(list(secret_lists.look_alikes(held_out=True))) >= 1000


def test_most_secrets_of_the_held_out_list_are_found_and_next_to_nothing_else() -> None:
    found = secret_figures.recall()
    assert found.found >= 0.95, found.missed
    assert found.wrong <= 0.01, found.false


def test_without_the_rule_of_names_too_few_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    rest = [rule for rule in rules.RULES if rule.what != NAMED]
    monkeypatch.setattr(rules, "RULES", rest)
    assert secret_figures.recall().found < 0.8


def test_a_known_value_is_hidden_in_every_form_however_it_is_cut() -> None:
    tried, missed = secret_figures.redaction()
    assert tried > 1000
    assert missed == []


def test_what_is_not_known_is_not_hidden() -> None:
    """The control: what the measure counts as seen."""
    value, lot = secret_figures.known_values()[0], random.Random(1)
    for form in secret_figures.printed(value).values():
        assert secret_figures.seen_through(form, NOTHING, lot) == (False, False)
        assert secret_figures.seen_through(form, Redactor([value]), lot) == (True, True)
