"""A forge: pull requests as refs of a bare repository, `refs/pulls/<number>/<branch>`. Whoever
deletes the ref closes the pull request, and `refs/opened/<number>` keeps its number from being used
again; a merge is a commit on the base there."""

import asyncio
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from agents_manager.domain.comment import Comment
from agents_manager.domain.task import MergeMethod, Project, PullRequest, PullState, Task
from agents_manager.errors import ForgeUnavailable, HookFailed
from agents_manager.flow.ports import Conflicted, Merged, OwnReview, Sighting, Tools
from agents_manager.scm import pull_rows

NAME = "plain-git"
USED = "refs/opened/"
PATIENCE_S = 60


class PlainGitSettings(BaseModel):
    model_config = ConfigDict(extra="forbid")

    remote: str = "origin"
    """The remote that the bare repository is."""


class PlainGit:
    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def trouble(self, project: Project) -> str | None:
        try:
            await self._refs(project)
        except ForgeUnavailable as error:
            return error.message
        return None

    async def publish(
        self, project: Project, task: Task, branch: str, base: str, title: str, body: str
    ) -> PullRequest:
        """Every call looks first, so that one that a crash repeats does nothing new."""
        store, refs = self._tools.store, await self._refs(project)
        head = await self._git(project, "rev-parse", f"refs/heads/{branch}")
        if refs.get(f"refs/heads/{branch}") != head:
            raise HookFailed(f'"{branch}" is not at {head[:8]} in the remote; push it.')
        known = await store.read(lambda tx: tx.pulls.find(project.id, branch, base))
        if known and known.state is PullState.MERGED and known.head_sha == head:
            return known
        still = [number for number in _numbers(refs) if _ref(number, branch) in refs]
        number = still[0] if still else max(_numbers(refs), default=0) + 1
        await self._push(project, f"+{head}:{_ref(number, branch)}", f"+{head}:{USED}{number}")
        opened = pull_rows.Opened(
            forge=NAME,
            number=number,
            url="",
            branch=branch,
            base=base,
            head=head,
            title=title,
            body=body,
        )
        return await pull_rows.keep(self._tools, project, task, opened)

    async def merge(
        self, project: Project, pull: PullRequest, head_sha: str, method: MergeMethod
    ) -> Merged | Conflicted:
        seen = await self.look(project, pull)
        base = (await self._refs(project))[f"refs/heads/{pull.base_branch}"]
        if seen.state is PullState.MERGED:
            return await self._merged(pull, pull.merge_sha or base)
        if seen.state is PullState.CLOSED:
            raise HookFailed(f"Pull request #{pull.number} is closed.")
        if seen.head_sha != head_sha:
            raise HookFailed(f'"{pull.head_branch}" moved after the approval of {head_sha}.')
        if method is not MergeMethod.MERGE:
            raise HookFailed(f"{NAME} makes merge commits alone; set forge.mergeMethod to merge.")
        tree = await self._run(project, "merge-tree", "--write-tree", "--name-only", base, head_sha)
        if tree.returncode > 1:
            raise ForgeUnavailable(f"git merge-tree: {tree.stderr.strip()}")
        oid, *names = tree.stdout.split("\n\n")[0].splitlines()
        if tree.returncode == 1:
            return Conflicted(files=tuple(names), message="The branches conflict.")
        words = f"Merge #{pull.number}: {pull.title}"
        new = await self._git(project, "commit-tree", oid, "-p", base, "-p", head_sha, "-m", words)
        await self._push(project, f"{new}:refs/heads/{pull.base_branch}")
        return await self._merged(pull, new)

    async def comments(self, project: Project, pull: PullRequest) -> Sequence[Comment]:
        return []

    async def look(self, project: Project, pull: PullRequest) -> Sighting:
        """It is merged when the base, which is fetched for that, holds its head."""
        refs = await self._refs(project)
        head = refs.get(f"refs/heads/{pull.head_branch}", pull.head_sha)
        base = refs[f"refs/heads/{pull.base_branch}"]
        await self._git(project, "fetch", "-q", self._remote(project), pull.base_branch)
        held = await self._run(project, "merge-base", "--is-ancestor", head, base)
        still = _ref(pull.number, pull.head_branch) in refs
        unmerged = PullState.OPEN if still else PullState.CLOSED
        return Sighting(
            state=PullState.MERGED if held.returncode == 0 else unmerged,
            head_sha=head,
            base_branch=pull.base_branch,
            url="",
            by=None,
            checks=None,
            reviews=(),
            strangers=0,
        )

    async def mirror(self, project: Project, pull: PullRequest, review: OwnReview) -> None:
        """There is no place for reviews in a bare repository."""

    async def _merged(self, pull: PullRequest, sha: str) -> Merged:
        await pull_rows.note_merge(self._tools, pull, sha)
        return Merged(sha=sha)

    def _remote(self, project: Project) -> str:
        return self._tools.configs.of(project).forge.settings.remote

    async def _refs(self, project: Project) -> dict[str, str]:
        told = await self._git(project, "ls-remote", self._remote(project))
        rows = (line.split("\t") for line in told.splitlines())
        return {name: sha for sha, name in rows}

    async def _push(self, project: Project, *what: str) -> None:
        await self._git(project, "push", "-q", self._remote(project), *what)

    async def _git(self, project: Project, *arguments: str) -> str:
        done = await self._run(project, *arguments)
        if done.returncode:
            raise ForgeUnavailable(f"git {arguments[0]}: {done.stderr.strip()}")
        return done.stdout.strip()

    async def _run(self, project: Project, *arguments: str) -> subprocess.CompletedProcess[str]:
        argv = ["git", "-C", str(Path(project.path)), *arguments]
        return await asyncio.to_thread(
            subprocess.run, argv, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )


def _ref(number: int, branch: str) -> str:
    return f"refs/pulls/{number}/{branch}"


def _numbers(refs: Iterable[str]) -> list[int]:
    return [int(name.removeprefix(USED)) for name in refs if name.startswith(USED)]
