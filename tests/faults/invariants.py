"""What must be true of a finished walk, whatever was killed on the way: nothing lost, nothing
doubled. `found` reads the traces, `violations` judges them."""

import os
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from dbos import DBOS
from sqlalchemy import select

from agents_manager.bootstrap import Program
from agents_manager.domain.event import Logged
from agents_manager.domain.ids import TaskId
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import Prompt, PromptStatus
from agents_manager.domain.run import Run
from agents_manager.domain.task import History, Result, Task
from agents_manager.store import schema
from tests.faults.scenario import LINES, PARTS, git

NAMES = re.compile(r"[0-9a-f]{8,}|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
ENDINGS = ("agent.completed", "agent.failed", "agent.cancelled")
ANSWERS = ("prompt_response", "review_submitted")
ONCE = ("branch.created", "pull_request.created", "pull_request.merged")


@dataclass(frozen=True, kw_only=True)
class Found:
    task: Task
    events: Sequence[Logged]
    history: Sequence[History]
    prompts: Sequence[Prompt]
    runs: Sequence[Run]
    effects: Sequence[tuple[str, str, str, int]]
    """Id, kind, status and attempt."""
    pulls: Sequence[tuple[str, str, str | None]]
    """Id, state and merge commit."""
    unfinished_workflows: int
    repo: Path
    home: Path
    evidence: Path


async def found(program: Program, task_id: TaskId, repo: Path, evidence: Path) -> Found:
    read = program.services.store.read
    with program.database.engines.reader.connect() as connection:
        effect, pull = schema.effect.c, schema.pull.c
        columns = effect.id, effect.kind, effect.status, effect.attempt
        effects = connection.execute(select(*columns)).all()
        pulls = connection.execute(select(pull.id, pull.state, pull.merge_sha)).all()
    return Found(
        task=await read(lambda tx: tx.tasks.get(task_id)),
        events=await read(lambda tx: tx.events.of_task(task_id, after_seq=0, limit=1000)),
        history=await read(lambda tx: tx.history.of_task(task_id)),
        prompts=await read(lambda tx: tx.prompts.of_task(task_id)),
        runs=await read(lambda tx: tx.runs.of_task(task_id)),
        effects=[tuple(row) for row in effects],
        pulls=[tuple(row) for row in pulls],
        unfinished_workflows=await unfinished_workflows(),
        repo=repo,
        home=program.settings.home,
        evidence=evidence,
    )


async def unfinished_workflows() -> int:
    """Also those that wait in a queue, as what a death cut off does after the next start."""
    return len(await DBOS.list_workflows_async(status=["PENDING", "ENQUEUED"]))


def told(found: Found) -> list[str]:
    """What happened, in words that are the same for every walk. Order is left out: what a quick
    person answers can come before or after what the engine does."""
    return sorted(f"{e.type}: {NAMES.sub('*', e.summary)}" for e in found.events)


def violations(found: Found, undisturbed: Sequence[str] | None) -> list[str]:
    """`undisturbed` is what an undisturbed walk tells: without runs that failed for a reason of
    their own, exactly that must have happened."""
    return [
        *_state(found, "done"),
        *_record(found),
        *_once(found),
        *_notices(found),
        *_runs(found),
        *_repository(found),
        *_left_behind(found),
        *_differences(found, undisturbed),
    ]


def violations_of_beside(found: Found, undisturbed: Sequence[str] | None) -> list[str]:
    return [
        *_state(found, "done"),
        *_record(found),
        *_runs(found, beside=True),
        *_put_together(found),
        *_left_behind(found),
        *_differences(found, undisturbed),
    ]


def _put_together(found: Found) -> Iterator[str]:
    """Each part once, in their order, and nothing of them is left but their branches."""
    repo = found.repo
    branch = next(run.branch for run in found.runs if run.branch and not run.part)
    log = git(repo, "log", "--first-parent", "--merges", "--reverse", "--format=%s", branch)
    wanted = [f"Put {branch}--part-1-{n} into {branch}" for n in range(1, len(PARTS) + 1)]
    if log.splitlines() != wanted:
        yield f"the parts were put together as {log.splitlines()}"
    for number, file in enumerate(PARTS, 1):
        text = git(repo, "show", f"{branch}:{file}")
        if text != f"built {number}":
            yield f"{file} holds {text!r}"
    moves = [(h.source, h.to) for h in found.history if h.source == "building"]
    if moves != [("building", "done")]:
        yield f"the task went on by {moves}"
    if len(git(repo, "worktree", "list").splitlines()) != 1:
        yield "a workspace is left"


def violations_of_timed(found: Found, undisturbed: Sequence[str] | None) -> list[str]:
    return [*violations_of_cancelled(found, undisturbed), *_notices(found), *_times(found)]


def violations_of_cancelled(found: Found, undisturbed: Sequence[str] | None) -> list[str]:
    return [
        *_state(found, "cancelled"),
        *_record(found),
        *_runs(found),
        *_left_behind(found),
        *_differences(found, undisturbed),
    ]


def _state(found: Found, status: str) -> Iterator[str]:
    if found.task.status != status:
        yield f"the task is {found.task.status}"
    moves = [h for h in found.history if h.source != h.to]
    moves = [h for h in moves if h.result is not Result.REFUSED]
    for before, after in pairwise(moves):
        if after.version != before.version + 1 or after.source != before.to:
            yield f"the history forks: {before.to} ({before.version}), then {after.source}"
    for _, kind, status, _ in found.effects:
        if status in ("pending", "started"):
            yield f"the effect {kind} is still {status}"
    if found.unfinished_workflows:
        yield f"{found.unfinished_workflows} workflows are not finished"


def _record(found: Found) -> Iterator[str]:
    if [e.seq for e in found.events] != list(range(1, len(found.events) + 1)):
        yield "the event log has gaps"
    repaired = [e.summary for e in found.events if e.type == "task.repaired"]
    yield from (f"the supervisor had to repair it: {summary}" for summary in repaired)
    answers = Counter(e.data["prompt"] for e in found.events if e.type in ANSWERS)
    for prompt in found.prompts:
        if prompt.status is PromptStatus.PENDING:
            yield f"the prompt {prompt.type} is still open"
        if answers[prompt.id] != (prompt.status is PromptStatus.RESPONDED):
            yield f"the prompt {prompt.type} was answered {answers[prompt.id]} times"


def _times(found: Found) -> Iterator[str]:
    """One question was answered by default, one expired, and people were reminded once of each."""
    hasty, slow = (p for p in found.prompts if p.type is PromptType.INFO_REQUEST)
    if (hasty.status, hasty.responded_via) != (PromptStatus.RESPONDED, "default"):
        yield f"the default was not taken: {hasty.status} via {hasty.responded_via}"
    if slow.status is not PromptStatus.EXPIRED:
        yield f"what should have expired is {slow.status}"
    told = Counter(e.data["prompt"] for e in found.events if e.type == "prompt_reminded")
    keys = [id_ for id_, *_ in found.effects if "-reminder-" in id_]
    if (told[hasty.id], told[slow.id], len(keys)) != (1, 1, 2):
        yield f"people were reminded {told[hasty.id]} and {told[slow.id]} times by {keys}"


def _once(found: Found) -> Iterator[str]:
    types = Counter(e.type for e in found.events)
    yield from (f"{types[type_]} times {type_}" for type_ in ONCE if types[type_] != 1)


def _notices(found: Found) -> Iterator[str]:
    """What people are told becomes rows with the end of its effect; how channels bring them has
    crash points of its own (tests/integration/test_channel_deaths.py)."""
    notices = [status for _, kind, status, _ in found.effects if kind == "notify"]
    if not notices or not {"done", "cancelled"}.issuperset(notices):
        yield f"the notices are {Counter(notices)}"


def _runs(found: Found, *, beside: bool = False) -> Iterator[str]:
    started = Counter(e.data["run"] for e in found.events if e.type == "agent.started")
    ended = Counter(e.data["run"] for e in found.events if e.type in ENDINGS)
    for run in found.runs:
        if run.status.live:
            yield f"the {run.mode} run is still {run.status}"
        if started[run.id] > 1 or ended[run.id] != 1:
            yield f"a {run.mode} run started {started[run.id]} and ended {ended[run.id]} times"
    log = found.evidence / "agents"
    for line, count in Counter(log.read_text().splitlines()).items():
        if line.startswith("BESIDE") and beside:
            continue
        if line.startswith("BESIDE"):
            yield "an agent was started while another one lived"
        elif count > 1:
            yield f"{count} agents were started for one turn"
    for output in found.home.glob("jobs/*/*/output"):
        results = sum('"type": "result"' in line for line in output.read_text().splitlines())
        if results > 1:
            yield f"a turn has {results} results"


def _repository(found: Found) -> Iterator[str]:
    repo = found.repo
    if len(found.pulls) != 1:
        yield f"{len(found.pulls)} pull requests"
        return
    pull, state, merge_sha = found.pulls[0]
    tip = git(repo, "rev-parse", "main")
    if (state, merge_sha) != ("merged", tip):
        yield f"the pull request is {state} as {merge_sha}, and main is at {tip}"
    merges = git(repo, "log", "--merges", "--format=%(trailers:key=Agents-Manager-Pull,valueonly)")
    if merges.split() != [pull]:
        yield f"main has {len(merges.split())} merges of pull requests"
    if len(git(repo, "rev-list", "--first-parent", "main").split()) != 2:
        yield "main has other commits than the first and the merge"
    yield from _work(found)
    if git(repo, "status", "--porcelain"):
        yield "the user's checkout is not clean"
    if git(repo, "for-each-ref", "refs/agents-manager/merging"):
        yield "a merge is still meant to be completed"
    stale = [p.name for p in (repo / ".git").rglob("*.lock") if p.name != "agents-manager.lock"]
    yield from (f"git left a {name}" for name in stale)


def _work(found: Found) -> Iterator[str]:
    lines = git(found.repo, "show", "main:work.txt").split()
    yield from (f'"{line}" was written {n} times' for line, n in Counter(lines).items() if n > 1)
    subjects = git(found.repo, "log", "--no-merges", "--format=%s", "main").splitlines()
    own = Counter(s for s in subjects if s.startswith("Work "))
    yield from (f'"{subject}" was committed {n} times' for subject, n in own.items() if n > 1)
    ended_well = all(run.error is None for run in found.runs)
    if not ended_well:
        return
    if tuple(lines) != LINES:
        yield f"no agent failed, and main holds {lines}"
    saved = git(found.repo, "for-each-ref", "--format=%(refname)", "refs/agents-manager/snapshots")
    files = [git(found.repo, "ls-tree", "-r", "--name-only", ref) for ref in saved.splitlines()]
    if len(files) != 1 or "scratch.txt" not in files[0]:
        yield f"what the planning agent left was saved {len(files)} times"


def _left_behind(found: Found) -> Iterator[str]:
    deadline = time.monotonic() + 2
    while (left := processes(found.home)) and time.monotonic() < deadline:
        time.sleep(0.02)
    yield from (f"process {pid} is left: {command}" for pid, command in left.items())


def processes(home: Path) -> dict[int, str]:
    """Living processes that belong to a home, ourselves left out: runners have its path among
    their arguments, agents in their environment."""
    mark = os.fsencode(home)
    alive: dict[int, str] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes()
            known = mark in command or mark in (entry / "environ").read_bytes()
        except OSError:
            continue
        if known and int(entry.name) != os.getpid():
            alive[int(entry.name)] = command.replace(b"\0", b" ").decode(errors="replace")
    return alive


def _differences(found: Found, undisturbed: Sequence[str] | None) -> Iterator[str]:
    if undisturbed is None:
        return
    happened, expected = Counter(told(found)), Counter(undisturbed)
    yield from (f"lost: {event}" for event in (expected - happened).elements())
    yield from (f"doubled or new: {event}" for event in (happened - expected).elements())
    retried = [kind for _, kind, _, attempt in found.effects if attempt > 1]
    yield from (f"the effect {kind} was tried again" for kind in retried)
