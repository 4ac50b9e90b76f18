"""The scripted agent's program: plays the steps of a file in the current folder and prints a
message stream. It is started as a file without site-packages, so it imports nothing of ours. The
steps were checked by `agents.script`; what is checked here is what only the worktree can tell."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

AUTHOR = ("-c", "user.name=Scripted agent", "-c", "user.email=scripted@agents-manager.invalid")
QUIET = ("-c", "core.hooksPath=/dev/null", "-c", "commit.gpgsign=false")


class CannotPlay(Exception):
    """The worktree does not fit the step."""


class Player:
    def __init__(self, session: str) -> None:
        self._session = session
        self._said: list[str] = []
        self._concluded = False
        self._called = 0

    def play(self, steps: list[tuple[str, Any]]) -> None:
        known: dict[str, Callable[[Any], None]] = {
            "say": self.say,
            "write": self.write,
            "modify": self.modify,
            "delete": self.delete,
            "commit": self.commit,
            "meet": meet,
            "tool": self.tool,
            "usage": self.usage,
            "ask": self.ask,
            "handoff": self.handoff,
            "outcome": self.outcome,
            "malformed": self.conclude,
            "fail": self.fail,
            "sleep": time.sleep,
            "hang": hang,
            "crash": crash,
            "flood": flood,
            "stderr": complain,
            "daemon": daemon,
        }
        for name, arguments in steps:
            known[name](arguments)
        if not self._concluded:
            self.conclude("\n\n".join(self._said))

    def say(self, text: str) -> None:
        self._said.append(text)
        emit(type="assistant", text=text)

    def write(self, step: dict[str, str]) -> None:
        path = inside(step["path"])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(step["text"], encoding="utf-8")
        emit(type="tool_use", name="write", input={"path": step["path"]})

    def modify(self, step: dict[str, Any]) -> None:
        path = inside(step["path"])
        if step.get("append") is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a", encoding="utf-8") as file:
                file.write(step["append"])
        else:
            text = path.read_text(encoding="utf-8")
            if step["replace"] not in text:
                raise CannotPlay(f'"{step["path"]}" does not hold the text to replace.')
            path.write_text(text.replace(step["replace"], step["by"]), encoding="utf-8")
        emit(type="tool_use", name="modify", input={"path": step["path"]})

    def delete(self, path: str) -> None:
        inside(path).unlink()
        emit(type="tool_use", name="delete", input={"path": path})

    def commit(self, message: str) -> None:
        git("add", "--all")
        if git("diff", "--cached", "--quiet", fails=True).returncode == 0:
            emit(type="assistant", text="There is nothing to commit.")
            return
        git(*AUTHOR, *QUIET, "commit", "--quiet", "--message", message)
        emit(type="tool_use", name="commit", input={"message": message})

    def tool(self, step: dict[str, Any]) -> None:
        result = step.get("result")
        if result is None:
            emit(type="tool_use", name=step["name"], input=step["input"])
            return
        self._called += 1
        call = f"call-{self._called}"
        emit(type="tool_use", id=call, name=step["name"], input=step["input"])
        ok = step.get("ok", True)
        emit(type="tool_result", id=call, name=step["name"], ok=ok, text=result)

    def usage(self, step: dict[str, Any]) -> None:
        emit(type="usage", **{name: value for name, value in step.items() if value is not None})

    def ask(self, payload: dict[str, Any]) -> None:
        self.outcome({"name": "needs_info", "payload": payload, "text": None})

    def handoff(self, given: dict[str, Any] | str) -> None:
        """As words of the final message; JSON is YAML."""
        block = given if isinstance(given, str) else json.dumps(given, indent=2)
        self.say(f"## Handoff\n\n```yaml\n{block}\n```")

    def outcome(self, step: dict[str, Any]) -> None:
        if step["text"] is not None:
            self.say(step["text"])
        payload = "" if step["payload"] is None else json.dumps(step["payload"], indent=2)
        block = f"<<<OUTCOME:{step['name']}>>>\n{payload}\n<<<END_PAYLOAD>>>"
        self.conclude("\n\n".join([*self._said, block]))

    def conclude(self, text: str) -> None:
        self._concluded = True
        emit(type="result", text=text, session=self._session)

    def fail(self, step: dict[str, str]) -> None:
        fault = {"error": step["message"], "error_class": step["error_class"]}
        emit(type="result", text="", session=self._session, **fault)
        sys.exit(1)


def emit(**message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def complain(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def inside(path: str) -> Path:
    """The path in the worktree, wherever links lead; git's own files are not the agent's."""
    parts = PurePosixPath(path)
    root = Path.cwd().resolve()
    target = root / parts
    real = target.resolve()
    if parts.is_absolute() or ".." in parts.parts or not real.is_relative_to(root) or real == root:
        raise CannotPlay(f'"{path}" leaves the worktree.')
    if any(part.lower() == ".git" for part in real.relative_to(root).parts):
        raise CannotPlay(f'"{path}" belongs to git.')
    return target


def git(*arguments: str, fails: bool = False) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    if done.returncode and not fails:
        raise CannotPlay(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done


def meet(message: str) -> None:
    """Waits for a commit of somebody who works beside it."""
    # Git fails while a worktree is being made: its branch has no commit yet.
    while message not in git("log", "--all", "--format=%s", fails=True).stdout.splitlines():
        time.sleep(0.05)


def hang(step: dict[str, bool]) -> NoReturn:
    if step["ignore_term"]:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(3600)


def crash(how: int | str) -> NoReturn:
    if isinstance(how, str):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        number = signal.Signals[how]
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        how = 1
    os._exit(how)


def flood(step: dict[str, Any]) -> None:
    line = b"x" * (step["line_bytes"] - 1) + b"\n"
    left: int = step["bytes"] or step["lines"] * len(line)
    block = line * max(1, 65536 // len(line))
    while left > len(block):
        sys.stdout.buffer.write(block)
        left -= len(block)
    sys.stdout.buffer.write(block[: left - 1] + b"\n")
    sys.stdout.buffer.flush()


def daemon(seconds: float) -> None:
    """Leaves a process behind that belongs to another session and holds standard output."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(seconds)
        os._exit(0)
    os.wait()


def main(file: str) -> int:
    task = json.loads(Path(file).read_text(encoding="utf-8"))
    if task["lost"]:
        gone = "The session is gone; a new one is begun."
        emit(type="output", text=gone, session_lost=True)
    try:
        Path(task["kept"]).touch()
        Player(task["session"]).play(task["steps"])
    except (CannotPlay, OSError, UnicodeDecodeError) as error:
        complain(f"The script cannot be played: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
