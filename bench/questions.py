"""The questions by name, each asked in an interpreter of its own so that none carries the weight of
another."""

import importlib
import traceback
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from bench.rows import Row

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


def measured(name: str) -> list[Row]:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
        try:
            return fresh.submit(ask, name).result()
        except Exception as error:  # noqa: BLE001 - one question must not cost the others
            traceback.print_exception(error)
            return [Row(name=name, ours="failed, see above")]


def ask(name: str) -> list[Row]:
    return importlib.import_module(f"bench.{name}").run()
