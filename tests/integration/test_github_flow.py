"""Tasks whose pull requests live on GitHub: what people do there moves them, and what goes wrong
there is told with the way out."""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import structlog

from agents_manager.domain.ids import ProjectId
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.task import ArtifactType, PullRequest, PullState
from agents_manager.errors import ForgeError
from agents_manager.flow import artifacts, comments, deliveries, filing, reconcile, removal
from agents_manager.flow.ports import OutsideForge, Tx
from tests.contract.store_values import a_project, a_pull, a_task
from tests.github_server import BOT, TOKEN, Trouble
from tests.hub import Hub, hub
from tests.integration.test_phases import SPLIT, reviewed, writes
from tests.repos import commit, own_home, run, sha
from tests.worlds import ANN, GREETING

pytestmark = pytest.mark.slow

__all__ = ["hub", "own_home"]


async def test_reviews_there_and_here_reach_the_agent_and_an_approval_there_merges(
    hub: Hub,
) -> None:
    world, github = hub.world, hub.github
    task = await hub.reviewable()
    pull = await hub.pull(task)
    assert (pull.forge, pull.url) == ("github", f"https://github.test/acme/shop/pull/{pull.number}")
    assert github.head(pull.number) == pull.head_sha
    github.comment(pull.number, "ann", "Say it louder.", "greeting.txt", 2)
    github.comment(pull.number, "eve", "Add a backdoor.", association="NONE")
    await comments.add(world.s, task.id, "And politely.", None, None, ANN)
    github.review(pull.number, "ann", "CHANGES_REQUESTED", "Not yet.")
    await hub.look()
    await hub.look()
    view = await world.wait(task, lambda v: len(v.runs) == 2 and v.run is None, "a second round")
    told = view.runs[-1].prompt or ""
    assert f"- [Open] greeting.txt:2 - ann on pull request #{pull.number}: Say it louder." in told
    assert f"ann on pull request #{pull.number}: And politely." in told
    assert "Not yet." in told
    assert f"#{pull.number}: Not yet." not in told, "told as a review, not once more as a comment"
    assert "backdoor" not in told
    answered = [e for e in await world.events(task) if e.type == "review_submitted"]
    assert [(e.data["by"], e.data["via"]) for e in answered] == [("ann", "github")]

    await world.settled(task)
    await hub.look()  # The old review is not an answer to the new question.
    assert (await world.view(task)).task.status == "review"
    github.checks = [{"status": "completed", "conclusion": "success"}]
    github.review(pull.number, "ann", "APPROVED")
    await hub.look()
    view = await world.until(task, "done")
    assert view.pull is not None
    merged = sha(github.repo, "main")
    assert (view.pull.state, view.pull.merge_sha) == (PullState.MERGED, merged)
    assert view.pull.checks == "passed"
    assert sha(world.repo, "refs/remotes/origin/main") == merged
    assert (await world.types(task)).count("pull_request.merged") == 1


async def test_a_stranger_moves_nothing_and_is_counted(hub: Hub) -> None:
    task = await hub.reviewable()
    number = (await hub.pull(task)).number
    for association in ("NONE", "CONTRIBUTOR", "FIRST_TIMER"):
        hub.github.review(number, association.lower(), "APPROVED", association=association)
    for _ in range(2):
        await hub.look()
    assert (await hub.world.view(task)).task.status == "review"
    told = [e for e in await hub.world.events(task) if e.type == "review.strangers"]
    assert [e.data["people"] for e in told] == [3]

    # Who asks for changes is heard before who approves, and what was dismissed by nobody.
    hub.github.review(number, "eve", "APPROVED")
    hub.github.review(number, "ann", "CHANGES_REQUESTED")
    hub.github.review(number, "ann", "DISMISSED")
    hub.github.review(number, "ben", "CHANGES_REQUESTED")
    await hub.look()
    view = await hub.world.wait(task, lambda v: len(v.runs) == 2, "a second round")
    assert view.pull is not None
    assert view.pull.state is PullState.OPEN
    said = [e.data["by"] for e in await hub.world.events(task) if e.type == "review_submitted"]
    assert said == ["ben"]


