"""The program that runs in the agent's process: it starts an agent that speaks the Agent Client
Protocol, holds one conversation with it and prints that as our message stream. Only here and in
what it imports is the protocol's library known, so nobody else waits for it."""

import asyncio
import json
import logging
import os
import signal
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import Coroutine, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, TypeVar, cast

from acp import RequestError, text_block
from acp.client.connection import ClientSideConnection
from acp.schema import (
    AllowedOutcome,
    ClientCapabilities,
    DeniedOutcome,
    FileEditToolCallContent,
    FileSystemCapabilities,
    Implementation,
    InitializeResponse,
    LoadSessionResponse,
    NewSessionResponse,
    PermissionOption,
    PromptResponse,
    ReadTextFileResponse,
    RequestPermissionResponse,
    ResumeSessionResponse,
    SessionConfigOptionSelect,
    ToolCallProgress,
    ToolCallStart,
    ToolCallUpdate,
    WriteTextFileResponse,
)
from pydantic import ValidationError

from agents_manager.agents import (
    acp_files,
    acp_gate,
    acp_lines,
    acp_servers,
    acp_wire,
    lines,
    resets,
    troubles,
)
from agents_manager.agents.acp_gate import Policy, Rules, Ruling, Wish
from agents_manager.agents.acp_lines import Listener
from agents_manager.agents.acp_profiles import Counts
from agents_manager.agents.acp_wire import Fault, Wire
from agents_manager.agents.lines import Line
from agents_manager.domain import permission

VERSION = 1
SERVER = "agents-manager"
CANCEL_S = 3.0
"""How long an agent may take to end a turn that was cancelled."""
DRAIN_S = 1.0
"""How long the last words of an agent that has ended are awaited."""
POLL_S = 0.2
ALIVE_S = 1.0
"""How often something heard that makes no line is shown as a sign of life."""
SKILLS = "skills"
"""Beside the folders of a run's turns: the skills of its repository."""
MAX_NOTES = 50
MAX_CALLS = 200
T = TypeVar("T")
Begun: TypeAlias = NewSessionResponse | LoadSessionResponse | ResumeSessionResponse


class Stopped(Exception):
    """The run is to end, by order."""


