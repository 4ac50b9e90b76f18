"""Pull requests on GitHub. Every call looks first, so that doing it again does nothing new; what
GitHub says is believed about pull requests only, and people count only if they have access."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from urllib.parse import quote, urlencode

from agents_manager.domain import names
from agents_manager.domain.comment import Comment
from agents_manager.domain.issue import Found, Note, Reference, Wanted
from agents_manager.domain.task import MergeMethod, Project, PullRequest, PullState, Task
from agents_manager.errors import AgentsManagerError, ForgeUnavailable, HookFailed
from agents_manager.flow.ports import (
    Clock,
    Configs,
    Conflicted,
    Ids,
    Merged,
    OwnReview,
    Sighting,
    Store,
)
from agents_manager.scm import (
    commits,
    credentials,
    github_api,
    github_issues,
    github_reading,
    joining,
    landing,
    pull_rows,
    pull_text,
    remotes,
)
from agents_manager.scm.credentials import Key
from agents_manager.scm.git import Place, branch_tip, common_dir, contains, locked
from agents_manager.scm.github_api import OF_ISSUES, OF_PULLS, Api, Memory, Reply, Use
from agents_manager.scm.github_models import GitRef, MergeDone, Numbered, Pull, Review

NAME = "github"
TITLE_LIMIT = 250
"""GitHub takes six more."""
AGAIN_S = 3.0
"""GitHub takes a moment to find out whether branches can be merged."""


class GitHub:
    def __init__(self, store: Store, clock: Clock, ids: Ids, configs: Configs) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids
        self._configs = configs
        self._memory = Memory()

    async def trouble(self, project: Project) -> str | None:
        """By looking; nothing is sent anywhere."""
        try:
            await self._place(project)
        except AgentsManagerError as error:
            return error.message
        return None

    async def publish(
        self, project: Project, task: Task, branch: str, base: str, title: str, body: str
    ) -> PullRequest:
        place = Place(git_dir=await common_dir(Path(project.path)))
        head = await commits.tip_or_refuse(place, branch)
        subject, text = names.one_line(title), pull_text.bounded(body)
        async with self._api(project) as api:
            await _has_branch(api, branch, head)
            known = await self._store.read(lambda tx: tx.pulls.find(project.id, branch, base))
            found = await _found(api, branch, base, head)
            if found is None:
                found = await _created(api, branch, base, head, subject, text)
            elif known and _is(known, found) and found.state == "open":
                # Where only GitHub's differ, somebody wrote them there.
                await _edited(api, known, subject, text)
        new_id, now, state = self._ids.new(), self._clock.now(), _state(found)
        there = pull_rows.Opened(
            forge=NAME,
            number=found.number,
            url=found.html_url,
            branch=found.head.ref,
            base=found.base.ref,
            head=head,
            title=subject,
            body=text,
            state=state,
            merge_sha=found.merge_commit_sha if state is PullState.MERGED else None,
        )
        return await self._store.write(
            lambda tx: pull_rows.put(tx, now, new_id, project, task, there)
        )

    async def merge(
        self, project: Project, pull: PullRequest, head_sha: str, method: MergeMethod
    ) -> Merged | Conflicted:
        head = commits.checked(head_sha)
        async with self._api(project) as api:
            there = await api.get(f"/pulls/{pull.number}", Pull)
            result = await self._merged(api, project, pull, there, head, method)
        if isinstance(result, Merged):
            await self._bring_up(project, pull)
            now, sha = self._clock.now(), result.sha
            fields = {"state": PullState.MERGED, "merge_sha": sha, "head_sha": there.head.sha}
            await self._store.write(lambda tx: tx.pulls.update(pull.id, now, **fields))
        return result

    async def _merged(
        self,
        api: Api,
        project: Project,
        pull: PullRequest,
        there: Pull,
        head: str,
        method: MergeMethod,
    ) -> Merged | Conflicted:
        if there.base.ref != pull.base_branch:
            # Nobody here has approved of that.
            raise HookFailed(
                f'Pull request #{pull.number} goes to "{there.base.ref}" on GitHub, and was to go '
                f'to "{pull.base_branch}"; change its base back there, then approve again.'
            )
        if there.merged_at is not None:
            return Merged(sha=there.merge_commit_sha or there.head.sha)
        if there.state == "closed":
            raise HookFailed(f"Pull request #{pull.number} is closed.")
        order = {"sha": head, "merge_method": method.value}
        made = await api.send("PUT", f"/pulls/{pull.number}/merge", order, allowed=(405, 409, 422))
        if made.status == 200:
            return Merged(sha=made.read(MergeDone).sha)
        again = await api.get(f"/pulls/{pull.number}", Pull)
        if again.head.sha != head:
            raise _moved(pull, head, again.head.sha)
        if again.mergeable is False:
            return await self._conflict(project, pull, head)
        if again.mergeable is None or made.status == 409 or "was modified" in made.says:
            told = f"GitHub cannot say yet whether #{pull.number} can be merged: {made.says}"
            raise ForgeUnavailable(told, AGAIN_S)
        raise HookFailed(
            f"GitHub does not merge pull request #{pull.number}: {made.says}. Do what the rules of "
            f'"{pull.base_branch}" ask for there, then approve again.'
        )

    async def _conflict(self, project: Project, pull: PullRequest, head: str) -> Conflicted:
        """GitHub does not say where: the branches themselves do, if they are here."""
        remote = await self._remote(project)
        if remote is not None and await remotes.fetch(remote, [pull.base_branch]) is None:
            base = await remotes.tip(remote, pull.base_branch)
            # Not in the remote's place: a merge driver is not to have the token.
            tree = base and await joining.joined(Place(git_dir=remote.place.git_dir), base, head)
            if isinstance(tree, Conflicted):
                return tree
        return Conflicted(files=(), message="GitHub says that the branches conflict.")

    async def _bring_up(self, project: Project, pull: PullRequest) -> None:
        """Fetches the base. A branch that phases are merged into has to be here as it is there, for
        the next phase; the user's own branches are theirs to pull."""
        remote = await self._remote(project)
        if remote is None:
            return
        error = await remotes.fetch(remote, [pull.base_branch])
        if error is not None:
            raise ForgeUnavailable(f"#{pull.number} is merged, but not fetched yet: {error}")
        if names.whole_of(pull.head_branch) != pull.base_branch:
            return
        common = await common_dir(Path(project.path))
        async with locked(common):
            place = Place(git_dir=common)
            here = await branch_tip(place, pull.base_branch)
            there = await remotes.tip(remote, pull.base_branch)
            if here and there and here != there and await contains(place, there, here):
                await landing.land(Path(project.path), common, pull.base_branch, here, there)

    async def comments(self, project: Project, pull: PullRequest) -> list[Comment]:
        async with self._api(project) as api:
            return await github_reading.comments(api, pull.number)

    async def look(self, project: Project, pull: PullRequest) -> Sighting:
        async with self._api(project) as api:
            there = await api.get(f"/pulls/{pull.number}", Pull)
            state = _state(there)
            still = state is PullState.OPEN
            reviews, strangers = (
                await github_reading.reviews(api, pull.number) if still else ((), 0)
            )
            checks = await github_reading.checks(api, there.head.sha) if still else pull.checks
        return Sighting(
            state=state,
            head_sha=there.head.sha,
            base_branch=there.base.ref,
            url=there.html_url,
            by=names.visible(there.merged_by.login, 100) if there.merged_by else None,
            checks=checks,
            reviews=reviews,
            strangers=strangers,
        )

    async def mirror(self, project: Project, pull: PullRequest, review: OwnReview) -> None:
        async with self._api(project) as api:
            at = f"/pulls/{pull.number}/reviews"
            mark = f"{github_reading.MARK}{review.key} -->"
            known = await api.pages(at, Review)
            if any(mark in (one.body or "") for one in known):
                return
            last: Reply | None = None
            for form in github_reading.forms(review, mark):
                last = await api.send("POST", at, form, allowed=(422,))
                if last.status != 422:
                    return
            assert last is not None
            raise HookFailed(f"GitHub does not take the review: {last.says}")

    async def issues(self, project: Project, wanted: Wanted) -> Found:
        async with self._api(project, wanted.repository, OF_ISSUES) as api:
            return await github_issues.found(api, wanted)

    async def note(self, project: Project, issue: Reference, note: Note, since: datetime) -> bool:
        async with self._api(project, issue.repository, OF_ISSUES) as api:
            return await github_issues.note(api, issue.number, note, since)

    @asynccontextmanager
    async def _api(
        self, project: Project, named: str | None = None, use: Use = OF_PULLS
    ) -> AsyncGenerator[Api]:
        base, repository, token = await self._place(project, named, use)
        opened = github_api.opened(base, repository, token, self._memory, self._clock, use)
        async with opened as api:
            yield api

    async def _place(
        self, project: Project, named: str | None = None, use: Use = OF_PULLS
    ) -> tuple[str, str, str]:
        """The address of the API, the repository there, and the token."""
        rules = self._configs.of(project).forge
        named = named or rules.repository
        repository = named or await self._named_by_remote(project, rules.base_url, use.way)
        token = await asyncio.to_thread(credentials.token)
        if token is None:
            raise HookFailed(f"There is no token for GitHub; {credentials.WAY}.")
        return rules.base_url, repository, token

    async def _named_by_remote(self, project: Project, base_url: str, way: str) -> str:
        remote = await remotes.of(Place(git_dir=await common_dir(Path(project.path))))
        if remote is None:
            raise HookFailed(f'"{project.path}" has no remote on GitHub: add one, {way}.')
        found = credentials.repository_of(remote.url, base_url)
        if found is None:
            host = credentials.web(base_url)
            raise HookFailed(f'The remote "{remote.name}" is no repository of {host}: {way}.')
        return found

    async def _remote(self, project: Project) -> remotes.Remote | None:
        token = await asyncio.to_thread(credentials.token)
        url = credentials.web(self._configs.of(project).forge.base_url)
        place = Place(git_dir=await common_dir(Path(project.path)))
        return await remotes.of(place, Key(url, token) if token else None)


