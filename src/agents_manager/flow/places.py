"""Where projects lie, where several machines share a database: each has its own checkout, or a
clone of the remote. A machine that has neither leaves the project's work to others."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agents_manager.domain import remote
from agents_manager.domain.audit import Deed
from agents_manager.domain.task import Actor, Project
from agents_manager.errors import ProjectExists
from agents_manager.flow import audit
from agents_manager.flow.ports import Services, Tx

FAILED = ".failed"
"""Ends the name of the file, beside where a clone is to lie, that says why it does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPlace:
    """Where a project lies on one machine."""

    host: str
    name: str
    path: str


def away(s: Services, project: Project) -> str | None:
    """Why this machine cannot work at a project, with the way out; None if it can."""
    if s.here is None or _stands(Path(project.path)):
        return None
    whose = f'Project "{project.name}" is not on this machine'
    if not is_clone(s, project):
        return f'{whose} any more: there is no repository at "{project.path}". Put it back there.'
    if project.remote is None:
        return (
            f"{whose}, and it has no remote to be cloned from. Register a checkout of it here (am "
            f"project add PATH), or give it a remote: am project remote {project.name} URL"
        )
    try:
        failed = clone_trouble(s, project).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return f"{whose} yet: its server or worker clones it from {project.remote}."
    return f"{whose}: {failed} It is tried again."


def is_clone(s: Services, project: Project) -> bool:
    """Whether what lies here is, or would be, a clone of ours and not somebody's checkout."""
    return s.here is not None and Path(project.path) == s.here.projects / project.id


def clone_trouble(s: Services, project: Project) -> Path:
    assert s.here is not None
    return s.here.projects / f"{project.id}{FAILED}"


def _stands(repo: Path) -> bool:
    return (repo / ".git").exists()


def of(tx: Tx, project: Project) -> list[HostPlace]:
    """Every machine that has it; none where there is one machine alone."""
    names = host_names(tx)
    lies = tx.projects.places().get(project.id, {})
    placed = [HostPlace(host=h, name=names.get(h) or h, path=p) for h, p in lies.items()]
    return sorted(placed, key=lambda one: (one.name, one.host))


def host_names(tx: Tx) -> Mapping[str, str]:
    return {host.id: host.name or host.id for host in tx.hosts.all()}


def known_elsewhere(tx: Tx, s: Services, new: Project, *, named: bool) -> Project | None:
    """The project of another machine that this is a checkout of. ProjectExists where this machine
    has it already, or where another repository is registered by this path."""
    if s.here is None:
        return None
    places = tx.projects.places()
    for other in tx.projects.all():
        lies = places.get(other.id, {})
        shared = remote.same(other.remote, new.remote)
        if s.here.host in lies and not is_clone(s, other):
            if shared and not named:
                raise ProjectExists(
                    f'"{new.path}" is a checkout of project "{other.name}", which lies at '
                    f'"{other.path}" on this machine already. To register it by itself, give it '
                    "another name with --name."
                )
            continue
        if shared and (not named or new.name == other.name):
            return other
        if new.path in lies.values():
            if new.name != other.name or (other.remote is not None and not shared):
                raise ProjectExists(
                    f'Another machine registered a different repository at "{new.path}": project '
                    f'"{other.name}" ({other.remote or "no remote"}). Move this one to another '
                    "folder, then add it from there."
                )
            return other
    return None


def put(tx: Tx, s: Services, project: Project, new: Project, by: Actor) -> Project:
    """Notes that a checkout of the project lies on this machine, too."""
    tx.projects.put(project.id, new.path)
    if project.remote is None and new.remote is not None:
        tx.projects.update(project.id, remote=new.remote)
    summary = f'added a checkout of project "{project.name}" at {new.path}'
    said = {"project": project.name, "path": new.path, "host": s.here and s.here.host}
    audit.note(tx, s.clock.now(), by, Deed.PROJECT_PLACED, summary, **said)
    return tx.projects.get(project.id)


async def set_remote(s: Services, named: str, url: str | None, by: Actor) -> Project:
    """Says where machines that lack the project clone it from; None: nowhere."""
    wanted = None if url is None else remote.checked(url)

    def write(tx: Tx) -> Project:
        found = tx.projects.find(named)
        tx.projects.update(found.id, remote=wanted)
        summary = f'set the remote of project "{found.name}" to {wanted or "nothing"}'
        said = {"project": found.name, "remote": wanted, "before": found.remote}
        audit.note(tx, s.clock.now(), by, Deed.REMOTE_SET, summary, **said)
        return tx.projects.get(found.id)

    return await s.store.write(write)
