"""Where the work is done."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol

from agents_manager.domain.build_products import BUILT_IN, BuildProducts
from agents_manager.domain.change import ChangedFile, FileChange
from agents_manager.domain.event import Event
from agents_manager.domain.lines import Became
from agents_manager.flow.ports.forges import Conflicted

WorkspaceKind = Literal["auto", "worktree", "clone"]
"""`auto` is a clone for an agent in a sandbox, where a clone has all that it needs; else a
worktree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    path: Path
    branch: str
    head_sha: str
    """The branch when the workspace was handed out."""
    created: bool
    state: Path
    """The repository's own folder about this workspace; it goes when the workspace goes."""
    events: tuple[Event, ...] = ()
    """What happened while it was made ready."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What work in a workspace takes, a commit above all; the rest may be out of reach."""

    writes: tuple[Path, ...]
    reads: tuple[Path, ...] = ()
    """What is only read, also inside of what may be written."""
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """What git has to be told where it cannot read the user's settings."""


NOTHING = Reach(writes=())


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceRules:
    """How workspaces of a project are made ready, as configured."""

    root: Path | None = None
    """Where they lie; in the data directory unless given."""
    rebase: bool = False
    """Whether a branch is rebased onto its base before a run."""
    tell_leftovers: bool = True
    """Whether a run is told of the uncommitted work of an earlier one."""
    kind: WorkspaceKind = "auto"
    kept: bool = False
    """Whether it is for an agent in a sandbox."""
    import_limit: int = 512 * 1024 * 1024
    """How many bytes are taken over from a clone at once, at most."""
    keep: bool = False
    """Whether the workspace stays when its task is finished."""
    build_products: BuildProducts = BUILT_IN
    """Files that neither a commit of uncommitted work nor a snapshot holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncludedFiles:
    """Ignored files of the main checkout that workspaces and check copies get."""

    repo: Path
    paths: tuple[str, ...] = ()
    """Relative to the checkout."""
    refused: tuple[str, ...] = ()
    """Files that match but are not copied, each with the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """The result of committing what an agent left uncommitted."""

    sha: str | None
    """The new commit, or None if there was nothing to commit."""
    left_out: tuple[str, ...] = ()
    """The build products that stay uncommitted in the workspace; a folder ends in a slash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """What became of what a removed workspace held."""

    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Work that no branch holds, saved before a reset or a removal."""

    number: int
    key: str
    ref: str
    sha: str
    head: str | None
    """The commit it was made on."""
    taken_at: datetime
    files: tuple[str, ...]
    """What differs from that commit; none where the commit itself was saved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedRef:
    """A snapshot as its name and its commit tell it."""

    key: str
    number: int
    ref: str
    sha: str
    taken_at: datetime
    commits: bool
    """Whether it holds commits that no branch had."""
    bytes: int
    """What it alone takes in the repository."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a branch holds beyond its base."""

    base_sha: str
    head_sha: str
    commits: tuple[Mapping[str, str], ...]
    """`sha`, `subject`, `author`, oldest first."""
    files: int
    additions: int
    deletions: int
    policy: tuple[str, ...] = ()
    """Those of the files that tell agents and checks what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pushed:
    """What came of bringing a branch to the remote."""

    remote: str
    sha: str
    """Where the branch stands here."""
    refused: str | None
    """Why the remote does not hold that, with the way out; None when it does."""
    held: bool = False
    """Whether it was not even asked, as there seems to be a secret in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FiledAs:
    """A file that is to be committed."""

    key: str
    """What it is; the same one at the same path is committed once."""
    path: str
    text: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Filed:
    sha: str
    ours: bool
    """Whether the commit was made for this key, now or before."""


