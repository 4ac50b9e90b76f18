"""Checks the lock of the web app: it installs on every machine, from any registry."""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

LOCK = Path(__file__).resolve().parent.parent / "web" / "package-lock.json"
INSIDE = "node_modules/"


def problems(lock: Mapping[str, Any]) -> Iterator[str]:
    packages = lock["packages"]
    for place, package in packages.items():
        if "resolved" in package:
            yield f'{place} names an address ("resolved"); take it out.'
        for name in package.get("optionalDependencies", {}):
            if not any(f"{around}{INSIDE}{name}" in packages for around in _around(place)):
                yield (
                    f"{place} needs {name} on another system, and it is not in the lock; make the "
                    "lock anew without node_modules, with --before some weeks ago."
                )


def _around(place: str) -> Iterator[str]:
    """The folders in which Node looks for what a package needs, the nearest first."""
    while place:
        yield f"{place}/"
        place = place.rpartition(INSIDE)[0].rstrip("/")
    yield ""


def main() -> int:
    found = list(problems(json.loads(LOCK.read_text()))) if LOCK.exists() else []
    print("\n".join(found) or "The web app's lock is in order.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
