"""The sandbox works for a plain user as it does for root: root runs the tests again as one."""

import os

import pytest

from agents_manager.sandbox import landlock
from tests import debian, sandboxes
from tests.plain_user import run_tests

RUNS = "tests/integration/test_sandboxed_runs.py"
LEVELS = "tests/unit/test_levels.py"
QUICK = "without_consent or network or main_checkout or link_in_a_granted"
GIT = ("tests/hostile/test_filter_attacks.py", "tests/hostile/test_kept_gits.py")
MORE = (*GIT, "tests/integration/test_sandboxed_registries.py")

by_root = pytest.mark.skipif(os.geteuid() != 0, reason="these tests themselves run as a plain user")


@by_root
@pytest.mark.parametrize(
    "chosen",
    [
        pytest.param((LEVELS, "-k", QUICK), id="some"),
        pytest.param((), id="all", marks=pytest.mark.slow),
    ],
)
def test_sandboxed_runs_pass_for_a_plain_user(chosen: tuple[str, ...]) -> None:
    done = run_tests(RUNS, *chosen)
    assert done.returncode == 0, done.stdout[-5000:]
    assert "Sandbox of a plain user: S3" in done.stdout


@by_root
@pytest.mark.parametrize(
    "chosen",
    [
        pytest.param((GIT[0], "-k", "missing_objects"), id="some"),
        pytest.param(MORE, id="all", marks=pytest.mark.slow),
    ],
)
def test_attacks_by_git_fail_for_a_plain_user(chosen: tuple[str, ...]) -> None:
    done = run_tests(*chosen)
    assert done.returncode == 0, done.stdout[-5000:]
    assert "Sandbox of a plain user: S3" in done.stdout


@by_root
@pytest.mark.slow
def test_a_run_works_for_a_plain_user_without_bubblewrap() -> None:
    sandboxes.installed()
    if landlock.version() < landlock.LEAST:
        debian.missing("Landlock that knows of TCP takes Linux 6.7.")
    done = run_tests(RUNS, "-k", "clone_whose", bubblewrap=False)
    assert done.returncode == 0, done.stdout[-5000:]
    assert "Sandbox of a plain user: S2" in done.stdout
