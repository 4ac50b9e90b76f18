"""What the command line prints: one document for programs, readable, harmless text for people."""

import asyncio
import json
import os
import pty
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click
import pytest

from agents_manager.cli.main import am as root
from agents_manager.domain.ids import EffectId, TaskId
from agents_manager.flow.ports import Tx
from agents_manager.store.database import open_database
from tests import fake_launchers
from tests.contract.store_values import a_blocker, a_node, a_source
from tests.e2e.am_program import PATIENCE_S, PROGRAM, Am, until
from tests.postgres import fresh_database
from tests.webhook_server import SECRET, listening

PROJECTS = (
    *("project list", "project show", "project trust", "project consent"),
    "project remote shop",
)
SCRIPT = """```agent-script
implement:
- - ask:
      questions:
      - id: colour
        question: Which colour?
        options: [red, {label: blue, recommended: true}]
      - {id: size, question: "How large?", suggestedAnswer: small}
- - write: {path: door.txt, text: "blue\\n"}
  - commit: Paint the door
  - outcome: pr_ready
- - hang: true
```
"""
PAINTS = """```agent-script
implement:
- - write: {path: gate.txt, text: "blue\\n"}
  - commit: Paint the gate
  - outcome: pr_ready
```
"""
SPLIT = """```agent-script
plan:
- - outcome:
      name: propose_split
      payload: {reason: Big, proposedPhases: [{name: One}, {name: Two}, {name: Three}]}
```
"""
PLANS = """```agent-script
plan:
- [{say: One}, {outcome: plan_complete}]
- [{say: Two}, {outcome: plan_complete}]
```
"""
APART = {"prompt answer", "review"}
"""Their options have a table or a section of their own."""
OF_ALL = {"--json", "--project"}
REFERENCE = Path(__file__).parents[2] / "docs/reference/cli.md"
SERVED = {"serve", "worker", "demo", "mcp"}
SHARED = {"host drain", "host resume", "host remove"}
"""For machines that share a database: tests/e2e/test_cli_hosts.py."""
HEAVY = ("alembic", "dbos", "fastapi", "pydantic", "rich", "sqlalchemy", "structlog", "uvicorn")


@pytest.mark.slow
def test_every_command_prints_one_json_document(tmp_path: Path, postgres_url: str) -> None:
    am = Am(tmp_path)
    am.make_repo()
    used: set[str] = set()

    known = leaves(root)

    def run(*args: str, id: str = "") -> Any:
        used.add(args[0] if args[0] in known else " ".join(args[:2]))
        return am.json(*args[:2], *([id] if id else []), *args[2:])

    with am.quickly():
        _use_everything(am, run)
        _use_channels(am, run)
        run("database", "upgrade")
        run("database", "move", fresh_database(postgres_url))
    assert used == known.keys() - SERVED - SHARED


