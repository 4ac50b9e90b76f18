"""Work that machines pass on to each other. What a run or an effect made of a branch is pushed to
the project's remote; before another machine goes on it is fetched from there. A branch that could
not be pushed is on record with the machine that has it, and nobody begins again without it unless a
person says so."""

import asyncio
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents_manager.domain import event, remote
from agents_manager.domain.event import Event
from agents_manager.domain.event.workspaces import WorkspaceEvent
from agents_manager.domain.ids import TaskId
from agents_manager.domain.prompt import Choice
from agents_manager.domain.run import Run
from agents_manager.domain.task import SYSTEM, Actor, Artifact, ArtifactType, Project, Task
from agents_manager.errors import (
    AgentsManagerError,
    ExternalError,
    NotFound,
    SecretFound,
    WorkElsewhere,
)
from agents_manager.flow import artifacts, asking, branches, leaks, places, remedies
from agents_manager.flow.branches import Ground
from agents_manager.flow.ports import Here, Pushed, Services, Tx

UNPUSHED, ON, SINCE = "unpushed", "on", "since"
"""Of the record of a task's own branch: the branches that only one machine has, with their commits
and bases; the machine; from when on work counts, where somebody began again without the rest."""
WAITING = ".unpushed"
"""The folder that names the tasks whose work is to be pushed again."""


# -------------------------------------------------------------------------------- what is on record


def only_on(tx: Tx, task_id: TaskId) -> str | None:
    """The machine that alone has the newest work of a task; None: others can have it, too."""
    return _own_data(tx, task_id).get(ON)


GIVEN_UP = "This machine was not heard of for too long; others may have its tasks by now."


@dataclass(frozen=True, slots=True)
class Head:
    """The newest commit on record of a branch, and the machine that it is from."""

    sha: str
    host: str | None


def heads(tx: Tx, task_id: TaskId) -> dict[str, Head]:
    own = _own_data(tx, task_id)
    since = own.get(SINCE, "")
    runs = [r for r in tx.runs.of_task(task_id) if r.ended_at and r.ended_at.isoformat() > since]
    made = {r.branch: Head(r.head_sha, r.host) for r in runs if r.branch and r.head_sha}
    pushed = {
        a.label: Head(a.data["pushed"], a.data.get("by"))
        for a in _known(tx, task_id)
        if "pushed" in a.data
    }
    alone = {name: Head(one["sha"], own[ON]) for name, one in own.get(UNPUSHED, {}).items()}
    return {**made, **pushed, **alone}


def unshared(tx: Tx, task: Task) -> Iterator[str]:
    """Says that only one machine has the work, for those who look at the task."""
    host = only_on(tx, task.id)
    if host is not None:
        name = places.host_names(tx).get(host, host)
        yield f"Its newest work is on machine {name} only, as the remote did not take it."


def _known(tx: Tx, task_id: TaskId) -> list[Artifact]:
    return tx.tasks.artifacts(task_id, ArtifactType.BRANCH)


def _own(tx: Tx, task_id: TaskId) -> Artifact | None:
    found = _known(tx, task_id)
    return found[0] if found else None


def _own_data(tx: Tx, task_id: TaskId) -> Mapping[str, Any]:
    own = _own(tx, task_id)
    return own.data if own else {}


# ------------------------------------------------------------------------------------------ pushing


async def share(s: Services, task: Task, project: Project, grounds: Sequence[Ground]) -> None:
    """Pushes branches as they are here, and those that could not be pushed before; nothing where
    there is one machine, or no remote. What the remote refuses is put on record, and work goes
    on. What was held back for a secret is looked at again only when something is done with it."""
    if s.here is None or project.remote is None:
        return
    own = await s.store.read(lambda tx: _own(tx, task.id))
    if own is None:
        return
    mine = own.data.get(ON) == s.here.host
    alone: Mapping[str, Any] = own.data.get(UNPUSHED, {}) if mine else {}
    again = {n: one for n, one in alone.items() if grounds or "held" not in one}
    before = [Ground(name, one["base"], "") for name, one in again.items()]
    todo = {ground.branch: ground for ground in (*before, *grounds)}
    known = await s.store.read(lambda tx: {a.label: a.data for a in _known(tx, task.id)})
    done: list[tuple[Ground, Pushed]] = []
    for name, ground in todo.items():
        last = None if name in alone else known.get(name, {}).get("pushed")
        pushed = await _pushed(s, task, project, ground, last)
        if pushed is not None:
            done.append((ground, pushed))
    if done:
        await s.store.write(lambda tx: _record(tx, s, task, done))
    left = await s.store.read(lambda tx: only_on(tx, task.id)) == s.here.host
    await asyncio.to_thread(_remember, s.here, task.id, again=left)


