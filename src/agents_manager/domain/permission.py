"""How an agent's driver asks for a permission, and is answered: a file each in the directory of the
turn. So it neither needs a server that is up all the time, nor an address to find it."""

from pydantic import Field

from agents_manager.domain.value import Value

MAX_BYTES = 64 * 1024
MAX_TEXT = 2_000


class Request(Value):
    tool: str = Field(min_length=1, max_length=MAX_TEXT)
    action: str = Field(min_length=1, max_length=MAX_TEXT)
    reason: str = Field(default="", max_length=MAX_TEXT)


class Answer(Value):
    allow: bool


REQUESTS, ANSWERS = "requests", "answers"
"""Folders: a sandbox lets the agent write the one and read the other."""


def request_file(number: int) -> str:
    """The requests of a turn are counted from 1, without a gap."""
    return f"{REQUESTS}/{number}.json"


def answer_file(number: int) -> str:
    return f"{ANSWERS}/{number}.json"
