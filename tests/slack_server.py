"""A Slack for tests: its Web API over real HTTP and its Socket Mode over a real websocket, on
loopback. It knows nothing of the product. What it is sent is held to `slack_rules.py` and refused
as Slack refuses it; what Slack would let pass and no client should do is kept in `faults`."""

import asyncio
import hashlib
import hmac
import html
import json
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from aiohttp import WSMsgType, web

from tests import slack_rules

BOT_TOKEN = "xoxb-1234567890-fakeTokenForTests0123"
APP_TOKEN = "xapp-1-A0FAKE-1234567890-fakeTokenForTests"
SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
TEAM, APP, BOT, BOT_ID = "T0ACME", "A0FAKE", "U0BOT", "B0BOT"
GENERAL = "C0GENERAL"
WAIT_S = 3.0
"""As long as Slack waits to hear that something arrived."""


@dataclass
class Trouble:
    """What it answers instead."""

    status: int = 200
    error: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    methods: frozenset[str] = frozenset()
    """Of these alone; of all where none is named."""
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])
    raw: str | None = None

    def response(self) -> web.Response:
        if self.raw is not None:
            return web.Response(status=self.status, text=self.raw, headers=self.headers)
        body = {"ok": False, "error": self.error, **self.more}
        return web.json_response(body, status=self.status, headers=self.headers)


@dataclass
class Opened:
    """A form on somebody's screen."""

    id: str
    person: str
    view: dict[str, Any]
    open: bool = True


@dataclass
class Hook:
    """An address at which one act can be answered."""

    person: str
    channel: str
    message: str | None = None
    """The one that was acted on."""
    left: int = 5
    """How often Slack lets it be used."""