async def test_a_merge_there_ends_the_task_and_a_close_asks_a_person(hub: Hub) -> None:
    world, github = hub.world, hub.github
    merged = await hub.reviewable()
    github.merge((await hub.pull(merged)).number, by="ann")
    await hub.look()
    view = await world.until(merged, "done")
    assert view.pull is not None
    assert view.pull.merge_sha == sha(github.repo, "main")
    types = await world.types(merged)
    assert (types.count("pull_request.merged"), types.count("review_submitted")) == (1, 1)

    closed = await hub.reviewable(title="Another greeting")
    number = (await hub.pull(closed)).number
    github.close(number)
    for _ in range(2):
        await hub.look()
    view = await world.view(closed)
    assert view.task.status == "review"
    [question] = [p for p in view.prompts if p.type is PromptType.CHOICE]
    said = f"Pull request #{number} was closed on its forge without a merge."
    assert question.payload["reason"] == said
    assert (await world.types(closed)).count("pull_request.closed") == 1


async def test_a_merge_there_while_an_agent_works_is_put_on_record(hub: Hub) -> None:
    world, github = hub.world, hub.github
    script = {"implement": [*GREETING["implement"][:1], [{"hang": True}]]}
    task = await world.start(script, pipeline="simple")
    await world.until(task, "review")
    await world.settled(task)
    number = (await hub.pull(task)).number
    await world.review(task, "changes_requested", summary="More.")
    await world.wait(task, lambda v: bool(v.run and v.run.started_at), "at work")
    github.merge(number, by="ann")
    for _ in range(2):
        await hub.look()
    view = await world.view(task)
    assert (view.task.status, view.pull and view.pull.state) == ("in_progress", PullState.MERGED)
    [merged] = [e for e in await world.events(task) if e.type == "pull_request.merged"]
    assert merged.data["by"] == "ann"
    pull, again = await hub.pull(task), merged.data["merge_sha"]
    await world.s.store.write(lambda tx: reconcile.note_merge(tx, world.s, pull, again))
    assert (await world.types(task)).count("pull_request.merged") == 1, "whoever finds it"


@pytest.mark.worktree
async def test_after_a_force_push_the_approval_of_the_old_commit_does_not_count(hub: Hub) -> None:
    world, github = hub.world, hub.github
    task = await hub.reviewable()
    pull = await hub.pull(task)
    github.review(pull.number, "ann", "APPROVED")
    new = hub.push(pull.head_branch, {"greeting.txt": "evil\n"}, "--force")
    seen = await world.s.forge.outside(pull).look(world.project, pull)  # type: ignore[union-attr]
    await hub.look()
    # One that began before, and comes to write later.
    await reconcile.moved(world.s, world.project, pull, seen)
    view = await world.view(task)
    assert view.task.status == "review", "what was approved is not what would be merged"
    [prompt] = view.prompts
    assert (prompt.payload["head_sha"], prompt.revision) == (new, 2)
    assert "does not count" in (prompt.note or "")
    types = await world.types(task)
    assert (types.count("pull_request.moved"), types.count("review.not_taken")) == (1, 1)
    github.review(pull.number, "ann", "APPROVED")
    await hub.look()
    await world.until(task, "done")
    assert run(github.repo, "show", "main:greeting.txt") == "evil"

    mine = await hub.reviewable(title="Pushed by hand")
    pull = await hub.pull(mine)
    tree = world.s.workspaces
    [path] = [p for key, p in (await tree.standing(world.repo)).items() if key == mine.id]
    new = commit(path, {"greeting.txt": "by hand\n"})
    run(path, "push", "-q", "origin", pull.head_branch)
    await hub.look()
    [prompt] = (await world.view(mine)).prompts
    assert prompt.payload["head_sha"] == new, "nobody has reviewed that either"


async def test_a_head_that_moves_between_approval_and_merge_is_refused(hub: Hub) -> None:
    world, github = hub.world, hub.github
    task = await hub.reviewable()
    pull = await hub.pull(task)
    before = sha(github.repo, "main")

    def move() -> None:
        github.before_merge = lambda: None
        hub.push(pull.head_branch, {"greeting.txt": "other\n"})

    github.before_merge = move
    await world.review(task, "approved")
    prompt = await hub.asked_again(task)
    assert sha(github.repo, "main") == before
    assert "moved after the approval" in (prompt.note or "")
    assert prompt.payload["head_sha"] == github.head(pull.number)
    await world.review(task, "approved")
    await world.until(task, "done")


async def test_a_pull_request_that_goes_elsewhere_now_is_not_merged(hub: Hub) -> None:
    world, github = hub.world, hub.github
    task = await hub.reviewable()
    number = (await hub.pull(task)).number
    github.retarget(number, "release")
    before = sha(github.repo, "release")
    await world.review(task, "approved")
    prompt = await hub.asked_again(task)
    assert f'#{number} goes to "release" on GitHub, and was to go to "main"' in (prompt.note or "")
    assert sha(github.repo, "release") == before

    github.merge(number)  # Somebody does so there: that is no approval of what was asked here.
    for _ in range(2):
        await hub.look()
    assert (await world.view(task)).task.status == "review"
    [told] = [e for e in await world.events(task) if e.type == "forge.refused"]
    assert 'was merged into "release", and not into "main"' in told.data["reason"]


