"""Every command that decides something leaves an entry in the record of decisions."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click import Command

from agents_manager.cli.main import am as root
from agents_manager.domain.audit import Deed
from agents_manager.domain.ids import TaskId
from tests.e2e.am_program import Am
from tests.e2e.test_cli_output import find_out, leaves

OF_TASK = "an event of its task says who did it"
LOOKS = "changes nothing of ours"
UNRECORDED_COMMANDS = {
    **dict.fromkeys(("serve", "worker", "demo", "mcp"), "starts a program, which decides nothing"),
    **dict.fromkeys(
        ("service install", "service status", "service remove"), "has the system start a program"
    ),
    **dict.fromkeys(
        ("host drain", "host resume", "host remove"),
        "needs machines that share a database: tests/integration/test_host_views.py",
    ),
    "init": "writes files into the repository; registering it leaves the entry of project add",
    "backup": LOOKS,
    # Where it changes something, an entry says so; test_database.py holds it.
    **dict.fromkeys(("database move", "database upgrade"), "brings the record itself elsewhere"),
    "purge": "removes the record itself",
    "completion": LOOKS,
    "context": LOOKS,
    "cost": LOOKS,
    "stats": LOOKS,
    "doctor": LOOKS,
    "licenses": LOOKS,
    "audit": LOOKS,
    "channel test": LOOKS,
    "review": OF_TASK,
    **dict.fromkeys(("comment add", "comment answer", "comment resolve"), OF_TASK),
    **dict.fromkeys(("document commit", "artifact collect", "snapshot restore"), OF_TASK),
    **dict.fromkeys(("phase skip", "phase reorder", "prompt answer", "prompt undo"), OF_TASK),
    **dict.fromkeys(("run start", "run stop", "run retry"), OF_TASK),
    **{
        f"task {name}": OF_TASK
        for name in (
            *("create", "start", "move", "cancel", "grant", "edit", "retry-hook", "import"),
            *("race", "pick", "restore-check"),
        )
    },
}
READING = re.compile(r".* (list|show|watch|diff|transcript|checks|history|events|why|export)")
READING_MORE = {
    *("agent doctor", "pipeline versions", "pipeline lint", "pipeline simulate", "pipeline graph"),
    *("comment show", "phase list", "artifact compare", "task compare", "config show"),
    *("knowledge search", "knowledge map", "knowledge blockers", "knowledge queue", "run handoff"),
}


@pytest.mark.slow
def test_every_command_that_decides_leaves_an_entry(tmp_path: Path) -> None:
    am = Am(tmp_path)
    am.make_repo()
    with am.quickly():
        _decide_everything(am)


def _decide_everything(am: Am) -> None:
    used: set[str] = set()
    known: dict[str, Command] = leaves(root)

    def run(deed: Deed, *args: str) -> Any:
        name = args[0] if args[0] in known else " ".join(args[:2])
        used.add(name)
        # By their times: a restored record gives the numbers behind its own again.
        before = {entry["time"] for entry in am.json("audit")}
        said = am.json(*args)
        new = [entry for entry in am.json("audit") if entry["time"] not in before]
        assert [(e["who"], e["via"]) for e in new] == [("ada", "cli")] * len(new)
        assert deed in {e["what"] for e in new}, (args, new)
        return said

    run(Deed.PROJECT_ADDED, "project", "add", str(am.repo))
    run(Deed.PROJECT_TRUSTED, "project", "trust", "--yes")
    run(Deed.REMOTE_SET, "project", "remote", "repo", "git@example.org:a/b.git")
    run(Deed.CONSENT_GIVEN, "project", "consent")
    run(Deed.SETTINGS_CHANGED, "config", "set", "budgets.taskUsd", "5", "--yes")
    run(Deed.SETTINGS_CHANGED, "config", "unset", "budgets.taskUsd", "--yes")
    run(Deed.SETTINGS_CHANGED, "channel", "allow", "slack", "U1", "ann")
    run(Deed.SETTINGS_CHANGED, "channel", "deny", "slack", "U1")
    mine = {**am.json("pipeline", "export", "simple"), "id": "mine"}
    (am.repo / "mine.json").write_text(json.dumps(mine))
    run(Deed.PIPELINE_SAVED, "pipeline", "import", "mine.json")
    run(Deed.PIPELINE_MIGRATED, "pipeline", "migrate", "mine", "--apply")
    run(Deed.LOGIN_LINK, "login")
    made = run(Deed.TOKEN_MADE, "token", "create", "eve")
    run(Deed.TOKEN_REVOKED, "token", "revoke", made["about"]["id"])
    run(Deed.RETENTION_APPLIED, "gc", "--yes")
    rule = ("--rule", "every day at 09:00", "--title", "Tidy")
    run(Deed.SCHEDULE_ADDED, "schedule", "add", "Tidy", *rule)
    run(Deed.SCHEDULE_EDITED, "schedule", "edit", "Tidy", "--queue")
    run(Deed.SCHEDULE_RUN, "schedule", "run-now", "Tidy")
    run(Deed.SCHEDULE_PAUSED, "schedule", "pause", "Tidy")
    run(Deed.SCHEDULE_RESUMED, "schedule", "resume", "Tidy")
    made = run(Deed.SCHEDULE_REMOVED, "schedule", "remove", "Tidy")
    am.json("task", "delete", made["last_task_id"])
    task = am.json("task", "create", "Idle")["task"]["id"]
    _care(am, run, task)
    am.json("task", "cancel", task)
    run(Deed.WORKSPACES_REMOVED, "task", "clean", task)
    run(Deed.TASK_DELETED, "task", "delete", task)
    am.json("backup", "kept.zip")
    run(Deed.PROJECT_REMOVED, "project", "remove", "repo")
    run(Deed.DATA_RESTORED, "restore", "kept.zip", "--force")
    rest = known.keys() - used
    looks = {name for name in rest if READING.fullmatch(name)} | (READING_MORE & rest)
    assert rest - looks == UNRECORDED_COMMANDS.keys()


def _care(am: Am, run: Callable[..., Any], task: str) -> None:
    find_out(am, TaskId(task))
    run(Deed.KNOWLEDGE_CONFIRMED, "knowledge", "confirm", "node-1")
    run(Deed.KNOWLEDGE_EDITED, "knowledge", "edit", "node-1", "--text", "Ask AuthContext")
    run(Deed.KNOWLEDGE_CONTRADICTED, "knowledge", "contradict", "node-1", "node-2")
    run(Deed.KNOWLEDGE_RETIRED, "knowledge", "retire", "node-1", "--reason", "No longer")
    run(Deed.BLOCKER_RESOLVED, "knowledge", "resolve", "blocker-1")
    document = am.json("knowledge", "export")
    document["nodes"].append({**document["nodes"][0], "id": "node-3"})
    (am.repo / "known.json").write_text(json.dumps(document))
    run(Deed.KNOWLEDGE_IMPORTED, "knowledge", "import", "known.json")
    (am.repo / "note.md").write_text("Watch out for the rate limit of src/pay.py.\n")
    run(Deed.KNOWLEDGE_IMPORTED, "knowledge", "migrate", "note.md", "--for", task, "--keep")
