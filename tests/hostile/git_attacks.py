"""Ways in which an agent can have a git of the host run its own program, planted in its workspace.
Each has a control: plain git, as its user would run it in the same folder, falls for it."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.repos import commit, executable, make_repo, run, write

HOOKS = (
    *("pre-commit", "post-commit", "post-checkout", "post-index-change", "post-rewrite"),
    *("pre-rebase", "post-merge", "reference-transaction", "pre-push", "prepare-commit-msg"),
)


@dataclass(frozen=True)
class Attack:
    name: str
    plant: Callable[[Path, Path], None]
    """Given the workspace and the canary, a program that tells on itself when it runs."""
    control: Sequence[Sequence[str]]
    """What plain git is asked to do in the workspace."""
    alone: bool = False
    """Whether it cannot stand beside others."""


def git_dir(tree: Path) -> Path:
    return Path(run(tree, "rev-parse", "--path-format=absolute", "--git-common-dir"))


def setting(key: str, value: str = "{canary}") -> Callable[[Path, Path], None]:
    def plant(tree: Path, canary: Path) -> None:
        run(tree, "config", key, value.format(canary=canary))

    return plant


def several(*parts: Callable[[Path, Path], None]) -> Callable[[Path, Path], None]:
    def plant(tree: Path, canary: Path) -> None:
        for part in parts:
            part(tree, canary)

    return plant


def attribute(text: str) -> Callable[[Path, Path], None]:
    def plant(tree: Path, canary: Path) -> None:
        file = tree / ".gitattributes"
        file.write_text((file.read_text() if file.exists() else "") + f"{text}\n")

    return plant


def hooks(tree: Path, canary: Path) -> None:
    for hook in HOOKS:
        executable(git_dir(tree) / "hooks" / hook, f"'{canary}'")


def included(tree: Path, canary: Path) -> None:
    more = git_dir(tree) / "more"
    more.write_text(f'[core]\n\tfsmonitor = "{canary}"\n')
    run(tree, "config", "include.path", str(more))


def hooks_path(tree: Path, canary: Path) -> None:
    for hook in HOOKS:
        executable(git_dir(tree) / "elsewhere" / hook, f"'{canary}'")
    run(tree, "config", "core.hooksPath", str(git_dir(tree) / "elsewhere"))


def evil_repo(tree: Path, canary: Path, key: str) -> Path:
    made = make_repo(tree.parent / f"evil {canary.stem}", {"README.md": "Hello\n"})
    run(made, "config", key, str(canary))
    return made


def replaced(tree: Path, canary: Path) -> None:
    evil = evil_repo(tree, canary, "core.fsmonitor")
    own = tree / ".git"
    shutil.rmtree(own) if own.is_dir() else own.unlink()
    own.write_text(f"gitdir: {evil / '.git'}\n")


def linked_git(tree: Path, canary: Path) -> None:
    evil = evil_repo(tree, canary, "core.fsmonitor")
    own = tree / ".git"
    shutil.rmtree(own) if own.is_dir() else own.unlink()
    own.symlink_to(evil / ".git")


def common_dir(key: str, *attributes: str) -> Callable[[Path, Path], None]:
    def plant(tree: Path, canary: Path) -> None:
        evil = evil_repo(tree, canary, key)
        admin = Path(run(tree, "rev-parse", "--absolute-git-dir"))
        (admin / "commondir").write_text(f"{evil / '.git'}\n")
        for text in attributes:
            attribute(text)(tree, canary)

    return plant


def config_worktree(tree: Path, canary: Path) -> None:
    run(tree, "config", "extensions.worktreeConfig", "true")
    run(tree, "config", "--worktree", "filter.hidden.clean", str(canary))
    attribute("hidden.txt filter=hidden")(tree, canary)
    write(tree, {"hidden.txt": "x\n"})


def nested(key: str, folder: str, **files: str) -> Callable[[Path, Path], None]:
    def plant(tree: Path, canary: Path) -> None:
        inner = make_repo(tree / folder, {"f": "1\n"})
        run(tree, "add", folder)
        run(inner, "config", key, str(canary))
        write(inner, {"f": "2\n", **{k.replace("_", "."): v for k, v in files.items()}})

    return plant


def remote(name: str, url: str, **more: str) -> Callable[[Path, Path], None]:
    def plant(tree: Path, canary: Path) -> None:
        run(tree, "config", f"remote.{name}.url", url.format(canary=canary))
        for key, value in more.items():
            run(tree, "config", f"remote.{name}.{key}", value.format(canary=canary))

    return plant


def merging(tree: Path, canary: Path) -> None:
    run(tree, "config", "merge.evil.driver", str(canary))
    (git_dir(tree) / "info").mkdir(exist_ok=True)
    (git_dir(tree) / "info" / "attributes").write_text("README.md merge=evil\n")
    mine = run(tree, "symbolic-ref", "--short", "HEAD")
    run(tree, "switch", "-q", "-c", f"rival-{canary.stem}")
    commit(tree, {"README.md": "theirs\n"}, "Theirs")
    run(tree, "switch", "-q", mine)
    commit(tree, {"README.md": "mine\n"}, "Mine")
    run(tree, "tag", "-f", "rival", f"rival-{canary.stem}")


def missing_object(tree: Path, canary: Path) -> None:
    """A repository that says it has its missing objects from somewhere."""
    run(tree, "config", "remote.lazy.url", str(tree.parent / "nowhere"))
    run(tree, "config", "remote.lazy.promisor", "true")
    run(tree, "config", "remote.lazy.uploadpack", str(canary))
    run(tree, "config", "core.repositoryFormatVersion", "1")
    run(tree, "config", "extensions.partialClone", "lazy")
    lost = run(tree, "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", f"Lost {canary.stem}")
    run(tree, "update-ref", f"refs/heads/lost-{canary.stem}", lost)
    (git_dir(tree) / "objects" / lost[:2] / lost[2:]).unlink()
    run(tree, "config", "alias.lost", f"log -1 {lost}")


def soiled(tree: Path, canary: Path) -> None:
    run(tree, "config", "filter.soiled.smudge", str(canary))
    attribute("soiled.txt filter=soiled")(tree, canary)
    write(tree, {"soiled.txt": "x\n"})


STATUS = ("status",)
ADD = ("add", "-A")
COMMIT = ("commit", "-q", "--allow-empty", "-m", "x")

ATTACKS = (
    Attack("hooks", hooks, [COMMIT]),
    Attack("fsmonitor", setting("core.fsmonitor"), [STATUS]),
    Attack("include", included, [STATUS]),
    Attack("hooksPath", hooks_path, [COMMIT]),
    Attack("diff.external", setting("diff.external"), [("diff", "HEAD")]),
    Attack(
        "textconv",
        several(setting("diff.shown.textconv"), attribute("*.md diff=shown")),
        [("diff", "HEAD")],
    ),
    Attack(
        "diff driver",
        several(setting("diff.driven.command"), attribute("*.txt diff=driven")),
        [("add", "-A"), ("diff", "--cached", "HEAD")],
    ),
    Attack(
        "signing",
        several(setting("gpg.program"), setting("commit.gpgSign", "true")),
        [COMMIT],
    ),
    Attack(
        "ssh",
        several(setting("core.sshCommand"), remote("far", "ssh://example.org/x")),
        [("fetch", "far")],
    ),
    Attack(
        "ext",
        several(setting("protocol.ext.allow", "always"), remote("ext", "ext::{canary} x")),
        [("fetch", "ext")],
    ),
    Attack("git proxy", setting("core.gitProxy"), [("ls-remote", "git://example.org/x")]),
    Attack(
        "credential helper",
        several(setting("credential.helper", "!'{canary}'"), remote("web", "http://127.0.0.1:1/x")),
        [("credential", "fill")],
    ),
    Attack("askpass", setting("core.askPass"), [("credential", "fill")]),
    Attack(
        "clean filter",
        several(setting("filter.washed.clean"), attribute("washed.txt filter=washed")),
        [ADD],
    ),
    Attack(
        "smudge filter",
        soiled,
        [ADD, COMMIT, ("reset", "-q", "--hard", "HEAD~1"), ("reset", "--hard", "ORIG_HEAD")],
    ),
    Attack(
        "filter process",
        several(
            setting("filter.long.process"),
            setting("filter.long.required", "true"),
            attribute("long.txt filter=long"),
        ),
        [ADD],
    ),
    Attack("merge driver", merging, [("merge", "rival")], alone=True),
    Attack("uploadpack", remote("up", "/nowhere", uploadpack="{canary}"), [("fetch", "up")]),
    Attack(
        "receivepack",
        remote("down", "/nowhere", receivepack="{canary}"),
        [("push", "down", "HEAD")],
    ),
    Attack("editor", setting("core.editor"), [("commit", "--allow-empty")]),
    Attack("replaced .git", replaced, [STATUS], alone=True),
    Attack("linked .git", linked_git, [STATUS], alone=True),
    Attack("commondir", common_dir("core.fsmonitor"), [STATUS], alone=True),
    Attack(
        "commondir + filter",
        common_dir("filter.far.clean", "far.txt filter=far"),
        [ADD],
        alone=True,
    ),
    Attack("config.worktree + filter", config_worktree, [ADD], alone=True),
    Attack("nested + fsmonitor", nested("core.fsmonitor", "inner"), [STATUS]),
    Attack(
        "nested + filter",
        nested("filter.deep.clean", "deeper", _gitattributes="* filter=deep\n"),
        [STATUS],
    ),
    Attack("missing object", missing_object, [("lost",)], alone=True),
)
