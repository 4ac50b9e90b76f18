"""Real repositories with default settings: `am init`, a task, a fix round, a review and a merge in
each, with the real Claude Code and a scripted model, as root and as a plain user."""

import os
import secrets
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agents_manager.testing.scripted_model import ModelServer
from tests import debian, sandboxes
from tests.repositories import accounts, examples, index, walk
from tests.repositories.accounts import Account
from tests.repositories.examples import Example
from tests.repositories.walk import Walk

pytestmark = pytest.mark.timeout(900)
CASES = [
    pytest.param((example, user), id=f"{example.name}-{user}", marks=pytest.mark.slow)
    for user in ("current", "plain")
    for example in examples.ALL
]


@pytest.fixture(scope="session")
def installed() -> Iterator[Path]:
    with accounts.installation() as folder:
        yield folder


@pytest.fixture
def account(
    case: tuple[Example, str], tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Account]:
    sandboxes.installed()
    if case[1] == "current":
        with accounts.current(tmp_path) as user:
            yield user
        return
    if os.geteuid() != 0:
        debian.missing(
            "Only root can create the plain user; the walk as yourself has the same rights."
        )
    with accounts.plain(request.getfixturevalue("installed")) as user:
        yield user


@pytest.mark.parametrize("case", CASES)
def test_two_tasks_are_merged(case: tuple[Example, str], account: Account, tmp_path: Path) -> None:
    with first_hour(case[0], account, tmp_path) as one:
        express = walk.finish_task(one, "Add express parcels")
        insured = walk.finish_task(one, "Add insured parcels")
        one.model.check()
        work_is_merged(one, "express", "insured")
        agent_knew_the_repository(one, requests=10)
        checks_ran(one, express)
        set_up_was_reused(one, insured)
        key_stayed_secret(one)
        cost_is_known(one, express, requests=6)
        cost_is_known(one, insured, requests=4)


@pytest.mark.parametrize("case", [(examples.UV, "current")])
def test_first_task_is_merged_with_packages_of_a_private_index(
    case: tuple[Example, str], account: Account, tmp_path: Path
) -> None:
    with index.serving(tmp_path / "index") as address:
        account.variables["UV_DEFAULT_INDEX"] = address
        with first_hour(case[0], account, tmp_path) as one:
            express = walk.finish_task(one, "Add express parcels")
            one.model.check()
            work_is_merged(one, "express")
            agent_knew_the_repository(one, requests=6)
            checks_ran(one, express)
            key_stayed_secret(one)
            cost_is_known(one, express, requests=6)


@contextmanager
def first_hour(example: Example, account: Account, tmp_path: Path) -> Generator[Walk]:
    """Provides a repository after `am init`, with a server that runs."""
    with ModelServer() as model:
        account.variables.update(
            ANTHROPIC_BASE_URL=model.url(walk.SCENARIO), ANTHROPIC_API_KEY="scripted"
        )
        one = Walk(example, account, model, f"parcel-key-{secrets.token_hex(12)}")
        walk.make_repository(one)
        walk.script(one)
        walk.configure(one)
        with account.serving(tmp_path / "serve.log"):
            yield one


def work_is_merged(one: Walk, *services: str) -> None:
    assert len(one.git("log", "--merges", "--oneline", "main").splitlines()) == len(services)
    for service in services:
        for path, text in one.example.change(service, walk.SURCHARGES[service]).items():
            assert one.git("show", f"main:{path}") == text.rstrip("\n")
    committed = walk.committed_files(one)
    products = [path for path in committed if set(path.split("/")) & set(walk.BUILD_PRODUCTS)]
    assert products == []
    assert one.git("status", "--porcelain") == ""


def agent_knew_the_repository(one: Walk, requests: int) -> None:
    asked = walk.turns(one)
    assert len(asked) == requests
    for marker in one.example.markers:
        for request in asked:
            told = [*walk.texts(request, "system"), *walk.texts(request, "user")]
            assert sum(text.count(marker) for text in told) == 1
    answers = [text for request in asked for text in walk.results(request)]
    assert any("The express surcharge is 450 cents." in text for text in answers)


def checks_ran(one: Walk, task: str) -> None:
    events = [event["type"] for event in one.json("task", "events", task)]
    assert events.count("agent.fix_requested") == 1
    assert events.count("agent.checks_passed") == 1


def set_up_was_reused(one: Walk, task: str) -> None:
    if one.example.sets_up:
        [run] = one.json("run", "list", "--task", task)
        log = one.account.home / ".agents-manager" / "jobs" / run["id"] / "setup.log"
        assert log.read_text() == "Copied from the cache of installed files.\n"


def key_stayed_secret(one: Walk) -> None:
    assert not [text for text in one.said if one.key in text]
    for request in walk.turns(one):
        told = [*walk.texts(request, "system"), *walk.texts(request, "user")]
        assert not [text for text in told if one.key in text]
    objects = one.git("rev-list", "--all").split()
    found = one.account.run("git", "grep", "-F", one.key, *objects, cwd=one.repo, check=False)
    assert found.stdout == ""


def cost_is_known(one: Walk, task: str, requests: int) -> None:
    [run] = one.json("task", "show", task)["runs"]
    assert run["cost_usd"] == pytest.approx(requests * walk.REQUEST_USD)
