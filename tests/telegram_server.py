"""A Telegram for tests: the Bot API as a real HTTP server on loopback, and the people who write to
the bot. It knows nothing of the product. What it is sent is held to what Telegram takes (method,
fields and their types, marks, lengths) and refused in Telegram's words; what no program should send
at all is kept in `faults`, too."""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any
from urllib.parse import parse_qs

from tests.telegram_html import Parsed, Unparsable, parsed

TOKEN = "4242:AAfakeTokenForTests-0123456789abcdefghi"
BOT = {"id": 4242, "is_bot": True, "first_name": "Agents", "username": "agents_test_bot"}

Fields = Mapping[str, tuple[type, bool]]
"""By name: its type, and whether it must be there."""
MARKS: Fields = {"parse_mode": (str, False), "link_preview_options": (dict, False)}
METHODS: Mapping[str, Fields] = {
    "getMe": {},
    "sendMessage": {
        **{"chat_id": (int, True), "text": (str, True), "reply_markup": (dict, False), **MARKS},
        "reply_parameters": (dict, False),
    },
    "editMessageText": {
        **{"chat_id": (int, True), "message_id": (int, True), "text": (str, True), **MARKS},
        "reply_markup": (dict, False),
    },
    "answerCallbackQuery": {"callback_query_id": (str, True), "text": (str, False)},
    "getUpdates": {
        **{"offset": (int, False), "timeout": (int, False), "allowed_updates": (list, False)}
    },
    "setWebhook": {
        **{"url": (str, True), "secret_token": (str, False), "allowed_updates": (list, False)},
        "max_connections": (int, False),
    },
    "deleteWebhook": {},
}
SAME = (
    "message is not modified: specified new message content and reply markup are exactly the same "
    "as a current content and reply markup of the message"
)
OLD = "query is too old and response timeout expired or query ID is invalid"
WEBHOOK_SET = (
    "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook "
    "first"
)
OTHER_POLL = (
    "terminated by other getUpdates request; make sure that only one bot instance is running"
)
GROUP = -100


class Refused(Exception):
    def __init__(self, status: int, why: str, parameters: Any = None) -> None:
        kinds = {400: "Bad Request: ", 403: "Forbidden: ", 409: "Conflict: "}
        self.status = status
        self.answer = {
            "ok": False,
            "error_code": status,
            "description": kinds.get(status, "") + why,
        }
        if parameters:
            self.answer["parameters"] = parameters


@dataclass
class Trouble:
    """What it does instead, as often as it is to."""

    status: int = 500
    says: bytes | None = None
    """Instead of JSON."""
    retry_after: int | None = None
    drops: bool = False
    """It hangs up without an answer."""
    takes: bool = False
    """It does what it was asked to, before."""
    methods: frozenset[str] = frozenset(METHODS)
    times: int = 1_000_000


@dataclass
class Message:
    id: int
    chat: int
    author: dict[str, Any]
    said: Parsed
    markup: dict[str, Any] = field(default_factory=dict[str, Any])
    preview: bool = True
    to: int | None = None

    @property
    def buttons(self) -> dict[str, str]:
        """What they send, by their labels."""
        return {b["text"]: b["callback_data"] for row in self.rows for b in row}

    @property
    def rows(self) -> list[list[dict[str, str]]]:
        return self.markup.get("inline_keyboard", [])

    def told(self) -> dict[str, Any]:
        kind = {"type": "private"} if self.chat > 0 else {"type": "supergroup", "title": "Team"}
        return {
            **{"message_id": self.id, "date": int(time.time()), "from": self.author},
            **{"chat": {"id": self.chat, **kind}, "text": self.said.text},
            **({"reply_markup": self.markup} if self.rows else {}),
        }


