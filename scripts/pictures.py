"""Takes the pictures of the documentation: every page of the web app, on the demo's tasks.

    python scripts/pictures.py [NAME ...]

It needs Chromium. Look at what it made before you commit it.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
import yaml
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.repos import make_repo  # noqa: E402
from tests.staged_walk import FILES, script  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"
AM = Path(sys.executable).with_name("am")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
DESK = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
SETTLED_MS = 2500
TRIES = 20
PAGES = {
    "inbox": "inbox",
    "board": "board",
    "tasks": "tasks",
    "task": "tasks/{asks}",
    "transcript": "tasks/{works}?tab=transcript",
    "changes": "tasks/{reviewed}?tab=changes",
    "timeline": "tasks/{reviewed}?tab=timeline",
    "task-runs": "tasks/{reviewed}?tab=runs",
    "stages": "tasks/{staged}?tab=stages&project=shop",
    "race": "tasks/{raced}?project=kiosk",
    "runs": "runs",
    "pipelines": "pipelines",
    "pipeline": "pipelines/feature",
    "costs": "costs",
    "performance": "performance",
    "projects": "projects",
    "settings": "settings?section=project",
    "access": "settings?section=access",
}
REQUEST = """The people who run the shop want to see whether it is up.

Answer at /health with the status as JSON, without a login."""
ON_A_PHONE = ("inbox", "board", "task")
DARK = ("board", "changes")
RACERS = ("quick", "careful", "thorough")


def main(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as home:
        demo = subprocess.Popen(
            [AM, "demo", "--json", "--home", home, "--port", "0"],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert demo.stdout
        try:
            told = json.loads(_document(demo))
            _take(told["address"], Path(home), names)
        finally:
            demo.terminate()
            demo.wait()


def _document(process: "subprocess.Popen[str]") -> str:
    assert process.stdout
    text = ""
    for line in process.stdout:
        text += line
        if line.startswith("}"):
            break
    return text


def _take(address: str, home: Path, names: list[str]) -> None:
    headers = {"Authorization": f"Bearer {(home / 'token').read_text().strip()}"}
    http = httpx.Client(base_url=f"{address}/api/v1/", headers=headers, timeout=60)
    staged, raced = _staged(http, home / "shop"), _raced(http, home / "kiosk")
    tasks = {"staged": staged, "raced": raced, **_tasks(http)}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        for name, path in PAGES.items():
            place = f"{address}/{path.format(**tasks)}"
            kinds = [("", DESK, "light")]
            kinds += [("-phone", PHONE, "light")] if name in ON_A_PHONE else []
            kinds += [("-dark", DESK, "dark")] if name in DARK else []
            for suffix, size, scheme in kinds:
                if not names or name + suffix in names:
                    link = http.post("login-links").json()["url"]
                    _picture(browser, link, place, size, scheme, f"{name}{suffix}.png")
        browser.close()


def _tasks(http: httpx.Client) -> dict[str, str]:
    """A task that asks, one at which an agent works, and one whose work waits for a review, once
    the demo has come so far."""
    settled = 0
    for _ in range(TRIES):
        prompts = http.get("prompts").json()["items"]
        by_type = {one["prompt"]["type"]: one["prompt"]["task_id"] for one in prompts}
        live = http.get("runs", params={"live": True}).json()["items"]
        if len(prompts) == settled and {"info_request", "review"} <= by_type.keys() and live:
            return {
                "asks": by_type["info_request"],
                "reviewed": by_type["review"],
                "works": live[0]["task_id"],
            }
        settled = len(prompts)
        time.sleep(5)
    raise SystemExit("The demo did not come to a question, a review and an agent at work.")


def _raced(http: httpx.Client, repo: Path) -> str:
    """A task that three agents work at, two of whom are done."""

    def works(lines: str, cost: float, *rest: dict[str, Any]) -> list[dict[str, Any]]:
        return [
            {"write": {"path": "health.py", "text": lines}},
            {"commit": "Answer at /health"},
            *rest,
            {"usage": {"input_tokens": 21_000, "output_tokens": 3_100, "cost_usd": cost}},
            {"outcome": "pr_ready"},
        ]

    agents = {name: {"adapter": "scripted"} for name in RACERS}
    config = {"agents": agents, "checks": {"test": {"command": "grep -q ok health.py"}}}
    made = make_repo(repo, {".agents-manager/config.json": json.dumps(config)})
    http.post("projects", json={"path": str(made), "name": "kiosk"}).raise_for_status()
    plays = [
        works("answer = None\n", 0.08, {"sleep": 2}),
        works("status = 'ok'\nanswer = {'status': status}\n", 0.31, {"sleep": 5}),
        works("status = 'ok'\n", 0.6, {"sleep": 600}),
    ]
    new = {
        "project": "kiosk",
        "pipeline": "simple",
        "title": "Add a health check",
        "description": f"{REQUEST}\n\n```agent-script\n{yaml.safe_dump({'implement': plays})}```\n",
        "race": {"contenders": [{"agent": name} for name in RACERS]},
    }
    task = http.post("tasks", json=new).raise_for_status().json()["id"]
    http.post(f"tasks/{task}/start").raise_for_status()
    return task


def _staged(http: httpx.Client, repo: Path) -> str:
    """A task half-way through its stages; the demo has none."""
    made = make_repo(repo, FILES)
    http.post("projects", json={"path": str(made), "name": "shop"}).raise_for_status()
    steps = script(test_writer=[[{"sleep": 600}]])
    new = {
        "project": "shop",
        "pipeline": "staged",
        "title": "Add a health check",
        "description": f"{REQUEST}\n\n```agent-script\n{yaml.safe_dump(steps)}```\n",
    }
    task = http.post("tasks", json=new).raise_for_status().json()["id"]
    http.post(f"tasks/{task}/start").raise_for_status()
    for _ in range(TRIES):
        time.sleep(1)
        prompts = http.get(f"tasks/{task}").json()["prompts"]
        if prompts:
            answer = {"decision": "approved"}
            http.post(f"prompts/{prompts[0]['id']}/answer", json=answer).raise_for_status()
            return task
    raise SystemExit("The staged task did not come to its question.")


def _picture(
    browser: Browser, link: str, place: str, size: dict[str, int], scheme: str, name: str
) -> None:
    context = browser.new_context(
        viewport={"width": size["width"], "height": size["height"]},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(link)
    page.wait_for_url(lambda url: "/login" not in url)
    page.goto(place)
    page.wait_for_timeout(SETTLED_MS)
    page.screenshot(path=PICTURES / name)
    context.close()


if __name__ == "__main__":
    main(sys.argv[1:])
