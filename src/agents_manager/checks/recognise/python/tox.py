"""tox: tox.ini, tox.toml, setup.cfg or pyproject.toml."""

import configparser
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agents_manager.checks.recognise.files import strings, table, text_at
from agents_manager.checks.recognise.proposal import Machine, Proposal, ProposedCheck, Source
from agents_manager.checks.recognise.python.facts import PYPROJECT, Facts
from agents_manager.checks.recognise.python.interpreter import (
    CREATED,
    INTERPRETERS,
    PYTHON,
    VENV,
    interpreter,
    minor_version,
)

_ANY_PYTHON = ("py", "py3", "python", "python3")
_TESTS = ("test", "tests", "unit")
_VERSIONED = re.compile(r"(?:py|python)?(3)\.?(\d{1,2})")


def propose(facts: Facts, machine: Machine) -> Proposal | None:
    """Returns a proposal that has tox create its own environment and run the tests in it."""
    file, environments, has_commands = _settings(facts)
    if file is None or not (environments or has_commands):
        return None
    python, missing = interpreter(machine, facts.requires_python)
    name, python = _environment(environments, machine, python)
    run = f"{PYTHON} -m tox run -e {name}"
    folder = facts.folder
    line = folder.line_of(file, "envlist") or folder.line_of(file, "env_list")
    required = re.findall(r"-r\s*([\w./-]+\.txt)", folder.text(file) or "")
    inputs = (file, PYPROJECT, *required, *facts.requirements.files)
    return Proposal(
        ecosystem="tox",
        folder=folder.path,
        source=Source(folder.full_path(file)),
        setup=(
            f"{python} -m venv {VENV}",
            f"{PYTHON} -m pip install tox",
            f"{run} --notest",
        ),
        setup_inputs=tuple(dict.fromkeys(folder.full_path(i) for i in inputs if folder.has(i))),
        checks=(
            ProposedCheck(
                "test",
                run,
                Source(folder.full_path(file), line),
                f'the environment "{name}" of tox',
            ),
        ),
        build_output=(*CREATED, ".tox"),
        suffixes=(".py",),
        missing=tuple(missing),
    )


def _settings(facts: Facts) -> tuple[str | None, list[str], bool]:
    """Returns the file, the names of the environments, and whether they have commands."""
    folder = facts.folder
    for file, base in (("tox.ini", "testenv"), ("setup.cfg", "testenv")):
        document = folder.ini(file)
        core = table(document, "tox") or table(document, "tox:tox")
        if core or base in document:
            return file, *_of_ini(core, document)
    native = folder.toml("tox.toml") or table(facts.pyproject, "tool", "tox")
    file = "tox.toml" if folder.has("tox.toml") else PYPROJECT
    legacy = text_at(native, "legacy_tox_ini")
    if legacy:
        parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
        try:
            parser.read_string(legacy)
        except configparser.Error:
            return None, [], False
        document = {section: dict(parser.items(section)) for section in parser.sections()}
        return file, *_of_ini(table(document, "tox"), document)
    names = [*strings(native.get("env_list")), *table(native, "env")]
    return (file if native else None), names, bool(table(native, "env_run_base"))


def _of_ini(core: Mapping[str, Any], document: Mapping[str, Any]) -> tuple[list[str], bool]:
    listed = str(core.get("envlist") or core.get("env_list") or "")
    sections = (s.removeprefix("testenv:") for s in document if s.startswith("testenv:"))
    commands = bool(table(document, "testenv").get("commands"))
    return [*_expanded(listed), *sections], commands


def _expanded(listed: str) -> Iterator[str]:
    """Yields the environments that a list such as `py{311,312}-django{4,5}` means."""
    plain = re.sub(r"#.*", "", listed)
    for entry in re.findall(r"(?:\{[^{}]*\}|[^\s,{}])+", plain):
        parts = re.split(r"\{([^{}]*)\}", entry)
        choices = [p.split(",") if n % 2 else [p] for n, p in enumerate(parts)]
        combined = itertools.islice(itertools.product(*choices), 200)
        yield from ("".join(part.strip() for part in one) for one in combined)


def _environment(names: Sequence[str], machine: Machine, python: str) -> tuple[str, str]:
    """Returns the environment for the tests, and the Python of this machine that it needs."""
    whole = next((name for name in _ANY_PYTHON if name in names), None)
    if whole is not None:
        return whole, python
    versions = {minor_version(machine, one): one for one in (python, *INTERPRETERS[1:])}
    for version, program in versions.items():
        fitting = [name for name in names if version and _version_of(name) == version]
        if fitting:
            return fitting[-1], program
    return next((name for name in _TESTS if name in names), "py"), python


def _version_of(name: str) -> str | None:
    """Returns the Python that the first factor of an environment names, such as "3.11"."""
    found = _VERSIONED.fullmatch(name.split("-")[0])
    return f"{found[1]}.{found[2]}" if found else None