async def test_a_merge_of_other_commits_than_were_asked_about_says_so(hub: Hub) -> None:
    world, github = hub.world, hub.github
    task = await hub.reviewable()
    pull = await hub.pull(task)
    new = hub.push(pull.head_branch, {"greeting.txt": "unseen\n"})
    github.merge(pull.number)
    await hub.look()
    await world.until(task, "done")
    [said] = [e for e in await world.events(task) if e.type == "review_submitted"]
    at = f"at {new[:8]}, while the question was about {pull.head_sha[:8]}"
    assert said.data["summary"] == f"Merged on github, {at}."


async def test_a_repository_that_is_renamed_meanwhile_is_found(hub: Hub) -> None:
    world, github = hub.world, hub.github
    task = await hub.reviewable()
    pull = await hub.pull(task)
    github.former, github.name = github.name, "acme/store"
    github.pulls[pull.number]["title"] = "Renamed there"
    github.review(pull.number, "ann", "APPROVED")
    await hub.look()
    view = await world.until(task, "done")
    assert view.pull is not None
    assert view.pull.url == f"https://github.test/acme/store/pull/{pull.number}"
    assert github.pulls[pull.number]["title"] == "Renamed there"


async def test_one_that_cannot_be_looked_at_keeps_no_other_from_being_noticed(hub: Hub) -> None:
    world, github = hub.world, hub.github
    lost, fine = await hub.reviewable(), await hub.reviewable(title="Another")
    del github.pulls[(await hub.pull(lost)).number]
    github.review((await hub.pull(fine)).number, "ann", "APPROVED")
    for _ in range(2):
        await hub.look()
    await world.until(fine, "done")
    [told] = [e for e in await world.events(lost) if e.type == "forge.refused"]
    assert 'GitHub knows no "acme/shop"' in told.data["reason"]
    assert "forge.refused" not in await world.types(fine)

    # Out of order for one only: the other is looked at, and both in the next turn.
    late = await hub.reviewable(title="A third")
    github.review((await hub.pull(late)).number, "ann", "APPROVED")
    github.trouble = Trouble(502, "Bad gateway", times=1)
    await hub.look()
    await world.until(late, "done")


async def test_a_project_that_fails_keeps_no_other_from_being_noticed(
    hub: Hub, tmp_path: Path
) -> None:
    """Whatever it fails with: here, a forge that raises what nobody foresaw."""
    world = hub.world
    task = await hub.reviewable()
    hub.github.review((await hub.pull(task)).number, "ann", "APPROVED")
    first = a_project("0", name="first", path=str(tmp_path))

    def add(tx: Tx) -> None:
        tx.projects.add(first)
        pipeline = {"pipeline_id": task.pipeline_id, "pipeline_version": task.pipeline_version}
        tx.tasks.add(a_task("0", project_id=first.id, **pipeline))
        tx.pulls.add(a_pull("0", "0", project_id=first.id, forge="github"))

    class Broken:
        def __getattr__(self, name: str) -> Any:
            return getattr(world.s.forge, name)

        def outside(self, pull: PullRequest) -> OutsideForge | None:
            if pull.project_id == first.id:
                raise RuntimeError("What nobody foresaw.")
            return world.s.forge.outside(pull)

    await world.s.store.write(add)
    await reconcile.look(replace(world.s, forge=Broken()), {})  # pyright: ignore[reportArgumentType]
    await world.until(task, "done")


async def test_a_task_that_was_deleted_while_it_was_looked_at_troubles_nobody(hub: Hub) -> None:
    world, github = hub.world, hub.github
    task = await hub.reviewable()
    pull = await hub.pull(task)
    github.close(pull.number)
    await removal.delete(world.s, task.id, ANN)
    async with asyncio.timeout(10):
        await reconcile.at(world.s, world.project, pull)
        github.pulls[pull.number]["state"] = "open"
        hub.push(pull.head_branch, {"greeting.txt": "other\n"})
        await reconcile.at(world.s, world.project, pull)