class FakeTelegram:
    def __init__(self) -> None:
        self.address = ""
        self.trouble: Trouble | None = None
        self.faults: list[str] = []
        self.asked: list[str] = []
        self.chats: set[int] = {GROUP}
        """Whose chats with the bot are open."""
        self.blocked: dict[int, str] = {}
        """Chats that the bot may not write to, and why."""
        self.migrated: dict[int, int] = {}
        self.messages: dict[tuple[int, int], Message] = {}
        self.toasts: list[tuple[int, str]] = []
        """Whom buttons answered what."""
        self.webhook: dict[str, Any] | None = None
        self.queue: list[dict[str, Any]] = []
        self.confirmed = 0
        """The first update that was not confirmed yet."""
        self._queries: dict[str, int] = {}
        self._numbers = count(1000)
        self._poll = 0
        self._news = threading.Condition()
        self._open = True

    # ------------------------------------------------------------------------- what people do

    def start(self, person: int) -> None:
        """Opens a chat with the bot."""
        self.chats.add(person)

    def press(self, chat: int, message: int, label: str, person: int, **more: Any) -> int:
        return self.press_data(
            chat, message, self.messages[chat, message].buttons[label], person, **more
        )

    def press_data(self, chat: int, message: int, data: str, person: int, **more: Any) -> int:
        with self._news:
            query = f"q{next(self._numbers)}"
            self._queries[query] = person
        pressed = self.messages[chat, message].told()
        return self.tell(
            {
                "callback_query": {
                    **{"id": query, "from": who(person), "message": pressed, "data": data},
                    **{"chat_instance": "1", **more},
                }
            }
        )

    def write(self, chat: int, person: int, text: str, to: int | None = None, **more: Any) -> int:
        """`more` are fields of the message."""
        with self._news:
            made = Message(next(self._numbers), chat, who(person), Parsed(text), to=to)
            self.messages[chat, made.id] = made
        answered = self.messages.get((chat, to)) if to else None
        reply = {"reply_to_message": answered.told()} if answered else {}
        return self.tell({"message": {**made.told(), **reply, **more}})

    def tell(self, update: dict[str, Any]) -> int:
        with self._news:
            number = next(self._numbers)
            self.queue.append({"update_id": number, **update})
            self._news.notify_all()
        return number

    def is_confirmed(self, update: int) -> bool:
        return self.confirmed > update

    def sent(self, chat: int) -> list[Message]:
        """What the bot sent there."""
        return [m for m in self.messages.values() if m.chat == chat and m.author is BOT]

    def expire_queries(self) -> None:
        self._queries.clear()

    def close(self) -> None:
        with self._news:
            self._open = False
            self._news.notify_all()

    # ------------------------------------------------------------------------- what it answers

    def answer(self, path: str, kind: str, body: bytes) -> tuple[int, Any] | None:
        """None where it hangs up."""
        found = re.fullmatch(r"/bot([^/]*)/([A-Za-z]+)", path)
        token, method = (found[1], found[2]) if found else ("", "")
        self.asked.append(method)
        if token != TOKEN:
            known = re.fullmatch(r"\d+:[\w-]{35,}", token)
            return _failed(*((401, "Unauthorized") if known else (404, "Not Found")))
        if method not in METHODS:
            self.faults.append(f"{method}: no such method")
            return _failed(404, "Not Found")
        trouble = self.trouble
        if trouble and trouble.times > 0 and method in trouble.methods:
            trouble.times -= 1
            if trouble.takes:
                self._perform(method, kind, body)
            return _troubled(trouble)
        return self._perform(method, kind, body)

    def _perform(self, method: str, kind: str, body: bytes) -> tuple[int, Any]:
        try:
            sent = self._read(method, kind, body)
            do: Callable[[dict[str, Any]], Any] = getattr(self, f"_{method}")
            if method == "getUpdates":
                return 200, {"ok": True, "result": do(sent)}
            with self._news:
                return 200, {"ok": True, "result": do(sent)}
        except Refused as refused:
            return refused.status, refused.answer
        except Exception as error:
            self.faults.append(f"{method}: {error!r}")
            raise

    def _read(self, method: str, kind: str, body: bytes) -> dict[str, Any]:
        """By form; what is no text is JSON."""
        if body and kind != "application/x-www-form-urlencoded":
            self.faults.append(f"{method}: content-type {kind!r}")
        fields = METHODS[method]
        given = {name: values[-1] for name, values in parse_qs(body.decode(), True).items()}
        read: dict[str, Any] = {}
        for name, text in given.items():
            wanted = fields[name][0] if name in fields else None
            if wanted is None:
                self.faults.append(f"{method}: field {name} is unknown")
                continue
            read[name] = text if wanted is str else _json(text)
            if not isinstance(read[name], wanted):
                self.faults.append(f"{method}: field {name} is {text!r}")
                raise Refused(400, f"can't parse {name}")
        for name in (n for n, (_, needed) in fields.items() if needed and n not in given):
            self.faults.append(f"{method}: field {name} is missing")
            raise Refused(400, f"{'message text' if name == 'text' else name} is empty")
        return read

    def _getMe(self, _: dict[str, Any]) -> Any:
        return BOT

    def _sendMessage(self, sent: dict[str, Any]) -> Any:
        chat, said = self._chat(sent["chat_id"]), _said(sent)
        to = sent.get("reply_parameters", {}).get("message_id")
        if to is not None and (chat, to) not in self.messages:
            if not sent["reply_parameters"].get("allow_sending_without_reply"):
                raise Refused(400, "message to be replied not found")
            to = None
        made = Message(next(self._numbers), chat, BOT, said, self._markup(sent), _preview(sent), to)
        self.messages[chat, made.id] = made
        return made.told()

    def _editMessageText(self, sent: dict[str, Any]) -> Any:
        chat, said, markup = self._chat(sent["chat_id"]), _said(sent), self._markup(sent)
        message = self.messages.get((chat, sent["message_id"]))
        if message is None:
            raise Refused(400, "message to edit not found")
        if message.author is not BOT:
            raise Refused(400, "message can't be edited")
        if (message.said, message.markup) == (said, markup):
            raise Refused(400, SAME)
        message.said, message.markup = said, markup
        return message.told()

    def _answerCallbackQuery(self, sent: dict[str, Any]) -> Any:
        if _length(sent.get("text", "")) > 200:
            raise Refused(400, "MESSAGE_TOO_LONG")
        person = self._queries.pop(sent["callback_query_id"], None)
        if person is None:
            raise Refused(400, OLD)
        if sent.get("text"):
            self.toasts.append((person, sent["text"]))
        return True

    def _getUpdates(self, sent: dict[str, Any]) -> Any:
        with self._news:
            if self.webhook is not None:
                raise Refused(409, WEBHOOK_SET)
            self._poll += 1
            mine = self._poll
            self.confirmed = max(self.confirmed, sent.get("offset", 0))
            self.queue = [u for u in self.queue if u["update_id"] >= self.confirmed]
            self._news.notify_all()
            wanted = set(sent.get("allowed_updates", ()))

            def news() -> list[dict[str, Any]]:
                return [u for u in self.queue if not wanted or wanted & u.keys()]

            self._news.wait_for(
                lambda: news() or mine != self._poll or not self._open, sent.get("timeout", 0)
            )
            if mine != self._poll:
                raise Refused(409, OTHER_POLL)
            return news()

    def _setWebhook(self, sent: dict[str, Any]) -> Any:
        if not sent["url"].startswith("https://"):
            raise Refused(400, "bad webhook: HTTPS url must be provided for webhook")
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,256}", sent.get("secret_token", "none")):
            raise Refused(400, "secret token contains unallowed characters")
        self.webhook = sent
        return True

    def _deleteWebhook(self, _: dict[str, Any]) -> Any:
        self.webhook = None
        return True

    def _chat(self, chat: int) -> int:
        if chat in self.migrated:
            why = "group chat was upgraded to a supergroup chat"
            raise Refused(400, why, {"migrate_to_chat_id": self.migrated[chat]})
        if chat in self.blocked:
            raise Refused(403, self.blocked[chat])
        if chat not in self.chats:
            raise Refused(400, "chat not found")
        return chat

    def _markup(self, sent: dict[str, Any]) -> dict[str, Any]:
        markup = sent.get("reply_markup", {})
        if "force_reply" in markup:
            if markup["force_reply"] is not True:
                raise Refused(400, "can't parse reply keyboard markup JSON object")
            return markup
        rows = markup.get("inline_keyboard", [])
        if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
            raise Refused(400, 'field "inline_keyboard" must be an Array of Arrays')
        buttons = [button for row in rows for button in row]
        if len(buttons) > 100:
            raise Refused(400, "reply markup is too long")
        for button in buttons:
            _check_button(button)
        return markup


