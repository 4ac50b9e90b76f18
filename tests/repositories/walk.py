"""A newcomer's first hour with a repository: `am init`, two tasks by the real Claude Code, a fix
round, two reviews and two merges."""

import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from agents_manager.testing.scripted_model import (
    ModelServer,
    Request,
    Structured,
    Turn,
    Use,
    When,
    asked,
    claude_bash,
    claude_write,
)
from tests.repositories import tools
from tests.repositories.accounts import Account
from tests.repositories.examples import KEY, WRONG, Example

T = TypeVar("T")

SCENARIO = "work"
REQUEST_USD = 0.00045
"""What a request of 100 tokens with an answer of 10 costs."""
READY = Structured({"text": "Done.", "outcome": "pr_ready", "payload": None})
SURCHARGES = {"express": 450, "insured": 275}
"""What the MCP server of every example says."""
PATIENCE_S = 240.0
BUILD_PRODUCTS = ("__pycache__", ".pytest_cache", "node_modules", ".venv", "target", ".env")


@dataclass
class Walk:
    """One repository with its user and the model that its agents ask."""

    example: Example
    account: Account
    model: ModelServer
    key: str
    """The value in `.env`, a secret."""
    said: list[str] = field(default_factory=list[str])
    """Everything that `am` printed."""

    @property
    def repo(self) -> Path:
        return self.account.home / "parcel"

    def am(self, *args: str) -> str:
        code, out, err = self.account.am_command(args, self.repo)
        self.said.append(out + err)
        assert code == 0, f"am {' '.join(args)}: exit {code}\n{out}\n{err}"
        return out

    def json(self, *args: str) -> Any:
        return json.loads(self.am(*args, "--json"))

    def git(self, *args: str) -> str:
        return self.account.run("git", *args, cwd=self.repo).stdout.strip()

    def until(self, look: Callable[[], T | None], what: str) -> T:
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            if (found := look()) is not None:
                return found
            time.sleep(0.5)
        raise AssertionError(f"Not within {PATIENCE_S:g} s: {what}.\n{self.story()}")

    def story(self) -> str:
        """Returns what the tasks say of themselves, for the message of a failed test."""
        pages: list[str] = []
        for row in self.json("task", "list"):
            task = row["task"]["id"]
            pages += [self.am("task", "show", task), self.am("task", "events", task)]
            runs = self.json("run", "list", "--task", task)
            pages += [self.am("run", "transcript", run["id"]) for run in runs]
        requests = self.model.requests(SCENARIO)
        pages += [f"{r.path}: step {r.step}, {r.fault}" for r in requests]
        pages += [f"tool: {text[-2000:]}" for r in requests[-1:] for text in results(r)]
        pages += [f"told: {text[-2000:]}" for r in requests[-1:] for text in texts(r, "user")]
        return "\n".join(pages)


def make_repository(walk: Walk) -> None:
    """Makes a git repository of the example, with an `.env` that git ignores."""
    example, account = walk.example, walk.account
    for tool in example.tools:
        tools.install(tool, account.home)
    shutil.copytree(example.folder, walk.repo)
    (walk.repo / ".env").write_text(f"{KEY}={walk.key}\n")
    account.own(account.home)
    if example.lock:
        account.run(*example.lock, cwd=walk.repo)
    walk.git("init", "--quiet")
    walk.git("add", "--all")
    walk.git("commit", "--quiet", "--message", "Compute postage")
    assert ".env" not in walk.git("ls-files").split()


