"""The walk that is killed: one task of the pipeline `feature`, with a question, a plan review, a
code review that asks for changes, a rework with a repair turn and a round of fixing, and a merge;
or, shorter, one that is cancelled while its agent works, and one of `simple` whose questions only
time answers. The person in it decides from what is stored, so that after a crash anybody can go on
in their place."""

import asyncio
import json
import re
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from agents_manager.bootstrap import Program
from agents_manager.domain import pipeline
from agents_manager.domain.ids import TaskId
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import Prompt, PromptStatus, recommended_answer
from agents_manager.domain.task import Actor, ActorType, Task
from agents_manager.errors import GitError, PromptClosed, StaleTask, StoreUnavailable
from agents_manager.flow import prompts, tasks, views
from agents_manager.flow.patience import through
from agents_manager.flow.ports import Tx
from agents_manager.flow.views import TaskView
from tests.staged_walk import SHORT, builder, plan

ANN = Actor(type=ActorType.USER, name="ann", via="cli", admin=True)
TITLE = "Add lines"
VISITS = 9
"""More runs than a case can cause; each writes lines that no other writes."""

MAX_CHOICES = 6
"""Whom a person keeps telling to try again has lost something."""

DAY_S, HOUR_S = 86_400, 3_600
REMINDED_S, DEFAULT_S, EXPIRED_S = DAY_S, DAY_S + HOUR_S, DAY_S + 2 * HOUR_S
"""When people are reminded of a question, its default is taken, or it expires."""

AT_ONCE = {"tries": 3, "delay": 50, "factor": 1}
CONFIG = {
    "checks": {
        "lines": {
            "command": "ls new_* || test ! -e more.txt ||"
            " { test -s work.txt && ! grep -qs broken state.txt; }"
        }
    },
    "retries": {"crash": AT_ONCE, "interrupted": AT_ONCE},
}
LINES = ("0.1", "0.2", "1.1", "1.2", "1.3")
"""What an undisturbed walk leaves in `work.txt`."""


@dataclass(frozen=True, kw_only=True)
class Walk:
    agent_s: float = 0.0
    """How long the first working agent takes."""
    crashes: bool = False
    """Whether there is a working agent before it that crashes and is tried again."""
    cancelled: bool = False
    """Whether the person cancels the task while its first agent is up."""
    timed: bool = False
    """Whether the person only lets time pass."""
    clones: bool = False
    """Whether agents work in clones."""
    beside: bool = False
    """Whether three builders work side by side, each until it has seen what the others did."""
    patience_s: float = 60.0


TO_THE_END = Walk()


def script(walk: Walk) -> Mapping[str, Any]:
    """Every turn appends a line of its own: an agent that is started twice tells on itself."""
    if walk.cancelled:
        return {"plan": [[{"say": "Up."}, {"hang": True}]]}
    if walk.beside:
        return _builders()
    if walk.timed:
        ask = {"question": "Which?", "suggested_answer": "This."}
        hasty = {"questions": [{"id": "q1", **ask, "default_after_s": DEFAULT_S}]}
        return {"implement": [[{"ask": hasty}], [{"ask": ask}]]}
    question = {"question": "Now?", "options": [{"label": "Yes", "recommended": True}]}
    first = [
        _line("0.1"),
        {"write": {"path": "more.txt", "text": "more\n"}},
        {"commit": "Work 0"},
        {"usage": {"input_tokens": 10, "output_tokens": 5, "cost_usd": 0.01}},
        {"sleep": walk.agent_s},
        _line("0.2"),
        {"outcome": "pr_ready"},
    ]
    rework = {
        "steps": [_line("1.1"), {"malformed": "<<<OUTCOME:pr_ready>>>"}],
        "repair": [
            _line("1.2"),
            _state("broken"),
            {"commit": "Work 1"},
            {"outcome": "pr_ready"},
        ],
        "fix": [[_line("1.3"), _state("mended"), {"outcome": "pr_ready"}]],
    }
    more = [
        [_line(f"{n}.1"), _state("mended"), {"commit": f"Work {n}"}, {"outcome": "pr_ready"}]
        for n in range(2, VISITS)
    ]
    crash = (
        [[_line("crash"), {"commit": "Work that crashed"}, {"crash": 3}]] if walk.crashes else []
    )
    scratch = {"write": {"path": "scratch.txt", "text": "not for keeping\n"}}
    plan = [scratch, {"say": "# Plan"}, {"outcome": "plan_complete"}]
    return {"plan": [[{"ask": question}], plan], "implement": [*crash, first, rework, *more]}


PARTS = ("new_a.txt", "new_b.txt", "new_c.txt")


