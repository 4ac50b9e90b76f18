"""A process that imports the program once and forks for every command, since importing is most of
what a command costs. Each is still a process with its own folder, environment and streams."""

import importlib
import json
import os
import signal
import sys
from typing import Any, NoReturn

from agents_manager.cli import main

MODULES = (
    "bootstrap", "log", "settings", "cli.answering", "cli.interview", "cli.pipeline",
    "cli.present", "cli.project", "cli.prompt", "cli.review", "cli.run", "cli.task",
    "cli.pages.catalog", "cli.pages.task",
)  # fmt: skip


def import_all() -> None:
    for module in MODULES:
        importlib.import_module(f"agents_manager.{module}")


def serve() -> None:
    import_all()
    for line in sys.stdin:
        request = json.loads(line)
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            perform(request)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def perform(request: dict[str, Any]) -> NoReturn:
    signal.alarm(request["seconds"])
    for number, name in enumerate(("in", "out", "err")):
        flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        os.dup2(os.open(f"{request['streams']}/{name}", flags, 0o600), number)
    become(request)


def become(request: dict[str, Any]) -> NoReturn:
    """The command itself; its streams are in their places."""
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
    sys.argv = ["am", *request["args"]]
    try:
        code = main.main()
    except SystemExit as ended:  # So click ends a completion.
        code = ended.code
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    serve()
