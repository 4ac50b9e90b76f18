"""Tasks of the real Codex, which asks a scripted model."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import codex_cli_bin

from agents_manager.domain.ids import RunId
from agents_manager.domain.run import Run
from agents_manager.domain.task import Task
from agents_manager.flow import tasks
from agents_manager.flow.views import TaskView
from agents_manager.testing.scripted_model import (
    CODEX_KEY,
    CODEX_MODEL,
    ModelServer,
    codex_settings,
)
from agents_manager.testing.scripted_model.steps import Step, When
from tests.worlds import ANN, World

CODEX = os.environ.get("AM_TEST_CODEX") or str(codex_cli_bin.bundled_codex_path())
"""The variable names the program of another release."""
SCENARIO = "x"
READY = {"text": "It says hello.", "outcome": "pr_ready", "payload": None}


@dataclass
class Desk:
    world: World
    model: ModelServer

    async def start(
        self, steps: Sequence[Step | When], *, pipeline: str = "simple", **settings: Any
    ) -> Task:
        """A task whose Codex gets these answers."""
        self.model.script(SCENARIO, steps)
        entry = {
            "command": [CODEX],
            "model": CODEX_MODEL,
            "env": [CODEX_KEY],
            "settings": codex_settings(self.model, SCENARIO),
            **settings,
        }
        self.world.configure({"defaultAgentType": "codex", "agents": {"codex": entry}})
        self.world.project = await tasks.trust_project(self.world.s, self.world.project)
        new = tasks.NewTask(title="Add greeting", pipeline=pipeline)
        task = await tasks.create(self.world.s, self.world.project, new, ANN)
        await tasks.move(self.world.s, task.id, ANN)
        return task

    async def ended(self, task: Task) -> TaskView:
        """The task once its first run is over and a person is asked."""
        return await self.world.wait(
            task, lambda v: bool(v.prompts) and v.run is None, "waiting for a person"
        )

    async def failed(self, task: Task) -> str:
        error = (await self.ended(task)).runs[-1].error
        assert error is not None
        return f"{error.error_class}: {error.error}"

    def results(self) -> str:
        """What commands printed, as the model was told."""
        last = self.model.requests(SCENARIO)[-1].body
        outputs = [i["output"] for i in last["input"] if i["type"] == "function_call_output"]
        return "\n".join(str(output) for output in outputs)

    def offered(self, name: str) -> list[dict[str, Any]]:
        """The tools of this name in the first request, wherever Codex puts them for the model."""
        body = self.model.requests(SCENARIO)[0].body
        added = [i["tools"] for i in body["input"] if i.get("type") == "additional_tools"]
        listed = [tool for tools in (body.get("tools", []), *added) for tool in tools]
        return [tool for tool in listed if tool.get("name") == name]

    async def one_run(self, task: Task) -> Run:
        view = await self.ended(task)
        assert len(view.runs) == 1
        return view.runs[0]

    async def hanging(self, task: Task) -> RunId:
        """The run that waits for its model."""
        await asyncio.to_thread(
            self.model.wait_for, SCENARIO, lambda seen: bool(seen) and seen[-1].state == "hanging"
        )
        live = (await self.world.view(task)).run
        assert live is not None
        return live.id