def script(walk: Walk) -> None:
    """Tells the model to add express parcels, first with a wrong price, then insured ones."""
    example = walk.example

    def add(service: str, surcharge: int) -> Turn:
        files = example.change(service, surcharge)
        return Turn([claude_write(Path(path), text) for path, text in files.items()])

    def look_up(service: str) -> Use:
        return Use("mcp__rates__surcharge", {"service": service})

    [(code, right), *_] = example.change("express", SURCHARGES["express"]).items()
    insured = [
        look_up("insured"),
        add("insured", SURCHARGES["insured"]),
        claude_bash(example.tests),
        READY,
    ]
    express = [look_up("express"), add("express", 400), claude_bash(example.tests), READY]
    fix = [claude_bash(f"cat > {code} <<'EOF'\n{right}EOF"), READY]
    walk.model.script(
        SCENARIO,
        [
            When(asked("Add insured parcels"), insured),
            When(asked(f"express {WRONG}"), fix),
            *express,
        ],
    )


def configure(walk: Walk) -> None:
    """Runs `am init`, adds the MCP servers of the repository and commits the settings."""
    report = walk.json("init", "--yes", "--name", "parcel", "--agent", "claude-code")
    assert report["left_out"] == {}, report
    assert "test" in [check["name"] for check in report["checks"] if check["saved"]]
    servers = json.loads((walk.repo / ".mcp.json").read_text())["mcpServers"]
    walk.am("config", "set", "mcpServers", json.dumps(servers), "--yes")
    walk.am("project", "trust", "parcel")
    walk.git("add", ".agents-manager")
    walk.git("commit", "--quiet", "--message", "Configure agents")


def finish_task(walk: Walk, title: str) -> str:
    """Creates a task, waits for its review, approves it, waits for the merge; returns its id."""
    walk.am("task", "create", title, "--pipeline", "simple", "--start")
    [task] = [t["task"]["id"] for t in walk.json("task", "list") if t["task"]["title"] == title]
    prompt = walk.until(lambda: _open_prompt(walk, task), f'a question of "{title}"')
    assert prompt["type"] == "review", walk.am("task", "show", task)
    walk.am("prompt", "show", prompt["id"], "--diff")
    walk.am("review", task, "--approve")
    walk.until(lambda: _finished(walk, task), f'the merge of "{title}"')
    for args in (("task", "show", task), ("task", "events", task), ("task", "history", task)):
        walk.am(*args)
    for run in walk.json("run", "list", "--task", task):
        for args in (("show", run["id"]), ("transcript", run["id"]), ("diff", run["id"])):
            walk.am("run", *args)
    return task


def _open_prompt(walk: Walk, task: str) -> dict[str, Any] | None:
    runs = walk.json("run", "list", "--task", task)
    assert "failed" not in [run["status"] for run in runs], walk.story()
    found = [row["prompt"] for row in walk.json("prompt", "list") if row["task"]["id"] == task]
    return found[0] if found else None


def _finished(walk: Walk, task: str) -> bool | None:
    return walk.json("task", "show", task)["next_mover"]["kind"] == "finished" or None


def texts(request: Request, role: str) -> Iterator[str]:
    """Yields what one side said in the conversation of a request; "system" is the system prompt."""
    if role == "system":
        yield from _blocks(request.body.get("system"))
        return
    for message in request.body["messages"]:
        if message["role"] == role:
            yield from _blocks(message["content"])


def _blocks(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for block in content if isinstance(content, list) else ():
        if "text" in block:
            yield block["text"]


def results(request: Request) -> Iterator[str]:
    """Yields the results of tools in the conversation of a request."""
    for message in request.body["messages"]:
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block.get("type") == "tool_result":
                yield json.dumps(block["content"])


def turns(walk: Walk) -> Sequence[Request]:
    """Returns the requests that the script answered, without side requests."""
    return [r for r in walk.model.requests(SCENARIO) if r.step is not None]


def committed_files(walk: Walk) -> Mapping[str, str]:
    """Returns every path of every commit, with a commit that has it."""
    commits = walk.git("rev-list", "--all").split()
    return {p: c for c in commits for p in walk.git("ls-tree", "-r", "--name-only", c).split("\n")}


def files_with(text: str, folder: Path) -> list[str]:
    """Returns the files below a folder that hold a text, without following links."""
    command = ["grep", "--recursive", "--fixed-strings", "--files-with-matches", "--", text, folder]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.stdout.splitlines()