def _check_button(button: Any) -> None:
    if not isinstance(button.get("text"), str) or not button["text"].strip():
        raise Refused(400, 'can\'t parse inline keyboard button: Field "text" must be non-empty')
    data = button.get("callback_data")
    if data is None:
        raise Refused(400, "Text buttons are unallowed in the inline keyboard")
    if not isinstance(data, str) or not 1 <= len(data.encode()) <= 64:
        raise Refused(400, "BUTTON_DATA_INVALID")
    if button.get("style") not in (None, "danger", "success", "primary"):
        raise Refused(400, "invalid button style specified")
    if button.keys() - {"text", "callback_data", "style"}:
        raise Refused(400, f"unknown fields of a button: {sorted(button)}")


def _said(sent: dict[str, Any]) -> Parsed:
    if not sent["text"].strip():
        raise Refused(400, "message text is empty")
    mode = sent.get("parse_mode")
    if mode not in (None, "HTML"):
        raise Refused(400, "unsupported parse_mode")
    try:
        said = parsed(sent["text"]) if mode else Parsed(sent["text"].strip())
    except Unparsable as error:
        raise Refused(400, f"can't parse entities: {error}") from None
    if not said.text:
        raise Refused(400, "text must be non-empty")
    if _length(said.text) > 4096:
        raise Refused(400, "message is too long")
    return said


