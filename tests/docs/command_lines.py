"""Whether a command line is one that the program takes, without running it."""

import re
import shlex
from collections.abc import Iterator

import click

from agents_manager.cli.main import am

ENDS = frozenset({"|", "||", "&", "&&", ";", ">", ">>", "<", "(", ")"})


def faults(text: str) -> list[str]:
    """What is wrong with the `am` commands in some lines of a shell."""
    return [f"{shlex.join(words)}: {wrong}" for words in commands(text) for wrong in _wrong(words)]


def named(words: list[str]) -> list[str]:
    """What is wrong with a command that is only named, with its parameters or without."""
    command, rest, wrong = _found([word for word in words if re.fullmatch(r"[-a-z=]+", word)])
    params = command.get_params(click.Context(command))
    known = {option for param in params for option in (*param.opts, *param.secondary_opts)}
    options = [word.partition("=")[0] for word in rest if word.startswith("--")]
    return wrong or [f"there is no {option}" for option in options if option not in known]


def commands(text: str) -> Iterator[list[str]]:
    for line in text.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        simple = list[str]()
        for word in (*lexer, ";"):
            if word in ENDS:
                if simple[:1] == ["am"]:
                    yield simple[1:]
                simple = []
            elif simple or "=" not in word:  # A variable before the command is not part of it.
                simple.append(word)


def _found(words: list[str]) -> tuple[click.Command, list[str], list[str]]:
    """The command, the words behind its name, and what keeps it from being one."""
    command: click.Command = am
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(click.Context(command), words[0])
        if found is None:
            return command, words, [f'there is no command "{words[0]}"']
        command, words = found, words[1:]
    return command, words, []


def _wrong(words: list[str]) -> Iterator[str]:
    command, words, wrong = _found(words)
    if wrong or (isinstance(command, click.Group) and not words):
        yield from wrong or ["it is a group of commands"]
        return
    context = click.Context(command)
    try:
        given, rest, _ = command.make_parser(context).parse_args(list(words))
    except click.UsageError as error:
        yield error.message
        return
    yield from (f'"{word}" is too much' for word in rest)
    for param in command.params:
        value = given.get(param.name or "")
        missing = not isinstance(value, str | int | list | tuple) or value == ()
        if param.required and missing:
            yield f"{param.human_readable_name} is missing"
        elif isinstance(param.type, click.Choice) and not missing:
            for one in value if isinstance(value, list | tuple) else [value]:
                if one not in param.type.choices:
                    yield f'"{one}" is not one of {", ".join(map(str, param.type.choices))}'
