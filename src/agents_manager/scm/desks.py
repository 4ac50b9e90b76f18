"""The repository of a clone, made anew by us each time somebody is to work with it: the agent, when
a run begins, or we, when its files are looked at. It is what `git clone --shared` makes, with the
names that a worktree would see, and with no remote. Nothing in it was written by an agent."""

import asyncio
import os
import shutil
from collections.abc import Collection, Iterable
from dataclasses import replace
from enum import Enum, auto
from pathlib import Path

from agents_manager.errors import InvalidRepository
from agents_manager.scm import lfs, snapshots
from agents_manager.scm.git import Place, commit_of, git, settings_of, signed
from agents_manager.scm.remembered import Answers

CORE = frozenset(
    {
        *(b"autocrlf", b"eol", b"safecrlf", b"filemode", b"symlinks", b"ignorecase"),
        *(b"precomposeunicode", b"protecthfs", b"protectntfs", b"longpaths"),
        *(b"sparsecheckout", b"sparsecheckoutcone"),
    }
)
"""What decides how files are written."""
SECTIONS = (b"filter.", b"user.")
SCOPES = (b"global", b"local", b"worktree")
"""In the sandbox the user's own file is not to be seen; the machine's is."""
INFO = ("attributes", "sparse-checkout")
PARTIAL, FILTERED = b"extensions.partialclone", b"filter="
SEEN = ("refs/heads", "refs/tags", "refs/remotes")


class Index(Enum):
    """What the index of such a repository knows at first."""

    EMPTY = auto()
    """Nothing: the files are about to be checked out."""
    COMMIT = auto()
    """The files of the commit, whatever is on disk. What asks for changed files reads them all."""
    REFRESHED = auto()
    """Also which files are as they are in the commit, for which all of them are read."""


async def make(store: Place, place: Place, key: str, branch: str, tip: str, index: Index) -> Place:
    """Makes the repository of the place, in an empty folder, with the branch checked out at the
    commit."""
    entries = _entries(await settings_of(store), SCOPES)
    if any(key == PARTIAL for key, _ in entries):
        raise InvalidRepository(
            f'"{store.git_dir}" is a partial clone, of which only a worktree can fetch the rest. '
            "Set workspace.kind to worktree, or fetch it whole: git fetch --refetch --no-filter"
        )
    fields = ("for-each-ref", "--format=%(objectname) %(refname)")
    named = await git(store, *fields, *SEEN, f"{snapshots.SNAPSHOTS}/{key}/")
    await asyncio.to_thread(
        _write, store.git_dir, place.git_dir, branch, tip, named.stdout, entries
    )
    if index is not Index.EMPTY:
        # Outside of the sandbox, as nothing in the sandbox has seen this folder yet.
        await git(replace(place, work_tree=None, box=None), "read-tree", "-m", tip)
    if index is Index.REFRESHED:
        await git(place, "update-index", "-q", "--refresh", "--ignore-submodules", check=False)
    return await signed(place, store)


async def has_all(store: Place) -> bool:
    """Whether nothing is missing in such a repository that a worktree would have. A partial clone
    fetches what it lacks from its remote, and filters have keys and files of their own in the
    user's repository (git-crypt, Git LFS)."""
    keys = [key for _, key, _ in await settings_of(store)]
    if PARTIAL in keys:
        return False
    if not any(key.startswith(b"filter.") for key in keys):
        return True
    head = await commit_of(store, "HEAD")
    return head is None or not await filters(store, head)


_named: Answers[tuple[Path, str], bool] = Answers()


async def filters(store: Place, commit: str) -> bool:
    """Whether files of the commit are written by a filter that is configured."""
    if not any(key.startswith(b"filter.") for _, key, _ in await settings_of(store)):
        return False
    own = store.git_dir / "info/attributes"
    if own.is_file() and FILTERED in own.read_bytes():
        return True
    known = _named.get((store.git_dir, commit))
    if known is None:
        known = _named.keep((store.git_dir, commit), await _names_filter(store, commit))
    return known