def _use_everything(am: Am, run: Callable[..., Any]) -> None:
    _begin(run)
    for args in PROJECTS:
        run(*args.split())
    for args in ("agent list", "agent doctor", "pipeline list", "audit", "host list"):
        run(*args.split())
    run("pipeline", "show", "simple")
    assert [v["version"] for v in run("pipeline", "versions", "simple")] == [1]
    assert run("plugin", "list") == []
    mine = {**run("pipeline", "export", "simple"), "id": "mine"}
    (am.repo / "mine.json").write_text(json.dumps(mine))
    run("pipeline", "import", "mine.json")
    run("pipeline", "migrate", "mine")
    run("pipeline", "graph", "simple")
    run("pipeline", "lint", "simple")
    (am.repo / "walk.yaml").write_text("- start")
    assert run("pipeline", "simulate", "simple", "--script", "walk.yaml")["status"] == "in_progress"
    _use_idle_tasks(run)
    made = run("task", "create", "Door", "--description", SCRIPT, "--pipeline", "simple")
    task: str = made["task"]["id"]
    with am.serving("serve", "--port", "0"):
        run("task", "start", id=task)
        prompt: str = am.open_prompt(task)["prompt"]["id"]
        run("prompt", "show", id=prompt)
        run("prompt", "answer", "--accept", "--delay", "60", id=prompt)
        again: str = run("prompt", "undo", id=prompt)["prompt"]["id"]
        assert run("prompt", "answer", "--accept", id=again)["task"]["status"] == "in_progress"
        am.open_prompt(task)
        ended: str = am.json("run", "list", "--task", task)[0]["id"]
        for args in ("show", "checks", "handoff", "transcript", "watch", "diff"):
            run("run", args, id=ended)
        run("review", task, "--request-changes", "Again, please.")
        live = until(lambda: next(iter(run("run", "list", "--live")), None))["id"]
        assert am.json("run", "watch", ended)["run"]["status"] == "completed"
        stopped = am("task", "move", task, "needs_info", "--json")
        assert (stopped.code, json.loads(stopped.out)["error"]) == (1, "TransitionRefused")
        run("run", "stop", id=live)
        am.open_prompt(task)
        assert run("snapshot", "list", id=task) == []
        _use_snapshot(am, run, task)
        am.json("run", "stop", run("run", "start", id=task)["id"])
        am.open_prompt(task)
        run("task", "move", "cancelled", id=task)
        _use_retry_and_phases(am, run, task)
    for args in ("task list", "prompt list"):
        run(*args.split())
    assert run("cost", "--by", "agent")["shares"][0]["key"] == "scripted"
    assert run("stats")["agents"][0]["agent"] == "scripted"
    for args in ("task show", "task history", "task events", "task why"):
        run(*args.split(), id=task)
    _break_a_notice(am, task)
    assert run("task", "retry-hook", id=task)["attempt"] == 2
    assert run("task", "edit", "--tag", "door", id=task)["fields"] == ["tags"]
    _use_knowledge(am, run, task)
    _use_files(am, run, task)
    _use_service(am, run)


def _use_service(am: Am, run: Callable[..., Any]) -> None:
    above = am.home.parent
    am.env |= fake_launchers.install(above / "launchers", above / "bin")
    made = run("service", "install", "--worker", "--yes")
    assert (made["written"], run("service", "status", "--worker")["installed"]) == (True, True)
    assert run("service", "remove", "--worker")["removed"]


def _use_knowledge(am: Am, run: Callable[..., Any], task: str) -> None:
    find_out(am, TaskId(task))
    assert [one["node"]["id"] for one in run("knowledge", "search", "AuthContext")] == ["node-1"]
    assert run("knowledge", "show", id="node-1")["tasks"][0]["id"] == task
    assert run("knowledge", "why", id=task)["task"]["id"] == task
    assert run("knowledge", "map") == []
    assert run("knowledge", "confirm", id="node-1")["confirmed_at"]
    assert run("knowledge", "edit", "--text", "Ask AuthContext", id="node-1")["version"] == 3
    run("knowledge", "contradict", "node-2", "--reason", "Not both", id="node-1")
    assert run("knowledge", "queue")
    assert run("knowledge", "retire", "--reason", "No longer", id="node-1")["state"] == "retired"
    assert len(run("knowledge", "blockers")) == 1
    run("knowledge", "resolve", "--note", "There it is", id="blocker-1")
    (am.repo / "known.json").write_text(json.dumps(run("knowledge", "export")))
    assert run("knowledge", "import", "known.json")["already_there"] == 2


def find_out(am: Am, task: TaskId) -> None:
    store = open_database(am.home / "agents-manager.db")

    def write(tx: Tx) -> None:
        of = {"project_id": tx.tasks.get(task).project_id}
        for id, text in (("node-2", "Users are cached"), ("node-1", "The user is in AuthContext")):
            tx.knowledge.add(a_node(id, text=text, sources=(a_source(task),), **of))
        tx.knowledge.add_blocker(a_blocker("blocker-1", task, blocking_tasks=(), **of))

    asyncio.run(store.write(write))
    store.close()


def _use_idle_tasks(run: Callable[..., Any]) -> None:
    idle: str = run("task", "create", "Idle", "--pipeline", "staged")["task"]["id"]
    assert run("context", id=idle)["user_request"] == "Idle"
    run("task", "grant", id=idle)
    run("task", "cancel", "--reason", "nobody wants it", id=idle)
    _use_schedules(run)


