"""Recognises the tools of a repository, and decides which of several are used."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from agents_manager.checks.recognise import cargo, go, gradle, makefile, maven
from agents_manager.checks.recognise.files import MANIFESTS, CommittedFiles, Folder, suffix
from agents_manager.checks.recognise.node import project as node
from agents_manager.checks.recognise.proposal import Machine, Proposal, ProposedCheck, in_folder
from agents_manager.checks.recognise.python import project as python

Recogniser = Callable[[Folder, Machine], Proposal | None]
RECOGNISERS: Sequence[Recogniser] = (
    *(node.propose, python.propose, cargo.propose, go.propose),
    *(maven.propose, gradle.propose, makefile.propose),
)
INCIDENTAL_SHARE = 0.1
"""Tools of a language with a smaller share of the source files are not suggested: a project in
Python may have a package.json only to check its documentation."""
MAX_FOLDERS = 6
_APART = re.compile(
    r"(^|/)(\..*|node_modules|vendor|third_party|examples?|samples?|docs?|tests?|testdata|fixtures"
    r"|__tests__|templates?|bench(marks?|suite)?|playground|fuzz|e2e)(/|$)"
)


@dataclass(frozen=True, slots=True)
class Recognition:
    """What was recognised in a repository."""

    proposals: tuple[Proposal, ...]
    """Those that are suggested come first."""
    problems: tuple[str, ...] = ()
    """Files that could not be read, each a sentence without a full stop."""

    @property
    def suggested(self) -> list[Proposal]:
        return [one for one in self.proposals if one.suggested]


def recognise(files: CommittedFiles, machine: Machine) -> Recognition:
    """Returns proposals for the tools of a commit.

    Commands are relative to the top of the repository, and no two suggested checks have the same
    name.
    """
    problems: list[str] = []
    found: list[Proposal] = []
    for path in _folders(files):
        folder = Folder(files, path)
        here = [made for propose in RECOGNISERS if (made := propose(folder, machine)) is not None]
        # What the repository has at its top is not proposed again for its parts.
        taken = {suffixes(one) for one in found if not one.folder}
        found += [one for one in here if suffixes(one) not in taken or not one.folder]
        problems += folder.problems
    chosen = _without_doubles(_without_incidental(found, files))
    ordered = sorted(chosen, key=lambda one: (not one.suggested, one.folder))
    return Recognition(tuple(_from_the_top(ordered)), tuple(dict.fromkeys(problems)))


def suffixes(proposal: Proposal) -> tuple[str, ...] | str:
    """Returns what tells the proposals of one ecosystem from those of another."""
    return proposal.suffixes or proposal.ecosystem


def _folders(files: CommittedFiles) -> list[str]:
    """Returns the top folder, and the nearest ones below it that have a manifest."""
    found = {""}
    for path in files.paths:
        folder, _, name = path.rpartition("/")
        if name in MANIFESTS and folder.count("/") <= 1 and not _APART.search(folder):
            found.add(folder)
    return sorted(found, key=lambda folder: (folder.count("/") + bool(folder), folder))[
        :MAX_FOLDERS
    ]


def _without_incidental(found: Sequence[Proposal], files: CommittedFiles) -> list[Proposal]:
    """Returns the proposals, with only those suggested whose language matters in the repository."""
    counts: dict[tuple[str, ...], int] = {one.suffixes: 0 for one in found if one.suffixes}
    for path in files.paths:
        for known in counts:
            counts[known] += suffix(path) in known
    most = max(counts.values(), default=0)
    result: list[Proposal] = []
    for one in found:
        count = counts.get(one.suffixes, most)
        if one.suggested and count < most * INCIDENTAL_SHARE:
            why = f"It has only {count} source files here; another language has {most}."
            one = replace(one, suggested=False, notes=(*one.notes, why))
        result.append(one)
    return result


def _without_doubles(found: Sequence[Proposal]) -> list[Proposal]:
    """Returns the proposals, with make suggested only where nothing else tests the same folder, as
    its targets mostly start the tools that were recognised."""
    result: list[Proposal] = []
    for one in found:
        others = [o for o in found if o is not one and o.folder == one.folder and o.suggested]
        tested = [o for o in others if any(check.name.startswith("test") for check in o.checks)]
        if one.ecosystem == "make" and one.suggested and tested:
            why = f"{tested[0].ecosystem.capitalize()} tests the same folder."
            one = replace(one, suggested=False, notes=(*one.notes, why))
        result.append(one)
    return result


def _from_the_top(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Returns the proposals with commands for the top folder and with distinct names of checks."""
    names: set[str] = set()
    result: list[Proposal] = []
    for one in proposals:
        checks: list[ProposedCheck] = []
        for check in one.checks:
            apart = (one.folder.replace("/", "-") or one.ecosystem).lower()
            options = (check.name, f"{check.name}-{apart}", f"{check.name}-{apart}-{len(names)}")
            name = next(option for option in options if option not in names)
            names.add(name)
            [command] = in_folder(one.folder, [check.command])
            checks.append(replace(check, name=name, command=command))
        setup = in_folder(one.folder, one.setup)
        result.append(replace(one, checks=tuple(checks), setup=setup))
    return result
