"""Go: go.mod or go.work."""

import re

from agents_manager.checks.recognise.files import Folder
from agents_manager.checks.recognise.proposal import (
    Machine,
    MissingTool,
    Proposal,
    ProposedCheck,
    Source,
    satisfies,
    shown,
)

FILE, SUMS = "go.mod", "go.sum"
GET = "Install Go, for example with your package manager."
_FETCHES_GO = ">=1.21"
"""The releases that download the Go that a module asks for."""


def propose(folder: Folder, machine: Machine) -> Proposal | None:
    if not folder.has(FILE):
        return None
    text = folder.text(FILE) or ""
    vendored = folder.has("vendor/modules.txt")
    downloads = bool(re.search(r"^\s*(require\b|[\w.-]+\.[\w./-]+ v\d)", text, re.MULTILINE))
    source = Source(folder.full_path(FILE), folder.line_of(FILE, "module "))
    return Proposal(
        ecosystem="go",
        folder=folder.path,
        source=source,
        setup=("go mod download",) if downloads and not vendored else (),
        setup_inputs=tuple(folder.full_path(name) for name in (FILE, SUMS) if folder.has(name)),
        checks=(ProposedCheck("test", "go test ./...", source),),
        suffixes=(".go",),
        missing=tuple(_missing(text, machine)),
    )


def _missing(text: str, machine: Machine) -> list[MissingTool]:
    if not machine.has("go"):
        return [MissingTool("go", GET)]
    said, here = re.search(r"^go (\d+\.\d+)", text, re.MULTILINE), machine.version("go")
    if said is None or here is None or satisfies(here, f">={said[1]} || {_FETCHES_GO}"):
        return []
    return [MissingTool(f"go {said[1]}", f"This machine has {shown(here)}. {GET}")]