@dataclass
class FakeSlack:
    people: dict[str, str] = field(default_factory=lambda: {"U0ANN": "ann", "U0EVE": "eve"})
    channels: dict[str, set[str]] = field(
        default_factory=lambda: {GENERAL: {BOT, "U0ANN", "U0EVE"}, "C0OTHER": {"U0ANN"}}
    )
    scopes: set[str] = field(
        default_factory=lambda: {"chat:write", "im:write", "commands", "connections:write"}
    )
    trouble: Trouble | None = None
    triggers_expire: bool = False
    mute: str = ""
    """It does what it is asked to, and then does not say so, or hangs up."""
    messages: dict[tuple[str, str], dict[str, Any]] = field(
        default_factory=dict[tuple[str, str], dict[str, Any]]
    )
    whispers: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    responses: list[tuple[str, dict[str, Any]]] = field(
        default_factory=list[tuple[str, dict[str, Any]]]
    )
    """To commands and to presses on what only one person sees: to whom, and what."""
    ephemerals: dict[tuple[str, str], dict[str, Any]] = field(
        default_factory=dict[tuple[str, str], dict[str, Any]]
    )
    """What came of them and still stands."""
    forms: list[Opened] = field(default_factory=list[Opened])
    asked: list[str] = field(default_factory=list[str])
    faults: list[str] = field(default_factory=list[str])
    address: str = ""
    connections: int = 0
    """How often somebody connected."""
    _triggers: dict[str, str] = field(default_factory=dict[str, str])
    _hooks: dict[str, "Hook"] = field(default_factory=dict[str, "Hook"])
    _tickets: set[str] = field(default_factory=set[str])
    _sockets: list[web.WebSocketResponse] = field(default_factory=list[web.WebSocketResponse])
    _acks: dict[str, asyncio.Future[dict[str, Any]]] = field(
        default_factory=dict[str, "asyncio.Future[dict[str, Any]]"]
    )
    _numbers: "count[int]" = field(default_factory=lambda: count(1))
    _connected: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def base_url(self) -> str:
        return f"{self.address}/api/"

    # --------------------------------------------------------------------- what people do and see

    def direct(self, person: str) -> str:
        """The conversation of a person with the app."""
        channel = f"D{person}"
        self.channels.setdefault(channel, {BOT, person})
        return channel

    def pressing(
        self, person: str, channel: str, ts: str, label: str, team: str = TEAM
    ) -> dict[str, Any]:
        """What Slack tells of a press."""
        unseen = (channel, ts) in self.ephemerals
        message = (self.ephemerals if unseen else self.messages)[channel, ts]
        at, button = f"17{next(self._numbers):08}.000100", self._button(message, label)
        told = {name: button[name] for name in ("action_id", "value") if name in button}
        action = {"type": "button", **told, "block_id": "abc", "text": button["text"]}
        return {
            **self._interaction("block_actions", person, team),
            "container": {
                **{"type": "message", "message_ts": ts, "channel_id": channel},
                "is_ephemeral": unseen,
            },
            "channel": {"id": channel, "name": "directmessage"},
            "message": {"type": "message", "user": BOT, "bot_id": BOT_ID, "ts": ts, **message},
            "actions": [{**action, "action_ts": at}],
            "response_url": self._hook(Hook(person, channel, ts)),
        }

    def sending(self, person: str, words: str) -> dict[str, Any]:
        """What Slack tells of a form that is sent."""
        form = self.form(person)
        [block] = [one for one in form.view["blocks"] if one["type"] == "input"]
        element, limit = block["element"], block["element"].get("max_length", 3000)
        assert len(words) <= limit, "Slack does not let people write more"
        value = {"type": "plain_text_input", "value": words}
        values = {block["block_id"]: {element["action_id"]: value}}
        view = {**form.view, "id": form.id, "team_id": TEAM, "hash": "156.abc", "app_id": APP}
        return {
            **self._interaction("view_submission", person, TEAM),
            "view": {**view, "state": {"values": values}},
            "response_urls": [],
        }

    def writing(
        self, person: str, channel: str, words: str, thread: str | None = None, **more: Any
    ) -> dict[str, Any]:
        """What Slack tells of a message; it escapes what people write, and marks addresses."""
        text = re.sub(r"https?://[^\s&]+", r"<\g<0>>", html.escape(words, quote=False))
        ts = self._ts()
        under = self.messages.get((channel, thread or ""), {}).get("user")
        event = {
            **{"type": "message", "user": person, "channel": channel, "text": text, "ts": ts},
            **{"team": TEAM, "event_ts": ts, "client_msg_id": f"m{ts}"},
            "channel_type": "im" if channel.startswith("D") else "channel",
            **({"thread_ts": thread, "parent_user_id": under} if thread else {}),
        }
        return {
            **{"type": "event_callback", "token": "gone", "team_id": TEAM, "api_app_id": APP},
            **{"event_id": f"Ev{next(self._numbers):08}", "event_time": 1700000000},
            "authorizations": [{"team_id": TEAM, "user_id": BOT, "is_bot": True}],
            "event": {name: v for name, v in {**event, **more}.items() if v is not None},
        }

    def ordering(self, person: str, channel: str, text: str, team: str = TEAM) -> dict[str, Any]:
        """What Slack tells of a command."""
        return {
            **{"command": "/am", "text": html.escape(text, quote=False), "token": "gone"},
            **{"user_id": person, "user_name": self.people.get(person, ""), "team_id": team},
            **{"channel_id": channel, "channel_name": "general", "api_app_id": APP},
            **{"trigger_id": self._trigger(person), "is_enterprise_install": "false"},
            "response_url": self._hook(Hook(person, channel)),
        }

    def form(self, person: str) -> Opened:
        return [one for one in self.forms if one.person == person and one.open][-1]

    def shown(self, channel: str, ts: str) -> "Seen":
        return Seen.of(self.messages[channel, ts])

    # ------------------------------------------------------------------------- how it tells of it

    async def tell(self, payload: Mapping[str, Any], retry: int = 0) -> bool:
        """By the socket; whether it was heard that it arrived."""
        kind = {"event_callback": "events_api", None: "slash_commands"}
        told = kind.get(payload.get("type"), "interactive")
        async with asyncio.timeout(10):
            await self._connected.wait()
        mark, heard = f"e{next(self._numbers)}", asyncio.get_running_loop().create_future()
        self._acks[mark] = heard
        envelope = {
            **{"envelope_id": mark, "type": told, "payload": payload},
            "accepts_response_payload": told != "events_api",
            **({"retry_attempt": retry, "retry_reason": "timeout"} if retry else {}),
        }
        await self._sockets[-1].send_json(envelope)
        try:
            async with asyncio.timeout(WAIT_S):
                answer = await heard
        except TimeoutError:
            return False
        self.take(payload, answer.get("payload"), allowed=told != "events_api")
        return True

    def take(self, payload: Mapping[str, Any], answer: Any, *, allowed: bool = True) -> None:
        """What came back with the word that it arrived."""
        if answer is not None and not allowed:
            self.faults.append("an answer where none is taken")
        if payload.get("type") != "view_submission":
            return
        [form] = [one for one in self.forms if one.id == payload["view"]["id"]]
        match answer:
            case {"response_action": "update", "view": view}:
                self.faults += slack_rules.view(view)
                form.view = view
            case None:
                form.open = False
            case _:
                self.faults.append(f"a form is answered with {answer}")

    async def hang_up(self, reason: str | None = "refresh_requested") -> None:
        """As Slack does every few hours, or, without a reason, as a network does."""
        self._connected.clear()
        for socket in self._sockets:
            if reason is not None:
                told = {"type": "disconnect", "reason": reason, "debug_info": {}}
                await socket.send_json(told)
            else:
                await socket.close()
        self._sockets.clear()

    # ------------------------------------------------------------------------------------ methods

    async def api(self, request: web.Request) -> web.Response:
        method = request.match_info["method"]
        self.asked.append(method)
        given, problem = await self._given(request)
        trouble = self.trouble
        if trouble is not None and (not trouble.methods or method in trouble.methods):
            return trouble.response()
        error = problem or self._unfit(method, given) or ""
        if error:
            return _refused(error)
        answer = getattr(self, f"_{method.replace('.', '_')}")(given)
        if self.mute == "hangs up":
            assert request.transport is not None
            request.transport.close()
        elif self.mute:
            await asyncio.Event().wait()
        return answer

    async def _given(self, request: web.Request) -> tuple[dict[str, Any], str]:
        method = request.match_info["method"]
        token = APP_TOKEN if method == "apps.connections.open" else BOT_TOKEN
        if "token" in request.query or "xox" in request.query_string:
            self.faults.append("a token in an address")
        header = request.headers.get("Authorization", "")
        if header != f"Bearer {token}":
            return {}, "invalid_auth" if header else "not_authed"
        if request.content_type != "application/json":
            return dict(await request.post()), ""
        return await request.json(), ""

    def _unfit(self, method: str, given: Mapping[str, Any]) -> str | web.Response | None:
        if method not in slack_rules.METHODS:
            return "unknown_method"
        scope = slack_rules.SCOPES.get(method)
        if scope and scope not in self.scopes:
            return _missing(scope, self.scopes)
        wrong = list(slack_rules.arguments(slack_rules.METHODS[method], given))
        if wrong:
            self.faults += [f"{method}: {fault}" for fault in wrong]
            return "invalid_arguments"
        if "blocks" in given:
            if faults := list(slack_rules.blocks(given["blocks"])):
                return _bad("invalid_blocks", faults)
            if slack_rules.all_text(given["blocks"]) > slack_rules.ALL_TEXT:
                return "msg_blocks_too_long"
        if "text" in given and not given["text"].strip():
            self.faults.append(f"{method} without words for those who do not see the blocks")
        channel = given.get("channel")
        if channel is not None and channel not in self.channels:
            return "channel_not_found"
        return "not_in_channel" if channel and BOT not in self.channels[channel] else None

    def _auth_test(self, given: Mapping[str, Any]) -> web.Response:
        named = {"user": "agents_manager", "team": "Acme", "url": "https://acme.slack.com/"}
        return _ok(**named, team_id=TEAM, user_id=BOT, bot_id=BOT_ID)

    def _apps_connections_open(self, given: Mapping[str, Any]) -> web.Response:
        ticket = f"ticket-{next(self._numbers)}"
        self._tickets.add(ticket)
        address = self.address.replace("http", "ws", 1)
        return _ok(url=f"{address}/socket?ticket={ticket}")

    def _conversations_open(self, given: Mapping[str, Any]) -> web.Response:
        if given["users"] not in self.people:
            return _refused("user_not_found")
        return _ok(channel={"id": self.direct(given["users"])})

    def _chat_postMessage(self, given: Mapping[str, Any]) -> web.Response:
        ts = self._ts()
        self.messages[given["channel"], ts] = {**given, "user": BOT}
        return _ok(channel=given["channel"], ts=ts, message={"ts": ts})

    def _chat_update(self, given: Mapping[str, Any]) -> web.Response:
        at = given["channel"], given["ts"]
        if at not in self.messages:
            return _refused("message_not_found")
        self.messages[at] = {**self.messages[at], **given}
        return _ok(channel=given["channel"], ts=given["ts"], text=given["text"])

    def _chat_postEphemeral(self, given: Mapping[str, Any]) -> web.Response:
        if given["user"] not in self.channels[given["channel"]]:
            return _refused("user_not_in_channel")
        self.whispers.append(dict(given))
        return _ok(message_ts=self._ts())

    def _views_open(self, given: Mapping[str, Any]) -> web.Response:
        person = self._triggers.pop(given["trigger_id"], None)
        if person is None:
            return _refused("invalid_trigger_id")
        if self.triggers_expire:
            return _refused("expired_trigger_id")
        if faults := list(slack_rules.view(given["view"])):
            return _bad("invalid_arguments", faults)
        opened = Opened(f"V{next(self._numbers):08}", person, given["view"])
        self.forms.append(opened)
        return _ok(view={"id": opened.id, **opened.view})

    async def hook(self, request: web.Request) -> web.Response:
        hook = self._hooks.get(request.match_info["hook"])
        if hook is None or not hook.left:
            return web.Response(status=404, text="used_url" if hook else "no_service")
        hook.left -= 1
        given = await request.json()
        faults = [*slack_rules.arguments(slack_rules.RESPONSE, given)]
        faults += slack_rules.blocks(given["blocks"]) if "blocks" in given else []
        if faults:
            self.faults += faults
            return web.Response(status=500, text="invalid_blocks")
        if given.get("response_type") != "ephemeral":
            self.faults.append("a command is answered for all to see")
        self.responses.append((hook.person, given))
        replaced = hook.message if given.get("replace_original") else None
        self.ephemerals[hook.channel, replaced or self._ts()] = given
        return web.Response(text="ok")

    async def socket(self, request: web.Request) -> web.WebSocketResponse:
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            raise web.HTTPForbidden(text="the ticket is used up")
        self._tickets.discard(ticket)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self.connections += 1
        hello = {"type": "hello", "num_connections": 1, "connection_info": {"app_id": APP}}
        await socket.send_json({**hello, "debug_info": {"host": "applink-1"}})
        self._sockets.append(socket)
        self._connected.set()
        async for message in socket:
            if message.type is WSMsgType.TEXT:
                self._heard(json.loads(message.data))
        return socket

    def _heard(self, answer: dict[str, Any]) -> None:
        waiting = self._acks.pop(answer.get("envelope_id", ""), None)
        if waiting is None:
            self.faults.append(f"an answer to nothing: {answer}")
        elif not waiting.done():
            waiting.set_result(answer)

    # -------------------------------------------------------------------------------------- parts

    def _interaction(self, kind: str, person: str, team: str) -> dict[str, Any]:
        name = self.people.get(person, "")
        return {
            **{"type": kind, "api_app_id": APP, "token": "gone", "enterprise": None},
            "user": {"id": person, "username": name, "name": name, "team_id": team},
            "team": {"id": TEAM, "domain": "acme"},
            "trigger_id": self._trigger(person),
        }

    def _hook(self, hook: Hook) -> str:
        name = f"h{next(self._numbers)}"
        self._hooks[name] = hook
        return f"{self.address}/hooks/{name}"

    def _trigger(self, person: str) -> str:
        trigger = f"{next(self._numbers)}.4711.abcdef"
        self._triggers[trigger] = person
        return trigger

    def _button(self, message: Mapping[str, Any], label: str) -> dict[str, Any]:
        rows = [block for block in message["blocks"] if block["type"] == "actions"]
        buttons = [one for row in rows for one in row["elements"]]
        return next(one for one in buttons if one["text"]["text"] == label)

    def _ts(self) -> str:
        return f"1700000000.{next(self._numbers):06}"


