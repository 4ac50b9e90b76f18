"""Figures that tests reach and a page of goals is made of: written to the file `AM_FIGURES` names,
a line of JSON each, where somebody asked for them."""

import json
import os
from pathlib import Path
from typing import Any

MODE = os.environ.get("AM_FAULTS", "")
"""Empty for the quick sample of `make test`, `prove` for what is drawn, `full` for everything."""


def note(goal: str, what: str, **figures: Any) -> None:
    if name := os.environ.get("AM_FIGURES"):
        with Path(name).open("a") as file:
            file.write(json.dumps({"goal": goal, "what": what, **figures}) + "\n")


def size(prove: int, full: int) -> int:
    """How much of it is tried."""
    return full if MODE == "full" else prove
