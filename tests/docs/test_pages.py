"""Every page of the documentation, read from top to bottom by somebody who pastes what it shows."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.docs import blocks
from tests.docs.blocks import ROOT
from tests.docs.scenes import WORKS, Scene, forking, reading
from tests.staged_walk import script as staged

ASKS = {"question": "Which name?", "options": ["first", {"label": "full", "recommended": True}]}
PLANS = {"plan": [[{"ask": ASKS}], [{"say": "First the model."}, {"outcome": "plan_complete"}]]}
SPLIT = {"reason": "Big", "proposedPhases": [{"name": name} for name in ("A", "B", "C", "D")]}
SPLITS = {"plan": [[{"outcome": {"name": "propose_split", "payload": SPLIT}}]]}
SPENDS = {"plan": [[{"usage": {"cost_usd": 10}}, {"sleep": 2}, {"outcome": "plan_complete"}]]}
LEAVES = {
    "plan": [[{"write": {"path": "search.py", "text": "x\n"}}, {"hang": True}], PLANS["plan"][1]]
}
WROTE = 'until find "$AM_HOME/worktrees" -name search.py | grep -q .; do sleep 0.1; done'
STARTED = "am project add . && am serve && am task create X --start"
STOPPED = f'{STARTED} && {WROTE} && am run stop "$(the live)"'
SAVED = 'until am snapshot list "$(the task)" | grep -q search.py; do sleep 0.1; done'
NOTE = "Created src/auth.py.\n\nBe careful: the token is short.\n"
MODEL = """
from pathlib import Path
import httpx
from agents_manager.testing.scripted_model import *
tmp_path = repo = Path()
def run_my_adapter(env):
    said = {"role": "user", "content": "Add a file"}
    tool = {"name": "Bash", "input_schema": {"type": "object"}}
    asked = {"model": "m", "max_tokens": 9, "messages": [said], "tools": [tool]}
    key = {"x-api-key": env["ANTHROPIC_API_KEY"], "anthropic-version": "2023-06-01"}
    address = env["ANTHROPIC_BASE_URL"] + "/v1/messages"
    httpx.post(address, json=asked, headers=key).raise_for_status()
"""
SCENES = {
    "README.md": Scene(PLANS, before="true"),
    "docs/concepts/configuration.md": Scene(LEAVES, before=STOPPED),
    "docs/concepts/cost.md": Scene(SPENDS, settings={"budgets": {"runUsd": 5}}),
    "docs/concepts/staged.md": Scene(staged()),
    "docs/concepts/workspaces.md": Scene(
        LEAVES, before=f'{STOPPED} && am run start "$(the task)" && {SAVED}'
    ),
    "docs/how-to/mcp.md": Scene(
        {"plan": [[{"ask": {"question": "?", "options": ["Red", "Blue"]}}]]}
    ),
    "docs/how-to/plugins.md": Scene(names="from __future__ import annotations"),
    "docs/how-to/project.md": Scene(before="true", typed=""),
    "docs/how-to/reach-it-from-elsewhere.md": Scene(
        before="openssl req -x509 -newkey ed25519 -nodes -subj /CN=am -keyout key.pem -out cert.pem"
    ),
    "docs/how-to/split-a-task.md": Scene(SPLITS, asks="split_proposal"),
    "docs/how-to/tasks.md": Scene(
        PLANS,
        {"TODO.md": "- [ ] Paint the door\n", "old-note.md": NOTE, "remarks.txt": "1: Which?\n"},
        before="am project add . && git clone -q . ../elsewhere && am project add ../elsewhere",
    ),
    "docs/how-to/testing-agents.md": Scene(names=MODEL),
    "docs/quick-start.md": Scene({**PLANS, **WORKS}, asks="info_request"),
}
QUICK = {"docs/how-to/write-a-pipeline.md"}


def _pages() -> list[Any]:
    found = list[Any]()
    for page in blocks.PAGES:
        if blocks.RUNS.search(page.read_text()):
            name = str(page.relative_to(ROOT))
            marks = [] if name in QUICK else [pytest.mark.slow]
            found.append(pytest.param(name, id=name, marks=marks))
    return found


@pytest.fixture(scope="module")
def forks() -> Iterator[Path]:
    with forking() as address:
        yield address


@pytest.mark.timeout(400)
@pytest.mark.parametrize("page", _pages())
def test_what_a_page_shows_can_be_pasted(page: str, tmp_path: Path, forks: Path) -> None:
    with reading(tmp_path, SCENES.get(page, Scene()), forks) as reader:
        reader.read(list(blocks.of(ROOT / page)))


def test_scenes_are_of_pages() -> None:
    assert {*SCENES, *QUICK} <= {str(page.relative_to(ROOT)) for page in blocks.PAGES}
