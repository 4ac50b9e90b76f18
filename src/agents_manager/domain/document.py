"""Documents that runs write: each plan or design is a version of its own, the older ones stay."""

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from agents_manager.domain.ids import RunId
from agents_manager.domain.task import Artifact, ArtifactType
from agents_manager.errors import DocumentNotFound, closest


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


def difference(old: Document, new: Document) -> str:
    """What changed from one to the other, as a unified diff; empty where nothing did."""
    before, after = (f"{d.name} version {d.version}" for d in (old, new))
    changed = difflib.unified_diff(
        old.text.splitlines(), new.text.splitlines(), before, after, lineterm=""
    )
    return "".join(f"{line}\n" for line in changed)
