"""The first five minutes of a stranger: from an empty machine to two merged tasks.

    python examples/first_five_minutes/walk.py dist/agents_manager-*.whl [--write] [--pictures]

Installs the wheel with uv into an empty home, begins with `am init`, gives one task to the scripted
agent and one to the real Claude Code, whose model is scripted, answers its question, and merges
both. Says what was typed and what came of it; `--write` keeps that as docs/first-five-minutes.md,
`--pictures` takes the screenshots beside it with Chromium.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

sys.path.insert(0, str(Path(__file__).parent))

from page import Page
from pictures import Camera, NoCamera
from terminal import Terminal

from agents_manager.testing.scripted_model import (
    ModelServer,
    Say,
    Structured,
    Turn,
    When,
    asked,
    claude_bash,
    claude_edit,
    claude_read,
)

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 240
ACCOUNT = "first-five-minutes"
QUESTION = {
    "questions": [
        {
            "id": "q1",
            "question": "How should it say goodbye?",
            "options": [
                {"label": "See you", "recommended": True},
                {"label": "Farewell"},
            ],
        }
    ]
}
SAID = 'print("Hello")'
MODEL = [
    Structured({"text": "One thing first.", "outcome": "needs_info", "payload": QUESTION}),
    When(
        asked("See you"),
        [
            claude_read(Path("hello.py")),
            Turn(
                [
                    Say("I add the line."),
                    claude_edit(Path("hello.py"), SAID, f'{SAID}\nprint("See you")'),
                ]
            ),
            claude_bash("python3 hello.py && git commit -qam 'Say goodbye, too'"),
            Structured({"text": "It says goodbye now.", "outcome": "pr_ready", "payload": None}),
        ],
    ),
]
"""What the model of Claude Code says."""


def main(arguments: list[str]) -> int:
    wheel = Path(next(a for a in arguments if not a.startswith("-"))).resolve()
    pictures = "--pictures" in arguments
    with tempfile.TemporaryDirectory(prefix="first-") as folder, ModelServer() as model:
        model.script(ACCOUNT, MODEL)
        terminal = _terminal(Path(folder), model)
        page = Page(terminal)
        walk(terminal, wheel, page, Camera if pictures else NoCamera)
        print(page.text())
        model.check(ACCOUNT)
    if "--write" in arguments:
        page.write()
    return 0


def walk(terminal: Terminal, wheel: Path, page: Page, camera: Any) -> None:
    with page.part("Install"):
        wanted = f"{wheel}[claude]"
        terminal.type(
            f"uv tool install --quiet '{wanted}'",
            shown='uv tool install "agents-manager[claude]"',
        )
        terminal.type("am --version")
    with page.part("Begin with a repository"):
        terminal.type("mkdir hello && cd hello && git init -q -b main")
        terminal.cwd = terminal.home / "hello"
        terminal.type("""echo 'print("Hello")' > hello.py""")
        terminal.type("git add . && git commit -q -m 'Say hello'")
        terminal.type("am init", answers="2\n\ny\n")
        terminal.type("git add .agents-manager && git commit -q -m 'Settings for agents'")
    with _serving(terminal, page) as address:
        taking = camera(address, terminal.home / ".agents-manager")
        _first_task(terminal, page, taking)
        _with_claude(terminal, page, taking)
        taking.close()
    with page.part("What came of it"):
        terminal.type("git log --format=%s --no-merges")
        terminal.type("python3 hello.py")


def _first_task(terminal: Terminal, page: Page, taking: Any) -> None:
    with page.part("A first task, without a model"):
        terminal.type('am task create "Write down what this is" --pipeline simple --start')
        task = _until(terminal, "Write down what this is", "review")
        terminal.type("am task list")
        terminal.type(f"am run diff {_last_run(terminal, task)}")
        taking.take("board", "board")
        taking.take("review", f"tasks/{task}?tab=changes")
        terminal.type(f"am review {task} --approve")
        _until(terminal, "Write down what this is", "done")


def _with_claude(terminal: Terminal, page: Page, taking: Any) -> None:
    title = "Say goodbye, too"
    with page.part("The same with Claude Code"):
        _consent(terminal)
        terminal.type("am config set defaultAgentType claude-code --yes")
        terminal.type("am config set agents.claude-code.model claude-sonnet-4-5 --yes")
        terminal.type("am agent doctor claude-code")
        terminal.type(f'am task create "{title}" --pipeline simple --start')
        prompt = _asked(terminal)
        terminal.type("am prompt list")
        taking.take("inbox", "inbox")
        task = terminal.know(_task(terminal, title)["id"])
        taking.take("question", f"tasks/{task}")
        terminal.type(f"am prompt answer {prompt} --option 1")
        _until(terminal, title, "review")
        taking.take("transcript", f"tasks/{task}?tab=transcript")
        terminal.type(f"am run diff {_last_run(terminal, task)}")
        terminal.type(f"am review {task} --approve")
        _until(terminal, title, "done")
        taking.take("done", "tasks")


def _terminal(folder: Path, model: ModelServer) -> Terminal:
    home = folder / "ada"
    tools = home / ".local" / "bin"
    tools.mkdir(parents=True)
    uv = Path(sys.executable).with_name("uv")
    (tools / "uv").symlink_to(uv)
    kept = {k: v for k, v in os.environ.items() if k.startswith(("UV_", "PIP_", "SSL_"))}
    env = {
        **kept,
        "PATH": f"{tools}:/usr/local/bin:/usr/bin:/bin",
        "USER": "ada",
        "ANTHROPIC_API_KEY": "scripted",
        "ANTHROPIC_BASE_URL": model.url(ACCOUNT),
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "UV_PYTHON": str(Path(sys.executable).resolve()),
        **{f"GIT_{who}_{what}": said for who in ("AUTHOR", "COMMITTER") for what, said in ADA},
    }
    return Terminal(home, env)


ADA = (("NAME", "Ada"), ("EMAIL", "ada@example.org"))


@contextmanager
def _serving(terminal: Terminal, page: Page) -> Iterator[str]:
    """In another terminal. Another port than the usual one, where one may be at work already."""
    out, log = terminal.home / "serve.txt", terminal.home / "serve.log"
    with out.open("wb") as said, log.open("wb") as errors:
        process = subprocess.Popen(
            ["bash", "-c", "exec am serve --port 0"],
            cwd=terminal.cwd,
            env=terminal.env,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=errors,
        )
    try:
        told = _wait(lambda: (t := out.read_text()) and "Ctrl-C" in t and t, process)
        with page.part("Start the server, in another terminal"):
            terminal.record.append(f"$ am serve\n{told}".rstrip())
        yield told.split("Agents Manager is at ")[1].split()[0]
    finally:
        process.terminate()
        process.wait()


def _until(terminal: Terminal, title: str, status: str) -> str:
    def there() -> str | None:
        task = _task(terminal, title)
        if task["status"] == "needs_decision":
            raise SystemExit(terminal.quietly(f"am task why {task['id']}"))
        return terminal.know(task["id"]) if task["status"] == status else None

    return _wait(there)


def _task(terminal: Terminal, title: str) -> Any:
    found = _got(terminal, "tasks")
    return next(one for one in found if one["title"] == title)


def _last_run(terminal: Terminal, task: str) -> str:
    runs = [r["id"] for r in _got(terminal, "runs") if r["task_id"].startswith(task)]
    return terminal.know(runs[0])


def _consent(terminal: Terminal) -> None:
    """Where the machine has no sandbox, which is not what this is about."""
    found = json.loads(terminal.quietly("am doctor --json"))["checks"]
    if any(one["name"] == "sandbox" and one["state"] != "ok" for one in found):
        terminal.quietly("am project consent")


def _asked(terminal: Terminal) -> str:
    def there() -> str | None:
        found = _got(terminal, "prompts")
        return terminal.know(found[0]["prompt"]["id"]) if found else None

    return _wait(there)


def _got(terminal: Terminal, what: str) -> Any:
    """Over HTTP, which is cheaper than a command."""
    home = terminal.home / ".agents-manager"
    address, token = ((home / name).read_text().strip() for name in ("address", "token"))
    headers = {"Authorization": f"Bearer {token}"}
    answer = httpx.get(f"{address}/api/v1/{what}", headers=headers, timeout=60)
    return answer.raise_for_status().json()["items"]


def _wait(look: Callable[[], Any], process: "subprocess.Popen[bytes] | None" = None) -> Any:
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end and (process is None or process.poll() is None):
        if found := look():
            return found
        time.sleep(0.2)
    raise SystemExit("It did not come so far.")


if __name__ == "__main__":
    if not shutil.which("git"):
        raise SystemExit("git is needed.")
    sys.exit(main(sys.argv[1:]))
