"""Step 7, the handoff: what the agent left for one, held to the rules, to what the run changed and
to the tasks that there are. Of several the tool's counts, then the message's, then the file's."""

import asyncio
import json
import os
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, cast

from agents_manager.domain import event, handoff, handoff_rules, handoff_text
from agents_manager.domain import outcome as outcomes
from agents_manager.domain.change import ChangedFile
from agents_manager.domain.handoff import HandoffOutcome
from agents_manager.domain.handoff_faults import WHOLE, Violation, told
from agents_manager.domain.handoff_rules import Reading
from agents_manager.domain.handoff_text import Parsed
from agents_manager.domain.ids import ProjectId, RunId, TaskId
from agents_manager.domain.knowledge import KeptHandoff
from agents_manager.domain.pipeline import BROUGHT, PromptType
from agents_manager.domain.race import JUDGED
from agents_manager.domain.registry import Registry
from agents_manager.domain.run import ErrorClass, Run
from agents_manager.domain.task import SYSTEM, Project, Task
from agents_manager.errors import InvalidInput, TaskNotFound
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.registries import registry_of
from agents_manager.flow.runs import reports
from agents_manager.flow.runs.prepare import agent_actor
from agents_manager.flow.runs.verdict import Again, Fault, Given, Handoff, Verdict, trouble

FILE = ".agents-handoff.md"
"""At the top of the workspace; an agent that can end with no message of its own writes it there."""
LEFT = "handoff-file.json"
"""In the directory of a turn: what that file held."""
MOST_TASKS = 100
EVENTS = 1_000
"""Of a task, among which those of a run are looked for."""
MISSING: Fault = {"field": WHOLE, "wrong": "it is missing", "right": handoff_text.FORM}


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What there is of a run's handoff."""

    run_id: RunId
    kept: KeptHandoff | None
    violations: Sequence[Fault]
    """Why there is none."""


# ------------------------------------------------------------------------------ where it stands


async def put_aside(run: Run, project: Project, directory: Path, s: Services) -> None:
    """Takes the agent's file out of the workspace before its work is committed, so that no branch
    has it. One that the project itself has is not the agent's."""
    if run.workspace is None or run.base_sha is None:
        return
    file = Path(run.workspace) / FILE
    if not await asyncio.to_thread(os.path.lexists, file):
        return
    if not await s.workspaces.texts(Path(project.path), run.base_sha, [FILE]):
        await asyncio.to_thread(_put_aside, file, directory / LEFT)


def _put_aside(file: Path, kept: Path) -> None:
    """Kept before it is removed: a crash may repeat this."""
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        new = kept.with_name(f".{kept.name}")
        new.write_text(json.dumps(_from_file(file)), encoding="utf-8")
        new.replace(kept)
    with suppress(OSError):
        file.unlink()


def _from_file(file: Path) -> Given:
    """A link elsewhere or a pipe could have been put in its place."""
    try:
        fd = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(fd, "rb") as opened:
            ordinary = stat.S_ISREG(os.fstat(fd).st_mode)
            content = opened.read(2 * handoff_text.MAX_BYTES + 1) if ordinary else None
    except OSError:
        content = None
    if content is None:
        return _unread("the file is no ordinary file")
    if len(content) > 2 * handoff_text.MAX_BYTES:
        return _unread(f"the file has more than {2 * handoff_text.MAX_BYTES} bytes")
    try:
        parsed = handoff_text.parse(content.decode())
    except UnicodeDecodeError:
        return _unread("the file is not UTF-8 text")
    return _given("file", parsed) if parsed else _unread("the file has no section `## Handoff`")


def _unread(wrong: str) -> Given:
    return _given("file", Parsed(None, (Violation(WHOLE, wrong, handoff_text.FORM),)))


def _given(source: Literal["message", "file"], parsed: Parsed) -> Given:
    return {"source": source, "value": parsed.value, "faults": _faults(parsed.violations)}


