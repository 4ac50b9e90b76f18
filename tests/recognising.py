"""Repositories as recognisers see them."""

from collections.abc import Mapping

from agents_manager.checks.recognise.files import CommittedFiles
from agents_manager.checks.recognise.proposal import Machine, Proposal
from agents_manager.checks.recognise.recognition import Recognition, recognise

MACHINE = Machine(
    {
        "node": (20, 20, 2),
        "npm": (10, 8, 2),
        "npx": None,
        "python3": (3, 11, 2),
        "make": None,
        "cargo": (1, 85, 0),
        "go": (1, 24, 0),
        "java": None,
    }
)
"""A machine with the usual programs, and none that only some repositories need."""


def recognised(
    files: Mapping[str, str | bytes | None],
    machine: Machine = MACHINE,
    links: Mapping[str, str] | None = None,
) -> Recognition:
    """Files without content are those that are too large to be read."""
    contents = {
        path: text.encode() if isinstance(text, str) else text
        for path, text in files.items()
        if text is not None
    }
    links = links or {}
    return recognise(CommittedFiles(frozenset({*files, *links}), contents, links), machine)


def the_one(files: Mapping[str, str | bytes | None], machine: Machine = MACHINE) -> Proposal:
    [proposal] = recognised(files, machine).proposals
    return proposal


def checks(proposal: Proposal) -> dict[str, str]:
    return {check.name: check.command for check in proposal.checks}