def _builders() -> Mapping[str, Any]:
    meets = [{"meet": f"Change {file}"} for file in PARTS]
    built = [builder(n, f"F{2 - n % 2}", file) for n, file in enumerate(PARTS, 1)]
    planned = plan(*([file] for file in PARTS))
    return {
        "plan-agent": [planned],
        "build-agent": [[*steps[:-1], *meets, steps[-1]] for steps in built],
    }


def _line(text: str) -> dict[str, Any]:
    return {"modify": {"path": "work.txt", "append": f"{text}\n"}}


def _state(word: str) -> dict[str, Any]:
    """What the project's check looks at."""
    return {"write": {"path": "state.txt", "text": f"{word}\n"}}


def make_repo(path: Path) -> None:
    (path / ".agents-manager").mkdir(parents=True)
    (path / ".agents-manager" / "config.json").write_text(json.dumps(CONFIG))
    (path / "README.md").write_text("Hello\n")
    git(path, "init", "-q", "-b", "main")
    git(path, "add", "-A")
    git(path, "commit", "-q", "-m", "First")


def git(repo: Path, *args: str) -> str:
    done = subprocess.run(["git", "-C", repo, *args], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"git {' '.join(args)}: {done.stderr}"
    return done.stdout.removesuffix("\n")


class TurnedClock:
    """The clock on the wall, which the person turns on. It says the same to the next server."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def now(self) -> datetime:
        ahead = float(self._path.read_text()) if self._path.exists() else 0.0
        return datetime.now(UTC) + timedelta(seconds=ahead)

    async def turn(self, to: datetime) -> None:
        fresh = self._path.with_suffix(".new")
        fresh.write_text(str((to - datetime.now(UTC)).total_seconds()))
        fresh.replace(self._path)


async def go(program: Program, repo: Path, walk: Walk) -> TaskId:
    """Goes on from whatever is stored until nothing is left to do."""
    s = program.services
    changed = asyncio.Event()
    loop = asyncio.get_running_loop()

    def notice() -> None:
        loop.call_soon_threadsafe(changed.set)

    s.store.after_commit(notice)
    task = await through(lambda: _task(program, repo, walk))
    await _say_again(program, task)

    async def look() -> TaskView:
        return await through(lambda: s.store.read(lambda tx: views.task(tx, s, task.id, ANN)))

    view = await look()
    try:
        async with asyncio.timeout(walk.patience_s):
            while not await through(lambda v=view: _over(program, v)):
                acted = False
                with suppress(StoreUnavailable):  # A person looks again and repeats it.
                    acted = await _act(program, view, walk)
                if not acted:
                    await _changed(changed)
                view = await look()
    except TimeoutError:
        raise Stuck(await _told(program, view)) from None
    return task.id


class Stuck(Exception):
    """Nothing moves any more."""


async def _task(program: Program, repo: Path, walk: Walk) -> Task:
    s = program.services
    project = await s.store.read(lambda tx: tx.projects.by_path(str(repo)))
    if project is None:
        try:
            project = await tasks.add_project(s, repo, None, None)
        except GitError:  # A person reads that trying again may help.
            project = await tasks.add_project(s, repo, None, None)
    known = await s.store.read(
        lambda tx: tx.tasks.page(project=project.id, status=None, after=None, limit=2)
    )
    if known:
        return known[0]
    block = f"```agent-script\n{json.dumps(script(walk))}\n```"
    name = "simple" if walk.timed else "short" if walk.beside else "feature"
    if walk.beside:
        parsed, now = pipeline.parse(SHORT), s.clock.now()
        await s.store.write(lambda tx: tx.pipelines.save(parsed, SHORT, now))
    if walk.timed:
        await _let_questions_expire(program)
    new = tasks.NewTask(title=TITLE, description=block, pipeline=name)
    return await tasks.create(s, project, new, ANN)


async def _let_questions_expire(program: Program) -> None:
    simple, now = program.services.built_in["simple"], program.services.clock.now()
    document = json.loads(json.dumps(simple))
    for status in document["statuses"]:
        if status["id"] == "needs_info":
            status["prompt"]["expires_after"] = EXPIRED_S
    parsed = pipeline.parse(document)
    await program.services.store.write(lambda tx: tx.pipelines.save(parsed, document, now))


async def _say_again(program: Program, task: Task) -> None:
    """Somebody who was cut off cannot know whether the answer was taken, and repeats it."""
    s = program.services
    for prompt in await s.store.read(lambda tx: tx.prompts.of_task(task.id)):
        if prompt.status is PromptStatus.RESPONDED and prompt.responded_by == ANN.name:
            answer = _answer(await s.store.read(lambda tx, p=prompt: _before(tx, p)), prompt)
            again = await prompts.answer(s, prompt.id, answer, ANN, key=_key(prompt))
            assert again.repeated, f"the answer to {prompt.id} was taken twice"


async def _over(program: Program, view: TaskView) -> bool:
    if view.next_mover.kind != "finished" or view.run is not None:
        return False
    return not await program.services.store.read(lambda tx: tx.effects.open(view.task.id))


async def _act(program: Program, view: TaskView, walk: Walk) -> bool:
    """What a person does now, if it is up to a person."""
    s = program.services
    if view.prompts:
        prompt = view.prompts[0]
        if walk.timed and prompt.type is PromptType.INFO_REQUEST:
            return await _let_time_pass(program, prompt)
        before = await s.store.read(lambda tx: _before(tx, prompt))
        if sum(p.type is PromptType.CHOICE for p in before) > MAX_CHOICES:
            raise Stuck(await _told(program, view))
        _remove_named_lock(prompt)
        with suppress(PromptClosed):  # The task went on another way since the look.
            await prompts.answer(s, prompt.id, _answer(before, prompt), ANN, key=_key(prompt))
        return True
    if view.next_mover.kind == "person":
        await tasks.move(s, view.task.id, ANN)
        return True
    return walk.cancelled and await _cancel(program, view)


async def _cancel(program: Program, view: TaskView) -> bool:
    s = program.services
    up = any(file.stat().st_size for file in program.settings.home.glob("jobs/*/1/output"))
    effects = await s.store.read(lambda tx: tx.effects.open(view.task.id))
    if view.run is None or not up or any(e.kind == "stop_agent" for e in effects):
        return False
    with suppress(StaleTask):  # It was stopped and cancelled since the look.
        await tasks.move(s, view.task.id, ANN, to="cancelled", expect_version=view.task.version)
    return True


async def _let_time_pass(program: Program, prompt: Prompt) -> bool:
    """To a moment after the next thing that time does to a question, when all else is done."""
    s = program.services
    assert isinstance(s.clock, TurnedClock)
    ends = DEFAULT_S if prompt.default_at else EXPIRED_S
    due = prompt.created_at + timedelta(seconds=ends if prompt.reminders else REMINDED_S)
    if s.clock.now() >= due or await s.store.read(lambda tx: tx.effects.open(prompt.task_id)):
        return False
    await s.clock.turn(due + timedelta(seconds=1))
    return True


def _remove_named_lock(prompt: Prompt) -> None:
    """What git itself advises, where both git and the server died: nobody else can know that the
    lock is nobody's."""
    told = f"{prompt.note} {prompt.payload}"
    for lock in re.findall(r"Unable to create '(/[^']+\.lock)': File exists", told):
        Path(lock).unlink(missing_ok=True)


def _before(tx: Tx, prompt: Prompt) -> list[Prompt]:
    asked = tx.prompts.of_task(prompt.task_id)
    return asked[: [p.id for p in asked].index(prompt.id)]


def _answer(before: list[Prompt], prompt: Prompt) -> Mapping[str, Any]:
    match prompt.type:
        case PromptType.INFO_REQUEST:
            return recommended_answer(prompt.type, prompt.payload) or {}
        case PromptType.DOCUMENT_REVIEW:
            return {"decision": "approved"}
        case PromptType.REVIEW:
            sent_back = any(
                (p.response or {}).get("decision") == "changes_requested" for p in before
            )
            if sent_back:
                return {"decision": "approved"}
            comment = {"file": "work.txt", "line": 1, "severity": "must_fix", "comment": "More."}
            return {"decision": "changes_requested", "comments": [comment]}
        case PromptType.CHOICE if "in time" in prompt.payload["reason"]:
            return {"choice_id": "cancel"}
        case PromptType.CHOICE:
            again = [c["id"] for c in prompt.payload["choices"] if "again" in c["label"]]
            assert again, f"nothing can be tried again: {prompt.payload}"
            return {"choice_id": again[0]}
        case _:
            raise AssertionError(f"nobody told the person about {prompt.type}")


def _key(prompt: Prompt) -> str:
    return f"ann-{prompt.id}"


async def _changed(changed: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(0.2):
            await changed.wait()
    except TimeoutError:
        return
    changed.clear()


async def _told(program: Program, view: TaskView) -> str:
    read = program.services.store.read
    events = await read(lambda tx: tx.events.of_task(view.task.id, after_seq=0, limit=1000))
    effects = await read(lambda tx: tx.effects.open(view.task.id))
    lines = [f"{e.seq} {e.summary}" for e in events]
    lines += [f"open: {e.kind} {e.status}, attempt {e.attempt}, {e.error}" for e in effects]
    return "\n".join([f"stuck in {view.task.status}: {view.next_mover.text}", *lines])
