"""Commands that ask the running server, whose environment may hold tokens that the shell lacks."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.am_program import Am, until

HANG = """Hangs.

```agent-script
implement:
  - - say: Up.
    - hang: true
```
"""


@pytest.fixture
def am(tmp_path: Path) -> Am:
    am = Am(tmp_path)
    am.make_repo()
    am.text("project", "add", ".", "--name", "shop")
    config = am.home / "config.json"
    said = {**json.loads(config.read_text()), "notifications": {"webhook": WEBHOOK}}
    config.write_text(json.dumps(said))
    return am


WEBHOOK = {"enabled": True, "url": "http://127.0.0.1:9/none"}


def trouble(am: Am) -> str | None:
    listed: list[dict[str, Any]] = am.json("channel", "list")
    return next(one["trouble"] for one in listed if one["name"] == "webhook")


@pytest.mark.slow
def test_the_server_is_asked_what_it_can_use_and_stop_waits_for_it(am: Am) -> None:
    assert "AM_WEBHOOK_SECRET" in (trouble(am) or "")
    am.env["AM_WEBHOOK_SECRET"] = "a long random word"
    with am.serving("serve", "--port", "0"):
        del am.env["AM_WEBHOOK_SECRET"]
        assert trouble(am) is None
        assert "AM_WEBHOOK_SECRET" not in am.text("channel", "show", "webhook")
        made = am.json(
            "task", "create", "Door", "--description", HANG, "--pipeline", "simple", "--start"
        )
        of_task = ("run", "list", "--task", made["task"]["id"])
        run = until(lambda: next((r for r in am.json(*of_task) if r["started_at"]), None))["id"]
        stopped = am.json("run", "stop", run)
        assert stopped["run"]["status"] == "cancelled"
        assert datetime.fromisoformat(stopped["run"]["ended_at"]) <= datetime.now(UTC)
