"""The groups of cases: which points there are, which of them are tried, and what one case is."""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from tests.faults.cases import OURS, Case, Reference, Result, phase_of, sample
from tests.faults.controls import CONTROLS, Control
from tests.faults.git_deaths import READS, Death, command
from tests.faults.life import Ending, Plan, live
from tests.faults.outage_groups import cuts, restarts, unanswered
from tests.faults.outages import Outage
from tests.faults.scenario import Walk

COUNT = Death(call="", at=0)
TIMES = (
    *(f"TurnedClock.turn done #{n}" for n in (1, 2, 4)),
    "transaction timers._remind_project commits #1",
    "transaction timers._remind_project done #1",
    "transaction prompts.answer done #1",
    "transaction timers.fire done #2",
)
"""A reminder, a default and an expiry: due while no server is up, and done but not yet known."""
BESIDE = (
    "ChosenWorkspaces.prepare done #3",
    "DetachedRunners.wait begins #4",
    "transaction close.close done #4",
    "ChosenWorkspaces.remove done #2",
    "ChosenWorkspaces.join done #2",
    "step join_parts kept #1",
)
"""With the second workspace made, with three at work, and between the end of the last and what
follows from all of them."""


# ------------------------------------------------------------------------------------- the server


def server(reference: Reference, full: bool) -> tuple[int, list[Case]]:
    points = reference.ours(reference.points)
    labels = points if full else sample(points, phase_of if reference.postgres else _kind, 3)
    plain, slow = (Plan(walk=Walk(agent_s=s), undisturbed=reference.told) for s in (0, 1.5))
    cases = [Case(label, _killed_at(label, plain, reference)) for label in labels]
    waits = [p for p in points if p.startswith("DetachedRunners.wait begins")]
    cases += [
        Case(f"{label}, under a working agent", _killed_at(label, slow, reference))
        for label in (waits if full else waits[2:3])
    ]
    return len(points), cases


def _kind(label: str) -> str:
    """`git change runs`, `step kept`, `port begins` …; each transaction that is done and not yet
    known to be has its own kind."""
    what, _, phase = label.partition(" #")[0].rpartition(" ")
    first, _, rest = what.partition(" ")
    if first == "git":
        return "git reads" if rest in READS else f"git change {phase}"
    if phase == "done" and (first == "transaction" or first.startswith("LocalForge")):
        return what
    return f"{'port' if '.' in first else first} {phase}"


def cancelling(reference: Reference, full: bool) -> tuple[int, list[Case]]:
    """The server again, while it ends an agent for a person who cancelled the task."""
    labels = reference.ours(reference.cancelling_points)
    chosen = labels if full else [label for label in labels if "stop" in label][::2]
    plan = Plan(walk=Walk(cancelled=True), undisturbed=reference.cancelling_told)
    return len(labels), [Case(label, _killed_at(label, plan, reference)) for label in chosen]


def timers(reference: Reference, full: bool) -> tuple[int, list[Case]]:
    """The server again, from when time begins to do something to questions. A clock that was
    turned when the server dies makes something due while no server is up."""
    passed = reference.timed_points
    labels = reference.ours(passed[passed.index("TurnedClock.turn begins #1") :])
    plan = Plan(walk=Walk(timed=True), undisturbed=reference.timed_told)
    chosen = labels if full else TIMES[::2]
    return len(labels), [Case(label, _killed_at(label, plan, reference)) for label in chosen]


def reruns(reference: Reference, full: bool) -> tuple[int, list[Case]]:
    """The server again, while an agent that crashed is tried again."""
    labels = [label for label in reference.crashing_points if label.startswith(OURS)]
    ends = [label for label in labels if "close" in label or "Dispatcher._admit" in label]
    chosen = labels if full else sample(ends, phase_of, 3)
    plan = Plan(walk=Walk(crashes=True), undisturbed=reference.crashing_told)
    return len(labels), [Case(label, _killed_at(label, plan, reference)) for label in chosen]


def clones(reference: Reference, full: bool) -> tuple[int, list[Case]]:
    """The server again, while it makes clones, takes work over from them, and removes them."""
    ours = ("git", "ChosenWorkspaces")
    labels = [label for label in reference.points if label.startswith(ours)]
    chosen = labels if full else sample(labels, phase_of, 2)
    plan = Plan(walk=reference.walk, undisturbed=reference.told)
    return len(labels), [Case(label, _killed_at(label, plan, reference)) for label in chosen]


def beside(reference: Reference, full: bool) -> tuple[int, list[Case]]:
    """The server again, from when three builders work side by side until they are joined."""
    labels = reference.ours(reference.points[reference.points.index(BESIDE[0]) :])
    plan = Plan(walk=reference.walk, undisturbed=reference.told)
    chosen = labels if full else BESIDE[1:4]
    return len(labels), [Case(label, _killed_at(label, plan, reference)) for label in chosen]


