"""`am mcp`, as a program that speaks MCP starts it."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.am_program import Am

CLIENT = {"name": "test", "version": "1"}
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT}


class Talk:
    def __init__(self, program: "subprocess.Popen[str]") -> None:
        self._program = program
        self._number = 0

    def ask(self, method: str, **params: Any) -> Any:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        assert self._program.stdout is not None
        answer = json.loads(self._program.stdout.readline())
        assert answer["id"] == self._number
        return answer["result"]

    def tell(self, method: str) -> None:
        self._send({"method": method})

    def tool(self, name: str, **arguments: Any) -> Any:
        said = self.ask("tools/call", name=name, arguments=arguments)
        assert not said["isError"], said
        return json.loads(said["content"][0]["text"])

    def _send(self, message: dict[str, Any]) -> None:
        assert self._program.stdin is not None
        self._program.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._program.stdin.flush()


@contextmanager
def talking(am: Am) -> Iterator[Talk]:
    with subprocess.Popen(
        [*am.program, "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=am.env,
        cwd=am.repo,
        text=True,
    ) as program:
        yield Talk(program)
        assert program.stdin is not None
        program.stdin.close()
        assert program.wait(30) == 0
        assert program.stdout is not None
        assert program.stdout.read() == "", "nothing but the protocol is printed"


@pytest.fixture
def am(tmp_path: Path) -> Am:
    am = Am(tmp_path)
    am.make_repo()
    am.text("project", "add", ".", "--name", "shop")
    return am


@pytest.mark.slow
def test_a_task_is_made_over_standard_input(am: Am) -> None:
    with talking(am) as talk:
        assert talk.ask("initialize", **HELLO)["serverInfo"]["name"] == "agents-manager"
        talk.tell("notifications/initialized")
        names = [tool["name"] for tool in talk.ask("tools/list")["tools"]]
        assert {"create_task", "answer_prompt", "search_knowledge"} <= set(names)
        (project,) = talk.tool("list_projects")
        made = talk.tool("create_task", project=project["id"], title="Add search")
    listed = am.json("task", "list")
    assert [one["task"]["id"] for one in listed] == [made["id"]]
