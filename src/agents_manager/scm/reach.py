"""What an agent needs of the repository that its worktree belongs to, so that it can commit."""

from collections.abc import Iterable
from pathlib import Path

from agents_manager.flow.ports import Reach
from agents_manager.scm import desks, lfs
from agents_manager.scm.git import AGENT_SETTINGS, Place, configured, signed

LINKS = ("HEAD", "commondir", "config.worktree", "gitdir")
"""Of a worktree's own part of the repository: where it belongs, and which branch it is on."""
IDENTITY = ("AUTHOR", "COMMITTER")


async def of_worktree(workspace: Path, branch: str) -> Reach:
    """What a commit writes: objects, the branch, and the worktree's index and logs. Hooks,
    configuration and other branches stay as they are; so does what leads git elsewhere."""
    own = _own_folder(workspace)
    if own is None:
        return Reach(writes=(workspace,))
    common = own.parent.parent
    writes = [workspace, common / "objects", own]
    reads = [common, workspace / ".git", common / "objects/info", *(own / name for name in LINKS)]
    # What is not there could be made by the agent.
    (own / "config.worktree").touch()
    (common / "objects/info").mkdir(exist_ok=True)
    ref = Path("refs/heads") / branch
    if ref.parent != Path("refs/heads"):  # Else git would lock it beside all the others.
        writes += _made(common, (ref.parent, "logs" / ref.parent))
    env = await _identity(common)
    if settings := await lfs.worktree_settings(Place(git_dir=common), own):
        env |= configured([*AGENT_SETTINGS, *settings])
    return Reach(writes=tuple(writes), reads=tuple(reads), env=env)


async def of_clone(workspace: Path, common: Path) -> Reach:
    """All of its own, and the objects that it borrows, those of submodules too."""
    own = (workspace, workspace / ".git")
    reads = (*desks.lent(common), common / "modules")
    return Reach(writes=own, reads=reads, env=await _identity(common))


def _made(common: Path, folders: Iterable[Path]) -> list[Path]:
    """Other agents can write beside them, and none may lead this one elsewhere."""
    made: list[Path] = []
    for folder in folders:
        if (common / folder).resolve() == common.resolve() / folder:
            (common / folder).mkdir(parents=True, exist_ok=True)
            made.append(common / folder)
    return made


async def _identity(common: Path) -> dict[str, str]:
    store = Place(git_dir=common)
    name, address = (await signed(store, store)).author or ("", "")
    told = {f"GIT_{who}_NAME": name for who in IDENTITY}
    return told | {f"GIT_{who}_EMAIL": address for who in IDENTITY}


def _own_folder(workspace: Path) -> Path | None:
    """The worktree's own folder in its repository, if the two name each other."""
    try:
        named = (workspace / ".git").read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        own = Path(named)
        back = (own / "gitdir").read_text(encoding="utf-8").strip()
        agree = Path(back).samefile(workspace / ".git") and own.parent.name == "worktrees"
    except (OSError, UnicodeDecodeError):
        return None
    return own if agree else None
