"""The real `am` program, run as its user runs it: as a process, on a data directory of its own."""

import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from tests import ready
from tests.repos import scripted_home

T = TypeVar("T")

PROGRAM = Path(sys.executable).with_name("am")
PATIENCE_S = 40.0


@dataclass(frozen=True)
class Done:
    args: Sequence[str]
    code: int
    out: str
    err: str


Run = Callable[[Sequence[str], str, Path, Mapping[str, str]], Done]


@cache
def _forks() -> "subprocess.Popen[str]":
    """One for all tests of this process: commands bring their own folder and environment."""
    source = subprocess.Popen(
        [sys.executable, Path(__file__).with_name("am_forks.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8"},
        text=True,
    )
    atexit.register(source.__exit__, None, None, None)  # It ends with its input.
    return source


class Am:
    def __init__(self, folder: Path, program: Sequence[str | Path] = (PROGRAM,)) -> None:
        self.program = program
        self.patience_s = PATIENCE_S
        self.home = folder / "am-home"
        self.repo = folder / "repo"
        user = folder / "user"
        user.mkdir(exist_ok=True)
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(user),
            "USER": "ada",
            "LANG": "C.UTF-8",
            "AM_HOME": str(self.home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "COLUMNS": "10000",  # So that no line of output is wrapped.
        }
        self._run: Run = self._start_and_wait

    def __call__(
        self,
        *args: str,
        input: str = "",
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
    ) -> Done:
        """One command, whatever comes of it."""
        return self._run(args, input, cwd or self.repo, {**self.env, **(env or {})})

    def _start_and_wait(
        self, args: Sequence[str], input: str, cwd: Path, env: Mapping[str, str]
    ) -> Done:
        ran = subprocess.run(
            [*self.program, *args],
            input=input.encode(),
            capture_output=True,
            cwd=cwd,
            env=env,
            timeout=self.patience_s,
            check=False,
        )
        return Done(args, ran.returncode, ran.stdout.decode(), ran.stderr.decode())

    @contextmanager
    def quickly(self) -> Generator[None]:
        """Inside, commands are forked from a process that has imported the program already."""
        streams = Path(tempfile.mkdtemp(dir=self.home.parent))
        source = _forks()

        def run(args: Sequence[str], input: str, cwd: Path, env: Mapping[str, str]) -> Done:
            assert source.stdin
            assert source.stdout
            (streams / "in").write_text(input)
            request = {"args": args, "cwd": str(cwd), "env": dict(env)}
            request |= {"streams": str(streams), "seconds": round(self.patience_s)}
            source.stdin.write(json.dumps(request) + "\n")
            source.stdin.flush()
            code = int(source.stdout.readline())
            return Done(args, code, (streams / "out").read_text(), (streams / "err").read_text())

        self._run = run
        yield
        self._run = self._start_and_wait

    def text(self, *args: str, input: str = "") -> str:
        """What a command that succeeds says to people."""
        done = self(*args, input=input)
        assert done.code == 0, done
        return done.out

    def json(self, *args: str, input: str = "") -> Any:
        """What a command that succeeds says to programs."""
        return json.loads(self.text(*args, "--json", input=input))

    def make_repo(self) -> None:
        ready.home(scripted_home(self.home))
        self.repo.mkdir()
        self.git("init", "-q", "-b", "main")
        (self.repo / "README.md").write_text("# Shop\n")
        self.git("add", "-A")
        self.git("-c", "user.name=Ada", "-c", "user.email=ada@x", "commit", "-q", "-m", "First")

    def git(self, *args: str) -> str:
        command = ["git", *args]
        ran = subprocess.run(
            command, cwd=self.repo, env=self.env, capture_output=True, text=True, check=True
        )
        return ran.stdout

    @contextmanager
    def serving(self, *args: str) -> Generator[dict[str, Any]]:
        """A command that serves, with what it says when it is ready; ended by Ctrl-C."""
        log = self.home.parent / "serving.log"  # A pipe that nobody reads would fill up.
        with log.open("wb") as errors:
            process = subprocess.Popen(
                [*self.program, *args, "--json"],
                stdout=subprocess.PIPE,
                stderr=errors,
                env=self.env,
                cwd=self.home.parent,
                text=True,
            )
        assert process.stdout is not None
        try:
            yield document(process, log)
            process.send_signal(signal.SIGINT)
            asked = time.monotonic()
            out, _ = process.communicate(timeout=PATIENCE_S)
            err = log.read_text()
            assert time.monotonic() - asked < 10
            assert process.returncode == 0, err
            assert out == ""
            assert "Traceback" not in err
        finally:
            process.kill()
            process.communicate()

    def open_prompt(self, task: str) -> dict[str, Any]:
        """The question that a task comes to."""
        return until(lambda: next((i for i in self._inbox() if i["task"]["id"] == task), None))

    def _inbox(self) -> list[dict[str, Any]]:
        return self.json("prompt", "list")


def until(look: Callable[[], T | None]) -> T:
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError("it did not happen in time")


def document(process: "subprocess.Popen[str]", log: Path | None = None) -> dict[str, Any]:
    """The JSON document that is printed in several lines while the program goes on."""
    assert process.stdout is not None
    text = ""
    for line in process.stdout:
        text += line
        if line == "}\n":
            return json.loads(text)
    said = log.read_text() if log else process.stderr and process.stderr.read()
    raise AssertionError(f"it ended with {process.wait()}: {said}")
