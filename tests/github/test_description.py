"""Our client against GitHub's own published description: every request fits it, and what GitHub
shows as its answers can be read. The fake GitHub of the other tests is held to it, too."""

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from agents_manager.domain.issue import Note, Reference, Wanted
from agents_manager.domain.task import MergeMethod, Project, PullRequest, PullState
from agents_manager.flow.ports import Merged, OwnReview
from agents_manager.scm.github import GitHub
from agents_manager.settings import ConfigFiles
from agents_manager.testing.contracts.forges import Clock, Ids
from tests import github_server
from tests.contract.store_values import a_project, a_store, a_task
from tests.github.description import Description
from tests.github_server import TOKEN, FakeGitHub, Served
from tests.repos import commit, make_repo, own_home, run, scripted_home, sha

__all__ = ["own_home"]
pytestmark = pytest.mark.usefixtures("own_home")

REPOSITORY = "octocat/Hello-World"
"""That of GitHub's examples."""
BRANCH = "new-topic"
THREADS = {"nodes": [], "pageInfo": {"hasNextPage": False, "endCursor": None}}
GRAPH = {"data": {"repository": {"pullRequest": {"reviewThreads": THREADS}}}}
"""GraphQL has no such description."""


OF_ISSUES = (
    *(("GET", "/issues"), ("GET", "/issues/N"), ("PATCH", "/issues/N")),
    *(("GET", "/issues/N/comments"), ("POST", "/issues/N/comments")),
)
OF_PULLS = (
    *(("GET", "/pulls"), ("POST", "/pulls"), ("GET", "/pulls/N"), ("PATCH", "/pulls/N")),
    *(("PUT", "/pulls/N/merge"), ("GET", "/pulls/N/comments"), ("GET", "/issues/N/comments")),
    *(("GET", "/pulls/N/reviews"), ("POST", "/pulls/N/reviews"), ("GET", "/git/ref/heads/B")),
    *(("GET", "/commits/S/status"), ("GET", "/commits/S/check-runs")),
)


@dataclass
class Described:
    """Checks every request, and answers with the example that GitHub publishes for it."""

    description: Description
    changed: dict[str, Callable[[Any], Any]] = field(
        default_factory=dict[str, Callable[[Any], Any]]
    )
    """What is told instead of an example, by the operation's name: a walk needs some of it."""
    used: set[str] = field(default_factory=set[str])
    faults: list[str] = field(default_factory=list[str])

    def answer(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, dict[str, str], Any]:
        parts = urlsplit(url)
        if parts.path == "/graphql":
            return 200, {}, GRAPH
        operation = self.description.operation(method, unquote(parts.path))
        if operation is None:
            self.faults.append(f"{method} {url}: GitHub has no such address")
            return 404, {}, {"message": "Not Found"}
        self.used.add(operation.name)
        found = [*operation.request_faults(parts.query, headers, body)]
        self.faults += [f"{operation.name}: {fault}" for fault in found]
        if headers.get("authorization") != f"Bearer {TOKEN}":
            self.faults.append(f"{operation.name}: the token is missing")
        status, value = operation.example()
        return status, {}, self.changed.get(operation.name, lambda same: same)(value)

    def named(self, shapes: Sequence[tuple[str, str]]) -> set[str]:
        """The operations that these are."""
        found: set[str] = set()
        for method, shape in shapes:
            path = shape.replace("/N", "/1").replace("/S", f"/{'0' * 40}")
            operation = self.description.operation(method, f"/repos/{REPOSITORY}{path}")
            assert operation is not None, shape
            found.add(operation.name)
        return found

    def tell(self, operation: str, by: Callable[[Any], Any]) -> None:
        self.changed[operation.replace(" ", " /repos/{owner}/{repo}")] = by


@dataclass
class Desk:
    server: Described
    github: GitHub
    project: Project
    head: str

    async def publish(self, title: str) -> PullRequest:
        task = a_task()
        return await self.github.publish(self.project, task, BRANCH, "master", title, "Body")


@pytest.fixture
async def desk(
    description: Description, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Desk]:
    monkeypatch.setenv("AM_GITHUB_TOKEN", TOKEN)
    repo = make_repo(tmp_path / "repo", {"a": "1\n"})
    run(repo, "switch", "-q", "-c", BRANCH)
    commit(repo, {"a": "2\n"})
    server = Described(description)
    with Served(server) as served:
        forge = {"type": "github", "repository": REPOSITORY, "baseUrl": served.url}
        configs = ConfigFiles(scripted_home(tmp_path / "home", forge=forge))
        async with a_store(tmp_path, repo) as store:
            github = GitHub(store, Clock(), Ids(), configs)
            yield Desk(server, github, a_project(path=str(repo)), sha(repo, BRANCH))
    assert server.faults == []


