"""Templates have exactly the places that are known for them."""

import pytest

from agents_manager.domain import template
from agents_manager.errors import InvalidConfig

SOUND = {
    name: " ".join(f"{{{place}}}" for place in places) for name, places in template.PLACES.items()
}


@pytest.mark.parametrize(
    ("texts", "fault"),
    [
        (
            {"outcome": "{form} {outcomes} {outcoms}"},
            "prompts/outcome.md: there is no {outcoms}. Did you",
        ),
        ({"repair": "Again. {form}"}, "prompts/repair.md: {reason} is missing"),
        ({"plan": "Plan {title}"}, "prompts/plan.md: there is no {title}."),
        (
            {"implment": "x"},
            'prompts/implment.md: no prompt has a part of this name. Did you mean "',
        ),
    ],
)
def test_a_wrong_template_is_named_with_its_fault(texts: dict[str, str], fault: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        template.checked({**SOUND, **texts}, "prompts")
    [only] = refused.value.details
    assert only.startswith(fault)


def test_a_missing_template_is_named() -> None:
    with pytest.raises(InvalidConfig) as refused:
        template.checked({k: v for k, v in SOUND.items() if k != "review"}, "prompts")
    assert refused.value.details == ("prompts/review.md: is missing",)


def test_what_is_filled_in_is_not_looked_through_again() -> None:
    told = template.filled("Say {reason} {", reason="{outcomes} {reason}")
    assert told == "Say {outcomes} {reason} {"
