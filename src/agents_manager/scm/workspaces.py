"""Both kinds of workspaces behind one port: the rules and the repository say of which kind a new
one is, and what stands tells of which kind it is."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agents_manager.domain.build_products import BUILT_IN, BuildProducts
from agents_manager.domain.event import Event
from agents_manager.flow.ports import Committed, Reach, Removed, Snapshot, Workspace, WorkspaceRules
from agents_manager.scm import desks
from agents_manager.scm.clones import Clones
from agents_manager.scm.credentials import Keys, no_key
from agents_manager.scm.git import Place, common_dir
from agents_manager.scm.repositories import Repositories
from agents_manager.scm.sandboxed import Owner, StartHelper, own_user
from agents_manager.scm.worktrees import DEFAULT_RULES, Worktrees


class ChosenWorkspaces(Repositories):
    def __init__(
        self,
        root: Path,
        keys: Keys = no_key,
        start: StartHelper | None = None,
        owner: Owner = own_user,
    ) -> None:
        super().__init__(root, keys)
        self._worktrees = Worktrees(root, keys)
        self._clones = Clones(root, keys, start, owner)

    async def prepare(
        self, repo: Path, key: str, branch: str, base: str, rules: WorkspaceRules = DEFAULT_RULES
    ) -> Workspace:
        """One of the other kind makes way, its work saved."""
        clone = rules.kind == "clone" or (rules.kind == "auto" and await _suits(repo, rules))
        wanted, other = self._worktrees, self._clones
        if clone:
            wanted, other = other, wanted
        before: Sequence[Event] = ()
        if await other.knows(repo, key):
            before = (await other.remove(repo, key)).events
        made = await wanted.prepare(repo, key, branch, base, rules)
        return replace(made, events=(*before, *made.events))

    async def release(self, workspace: Path) -> None:
        await self._of(workspace).release(workspace)

    async def reach(self, workspace: Path, branch: str) -> Reach:
        return await self._of(workspace).reach(workspace, branch)

    async def gather(self, workspace: Path, branch: str) -> None:
        await self._of(workspace).gather(workspace, branch)

    async def commit_all(
        self, workspace: Path, branch: str, message: str, rules: BuildProducts = BUILT_IN
    ) -> Committed:
        return await self._of(workspace).commit_all(workspace, branch, message, rules)

    async def altered(self, workspace: Path, branch: str) -> list[str]:
        return await self._of(workspace).altered(workspace, branch)

    async def save(self, workspace: Path) -> Sequence[Event]:
        return await self._of(workspace).save(workspace)

    async def restore(self, repo: Path, snapshot: Snapshot, workspace: Workspace) -> None:
        await self._of(workspace.path).restore(repo, snapshot, workspace)

    async def remove(self, repo: Path, key: str, *, idle: bool = False) -> Removed:
        return await (await self._kind_of(repo, key)).remove(repo, key, idle=idle)

    async def spare(self, repo: Path, key: str) -> bool:
        return await (await self._kind_of(repo, key)).spare(repo, key)

    async def standing(self, repo: Path) -> Mapping[str, Path]:
        return {**await self._worktrees.standing(repo), **await self._clones.standing(repo)}

    def _of(self, workspace: Path) -> Worktrees | Clones:
        return self._clones if self._clones.find(workspace) else self._worktrees

    async def _kind_of(self, repo: Path, key: str) -> Worktrees | Clones:
        return self._clones if await self._clones.knows(repo, key) else self._worktrees


async def _suits(repo: Path, rules: WorkspaceRules) -> bool:
    """An agent that nothing keeps could write the user's repository anyhow."""
    return rules.kept and await desks.has_all(Place(git_dir=await common_dir(repo)))