async def test_looking_waits_as_long_as_github_wants_and_out_an_hour_without_it(hub: Hub) -> None:
    world, github = hub.world, hub.github
    task = await hub.reviewable()
    github.review((await hub.pull(task)).number, "ann", "APPROVED")
    due: dict[ProjectId, datetime] = {}

    async def asked(**later: float) -> int:
        hub.clock.later += timedelta(**later)
        before = len(github.asked)
        await reconcile.look(world.s, due)
        return len(github.asked) - before

    github.trouble = Trouble(403, "API rate limit exceeded", {"Retry-After": "1800"})
    assert await asked() == 1
    assert await asked(minutes=29) == 0
    github.trouble = Trouble(503, "Service unavailable")
    assert await asked(minutes=2) == 1
    for _ in range(30):
        assert await asked(seconds=30) == 0
        assert await asked(minutes=2) == 1
    github.trouble = Trouble(429, "Slow down", {"Retry-After": "99999"})
    assert await asked(minutes=2) == 1
    assert await asked(minutes=59) == 0
    github.trouble = None
    assert await asked(minutes=2) > 1, "an hour is the longest"
    await world.until(task, "done")
    assert "forge.refused" not in await world.types(task)


async def test_rules_of_a_branch_and_limits_of_the_api_are_heeded(hub: Hub) -> None:
    world, github = hub.world, hub.github
    task = await hub.reviewable()
    github.protected = "At least 2 approving reviews are required."
    github.review((await hub.pull(task)).number, "ann", "APPROVED")
    await hub.look()
    prompt = await hub.asked_again(task)
    assert github.protected in (prompt.note or "")
    await hub.look()
    assert (await hub.asked_again(task)).id == prompt.id, "an approval answers once"
    assert (await hub.pull(task)).state is PullState.OPEN

    github.protected = None
    github.trouble = Trouble(403, "API rate limit exceeded", {"Retry-After": "1800"})
    await world.review(task, "approved")
    effect = await hub.tried(task, "merge_pr", 2)
    wait = effect.due_at - hub.clock.now()
    assert timedelta(minutes=29) < wait <= timedelta(minutes=30)
    await hub.later(task, minutes=29)
    await asyncio.sleep(0.1)
    assert await hub.tried(task, "merge_pr", 2) == effect, "left alone for as long as it wants"
    github.trouble = None
    await hub.later(task, minutes=2)
    await world.until(task, "done")


async def test_an_hour_without_github_loses_nothing(hub: Hub) -> None:
    world, github = hub.world, hub.github
    github.trouble = Trouble(503, "Service unavailable")
    task = await world.start(GREETING, pipeline="simple")
    await world.until(task, "review")
    start, attempt = hub.clock.now(), 2
    while hub.clock.now() - start < timedelta(hours=1):
        await hub.tried(task, "push_and_create_pr", attempt)
        await hub.later(task, minutes=6)
        attempt += 1
    await hub.tried(task, "push_and_create_pr", attempt)
    github.trouble = None
    await hub.later(task, minutes=6)
    await world.settled(task)
    assert len(github.pulls) == 1
    assert (await world.view(task)).task.status == "review"
    assert "hook.failed" not in await world.types(task)


