"""Cargo: Cargo.toml."""

from agents_manager.checks.recognise.files import Folder, table
from agents_manager.checks.recognise.proposal import (
    Machine,
    MissingTool,
    Proposal,
    ProposedCheck,
    Source,
    satisfies,
    shown,
)

FILE, LOCK = "Cargo.toml", "Cargo.lock"
GET = "Install Rust, for example with your package manager or rustup."


def propose(folder: Folder, machine: Machine) -> Proposal | None:
    if not folder.has(FILE):
        return None
    document = folder.toml(FILE)
    locked = " --locked" if folder.has(LOCK) else ""
    workspace = " --workspace" if "workspace" in document else ""
    lock = folder.text(LOCK)
    downloads = lock is None or "registry+" in lock or "git+" in lock
    source = Source(folder.full_path(FILE), folder.line_of(FILE, "[package]"))
    return Proposal(
        ecosystem="cargo",
        folder=folder.path,
        source=Source(folder.full_path(FILE)),
        setup=(f"cargo fetch{locked}",) if downloads else (),
        setup_inputs=tuple(folder.full_path(name) for name in (FILE, LOCK) if folder.has(name)),
        checks=(ProposedCheck("test", f"cargo test{workspace}{locked}", source),),
        build_output=("target",),
        suffixes=(".rs",),
        missing=tuple(_missing(document, machine)),
    )


def _why_broken(said: str) -> str:
    return (
        f'It does not start here: "{said[:120]}". If it needs files in your home, name them in'
        " sandbox.read"
    )


def _missing(document: object, machine: Machine) -> list[MissingTool]:
    if not machine.has("cargo"):
        broken = machine.broken.get("cargo")
        return [MissingTool("cargo", _why_broken(broken) if broken else GET)]
    said = table(document, "package").get("rust-version")
    if isinstance(said, dict):
        said = table(document, "workspace", "package").get("rust-version")
    here = machine.version("cargo")
    if isinstance(said, str) and here is not None and not satisfies(here, f">={said}"):
        return [MissingTool(f"cargo >={said}", f"This machine has {shown(here)}. {GET}")]
    return []