async def _names_filter(store: Place, commit: str) -> bool:
    named = await git(store, "ls-tree", "-r", "-z", "--full-tree", commit)
    blobs = [item.split()[2] for item in named.items if item.endswith(b".gitattributes")]
    if not blobs:
        return False
    told = await git(store, "cat-file", "--batch", input=b"".join(b"%b\n" % sha for sha in blobs))
    return FILTERED in told.stdout


def lent(common: Path) -> tuple[Path, ...]:
    """Where the objects lie that a clone has not itself, those of Git LFS too."""
    objects = common / "objects"
    try:
        told = (objects / "info" / "alternates").read_text(errors="surrogateescape")
    except OSError:
        told = ""
    others = [line for line in told.splitlines() if line and not line.startswith("#")]
    folders = (objects, *((objects / line).resolve() for line in others))
    large = (folder.parent / lfs.STORAGE / lfs.OBJECTS for folder in folders)
    return (*folders, *(folder for folder in large if folder.is_dir()))


def _entries(
    settings: Iterable[tuple[bytes, bytes, bytes | None]], scopes: Collection[bytes]
) -> list[tuple[bytes, bytes]]:
    mine = ((key, value) for scope, key, value in settings if scope in scopes)
    return [(key, b"true" if value is None else value) for key, value in mine]


def _write(
    common: Path,
    folder: Path,
    branch: str,
    tip: str,
    named: bytes,
    entries: list[tuple[bytes, bytes]],
) -> None:
    for part in ("objects/info", "objects/pack", "refs", "info"):
        (folder / part).mkdir(parents=True)
    (folder / "HEAD").write_text(f"ref: refs/heads/{branch}\n", encoding="utf-8")
    (folder / "config").write_bytes(_config(entries, len(tip)))
    (folder / "objects/info/alternates").write_bytes(bytes(common / "objects") + b"\n")
    mine = b" refs/heads/" + branch.encode()
    others = [line for line in named.splitlines() if not line.endswith(mine)]
    (folder / "packed-refs").write_bytes(b"\n".join([*others, tip.encode() + mine, b""]))
    ignored = [
        file.read_bytes() for file in (_ignored(entries), common / "info/exclude") if file.is_file()
    ]
    (folder / "info/exclude").write_bytes(b"\n".join(ignored))
    for name in INFO:
        if (common / "info" / name).is_file():
            shutil.copyfile(common / "info" / name, folder / "info" / name)
    if (common / "shallow").is_file():
        shutil.copyfile(common / "shallow", folder / "shallow")


def _ignored(entries: list[tuple[bytes, bytes]]) -> Path:
    """The user's own list, for all their repositories: it lies in their home."""
    named = [os.fsdecode(value) for key, value in entries if key == b"core.excludesfile"]
    settings = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(named[-1] if named else f"{settings}/git/ignore").expanduser()


def _config(entries: list[tuple[bytes, bytes]], hash_length: int) -> bytes:
    long = hash_length > 40
    lines = [b"[core]", b"\trepositoryformatversion = %d" % long, b"\tbare = false"]
    lines += [b"\tlogallrefupdates = true", b"[gc]", b"\tauto = 0", b"[maintenance]"]
    lines += [b"\tauto = false", *([b"[extensions]", b"\tobjectformat = sha256"] if long else [])]
    for key, value in entries:
        section, _, rest = key.partition(b".")
        if (section == b"core" and rest in CORE) or key.startswith(SECTIONS):
            lines += _setting(key, value)
    return b"\n".join([*lines, b""])


def _setting(key: bytes, value: bytes) -> list[bytes]:
    section, _, rest = key.partition(b".")
    below, _, name = rest.rpartition(b".")
    head = b'[%b "%b"]' % (section, _escaped(below)) if below else b"[%b]" % section
    return [head, b'\t%b = "%b"' % (name, _escaped(value).replace(b"\n", b"\\n"))]


def _escaped(text: bytes) -> bytes:
    return text.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