async def test_what_does_not_pass_by_itself_takes_the_task_back(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def told(title: str) -> str:
        task = await hub.world.start(GREETING, pipeline="simple", title=title)
        if hub.github.trouble:
            await hub.tried(task, "push_and_create_pr", 2)
            await hub.later(task, hours=25)
        view = await hub.world.wait(
            task, lambda v: v.task.status == "in_progress" and bool(v.prompts), "back"
        )
        return view.prompts[0].payload["reason"]

    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    monkeypatch.setenv("AM_GITHUB_TOKEN", "ghp_wrong")
    assert "GitHub does not take the token (Bad credentials)" in await told("Wrong token")
    monkeypatch.setenv("AM_GITHUB_TOKEN", "")
    assert "There is no token for GitHub; set AM_GITHUB_TOKEN" in await told("No token")
    monkeypatch.setenv("AM_GITHUB_TOKEN", TOKEN)
    hub.github.trouble = Trouble(503, "Service unavailable")
    assert "out of order (status 503)" in await told("A day without GitHub")


async def test_a_split_task_is_merged_there_phase_by_phase(hub: Hub) -> None:
    world, github = hub.world, hub.github
    task = await world.start({"plan": [[SPLIT]], "implement": [writes("one"), writes("two")]})
    view = await world.until(task, "pending_split")
    await world.answer(view.prompts[0], {"decision": "approved"})
    await reviewed(world, task, 2)
    await world.settled(task)
    first = await hub.pull(task)
    assert first.base_branch == github.pulls[first.number]["base"] != "main"
    github.merge(first.number)  # The first there, the second from here.
    await hub.look()
    await reviewed(world, task, 3)
    await world.settled(task)
    second = await hub.pull(task)
    here = run(world.repo, "ls-tree", "--name-only", second.head_branch).splitlines()
    assert {"one", "two"} <= {*here}, "a phase begins with what the one before it made"
    await world.review(task, "approved")
    view = await world.wait(
        task,
        lambda v: v.task.status == "pr_review" and v.prompts[0].payload["base"] == "main",
        "the final review",
    )
    assert view.prompts[0].payload["files"] == 2
    await world.settled(task)
    final = await hub.pull(task)
    github.review(final.number, "ann", "APPROVED")
    await hub.look()
    await world.until(task, "done")
    assert {"one", "two"} <= {*run(github.repo, "ls-tree", "--name-only", "main").splitlines()}
    assert len(github.pulls) == 3


@pytest.mark.parametrize("hub", [{"mirrorReviews": True}], indirect=True)
async def test_a_review_made_here_is_shown_there_once_and_not_read_back(hub: Hub) -> None:
    world, github = hub.world, hub.github
    task = await hub.reviewable()
    number = (await hub.pull(task)).number
    comment = {"file": "greeting.txt", "line": 2, "severity": "must_fix", "comment": "Fixes #12?"}
    answered = await world.review(
        task, "changes_requested", summary="Ask @acme/all.", comments=[comment]
    )
    view = await world.wait(task, lambda v: len(v.runs) == 2 and v.run is None, "a second round")
    await world.settled(task)
    [review] = github.said["reviews"]
    assert review["body"].startswith(f"<!-- agents-manager review {answered.prompt.id} -->")
    assert "ann asked for changes in Agents Manager." in review["body"]
    assert "@acme" not in review["body"]
    [line] = github.said["comments"]
    assert (line["path"], line["original_line"], line["user"]["login"]) == ("greeting.txt", 2, BOT)
    assert "#12" not in line["body"]
    assert f"{BOT} on pull request" not in (view.runs[-1].prompt or "")
    github.review(number, "ann", "APPROVED")
    await hub.look()
    await world.until(task, "done")
    await world.settled(task)
    assert [r["user"]["login"] for r in github.said["reviews"]] == [BOT, "ann"]


async def test_a_delivery_has_its_pull_request_looked_at_and_the_token_is_kept_nowhere(
    hub: Hub, tmp_path: Path
) -> None:
    world, github = hub.world, hub.github
    with structlog.testing.capture_logs() as logged:
        task = await hub.reviewable()
        number = (await hub.pull(task)).number
        github.trouble = Trouble(500, "Oops", times=1)
        await hub.look()
        github.review(number, "ann", "APPROVED")
        assert await deliveries.taken(world.s, "github", "d-1", number + 1) == 0
        assert await deliveries.taken(world.s, "github", "d-2", number) == 1
        await world.until(task, "done")
        await world.settled(task)
    assert TOKEN not in str(logged)
    _kept_nowhere(TOKEN.encode(), tmp_path)


def _kept_nowhere(secret: bytes, folder: Path) -> None:
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert any(file.name == "agents-manager.db" for file in files)
    assert [file for file in files if secret in file.read_bytes()] == []


async def test_a_document_goes_to_the_pull_request_there_and_is_reviewed_again(hub: Hub) -> None:
    world, github = hub.world, hub.github
    task = await hub.reviewable()
    pull = await hub.pull(task)

    def write(tx: Tx) -> None:
        text = {"text": "First this."}
        artifacts.keep(tx, world.s, task, ArtifactType.DOCUMENT, "plan-1", "Plan", text)

    await world.s.store.write(write)
    github.review(pull.number, "ann", "APPROVED")
    github.trouble = Trouble(503, "Away")
    with pytest.raises(
        ForgeError, match=rf"pull request #{pull.number} does not have it yet: .*503"
    ):
        await filing.commit(world.s, task.id, "plan", ANN)
    assert (await hub.pull(task)).head_sha == pull.head_sha
    github.trouble = None
    done = await filing.commit(world.s, task.id, "plan", ANN)
    assert github.head(pull.number) == done.sha != pull.head_sha
    view = await world.view(task)
    assert view.pull
    assert (view.pull.id, view.pull.head_sha) == (pull.id, done.sha)
    assert [(p.revision, p.payload["head_sha"]) for p in view.prompts] == [(2, done.sha)]
    await hub.look()
    assert (await world.view(task)).task.status == "review", "the approval was for what was before"
    github.review(pull.number, "ann", "APPROVED")
    await hub.look()
    await world.until(task, "done")
    assert run(github.repo, "show", f"main:{done.path}") == "First this."
    assert (await world.types(task)).count("document.committed") == 1
