"""What a command says: its result on standard output, for people or as one JSON document, and
everything else on standard error."""

import json
import sys
from collections.abc import Callable, Iterable
from typing import Any

import click

from agents_manager.cli import render
from agents_manager.cli.render import Block
from agents_manager.errors import AgentsManagerError


class Output:
    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json

    def show(self, document: object, page: Callable[[], Iterable[Block]]) -> None:
        """The result of a command; the page is made only when people read it."""
        if self.as_json:
            self.document(document)
        else:
            self.page(page())

    def document(self, document: object) -> None:
        # Pydantic comes with it, and most of a second command's time.
        from agents_manager.cli import present

        # Pure ASCII: no control or bidi character of an agent reaches the terminal.
        click.echo(json.dumps(present.value(document), indent=2))

    def file(self, text: str) -> None:
        """What is meant for a file: to the byte, except on a terminal, which it must not steer."""
        if self.as_json:
            self.document({"text": text})
        elif terminal():
            self.page(render.lines(text))
        else:
            click.echo(text.encode(), nl=False)

    def page(self, blocks: Iterable[Block]) -> None:
        if terminal():
            render.to_terminal(blocks)
        else:
            click.echo(render.to_text(blocks, render.pipe_width()))

    def say(self, message: str) -> None:
        click.echo(render.clean(message), err=True)

    def fail(self, error: AgentsManagerError) -> None:
        self.say(f"Error: {error.message}")
        for detail in error.details:
            self.say(f"  {detail}")
        if self.as_json:
            self.document(fault(error))


def fault(error: AgentsManagerError) -> dict[str, Any]:
    """The same shape that the HTTP interface answers with."""
    return {
        "error": type(error).__name__,
        "message": error.message,
        "details": list(error.details),
    }


def terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()
