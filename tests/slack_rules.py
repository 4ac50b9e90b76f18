"""What Slack takes: the arguments of its methods, and blocks and forms, by their types, their
required fields and their limits, as its documentation has them. It knows nothing of the product."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

TEXT = 3000
ADDRESS = re.compile(r"https?://(?!127\.)[\w-]+(\.[\w-]+)+")
"""What Slack takes for one is not documented: here nothing near."""
ALL_TEXT = 13_000
"""Not documented; found by those who were refused."""
METHODS: Mapping[str, Mapping[str, tuple[type, bool]]] = {
    "auth.test": {},
    "apps.connections.open": {},
    "conversations.open": {"users": (str, True)},
    "chat.postMessage": {
        **{"channel": (str, True), "text": (str, True), "blocks": (list, False)},
        **{"thread_ts": (str, False), "unfurl_links": (bool, False), "unfurl_media": (bool, False)},
    },
    "chat.update": {
        **{"channel": (str, True), "ts": (str, True), "text": (str, True), "blocks": (list, False)}
    },
    "chat.postEphemeral": {
        **{"channel": (str, True), "user": (str, True), "text": (str, True)},
        **{"blocks": (list, False), "thread_ts": (str, False)},
    },
    "views.open": {"trigger_id": (str, True), "view": (dict, True)},
}
"""By name: the type of an argument, and whether it must be there."""
SCOPES = {
    "conversations.open": "im:write",
    "chat.postMessage": "chat:write",
    "chat.update": "chat:write",
    "chat.postEphemeral": "chat:write",
    "apps.connections.open": "connections:write",
}
RESPONSE: Mapping[str, tuple[type, bool]] = {
    **{"text": (str, True), "blocks": (list, False), "response_type": (str, False)},
    "replace_original": (bool, False),
}

Faults = Iterator[str]


def arguments(known: Mapping[str, tuple[type, bool]], given: Mapping[str, Any]) -> Faults:
    for name, (kind, needed) in known.items():
        if name not in given:
            if needed:
                yield f"missing required field: {name}"
        elif not isinstance(given[name], kind) or isinstance(given[name], bool) != (kind is bool):
            yield f"{name} must be {kind.__name__}"
    yield from (f"unknown field: {name}" for name in given.keys() - known.keys())


def blocks(given: Any, *, modal: bool = False) -> Faults:
    most = 100 if modal else 50
    if not isinstance(given, list) or not 1 <= len(given) <= most:
        yield f"must have 1 to {most} blocks"
        return
    for number, block in enumerate(given):
        kind = block.get("type") if isinstance(block, dict) else None
        rule = BLOCKS.get(str(kind))
        if rule is None or (kind == "input" and not modal):
            yield f"/blocks/{number}: unsupported type: {kind}"
        else:
            yield from (f"/blocks/{number}/{fault}" for fault in rule(block))
    ids = [block["block_id"] for block in given if isinstance(block, dict) and "block_id" in block]
    if len(ids) != len(set(ids)) or any(not 1 <= size(str(one)) <= 255 for one in ids):
        yield "block_id must be unique and of 1 to 255 characters"


def view(given: Any) -> Faults:
    if not isinstance(given, dict):
        yield "must be an object"
        return
    known = {"type", "title", "blocks", "submit", "close", "private_metadata", "callback_id"}
    yield from (f"unknown field: {name}" for name in given.keys() - known)
    if given.get("type") != "modal":
        yield "type must be modal"
    yield from text(given.get("title"), "title", 24, plain=True)
    for name in ("submit", "close"):
        if name in given:
            yield from text(given[name], name, 24, plain=True)
    for name, most in {"private_metadata": 3000, "callback_id": 255}.items():
        if not isinstance(given.get(name, ""), str) or size(given.get(name, "")) > most:
            yield f"{name} must be at most {most} characters"
    yield from blocks(given.get("blocks"), modal=True)
    held = given.get("blocks") or []
    if any(block.get("type") == "input" for block in held) and "submit" not in given:
        yield "submit is required where there is an input"


def text(given: Any, name: str, most: int, *, plain: bool = False) -> Faults:
    match given:
        case {"type": "plain_text", "text": str(words)}:
            known = {"type", "text", "emoji"}
        case {"type": "mrkdwn", "text": str(words)} if not plain:
            known = {"type", "text", "verbatim"}
        case _:
            yield f"{name}: must be {'plain_text' if plain else 'a text object'}"
            return
    if not 1 <= size(words) <= most:
        yield f"{name}: must be of 1 to {most} characters, has {size(words)}"
    if given.keys() - known or not isinstance(given.get("emoji", True), bool):
        yield f"{name}: unknown field"
    if any(c == "\0" or "\ud800" <= c <= "\udfff" for c in words):
        yield f"{name}: holds what is no character"


def size(words: str) -> int:
    return len(words.encode("utf-16-le", "surrogatepass")) // 2


def all_text(given: Any) -> int:
    match given:
        case dict():
            own = given.get("text")
            inner = sum(all_text(value) for value in given.values())
            return inner + (size(own) if isinstance(own, str) else 0)
        case list():
            return sum(map(all_text, given))
        case _:
            return 0


def _fields(block: Mapping[str, Any], *known: str) -> Faults:
    yield from (f"unknown field: {n}" for n in block.keys() - {"type", "block_id", *known})


def _header(block: Mapping[str, Any]) -> Faults:
    yield from _fields(block, "text")
    yield from text(block.get("text"), "text", 150, plain=True)


def _section(block: Mapping[str, Any]) -> Faults:
    yield from _fields(block, "text")
    yield from text(block.get("text"), "text", TEXT)


def _context(block: Mapping[str, Any]) -> Faults:
    yield from _fields(block, "elements")
    elements = block.get("elements")
    if not isinstance(elements, list) or not 1 <= len(elements) <= 10:
        yield "elements: must be 1 to 10"
        return
    for element in elements:
        yield from text(element, "elements", TEXT)


def _actions(block: Mapping[str, Any]) -> Faults:
    yield from _fields(block, "elements")
    elements = block.get("elements")
    if not isinstance(elements, list) or not 1 <= len(elements) <= 25:
        yield "elements: must be 1 to 25"
        return
    for element in elements:
        yield from _button(element)
    ids = [element.get("action_id") for element in elements]
    if len(ids) != len(set(ids)):
        yield "action_id must be unique in its block"


def _button(button: Mapping[str, Any]) -> Faults:
    if button.get("type") != "button":
        yield f"unsupported element: {button.get('type')}"
    known = {"type", "action_id", "text", "value", "url", "style"}
    yield from (f"unknown field: {name}" for name in button.keys() - known)
    yield from text(button.get("text"), "text", 75, plain=True)
    limits = {"action_id": 255, "value": 2000, "url": 3000}
    for name, most in limits.items():
        if name in button and not 1 <= size(str(button[name])) <= most:
            yield f"{name}: must be of 1 to {most} characters"
    if not isinstance(button.get("action_id"), str):
        yield "action_id: must be a text"
    if "url" in button and not ADDRESS.match(str(button["url"])):
        yield "invalid url"
    if button.get("style", "primary") not in ("primary", "danger"):
        yield "style: must be primary or danger"


def _input(block: Mapping[str, Any]) -> Faults:
    yield from _fields(block, "label", "element", "optional")
    yield from text(block.get("label"), "label", 2000, plain=True)
    element = block.get("element")
    if not isinstance(element, dict) or element.get("type") != "plain_text_input":
        yield "element: unsupported"
        return
    known = {"type", "action_id", "multiline", "max_length", "min_length", "focus_on_load"}
    yield from (f"element: unknown field: {name}" for name in element.keys() - known)
    if not 1 <= element.get("max_length", TEXT) <= TEXT:
        yield f"element: max_length must be 1 to {TEXT}"


BLOCKS: Mapping[str, Callable[[Mapping[str, Any]], Faults]] = {
    **{"header": _header, "section": _section, "context": _context, "actions": _actions},
    "input": _input,
}
