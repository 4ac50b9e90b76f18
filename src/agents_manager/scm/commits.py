"""Reads what commits hold: where a branch left its base, what it changed, and the files of a
commit. Asked of the repository alone: a `.gitattributes` of an agent cannot hide a change here."""

import hashlib
import os
import re
import secrets
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from agents_manager.domain import names, policy
from agents_manager.errors import GitError, InvalidRepository
from agents_manager.flow.ports import Change, Written
from agents_manager.scm.git import (
    Output,
    Place,
    both,
    branch_tip,
    common_dir,
    first_error,
    git,
    has_whole_history,
    programs_off,
    remember_ancestry,
    settings_of,
)
from agents_manager.scm.remembered import Answers

DIFF_LIMIT = 2 * 1024 * 1024
WRITTEN_LIMIT = 32 * 1024 * 1024
WRITTEN_WHOLE = ("log.showRoot=true", "diff.relative=false", "diff.orderFile=/dev/null")
WRITTEN = (
    *("--cc", "--text", "--unified=0", "--no-renames", "--no-ext-diff", "--no-textconv"),
    *("--no-color", "--src-prefix=a/", "--dst-prefix=b/"),
)
FILTER_OFF = ("smudge=", "process=", "required=no")
HEAD_OF = "ref: refs/heads/"
KEPT_PATCH, KEPT_COMMITS = 64 * 1024, 100
"""What is larger is read again each time."""
HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
PLAIN = ("-r", "-M", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=none")

_bases: Answers[tuple[Path | str, ...], str] = Answers()
_written: Answers[tuple[Path, str, str], Written] = Answers(32)


async def tip_or_refuse(place: Place, branch: str) -> str:
    return found(place, branch, await branch_tip(place, branch))


def found(place: Place, branch: str, tip: str | None) -> str:
    if tip is None:
        raise InvalidRepository(
            f'There is no branch "{branch}" in "{place.git_dir}". If the base was renamed, name it '
            "as baseBranch in .agents-manager/config.json."
        )
    return tip


async def checkouts(place: Place, branch: str) -> list[Path]:
    """The folders that have the branch checked out, as the repository remembers them."""
    only = _only_branch(place.git_dir)
    if only is not None and only != branch:
        return []
    if only is not None and place.git_dir.name == ".git" and not await _is_bare(place):
        return [place.git_dir.parent]
    listed = await git(place, "worktree", "list", "--porcelain", "-z")
    found: list[Path] = []
    for record in listed.stdout.split(b"\0\0"):
        lines = record.split(b"\0")
        if f"branch refs/heads/{branch}".encode() in lines:
            found.append(Path(os.fsdecode(lines[0].removeprefix(b"worktree "))))
    return found


def _only_branch(git_dir: Path) -> str | None:
    """What is checked out in the only work tree of a repository; None if that is not sure. To ask
    git takes longer."""
    head = git_dir / "HEAD"
    try:
        if any((git_dir / "worktrees").iterdir()):
            return None
    except FileNotFoundError:  # There are no others.
        pass
    except OSError:
        return None
    if head.is_symlink() or not head.is_file():
        return None
    text = os.fsdecode(head.read_bytes()).removesuffix("\n")
    branch = text.removeprefix(HEAD_OF)
    # The second stands there where git keeps its references in another format.
    return None if branch in (text, ".invalid") else branch


async def _is_bare(place: Place) -> bool:
    said = [value for _, key, value in await settings_of(place) if key == b"core.bare"]
    return bool(said) and said[-1] != b"false"


async def ends(place: Place, branch: str, base: str) -> tuple[str, str]:
    """Where the branch left its base, and where it stands."""
    known = await tips(place, branch, base)
    head = found(place, branch, known.get(local(branch)))
    return await _shared(place, f'The branches "{branch}"', head, base, known), head


async def start(place: Place, head: str, base: str) -> str:
    """Where a commit that may be on no branch here left the base."""
    return await _shared(place, head[:8], head, base, await tips(place, base, base))


async def _shared(place: Place, what: str, head: str, base: str, known: Mapping[str, str]) -> str:
    """The newest commit that is shared with the base, here or in a remote, as what others pushed to
    the base is no work of the branch."""
    here = found(place, base, known.get(local(base)))
    there = [tip for ref, tip in known.items() if ref.startswith("refs/remotes/")]
    if head == here and not there:
        return head
    question = place.git_dir, head, here, *there
    whole = has_whole_history(place)
    known_base = _bases.get(question) if whole else None
    if known_base is not None:
        return known_base
    shared = await git(place, "merge-base", "--end-of-options", head, here, *there, check=False)
    if shared.code == 1:
        raise InvalidRepository(f'{what} and "{base}" share no history.')
    if shared.code:
        raise GitError(f"git merge-base failed: {first_error(shared)}")
    if not there:
        remember_ancestry(place, here, head, held=shared.line == head)
        remember_ancestry(place, head, here, held=shared.line == here)
    return _bases.keep(question, shared.line) if whole else shared.line


async def tips(place: Place, branch: str, base: str) -> Mapping[str, str]:
    """Of the branch, of its base, and of the base in remotes as far as is known here, by their full
    names; those that there are."""
    refs = (local(branch), local(base), f"refs/remotes/*/{base}")
    asked = ("for-each-ref", "--format=%(objecttype) %(objectname) %(refname)")
    lines = (line.split(" ", 2) for line in (await git(place, *asked, *refs)).line.splitlines())
    return {ref: tip for kind, tip, ref in lines if kind == "commit"}


def local(branch: str) -> str:
    return f"refs/heads/{names.check_branch(branch)}"


async def between(place: Place, start: str, head: str) -> Change:
    """What a branch added from one commit to another."""
    path = f"{checked(start)}..{checked(head)}"
    fields = "--format=%H%x00%s%x00%an"
    log, stat = await both(
        git(place, "log", "-z", "--reverse", fields, "--end-of-options", path),
        git(place, "diff-tree", "-z", "--numstat", *PLAIN, start, head),
    )
    entries = iter(item.decode(errors="replace") for item in log.items)
    paths, additions, deletions = _totals(stat)
    return Change(
        base_sha=start,
        head_sha=head,
        commits=tuple(
            {"sha": sha, "subject": subject, "author": author}
            for sha, subject, author in zip(entries, entries, entries, strict=True)
        ),
        files=len(paths),
        additions=additions,
        deletions=deletions,
        policy=policy.touched(path for both in paths for path in both),
    )


def _totals(stat: Output) -> tuple[list[tuple[str, ...]], int, int]:
    """The files, by both names where one was renamed, and their lines."""
    paths: list[tuple[str, ...]] = []
    additions = deletions = 0
    entries = iter(stat.items)
    for entry in entries:
        added, deleted, path = entry.split(b"\t", 2)
        # The two names of a rename are entries of their own.
        named = (path,) if path else (next(entries), next(entries))
        paths.append(tuple(name.decode(errors="replace") for name in named))
        additions += 0 if added == b"-" else int(added)
        deletions += 0 if deleted == b"-" else int(deleted)
    return paths, additions, deletions


async def diff(place: Place, base_sha: str, head_sha: str) -> str:
    ends = checked(base_sha), checked(head_sha)
    patch = await git(place, "diff-tree", "-p", *PLAIN, *ends, limit=DIFF_LIMIT)
    if not patch.cut:
        return patch.stdout.decode(errors="replace")
    whole = patch.stdout[: patch.stdout.rfind(b"\n") + 1].decode(errors="replace")
    return f"{whole}[The diff was cut here: it is longer than {DIFF_LIMIT // 1024**2} MB.]\n"


async def written(repo: Path, base_sha: str, head_sha: str) -> Written:
    """Every commit counts, also what a later one took back: all of them are handed over."""
    common = await common_dir(repo)
    question = common, checked(base_sha), checked(head_sha)
    known = _written.get(question) if has_whole_history(Place(git_dir=common)) else None
    if known is None:
        known = await _read_written(common, base_sha, head_sha)
        if len(known.patch) <= KEPT_PATCH and len(known.messages) <= KEPT_COMMITS:
            _written.keep(question, known)
    return known


async def _read_written(common: Path, base_sha: str, head_sha: str) -> Written:
    place = Place(git_dir=common, settings=WRITTEN_WHOLE)
    since = f"{checked(base_sha)}..{checked(head_sha)}"
    # Drawn by lot, as any other mark could stand in a file.
    mark = secrets.token_hex(16)
    asked = ("log", f"--format={mark}%H%x00%B%x00", *WRITTEN, since)
    log = await git(place, *asked, limit=WRITTEN_LIMIT)
    told = log.stdout.decode(errors="replace").split(mark)[1:]
    commits = [(*one.split("\0", 2), "", "")[:3] for one in told]
    return Written(
        messages=tuple((sha, message) for sha, message, _ in commits),
        patch="".join(patch for _, _, patch in commits),
        cut=log.cut,
    )


async def digest(place: Place, sha: str, patterns: Sequence[str]) -> str:
    """A hash of the files of a commit whose paths fit one of the patterns, in any folder."""
    listed = (await git(place, "ls-tree", "-r", "-z", "--full-tree", checked(sha))).items
    fitting = (line for line in listed if _fits(line.split(b"\t", 1)[1], patterns))
    return hashlib.sha256(b"\0".join(sorted(fitting))).hexdigest()


def _fits(path: bytes, patterns: Sequence[str]) -> bool:
    known = PurePosixPath(os.fsdecode(path))
    return any(known.match(pattern) for pattern in patterns)


async def export(repo: Path, sha: str, into: Path) -> None:
    """Writes the files of a commit, and nothing else, into an empty folder: no `.git`, no hook, and
    no filter of the repository's own configuration, which an agent's worktree shares."""
    common = await common_dir(repo)
    off = await programs_off(Place(git_dir=common), "filter", FILTER_OFF)
    with tempfile.TemporaryDirectory(prefix="agents-manager-") as scratch:
        place = Place(git_dir=common, work_tree=into, index=Path(scratch) / "index", settings=off)
        await git(place, "read-tree", checked(sha))
        await git(place, "checkout-index", "--all", "--force", "--quiet")


def checked(sha: str) -> str:
    if not HASH.fullmatch(sha):
        raise InvalidRepository(f'"{sha[:100]}" is not a commit hash.')
    return sha
