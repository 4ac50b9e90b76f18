"""Small real repositories, made and looked at by plain git as its user would run it."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

WORKSPACES = os.environ.get("AM_TEST_WORKSPACES", "auto")
"""What agents work in, unless a test says otherwise: `clone` tries everything with clones."""
Files = Mapping[str, str | bytes]


@pytest.fixture
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return settle(tmp_path, monkeypatch)


def settle(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user with nothing but a name, whatever the machine's git is set up for."""
    home = folder / "user home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        '[user]\nname = "Ada Löve"\nemail = ada@example.org\n[init]\ndefaultBranch = main\n'
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return home


def scripted_home(home: Path, **more: Any) -> Path:
    """A data directory whose agent, unless a run names another, is the scripted one. What it says
    does not hang on whether this machine has a sandbox."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    config = home / "config.json"
    if not config.exists():
        usual = {"defaultAgentType": "scripted", "sandbox": {"level": "none"}}
        config.write_text(json.dumps({**usual, "workspace": {"kind": WORKSPACES}, **more}))
    return home


def run(repo: Path, *args: str, check: bool = True) -> str:
    done = subprocess.run(["git", "-C", repo, *args], capture_output=True, check=False)
    if check and done.returncode:
        raise AssertionError(f"git {' '.join(args)}: {done.stderr.decode()}")
    return done.stdout.decode(errors="surrogateescape").removesuffix("\n")


def make_repo(path: Path, files: Files | None = None) -> Path:
    path.mkdir(parents=True)
    run(path, "init", "-q")
    commit(path, {"README.md": "Hello\n"} if files is None else files, "First")
    return path


def commit(tree: Path, files: Files, message: str = "Change") -> str:
    write(tree, files)
    run(tree, "add", "-A")
    run(tree, "commit", "-q", "-m", message)
    return sha(tree)


def write(tree: Path, files: Files) -> None:
    for name, content in files.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def sha(repo: Path, name: str = "HEAD") -> str:
    return run(repo, "rev-parse", "--verify", name)


def refs(repo: Path, under: str = "refs") -> dict[str, str]:
    lines = run(repo, "for-each-ref", "--format=%(refname) %(objectname)", under).splitlines()
    return dict(line.split(" ") for line in lines)


def status(repo: Path) -> str:
    return run(repo, "status", "--porcelain")


def canary(path: Path) -> str:
    """A command that tells on itself."""
    return f"touch '{path}'; cat"


def executable(path: Path, command: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{command}\n")
    path.chmod(0o755)
    return path