def _faults(violations: Sequence[Violation]) -> list[Fault]:
    return [asdict(one) for one in violations]


def found(directory: Path, text: str) -> Given | None:
    """What a turn left; None: nothing."""
    by_tool = reports.handoff(directory)
    if by_tool is not None:
        return Given(source="tool", value=by_tool, faults=[])
    parsed = handoff_text.parse(outcomes.without_blocks(text))
    if parsed is not None:
        return _given("message", parsed)
    left = directory / LEFT
    return json.loads(left.read_bytes()) if left.exists() else None


# ------------------------------------------------------------------------------- what it is held to


async def held(
    run: Run, task: Task, project: Project, verdict: Verdict, given: Given | None, s: Services
) -> Verdict:
    """The verdict with the handoff, or with what is wrong with it."""
    if given is not None:
        verdict = verdict | Verdict(given=given)
    if "outcome" not in verdict and "again" not in verdict:
        return verdict  # It failed: what it says of its work does not count either.
    if await _required(task, project, verdict, s):
        verdict = verdict | Verdict(handoff_required=True)
    if given is None:
        required = verdict.get("handoff_required")
        return verdict | Verdict(handoff_faults=[MISSING]) if required else verdict
    if given["faults"]:
        return verdict | Verdict(handoff_faults=given["faults"])
    changed, merged = await _changed(run, project, verdict, s)
    named = handoff_rules.named_tasks(given["value"])
    tasks = await s.store.read(lambda tx: known(tx, project.id, named))
    reading = handoff_rules.check(given["value"], changed=changed, merged=merged, tasks=tasks)
    if reading.handoff is None:
        return verdict | Verdict(handoff_faults=_faults(reading.violations))
    work = any(file.path not in merged for file in changed or ())
    document = reading.handoff.model_dump(mode="json")
    share = handoff_rules.completeness(reading.handoff, changed=work)
    kept = Handoff(document=document, source=given["source"], completeness=share)
    return verdict | Verdict(handoff=kept)


async def _required(task: Task, project: Project, verdict: Verdict, s: Services) -> bool:
    """Not where the agent ends with a question: it is not done."""

    def read(tx: Tx) -> bool:
        pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
        return pipeline.requires_handoff(task.status)

    outcome = registry_of(s, project).outcomes.get(verdict.get("outcome", ""))
    asks = outcome is not None and outcome.prompt in BROUGHT
    judges = verdict.get("outcome") == JUDGED
    return not asks and not judges and await s.store.read(read)


async def _changed(
    run: Run, project: Project, verdict: Verdict, s: Services
) -> tuple[list[ChangedFile] | None, set[str]]:
    """What the run changed, and what of that came with a merge from the base; None where that is
    not known yet."""
    start, head = verdict.get("start_sha"), verdict.get("head_sha")
    if start is None or head is None or run.base_sha is None:
        return None, set()
    if head == run.base_sha:
        return [], set()
    repo = Path(project.path)
    files = await s.workspaces.files(repo, run.base_sha, head)
    if start == run.base_sha:
        return files, set()
    own = {file.path for file in await s.workspaces.files(repo, start, head)}
    return files, {file.path for file in files} - own


def known(tx: Tx, project_id: ProjectId, names: Sequence[str]) -> Mapping[str, TaskId | None]:
    """The tasks of the project that are named, by their ids or the beginnings of those."""
    return {name: _task(tx, project_id, name) for name in names[:MOST_TASKS]}


def _task(tx: Tx, project_id: ProjectId, name: str) -> TaskId | None:
    try:
        task = tx.tasks.find(name)
    except (InvalidInput, TaskNotFound):
        return None
    return task.id if task.project_id == project_id else None


async def checked(s: Services, project_id: ProjectId, value: Any) -> Reading:
    """One that comes while the agent is at work, and its changes are not known yet."""
    named = handoff_rules.named_tasks(value)
    tasks = await s.store.read(lambda tx: known(tx, project_id, named))
    return handoff_rules.check(value, tasks=tasks)


