"""Run the test lanes: all of them, or the ones named as arguments.

Lanes that can share one pytest process do, which then starts once and keeps both of its workers
busy to the end. A failing lane does not stop the others. The last lines list the seconds of each
lane, the tests that were not run with the reason, and the totals. With CI=true a skipped test is a
failure, so that a missing part never looks green.

If at most RERUN_LIMIT tests of a run fail, they are run once more, one at a time. A test that
passes then is listed as flaky and does not fail the run; see docs/decisions/0079.
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
    [sys.executable, "scripts/notices.py"],
]

TOGETHER = (
    "unit",
    "docs",
    "contract",
    "integration",
    "agents",
    "api",
    "e2e",
    "hostile",
    "repositories",
)
# Faults kill processes and measure time: one at a time. The browser of the web lane has a loop of
# its own, beside which no other test can have one.
ALONE = {"faults": 0, "web": 2}
WORKERS = 2

# More failures than this are a defect of the change, not the load of the machine.
RERUN_LIMIT = 3


@dataclass
class Result:
    lane: str
    ok: bool = True
    seconds: float = 0.0
    passed: int = 0
    failed: int = 0
    not_run: Counter[str] = field(default_factory=Counter[str])
    flaky: list[str] = field(default_factory=list[str])


def main(wanted: list[str]) -> int:
    tests = [lane for lane in (*TOGETHER, *ALONE) if any(folder(lane).rglob("test_*.py"))]
    present = ["check", *tests]
    unknown = [lane for lane in wanted if lane not in present]
    if unknown:
        print(f"No such lane: {', '.join(unknown)}. There are: {', '.join(present)}.")
        return 2
    chosen = [lane for lane in present if lane in wanted or not wanted]
    results = [check()] if "check" in chosen else []
    if together := [lane for lane in chosen if lane in TOGETHER]:
        results += run_tests(together, WORKERS)
    for lane, workers in ALONE.items():
        results += run_tests([lane], workers) if lane in chosen else []
    report(results)
    return 0 if all(result.ok for result in results) else 1


def folder(lane: str) -> Path:
    return ROOT / "tests" / lane


def check() -> Result:
    print("\n== check ==", flush=True)
    started = time.monotonic()
    with ThreadPoolExecutor(max_workers=2) as pool:
        codes = list(pool.map(told, CHECKS))
    return Result("check", ok=not any(codes), seconds=time.monotonic() - started)


def told(command: Sequence[str | Path]) -> int:
    """Runs a command; what it says is told at its end, in one piece."""
    done = subprocess.run(
        command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    print(done.stdout, end="", flush=True)
    return done.returncode


def run_tests(lanes: list[str], workers: int) -> list[Result]:
    print(f"\n== {' '.join(lanes)} ==", flush=True)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "pytest", "-q", "-o", f"cache_dir={scratch}/cache"]
        # Each begins with its own half, so that what a file makes once is seldom made twice.
        parallel = ["-n", str(workers), "--dist", "worksteal"] if workers else []
        code, cases = run_pytest([*command, *parallel], lanes, Path(scratch) / "first.xml")
        failed = {name_of(case) for case in cases if has_failed(case)}
        if 0 < len(failed) <= RERUN_LIMIT:
            print(f"\nRunning {len(failed)} failed tests again, one at a time.", flush=True)
            again = Path(scratch) / "second.xml"
            code, repeated = run_pytest([*command, "--last-failed"], lanes, again)
            # A test that fails while it is torn down has two entries.
            cases = [case for case in cases if name_of(case) not in failed] + repeated
    results = [count(lane, [case for case in cases if lane_of(case) == lane]) for lane in lanes]
    for result in results:
        result.flaky = sorted(
            name_of(case)
            for case in cases
            if name_of(case) in failed and lane_of(case) == result.lane and not has_failed(case)
        )
    share(time.monotonic() - started, results)
    if code != 0 and not any(result.failed for result in results):
        for result in results:  # pytest itself broke, or found nothing to run
            result.failed = 1
    for result in results:
        result.ok = not result.failed
    return results


def run_pytest(
    command: Sequence[str | Path], lanes: list[str], xml: Path
) -> tuple[int, list[ElementTree.Element]]:
    """Return the exit code of pytest and its test cases."""
    paths = map(folder, lanes)
    code = subprocess.run([*command, f"--junitxml={xml}", *paths], cwd=ROOT).returncode
    return code, list(ElementTree.parse(xml).iter("testcase")) if xml.exists() else []


def name_of(case: ElementTree.Element) -> str:
    return f"{case.get('classname')}::{case.get('name')}"


def has_failed(case: ElementTree.Element) -> bool:
    return case.find("failure") is not None or case.find("error") is not None


def lane_of(case: ElementTree.Element) -> str:
    """Of a test, or of a file that cannot be read, which has only a name."""
    return (case.get("classname") or case.get("name", "")).partition(".")[2].partition(".")[0]


def share(seconds: float, results: list[Result]) -> None:
    """Of what the run took as a whole, each lane is told what its tests had of it."""
    known = sum(result.seconds for result in results)
    for result in results:
        result.seconds *= seconds / known if known else 0


def count(lane: str, cases: list[ElementTree.Element]) -> Result:
    result = Result(lane)
    for case in cases:
        result.seconds += float(case.get("time", 0))
        skipped = case.find("skipped")
        if has_failed(case):
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
    if flaky := [name for result in results for name in result.flaky]:
        print("\nFlaky, failed once and passed when run again:")
        print("\n".join(f"  {name}" for name in flaky))
    print(f"\n{'lane':<14}{'seconds':>8}  result")
    for result in results:
        print(f"{result.lane:<14}{result.seconds:>8.1f}  {'ok' if result.ok else 'FAILED'}")
    print(f"{'total':<14}{sum(result.seconds for result in results):>8.1f}")
    if any(result.lane != "check" for result in results):
        passed = sum(result.passed for result in results)
        failed = sum(result.failed for result in results)
        skipped = sum(result.not_run.total() for result in results)
        print(f"\n{passed} passed, {failed} failed, {skipped} skipped")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