def _preview(sent: dict[str, Any]) -> bool:
    return not sent.get("link_preview_options", {}).get("is_disabled", False)


def _length(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _json(text: str) -> Any:
    with suppress(ValueError):
        return json.loads(text)
    return text


def who(person: int) -> dict[str, Any]:
    return {"id": person, "is_bot": False, "first_name": f"Person {person}", "username": "ann"}


def _failed(status: int, why: str) -> tuple[int, Any]:
    return status, {"ok": False, "error_code": status, "description": why}


def _troubled(trouble: Trouble) -> tuple[int, Any] | None:
    if trouble.drops:
        return None
    if trouble.says is not None:
        return trouble.status, trouble.says
    if trouble.retry_after is not None:
        _, answer = _failed(429, f"Too Many Requests: retry after {trouble.retry_after}")
        return 429, {**answer, "parameters": {"retry_after": trouble.retry_after}}
    return _failed(trouble.status, "Internal Server Error")


class TelegramServer(ThreadingHTTPServer):
    def __init__(self, fake: FakeTelegram) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.fake = fake
        fake.address = f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Somebody hung up on it; what it got wrong itself is kept as a fault."""


class _Handler(BaseHTTPRequestHandler):
    server: TelegramServer  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        kind = self.headers.get("content-type", "").partition(";")[0]
        answer = self.server.fake.answer(self.path, kind, body)
        if answer is None:
            return
        status, value = answer
        raw = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serving() -> Iterator[FakeTelegram]:
    """While it serves."""
    fake = FakeTelegram()
    server = TelegramServer(fake)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield fake
    finally:
        fake.close()
        server.shutdown()
        thread.join()
        server.server_close()
