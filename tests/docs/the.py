"""The id that stands for "the task", "the prompt" or "the run" of a page, once its agent is done
with what it was doing. Where there is none, another task is made and started. "The other" task is
made anew, "the live" run goes on."""

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PATIENCE_S = 60
OTHER = "The other"
UNDER_WAY = {"run", "effect"}


def main(what: str) -> str:
    if not Path(os.environ["DOCS_SCENE"], "pid").exists():
        subprocess.run(["am", "serve"], check=True)
    if what == "other":
        return made(OTHER, start=False)
    for _ in range(2):
        if found := FINDS[what]():
            return found
        made("Another", start=True)
    raise SystemExit(f"There is no {what}.")


def made(title: str, *, start: bool) -> str:
    command = ["am", "task", "create", title, "--json", *(["--start"] if start else [])]
    told = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(told.stdout)["task"]["id"]


def task() -> str | None:
    return next((one["task"]["id"] for one in tasks() if not finished(one)), None)


def prompt() -> str | None:
    kind = os.environ["DOCS_PROMPT"]
    asked = [one for view in tasks() for one in view["prompts"]]
    return next((one["id"] for one in asked if not kind or one["type"] == kind), None)


def run() -> str | None:
    return next((one["id"] for view in tasks() for one in view["runs"]), None)


def live() -> str:
    while not (found := get("runs?live=true")["items"]):
        time.sleep(0.2)
    return found[0]["id"]


def tasks() -> Iterator[Any]:
    """The newest first."""
    for one in get("tasks?limit=20")["items"]:
        if one["title"] != OTHER:
            yield settled(one["id"])


def finished(view: Any) -> bool:
    return view["next_mover"]["kind"] == "finished"


def settled(task: str) -> Any:
    """As it stands when no agent and no effect is under way."""
    end = time.monotonic() + PATIENCE_S
    while True:
        view = get(f"tasks/{task}")
        if view["next_mover"]["kind"] not in UNDER_WAY or time.monotonic() > end:
            return view
        time.sleep(0.2)


def get(path: str) -> Any:
    token = Path(os.environ["AM_HOME"], "token").read_text().strip()
    address = f"http://127.0.0.1:{os.environ['DOCS_PORT']}/api/v1/{path}"
    request = urllib.request.Request(address, headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


FINDS = {"task": task, "prompt": prompt, "run": run, "live": live}

if __name__ == "__main__":
    sys.stdout.write(main(sys.argv[1]))
