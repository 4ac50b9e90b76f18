"""Instruction files of a repository (AGENTS.md, CLAUDE.md): which of them apply to a task, and
which other files they import."""

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping

AGENTS, CLAUDE = "AGENTS.md", "CLAUDE.md"
HIDDEN_CLAUDE = f".claude/{CLAUDE}"
"""The second place in which Claude Code looks for the CLAUDE.md of the root folder."""
MAX_DEPTH = 5
"""How many imports may follow each other, as in Claude Code."""
MAX_IMPORTS = 30
_IMPORT = re.compile(r"(?:^|(?<=\s))@((?:[^\s\\]|\\ )+)")
_CODE_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_PATH = re.compile(r"[\w.@+~-]*(?:/[\w.@+~-]+)+/?|[\w.@+~-]+/")


def by_folder(paths: Collection[str]) -> dict[str, str]:
    """Returns the instruction file of each folder, AGENTS.md before CLAUDE.md; the root folder is
    the empty string."""
    chosen: dict[str, str] = {}
    for name in (AGENTS, CLAUDE):
        for path in sorted(paths):
            folder, _, last = path.rpartition("/")
            if last == name and path != HIDDEN_CLAUDE:
                chosen.setdefault(folder, path)
    if HIDDEN_CLAUDE in paths:
        chosen.setdefault("", HIDDEN_CLAUDE)
    return dict(sorted(chosen.items()))


def applicable(files: Mapping[str, str], touched: Iterable[str]) -> list[str]:
    """Returns those of the instruction files by folder that apply to the touched paths: the file of
    the root folder, then the files of the folders that hold a touched path."""
    paths = [f"{path.removesuffix('/')}/" for path in touched]
    return [
        file
        for folder, file in files.items()
        if not folder or any(path.startswith(f"{folder}/") for path in paths)
    ]


def mentioned_paths(text: str) -> list[str]:
    """Returns the words of a text that look like paths of the repository: they have a slash."""
    words = (posixpath.normpath(word.rstrip(".")) for word in _PATH.findall(text))
    found = dict.fromkeys(word.removeprefix("/") for word in words)
    return [word for word in found if word not in ("", ".") and not word.startswith("..")]


def imports(text: str, file: str) -> list[str]:
    """Returns the paths that `@path` in the text of a file refers to, relative to the root of the
    repository. Code, absolute paths, `~` and paths that leave the repository are passed over."""
    found: dict[str, None] = {}
    for word in _imported_words(text):
        name = word.replace("\\ ", " ").rstrip(".,;:!?)")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(file), name))
        if name and not name.startswith(("/", "~")) and not path.startswith(".."):
            found[path] = None
    return list(found)


def _imported_words(text: str) -> Iterator[str]:
    fence: str | None = None
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if fence is None and mark:
            fence = mark[1]
        elif fence is None:
            yield from _IMPORT.findall(_CODE_SPAN.sub(" ", line))
        elif mark and mark[1].startswith(fence) and line.strip() == mark[1]:
            fence = None
