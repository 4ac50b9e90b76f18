"""Findings go stale when their file has changed since. It is looked whenever the base branch stands
elsewhere than at the last look, whoever brought it there: a merge, a person's commit, or a pull."""

from collections.abc import Sequence
from pathlib import Path

import structlog

from agents_manager.domain import findings
from agents_manager.domain.findings import Changed
from agents_manager.domain.knowledge import Node, NodeState
from agents_manager.domain.task import Project
from agents_manager.errors import AgentsManagerError
from agents_manager.flow import duty, places
from agents_manager.flow.ports import Services, Tx

log = structlog.get_logger()


async def look(s: Services) -> list[str]:
    """Marks what is stale in any project; the nodes."""
    stale: list[str] = []
    for project in await s.store.read(lambda tx: tx.projects.all()):
        mine = places.away(s, project) is None
        if not mine or not await duty.is_mine(s, f"knowledge {project.id}"):
            continue
        try:
            stale += await look_at(s, project)
        except (AgentsManagerError, OSError) as error:
            log.warning("knowledge.cannot_look", project=project.name, error=str(error))
    return stale


async def look_at(s: Services, project: Project) -> list[str]:
    repo = Path(project.path)
    base = s.configs.of(project).base_branch or project.base_branch
    head = await s.workspaces.stands_at(repo, base)
    last = await s.store.read(lambda tx: tx.knowledge.looked(project.id))
    if head is None or head == last:
        return []
    moved = None if last is None else await _changed(s, repo, last, head)
    found = await s.store.read(lambda tx: tx.knowledge.about(project.id, moved))
    changed: Changed = {
        commit: await _changed(s, repo, commit, head) for commit in findings.commits(found)
    }
    stale = [node for node in found if findings.is_stale(node, changed)]
    return await s.store.write(lambda tx: _mark(tx, s, project, head, stale))


async def _changed(s: Services, repo: Path, commit: str, head: str) -> frozenset[str] | None:
    """None: the commit is gone, so that nobody can say."""
    try:
        files = await s.workspaces.files(repo, commit, head)
    except AgentsManagerError:
        return None
    return frozenset(name for file in files for name in (file.path, file.old_path) if name)


def _mark(tx: Tx, s: Services, project: Project, head: str, stale: Sequence[Node]) -> list[str]:
    marked: list[str] = []
    for node in tx.knowledge.named([node.id for node in stale]):
        seen = next(one for one in stale if one.id == node.id)
        if node.state is NodeState.ACTIVE and node.version == seen.version:
            tx.knowledge.update(node.id, s.clock.now(), state=NodeState.STALE)
            marked.append(node.id)
    tx.knowledge.look(project.id, head)
    return marked
