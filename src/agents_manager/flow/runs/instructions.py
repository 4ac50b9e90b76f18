"""The section of a prompt with the repository's own instructions for coding agents. They are read
from the base commit, never from the branch that agents write to, so that no agent can change what
later runs are told."""

import re
import shlex
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agents_manager.domain import instructions
from agents_manager.domain.context import Section
from agents_manager.domain.instructions import AGENTS, CLAUDE, MAX_DEPTH, MAX_IMPORTS
from agents_manager.domain.run import Run
from agents_manager.domain.task import Project, Task
from agents_manager.errors import InvalidRepository
from agents_manager.flow import branches
from agents_manager.flow.ports import Services
from agents_manager.flow.runs import skills

HEADING = "Repository instructions"
PATTERN = rf"(?:.*/)?(?:AGENTS|CLAUDE)\.md|{skills.PATTERN}"
BUDGET = 32_000
MAX_FILE = 16_000
"""Characters of one file."""
MAX_LISTED = 50
MAX_CACHED = 64
INTRODUCTION = (
    "What this repository tells coding agents, as it was committed to {base} ({sha}). Follow it."
    " Changes to these files in your workspace do not count until they are merged."
)
OTHERS = "More instructions apply to these folders. Read them before you change files there:"
_PLAIN = re.compile(r"[\w./@+ -]+")


@dataclass(frozen=True, slots=True)
class InstructionFile:
    path: str
    text: str
    imported_by: str | None = None


_paths_by_commit: OrderedDict[tuple[str, str], Sequence[str]] = OrderedDict()
"""The instruction files and skills of the commits that were looked at last."""


async def sections(
    s: Services,
    run: Run,
    task: Task,
    project: Project,
    touched: Sequence[str],
    *,
    reads_root: bool = False,
) -> list[Section]:
    """Returns the sections for a run; none if the base commit has no instructions and no skills.
    With `reads_root`, for an agent that reads AGENTS.md of the root folder in its workspace, that
    file is left out unless the branch changed it."""
    base, sha = await _base(s, run, task, project)
    named = [*touched, *_mentioned(task)]
    head = run.base_sha if reads_root else None
    repo = Path(project.path)
    paths: Sequence[str] = [] if sha is None else await _paths(s, repo, sha)
    if sha is None or not paths:
        return []
    return [
        await _section(s, repo, (base, sha), (instructions.by_folder(paths), named), head),
        await skills.section(s, run, repo, sha, paths),
    ]


async def _section(
    s: Services,
    repo: Path,
    ground: tuple[str, str],
    known: tuple[Mapping[str, str], Sequence[str]],
    head: str | None,
) -> Section:
    """Returns the section for the instruction files by folder and the paths that the work names."""
    (base, sha), (files, named) = ground, known
    if head is not None and await _is_unchanged(s, repo, sha, head):
        files = {folder: file for folder, file in files.items() if file != AGENTS}
    if not files:
        return Section(heading=HEADING, budget=BUDGET)
    chosen = instructions.applicable(files, named)
    read = await _read(s, repo, sha, chosen)
    shown = _within_budget(read, sha)
    passed_over = set(chosen) - {file.path for file in read}
    others = [path for path in files.values() if path not in {*shown, *passed_over}]
    before = INTRODUCTION.format(base=base, sha=sha[:12])
    if others:
        before += f"\n\n{OTHERS}\n{_listed(others, sha)}"
    return Section(
        heading=HEADING,
        before=before,
        quoted=list(shown.values()),
        budget=BUDGET if shown else 0,
        where=_command(next(iter(shown), AGENTS), sha),
    )


async def _base(s: Services, run: Run, task: Task, project: Project) -> tuple[str, str | None]:
    """Returns the base branch of the task, and the commit at which the run's branch left it."""
    base = await s.store.read(lambda tx: branches.base_of(tx, s, task, project))
    repo = Path(project.path)
    try:
        sha, _ = await s.workspaces.ends(repo, run.branch or base, base)
    except InvalidRepository:
        return base, await s.workspaces.stands_at(repo, base)
    return base, sha


async def _paths(s: Services, repo: Path, sha: str) -> Sequence[str]:
    key = (str(repo), sha)
    if key not in _paths_by_commit:
        _paths_by_commit[key] = await s.workspaces.paths(repo, sha, PATTERN)
        while len(_paths_by_commit) > MAX_CACHED:
            _paths_by_commit.popitem(last=False)
    return _paths_by_commit[key]


async def _is_unchanged(s: Services, repo: Path, sha: str, head: str) -> bool:
    """Whether AGENTS.md of the root folder is the same in both commits."""
    texts = [await s.workspaces.texts(repo, one, [AGENTS]) for one in (sha, head)]
    return texts[0] == texts[1]


def _mentioned(task: Task) -> list[str]:
    """The paths in what people wrote about the task, and in its plan."""
    words = [task.title, task.objective or "", task.description or "", task.plan or ""]
    return instructions.mentioned_paths("\n".join([*words, *task.acceptance_criteria]))


async def _read(s: Services, repo: Path, sha: str, chosen: Sequence[str]) -> list[InstructionFile]:
    """Reads the chosen files; each CLAUDE.md is followed by the files that it imports. Passes over
    links that lead out of the repository, and files with a text that was read already, as links to
    other instruction files have."""
    texts = await s.workspaces.texts(repo, sha, chosen)
    read: dict[str, InstructionFile] = {}
    for path in chosen:
        if path not in texts or path in read or texts[path] in {f.text for f in read.values()}:
            continue
        read[path] = InstructionFile(path, texts[path])
        if path.endswith(CLAUDE):
            await _add_imports(s, repo, sha, read, path)
    return list(read.values())


async def _add_imports(
    s: Services, repo: Path, sha: str, read: dict[str, InstructionFile], path: str
) -> None:
    level = [read[path]]
    for _ in range(MAX_DEPTH):
        wanted = {
            imported: file.path
            for file in level
            for imported in instructions.imports(file.text, file.path)
            if imported not in read
        }
        if not wanted:
            return
        room = max(MAX_IMPORTS - len(read), 0)
        texts = await s.workspaces.texts(repo, sha, list(wanted)[:room])
        level = [InstructionFile(name, text, wanted[name]) for name, text in texts.items()]
        read.update({file.path: file for file in level})


def _within_budget(files: Sequence[InstructionFile], sha: str) -> dict[str, str]:
    """Returns the files that fit into the section, as they are shown, by path."""
    shown: dict[str, str] = {}
    room = BUDGET
    for file in files:
        text = _shown(file, sha)
        if len(text) <= room:
            shown[file.path] = text
            room -= len(text) + 2
    return shown


def _shown(file: InstructionFile, sha: str) -> str:
    origin = f" (imported by {file.imported_by})" if file.imported_by else ""
    text = file.text.strip("\n")
    if len(text) > MAX_FILE:
        left = len(text) - MAX_FILE
        command = _command(file.path, sha)
        text = f"{text[:MAX_FILE]}\n({left:,} more characters are left out. All of it: {command})"
    return f"{file.path}{origin}:\n\n{text}"


def _listed(paths: Sequence[str], sha: str) -> str:
    """Names that could pose as more than a path are not shown."""
    plain = [path for path in paths if _PLAIN.fullmatch(path)]
    lines = [f"- {path.rpartition('/')[0]}: `{_command(path, sha)}`" for path in plain[:MAX_LISTED]]
    left = len(paths) - len(lines)
    return "\n".join([*lines, *([f"- and {left} more"] if left else [])])


def _command(path: str, sha: str) -> str:
    return f"git show {shlex.quote(f'{sha[:12]}:{path}')}"
