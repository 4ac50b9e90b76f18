"""`am purge`: takes the program's own things off the machine. Looks, tells, asks; then agents are
stopped, work that no commit holds is saved in the repositories, and the files go."""

import asyncio
import os
import shutil
import signal
import time
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agents_manager.cli import background, inventory, session
from agents_manager.cli.belongings import Found, Repository
from agents_manager.cli.output import Output
from agents_manager.cli.serve import as_json
from agents_manager.errors import AgentsManagerError, Conflict, InvalidInput

if TYPE_CHECKING:
    from agents_manager.bootstrap import Program
    from agents_manager.environment import Settings

STOP_S = 60.0


@click.command()
@click.option("--dry-run", is_flag=True, help="Only tell what would go, and what would stay.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--stop", is_flag=True, help="End the server and the agents that are at work first.")
@click.option("--repositories", is_flag=True, help="Also the refs of ours in the repositories.")
@click.option("--without-snapshots", is_flag=True, help="Give up work that no commit holds.")
@as_json
def purge(as_json: bool, **said: bool) -> None:
    """Remove what Agents Manager has put on this machine; asks first.

    The data directory, the service and the completions go. What it leaves in your repositories is
    named, with the commands that remove it: branches with work, refs, settings. Work that no commit
    holds is saved as a snapshot in its repository before its workspace goes.
    """
    from agents_manager import environment

    output = Output(as_json=as_json)
    place = environment.from_environment()
    session.keep_quiet()
    session.run(output, lambda: _purge(output, place, **said))


async def _purge(
    output: Output,
    place: "Settings",
    *,
    dry_run: bool,
    yes: bool,
    stop: bool,
    repositories: bool,
    without_snapshots: bool,
) -> None:
    from agents_manager.cli.pages import purge as pages

    found = await inventory.look(place)
    if dry_run:
        output.show({"removed": False, **asdict(found)}, lambda: pages.page(found, done=False))
        return
    if found.busy and not stop:
        raise Conflict("There is work going on. To end it first, add --stop.", found.busy)
    if not yes:
        _ask(output, found)
    if not without_snapshots:
        _refuse_unsaved(found)
    await _end(place)
    left = await _clear(place, found, refs=repositories, unsaved=without_snapshots)
    output.show({"removed": True, **asdict(left)}, lambda: pages.page(left, done=True))


def _ask(output: Output, found: Found) -> None:
    from agents_manager.cli import interview
    from agents_manager.cli.pages import purge as pages

    if output.as_json or not interview.possible():
        raise click.UsageError("Say --yes to remove, or --dry-run to see what would go.")
    output.page(pages.page(found, done=False))
    if not click.confirm("Remove this? It cannot be undone; am backup keeps the data.", err=True):
        raise InvalidInput("Nothing was removed.")


def _refuse_unsaved(found: Found) -> None:
    lost = [f"{r.path}: {r.trouble}" for r in found.repositories if r.trouble]
    if lost:
        raise Conflict(
            "What the workspaces of these projects hold cannot be saved. To give it up, add"
            " --without-snapshots.",
            lost,
        )


async def _end(place: "Settings") -> None:
    """Services first, which would start the server again."""
    from agents_manager.engine.runners import DetachedRunners

    for post in inventory.services(place):
        await asyncio.to_thread(_remove_service, post)
    for home in inventory.homes(place.home):
        await asyncio.to_thread(_end_server, home)
        runners = DetachedRunners()
        for folder in await runners.at_work(home / "jobs"):
            await runners.stop(folder)


def _remove_service(post: background.Post) -> None:
    post.launcher.check()
    post.launcher.stop(post.name)
    post.path.unlink()
    post.launcher.forget(post.name)


def _end_server(home: Path) -> None:
    from agents_manager.engine import host

    if not host.is_live(home):
        return
    with suppress(ProcessLookupError, ValueError):
        os.kill(int((home / "host.lock").read_text(encoding="ascii")), signal.SIGTERM)
    end = time.monotonic() + STOP_S
    while host.is_live(home):
        if time.monotonic() > end:
            raise Conflict(f"The server on {home} does not end; nothing was removed.")
        time.sleep(0.1)


async def _clear(place: "Settings", found: Found, *, refs: bool, unsaved: bool) -> Found:
    from agents_manager import bootstrap
    from agents_manager.engine import host

    if not place.home.is_dir():
        _remove_files(found)
        return found
    left: list[Repository] = []
    with host.HostLock(place.home):
        if found.repositories:
            async with bootstrap.client(place, works=True) as program:
                await _take_workspaces(program, found, unsaved=unsaved)
                if refs:
                    await _forget_refs(found, unsaved=unsaved)
                left = [
                    await inventory.repository(program, one.project, one.path)
                    for one in found.repositories
                ]
        _remove_files(found)
    return replace(found, busy=(), repositories=tuple(left))


async def _take_workspaces(program: "Program", found: Found, *, unsaved: bool) -> None:
    """What no commit holds is saved, or nothing at all is removed."""
    for one in found.repositories:
        for key in one.workspaces:
            try:
                await program.services.workspaces.remove(one.path, key)
            except AgentsManagerError as error:
                if not unsaved:
                    why = f"The work in {key} could not be saved: {error.message}"
                    raise Conflict(f"{why} Add --without-snapshots to give it up.") from error


async def _forget_refs(found: Found, *, unsaved: bool) -> None:
    """Looked at now: the workspaces that went may have left snapshots."""
    from agents_manager.scm import traces

    known = [one.path for one in found.repositories if one.trouble is None]
    kept = [f"{path}: {count}" for path in known if (count := await traces.snapshots(path))]
    if kept and not unsaved:
        raise Conflict(
            "There are snapshots of work that no commit holds (am snapshot list). To give them up,"
            " add --without-snapshots.",
            kept,
        )
    for path in known:
        await traces.forget_refs(path)


def _remove_files(found: Found) -> None:
    from agents_manager.scm import trees

    # Its lock may be there since it was taken.
    for path in (*found.files, found.home / "host.lock"):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, onerror=trees.make_writable)
        else:
            path.unlink(missing_ok=True)
    for folder in (found.home, found.working_folder):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
