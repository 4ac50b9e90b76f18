"""Snapshots as people see them, and the two ways back from one: on top of a clean worktree, or as a
new branch. Neither takes anything away."""

from datetime import datetime

from agents_manager.errors import GitError, RestoreRefused
from agents_manager.flow.ports import SavedRef, Snapshot
from agents_manager.scm.git import Place, branch_tip, commit_of, first_error, git
from agents_manager.scm.snapshots import SNAPSHOTS

FIELDS = "--format=%(refname) %(objectname) %(committerdate:iso-strict) %(parent)"
OURS = "Snapshot of "


async def listed(place: Place, key: str | None, after: int = 0) -> list[Snapshot]:
    below = f"{SNAPSHOTS}/{key}/" if key else f"{SNAPSHOTS}/"
    refs = await git(place, "for-each-ref", FIELDS, below)
    found = [await _snapshot(place, line, after) for line in refs.line.splitlines()]
    return sorted((s for s in found if s), key=lambda s: (s.key, s.number))


async def saved(place: Place) -> list[SavedRef]:
    told = "--format=%(refname) %(objectname) %(committerdate:iso-strict) %(subject)"
    refs = await git(place, "for-each-ref", told, f"{SNAPSHOTS}/")
    found: list[SavedRef] = []
    for line in refs.line.splitlines():
        ref, sha, time, *subject = line.split(" ", 3)
        key, _, number = ref.removeprefix(f"{SNAPSHOTS}/").rpartition("/")
        if not number.isdecimal():
            continue
        found.append(
            SavedRef(
                key=key,
                number=int(number),
                ref=ref,
                sha=sha,
                taken_at=datetime.fromisoformat(time),
                commits=not "".join(subject).startswith(OURS),
                bytes=await _size(place, sha),
            )
        )
    return found


async def _size(place: Place, sha: str) -> int:
    alone = ("rev-list", "--objects", "--disk-usage", sha, "--not", "--branches", "--remotes")
    return int((await git(place, *alone)).line)


async def _snapshot(place: Place, line: str, after: int) -> Snapshot | None:
    ref, sha, time, *parents = line.split(" ")
    key, _, number = ref.removeprefix(f"{SNAPSHOTS}/").rpartition("/")
    if not number.isdecimal() or int(number) <= after:
        return None
    head = next((p for p in parents if p), None)
    return Snapshot(
        number=int(number),
        key=key,
        ref=ref,
        sha=sha,
        head=head,
        taken_at=datetime.fromisoformat(time),
        files=await _files(place, sha, head),
    )


async def _files(place: Place, sha: str, head: str | None) -> tuple[str, ...]:
    subject = (await git(place, "log", "-1", "--format=%s", "--end-of-options", sha)).line
    if not subject.startswith(OURS):
        return ()
    ends = (head, sha) if head else ("--root", sha)
    changed = await git(place, "diff-tree", "-r", "-z", "--name-only", "--no-commit-id", *ends)
    return tuple(path.decode(errors="replace") for path in changed.items)


async def restore(place: Place, snapshot: Snapshot) -> None:
    """The caller has made the worktree clean."""
    head = await commit_of(place, "HEAD")
    assert head
    merged = await git(
        place, "merge-tree", "--write-tree", "-z", "--name-only", head, snapshot.sha, check=False
    )
    if merged.code == 1:
        end = merged.items.index(b"", 1)
        files = dict.fromkeys(name.decode(errors="replace") for name in merged.items[1:end])
        raise RestoreRefused(
            f"Snapshot {snapshot.number} and the branch both changed {', '.join(files)}. "
            "Restore it to a branch of its own: --to BRANCH"
        )
    if merged.code:
        raise GitError(f"git merge-tree failed: {first_error(merged)}")
    await git(place, "read-tree", "-m", "-u", head, merged.items[0].decode())
    # Only the files: what is staged is for whoever commits it.
    await git(place, "read-tree", head)


async def make_branch(place: Place, snapshot: Snapshot, branch: str) -> None:
    if await branch_tip(place, branch):
        raise RestoreRefused(f'There is a branch "{branch}" already; choose another name.')
    made = await git(place, "update-ref", f"refs/heads/{branch}", snapshot.sha, "", check=False)
    if made.code:
        raise RestoreRefused(f'The branch "{branch}" cannot be created: {first_error(made)}')
