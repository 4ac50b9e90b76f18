"""The protections, switched off one by one in the process that is going to die. Each must make the
harness find something: a test that cannot fail proves nothing."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from agents_manager.domain.ids import PromptId
from agents_manager.domain.prompt import Prompt, PromptStatus
from agents_manager.engine.runners import DetachedRunners
from agents_manager.flow import patience, supervisor
from agents_manager.flow.ports import Ended, Job
from agents_manager.scm import landing, locks, shared_merge
from agents_manager.store.effects import Effects
from agents_manager.store.prompts import Prompts
from agents_manager.store.tx import Database
from tests.faults.scenario import TO_THE_END, Walk


@dataclass(frozen=True, kw_only=True)
class Control:
    off: Callable[[], None]
    expected: str
    """What is found, as a regular expression."""
    server: str | None = None
    outage: bool = False
    """Whether the server lives, and its commit there is not answered."""
    git: bool = False
    """Whether the git that moves the base branch is killed."""
    walk: Walk = TO_THE_END


def merge_without_looking() -> None:
    """The forge merges whatever it is told, however often."""

    async def never(*_: object) -> bool:
        return False

    async def nothing(*_: object) -> None:
        return None

    shared_merge.contains = never
    landing.complete_unfinished = nothing


def start_without_adopting() -> None:
    """Every server starts an agent of its own, in a folder of its own."""
    start, wait = DetachedRunners.start_or_adopt, DetachedRunners.wait

    def mine(folder: Path) -> Path:
        return folder.with_name(f"{folder.name}-{os.getpid()}")

    async def start_new(self: DetachedRunners, job: Job) -> None:
        job.dir.mkdir(parents=True, exist_ok=True)
        for name, text in job.files.items():
            (job.dir / name).write_text(text)
        await start(self, replace(job, dir=mine(job.dir)))

    async def wait_for_mine(self: DetachedRunners, dir: Path) -> Ended:
        end = await wait(self, mine(dir))
        shutil.copytree(mine(dir), dir, dirs_exist_ok=True)
        return end

    DetachedRunners.start_or_adopt, DetachedRunners.wait = start_new, wait_for_mine


def remember_effects() -> None:
    """Effects are kept in memory, and stored after the transaction that asked for them."""
    add, write = Effects.add, Database._write
    remembered: list[Any] = []

    def remember(self: Effects, effect: Any) -> None:
        remembered.append(effect)

    def store_remembered(tx: Any) -> None:
        while remembered:
            add(tx.effects, remembered.pop(0))

    def write_then_store(self: Database, fn: Callable[[Any], Any]) -> Any:
        result = write(self, fn)
        if remembered and fn is not store_remembered:
            self._write(store_remembered)
        return result

    Effects.add, Database._write = remember, write_then_store
    supervisor.LOOKS = ()  # It would find what is lost.


def answer_without_comparing() -> None:
    """Every answer finds its prompt open."""
    find, close = Prompts.find, Prompts.close

    def as_open(self: Prompts, id_or_prefix: str) -> Prompt:
        return replace(find(self, id_or_prefix), status=PromptStatus.PENDING)

    def close_again(self: Prompts, prompt_id: PromptId, **fields: Any) -> bool:
        close(self, prompt_id, **fields)
        return True

    Prompts.find, Prompts.close = as_open, close_again


def leave_locks() -> None:
    """What a killed git left stays where it is."""

    async def nothing(*_: object) -> None:
        return None

    locks.drop_since, locks.drop_stale = lambda *_: None, nothing


def remember_times() -> None:
    """A server knows only the times of questions that were asked while it was up."""
    add, due = Prompts.add, Prompts.due
    remembered: set[PromptId] = set()

    def remember(self: Prompts, prompt: Prompt) -> None:
        add(self, prompt)
        remembered.add(prompt.id)

    def due_of_mine(self: Prompts, now: datetime) -> list[PromptId]:
        return [found for found in due(self, now) if found in remembered]

    Prompts.add, Prompts.due = remember, due_of_mine


def give_up_on_the_database() -> None:
    """What meets a database that is away fails."""

    async def at_once(do: Callable[[], Any]) -> Any:
        return await do()

    patience.through = at_once


CONTROLS = {
    "the look before the merge": Control(
        off=merge_without_looking,
        server="transaction local_forge.LocalForge.merge begins #1",
        expected="main has 2 merges",
    ),
    "adoption": Control(
        off=start_without_adopting,
        server="DetachedRunners.wait begins #3",
        walk=Walk(agent_s=1.5),
        expected='an agent was started while another one lived|"0.1" was written 2 times',
    ),
    "effects in the transaction": Control(
        off=remember_effects,
        server="transaction controls.remember_effects begins #1",
        walk=Walk(patience_s=4.0),
        expected="stuck in planning",
    ),
    "the first answer wins": Control(
        off=answer_without_comparing,
        server="transaction prompts.answer done #2",
        expected="was taken twice|TransitionRefused",
    ),
    "patience with the database": Control(
        off=give_up_on_the_database,
        server="transaction brief.brief done #1",
        outage=True,
        expected="the effect start_agent was tried again",
    ),
    "times in the rows": Control(
        off=remember_times,
        server="TurnedClock.turn done #2",
        walk=Walk(timed=True, patience_s=6.0),
        expected="stuck in needs_info",
    ),
    "clearing the locks of a killed git": Control(
        off=leave_locks,
        git=True,
        walk=Walk(patience_s=8.0),
        expected="stuck in|hook.failed",
    ),
}