async def test_pull_requests_as_github_describes_them(desk: Desk) -> None:
    github, project, server = desk.github, desk.project, desk.server
    here = {"ref": f"refs/heads/{BRANCH}", "object": {"type": "commit", "sha": desk.head}}
    server.tell("GET /git/ref/{ref}", lambda ref: {**ref, **here})
    server.tell("GET /pulls/{pull_number}", _still_open)
    server.tell("GET /pulls", lambda _: [])
    pull = await desk.publish("Title")
    assert (pull.number, pull.state, pull.base_branch) == (1347, PullState.OPEN, "master")
    server.tell("GET /pulls", lambda rows: [_still_open(row) for row in rows])
    assert (await desk.publish("Another title")).id == pull.id
    seen = await github.look(project, pull)
    assert (seen.state, seen.checks) == (PullState.OPEN, "passed")
    await github.comments(project, pull)
    remark = {"file": "a", "line": 1, "severity": "must_fix", "comment": "Mend it."}
    own = OwnReview(
        key="prompt-1",
        author="ann",
        decision="approved",
        summary="Fine.",
        comments=[remark],
        head_sha=desk.head,
    )
    await github.mirror(project, pull, own)
    merged = await github.merge(project, pull, desk.head, MergeMethod.SQUASH)
    assert isinstance(merged, Merged)
    assert server.used == server.named(OF_PULLS)


async def test_issues_as_github_describes_them(desk: Desk) -> None:
    github, project, server = desk.github, desk.project, desk.server
    assert (await github.issues(project, Wanted())).pulls == 1, "GitHub's example is one"
    server.tell("GET /issues", lambda rows: [_no_pull(row) for row in rows])
    server.tell("GET /issues/{issue_number}", _no_pull)
    wanted = Wanted(labels=("bug", "ui"), state="all")
    [found] = (await github.issues(project, wanted)).issues
    assert (found.repository, found.number) == (REPOSITORY, 1347)
    [one] = (await github.issues(project, Wanted(numbers=(1347,)))).issues
    assert one == found
    place = Reference(REPOSITORY, 1347, found.url)
    note = Note(key="k", text="Merged.", close=True)
    assert await github.note(project, place, note, datetime.now(UTC)), "it closed it"
    assert server.used == server.named(OF_ISSUES)


def _still_open(pull: Mapping[str, Any]) -> dict[str, Any]:
    return {**pull, "state": "open", "merged_at": None}


def _no_pull(row: Mapping[str, Any]) -> dict[str, Any]:
    page = row["html_url"].replace("/pull/", "/issues/")
    return {**row, "pull_request": None, "html_url": page}


def test_all_that_the_fake_github_takes_is_tried() -> None:
    gets = {("GET", shape) for shape in github_server.GETS}
    sent = {one for one in github_server.BODIES if one[1] != "/graphql"}
    assert {*OF_PULLS, *OF_ISSUES} == gets | sent


HEADERS = {
    "accept": "application/vnd.github+json",
    "x-github-api-version": "2022-11-28",
    "content-type": "application/json",
}
PULL = {"title": "T", "head": "h", "base": "b"}
WRONG: dict[str, tuple[tuple[str, str, Any, int, Any], str]] = {
    "no such address": (("GET", "/pullz", None, 200, []), "has no such address"),
    "no such query": (("GET", "/pulls?stat=all", None, 200, []), "there is no query stat"),
    "a query of another kind": (("GET", "/pulls?per_page=x", None, 200, []), "query per_page: 'x'"),
    "a query of another word": (("GET", "/pulls?state=shut", None, 200, []), "'shut' is not one"),
    "no time": (("GET", "/issues?since=soon", None, 200, []), "query since: 'soon'"),
    "a field is missing": (("POST", "/pulls", {"title": "T"}, 201, {}), "'head' is a required"),
    "no such field": (("POST", "/pulls", {**PULL, "titel": 1}, 201, {}), "body.titel: there is no"),
    "another kind": (("POST", "/pulls", {**PULL, "draft": "no"}, 201, {}), "body.draft: 'no'"),
    "another status": (("POST", "/pulls", PULL, 200, {}), "never answers with status 200"),
    "an answer of another kind": (
        ("GET", "/issues/1", None, 200, {"number": "1"}),
        "answer.number: '1' is not of type 'integer'",
    ),
    "a field of nobody's": (
        ("GET", "/issues", None, 200, [{"user": {"name_": "x"}}]),
        "answer[].user.name_: there is no such field",
    ),
}


@pytest.mark.parametrize(("exchange", "says"), WRONG.values(), ids=WRONG.keys())
def test_what_does_not_fit_is_found(
    description: Description, exchange: tuple[str, str, Any, int, Any], says: str
) -> None:
    method, inside, sent, status, value = exchange
    body = b"" if sent is None else json.dumps(sent).encode()
    url = f"/repos/{REPOSITORY}{inside}"
    faults = description.exchange_faults(method, url, HEADERS, body, status, value)
    assert [fault for fault in faults if says in fault], faults


def test_the_fake_github_is_held_to_it(description: Description, tmp_path: Path) -> None:
    fake = FakeGitHub(tmp_path)
    fake.issues.open(1)["labels"] = "bug"
    headers = {**HEADERS, "user-agent": "agents-manager", "authorization": f"Bearer {TOKEN}"}
    fake.answer("GET", "/repos/acme/shop/issues/1", headers, b"")
    assert fake.faults == [
        "GET /repos/{owner}/{repo}/issues/{issue_number}: answer.labels: 'bug' is not of type"
        " 'array'"
    ]