class Driver:
    """One conversation. To the library it is the client, whose methods the agent calls."""

    _process: Process
    _wire: Wire
    _agent: ClientSideConnection

    def __init__(self, file: Path, output: BinaryIO) -> None:
        self._output = output
        self._job: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        self._folder = file.parent
        self._skills = file.parent.parent / SKILLS
        self._rules = Rules(
            workspace=Path(self._job["workspace"]),
            mode=self._job["mode"],
            read_only=self._job["read_only"],
            policy=Policy(self._job["permissions"]),
        )
        self._listener = Listener(Counts(self._job["counts"]))
        self._complaints: deque[str] = deque(maxlen=10)
        self._stop = asyncio.Event()
        self._broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Set to the fault that was found while something else was awaited."""
        self._session: str | None = None
        self._stop_reason = ""
        self._calls: dict[str, Wish] = {}
        """What it said of its calls of tools, which it need not say again when it asks."""
        self._wished = 0
        self._asked = 0
        self._notes = 0
        self._shown = time.monotonic()

    async def run(self) -> int:
        """The exit code: 0 when the conversation came to its end."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop)
        try:
            self._process = await self._start()
            self._wire = Wire(self._process, self._note)
            self._agent = ClientSideConnection(cast("Any", self), self._wire)
            errors = loop.create_task(self._forward())
            try:
                self._listener.fresh, prompt = await self._open()
                await self._talk(prompt)
                ending = self._ended()
            finally:
                await self._end()
                await asyncio.wait([errors], timeout=DRAIN_S)
                errors.cancel()
        except Stopped:
            ending = self._error("The agent was stopped.", "cancelled")
        except Fault as fault:
            ending = self._error(str(fault), fault.error_class)
        self._say_all(self._listener.flush())
        if used := self._listener.usage():
            self._say(used)
        self._say(ending)
        return 1 if "error" in ending else 0

    def stop(self) -> None:
        """Ends the turn in order; a deaf agent is killed."""
        self._stop.set()

    # ------------------------------------------------------------------------- the conversation

    async def _start(self) -> Process:
        try:
            return await asyncio.create_subprocess_exec(
                *self._job["argv"],
                cwd=self._rules.workspace,
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                limit=acp_wire.MAX_FRAME,
                # What asks this process politely to end must not end the agent first.
                start_new_session=True,
            )
        except OSError as error:
            program = self._job["argv"][0]
            raise Fault(
                f"{program} could not be started: {error.strerror}.", "environment"
            ) from None

    async def _open(self) -> tuple[bool, str]:
        """Whether the session is a new one, and the prompt for it."""
        limit = self._job["start_s"]
        try:
            async with asyncio.timeout(limit):
                return await self._begin()
        except TimeoutError:
            raise Fault(
                f"The agent did not begin a session within {limit:g} seconds.", "stalled"
            ) from None

    async def _begin(self) -> tuple[bool, str]:
        serves = bool(self._job["files"])
        greeting = self._agent.initialize(
            protocol_version=VERSION,
            client_capabilities=ClientCapabilities(
                fs=FileSystemCapabilities(read_text_file=serves, write_text_file=serves)
            ),
            client_info=Implementation(name=SERVER, version=self._job["version"]),
        )
        able: InitializeResponse = await self._answer(greeting)
        if able.protocol_version != VERSION:
            raise Fault(
                f"The agent speaks version {able.protocol_version} of the protocol, and only"
                f" {VERSION} is known here.",
                "environment",
            )
        servers = self._servers(able)
        old: str | None = self._job["resume"]
        if old and await self._go_on(able, old, servers):
            return False, self._job["prompt"]
        cwd = str(self._rules.workspace)
        meta = self._job["session_meta"]
        new = await self._answer(self._agent.new_session(cwd=cwd, mcp_servers=servers, **meta))
        self._session = new.session_id
        await self._settle(new)
        return True, self._job["fresh_prompt"] if old else self._job["prompt"]

    def _servers(self, able: InitializeResponse) -> list[Any]:
        """The tool by which it can report and the configured servers, as far as it takes them."""
        report: Mapping[str, str] | None = self._job["report"]
        taken = acp_servers.types_taken(able)
        servers: list[Any] = []
        if report is not None and "http" in taken:
            headers = {"Authorization": f"Bearer {report['token']}"}
            entry = {"type": "http", "url": report["url"], "headers": headers}
            servers.append(acp_servers.session_server(SERVER, entry))
        for name, entry in self._job["servers"].items():
            if entry["type"] in taken:
                servers.append(acp_servers.session_server(name, entry))
            else:
                kind = entry["type"]
                self._note(
                    f'The agent takes no MCP server of the type {kind}: "{name}" is left out.'
                )
        return servers

    async def _go_on(self, able: InitializeResponse, old: str, servers: list[Any]) -> bool:
        """Whether the old session could be taken up."""
        known = able.agent_capabilities
        cwd, found, meta = str(self._rules.workspace), None, self._job["session_meta"]
        self._listener.muted = True
        try:
            if known and known.session_capabilities and known.session_capabilities.resume:
                way = self._agent.resume_session(
                    session_id=old, cwd=cwd, mcp_servers=servers, **meta
                )
                found = await self._answer(way, plain=True)
            elif known and known.load_session:
                way = self._agent.load_session(session_id=old, cwd=cwd, mcp_servers=servers, **meta)
                found = await self._answer(way, plain=True)
        except RequestError:
            found = None
        finally:
            self._listener.muted = False
        if found is None:
            self._say(lines.SESSION_LOST)
            return False
        self._session = old
        await self._settle(found)
        return True

    async def _settle(self, given: Begun) -> None:
        """Puts the session into its mode and gives it its model."""
        assert self._session is not None
        mode: str | None = self._job["session_mode"]
        if given.modes and mode and mode != given.modes.current_mode_id:
            way = self._agent.set_session_mode(session_id=self._session, mode_id=mode)
            await self._answer(way)
        elif mode and not given.modes:
            await self._choose(given, "mode", mode)
        if model := self._job["session_model"]:
            await self._choose(given, "model", model)

    async def _choose(self, given: Begun, category: str, value: str) -> None:
        assert self._session is not None
        options = [o for o in given.config_options or [] if o.category == category]
        found = next((o for o in options if isinstance(o, SessionConfigOptionSelect)), None)
        if found is None:
            raise Fault(f"The agent's sessions have no {category} to choose.", "environment")
        if found.current_value == value:
            return
        way = self._agent.set_config_option(
            config_id=found.id, session_id=self._session, value=value
        )
        try:
            await self._answer(way, plain=True)
        except RequestError as error:
            raise Fault(
                f'The agent does not take the {category} "{value}": {error}.', "environment"
            ) from None

    async def _talk(self, prompt: str) -> None:
        assert self._session is not None
        self._say(lines.session(self._session))
        turn = self._agent.prompt(session_id=self._session, prompt=[text_block(prompt)])
        asked = asyncio.get_running_loop().create_task(turn)
        try:
            self._stop_reason = (await self._answer(_of(asked))).stop_reason
        except Stopped:
            with suppress(ConnectionError, RequestError, ValidationError, TimeoutError):
                async with asyncio.timeout(CANCEL_S):
                    await self._agent.cancel(session_id=self._session)
                    await asked
            raise
        finally:
            asked.cancel()
            self._listener.answered = self._wire.answer

    async def _answer(self, request: Coroutine[Any, Any, T], *, plain: bool = False) -> T:
        """What the agent answers; Fault when it cannot, Stopped when it is not waited for. With
        `plain` an error of the agent's is raised as it is."""
        loop = asyncio.get_running_loop()
        asked = loop.create_task(request)
        stopped = loop.create_task(self._stop.wait())
        gone = loop.create_task(self._process.wait())
        try:
            watched = {asked, stopped, gone, self._broken}
            await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
            if gone.done() and not asked.done():
                await asyncio.wait([asked], timeout=DRAIN_S)
            if self._broken.done():
                self._broken.result()
            if stopped.done():
                raise Stopped
            if not asked.done():
                raise self._gone()
            return asked.result()
        except ConnectionError:
            await asyncio.wait([gone], timeout=DRAIN_S)
            raise self._wire.fault or self._gone() from None
        except ValidationError as error:
            raise Fault(
                f"The agent's answer does not fit the protocol: {_first(error)}", "bad_output"
            ) from None
        except RequestError as error:
            if plain:
                raise
            raise acp_lines.fault_of(error) from None
        finally:
            for task in (asked, stopped, gone):
                task.cancel()

    def _gone(self) -> Fault:
        code = self._process.returncode
        how = "closed its output" if code is None else f"ended with code {code}"
        why = "\n".join([f"The agent {how} in the middle of its work.", *self._complaints])
        return Fault(why, "crash")

    def _ended(self) -> Line:
        self._say_all(self._listener.flush())
        words, reason = self._listener.final, self._stop_reason
        failure: str | None = self._job["failure"]
        if failure and words.startswith(failure):
            why = words.removeprefix(failure).strip()
            return self._error(why, troubles.classified(why))
        stops = {**acp_lines.STOPS, **self._job["stops"]}
        if reason in stops:
            return self._error(*stops[reason])
        clear = self._job["ends_clearly"]
        return {"type": "result", "text": words, "session": self._session, "ends_clearly": clear}

    def _error(self, why: str, error_class: str) -> Line:
        way_out = f" {self._job['log_in']}" if error_class == "auth" else ""
        line = {
            "type": "result",
            "error": f"{why}{way_out}",
            "error_class": error_class,
            "session": self._session,
        }
        at = resets.said(why, datetime.now(UTC))
        return {**line, "resets_at": at.isoformat()} if at else line

    async def _end(self) -> None:
        """Once nobody talks to them most agents end by themselves; the others with their group."""
        await self._agent.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_S):
                await self._process.wait()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()

    # ------------------------------------------------------------------ what the agent asks of us

    async def session_update(self, session_id: str, update: object, **_: Any) -> None:
        if isinstance(update, ToolCallStart | ToolCallProgress):
            self._remember(update)
        self._say_all(self._listener.lines(update))
        self._show_life()

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **_: Any
    ) -> RequestPermissionResponse:
        self._say_all(self._listener.flush())
        self._listener.remember(tool_call)
        allowed = await self._permitted(self._remember(tool_call))
        wanted = "allow_once" if allowed else "reject_once"
        option = next((o for o in options if o.kind == wanted), None)
        if option is None or self._stop.is_set():
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        outcome = AllowedOutcome(outcome="selected", option_id=option.option_id)
        return RequestPermissionResponse(outcome=outcome)

    async def read_text_file(
        self,
        session_id: str,
        path: str,
        line: int | None = None,
        limit: int | None = None,
        **_: Any,
    ) -> ReadTextFileResponse:
        self._check_served()
        content = acp_files.read(path, self._rules.workspace, line, limit, self._skills)
        return ReadTextFileResponse(content=content)

    async def write_text_file(
        self, session_id: str, path: str, content: str, **_: Any
    ) -> WriteTextFileResponse:
        self._check_served()
        place = str(self._rules.workspace / path)
        if not await self._permitted(Wish(kind="edit", title=f"Write {path}", paths=[place])):
            raise RequestError(-32602, f"{path} may not be written in this run.")
        acp_files.write(place, content)
        return WriteTextFileResponse()

    async def create_terminal(self, **_: Any) -> None:
        raise RequestError.method_not_found("terminal/create")

    def _remember(self, call: ToolCallStart | ToolCallUpdate) -> Wish:
        """All that is known of a call by now."""
        before = self._calls.pop(call.tool_call_id, Wish(kind="other", title=""))
        self._calls[call.tool_call_id] = wish = _wish(call, before)
        while len(self._calls) > MAX_CALLS:
            del self._calls[next(iter(self._calls))]
        return wish

    def _check_served(self) -> None:
        if not self._job["files"]:
            raise RequestError.method_not_found("fs")

    async def _permitted(self, wish: Wish) -> bool:
        self._wished += 1
        most = self._job["max_permissions"]
        if self._wished > most:
            self._break(Fault(f"The agent asked for permission more than {most} times.", "budget"))
            return False
        ruling, why = acp_gate.rule(wish, self._rules)
        if ruling is Ruling.ASKED:
            self._say({"type": "output", "text": f"A person is asked: {wish.title}. {why}"})
            allowed = await self._ask(wish, why)
            why = "A person did not allow it."
        else:
            allowed = ruling is Ruling.ALLOWED
        if not allowed:
            self._say(lines.refused(wish.title, why))
        return allowed

    async def _ask(self, wish: Wish, why: str) -> bool:
        """Waits for a person, as long as the run may take."""
        self._asked += 1
        most = permission.MAX_TEXT
        wanted = permission.Request(tool=wish.kind, action=wish.title[:most], reason=why[:most])
        request = self._folder / permission.request_file(self._asked)
        answer = self._folder / permission.answer_file(self._asked)
        request.parent.mkdir(exist_ok=True)
        new = request.with_suffix(".new")
        new.write_text(wanted.model_dump_json(), encoding="utf-8")
        new.replace(request)
        while not self._stop.is_set():
            if answer.exists():
                return permission.Answer.model_validate_json(answer.read_text()).allow
            self._show_life()
            await asyncio.sleep(POLL_S)
        return False

    def _break(self, fault: Fault) -> None:
        if not self._broken.done():
            self._broken.set_exception(fault)

    # -------------------------------------------------------------------------------- what is told

    async def _forward(self) -> None:
        assert self._process.stderr is not None
        with suppress(ValueError):  # A line that is too long is no complaint.
            while line := await self._process.stderr.readline():
                sys.stderr.buffer.write(line)
                sys.stderr.buffer.flush()
                self._complaints.append(line.decode(errors="replace").strip()[:500])

    def _note(self, text: str) -> None:
        """Something that was not expected; a flood of it is not told."""
        self._notes += 1
        if self._notes <= MAX_NOTES:
            self._say({"type": "output", "text": text})

    def unhandled(self, record: logging.LogRecord) -> None:
        """What the library could not deal with, in a sentence."""
        error = record.exc_info[1] if record.exc_info else None
        about = _first(error) if isinstance(error, ValidationError) else str(error or "")
        self._note(f"A message of the agent's could not be read: {record.getMessage()} {about}")

    def _show_life(self) -> None:
        """An empty line, where something goes on that makes no line of its own."""
        if time.monotonic() >= self._shown + ALIVE_S:
            self._write(b"\n")

    def _say_all(self, found: Iterable[Line]) -> None:
        for line in found:
            self._say(line)

    def _say(self, line: Line) -> None:
        self._write(lines.encoded(line))

    def _write(self, data: bytes) -> None:
        self._shown = time.monotonic()
        self._output.write(data)
        self._output.flush()


