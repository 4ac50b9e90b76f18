"""How `am task compare` shows the checks of each contender."""

import pytest

from agents_manager.cli.pages import race as pages
from agents_manager.flow.comparing import Checked


@pytest.mark.parametrize(
    ("checks", "shown"),
    [
        (Checked(passed=True, ran=("lint", "tests")), "passed: lint, tests"),
        (
            Checked(passed=True, ran=("lint", "tests"), failed=("lint",)),
            "passed: tests; failed: lint",
        ),
        (Checked(passed=False, ran=("tests",), failed=("tests",)), "failed: tests"),
        (Checked(passed=None, ran=("no-secrets",)), "passed: no-secrets"),
        (Checked(passed=None), "none run"),
    ],
)
def test_the_checks_that_ran_are_named_with_their_results(checks: Checked, shown: str) -> None:
    assert pages._checks(checks) == shown  # pyright: ignore[reportPrivateUsage]
