"""The place of the work, and what is saved of it."""

import shlex
from collections.abc import Sequence
from typing import Literal

from agents_manager.domain.event.happening import Happening, Level, counted_as

MOST_PRODUCTS = 200
"""The largest number of build products that an event names."""
SHOWN_PRODUCTS = 10


class WorkspaceEvent(Happening):
    category = "git"
    run: str | None = None
    """The run that the workspace was made ready for."""


class FetchFailed(WorkspaceEvent):
    level = Level.WARNING
    type: Literal["git.fetch_failed"] = "git.fetch_failed"
    remote: str
    error: str

    def says(self) -> str:
        return f"Could not ask {self.remote} for news; went on with what is here. {self.error}"


class WorkLeft(Happening):
    category = "git"
    level = Level.WARNING
    type: Literal["git.work_left"] = "git.work_left"
    by: str
    heads: tuple[str, ...]

    def says(self) -> str:
        what = f" ({', '.join(self.heads)})" if self.heads else ""
        return f"{self.by} begins again without the work that another machine has{what}."


class BranchAdvanced(WorkspaceEvent):
    type: Literal["git.branch_advanced"] = "git.branch_advanced"
    branch: str
    remote: str

    def says(self) -> str:
        return f"Brought {self.branch} forward to where it is in {self.remote}."


class PartJoined(WorkspaceEvent):
    type: Literal["part.joined"] = "part.joined"
    branch: str
    into: str
    sha: str

    def says(self) -> str:
        return f"Put {self.branch} into {self.into} ({self.sha[:8]})."


class PartConflicted(WorkspaceEvent):
    level = Level.WARNING
    type: Literal["part.conflicted"] = "part.conflicted"
    branch: str
    into: str
    head_sha: str
    files: tuple[str, ...]
    reason: str

    def says(self) -> str:
        what = f"in {', '.join(self.files)}" if self.files else f": {self.reason}"
        return f"{self.branch} cannot be put into {self.into} {what}; its work stays there."


class PartsLeft(WorkspaceEvent):
    level = Level.WARNING
    type: Literal["part.left"] = "part.left"
    branches: tuple[str, ...]

    def says(self) -> str:
        return f"The task ended before its parts were put together: {', '.join(self.branches)}."


class BranchDiverged(WorkspaceEvent):
    level = Level.WARNING
    type: Literal["git.branch_diverged"] = "git.branch_diverged"
    branch: str
    remote: str

    def says(self) -> str:
        return f"{self.branch} and its state in {self.remote} went apart; the one here counts."


class BranchRebased(WorkspaceEvent):
    type: Literal["git.rebased"] = "git.rebased"
    branch: str
    base: str

    def says(self) -> str:
        return f"Rebased {self.branch} onto {self.base}."


class RebaseConflicted(WorkspaceEvent):
    level = Level.WARNING
    type: Literal["git.rebase_conflicted"] = "git.rebase_conflicted"
    branch: str
    base: str
    files: tuple[str, ...]

    def says(self) -> str:
        where = f" in {', '.join(self.files)}" if self.files else ""
        return f"Rebasing {self.branch} onto {self.base} conflicts{where}; it was left as it was."


class WorkspaceRebuilt(WorkspaceEvent):
    level = Level.WARNING
    type: Literal["workspace.rebuilt"] = "workspace.rebuilt"
    branch: str
    reason: str

    def says(self) -> str:
        return f"The workspace was built anew from {self.branch}: {self.reason}."


class WorkspaceIgnored(WorkspaceEvent):
    type: Literal["workspace.ignored"] = "workspace.ignored"
    line: str
    file: str

    def says(self) -> str:
        return f'Added "{self.line}" to {self.file}, as workspaces lie there; it is not committed.'


class SubmodulesMissing(WorkspaceEvent):
    level = Level.WARNING
    type: Literal["workspace.submodules_missing"] = "workspace.submodules_missing"
    paths: tuple[str, ...]
    reason: str

    def says(self) -> str:
        return f"Submodules that are empty in the workspace: {', '.join(self.paths)}. {self.reason}"


