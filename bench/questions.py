"""The questions by name. Each is asked in a new interpreter, so that none carries the imports and
the memory of another."""

import importlib
import traceback
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from agents_manager import log, redaction
from bench.rows import Row
from bench.world import World, observed

NAMES = (
    "answers",
    "starts",
    "runs",
    "hosts",
    "live",
    "transitions",
    "lint",
    "context",
    "staged",
    "knowledge",
    "tasks",
    "board",
    "web",
    "help",
    "serve",
    "load",
)


def measured(name: str) -> tuple[list[Row], World]:
    """The rows of a question and the world they were measured in."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
        return fresh.submit(ask, name).result()


def ask(name: str) -> tuple[list[Row], World]:
    log.configure(json=False, level="error", redactor=redaction.NOTHING)
    observed.begin()
    try:
        rows = importlib.import_module(f"bench.{name}").run()
    except Exception as error:  # noqa: BLE001 - one question must not cost the others
        traceback.print_exception(error)
        rows = [Row(name=name, ours="failed, see above")]
    return rows, observed.world()