def _killed_at(label: str, plan: Plan, reference: Reference) -> Callable[[Path], Result]:
    return lambda folder: _die_and_recover(folder, label, reference.placed(plan))


def _die_and_recover(folder: Path, label: str, plan: Plan) -> Result:
    first = live(folder, 1, replace(plan, server=label))
    if first.killed_at is None:
        return Result(faults=list(first.violations), missed=True)
    return Result(faults=list(live(folder, 2, plan).violations))


# ------------------------------------------------------------------------------------ the runner


def runner(reference: Reference, full: bool) -> tuple[int, list[Case]]:
    labels = reference.runner_points

    def kind(label: str) -> str:
        """`open output`, `replace exit.json` …, before or after it."""
        return label.partition(": ")[2].rpartition(" ")[0].rpartition(" ")[0]

    # How often the runner waits and in how many pieces output comes is not the same every time.
    first = [label for label in labels if label.endswith("#1")]
    chosen = labels if full else sample(first, kind, 4)
    return len(labels), [Case(label, _runner_killed_at(label)) for label in chosen]


def _runner_killed_at(label: str) -> Callable[[Path], Result]:
    def run(folder: Path) -> Result:
        ending = live(folder, 1, Plan(runner=label))
        passed = (folder / "evidence" / "runner-points").read_text().splitlines()
        return Result(faults=list(ending.violations), missed=label not in passed)

    return run


# ---------------------------------------------------------------------------------------- git


def git(reference: Reference, full: bool) -> tuple[int, list[Case]]:
    """A git is killed, and the server sees it."""
    deaths = list(_deaths(reference))
    chosen = deaths if full else _spread(deaths, 4)
    cases = [Case(_name(d), _git_killed(d, reference)) for d in chosen]
    return len(deaths), cases


def machine(reference: Reference, full: bool) -> tuple[int, list[Case]]:
    """A git is killed, and the server with it."""
    deaths = [replace(d, with_server=True) for d in _deaths(reference) if d.at]
    chosen = deaths if full else _spread(deaths, 4)
    cases = [Case(_name(d), _all_killed(d, reference.walk)) for d in chosen]
    return len(deaths), cases


def _deaths(reference: Reference) -> Iterator[Death]:
    for call in reference.gits:
        for at in range(reference.changes[call] + 1):
            yield Death(call=call, at=at)