class LfsPointers(WorkspaceEvent):
    level = Level.WARNING
    type: Literal["workspace.lfs_pointers"] = "workspace.lfs_pointers"
    reason: str

    def says(self) -> str:
        return f"Files kept in Git LFS are only pointers in the workspace: {self.reason}."


class WorkspaceSetUp(WorkspaceEvent):
    category = "agent"
    type: Literal["workspace.set_up"] = "workspace.set_up"
    commands: tuple[str, ...]

    def says(self) -> str:
        return f"Set up the workspace: {'; '.join(self.commands)}."


class FilesCopied(WorkspaceEvent):
    type: Literal["workspace.files_copied"] = "workspace.files_copied"
    paths: tuple[str, ...]
    refused: tuple[str, ...] = ()
    """Files that match but were not copied, each with the reason."""

    def says(self) -> str:
        told = [f"Copied ignored files into the workspace: {', '.join(self.paths)}."]
        why = [f"Not copied (copyFiles, .worktreeinclude): {'; '.join(self.refused)}."]
        return " ".join([*(told if self.paths else []), *(why if self.refused else [])])


class ProductsLeftOut(WorkspaceEvent):
    type: Literal["git.products_left_out"] = "git.products_left_out"
    paths: tuple[str, ...]
    """Files and folders; a folder ends in a slash."""
    more: int = 0
    """How many others there are."""

    @classmethod
    def from_run(cls, run: str, paths: Sequence[str]) -> "ProductsLeftOut":
        more = max(0, len(paths) - MOST_PRODUCTS)
        return cls(run=run, paths=tuple(paths[:MOST_PRODUCTS]), more=more)

    @property
    def shown(self) -> str:
        more = self.more + len(self.paths[SHOWN_PRODUCTS:])
        others = f" and {more} more" if more else ""
        return ", ".join(self.paths[:SHOWN_PRODUCTS]) + others

    def says(self) -> str:
        return f"Left build products out of the commit: {self.shown}."


class WorkspaceTornDown(WorkspaceEvent):
    type: Literal["workspace.torn_down"] = "workspace.torn_down"
    commands: tuple[str, ...]
    failed: str | None = None
    """Why one of them failed; the workspace is removed all the same."""

    def says(self) -> str:
        if self.failed is not None:
            return f"Teardown of the workspace failed: {self.failed}"
        return f"Tore down the workspace: {'; '.join(self.commands)}."


class WorkspaceRemoved(WorkspaceEvent):
    type: Literal["workspace.removed"] = "workspace.removed"
    kept: str | None = None
    """Where the folder was moved to, as it holds repositories that no snapshot can."""

    def says(self) -> str:
        kept = f" It holds repositories of its own and was kept at {self.kept}."
        return f"Removed the workspace.{kept if self.kept else ''}"


class WorkspaceOrphaned(Happening):
    category = "git"
    level = Level.WARNING
    type: Literal["workspace.orphaned"] = "workspace.orphaned"
    path: str
    removed: bool
    clone: bool = False

    def says(self) -> str:
        whose = f"The {'clone' if self.clone else 'worktree'} {self.path} belongs to no task"
        if self.removed:
            return f"{whose}; it was removed, as a branch holds all that was in it."
        way = "rm -rf" if self.clone else "git worktree remove --force"
        out = f"Take from it what is of use, then: {way} {shlex.quote(self.path)}"
        return f"{whose} and holds work that no branch does. {out}"


class SnapshotSaved(WorkspaceEvent):
    type: Literal["snapshot.saved"] = "snapshot.saved"
    number: int
    ref: str
    files: int

    def says(self) -> str:
        what = counted_as(self.files, "file") if self.files else "commits of no branch"
        return f"Saved left-over work ({what}) as snapshot {self.number}."


class SnapshotRemoved(Happening):
    category = "git"
    type: Literal["snapshot.removed"] = "snapshot.removed"
    number: int
    sha: str

    def says(self) -> str:
        return f"Retention removed snapshot {self.number} ({self.sha[:8]}); its task was merged."


class SnapshotRestored(Happening):
    category = "git"
    type: Literal["snapshot.restored"] = "snapshot.restored"
    number: int
    to: str
    by: str

    def says(self) -> str:
        return f"{self.by} restored snapshot {self.number} to {self.to}."