async def share_run(s: Services, run: Run, task: Task, project: Project) -> None:
    """What a run has made, before it closes."""
    if s.here is None or run.branch is None:
        return

    def read(tx: Tx) -> list[Ground]:
        whole = branches.whole_of(tx, s, run, task, project)
        return [branches.of_run(tx, s, run, task, project), whole]

    await share(s, task, project, await s.store.read(read))


async def _pushed(
    s: Services, task: Task, project: Project, ground: Ground, last: str | None
) -> Pushed | None:
    """None where there is nothing to push."""
    repo, name = Path(project.path), ground.branch
    try:
        tip = await s.workspaces.stands_at(repo, name)
    except AgentsManagerError:  # What became of the repository is told elsewhere.
        return None
    if tip is None or tip == last:
        return None
    try:
        change = await s.workspaces.change(repo, name, ground.base)
        if not change.commits and last is None:
            return None
        why = await _wrong_remote(s, project)
        if why is not None:
            return Pushed(remote="origin", sha=tip, refused=why)
        await leaks.check(s, task, project, name, ground.base, {}, tip)
        if s.here is not None and s.here.tenure.over:
            return Pushed(remote="origin", sha=tip, refused=GIVEN_UP)
        return await s.workspaces.push(repo, name)
    except SecretFound as error:
        return Pushed(remote="origin", sha=tip, refused=error.message, held=True)
    except AgentsManagerError as error:
        return Pushed(remote="origin", sha=tip, refused=error.message)


async def _wrong_remote(s: Services, project: Project) -> str | None:
    found = await s.copies.remote(Path(project.path))
    if remote.same(found, project.remote):
        return None
    return (
        f'The remote of "{project.path}" is {found or "none"}, and that of the project '
        f"{project.remote}: other machines would not find the work. Make them the same: am project "
        f"remote {project.name} URL, or git remote set-url origin {project.remote}"
    )


def _record(tx: Tx, s: Services, task: Task, done: Sequence[tuple[Ground, Pushed]]) -> None:
    own = _own(tx, task.id)
    assert own
    assert s.here
    labels = {a.label for a in _known(tx, task.id)}
    alone = dict[str, Any](own.data.get(UNPUSHED, {}))
    for ground, pushed in done:
        if pushed.refused is None:
            alone.pop(ground.branch, None)
            if ground.branch in labels:
                branches.keep_push(tx, s, task, ground, pushed)
            continue
        if alone.get(ground.branch, {}).get("sha") != pushed.sha:
            branches.keep_push(tx, s, task, ground, pushed)
        entry = {"sha": pushed.sha, "base": ground.base}
        alone[ground.branch] = {**entry, "held": True} if pushed.held else entry
    rest = {k: v for k, v in _own_data(tx, task.id).items() if k not in (UNPUSHED, ON)}
    host = own.data.get(ON, s.here.host)
    told = {**rest, UNPUSHED: alone, ON: host} if alone else rest
    artifacts.keep(tx, s, task, ArtifactType.BRANCH, own.key, own.label, told)


def _remember(here: Here, task_id: TaskId, *, again: bool) -> None:
    mark = here.projects / WAITING / task_id
    if again:
        mark.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        mark.touch()
    else:
        mark.unlink(missing_ok=True)


async def push_again(s: Services) -> None:
    """What a remote did not take before, where no run or effect of the task is under way."""
    assert s.here
    folder = s.here.projects / WAITING
    for name in await asyncio.to_thread(_names, folder):
        try:
            task, project = await s.store.read(lambda tx, n=name: _free(tx, TaskId(n)))
        except NotFound:
            await asyncio.to_thread(_remember, s.here, TaskId(name), again=False)
            continue
        if task is not None and project is not None:
            await share(s, task, project, [])


def _free(tx: Tx, task_id: TaskId) -> tuple[Task | None, Project | None]:
    task = tx.tasks.get(task_id)
    busy = any(e.status == "started" for e in tx.effects.open(task_id))
    return (None, None) if busy else (task, tx.projects.get(task.project_id))


def _names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir()) if folder.is_dir() else []


# ----------------------------------------------------------------------------------------- fetching


@dataclass(frozen=True, slots=True)
class _Sought:
    heads: Mapping[str, Head]
    names: Mapping[str, str]
    """Of machines, by their ids."""

    def host(self, head: Head) -> str | None:
        return self.names.get(head.host, head.host) if head.host else None


