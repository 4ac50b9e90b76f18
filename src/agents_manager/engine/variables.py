"""Reads the variables of a project's runs from this process's environment or from the keyring."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from agents_manager import environment
from agents_manager.flow.ports import ReadVariables, Variable
from agents_manager.redaction import Redactor, secrets_in_value, secrets_of


class ServerVariables:
    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    def read(self, wanted: Sequence[Variable]) -> ReadVariables:
        values: dict[str, str] = {}
        missing: list[str] = []
        for variable in wanted:
            value, problem = _value(variable)
            if value is not None:
                values[variable.name] = value
            elif not variable.optional:
                missing.append(problem)
        self._redactor.add(_secrets(values.values()))
        return ReadVariables(values=values, missing=tuple(missing))

    def learn_env_files(self, paths: Sequence[Path]) -> None:
        found: dict[str, str] = {}
        for path in paths:
            if path.name.startswith(".env"):
                with suppress(OSError):
                    found |= _assigned(path.read_text(encoding="utf-8", errors="replace"))
        self._redactor.add(secrets_of(found))


def _assigned(text: str) -> dict[str, str]:
    """Returns the variables of an env file, with quotes and `export` removed."""
    lines = (line.strip().removeprefix("export ").partition("=") for line in text.splitlines())
    return {name.strip(): value.strip().strip("\"'") for name, _, value in lines}


def _value(variable: Variable) -> tuple[str | None, str]:
    if variable.source == "environment":
        way = f"Set {variable.entry} where the server is started, and restart the server."
        problem = f'The variable "{variable.entry}" is not set in the server\'s environment. {way}'
        return environment.variable(variable.entry), problem
    value, why = environment.from_keyring(variable.entry)
    return value, f'"{variable.entry}" cannot be read from the keyring: {why}'


def _secrets(values: Iterable[str]) -> list[str]:
    """All values but those that are paths of this machine: these are in texts for other reasons."""
    return [
        secret
        for value in values
        if not (value.startswith(("/", "~")) and Path(value).expanduser().exists())
        for secret in secrets_in_value(value)
    ]
