"""Makes the commits that bring a branch into another: by a merge, as one commit, or one by one.
They are made in the object store alone: no work tree, no hook, nothing that an agent configured."""

from dataclasses import dataclass

from agents_manager.domain import names
from agents_manager.domain.task import MergeMethod, PullRequest
from agents_manager.errors import GitError, InvalidRepository
from agents_manager.flow.ports import Conflicted
from agents_manager.scm.git import Output, Place, commit_of, contains, first_error, git, signed

MESSAGE_LIMIT = 2000
MOST_NAMED = 50


async def made(
    place: Place, pull: PullRequest, base: str, head: str, method: MergeMethod
) -> str | Conflicted:
    """The commit that the base is to be moved to."""
    match method:
        case MergeMethod.MERGE:
            return await _merge(place, pull, base, head)
        case MergeMethod.SQUASH:
            return await _squash(place, pull, base, head)
        case MergeMethod.REBASE:
            return await _rebase(place, base, head)


async def _merge(place: Place, pull: PullRequest, base: str, head: str) -> str | Conflicted:
    tree = await joined(place, base, head)
    if isinstance(tree, Conflicted):
        return tree
    subject = f"Merge pull request #{pull.number}: {names.one_line(pull.title)}"
    return await _commit(place, pull, tree, [base, head], subject)


async def _squash(place: Place, pull: PullRequest, base: str, head: str) -> str | Conflicted:
    tree = await joined(place, base, head)
    if isinstance(tree, Conflicted):
        return tree
    subjects = await git(
        place,
        *("log", "--reverse", "--no-merges", "--format=%s", "-z", f"{base}..{head}"),
    )
    named = [names.one_line(one.decode(errors="replace")) for one in subjects.items]
    left = len(named) - MOST_NAMED
    more = [f"* and {left} more"] if left > 0 else []
    listed = "\n".join([*(f"* {one}" for one in named[:MOST_NAMED]), *more])
    subject = f"{names.one_line(pull.title)} (#{pull.number})"
    return await _commit(place, pull, tree, [base], f"{subject}\n\n{listed}" if listed else subject)


async def _rebase(place: Place, base: str, head: str) -> str | Conflicted:
    """Each commit of the branch on top of the base, with its author and its words; merges are left
    out, and so is what would change nothing."""
    merges = await git(place, "rev-list", "--merges", "--max-count=1", f"{base}..{head}")
    if not merges.line and await contains(place, head, base):
        return head
    one_by_one = await git(
        place, "rev-list", "--reverse", "--topo-order", "--no-merges", f"{base}..{head}"
    )
    committer = (await git(await signed(place), "var", "GIT_COMMITTER_IDENT")).stdout.strip()
    onto, tree = base, (await git(place, "rev-parse", f"{base}^{{tree}}")).line
    for commit in one_by_one.line.split():
        old = await _read(place, commit)
        made = await _on_top(place, onto, tree, commit, old)
        if isinstance(made, Conflicted):
            return made
        if made != tree:
            onto, tree = await _write(place, old, made, onto, committer), made
    return onto


@dataclass(frozen=True, slots=True)
class _Raw:
    parent: str | None
    kept: bytes
    """Its author, and the encoding of its words."""
    message: bytes


async def _read(place: Place, commit: str) -> _Raw:
    raw = (await git(place, "cat-file", "commit", commit)).stdout
    head, _, message = raw.partition(b"\n\n")
    lines = head.split(b"\n")
    parent = next((line[7:].decode() for line in lines if line.startswith(b"parent ")), None)
    kept = [line for line in lines if line.startswith((b"author ", b"encoding "))]
    return _Raw(parent, b"\n".join(kept), message)


async def _on_top(place: Place, onto: str, tree: str, commit: str, old: _Raw) -> str | Conflicted:
    """The tree with the commit's change. Two branches from the commit's parent are merged, one of
    which holds what it goes on top of: so its parent is the base of the merge."""
    if old.parent is None:
        return await joined(place, onto, commit)
    stand = await git(await signed(place), "commit-tree", tree, "-p", old.parent, "-m", "On top of")
    return await joined(place, stand.line, commit)


async def _write(place: Place, old: _Raw, tree: str, parent: str, committer: bytes) -> str:
    author, _, encoding = old.kept.partition(b"\n")
    head = [b"tree " + tree.encode(), b"parent " + parent.encode(), author]
    head += [b"committer " + committer, *([encoding] if encoding else [])]
    raw = b"\n".join(head) + b"\n\n" + old.message
    return (await git(place, "hash-object", "-t", "commit", "-w", "--stdin", input=raw)).line


async def in_place_of(place: Place, tip: str, commit: str, message: str) -> str:
    """The commit that brings a branch from its tip to what another commit holds. Never one that a
    remote would refuse: what the branch held stays part of its history."""
    if await commit_of(place, commit) is None:
        raise InvalidRepository(f"The commit {commit[:8]} is not there any more.")
    if await contains(place, commit, tip):
        return commit
    tree = (await git(place, "rev-parse", f"{commit}^{{tree}}")).line
    held = await contains(place, tip, commit)
    if held and tree == (await git(place, "rev-parse", f"{tip}^{{tree}}")).line:
        return tip
    parents = ("-p", tip) if held else ("-p", tip, "-p", commit)
    order = ("commit-tree", tree, *parents, "-F", "-")
    return (await git(await signed(place), *order, input=message.encode())).line


async def joined(place: Place, ours: str, theirs: str) -> str | Conflicted:
    """The tree of both together."""
    merged = await git(
        place, "merge-tree", "--write-tree", "-z", "--name-only", ours, theirs, check=False
    )
    if merged.code == 1:
        return _conflict(merged)
    if merged.code:
        needs = " (merging needs git 2.38 or newer)" if merged.code == 129 else ""
        raise GitError(f"git merge-tree failed: {first_error(merged)}{needs}")
    return merged.items[0].decode()


async def _commit(
    place: Place, pull: PullRequest, tree: str, parents: list[str], words: str
) -> str:
    message = f"{words}\n\nAgents-Manager-Pull: {pull.id}\n"
    named = [part for parent in parents for part in ("-p", parent)]
    commit = await git(
        await signed(place),
        *("commit-tree", tree, *named, "-F", "-"),
        input=message.encode(errors="replace"),
    )
    return commit.line


def _conflict(merged: Output) -> Conflicted:
    """Reads the tree, the files, an empty entry, then records of paths, a kind and a message."""
    entries = merged.items
    end = entries.index(b"", 1)
    files = tuple(dict.fromkeys(name.decode(errors="replace") for name in entries[1:end]))
    messages: list[str] = []
    rest = iter(entries[end + 1 :])
    for count in rest:
        for _ in range(int(count) + 1):
            next(rest)
        messages.append(next(rest).decode(errors="replace").strip())
    told = "\n".join(text for text in messages if text.startswith("CONFLICT"))
    return Conflicted(files=files, message=told[:MESSAGE_LIMIT] or "The branches conflict.")