def _use_schedules(run: Callable[..., Any]) -> None:
    rule = ("--rule", "weekdays at 09:00", "--zone", "Europe/Berlin", "--title", "Tidy {date}")
    added = run("schedule", "add", "Tidy", *rule, "--pipeline", "simple", "--until", "2050-01-01")
    assert (added["state"], added["start"], added["fired"]) == ("active", False, 0)
    assert run("schedule", "edit", "--times", "3", id="Tidy")["most"] == 3
    task = run("schedule", "run-now", id="Tidy")["task"]
    assert task["title"].startswith("Tidy 20")
    shown = run("schedule", "show", id="Tidy")
    assert (len(shown["next"]), shown["firings"][0]["task_id"]) == (3, task["id"])
    endless = run("schedule", "edit", "--no-end", id="Tidy")
    assert (endless["until"], endless["most"]) == (None, None)
    run("schedule", "pause", id="Tidy")
    assert [one["state"] for one in run("schedule", "list")] == ["paused"]
    run("schedule", "resume", id="Tidy")
    run("schedule", "remove", id="Tidy")
    later = run("task", "start", "--at", "2050-01-01T09:00+01:00", id=task["id"])["task"]
    assert later["starts_at"] == "2050-01-01T08:00:00.000Z"
    assert run("task", "start", "--at", "never", id=task["id"])["task"]["starts_at"] is None
    run("task", "delete", id=task["id"])


def _use_comments(run: Callable[..., Any], task: str) -> None:
    assert run("comment", "add", "Mind this.", "--at", "a.py:3", id=task)["pull"] == 1
    assert run("comment", "answer", "1", "Why?", id=task)["answers"][0]["text"] == "Why?"
    assert run("comment", "resolve", "1", id=task)["state"] == "resolved"
    assert [(c["file"], c["line"]) for c in run("comment", "list", id=task)] == [("a.py", 3)]


def _use_retry_and_phases(am: Am, run: Callable[..., Any], before: str) -> None:
    _use_comments(run, before)
    _use_race(am, run)
    _use_retry(am, run)
    _use_artifacts(am, run, before)
    _use_phases(am, run)
    _use_checks(am, run)


def _use_race(am: Am, run: Callable[..., Any]) -> None:
    """Two agents at the same, one of which comes to nothing."""
    script = "```agent-script\nimplement:\n- - write: {path: a, text: a}\n  - commit: A\n"
    script += "  - outcome: pr_ready\n- - fail: {class: auth, message: No}\n```"
    of = ("--description", script, "--pipeline", "simple")
    task: str = am.json("task", "create", "Race", *of)["task"]["id"]
    both = ("--agents", "scripted:one,scripted:two")
    assert run("task", "race", *both, id=task)["task"]["status"] == "in_progress"
    am.open_prompt(task)
    compared = run("task", "compare", id=task)["contenders"]
    assert [one["unfit"] is None for one in compared] == [True, False]
    refused = am("task", "pick", task, "scripted:two")
    assert (refused.code, "cannot be picked" in refused.err) == (1, True)
    assert "scripted:one" in am.text("task", "compare", task)
    assert run("task", "pick", "scripted:one", id=task)["task"]["id"] == task
    until(lambda: am.json("task", "show", task)["task"]["status"] == "review")
    assert am.json("task", "compare", task)["picked"] == compared[0]["run"]["id"]


def _use_retry(am: Am, run: Callable[..., Any]) -> None:
    """An agent that crashed waits for half a minute."""
    script = "```agent-script\nimplement: [[crash: 3], [hang: true]]\n```"
    made = am.json("task", "create", "Retry", "--description", script, "--pipeline", "simple")
    task: str = made["task"]["id"]
    am.json("task", "start", task)
    waits = until(lambda: [r for r in am.json("run", "list", "--live") if r["attempt"] == 2])
    assert run("run", "retry", id=waits[0]["id"])["status"] == "queued"
    until(lambda: am.json("run", "show", waits[0]["id"])["status"] == "running")
    am.json("task", "cancel", task)


