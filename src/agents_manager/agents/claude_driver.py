"""The program that runs in the agent's process: it holds one conversation with Claude Code and
prints it as our message stream. Only here is the SDK imported, so nobody else waits for it."""

import asyncio
import json
import os
import signal
import sys
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ClaudeSDKError,
    CLINotFoundError,
    HookContext,
    HookInput,
    HookJSONOutput,
    HookMatcher,
)

from agents_manager.agents import claude_gate, claude_lines, lines
from agents_manager.agents.claude_lines import Listener, Trouble
from agents_manager.agents.lines import Line

MCP = "mcp.json"
TOTALS = "totals.json"
MAX_MESSAGE = 64 * 1024 * 1024
"""What the SDK takes as one message; files that are read and pictures come whole."""


class Driver:
    def __init__(self, file: Path) -> None:
        self._job: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        self._mcp = file.with_name(MCP)
        self._workspace = Path(self._job["workspace"])
        ours = claude_gate.OURS.removesuffix("__")
        self._servers = [ours, *(f"mcp__{name}" for name in self._job["servers"])]
        """How Claude Code calls the servers all of whose tools may be used."""
        self._complaints: deque[str] = deque(maxlen=20)
        self._stop = asyncio.Event()

    async def run(self) -> int:
        """The exit code: 0 when the conversation came to its end."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop.set)
        session: str | None = self._job["resume"]
        listener, trouble = await self._talk(self._job["prompt"], session)
        if session and not listener.heard and not self._stop.is_set():
            self._say(lines.SESSION_LOST)
            listener, trouble = await self._talk(self._job["fresh_prompt"], None)
        self._tell_usage(listener)
        ending = listener.ending(stopped=self._stop.is_set(), trouble=trouble)
        self._say(ending)
        return 1 if "error" in ending else 0

    async def _talk(self, prompt: str, session: str | None) -> tuple[Listener, Trouble | None]:
        """What was heard, and the trouble there was with the program itself."""
        listener = Listener()
        trouble: Trouble | None = None
        client = ClaudeSDKClient(self._options(session))
        try:
            async with asyncio.TaskGroup() as group:
                await client.connect()
                if self._stop.is_set():
                    return listener, trouble
                stopper = group.create_task(self._interrupt(client))
                try:
                    await client.query(prompt)
                    async for message in client.receive_response():
                        for line in listener.lines(message):
                            self._say(line)
                finally:
                    stopper.cancel()
        except* CLINotFoundError as errors:
            trouble = (str(errors.exceptions[0]), "environment")
        except* ClaudeSDKError as errors:
            trouble = ("\n".join([*map(str, errors.exceptions), *self._complaints]), "crash")
        finally:
            await client.disconnect()
        return listener, trouble

    async def _interrupt(self, client: ClaudeSDKClient) -> None:
        """Claude Code then ends its turn with a result; a deaf one is killed by the runner."""
        await self._stop.wait()
        with suppress(ClaudeSDKError):
            await client.interrupt()

    def _options(self, session: str | None) -> ClaudeAgentOptions:
        append: str | None = self._job["system_prompt"]
        schema: dict[str, Any] | None = self._job["schema"]
        asks = self._job["permissions"] != claude_gate.REFUSE
        return ClaudeAgentOptions(
            cli_path=self._job["program"],
            cwd=self._workspace,
            model=self._job["model"],
            max_turns=self._job["max_turns"],
            resume=session,
            system_prompt={"type": "preset", "preset": "claude_code", "append": append or ""},
            # The repository may bring hooks, servers and skills of its own: none is loaded, and
            # nothing in the prompt is taken as a command or the name of a file to read.
            setting_sources=[],
            strict_mcp_config=True,
            skills=[],
            verbatim_prompts=True,
            # A file and no argument: arguments can be read by every user of the machine.
            mcp_servers=self._mcp if self._mcp.exists() else {},
            permission_mode="default" if asks else "dontAsk",
            permission_prompt_tool_name=claude_gate.PERMISSION if asks else None,
            output_format={"type": "json_schema", "schema": schema} if schema else None,
            tools=self._job["tools"],
            allowed_tools=[*self._job["allowed"], *self._servers],
            hooks={"PreToolUse": [HookMatcher(hooks=[self._gate], on_failure="block")]},
            stderr=self._complain,
            max_buffer_size=MAX_MESSAGE,
        )

    async def _gate(
        self, asked: HookInput, _id: str | None, _context: HookContext
    ) -> HookJSONOutput:
        if asked["hook_event_name"] != "PreToolUse":
            return {}
        tool, given = asked["tool_name"], asked["tool_input"]
        tools: list[str] = self._job["tools"]
        why = claude_gate.refusal(tool, given, self._workspace, tools, self._servers)
        decides = claude_gate.asked(tool, given, why, tools, self._job["permissions"])
        if decides is None and why is None:
            return {}
        if decides is None and why is not None:
            self._say(lines.refused(tool, why))
        return {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny" if decides is None else "ask",
                "permissionDecisionReason": decides or why or "",
            }
        }

    def _tell_usage(self, listener: Listener) -> None:
        """After a resume Claude Code reports the totals of the session, so they are kept."""
        result = listener.result
        if result is None or not result.model_usage:
            return
        file = Path(self._job["home"]) / TOTALS
        known = _totals(file)
        self._say(claude_lines.usage(result.model_usage, known.get(result.session_id, {})))
        new = file.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps({**known, result.session_id: result.model_usage}))
        new.replace(file)

    def _complain(self, text: str) -> None:
        self._complaints.append(text)
        sys.stderr.write(f"{text}\n")

    def _say(self, line: Line) -> None:
        sys.stdout.buffer.write(lines.encoded(line))
        sys.stdout.buffer.flush()


def _totals(file: Path) -> dict[str, Any]:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}


def main(file: str) -> int:
    return asyncio.run(Driver(Path(file)).run())
