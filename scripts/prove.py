"""`make prove` and `make soak`: how much of what is promised holds, goal by goal.

A proof takes about a quarter of an hour on two cores: of every kind of fault some, drawn anew each
time. A soak tries everything and takes hours. Both end with the table of the goals.
"""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "build" / "figures.jsonl"
PYTEST = (sys.executable, "-m", "pytest", "-q", "--no-header")
# Those whose outcome is one of the goals, or a promise of docs/reliability.md.
PROMISES = (
    *("tests/integration/test_disk_full.py", "tests/integration/test_clock_jumps.py"),
    *("tests/e2e/test_database_away.py", "tests/soak"),
    "tests/api/test_gateway.py::test_a_used_up_budget_is_not_asked_beyond",
)
Part = tuple[str, Sequence[str], dict[str, str]]

PROOF: tuple[Part, ...] = (
    ("crashes, outages and writers", (*PYTEST, "tests/faults"), {}),
    ("promises", (*PYTEST, *PROMISES), {}),
    ("hostile figures", (sys.executable, "-m", "tests.hostile.figures"), {}),
)
LANES = ("tests/contract", "tests/hostile", "tests/integration", "tests/api", "tests/e2e")
WITH_CLONES = {"AM_TEST_WORKSPACES": "clone", "AM_SLOW_TESTS": ""}
SOAK: tuple[Part, ...] = (
    *PROOF,
    ("the long walks", (*PYTEST, "-n", "2", "-m", "slow", "tests/docs", *LANES), {}),
    ("the same with clones", (*PYTEST, "-n", "2", *LANES[2:]), WITH_CLONES),
)


def main(kind: str) -> int:
    FIGURES.parent.mkdir(exist_ok=True)
    FIGURES.unlink(missing_ok=True)
    mode = "full" if kind == "soak" else "prove"
    told = {"AM_FAULTS": mode, "AM_SLOW_TESTS": "all", "AM_FIGURES": str(FIGURES)}
    failed, took = list[str](), list[str]()
    for name, command, more in SOAK if kind == "soak" else PROOF:
        print(f"\n== {name} ==", flush=True)
        begun = time.monotonic()
        code = subprocess.run(command, cwd=ROOT, env={**os.environ, **told, **more}).returncode
        took.append(f"{name} {time.monotonic() - begun:.0f} s")
        failed += [name] if code else []
    print(f"\n{', '.join(took)}")
    missed = subprocess.run(
        [sys.executable, "-m", "tests.goals", str(FIGURES)], cwd=ROOT, env={**os.environ, **told}
    ).returncode
    print(f"\nFailed: {', '.join(failed)}." if failed else "\nEverything held.")
    return int(bool(failed or missed))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