def _begin(run: Callable[..., Any]) -> None:
    run("doctor")
    assert "MIT" in [one["licence"] for one in run("licenses")]
    run("completion", "bash")
    assert "/login#" in run("login")["url"]
    made = run("token", "create", "build")
    assert [one["kind"] for one in run("token", "list")] == ["owner", "token"]
    assert run("token", "revoke", id=made["about"]["id"])["name"] == "build"
    run("init", ".")
    run("project", "add", ".", "--name", "shop")
    assert run("config", "show")["project"] == "shop"
    assert run("config", "set", "branchPrefix", "robot/", "--yes")["written"]
    assert run("config", "unset", "branchPrefix", "--yes")["written"]


def _use_channels(am: Am, run: Callable[..., Any]) -> None:
    assert [c["name"] for c in run("channel", "list")][:2] == ["telegram", "slack"]
    let_in = run("channel", "allow", "telegram", "4711", "ann", "--role", "lead")
    assert (let_in["id"], let_in["role"]) == ("4711", "lead")
    assert run("channel", "show", "telegram")["people"]["4711"]["name"] == "ann"
    assert run("channel", "deny", "telegram", "4711")["channel"] == "telegram"
    with listening() as listener:
        am.env["AM_WEBHOOK_SECRET"] = SECRET
        for key, value in (("url", listener.url), ("allowPrivate", "true")):
            am.json("config", "set", "--user", f"notifications.webhook.{key}", value, "--yes")
        assert run("channel", "test", "webhook")["speaks_as"] == listener.url


def _use_task_files(am: Am, run: Callable[..., Any], task: str) -> None:
    printed = am("task", "export", task, "--format", "md").out
    assert am.json("task", "export", task, "--format", "md") == {"text": printed}
    free = printed.partition("## Handoff")[0] + "## Handoff\n\nWatch out for paint. Well.\n"
    free = free.replace(": Door", ": Gate", 1)  # The document made a task of it already.
    (am.repo / "task.md").write_text(free, newline="")
    [made] = am.json("task", "import", "task.md")["items"]
    assert (made["state"], made["note"]) == ("made", True)
    assert am("task", "export", made["task_id"], "--format", "md").out == free
    shown = run("knowledge", "migrate", id=made["task_id"])
    assert [one["ambiguous"] is None for one in shown["said"]] == [True, False]
    assert (shown["handoff"]["gotchas"][0]["issue"], shown["kept"]) == (
        "Watch out for paint.",
        None,
    )
    assert len(am.json("knowledge", "migrate", made["task_id"], "--keep")["kept"]) == 1


def _use_files(am: Am, run: Callable[..., Any], task: str) -> None:
    [*_, first] = am.json("run", "list", "--task", task)
    assert am.json("config", "show", "--run", first["id"])["began"]
    (am.repo / "task.json").write_text(json.dumps(run("task", "export", id=task)))
    assert run("task", "import", "task.json")["items"][0]["state"] == "made"
    _use_task_files(am, run, task)
    assert task in [one["task"] for one in run("task", "clean")]
    assert run("task", "delete", id=task)["branches"]
    am.git("clone", "-q", ".", "../other")
    am.json("project", "add", "../other")
    assert run("gc", "--dry-run")["totals"]["transcripts"]["count"] == 0
    run("backup", str(am.home.parent / "kept.zip"))
    assert not run("purge", "--dry-run")["removed"]
    assert run("project", "remove", "other", "--stop")["tasks"] == 0
    run("restore", str(am.home.parent / "kept.zip"), "--force")
    assert [p["name"] for p in am.json("project", "list")] == ["shop", "other"]


OLD = ("--version", "1")


def _use_artifacts(am: Am, run: Callable[..., Any], task: str) -> None:
    kinds = {a["type"] for a in run("artifact", "list", id=task)}
    assert {"branch", "commit", "diff"} <= kinds
    run("artifact", "collect", id=task)
    planned: str = run("task", "create", "Planned", "--description", PLANS)["task"]["id"]
    run("task", "start", id=planned)
    first = am.open_prompt(planned)["prompt"]["id"]
    shown = am.text("prompt", "show", first)
    assert "    1  One" in shown.splitlines()
    (am.repo / "remarks").write_text("1: Which one?\n")
    run("review", planned, "--request-changes", "Again.", "--comments", "remarks")
    until(lambda: am.open_prompt(planned)["prompt"]["id"] != first)
    last: str = am.json("run", "list", "--task", planned)[0]["id"]
    told = am.text("run", "show", last, "--prompt")
    assert "- [Must Fix] line 1 - Which one?\n  > One" in told
    assert run("artifact", "show", planned, "plan")["version"] == 2
    assert "-One\n+Two" in run("artifact", "compare", planned, "plan")["diff"]
    done = run("document", "commit", planned, "plan", "--path", "plan.md", "--version", "1")
    assert am.git("show", f"{done['branch']}:plan.md") == "One\n"
    assert "already" in am.text("document", "commit", planned, "plan", "--path", "plan.md", *OLD)


