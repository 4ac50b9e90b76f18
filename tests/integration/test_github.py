"""GitHub as a forge: what it is asked, what is made of its answers, and where the token goes."""

import re
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from agents_manager.domain.task import MergeMethod, Project, PullRequest
from agents_manager.errors import AgentsManagerError, ForgeError, ForgeUnavailable, HookFailed
from agents_manager.flow.ports import Conflicted, Merged, OwnReview, Sighting
from agents_manager.scm import credentials, github_api, pull_text
from agents_manager.scm.credentials import Key
from agents_manager.scm.github import GitHub
from agents_manager.scm.worktrees import Worktrees
from agents_manager.settings import ConfigFiles
from agents_manager.testing.contracts.forges import Clock, Ids
from tests.contract.store_values import a_project, a_store, a_task
from tests.github_server import TOKEN, FakeGitHub, Served, Trouble
from tests.repos import commit, executable, make_repo, own_home, run, scripted_home, sha

__all__ = ["own_home"]
pytestmark = pytest.mark.usefixtures("own_home")

BRANCH = "agent/one"


@dataclass
class Desk:
    repo: Path
    project: Project
    there: FakeGitHub
    forge: GitHub
    pull: PullRequest

    async def publish(self, title: str = "Title", body: str = "Body") -> PullRequest:
        return await self.forge.publish(self.project, a_task(), BRANCH, "main", title, body)

    async def look(self) -> Sighting:
        return await self.forge.look(self.project, self.pull)

    async def merge(self) -> Merged | Conflicted:
        method = MergeMethod.SQUASH
        return await self.forge.merge(self.project, self.pull, self.pull.head_sha, method)


@pytest.fixture
async def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    monkeypatch.setenv("AM_GITHUB_TOKEN", TOKEN)
    repo = make_repo(tmp_path / "repo", {"a": "1\n"})
    run(repo, "switch", "-q", "-c", BRANCH)
    commit(repo, {"a": "2\n"})
    bare = tmp_path / "github.git"
    run(tmp_path, "clone", "-q", "--bare", str(repo), str(bare))
    run(repo, "remote", "add", "origin", str(bare))
    there, project = FakeGitHub(bare), a_project(path=str(repo))
    async with a_store(tmp_path, repo) as store:
        with Served(there) as served:
            forge = {"type": "github", "repository": there.name, "baseUrl": served.url}
            configs = ConfigFiles(scripted_home(tmp_path / "home", forge=forge))
            github = GitHub(store, Clock(), Ids(), configs)
            pull = await github.publish(project, a_task(), BRANCH, "main", "Title", "Body")
            yield Desk(repo, project, there, github, pull)
    assert there.faults == []


async def test_lists_are_read_to_their_end_and_what_did_not_change_is_not_sent_again(
    desk: Desk,
) -> None:
    desk.there.page_size = 2
    number = desk.pull.number
    made = [desk.there.comment(number, "ann", f"{n}.", "a", 1) for n in range(5)]
    desk.there.resolved.add(made[4])
    found = await desk.forge.comments(desk.project, desk.pull)
    assert [c.text for c in found] == ["0.", "1.", "2.", "3.", "4."]
    assert [c.resolved for c in found] == [False] * 4 + [True]

    await desk.look()
    before = len(desk.there.asked), desk.there.unchanged
    seen = await desk.look()
    asked, unchanged = len(desk.there.asked) - before[0], desk.there.unchanged - before[1]
    assert asked == unchanged > 0
    desk.there.review(number, "ann", "APPROVED", "Fine.")
    assert [r.summary for r in (await desk.look()).reviews] == ["Fine."]
    assert seen.reviews == ()


async def test_a_thread_is_told_without_its_strangers(desk: Desk) -> None:
    there, number = desk.there, desk.pull.number
    first = there.comment(number, "ann", "Not this.", "a", 1)
    there.reply(first, "eve", "Do.", association="NONE")
    there.reply(first, "ben", "Why?")
    strange = there.comment(number, "eve", "Run this.", "a", 1, association="FIRST_TIMER")
    there.reply(strange, "ann", "No, never.")
    there.resolved.add(strange)
    found = await desk.forge.comments(desk.project, desk.pull)
    assert [(c.author, c.text, c.resolved) for c in found] == [
        ("ann", "Not this.", False),
        ("ann", "No, never.", True),
    ]
    assert [(a.author, a.text) for a in found[0].answers] == [("ben", "Why?")]
    assert found[0].quote == "2"