async def _of(task: "asyncio.Task[PromptResponse]") -> PromptResponse:
    """Its result; the task goes on when nobody waits for it any more."""
    return await asyncio.shield(task)


def _wish(call: ToolCallStart | ToolCallUpdate, before: Wish) -> Wish:
    edits = [c.path for c in call.content or [] if isinstance(c, FileEditToolCallContent)]
    places = [place.path for place in call.locations or []]
    title = (call.title or "").strip() or before.title or "a tool"
    given: Any = call.raw_input
    command = cast("dict[str, Any]", given).get("command") if isinstance(given, dict) else None
    if isinstance(command, str) and command not in title:
        title = f"{title}: {command}"
    return Wish(kind=call.kind or before.kind, title=title, paths=[*edits, *places] or before.paths)


def _first(error: ValidationError) -> str:
    """The first of its complaints, without what was sent."""
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}."


class OneLine(logging.Handler):
    """No stack traces of the library: what an agent sends is not our fault."""

    def __init__(self, driver: Driver) -> None:
        super().__init__()
        self._driver = driver

    def emit(self, record: logging.LogRecord) -> None:
        self._driver.unhandled(record)


async def main(file: Path) -> int:
    driver = Driver(file, sys.stdout.buffer)
    logging.basicConfig(handlers=[OneLine(driver)], level=logging.WARNING, force=True)
    return await driver.run()


if __name__ == "__main__":
    sys.exit(asyncio.run(main(Path(sys.argv[1]))))