def _break_a_notice(am: Am, task: str) -> None:
    store = open_database(am.home / "agents-manager.db")

    def write(tx: Tx) -> None:
        hooks = [h for entry in tx.history.of_task(TaskId(task)) for h in entry.hooks]
        notice = next(h.effect for h in hooks if h.name == "notify" and h.effect)
        tx.effects.update(EffectId(notice), status="failed", error="Nobody picks up.")

    asyncio.run(store.write(write))
    store.close()


def _use_snapshot(am: Am, run: Callable[..., Any], task: str) -> None:
    runs = am.json("run", "list", "--task", task)
    tree = Path(next(r["workspace"] for r in runs if r["workspace"]))
    (tree / "left").write_text("over")
    am.git("update-ref", f"refs/agents-manager/snapshots/{task}/1", "HEAD")
    assert run("snapshot", "restore", task, "1")["workspace"] == str(tree)
    assert [s["files"] for s in am.json("snapshot", "list")] == [[], ["left"]]


def _use_phases(am: Am, run: Callable[..., Any]) -> None:
    task: str = run("task", "create", "Big", "--description", SPLIT)["task"]["id"]
    run("task", "start", id=task)
    prompt: str = am.open_prompt(task)["prompt"]["id"]
    run("prompt", "answer", "--option", "approve", id=prompt)
    assert [p["status"] for p in run("phase", "list", id=task)] == ["active", "pending", "pending"]
    run("phase", "skip", "3", id=task)
    run("phase", "reorder", "2", id=task)


def _use_checks(am: Am, run: Callable[..., Any]) -> None:
    """A check that fails on the base commit too is skipped for a task, and runs for it again."""
    file = am.repo / ".agents-manager" / "config.json"
    before = file.read_bytes() if file.exists() else None
    file.parent.mkdir(exist_ok=True)
    known = json.loads(before) if before else {}
    file.write_text(json.dumps({**known, "checks": {"test": {"command": "exit 1"}}}))
    am.json("project", "trust")
    made = am.json("task", "create", "Gate", "--description", PAINTS, "--pipeline", "simple")
    task: str = made["task"]["id"]
    am.json("task", "start", task)
    am.json("prompt", "answer", am.open_prompt(task)["prompt"]["id"], "--option", "skip")
    assert am.json("task", "show", task)["skipped_checks"] == ["test"]
    assert run("task", "restore-check", "test", id=task)["skipped"] == []
    assert am.json("task", "show", task)["skipped_checks"] == []
    am.open_prompt(task)
    file.unlink()
    if before is not None:
        file.write_bytes(before)
    am.json("project", "trust")


def test_every_command_has_help_and_json_and_is_documented() -> None:
    page = REFERENCE.read_text()
    for name, command in leaves(root).items():
        options = {o for p in command.params if isinstance(p, click.Option) for o in p.opts}
        assert command.help, name
        assert "--json" in options, name
        row = " ".join(line for line in page.splitlines() if line.startswith(f"| `am {name}"))
        where = page if name in APART else row
        assert f"`am {name}" in where, name
        assert [
            o for o in options - OF_ALL if f"`{o}" not in where and f" {o}" not in where
        ] == [], name


def leaves(group: click.Group, above: str = "") -> dict[str, click.Command]:
    context = click.Context(group)
    found: dict[str, click.Command] = {}
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            found |= leaves(command, f"{above}{name} ")
        else:
            found[f"{above}{name}"] = command
    return found


