"""A program that speaks the Agent Client Protocol and plays a script, good or bad. It is started as
a file without site-packages and knows the protocol by heart, not by the library under test.

The script is a JSON file: `steps` are played at each prompt, `before` at `initialize` before its
answer, `able` are the capabilities, `session` is what `session/new` answers beside the id."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

OPTIONS = [
    {"optionId": "yes!", "name": "Always", "kind": "allow_always"},
    {"optionId": "yes", "name": "Once", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


class Cancelled(Exception):
    """The client took the prompt back."""


class Agent:
    def __init__(self, script: dict[str, Any]) -> None:
        self._script = script
        self._session = "session-1"
        self._prompt: Any = None
        self._number = 1000
        self._messages = 0
        self._said: list[str] = []
        self._usage: dict[str, Any] = {}
        self._cost: float | None = None
        self._input = b""

    def serve(self) -> None:
        while message := self.receive(None):
            self.handle(message)

    def handle(self, message: dict[str, Any]) -> None:
        method, params = message.get("method"), message.get("params", {})
        match method:
            case "initialize":
                self.play(self._script.get("before", []))
                result = {"protocolVersion": 1, "agentCapabilities": self._script.get("able", {})}
                self.reply(message, {**result, **self._script.get("introduction", {})})
            case "session/new":
                self.reply(message, {"sessionId": self._session, **self._script.get("session", {})})
            case "session/load":
                self._session = params["sessionId"]
                self.update("agent_message_chunk", content=text("Said long ago."))
                self.reply(message, {})
            case "session/prompt":
                self.prompt(message, params)
            case "session/set_mode" | "session/set_config_option":
                self.note("set", params)
                self.reply(message, {"configOptions": []})
            case "session/cancel":
                raise Cancelled
            case _:
                fault = {"code": -32601, "message": f"Method not found: {method}"}
                emit({"jsonrpc": "2.0", "id": message.get("id"), "error": fault})

    def prompt(self, message: dict[str, Any], params: Any) -> None:
        self.note("prompt", params["prompt"][0]["text"])
        self._prompt = message
        try:
            self.play(self._script.get("steps", []))
            if self._prompt is not None:
                self.finish("end_turn")
        except Cancelled:
            self.finish("cancelled")

    def finish(self, reason: str) -> None:
        message, self._prompt = self._prompt, None
        if self._cost is not None:
            cost = {"amount": self._cost, "currency": "USD"}
            self.update("usage_update", used=1, size=10, cost=cost)
        result: dict[str, Any] = {"stopReason": reason}
        match self._script.get("counts", "answer"):
            case "answer" if self._usage:
                result["usage"] = self._usage
            case "quota":
                result["_meta"] = {"quota": {"token_count": self._usage}}
            case "pieces":
                meta = {"usage": self._usage}
                self.update("agent_message_chunk", content=text(""), _meta=meta)
        self.reply(message, result)

    # ------------------------------------------------------------------------------- the steps

    def play(self, steps: list[Any]) -> None:
        for step in steps:
            for name, given in step.items():
                getattr(self, f"do_{name}")(given)

    def do_say(self, words: str) -> None:
        self._messages += 1
        self._said.append(words)
        self.chunk(words)
        self.update("usage_update", used=1, size=10)

    def do_outcome(self, step: dict[str, Any]) -> None:
        payload = "" if step.get("payload") is None else json.dumps(step["payload"])
        block = f"<<<OUTCOME:{step['name']}>>>\n{payload}\n<<<END_PAYLOAD>>>"
        self._messages += 1
        self.chunk("\n\n".join([*self._said, block]))

    def do_tool(self, step: dict[str, Any]) -> None:
        self.update(
            "tool_call", toolCallId="t", title=step["name"], kind="other", rawInput=step["input"]
        )

    def do_plan(self, entries: list[str]) -> None:
        shown = [{"content": e, "priority": "low", "status": "pending"} for e in entries]
        self.update("plan", entries=shown)

    def do_usage(self, step: dict[str, Any]) -> None:
        names = {"input_tokens": "inputTokens", "output_tokens": "outputTokens"}
        self._usage = {names[key]: value for key, value in step.items() if key in names}
        self._cost = step.get("cost_usd")

    def do_fail(self, step: dict[str, Any]) -> None:
        fault = {"code": step.get("code", -32603), "message": step["message"]}
        emit({"jsonrpc": "2.0", "id": self._prompt["id"], "error": fault})
        self._prompt = None

    def do_permission(self, wish: dict[str, Any]) -> None:
        """Asks, and does it if it may: writes the paths it named."""
        times = wish.pop("times", 1)
        for _ in range(times):
            answer = self.ask(
                "session/request_permission",
                {
                    "sessionId": self._session,
                    "toolCall": {
                        "toolCallId": "t",
                        "kind": wish.get("kind", "edit"),
                        "title": wish.get("title", "Change a file"),
                        "locations": [{"path": path} for path in wish.get("paths", [])],
                    },
                    "options": wish.get("options", OPTIONS),
                },
            )
            self.note("permission", answer)
            outcome = answer.get("result", {}).get("outcome", {})
            if outcome.get("optionId", "").startswith("yes"):
                for path in wish.get("paths", []):
                    Path(path).write_text("written\n")

    def do_write(self, step: dict[str, Any]) -> None:
        params = {"sessionId": self._session, "path": step["path"], "content": step["text"]}
        self.note("write", self.ask("fs/write_text_file", params))

    def do_read(self, step: dict[str, Any]) -> None:
        self.note("read", self.ask("fs/read_text_file", {"sessionId": self._session, **step}))

    def do_ask(self, step: dict[str, Any]) -> None:
        self.note(step["method"], self.ask(step["method"], step["params"]))

    def do_update(self, update: dict[str, Any]) -> None:
        self.update(**update)

    def do_run(self, command: str) -> None:
        done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
        self.note("run", f"{done.stdout}{done.stderr}")

    def do_raw(self, data: str) -> None:
        """Whatever it is, and as often as it says: a frame of an agent that lost its way."""
        sys.stdout.buffer.write(data.encode())
        sys.stdout.buffer.flush()

    def do_big(self, size: int) -> None:
        sys.stdout.buffer.write(b'{"jsonrpc": "2.0", "x": "' + b"x" * size + b'"}\n')
        sys.stdout.buffer.flush()

    def do_flood(self, step: dict[str, Any]) -> None:
        self._messages += 1
        self.chunk("x" * step["bytes"])

    def do_sleep(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            message = self.receive(left)
            if message is not None:
                self.handle(message)

    def do_deaf(self, seconds: float) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(seconds)

    def do_stop(self, reason: str) -> None:
        self.finish(reason)

    def do_stderr(self, words: str) -> None:
        sys.stderr.write(f"{words}\n")
        sys.stderr.flush()

    def do_exit(self, code: int) -> None:
        os._exit(code)

    def do_daemon(self, seconds: float) -> None:
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(seconds)
            os._exit(0)
        os.wait()

    # ------------------------------------------------------------------------------- the protocol

    def chunk(self, words: str) -> None:
        self.update("agent_message_chunk", messageId=str(self._messages), content=text(words))

    def update(self, sort: str, **fields: Any) -> None:
        update = {"sessionUpdate": sort, **fields}
        params = {"sessionId": self._session, "update": update}
        emit({"jsonrpc": "2.0", "method": "session/update", "params": params})

    def ask(self, method: str, params: Any) -> dict[str, Any]:
        self._number += 1
        emit({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        cancelled = False
        while True:
            message = self.receive(None)
            if message is None:
                sys.exit(0)
            if message.get("id") == self._number and "method" not in message:
                if cancelled:
                    raise Cancelled
                return message
            cancelled = cancelled or message.get("method") == "session/cancel"

    def reply(self, message: dict[str, Any], result: Any) -> None:
        emit({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def receive(self, patience: float | None) -> dict[str, Any] | None:
        """The next message; None at the end, or when there is none in time."""
        deadline = None if patience is None else time.monotonic() + patience
        while b"\n" not in self._input:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not select.select([0], [], [], left)[0]:
                return None
            data = os.read(0, 65536)
            if not data:
                return None if deadline is None else sys.exit(0)
            self._input += data
        line, _, self._input = self._input.partition(b"\n")
        return json.loads(line)

    def note(self, kind: str, what: Any) -> None:
        """What the client said, for the test to read."""
        if heard := self._script.get("heard"):
            with Path(heard).open("a") as file:
                file.write(json.dumps([kind, what]) + "\n")


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def emit(message: dict[str, Any]) -> None:
    sys.stdout.buffer.write(json.dumps(message).encode() + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    Agent(json.loads(Path(sys.argv[1]).read_text())).serve()