def _is(known: PullRequest, found: Pull) -> bool:
    return (known.forge, known.number) == (NAME, found.number)


def _state(there: Pull) -> PullState:
    if there.merged_at is not None:
        return PullState.MERGED
    return PullState.OPEN if there.state == "open" else PullState.CLOSED


def _moved(pull: PullRequest, approved: str, now: str) -> HookFailed:
    return HookFailed(
        f'"{pull.head_branch}" moved after the approval of {approved}: it is at {now} now. Review '
        "it again."
    )


async def _has_branch(api: Api, branch: str, head: str) -> None:
    """Without this, GitHub would take a pull request of what was pushed before."""
    found = await api.find(f"/git/ref/heads/{quote(branch)}", GitRef)
    there = found.sha if found else None
    if there != head:
        stands = f"stands at {there[:8]} there" if there else "is not there"
        raise HookFailed(
            f'"{branch}" {stands}, and at {head[:8]} here; push it to {api.repository}, or set '
            "autoPush."
        )


async def _found(api: Api, branch: str, base: str, head: str) -> Pull | None:
    """The pull request that is open, else the one that brought this very commit in."""
    owner = api.repository.partition("/")[0]
    asked = urlencode({"head": f"{owner}:{branch}", "base": base, "state": "all"})
    listed = await api.pages(f"/pulls?{asked}", Pull)
    mine = [p for p in listed if (p.head.ref, p.base.ref) == (branch, base)]
    still = [p for p in mine if p.state == "open"]
    done = [p for p in mine if p.merged_at and p.head.sha == head]
    return next(iter(still or done), None)


async def _created(api: Api, branch: str, base: str, head: str, title: str, body: str) -> Pull:
    new = {"title": _title(title), "body": _body(body), "head": branch, "base": base}
    made = await api.send("POST", "/pulls", new, allowed=(422,))
    if made.status == 201:
        return await api.get(f"/pulls/{made.read(Numbered).number}", Pull)
    # A list may be a moment behind what was made.
    found = await _found(api, branch, base, head)
    if found is None:
        raise HookFailed(f'GitHub opens no pull request from "{branch}" to "{base}": {made.says}')
    return found


async def _edited(api: Api, known: PullRequest, title: str, body: str) -> None:
    changed = {
        **({"title": _title(title)} if title != known.title else {}),
        **({"body": _body(body)} if body != known.body else {}),
    }
    if changed:
        await api.send("PATCH", f"/pulls/{known.number}", changed)


def _title(title: str) -> str:
    return pull_text.harmless(title)[:TITLE_LIMIT]


def _body(body: str) -> str:
    return pull_text.bounded(pull_text.harmless(body))
