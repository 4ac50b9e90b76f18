"""Completion in the real shells, installed as the docs say: what a person sees after Tab."""

import os
import pty
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from select import select

import pytest

from tests.debian import have
from tests.e2e.am_program import PATIENCE_S, PROGRAM, Am

pytestmark = pytest.mark.slow

TITLE = "Fix: the door, \"soon\"; $(touch pwned) 'now'"
SCRIPTS = {
    "bash": ".local/share/bash-completion/completions/am",
    "zsh": ".zfunc/_am",
    "fish": ".config/fish/completions/am.fish",
}


@dataclass(frozen=True)
class Desk:
    am: Am
    task: str

    def install(self, shell: str) -> None:
        """A shell whose user followed the docs."""
        have(shell, lambda: shutil.which(shell))
        script = Path(self.am.env["HOME"], SCRIPTS[shell])
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(self.am.text("completion", shell))

    @property
    def env(self) -> dict[str, str]:
        folders = f"{PROGRAM.parent}:{self.am.env['PATH']}"
        return {**self.am.env, "PATH": folders, "TERM": "dumb"}

    def run(self, *command: str) -> str:
        done = subprocess.run(
            command,
            cwd=self.am.repo,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=True,
        )
        assert done.stderr == ""
        return done.stdout


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    am = Am(tmp_path_factory.mktemp("shells"))
    am.make_repo()
    am.text("project", "add", ".", "--name", "shop")
    task = am.json("task", "create", TITLE)["task"]["id"][:8]
    yield Desk(am, task)
    assert not [*am.home.parent.rglob("pwned")]


def test_bash(desk: Desk) -> None:
    desk.install("bash")
    script = Path(desk.am.env["HOME"], SCRIPTS["bash"])

    def offered(*words: str) -> list[str]:
        line = "; ".join(
            [
                f"source {script}",
                f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}",
                "$(complete -p am | sed 's/.*-F \\([^ ]*\\) am/\\1/') am",
                "printf '%s\\n' \"${COMPREPLY[@]}\"",
            ]
        )
        return desk.run("bash", "--norc", "-c", line).splitlines()

    assert offered("am", "task", "exp") == ["export"]
    assert offered("am", "task", "show", "''") == [desk.task]


def test_fish(desk: Desk) -> None:
    desk.install("fish")

    def offered(line: str) -> list[str]:
        return desk.run("fish", "-c", f"complete -C {line!r}").splitlines()

    assert [row.partition("\t")[0] for row in offered("am task exp")] == ["export"]
    [row] = offered("am task show ")
    assert row.partition("\t")[0] == desk.task
    assert "Fix: the door" in row
    assert "feature" in offered("am pipeline show ")


def test_zsh(desk: Desk) -> None:
    desk.install("zsh")
    with terminal(["zsh", "-f", "-i"], desk) as ask:
        # Besides what its users do: a key that says what stands on the line.
        ask("PS1= PS2=; fpath=(~/.zfunc $fpath); autoload -Uz compinit; compinit -u\n")
        ask('say() { print -r -- "<$BUFFER>"; zle kill-whole-line }\n')
        ask("zle -N say; bindkey '^X' say\n")
        ask("am task exp\t\x18", until="<am task export >")
        ask("am task show \t\x18", until=f"<am task show {desk.task} >")
        ask("am pipeline show \t", until="simple")


Ask = Callable[..., None]


@contextmanager
def terminal(command: Sequence[str], desk: Desk) -> Iterator[Ask]:
    """A program on a terminal: types, and waits for what is to be seen."""
    ours, its = pty.openpty()
    process = subprocess.Popen(
        command,
        stdin=its,
        stdout=its,
        stderr=its,
        cwd=desk.am.repo,
        env=desk.env,
        start_new_session=True,
    )
    os.close(its)

    def ask(keys: str, until: str = "") -> None:
        os.write(ours, keys.encode())
        seen, end = "", time.monotonic() + PATIENCE_S
        while until not in seen:
            ready, _, _ = select([ours], [], [], max(0, end - time.monotonic()))
            assert ready, f"no {until!r} after {keys!r}, but {seen!r}"
            seen += re.sub("[\r\n]", "", os.read(ours, 4096).decode(errors="replace"))

    try:
        yield ask
    finally:
        process.kill()
        process.wait()
        os.close(ours)