@dataclass(frozen=True)
class Seen:
    """A message as it is on the screen."""

    text: str
    buttons: tuple[str, ...]
    """That answer something."""

    @classmethod
    def of(cls, message: Mapping[str, Any]) -> "Seen":
        parts: list[str] = []
        labels: list[str] = []
        for block in message["blocks"]:
            for one in block.get("elements", [block]):
                if one["type"] != "button":
                    parts.append(_words(one.get("text", one)))
                elif "url" in one:
                    parts.append(one["url"])
                else:
                    labels.append(one["text"]["text"])
        return cls("\n\n".join(parts), tuple(labels))


def _words(text: Any) -> str:
    """Markup would be seen as something else than what was meant."""
    if isinstance(text, str):
        return text
    assert text["type"] == "plain_text", "what agents write is never markup"
    return text["text"]


def signature(secret: str, at: str, body: bytes) -> str:
    base = b"v0:" + at.encode() + b":" + body
    return "v0=" + hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()


def _ok(**more: Any) -> web.Response:
    return web.json_response({"ok": True, **more})


def _refused(error: "str | web.Response") -> web.Response:
    if isinstance(error, web.Response):
        return error
    return web.json_response({"ok": False, "error": error})


def _bad(error: str, faults: list[str]) -> web.Response:
    body = {"ok": False, "error": error, "response_metadata": {"messages": faults}}
    return web.json_response(body)


def _missing(scope: str, scopes: set[str]) -> web.Response:
    named = {"needed": scope, "provided": ",".join(sorted(scopes))}
    return web.json_response({"ok": False, "error": "missing_scope", **named})


@asynccontextmanager
async def slack() -> AsyncGenerator[FakeSlack]:
    fake, app = FakeSlack(), web.Application()
    app.router.add_post("/api/{method}", fake.api)
    app.router.add_post("/hooks/{hook}", fake.hook)
    app.router.add_get("/socket", fake.socket)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    fake.address = f"http://{host}:{port}"
    try:
        yield fake
    finally:
        await runner.cleanup()
