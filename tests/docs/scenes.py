"""A machine on which a page of the documentation is read from top to bottom: a user with a
repository, a data directory, and an agent that plays a script. Nothing on it is a stand-in but
`make`, which says what it would do."""

import os
import pty
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests import ready, repos
from tests.docs.blocks import ROOT, TYPED, Block
from tests.e2e.am_program import PROGRAM

STAND_INS = {
    **{"3f2a": "task", "77d0": "prompt", "9c41": "run", "9c0d": "other"},
    **{"TASK": "task", "PROMPT": "prompt", "RUN": "run"},
}
"""What the pages call ids, and whose each is."""
PATIENCE_S = 300
HEAD = re.compile(r"[A-Z]+(?: +[A-Z]+)+")
WORKS: Mapping[str, Any] = {
    "implement": [
        [
            {"write": {"path": "a.txt", "text": "Ann\n"}},
            {"commit": "Greet"},
            {"outcome": "pr_ready"},
        ],
        [{"delete": "a.txt"}, {"commit": "Use the full name"}, {"outcome": "pr_ready"}],
    ]
}
"""What the agent does unless a page says otherwise: what it is asked for, twice."""


@dataclass(frozen=True)
class Scene:
    """What a page begins with, beside the usual."""

    script: Mapping[str, Any] = field(default_factory=lambda: WORKS)
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """In the repository, uncommitted."""
    before: str = "am project add ."
    """What its reader did before, as commands."""
    asks: str = ""
    """The type of the questions that it is about; any, where left out."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    typed: str = "y"
    """What its reader answers to whatever is asked at the terminal; nothing: what is offered."""
    names: str = ""
    """Python in which the names are that its Python uses."""


class Reader:
    def __init__(self, folder: Path, scene: Scene, forks: Path) -> None:
        self._scene = scene
        self._folder = folder
        self._python = f"{scene.names}\n"
        """With what stands above it on the page."""
        self._repo = folder / "code" / "shop"
        home = folder / ".agents-manager"
        script = folder / "script.yaml"
        script.write_text(yaml.safe_dump(dict(scene.script)))
        agents = {"scripted": {"scriptFile": str(script)}}
        ready.home(repos.scripted_home(home, agents=agents, **scene.settings))
        self._env = {
            "PATH": os.pathsep.join([str(Path(__file__).with_name("bin")), os.environ["PATH"]]),
            **{"HOME": str(folder), "USER": "ann", "LANG": "C.UTF-8", "AM_HOME": str(home)},
            **{"GIT_CONFIG_NOSYSTEM": "1", "DOCS_AM": str(PROGRAM), "DOCS_ROOT": str(ROOT)},
            **{"DOCS_SCENE": str(folder), "DOCS_PORT": str(_free_port())},
            **{"DOCS_FORKS": str(forks), "DOCS_PYTHON": sys.executable},
            "DOCS_PROMPT": scene.asks,
        }
        (folder / ".gitconfig").write_text("[user]\nname = Ann\nemail = ann@example.org\n")
        self._repo.mkdir(parents=True)
        self._git("init", "-q", "-b", "main")
        repos.write(self._repo, {"README.md": "# Shop\n", "src/app.py": "print('Hello')\n"})
        self._git("add", "-A")
        self._git("commit", "-q", "-m", "First")
        repos.write(self._repo, dict(scene.files))

    def read(self, page: Sequence[Block]) -> None:
        """Runs what can be run, in the order of the page, in one shell."""
        repos.write(self._repo, {block.file: block.text for block in page if block.file})
        steps = [f"cd {shlex.quote(str(self._repo))}", self._scene.before]
        for block in page:
            if block.reason is None and (command := self._command(block)):
                steps.append(f"echo '@@ {block}'\n{command}")
        with _answering(self._scene.typed) as terminal:
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", "\n".join(steps)],
                stdin=terminal,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=self._env,
                timeout=PATIENCE_S,
                check=False,
                text=True,
            )
        assert done.returncode == 0, done.stdout[-3000:]
        self._compare(page, done.stdout)

    def _command(self, block: Block) -> str:
        text = block.commands
        if block.language == "python":
            self._python += f"{block.text}\n"
            file = self._folder / f"block-{block.line}.py"
            file.write_text(self._python)
            return f"{shlex.quote(sys.executable)} {shlex.quote(str(file))}"
        for shown, what in STAND_INS.items():
            text = re.sub(rf"\b{shown}\b", f'"$(the {what})"', text)
        return text.replace("127.0.0.1:4100", f"127.0.0.1:{self._env['DOCS_PORT']}")

    def _compare(self, page: Sequence[Block], printed: str) -> None:
        """The heads of tables are those that the program prints."""
        words = " ".join(printed.split())
        for block in page:
            if block.language == "console" and block.reason is None:
                shown = [line for line in block.text.splitlines() if not line.startswith(TYPED)]
                heads = [" ".join(line.split()) for line in shown if HEAD.fullmatch(line.strip())]
                assert [head for head in heads if head not in words] == [], block

    def _git(self, *args: str) -> None:
        subprocess.run(["git", *args], cwd=self._repo, env=self._env, check=True)

    def leave(self) -> None:
        with suppress(FileNotFoundError, ProcessLookupError):
            server = int((self._folder / "pid").read_text())
            os.kill(server, signal.SIGINT)
            for _ in range(100):
                os.kill(server, 0)
                time.sleep(0.1)


@contextmanager
def reading(folder: Path, scene: Scene, forks: Path) -> Iterator[Reader]:
    reader = Reader(folder, scene, forks)
    try:
        yield reader
    finally:
        reader.leave()


@contextmanager
def forking() -> Iterator[Path]:
    """The socket at which commands are to be had; the name of one must be short."""
    with tempfile.TemporaryDirectory(prefix="am-") as folder:
        address = Path(folder) / "forks"
        env = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        command = [sys.executable, "-m", "tests.docs.forks", str(address)]
        with subprocess.Popen(command, cwd=ROOT, env=env) as source:
            while not address.exists():
                assert source.poll() is None
                time.sleep(0.05)
            yield address
            source.kill()


@contextmanager
def _answering(typed: str) -> Iterator[int]:
    """A terminal at which somebody says the same to whatever is asked."""
    keyboard, terminal = pty.openpty()
    os.write(keyboard, f"{typed}\n".encode() * 500)
    yield terminal
    os.close(keyboard)
    os.close(terminal)


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