async def ready(
    s: Services, task: Task, project: Project, wanted: Iterable[Ground], key: str | None = None
) -> Sequence[Event]:
    """Sees to it that what was made of branches so far is here before it is gone on with: what
    another machine made last is fetched, and the workspace that lacks it makes way. WorkElsewhere
    where it cannot be had."""
    if s.here is None:
        return ()
    me, repo = s.here.host, Path(project.path)
    sought = await s.store.read(lambda tx: _sought(tx, task))
    known = [(g, sought.heads[g.branch]) for g in wanted if g.branch in sought.heads]
    # What this machine made last is as it is here, whatever became of it since.
    others = [(ground, head) for ground, head in known if head.host != me]
    lacking = [(g, h) for g, h in others if await s.copies.lacks(repo, g.branch, h.sha)]
    told: list[Event] = []
    place = key or task.id
    if lacking and place in await s.workspaces.standing(repo):
        told += (await s.workspaces.remove(repo, place)).events
    for ground, head in lacking:
        try:
            told += await s.copies.take(repo, task.id, ground.branch, ground.base, head.sha)
        except WorkElsewhere as error:
            name, host = ground.branch, sought.host(head)
            raise WorkElsewhere(_missing(task, name, head.sha, host, error.message)) from None
    return told


def _sought(tx: Tx, task: Task) -> _Sought:
    return _Sought(heads(tx, task.id), places.host_names(tx))


def _missing(task: Task, branch: str, sha: str, host: str | None, why: str) -> str:
    where = f"It is on machine {host} only" if host else "It is on the machine that made it only"
    return (
        f'The newest work of "{task.title}", {branch} at {sha[:8]}, cannot be had here: {why} '
        f"{where}. Bring that machine back, or begin again from what the remote has."
    )


async def tell(s: Services, task: Task, events: Sequence[Event], run: Run | None = None) -> None:
    def write(tx: Tx) -> None:
        for one in events:
            mine = run is not None and isinstance(one, WorkspaceEvent)
            told = one.model_copy(update={"run": run.id}) if run and mine else one
            tx.events.add(task.id, told, SYSTEM, s.clock.now())

    if events:
        await s.store.write(write)


async def visible(s: Services, task: Task, project: Project, *commits: str) -> None:
    """Sees to it that commits can be looked at here, also where another machine made them."""
    if s.here is None:
        return
    why = places.away(s, project)
    if why is not None:
        raise WorkElsewhere(why)
    repo = Path(project.path)
    if await s.copies.has(repo, *commits):
        return
    wanted = await s.store.read(lambda tx: [*heads(tx, task.id), project.base_branch])
    try:
        error = await s.copies.fetch(repo, wanted)
    except ExternalError as failed:
        error = failed.message
    if not await s.copies.has(repo, *commits):
        sought = await s.store.read(lambda tx: _sought(tx, task))
        known = [host for head in sought.heads.values() if (host := sought.host(head))]
        where = f"machine {known[-1]} has" if known else "another machine has"
        raise WorkElsewhere(
            f'What changed in "{task.title}" cannot be shown here: {where} the commits'
            f"{f', and the remote cannot be asked ({error})' if error else ''}. Look at it there."
        )


# --------------------------------------------------------------------------- where it cannot be had


def ask(tx: Tx, s: Services, run: Run, reason: str) -> None:
    """A run that would have begun without the work before it waits for a person."""
    task = tx.tasks.get(run.task_id)
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    last = tx.history.of_task(task.id)[-1]
    ways = [
        Choice(id="rerun", label="Look for it again, and go on", action="rerun"),
        Choice(id="afresh", label="Begin again from what the remote has", action="afresh"),
    ]
    asking.open_choice(tx, s, task, pipeline, last.id, reason, extra=ways)


def afresh(tx: Tx, s: Services, task_id: TaskId, actor: Actor) -> None:
    """Goes on without the work that cannot be had; the machine that has it saves it as a snapshot
    when it works at the task again."""
    task, now = tx.tasks.get(task_id), s.clock.now()
    left = heads(tx, task_id)
    for one in _known(tx, task_id):
        kept = {"base": one.data["base"], SINCE: now.isoformat()}
        artifacts.keep(tx, s, task, ArtifactType.BRANCH, one.key, one.label, kept)
    told = event.WorkLeft(
        by=actor.name, heads=tuple(f"{n} at {h.sha[:8]}" for n, h in left.items())
    )
    tx.events.add(task_id, told, actor, now)
    remedies.rerun(tx, s, task_id, actor)


# ------------------------------------------------------------------------------------------ removal


async def remove_clone(s: Services, folder: Path) -> str | None:
    """Removes a clone of ours with its workspaces; why not, where it holds what nobody else has."""
    try:
        for key in await s.workspaces.standing(folder):
            if not await s.workspaces.spare(folder, key):
                return f"the workspace of {key} holds work that no branch does"
            await s.workspaces.remove(folder, key)
        if not await s.copies.is_shared(folder):
            return "it holds branches or snapshots that the remote does not have"
    except AgentsManagerError as error:
        return error.message
    await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
    return None
