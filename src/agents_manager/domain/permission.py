"""How an agent's driver asks for a permission, and is answered: a file each in the directory of the
turn. So it neither needs a server that is up all the time, nor an address to find it."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from agents_manager.domain.value import Value

MAX_BYTES = 64 * 1024
MAX_TEXT = 2_000


class Request(Value):
    tool: str = Field(min_length=1, max_length=MAX_TEXT)
    action: str = Field(min_length=1, max_length=MAX_TEXT)
    reason: str = Field(default="", max_length=MAX_TEXT)


def of_tool(tool: str, given: Mapping[str, Any]) -> Request:
    """What an agent wants to call, with all that it would give: whoever allows it again allows the
    very same. What is too long to be shown is told apart by its digest."""
    said = {name: value for name, value in given.items() if name != "description"}
    (alone,) = said.values() if len(said) == 1 else (None,)
    text = json.dumps(said, sort_keys=True, ensure_ascii=False)
    action = alone if isinstance(alone, str) and alone else text
    if len(action) > MAX_TEXT:
        digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
        action = f"{action[: MAX_TEXT - 100]}… (sha256 {digest})"
    return Request(tool=tool[:MAX_TEXT], action=action)


class Answer(Value):
    allow: bool


REQUESTS, ANSWERS = "requests", "answers"
"""Folders: a sandbox lets the agent write the one and read the other."""


def request_file(number: int) -> str:
    """The requests of a turn are counted from 1, without a gap."""
    return f"{REQUESTS}/{number}.json"


def answer_file(number: int) -> str:
    return f"{ANSWERS}/{number}.json"
