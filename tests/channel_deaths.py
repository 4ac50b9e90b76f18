"""A postman who is killed: one life of a program that brings a question and takes it back, with a
platform that is a file. `python -m tests.channel_deaths HOME REPO DATABASE POINT`."""

import asyncio
import json
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents_manager.domain.card import Card
from agents_manager.domain.prompt import Prompt
from agents_manager.flow import prompts
from agents_manager.flow.ports import Tx
from agents_manager.store.tx import Database
from tests.asking import Clock
from tests.channel_players import ANN, MemoryChannel
from tests.channel_scene import Exchange, exchange
from tests.worlds import ANN as ANN_ACTOR

QUESTION = {"questions": [{"id": "q1", "question": "Which?", "options": ["Red", "Blue"]}]}
ANSWER = {"answers": [{"question_id": "q1", "option": "Red"}]}


class Deaths:
    """Counts what is passed, and kills this process at the point it was told."""

    def __init__(self, point: int) -> None:
        self.point = point
        self.passed: list[str] = []

    def reach(self, label: str) -> None:
        self.passed.append(label)
        if len(self.passed) == self.point:
            os.kill(os.getpid(), signal.SIGKILL)


@dataclass
class FileChannel(MemoryChannel):
    """What it was told stays told, whoever dies."""

    path: Path = Path()
    deaths: Deaths | None = None

    async def send(self, place: str, card: Card) -> str:
        self._die("before sending")
        message = str(len(self._lines()) + 1)
        self._write({"message": message, "repeat": card.repeat, "buttons": len(card.buttons)})
        self._die("after sending")
        return message

    async def update(self, place: str, message: str, card: Card) -> None:
        self._die("before taking back")
        self._write({"update": message, "buttons": len(card.buttons)})
        self._die("after taking back")

    def _lines(self) -> list[str]:
        return self.path.read_text().splitlines() if self.path.exists() else []

    def _write(self, told: dict[str, Any]) -> None:
        with self.path.open("a") as file:
            file.write(json.dumps(told) + "\n")

    def _die(self, label: str) -> None:
        if self.deaths is not None:
            self.deaths.reach(label)


async def live(home: Path, repo: Path, database: str, point: int) -> list[str]:
    deaths = Deaths(point)
    channel = FileChannel(name="telegram", to=(ANN,), path=home.parent / "told", deaths=deaths)
    async with exchange(home, repo, database, clock=Clock(), channels=[channel]) as scene:
        _count_commits(deaths)
        await scene.postmen["telegram"].recover()
        await _walk(scene)
    return deaths.passed


async def _walk(scene: Exchange) -> None:
    """Goes on where an earlier life ended."""
    asked = await scene.s.store.read(_asked)
    prompt = asked[0] if asked else await scene.asking(payload=QUESTION)
    await scene.carry()
    if prompt.response is None:
        await prompts.answer(scene.s, prompt.id, ANSWER, ANN_ACTOR, key="once")
    await scene.carry()


def _asked(tx: Tx) -> list[Prompt]:
    tasks = tx.tasks.page(project=None, status=None, after=None, limit=10)
    return [prompt for task in tasks for prompt in tx.prompts.of_task(task.id)]


def _count_commits(deaths: Deaths) -> None:
    write = Database._write

    def counted(self: Database, fn: Any) -> Any:
        deaths.reach("before a commit")
        result = write(self, fn)
        deaths.reach("after a commit")
        return result

    Database._write = counted


if __name__ == "__main__":
    home, repo, database, point = sys.argv[1:]
    passed = asyncio.run(live(Path(home), Path(repo), database, int(point)))
    sys.stdout.write(json.dumps(passed))
