"""What this project is measured by, and what a run of `make prove` or `make soak` reached.

`python -m tests.goals FILE` prints a table from the figures that the run left in the file, and with
the word `keep` behind it puts it into docs/reliability.md.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tests.figures import size
from tests.hostile.rows import SWITCHED_OFF

PAGE = Path(__file__).parents[1] / "docs" / "reliability.md"
BEGINS, ENDS = "<!-- goals -->", "<!-- /goals -->"
Record = Mapping[str, Any]
Status = Literal["ok", "missed", "not proven"]
Reached = tuple[str, Status]


@dataclass(frozen=True)
class Goal:
    id: str
    title: str
    target: str
    judge: Callable[[Sequence[Record]], Reached]


def _sum(records: Sequence[Record], name: str) -> int:
    return sum(record[name] for record in records)


def _both(records: Sequence[Record], key: str) -> bool:
    return {record[key] for record in records} >= {"SQLite", "Postgres"}


def _judged(good: bool) -> Status:
    return "ok" if good else "missed"


def _crashes(records: Sequence[Record]) -> Reached:
    parts: list[str] = []
    for where in ("SQLite", "Postgres"):
        mine = [r for r in records if r["where"] == where]
        parts.append(f"{where} {_sum(mine, 'tried')} of {_sum(mine, 'points')} points")
    wrong = _sum(records, "wrong")
    good = not wrong and _both(records, "where") and _sum(records, "tried") >= size(120, 3000)
    return f"{', '.join(parts)}: {wrong} lost or doubled something", _judged(good)


def _histories(records: Sequence[Record]) -> Reached:
    wrong, tried = _sum(records, "wrong"), _sum(records, "tried")
    each = ", ".join(f"{r['tried']} on {r['where']}" for r in records)
    good = not wrong and _both(records, "where") and tried >= size(54, 360)
    return f"{tried - wrong}/{tried} ({each})", _judged(good)


def _kills(records: Sequence[Record]) -> Reached:
    kills, agents, lines = (_sum(records, name) for name in ("kills", "agents", "lines"))
    told = f"{kills} kills under {agents} agents, {lines} lines, none lost or doubled"
    return told, _judged(kills >= size(10, 90))


def _writers(records: Sequence[Record]) -> Reached:
    parts = [
        f"{r['what']}: {r['acked']} acked in {r['seconds']} s, {r['missing']} lost, "
        f"{r['killed']} writers killed, p99 {r['p99_ms']:g} ms"
        for r in records
    ]
    whole = all(not r["missing"] and not r["gaps"] for r in records)
    good = whole and _both(records, "what") and all(r["p99_ms"] < 50 for r in records)
    return "; ".join(parts), _judged(good)


def _inputs(records: Sequence[Record]) -> Reached:
    tried, fell = _sum(records, "tried"), _sum(records, "fell")
    return f"{tried} tried, {fell} crashed, hung or got through", _judged(tried >= 400 and not fell)


def _escapes(records: Sequence[Record]) -> Reached:
    kept = [r for r in records if r["what"] != "control"]
    control = max((r["open"] for r in records if r["what"] == "control"), default=0)
    parts = [
        f"{r['what']}: {r['tried']} tried, {r['open']} open"
        + (f" beside {r['known']} that this level does not close" if r["known"] else "")
        for r in kept
    ]
    good = bool(kept) and not _sum(kept, "open") and control >= 10
    return f"{'; '.join(parts)}; {control} open without it", _judged(good)


def _secrets(records: Sequence[Record]) -> Reached:
    [found] = records[-1:]
    told = (
        f"{found['recall']:.1%} found, {found['false']} of {found['harmless']} look-alikes taken "
        f"for one, {found['forms']} forms of known values, {found['missed']} not hidden"
    )
    false = found["false"] / found["harmless"]
    return told, _judged(found["recall"] >= 0.95 and false <= 0.07 and not found["missed"])


def _answers(records: Sequence[Record]) -> Reached:
    parts = [f"{r['what']} {r['races']} races, {r['double']} double" for r in records]
    good = not _sum(records, "double") and _both(records, "what")
    return ", ".join(parts), _judged(good and _sum(records, "races") >= 10_000)


def _survivors(records: Sequence[Record]) -> Reached:
    number, left = _sum(records, "number"), _sum(records, "survivors")
    longest = max(r["longest_s"] for r in records)
    told = f"{number} cancelled, {left} processes left, the longest took {longest:.1f} s"
    return told, _judged(not left and number >= size(40, 200))


def _routes(records: Sequence[Record]) -> Reached:
    [found] = records[-1:]
    return f"{found['open']} of {found['routes']}", _judged(not found["open"])


def _restart(records: Sequence[Record]) -> Reached:
    told = [
        f"{r['what']}, {r['tasks']} tasks: ready after {r['seconds']:.1f} s; without any after "
        f"{r['empty']:.1f} s"
        for r in records
    ]
    good = all(r["tasks"] >= 100 and r["seconds"] < 3 for r in records)
    return "; ".join(told), _judged(good and _both(records, "what"))


def _cost(records: Sequence[Record]) -> Reached:
    requests = max(r["requests"] for r in records)
    return f"at most {requests} request over the cap", _judged(requests <= 1)


def _switched_off(records: Sequence[Record]) -> Reached:
    crashes = [r for r in records if "tried" in r]
    unnoticed = _sum(crashes, "unnoticed")
    number = len(SWITCHED_OFF) + _sum(crashes, "tried") + len(records) - len(crashes)
    return f"{number} switched off, {unnoticed} unnoticed", _judged(not unnoticed)


GOALS = (
    Goal(
        "G-1",
        "`kill -9`, cut connections and lost answers at counted points of the lifecycle",
        "0 lost, 0 doubled, SQLite and Postgres",
        _crashes,
    ),
    Goal(
        "G-2",
        "Walks with several deaths, drawn at random",
        "60 in a proof, 400 in a soak, all whole",
        _histories,
    ),
    Goal(
        "G-3",
        "The server killed under working agents",
        "0 lines lost or doubled; 90 kills in a soak",
        _kills,
    ),
    Goal(
        "G-4",
        "Eight processes that write, and are killed",
        "0 acknowledged events missing, p99 under 50 ms",
        _writers,
    ),
    Goal("G-5", "Hostile inputs", "400 or more, 0 crash, hang or get through", _inputs),
    Goal("G-6", "Ways out of the sandbox", "0 open, and 10 or more open without it", _escapes),
    Goal("G-7", "Secrets in text", "95 % found, at most 7 % false, known values always", _secrets),
    Goal("G-8", "Several answers at once", "10,000 races, 0 double", _answers),
    Goal(
        "G-9",
        "Processes left after a cancel",
        "0, within 5 s of the grace; 200 in a soak",
        _survivors,
    ),
    Goal("G-10", "Routes that are open without a token", "0 of all", _routes),
    Goal("G-11", "Start with 100 live tasks", "under 3 s, SQLite and Postgres", _restart),
    Goal("G-12", "Cost over the cap of a run", "at most one request", _cost),
    Goal(
        "G-13",
        "Defences that are switched off in a test, which must then fail",
        "all are noticed",
        _switched_off,
    ),
)


def reached(file: Path) -> dict[str, Reached]:
    """What nobody measured is not proven, whatever it was in another run."""
    found: dict[str, list[Record]] = defaultdict(list)
    for line in file.read_text().splitlines() if file.exists() else ():
        record = json.loads(line)
        found[record["goal"]].append(record)
    unknown: Reached = ("not measured in this run", "not proven")
    return {g.id: g.judge(found[g.id]) if found[g.id] else unknown for g in GOALS}


def table(file: Path) -> str:
    told = reached(file)
    lines = [f"{g.id:<5} {told[g.id][1]:<11} {g.title}: {told[g.id][0]}" for g in GOALS]
    return "\n".join(lines)


def page(file: Path) -> str:
    told = reached(file)
    rows = [
        f"| {g.id} | {g.title} | {g.target} | {told[g.id][0]} | {told[g.id][1]} |" for g in GOALS
    ]
    head = ["| | What | Goal | Reached | |", "|---|---|---|---|---|"]
    return "\n".join([*head, *rows])


def keep(file: Path) -> None:
    before, rest = PAGE.read_text().split(BEGINS)
    _, after = rest.split(ENDS)
    PAGE.write_text(f"{before}{BEGINS}\n{page(file)}\n{ENDS}{after}")


def main(file: str, form: str = "") -> int:
    if form == "keep":
        keep(Path(file))
    sys.stdout.write(f"{table(Path(file))}\n")
    return int(any(status == "missed" for _, status in reached(Path(file)).values()))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