def _spread(deaths: Sequence[Death], wanted: int) -> list[Death]:
    """Evenly over those that change something."""
    changing = [d for d in deaths if command(d.call) not in READS]
    return [changing[i * len(changing) // wanted] for i in range(wanted)]


def _name(death: Death) -> str:
    when = f"before change {death.at}" if death.at else "at once"
    return f"git {death.call}, {when}"


def _git_killed(death: Death, reference: Reference) -> Callable[[Path], Result]:
    def run(folder: Path) -> Result:
        ending = live(folder, 1, Plan(git=death, walk=reference.walk))
        return Result(faults=[*ending.violations, *_no_worse(ending, reference)])

    return run


def _no_worse(ending: Ending, reference: Reference) -> list[str]:
    """A killed git is tried again; nobody is asked and no agent has to run again."""
    new = [event for event in ending.told if event not in reference.told]
    return [f"new: {event}" for event in new if not event.startswith("hook.retried")]


def _all_killed(death: Death, walk: Walk) -> Callable[[Path], Result]:
    def run(folder: Path) -> Result:
        first = live(folder, 1, Plan(git=death, walk=walk))
        if first.killed_at is None:
            return Result(faults=list(first.violations), missed=True)
        return Result(faults=list(live(folder, 2, Plan(walk=walk)).violations))

    return run


def retries(reference: Reference, full: bool) -> tuple[int, list[Case]]:
    """A git is killed, and then the server while it takes note of that."""
    deaths = [
        death for death in _deaths(reference) if death.at == 1 and command(death.call) not in READS
    ]
    every = {
        f"{_name(death)}, note {phase}": _noted(death, phase)
        for death in deaths
        for phase in ("begins", "commits", "done")
    }
    chosen = list(every) if full else sample(list(every), phase_of, 3)
    return len(every), [Case(label, every[label]) for label in chosen]


def _noted(death: Death, phase: str) -> Callable[[Path], Result]:
    def run(folder: Path) -> Result:
        server = f"transaction hooks.failed {phase} #1"
        first = live(folder, 1, Plan(git=death, server=server))
        if first.killed_at is None:
            return Result(faults=list(first.violations), missed=True)
        ending = live(folder, 2, Plan())
        retried = [event for event in ending.told if event.startswith("hook.")]
        # What was not noted may go well the next time.
        noted = len(retried) == 1 or (phase != "done" and not retried)
        wrong = [] if noted else [f"one failure was noted as {retried}"]
        return Result(faults=[*ending.violations, *wrong])

    return run


# ------------------------------------------------------------------------------ histories, controls


def histories(reference: Reference, full: bool) -> tuple[int, list[Case]]:
    """Several deaths in one walk, drawn by a number that can be drawn again."""
    cases = [Case(f"history {n}", _history(n, reference)) for n in range(200 if full else 4)]
    return len(cases), cases


def _history(number: int, reference: Reference) -> Callable[[Path], Result]:
    def run(folder: Path) -> Result:
        chance = random.Random(number)
        plans = [_drawn(chance, reference) for _ in range(chance.randint(2, 5))]
        alone = not any(plan.runner or plan.git for plan in plans)
        told = reference.told if alone else None
        url = reference.placed(Plan()).url
        for life, plan in enumerate([*plans, Plan()], 1):
            ending = live(folder, life, replace(plan, undisturbed=told, url=url))
            if ending.killed_at is None:
                return Result(faults=list(ending.violations), missed=life == 1)
        raise AssertionError("the last life has nothing to die of")

    return run


def _drawn(chance: random.Random, reference: Reference) -> Plan:
    """The server dies sooner or later, now and then beside a runner or a git."""
    runner = chance.choice(reference.runner_points) if chance.random() < 0.3 else ""
    git = None
    if chance.random() < 0.3:
        call = chance.choice(reference.gits)
        git = Death(call=call, at=chance.randint(0, reference.changes[call]))
    point = 1 + int(len(reference.points) * chance.random() ** 2)
    return Plan(server=point, runner=runner, git=git)


def controls(reference: Reference, full: bool) -> tuple[int, list[Case]]:
    chosen = list(CONTROLS) if full else list(CONTROLS)[:2]
    cases = [Case(f"without {name}", _noticed(name, reference)) for name in chosen]
    return len(CONTROLS), cases


def _noticed(name: str, reference: Reference) -> Callable[[Path], Result]:
    control = CONTROLS[name]
    git = _last_ref_update(reference) if control.git else None

    def run(folder: Path) -> Result:
        told = reference.told if control.outage else None
        plan = Plan(off=name, walk=control.walk, undisturbed=told)
        outage = Outage(how="unanswered") if control.outage else None
        ending = live(folder, 1, replace(plan, server=control.server, git=git, outage=outage))
        if control.server and not control.outage:
            if ending.killed_at is None:
                return Result(faults=[f"{control.server} was not reached"])
            ending = live(folder, 2, plan)
        found = [*ending.violations, *(_no_worse(ending, reference) if git else ())]
        return Result(faults=_expected(control, found))

    return run


def _expected(control: Control, found: Sequence[str]) -> list[str]:
    if any(re.search(control.expected, fault) for fault in found):
        return []
    return [f"expected {control.expected}, found", *(found or ["nothing"])]


def _last_ref_update(reference: Reference) -> Death:
    """The git that moves the base branch, killed while it holds its locks."""
    call = [git for git in reference.gits if command(git) == "update-ref"][-1]
    return Death(call=call, at=reference.changes[call] // 2)


Group = Callable[[Reference, bool], tuple[int, list[Case]]]
GROUPS: dict[str, Group] = {
    "server": server,
    "cancelling": cancelling,
    "timers": timers,
    "reruns": reruns,
    "postgres": server,
    "postgres-cancelling": cancelling,
    "postgres-timers": timers,
    "postgres-reruns": reruns,
    "postgres-beside": beside,
    "postgres-histories": histories,
    "unanswered": unanswered,
    "cuts": cuts,
    "restarts": restarts,
    "runner": runner,
    "git": git,
    "machine": machine,
    "retries": retries,
    "beside": beside,
    "clones": clones,
    "clone-gits": git,
    "clone-machine": machine,
    "histories": histories,
    "controls": controls,
}
"""Those whose names begin with `clone` are given the reference of a walk with clones, those whose
names end with `beside` that of one with builders side by side."""

PROVED = {
    "server": 48,
    "cancelling": 6,
    "timers": 8,
    "reruns": 8,
    "postgres": 36,
    "postgres-cancelling": 4,
    "postgres-timers": 4,
    "postgres-reruns": 4,
    "postgres-beside": 3,
    "postgres-histories": 24,
    "unanswered": 12,
    "cuts": 14,
    "restarts": 8,
    "runner": 12,
    "git": 12,
    "machine": 8,
    "retries": 4,
    "beside": 4,
    "clones": 6,
    "clone-gits": 6,
    "clone-machine": 4,
    "histories": 36,
}
"""How many cases of a group `make prove` tries, drawn anew in every run; `make soak` tries all."""
