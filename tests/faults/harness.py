"""The crash harness: a process that imports everything once and forks every case from there, two
at a time. It reads the names of groups, `postgres` followed by an address, and answers each with a
line of JSON. It tries a fixed sample of the points, all of them (`full`), or some that are drawn by
a number (`prove:NUMBER`).

    python -m tests.faults.harness FOLDER [full | prove:NUMBER]
"""

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from signal import SIGKILL

from tests.faults import cases as choice
from tests.faults import groups, invariants, scenario
from tests.faults.cases import Case, Reference, Result
from tests.faults.life import Plan, live
from tests.faults.scenario import Walk

AT_ONCE = 2
LOG_LINES = 25


@dataclass
class Report:
    group: str
    points: int
    """How many there are."""
    cases: int = 0
    missed: list[str] = field(default_factory=list)
    """Points that were not reached again: what runs side by side can change its order."""
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0


class Harness:
    def __init__(self, folder: Path, mode: str) -> None:
        self._folder = folder
        self._full = bool(mode)
        self._drawn_by = int(mode.partition(":")[2]) if mode.startswith("prove:") else None
        self._number = 0
        self._reference: Reference | None = None
        self._cloned: Reference | None = None
        self._builders: Reference | None = None
        os.environ.update(HOME=str(folder / "user"), GIT_CONFIG_NOSYSTEM="1")
        (folder / "user").mkdir(parents=True)
        (folder / "user" / ".gitconfig").write_text(
            '[user]\nname = "Ada"\nemail = ada@example.org\n'
        )

    def run(self, asked: str) -> Report:
        begun = time.monotonic()
        group, _, address = asked.partition(" ")
        if group.endswith("beside"):
            self._builders = self._builders or self._beside()
            reference = self._builders
        else:
            self._reference = self._reference or self._undisturbed()
            reference = self._reference
        reference = replace(reference, postgres=address)
        if group.startswith("clone"):
            reference = self._cloned = self._cloned or self._with_clones(reference)
        points, cases = groups.GROUPS[group](reference, self._full)
        if self._drawn_by is not None:
            cases = choice.drawn(cases, groups.PROVED.get(group, len(cases)), self._drawn_by)
        report = Report(group, points=points, cases=len(cases))
        for case, result in self._each(cases):
            if result.missed:
                report.missed.append(case.name)
            if result.faults:
                report.failures.append("\n".join([f"{group}: {case.name}", *result.faults]))
        report.seconds = round(time.monotonic() - begun, 1)
        return report

    def _undisturbed(self) -> Reference:
        """Walks that nothing disturbs: one counts the points, one what git does to files, one is
        cancelled, and one is moved by time."""
        case, traced = self._fresh(), self._fresh()
        ending = live(case, 1, Plan())
        counted = live(traced, 1, Plan(git=groups.COUNT))
        cancelled = live(self._fresh(), 1, Plan(walk=Walk(cancelled=True)))
        timed = live(self._fresh(), 1, Plan(walk=Walk(timed=True)))
        crashing = live(self._fresh(), 1, Plan(walk=Walk(crashes=True)))
        walks = (ending, counted, cancelled, timed, crashing)
        faults = [fault for walk in walks for fault in walk.violations]
        assert not faults, f"the undisturbed walk fails: {faults}\n{_log(case)}"
        return Reference(
            told=ending.told,
            points=ending.points,
            runner_points=(case / "evidence" / "runner-points").read_text().splitlines(),
            gits=counted.gits,
            changes=choice.changes(traced / "evidence", counted.gits),
            cancelling_told=cancelled.told,
            cancelling_points=cancelled.points,
            timed_told=timed.told,
            timed_points=timed.points,
            crashing_told=crashing.told,
            crashing_points=crashing.points,
        )

    def _with_clones(self, reference: Reference) -> Reference:
        """What git does to files is counted only where all of it is tried."""
        case, traced, walk = self._fresh(), self._fresh(), Walk(clones=True)
        ending = live(case, 1, Plan(walk=walk))
        counted = live(traced, 1, Plan(walk=walk, git=groups.COUNT)) if self._full else ending
        faults = [*ending.violations, *counted.violations]
        assert not faults, f"the walk with clones fails: {faults}\n{_log(case)}"
        return replace(
            reference,
            told=ending.told,
            points=ending.points,
            gits=counted.gits,
            changes=choice.changes(traced / "evidence", counted.gits) if self._full else {},
            walk=walk,
        )

    def _beside(self) -> Reference:
        case, walk = self._fresh(), Walk(beside=True)
        ending = live(case, 1, Plan(walk=walk))
        faults = f"three side by side fail: {ending.violations}\n{_log(case)}"
        assert not ending.violations, faults
        return Reference(told=ending.told, points=ending.points, walk=walk)

    def _fresh(self) -> Path:
        self._number += 1
        case = self._folder / f"case-{self._number}"
        case.mkdir()
        scenario.make_repo(case / "repo")
        return case

    def _each(self, cases: Sequence[Case]) -> Sequence[tuple[Case, Result]]:
        waiting = list(reversed(cases))
        running: dict[int, tuple[Case, Path]] = {}
        results: list[tuple[Case, Result]] = []
        while waiting or running:
            while waiting and len(running) < AT_ONCE:
                case, folder = waiting.pop(), self._fresh()
                running[_fork(lambda c=case, f=folder: c.run(f), folder)] = case, folder
            pid, _ = os.wait()
            case, folder = running.pop(pid)
            results.append((case, _result(folder)))
        return results


def _fork(run: Callable[[], Result], folder: Path) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            (folder / "result").write_text(json.dumps(asdict(run())))
        finally:
            os._exit(0)
    return pid


def _result(folder: Path) -> Result:
    outcome = folder / "result"
    if not outcome.exists():
        return Result(faults=[f"the case itself broke; see {folder}"])
    result = Result(**json.loads(outcome.read_text()))
    for pid in invariants.processes(folder / "home"):
        with suppress(ProcessLookupError):
            os.kill(pid, SIGKILL)
    if result.faults:
        result.faults.append(_log(folder))
    else:
        shutil.rmtree(folder)
    return result


def _log(folder: Path) -> str:
    lives = sorted(folder.glob("life-*.log"))
    lines = lives[-1].read_text(errors="replace").splitlines() if lives else []
    return "\n".join([f"kept in {folder}", *lines[-LOG_LINES:]])


def main(folder: str, mode: str = "") -> None:
    harness = Harness(Path(folder), mode)
    for line in sys.stdin:
        sys.stdout.write(json.dumps(asdict(harness.run(line.strip()))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