# -------------------------------------------------------------------------- what becomes of it then


def without(verdict: Verdict) -> Verdict:
    """What a run came to, before anything was said of its handoff."""
    ours = ("given", "handoff", "handoff_faults", "handoff_required")
    return cast("Verdict", {name: value for name, value in verdict.items() if name not in ours})


def words(faults: Sequence[Fault]) -> str:
    return told([Violation(**one) for one in faults])


def asked_too(again: Again, verdict: Verdict) -> Again:
    """The agent is asked once more anyway: what is wrong with its handoff is said with it, and what
    it left counts unless it sends another."""
    given, faults = verdict.get("given"), verdict.get("handoff_faults")
    if faults and again["kind"] == "repair":
        text = f"{again['text']}\n\nYour handoff could not be taken either:\n{words(faults)}"
        again = {**again, "text": text}
    return {**again, "given": given} if given else again


def settled(verdict: Verdict, done: int, *, may_ask: bool) -> Verdict:
    """The verdict, unless the agent can be asked for its handoff alone. One that is still wrong is
    not kept; where one is required the run then failed."""
    faults = verdict.get("handoff_faults")
    if not faults or "error" in verdict:
        return verdict
    if may_ask:
        again = Again(kind="handoff", round=done, text=words(faults), stands=verdict)
        return Verdict(again=asked_too(again, verdict), head_sha=verdict.get("head_sha"))
    if verdict.get("handoff_required"):
        why = f"A handoff is required here, and there is none that can be taken:\n{words(faults)}"
        return {**trouble(why, ErrorClass.BAD_OUTPUT), "handoff_faults": faults}
    return verdict


def kept(run: Run, verdict: Verdict, now: datetime) -> KeptHandoff | None:
    found = verdict.get("handoff")
    if found is None:
        return None
    return KeptHandoff(
        run_id=run.id,
        task_id=run.task_id,
        project_id=run.project_id,
        handoff=handoff.Handoff.model_validate(found["document"]),
        source=found["source"],
        completeness=found["completeness"],
        at=now,
    )


def of_run(tx: Tx, run: Run) -> Note:
    log = tx.events.newest(run.task_id, event.HandoffRefused.category, EVENTS)
    refused = event.HandoffRefused.model_fields["type"].default
    mine = [e.data for e in log if e.type == refused and e.data["run"] == run.id]
    violations: list[Fault] = mine[0]["violations"] if mine else []
    return Note(run_id=run.id, kept=tx.knowledge.handoff(run.id), violations=violations)


def record(tx: Tx, s: Services, run: Run, verdict: Verdict, registry: Registry) -> None:
    """What became of the run's handoff."""
    now = s.clock.now()
    for faults in verdict.get("handoff_returned", ()):
        returned = event.HandoffReturned(run=run.id, violations=tuple(faults))
        tx.events.add(run.task_id, returned, SYSTEM, now)
    faults = verdict.get("handoff_faults")
    if faults:
        refused = event.HandoffRefused(run=run.id, violations=tuple(faults))
        tx.events.add(run.task_id, refused, SYSTEM, now)
    found = verdict.get("handoff")
    if found is None:
        return
    says = HandoffOutcome(found["document"]["outcome"])
    saved = event.HandoffSaved(
        run=run.id, source=found["source"], outcome=says, completeness=found["completeness"]
    )
    tx.events.add(run.task_id, saved, agent_actor(run), now)
    name = "" if "error" in verdict else verdict.get("outcome", "")
    outcome = registry.outcomes.get(name)
    asks = outcome is not None and outcome.prompt is PromptType.INFO_REQUEST
    if handoff_rules.disagrees(says, name, asks=asks):
        disagrees = event.HandoffDisagrees(run=run.id, handoff=says, outcome=name)
        tx.events.add(run.task_id, disagrees, SYSTEM, now)
