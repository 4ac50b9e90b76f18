"""The log's lines are found by the ids of what they are about, in a form that programs read."""

import io
import json
import logging
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from structlog.testing import LogCapture

from agents_manager import log
from agents_manager.redaction import NOTHING
from tests.worlds import World


@pytest.fixture
def lines() -> Iterator[LogCapture]:
    capture = LogCapture()
    structlog.configure(processors=[structlog.contextvars.merge_contextvars, capture])
    yield capture
    structlog.reset_defaults()


def about(lines: LogCapture, **ids: str) -> list[str]:
    """But for what a slow moment of the machine is told with."""
    found = [line["event"] for line in lines.entries if ids.items() <= line.items()]
    return [event for event in found if event != "store.slow_write"]


async def test_the_lines_of_a_failed_run_are_found_by_its_id(
    lines: LogCapture, world: World
) -> None:
    task = await world.start({"implement": [[{"crash": 3}]]}, pipeline="simple")
    run = (await world.until(task, "needs_decision")).runs[0]
    assert about(lines, run=run.id, task=task.id, effect=run.effect_id) == [
        "effect.begun",
        "run.failed",
    ]
    failed = next(line for line in lines.entries if line["event"] == "run.failed")
    assert (failed["log_level"], failed["error_class"]) == ("warning", "crash")


def test_libraries_write_in_the_same_form(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    try:
        log.configure(json=True, level="info", redactor=NOTHING)
        with structlog.contextvars.bound_contextvars(request="r1"):
            structlog.get_logger().info("told")
            try:
                raise ValueError("deep")
            except ValueError:
                logging.getLogger("library").exception("it %s", "broke")
    finally:
        structlog.reset_defaults()
    told: list[dict[str, Any]] = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(line["event"], line["level"], line["request"]) for line in told] == [
        ("told", "info", "r1"),
        ("it broke", "error", "r1"),
    ]
    assert told[1]["logger"] == "library"
    assert "ValueError: deep" in told[1]["exception"]