async def test_a_line_is_where_github_says_and_one_that_is_gone_is_outdated(desk: Desk) -> None:
    there, number = desk.there, desk.pull.number
    kept, left = (there.comment(number, "ann", text, "a", 1) for text in ("Kept.", "Left."))
    [one] = [c for c in there.said["comments"] if c["id"] == left]
    one["side"] = "LEFT"
    for text, line, outdated in (("0\n2\n", 2, False), ("0\n3\n", 1, True)):
        commit(desk.repo, {"a": text})
        run(desk.repo, "push", "-q", "origin", BRANCH)
        said = {c.text: c for c in await desk.forge.comments(desk.project, desk.pull)}
        now = said["Kept."]
        assert (now.line, now.original_line, now.outdated) == (line, 1, outdated)
        assert (now.head_sha, now.state) == (desk.pull.head_sha, "open")
        removed = said["Left."]
        assert (removed.file, removed.line, removed.quote) == ("a", None, "2")
        assert not removed.outdated
    assert kept != left


async def test_checks_come_to_one_word_where_the_token_may_see_them(desk: Desk) -> None:
    async def told(*runs: tuple[str, str | None]) -> str | None:
        desk.there.checks = [{"status": status, "conclusion": said} for status, said in runs]
        return (await desk.look()).checks

    fine, busy = ("completed", "success"), ("in_progress", None)
    assert await told() is None
    assert await told(fine, ("completed", "skipped")) == "passed"
    assert await told(fine, busy) == "pending"
    assert await told(fine, busy, ("completed", "timed_out")) == "failed"
    desk.there.checks_hidden = True
    assert (await desk.look()).checks is None


async def test_a_repository_that_was_renamed_is_found(desk: Desk) -> None:
    desk.there.former, desk.there.name = "acme/shop", "acme/store"
    desk.there.comment(desk.pull.number, "ann", "Here.", "a", 1)
    assert (await desk.look()).url == f"https://github.test/acme/store/pull/{desk.pull.number}"
    assert len(await desk.forge.comments(desk.project, desk.pull)) == 1
    merged = await desk.merge()
    assert isinstance(merged, Merged)
    assert sha(desk.there.repo, "main") == merged.sha
    assert run(desk.there.repo, "rev-list", "--count", "main") == "2", "as one commit"


async def test_the_token_goes_to_nobody_else(desk: Desk, tmp_path: Path) -> None:
    other = FakeGitHub(desk.there.repo)
    with Served(other) as served:
        away = {"Location": f"{served.url}/repos/acme/shop/pulls/7"}
        desk.there.trouble = Trouble(301, "Moved", away)
        with pytest.raises(HookFailed, match="sends us to another place"):
            await desk.look()
        next_page = {"Link": f'<{served.url}/repos/acme/shop/pulls/7/reviews>; rel="next"'}
        desk.there.trouble = Trouble(200, b"[]", next_page)
        with pytest.raises(HookFailed, match="sends us to another place"):
            await desk.forge.comments(desk.project, desk.pull)
    assert other.asked == []
    desk.there.trouble = Trouble(307, "Moved", {"Location": "/repos/acme/shop/pulls/7"})
    with pytest.raises(ForgeError, match="from one address to the next"):
        await desk.look()


LIMIT = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "99999999999"}


FAILURES: list[tuple[Trouble, type[AgentsManagerError], str]] = [
    (Trouble(401, "Bad credentials"), HookFailed, "set AM_GITHUB_TOKEN to one that is valid"),
    (Trouble(403, "Resource not accessible"), HookFailed, 'needs read and write access to "Cont'),
    (Trouble(404, "Not Found"), HookFailed, "look at forge.repository and the token"),
    (Trouble(422, "Validation Failed"), HookFailed, "refused it (status 422): Validation Failed"),
    (Trouble(500, "Oops"), ForgeUnavailable, "out of order (status 500): Oops"),
    (Trouble(502, b"<html>Bad gateway"), ForgeUnavailable, "out of order (status 502)"),
    (Trouble(200, b"<html>Log in"), ForgeUnavailable, "cannot be read as JSON"),
    (Trouble(200, b"[[]]"), ForgeError, "cannot be read"),
    (Trouble(200, b'"' + b"x" * 2_000 + b'"'), HookFailed, "more than 1000 bytes"),
    (Trouble(429, "Slow down", {"Retry-After": "7"}), ForgeUnavailable, "left alone: Slow down"),
    (Trouble(403, "API rate limit exceeded", LIMIT), ForgeUnavailable, "rate limit exceeded"),
    (Trouble(403, "You exceeded a secondary rate limit"), ForgeUnavailable, "secondary rate"),
]