class Workspaces(Protocol):
    async def validate(self, path: Path) -> tuple[Path, str]:
        """The top folder of the repository's main worktree and its current branch;
        InvalidRepository otherwise."""
        ...

    async def is_same(self, one: Path, other: Path) -> bool:
        """Whether two folders are worktrees of the same repository."""
        ...

    async def ensure_branch(self, repo: Path, branch: str, base: str) -> bool:
        """Creates the branch from the base unless it exists; True when it was created."""
        ...

    @property
    def agent_env(self) -> Mapping[str, str]:
        """What git must be told wherever an agent calls it."""
        ...

    async def reach(self, workspace: Path, branch: str) -> Reach:
        """What an agent needs that works in a workspace and commits to its branch."""
        ...

    async def prepare(
        self, repo: Path, key: str, branch: str, base: str, rules: WorkspaceRules = ...
    ) -> Workspace:
        """The task's own workspace on its branch, created, reused or rebuilt, brought up to date
        and locked; left-over work of an earlier run is saved as a snapshot first."""
        ...

    async def included(self, repo: Path, patterns: Sequence[str]) -> IncludedFiles:
        """Returns the ignored files of the checkout that match the patterns, in gitignore
        syntax."""
        ...

    async def place(
        self, files: IncludedFiles, tree: Path, state: Path | None = None
    ) -> Sequence[str]:
        """Copies the files into a tree and returns the paths that were written. With the state
        folder of a workspace, a file that was copied before follows its source unless it was
        changed since; other files that are there already stay."""
        ...

    async def release(self, workspace: Path) -> None:
        """Takes back the lock of `prepare`; nothing if there is none."""
        ...

    async def inputs(self, repo: Path, sha: str, patterns: Sequence[str]) -> str:
        """Changes whenever a file of the commit changes whose path fits one of the patterns."""
        ...

    async def gather(self, workspace: Path, branch: str) -> None:
        """Brings what an agent committed to the branch in the project's repository, where its
        workspace does not share it; ImportRefused when that cannot be taken."""
        ...

    async def commit_all(
        self, workspace: Path, branch: str, message: str, rules: BuildProducts = BUILT_IN
    ) -> Committed:
        """Commits what the agent left uncommitted, except build products, after gathering what it
        committed."""
        ...

    async def altered(self, workspace: Path, branch: str) -> list[str]:
        """The files of the branch's newest commit that are changed or gone in the workspace, staged
        or not; files that git does not track are not looked at."""
        ...

    async def save(self, workspace: Path) -> Sequence[Event]:
        """Saves what no commit holds as a snapshot, and leaves it where it is; nothing when the
        last snapshot has it already."""
        ...

    async def ends(self, repo: Path, branch: str, base: str) -> tuple[str, str]:
        """Where a branch left its base, and its newest commit; InvalidRepository if it did not
        grow from the base."""
        ...

    async def between(self, repo: Path, base_sha: str, head_sha: str) -> Change: ...
    async def change(self, repo: Path, branch: str, base: str) -> Change:
        """What lies between the ends of the branch."""
        ...

    async def diff(self, repo: Path, base_sha: str, head_sha: str) -> str: ...
    async def files(self, repo: Path, base_sha: str, head_sha: str) -> list[ChangedFile]:
        """Which differ between two commits, by path."""
        ...

    async def file(self, repo: Path, base_sha: str, head_sha: str, file: ChangedFile) -> FileChange:
        """How one of them differs."""
        ...

    async def became(
        self, repo: Path, old_sha: str, new_sha: str, paths: Collection[str]
    ) -> Mapping[str, Became] | None:
        """What the files of these paths are in the newer commit, but those that did not change;
        None where one of the commits is gone."""
        ...

    async def paths(self, repo: Path, sha: str, pattern: str) -> Sequence[str]:
        """Returns the paths of a commit's files that match a regular expression as a whole."""
        ...

    async def copy_out(
        self, repo: Path, sha: str, folders: Mapping[str, str], target: Path
    ) -> Sequence[str]:
        """Copies each folder of a commit to the target under its name, and returns the names of
        those that are not too large. Links and submodules are left out."""
        ...

    async def texts(self, repo: Path, sha: str, paths: Collection[str]) -> Mapping[str, str]:
        """Returns the text files of a commit among the paths. Symbolic links are followed inside of
        the commit, and never out of it."""
        ...

    async def file_away(self, repo: Path, branch: str, filed: FiledAs, *, replace: bool) -> Filed:
        """Commits a file to a branch, and its clean checkouts follow. Refused while an agent works
        there, through a link, and, unless told to replace it, over other content."""
        ...

    async def take_back(self, repo: Path, branch: str, sha: str, message: str) -> None:
        """Makes the branch hold what it held at an earlier commit, by a commit on top; nothing
        where it does already. The next `prepare` brings workspaces there."""
        ...

    async def join(self, repo: Path, branch: str, part: str, message: str) -> str | Conflicted:
        """Merges the branch of a part into another, whose clean checkouts follow; nothing where it
        is there already. The commit that the branch stands at then."""
        ...

    async def adopt(self, repo: Path, branch: str, sha: str, message: str) -> str:
        """Makes a branch hold what a commit holds, and its clean checkouts follow: by moving it
        forward where the commit grew from it, else by a commit on top of both. Nothing where it
        does already. The commit that the branch stands at then."""
        ...

    async def shelve(self, repo: Path, key: str, branch: str) -> Sequence[Event]:
        """Takes a branch away, its commits saved as a snapshot first unless another branch or
        snapshot has them; one that somebody has checked out stays."""
        ...

    async def push(self, repo: Path, branch: str) -> Pushed | None:
        """Brings the branch to the remote unless it is there already, never by force; None where
        there is no remote."""
        ...

    async def stands_at(self, repo: Path, branch: str) -> str | None:
        """The newest commit of a branch here; None when there is no such branch."""
        ...

    async def change_there(self, repo: Path, branch: str, base: str) -> Change | None:
        """What a branch holds beyond its base as the remote has it, fetched; None where it has no
        such branch."""
        ...

    async def remove(self, repo: Path, key: str, *, idle: bool = False) -> Removed:
        """Takes the workspace away, what no commit holds saved first; with `idle`, WorkspaceInUse
        while it is locked for a run."""
        ...

    async def spare(self, repo: Path, key: str) -> bool:
        """Whether nobody works in a workspace of the data directory, and a branch holds all that is
        in it."""
        ...

    async def snapshots(self, repo: Path, key: str | None, after: int = 0) -> list[Snapshot]:
        """The snapshots of a task, or of all, oldest first."""
        ...

    async def standing(self, repo: Path) -> Mapping[str, Path]:
        """The workspaces of tasks that there are, by key."""
        ...

    async def saved(self, repo: Path) -> list[SavedRef]:
        """Every snapshot, by one look; `snapshots` tells what is in them."""
        ...

    async def forget(self, repo: Path, saved: SavedRef) -> None:
        """Removes a snapshot, unless it is another one by now."""
        ...

    async def restore(self, repo: Path, snapshot: Snapshot, workspace: Workspace) -> None:
        """Puts the work of a snapshot on top of what a clean workspace holds, uncommitted;
        RestoreRefused where both changed the same."""
        ...

    async def restore_to(self, repo: Path, snapshot: Snapshot, branch: str) -> None:
        """Makes a new branch of the snapshot; RestoreRefused when there is one of that name."""
        ...
