"""Looks for what the program has put on this machine: its data directory, services, completions,
and what it leaves in the repositories of its user."""

from pathlib import Path
from typing import TYPE_CHECKING

from agents_manager.cli import background
from agents_manager.cli.belongings import Found, Repository
from agents_manager.errors import AgentsManagerError, InvalidConfig

if TYPE_CHECKING:
    from agents_manager.bootstrap import Program
    from agents_manager.environment import Settings

DATABASES = ("agents-manager.db", "engine.db")
OURS = frozenset(
    {
        *(".trash", "address", "agents", "backups", "checks", "config.json", "gc.lock", "host-id"),
        *("host.lock", "jobs", "lease", "ports", "projects", "push.pem", "setup", "token"),
        *("worktrees", "demo", background.SECRETS, background.LOG),
    }
)
"""In a data directory or a working folder. Other files there are somebody's, and stay."""
COMPLETIONS = (
    ".local/share/bash-completion/completions/am",
    ".zfunc/_am",
    ".config/fish/completions/am.fish",
)
USUAL_PREFIX = "agent/"
MARK = "_AM_COMPLETE"


async def look(place: "Settings") -> Found:
    from agents_manager import bootstrap

    folders = dict.fromkeys((place.home, place.working_folder))
    inside = [path for folder in folders if folder.is_dir() for path in sorted(folder.iterdir())]
    ours = [p for p in inside if p.name in OURS or p.name.startswith(DATABASES)]
    files = [*ours, *(post.path for post in services(place)), *_completions()]
    repositories: list[Repository] = []
    busy: list[str] = []
    if place.database_url is not None or (place.home / DATABASES[0]).exists():
        async with bootstrap.client(place) as program:
            projects = await program.services.store.read(lambda tx: tx.projects.all())
            repositories = [await repository(program, p.name, Path(p.path)) for p in projects]
    for home in homes(place.home):
        busy += await _busy(home)
    return Found(
        home=place.home,
        working_folder=place.working_folder,
        files=tuple(files),
        strange=tuple(p for p in inside if p not in ours),
        busy=tuple(busy),
        repositories=tuple(repositories),
        database=place.database_url and "AM_DATABASE_URL",
    )


def homes(home: Path) -> list[Path]:
    """That of the demo lies inside."""
    return [one for one in (home, home / "demo") if one.is_dir()]


async def _busy(home: Path) -> list[str]:
    from agents_manager.engine import host
    from agents_manager.engine.runners import DetachedRunners

    at_work = await DetachedRunners().at_work(home / "jobs")
    server = [f"A server works on {home}."] if host.is_live(home) else []
    return [*server, *(f"An agent works in run {folder.parent.name}." for folder in at_work)]


async def repository(program: "Program", name: str, path: Path) -> Repository:
    from agents_manager.flow import places
    from agents_manager.scm import traces

    s = program.services
    project = await s.store.read(lambda tx: tx.projects.find(name))
    if places.is_clone(s, project):
        return Repository(name, path, trouble="It is a clone of ours, and goes unless pushed.")
    try:
        prefix = s.configs.of(project).branch_prefix
    except InvalidConfig:
        prefix = USUAL_PREFIX
    try:
        trees = await s.workspaces.standing(path)
        found = await traces.find(path, prefix, list(trees.values()))
    except (AgentsManagerError, OSError) as error:
        return Repository(name, path, trouble=str(error))
    return Repository(name, path, tuple(trees), tuple(found))


def services(place: "Settings") -> list[background.Post]:
    from agents_manager.engine import units

    launcher = background.launcher(place)
    posts = [background.Post(place, launcher, n) for n in (background.SERVER, background.WORKER)]
    return [p for p in posts if p.found and units.home(p.found) == str(place.home)]


def _completions() -> list[Path]:
    there = [p for name in COMPLETIONS if (p := Path.home() / name).is_file()]
    return [p for p in there if MARK in p.read_text(encoding="utf-8", errors="replace")]
