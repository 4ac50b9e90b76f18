"""The section of a prompt with the repository's skills. They are copied from the base commit into
the folder of the run, where no agent can change what later runs read."""

from collections.abc import Collection
from pathlib import Path

from agents_manager.domain import skills
from agents_manager.domain.context import Section
from agents_manager.domain.run import Run
from agents_manager.flow.ports import Services

HEADING = "Skills"
BUDGET = 8_000
INTRODUCTION = (
    "Skills of this repository. When your work matches the description of one, read its file first"
    " and follow it. Paths in it are relative to its folder."
)
PATTERN = rf"(?:{'|'.join(skills.FOLDERS)})/[^/]+/{skills.FILE}"


def folder_of(s: Services, run: Run) -> Path:
    return s.jobs_dir / run.id / "skills"


async def section(s: Services, run: Run, repo: Path, sha: str, paths: Collection[str]) -> Section:
    """Copies those of a commit's paths that are skills for a run, and returns the section that
    lists them; an empty one if there are none."""
    found, target = skills.folders(paths), folder_of(s, run)
    if not found:
        return Section(heading=HEADING, budget=BUDGET)
    copied = await s.workspaces.copy_out(repo, sha, found, target)
    texts = await s.workspaces.texts(repo, sha, [f"{found[n]}/{skills.FILE}" for n in copied])
    lines: list[str] = []
    for name in copied:
        known = skills.described(found[name], texts.get(f"{found[name]}/{skills.FILE}", ""))
        lines.append(f"- {known.name}: {known.description}\n  {target / name / skills.FILE}")
    lines += [f"- {name}: left out, as it is too large" for name in found if name not in copied]
    return Section(
        heading=HEADING,
        before=INTRODUCTION,
        quoted=lines,
        between="\n",
        budget=BUDGET,
        where=f"git ls-tree --name-only {sha[:12]} {' '.join(f'{f}/' for f in skills.FOLDERS)}",
    )