@pytest.mark.slow
def test_text_cannot_steer_the_terminal(tmp_path: Path) -> None:
    am = Am(tmp_path)
    am.make_repo()
    am.text("project", "add", ".")
    am.text("task", "create", "\x1b[2Jgone \u202efdp \x9b31m [b]x")
    plain = am.text("task", "list")
    assert "\\x1b[2Jgone \\u202efdp \\x9b31m [b]x" in plain
    assert "\x1b" not in plain
    assert am.json("task", "list", "--find", "GONE") == am.json("task", "list")
    assert am.json("task", "list", "--find", "come") == []
    assert am.text("task", "list", "--json").isascii()
    drawn = at_terminal(am, "task", "list")
    assert "\x1b[2J" not in drawn
    assert "[b]x" in drawn.replace("\r\n", "")
    assert "\u202e" not in drawn


@pytest.mark.slow
def test_questions_are_asked_at_a_terminal(tmp_path: Path) -> None:
    am = Am(tmp_path)
    am.make_repo()
    am.text("project", "add", ".")
    task = am.json(
        "task", "create", "Door", "--description", SCRIPT, "--pipeline", "simple", "--start"
    )["task"]["id"]
    with am.serving("worker"):
        prompt = am.open_prompt(task)["prompt"]["id"]
        said = at_terminal(am, "prompt", "answer", prompt, typed="2\n\n")
        assert "1) blue (recommended)" in said
        response = am.json("prompt", "show", prompt)["prompt"]["response"]
        assert [(a["option"], a["text"]) for a in response["answers"]] == [
            ("red", None),
            (None, "small"),
        ]


def at_terminal(am: Am, *args: str, typed: str = "", code: int = 0) -> str:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [PROGRAM, *args],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=am.repo,
        env={**am.env, "TERM": "xterm-256color", "COLUMNS": "200"},
        start_new_session=True,
    )
    os.close(theirs)
    os.write(ours, typed.encode())
    seen = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # Linux says so when the other side is closed.
            break
        seen += piece
    os.close(ours)
    assert process.wait(PATIENCE_S) == code, seen
    return seen.decode()


@pytest.mark.slow
def test_interrupted_and_cut_short_without_a_trace(tmp_path: Path) -> None:
    am = Am(tmp_path)
    am.make_repo()
    am.text("project", "add", ".")
    task = am.json("task", "create", "Door")["task"]["id"]
    with _start(am, "task", "events", task, "--follow") as following:
        assert following.stdout is not None
        assert b"was created" in following.stdout.readline()
        following.send_signal(signal.SIGINT)
        assert following.communicate(timeout=PATIENCE_S)[1].strip() == b""
        assert following.returncode == 130

    with _start(am, "pipeline", "show", "feature") as cut:
        assert cut.stdout is not None
        assert cut.stderr is not None
        cut.stdout.close()
        assert cut.stderr.read() == b""
        assert cut.wait(PATIENCE_S) == 1

    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [PROGRAM, "task", "list"],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=am.repo,
            env=am.env,
            timeout=PATIENCE_S,
            check=False,
        )
    assert (done.returncode, done.stderr) == (
        1,
        b"Error: The operating system says: No space left on device.\n",
    )


def _start(am: Am, *args: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [PROGRAM, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=am.repo, env=am.env
    )


def test_help_imports_nothing_heavy_and_is_fast(tmp_path: Path) -> None:
    look = (
        "import sys; from agents_manager.cli.main import main; sys.argv = sys.argv[1:];"
        f"main(); sys.stderr.write(','.join(sys.modules.keys() & {set(HEAVY)!r}))"
    )
    for args in (["am", "--help"], ["am", "task", "create", "--help"]):
        done = subprocess.run(
            [sys.executable, "-c", look, *args], capture_output=True, text=True, check=True
        )
        assert "Usage: am" in done.stdout
        assert done.stderr == ""
    fastest = min(_cpu_seconds({"HOME": str(tmp_path)}) for _ in range(3))
    assert fastest < 0.15


def _cpu_seconds(env: Mapping[str, str]) -> float:
    """Processor time, which other programs on the machine hardly change."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.monotonic()
    subprocess.run([PROGRAM, "--help"], stdout=subprocess.DEVNULL, env=env, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return min(spent, time.monotonic() - started)
