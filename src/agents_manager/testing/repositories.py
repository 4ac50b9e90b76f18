"""Small real repositories for tests, made by plain git whatever the machine's is set up for."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

AUTHOR = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_NAME": "Ada" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "ada@example.org" for who in ("AUTHOR", "COMMITTER")},
}


def git(folder: Path, *arguments: str) -> str:
    argv = ["git", "-C", str(folder), *arguments]
    env = {**os.environ, **AUTHOR}
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"git {' '.join(arguments)}: {done.stderr}")
    return done.stdout.strip()


def commit(repo: Path, files: Mapping[str, str]) -> str:
    """On the branch that is checked out; the commit."""
    for name, text in files.items():
        path = repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    git(repo, "add", "--all")
    git(repo, "commit", "-q", "--allow-empty", "-m", "Change")
    return git(repo, "rev-parse", "HEAD")


def make(path: Path, files: Mapping[str, str]) -> Path:
    path.mkdir(parents=True)
    git(path, "init", "-q", "-b", "main")
    commit(path, files)
    return path
