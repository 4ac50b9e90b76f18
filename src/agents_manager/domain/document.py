"""Documents that runs write: each plan or design is a version of its own, the older ones stay."""

import difflib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from agents_manager.domain import names
from agents_manager.domain.ids import RunId
from agents_manager.domain.task import Artifact, ArtifactType
from agents_manager.errors import DocumentNotFound, InvalidInput, closest

MAX_PATH = 500
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    name: str
    """`plan`, `design` or `investigation`."""
    version: int
    """Counted from 1 for each name, in the order in which they were written."""
    text: str
    artifact_id: str
    run_id: RunId | None
    created_at: datetime


def documents(artifacts: Iterable[Artifact]) -> list[Document]:
    """Those among the artifacts, which are in order of time."""
    seen = Counter[str]()
    found: list[Document] = []
    for artifact in artifacts:
        if artifact.type is not ArtifactType.DOCUMENT:
            continue
        name = artifact.label.lower()
        seen[name] += 1
        found.append(
            Document(
                name=name,
                version=seen[name],
                text=str(artifact.data.get("text", "")),
                artifact_id=artifact.id,
                run_id=artifact.run_id,
                created_at=artifact.created_at,
            )
        )
    return found


def chosen(known: Sequence[Document], name: str, version: int | None) -> Document:
    """A version of a document; the newest unless one is given."""
    named = [d for d in known if d.name == name.lower()]
    if not named:
        names = list(dict.fromkeys(d.name for d in known))
        hint = closest(name, names) or f" There is: {', '.join(names) or 'none'}."
        raise DocumentNotFound(f'The task has no document "{name}".{hint}')
    if version is None:
        return named[-1]
    found = next((d for d in named if d.version == version), None)
    if found is None:
        raise DocumentNotFound(f"There is no version {version} of the {name}; it has {len(named)}.")
    return found


def default_path(name: str, title: str) -> str:
    return f"docs/{names.slug(name)}s/{names.slug(title)}.md"


def checked_path(path: str) -> str:
    """The path of a file below the top of a repository, or InvalidInput."""
    fault = path_fault(path)
    if fault:
        raise InvalidInput(f'"{names.one_line(path)}" cannot be the path of a file: {fault}.')
    return path


def path_fault(path: str) -> str | None:
    parts = path.split("/")
    faults = {
        "it is empty": not path,
        f"it is longer than {MAX_PATH} characters": len(path) > MAX_PATH,
        "it holds control or invisible characters": any(
            unicodedata.category(c)[0] == "C" or c in "\u2028\u2029" for c in path
        ),
        'it holds a "\\"; folders are parted by "/"': "\\" in path,
        "it leads out of the repository": path.startswith(("/", "~"))
        or ".." in parts
        or path[1:2] == ":",
        "a part of it is empty": any(part.strip() in ("", ".") for part in parts),
        "it leads into .git": any(p.lower().rstrip(" .") in (".git", "git~1") for p in parts),
    }
    return next((fault for fault, found in faults.items() if found), None)


def paragraph(text: str, line: int) -> str:
    """What stands around a line, between blank lines; code in fences is kept together."""
    block: list[str] = []
    fence = ""
    for number, one in enumerate(text_lines(text), 1):
        mark = _FENCE.match(one)
        if fence or one.strip():
            block.append(one)
        elif number > line:
            break
        else:
            block = []
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and one.strip() == mark[1]:
            fence = ""
    return "\n".join(block)


def text_lines(text: str) -> list[str]:
    """As whoever comments on them counts them."""
    return re.split(r"\r\n?|\n", text)


def difference(old: Document, new: Document) -> str:
    """What changed from one to the other, as a unified diff; empty where nothing did."""
    before, after = (f"{d.name} version {d.version}" for d in (old, new))
    changed = difflib.unified_diff(
        old.text.splitlines(), new.text.splitlines(), before, after, lineterm=""
    )
    return "".join(f"{line}\n" for line in changed)
