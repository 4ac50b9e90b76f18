"""The line to an agent that speaks the Agent Client Protocol: one JSON message a line. A message
that cannot be read is a message lost, and nobody knows which: that ends the conversation. What is
no message at all is chatter, and only told."""

import asyncio
import json
from asyncio.subprocess import Process
from collections.abc import Callable
from typing import Any, cast

MAX_FRAME = 32 * 1024 * 1024
MAX_CHATTER = 200
"""How many lines that are no messages are borne with."""
SHOWN = 300


class Fault(Exception):
    """Why a conversation ended that did not come to its end, and the class of the error."""

    def __init__(self, why: str, error_class: str) -> None:
        super().__init__(why)
        self.error_class = error_class


class Wire:
    """What the protocol's library calls a transport. After the first fault nothing more comes."""

    def __init__(self, process: Process, chatter: Callable[[str], None]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._write, self._read = process.stdin, process.stdout
        self._chatter = chatter
        self._heard = 0
        self.fault: Fault | None = None
        self.answer: dict[str, Any] = {}
        """The last answer that came, as it was sent: the library leaves out what does not fit."""

    async def send(self, message: dict[str, Any]) -> None:
        self._write.write(json.dumps(message).encode() + b"\n")
        await self._write.drain()

    async def receive(self) -> dict[str, Any] | None:
        try:
            while line := await self._line():
                await asyncio.sleep(0)  # Others get their turn, however much is sent.
                if line.startswith(b"{"):
                    return self._message(line)
                self._bear(line)
        except Fault as fault:
            self.fault = fault
        except ConnectionError:
            pass
        return None

    async def close(self) -> None:
        self._write.close()

    async def _line(self) -> bytes:
        while True:
            try:
                line = await self._read.readuntil(b"\n")
            except asyncio.IncompleteReadError as end:
                line = end.partial
                if not line.strip():
                    return b""
            except asyncio.LimitOverrunError:
                size = MAX_FRAME // 1024 // 1024
                raise Fault(
                    f"The agent sent a message of more than {size} MB.", "bad_output"
                ) from None
            if stripped := line.strip():
                return stripped

    def _message(self, line: bytes) -> dict[str, Any]:
        try:
            message = cast("dict[str, Any]", json.loads(line))
        except (ValueError, RecursionError):
            raise Fault(f"The agent sent a broken message: {_shown(line)}", "bad_output") from None
        if not _is_rpc(message):
            raise Fault(
                f"The agent sent what is no message of the protocol: {_shown(line)}", "bad_output"
            )
        if "result" in message:
            result = message["result"]
            self.answer = cast("dict[str, Any]", result) if isinstance(result, dict) else {}
        return message

    def _bear(self, line: bytes) -> None:
        self._heard += 1
        if self._heard > MAX_CHATTER:
            raise Fault(
                f"The agent printed more than {MAX_CHATTER} lines that are no messages, such as:"
                f" {_shown(line)}",
                "bad_output",
            )
        self._chatter(_shown(line))


def _is_rpc(message: dict[str, Any]) -> bool:
    """Whether the library can deal with it; it trusts in more than an agent need keep."""
    if not isinstance(message.get("id", 0), str | int | None):
        return False
    if "method" in message:
        return isinstance(message["method"], str)
    if not isinstance(message.get("error"), dict | None):
        return False
    return "id" in message and ("result" in message or "error" in message)


def _shown(line: bytes) -> str:
    text = line.decode(errors="replace")
    return f"{text[:SHOWN]}… ({len(line)} bytes)" if len(text) > SHOWN else text
