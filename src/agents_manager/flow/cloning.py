"""Projects that this machine lacks are cloned from their remotes, the clones follow the base, and
those of projects that are gone are removed. What somebody checked out is never touched."""

import asyncio
from pathlib import Path

import structlog

from agents_manager.domain import event
from agents_manager.domain.ids import ProjectId
from agents_manager.domain.task import Project
from agents_manager.errors import AgentsManagerError
from agents_manager.flow import patience, places, sharing
from agents_manager.flow.liveness import SUPERVISOR, concerned
from agents_manager.flow.ports import Here, Services, Tx

log = structlog.get_logger()

EVERY_S = 60.0
LEAST_S = 1.0
"""Between two looks, however much happens."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 10.0, 1800.0
"""After a clone that failed; each is twice the one before."""


class Cloning:
    def __init__(self, s: Services, here: Here) -> None:
        self._s = s
        self._here = here
        self._awake = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._busy: set[ProjectId] = set()
        self._due: dict[ProjectId, float] = {}
        self._asked: dict[ProjectId, str | None] = {}
        """By which remote; another one is asked at once."""
        self._failed: dict[ProjectId, int] = {}
        self._left: set[Path] = set()

    def wake(self) -> None:
        """May be called from any thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._awake.set)

    async def run(self) -> None:
        """For ever; the projects beside each other, as one may take long."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._push())
            while True:
                self._awake.clear()
                for project in await self._safely():
                    self._busy.add(project.id)
                    group.create_task(self._tend(project))
                await asyncio.sleep(LEAST_S)
                try:
                    async with asyncio.timeout(EVERY_S):
                        await self._awake.wait()
                except TimeoutError:
                    continue

    async def _push(self) -> None:
        """For ever, what a remote did not take."""
        while True:
            try:
                await sharing.push_again(self._s)
            except Exception as error:  # noqa: BLE001 - whatever it was, it is told
                patience.tell("cloning.failed", error)
            await asyncio.sleep(EVERY_S)

    async def _safely(self) -> list[Project]:
        try:
            return await self._look()
        except Exception as error:  # noqa: BLE001 - whatever it was, it is told
            patience.tell("cloning.failed", error)
            return []

    async def _look(self) -> list[Project]:
        """Those whose turn it is."""
        s = self._s
        known, lies = await s.store.read(lambda tx: (tx.projects.all(), tx.projects.places()))
        for project in known:
            if project.id not in lies and places.away(s, project) is None:
                await _note_own(s, project)
        await self._remove_gone({project.id for project in known})
        now, free = self._loop.time(), [p for p in known if p.id not in self._busy]
        mine = [p for p in free if p.remote and p.id in lies and places.is_clone(s, p)]
        changed = [p for p in mine if self._asked.get(p.id) != p.remote]
        return changed + [p for p in mine if p not in changed and self._due.get(p.id, now) <= now]

    async def _tend(self, project: Project) -> None:
        self._asked[project.id] = project.remote
        try:
            if places.away(self._s, project) is not None:
                pause = await self._clone(project)
            else:
                await self._follow(project)
                pause = EVERY_S
        except Exception as error:  # noqa: BLE001 - one project must not keep others from theirs
            patience.tell("cloning.failed", error, project=project.name)
            pause = EVERY_S
        finally:
            self._busy.discard(project.id)
        self._due[project.id] = self._loop.time() + pause

    async def _clone(self, project: Project) -> float:
        """How long it is until the next look at it."""
        s, url = self._s, project.remote
        assert url
        trouble = places.clone_trouble(s, project)
        try:
            if room := s.disk.shortage():
                raise AgentsManagerError(room)
            await s.copies.clone(url, Path(project.path), project.base_branch)
        except (AgentsManagerError, OSError) as error:
            await self._tell(project, f"It could not be cloned from {url}: {_end(str(error))}")
            times = self._failed[project.id] = self._failed.get(project.id, 0) + 1
            return min(FIRST_PAUSE_S * 2 ** (times - 1), LONGEST_PAUSE_S)
        await asyncio.to_thread(trouble.unlink, missing_ok=True)
        self._failed.pop(project.id, None)
        await s.store.write(lambda tx: tx.projects.put(project.id, project.path))
        log.info("project.cloned", project=project.name, path=project.path)
        return EVERY_S

    async def _tell(self, project: Project, why: str) -> None:
        """Once, until it fails for another reason."""
        s, kept = self._s, places.clone_trouble(self._s, project)
        if await asyncio.to_thread(_read, kept) == why:
            return
        log.warning("project.not_cloned", project=project.name, reason=why)

        def write(tx: Tx) -> None:
            name = places.host_names(tx).get(self._here.host, self._here.host)
            failed = event.CloneFailed(project=project.name, host=name, reason=why)
            for task in concerned(tx, project.id):
                tx.events.add(task.id, failed, SUPERVISOR, s.clock.now())

        await s.store.write(write)
        await asyncio.to_thread(_write, kept, why)

    async def _follow(self, project: Project) -> None:
        assert project.remote
        repo, base = Path(project.path), project.base_branch
        try:
            why = await self._s.copies.follow(repo, project.remote, base)
        except AgentsManagerError as error:
            why = error.message
        if why is not None:
            log.warning("project.not_followed", project=project.name, reason=why)

    async def _remove_gone(self, known: set[ProjectId]) -> None:
        """Clones of projects that nobody has any more, unless they hold what nobody else has."""
        for folder in await asyncio.to_thread(_clones, self._here.projects, known):
            if folder not in self._left:
                left = await sharing.remove_clone(self._s, folder)
                if left is not None:
                    self._left.add(folder)
                    log.warning("project.clone_left", path=str(folder), reason=left)


async def _note_own(s: Services, project: Project) -> None:
    """A project from before there were others: where it is here, and what others can clone."""
    url = project.remote or await s.copies.remote(Path(project.path))

    def write(tx: Tx) -> None:
        if project.id not in tx.projects.places():
            tx.projects.put(project.id, project.path)
            if url is not None and project.remote is None:
                tx.projects.update(project.id, remote=url)

    await s.store.write(write)


def _clones(folder: Path, known: set[ProjectId]) -> list[Path]:
    if not folder.is_dir():
        return []
    for file in folder.glob(f"*{places.FAILED}"):
        if file.name.removesuffix(places.FAILED) not in known:
            file.unlink(missing_ok=True)
    return [one for one in folder.iterdir() if (one / ".git").is_dir() and _is_of_none(one, known)]


def _is_of_none(folder: Path, known: set[ProjectId]) -> bool:
    return not folder.name.startswith(".") and folder.name not in known


def _read(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8")
    except OSError:
        return None


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    file.write_text(text, encoding="utf-8")


def _end(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