async def test_every_failure_is_one_sentence_with_the_way_out(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(github_api, "MAX_BYTES", 1_000)
    waits: list[float | None] = []
    for trouble, error, says in FAILURES:
        desk.there.trouble = trouble
        with pytest.raises(error, match=re.escape(says)) as caught:
            await desk.look()
        assert type(caught.value) is error, says
        assert TOKEN not in str(caught.value)
        if isinstance(caught.value, ForgeUnavailable):
            waits.append(caught.value.wait_s)
    assert waits[:4] == [None, None, None, 7]
    assert (waits[4] or 0) > 1_000_000
    assert waits[5] == 60


async def test_a_server_that_is_gone_is_asked_again_later(desk: Desk, tmp_path: Path) -> None:
    forge = {"type": "github", "repository": "acme/shop", "baseUrl": "http://127.0.0.1:9"}
    configs = ConfigFiles(scripted_home(tmp_path / "other home", forge=forge))
    gone = GitHub(desk.forge._store, Clock(), Ids(), configs)  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(ForgeUnavailable, match=r"cannot be reached at 127\.0\.0\.1:9"):
        await gone.look(desk.project, desk.pull)


async def test_words_of_a_task_do_nothing_there(desk: Desk) -> None:
    title = "Add\n\nFixes #1 @acme/all"
    body = (
        "It does not fix #12, nor closes https://github.com/acme/shop/issues/3, @ann.\n"
        "Resolves: GH-4, fixes acme/shop#5, closed &#35;6, fix &num;7, fixed #&#x38;, see #9.\n"
        "<!-- hidden -->"
    )
    for number in range(1, 13):
        desk.there.issues.open(number)
    await desk.publish(title, body)
    sent = desk.there.pulls[desk.pull.number]
    assert sent["title"].replace(pull_text.NOTHING, "") == "Add Fixes #1 @acme/all"
    for text in (sent["title"], sent["body"]):
        for doing in ("@a", "<!--"):
            assert doing not in text, doing
    await desk.merge()
    assert desk.there.issues.mentioned == set()
    assert {row["state"] for row in desk.there.issues.rows.values()} == {"open"}
    assert "a@b.org" in pull_text.harmless("a@b.org")

    # So it goes with words that are left as they are.
    desk.there.issues.read(body, merged=True)
    assert desk.there.issues.mentioned == {3, 4, 5, 6, 7, 8, 9, 12}
    closed = [n for n, row in desk.there.issues.rows.items() if row["state"] == "closed"]
    assert closed == [3, 4, 5, 6, 7, 8, 12]


async def test_a_review_of_ours_is_shown_once_as_far_as_github_takes_it(desk: Desk) -> None:
    comment = {"file": "missing.py", "line": 3, "severity": "must_fix", "comment": "Mend it."}
    own = OwnReview(
        key="prompt-1",
        author="ann",
        decision="approved",
        summary="Nearly.",
        comments=[comment, {**comment, "file": None, "comment": "All of it."}],
        head_sha=desk.pull.head_sha,
    )
    for _ in range(2):
        await desk.forge.mirror(desk.project, desk.pull, own)
    [shown] = desk.there.said["reviews"]
    assert shown["body"] == (
        "<!-- agents-manager review prompt-1 -->\nann approved in Agents Manager.\n\nNearly.\n\n"
        "- `missing.py:3` [must_fix] Mend it.\n- [must_fix] All of it."
    )
    assert desk.there.said["comments"] == []
    assert await desk.forge.comments(desk.project, desk.pull) == []
    assert (await desk.look()).reviews == ()


async def test_words_that_people_changed_there_stay(desk: Desk) -> None:
    desk.there.pulls[desk.pull.number]["title"] = "A better title"
    await desk.publish()
    assert desk.there.pulls[desk.pull.number]["title"] == "A better title"
    await desk.publish(title="Another task title")
    assert desk.there.pulls[desk.pull.number]["title"] == "Another task title"


async def test_a_branch_that_was_not_pushed_is_named(desk: Desk) -> None:
    head = commit(desk.repo, {"b": "1\n"})
    with pytest.raises(HookFailed, match=f'"{BRANCH}" stands at .* there, and at {head[:8]} here'):
        await desk.publish()
    run(desk.there.repo, "update-ref", "-d", f"refs/heads/{BRANCH}")
    with pytest.raises(HookFailed, match=f'"{BRANCH}" is not there'):
        await desk.publish()


async def test_the_repository_is_that_of_the_remote(desk: Desk, tmp_path: Path) -> None:
    configs = ConfigFiles(scripted_home(tmp_path / "own", forge={"type": "github"}))
    forge = GitHub(desk.forge._store, Clock(), Ids(), configs)  # pyright: ignore[reportPrivateUsage]
    told = await forge.trouble(desk.project)
    assert told is not None
    assert 'The remote "origin" is no repository of https://github.com' in told
    run(desk.repo, "remote", "set-url", "origin", "git@github.com:acme/shop.git")
    assert await forge.trouble(desk.project) is None
    run(desk.repo, "remote", "remove", "origin")
    told = await forge.trouble(desk.project)
    assert told is not None
    assert "has no remote on GitHub: add one, set forge.repository to owner/name" in told


async def test_git_is_given_the_token_by_its_environment_and_for_one_place_only(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = run(desk.repo, "--exec-path") + "/git"
    seen = tmp_path / "seen"
    executable(
        tmp_path / "bin" / "git",
        f'echo "$@" >> "{seen}.argv"; env >> "{seen}.env"; exec {real} "$@"',
    )
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{sys.exec_prefix}/bin:/usr/bin:/bin")

    async def key(repo: Path) -> Key:
        return Key("https://github.com", TOKEN)

    commit(desk.repo, {"b": "1\n"})
    pushed = await Worktrees(tmp_path / "trees", key).push(desk.repo, BRANCH)
    assert pushed is not None
    assert pushed.refused is None
    name, header = (await key(desk.repo)).setting
    assert name == "http.https://github.com/.extraHeader"
    given = (tmp_path / "seen.env").read_text().splitlines()
    assert f"GIT_CONFIG_KEY_0={name}" in given
    assert f"GIT_CONFIG_VALUE_0={header}" in given
    secret = header.rpartition(" ")[2]
    argv = (tmp_path / "seen.argv").read_text()
    assert "push" in argv
    assert secret not in argv
    assert TOKEN not in repr(await key(desk.repo))
    assert TOKEN not in (desk.repo / ".git" / "config").read_text()


def test_the_token_comes_from_the_environment_else_the_keyring(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class KeyringError(Exception):
        pass

    def locked(service: str, name: str) -> str:
        raise KeyringError

    errors = SimpleNamespace(KeyringError=KeyringError)
    for name in ("AM_GITHUB_TOKEN", "GITHUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert credentials.token() is None
    monkeypatch.setitem(sys.modules, "keyring", SimpleNamespace(errors=errors, get_password=locked))
    assert credentials.token() is None
    kept = SimpleNamespace(errors=errors, get_password=lambda service, name: f"{service}-{name}")
    monkeypatch.setitem(sys.modules, "keyring", kept)
    assert credentials.token() == "agents-manager-github"
    monkeypatch.setenv("GITHUB_TOKEN", "second")
    assert credentials.token() == "second"
    monkeypatch.setenv("AM_GITHUB_TOKEN", " first\n")
    assert credentials.token() == "first"
    monkeypatch.setenv("AM_GITHUB_TOKEN", "fir\nst")
    with pytest.raises(HookFailed, match="characters that no token has") as caught:
        credentials.token()
    assert "fir" not in str(caught.value).replace("first", "")


@pytest.mark.parametrize(
    ("url", "base", "found"),
    [
        ("https://github.com/acme/shop", "https://api.github.com", "acme/shop"),
        ("https://ann:x@github.com/acme/my.shop.git", "https://api.github.com", "acme/my.shop"),
        ("git@github.com:acme/shop.git", "https://api.github.com", "acme/shop"),
        ("ssh://git@git.corp:2222/acme/shop.git", "https://git.corp/api/v3", "acme/shop"),
        ("https://github.com/acme/shop", "https://git.corp/api/v3", None),
        ("https://github.com.evil.org/acme/shop", "https://api.github.com", None),
        ("git@evil.org:github.com/shop", "https://api.github.com", None),
        ("https://github.com/acme/shop/../../evil", "https://api.github.com", None),
        ("/srv/acme/shop.git", "https://api.github.com", None),
    ],
)
def test_a_remote_names_its_repository(url: str, base: str, found: str | None) -> None:
    assert credentials.repository_of(url, base) == found
