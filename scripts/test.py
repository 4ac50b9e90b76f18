"""Runs the test lanes one after the other: all of them, or the ones named as arguments.

A lane that fails does not stop the next one. The last lines say the seconds of each lane, what was
not run and why, and the sum of all tests. With CI=true a skipped test is a failure: a missing part
must never look green.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
CI = os.environ.get("CI") == "true"

# Two at a time, those that take long first.
CHECKS = [
    [BIN / "basedpyright"],
    [sys.executable, "-m", "agents_manager.webbuild", "check"],
    [BIN / "ruff", "format", "--check", "--quiet", "."],
    [BIN / "ruff", "check", "--quiet", "."],
    [BIN / "lint-imports", "--no-logo"],
    [sys.executable, "scripts/check_docs.py"],
    [sys.executable, "scripts/check_web.py"],
]

# Lane and its number of worker processes. Faults kill processes and measure time: one at a time.
TESTS = {
    "unit": 2,
    "contract": 2,
    "integration": 2,
    "agents": 2,
    "api": 2,
    "e2e": 2,
    "faults": 0,
    "hostile": 2,
    "web": 2,
}


@dataclass
class Result:
    lane: str
    ok: bool = True
    seconds: float = 0.0
    passed: int = 0
    failed: int = 0
    not_run: Counter[str] = field(default_factory=Counter[str])


def main(wanted: list[str]) -> int:
    present = ["check", *(lane for lane in TESTS if any(folder(lane).rglob("test_*.py")))]
    unknown = [lane for lane in wanted if lane not in present]
    if unknown:
        print(f"No such lane: {', '.join(unknown)}. There are: {', '.join(present)}.")
        return 2
    results = [timed(lane) for lane in wanted or present]
    report(results)
    return 0 if all(result.ok for result in results) else 1


def folder(lane: str) -> Path:
    return ROOT / "tests" / lane


def timed(lane: str) -> Result:
    print(f"\n== {lane} ==", flush=True)
    started = time.monotonic()
    result = check() if lane == "check" else run_tests(lane)
    result.seconds = time.monotonic() - started
    return result


def check() -> Result:
    with ThreadPoolExecutor(max_workers=2) as pool:
        codes = list(pool.map(told, CHECKS))
    return Result("check", ok=not any(codes))


def told(command: Sequence[str | Path]) -> int:
    """Runs a command; what it says is told at its end, in one piece."""
    done = subprocess.run(
        command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    print(done.stdout, end="", flush=True)
    return done.returncode


def run_tests(lane: str) -> Result:
    with tempfile.TemporaryDirectory() as scratch:
        xml = Path(scratch) / "junit.xml"
        command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={xml}", str(folder(lane))]
        if TESTS[lane]:
            command += ["-n", str(TESTS[lane])]
        code = subprocess.run(command, cwd=ROOT).returncode
        result = count(lane, xml)
    result.ok = code == 0 and not result.failed
    if code != 0 and not result.failed:
        result.failed = 1  # pytest itself broke, or found nothing to run
    return result


def count(lane: str, xml: Path) -> Result:
    result = Result(lane)
    if not xml.exists():
        return result
    for case in ElementTree.parse(xml).iter("testcase"):
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            result.failed += 1
        elif skipped is None:
            result.passed += 1
        elif CI and skipped.get("type") != "pytest.xfail":
            print(f"Skipped in CI: {case.get('name')}: {skipped.get('message')}")
            result.failed += 1
        else:
            result.not_run[skipped.get("message", "")] += 1
    return result


def report(results: list[Result]) -> None:
    if any(result.not_run for result in results):
        print("\nNot run:")
    for result in results:
        for reason, tests in result.not_run.items():
            print(f"  {result.lane}, {tests} tests: {reason}")
    print(f"\n{'lane':<14}{'seconds':>8}  result")
    for result in results:
        print(f"{result.lane:<14}{result.seconds:>8.1f}  {'ok' if result.ok else 'FAILED'}")
    print(f"{'total':<14}{sum(result.seconds for result in results):>8.1f}")
    if any(result.lane in TESTS for result in results):
        passed = sum(result.passed for result in results)
        failed = sum(result.failed for result in results)
        skipped = sum(result.not_run.total() for result in results)
        print(f"\n{passed} passed, {failed} failed, {skipped} skipped")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
