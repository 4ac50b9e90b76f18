"""What the system is told so that it keeps a server or a worker going: a unit of systemd, or a
property list of launchd. Pure text; who starts them is in `launchers`.

Nothing secret stands in it: secrets are read at the start from a file of its user's alone.
"""

import hashlib
import plistlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agents_manager.errors import InvalidInput

Owner = Literal["ours", "edited", "foreign"]

MADE = 'Made by "am service install", which replaces it; sha256: '
_MARK = re.compile(rf"^.*{re.escape(MADE)}([0-9a-f]{{64}}).*\n", re.M)
_HOME = re.compile(r'"AM_HOME=(.*)"|<key>AM_HOME</key>\s*<string>(.*)</string>')
STOP_S = 30
# A file that anybody may leave out, whose lines a shell reads as systemd does.
WITH_SECRETS = 'if [ -r "$1" ]; then set -a; . "$1"; set +a; fi; shift; exec "$@"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    name: str
    title: str
    command: Sequence[str]
    """The program by its absolute path, and its arguments."""
    environment: Mapping[str, str]
    secrets: Path
    """Lines of NAME=value; need not be there."""
    log: Path
    """Where there is no journal."""

    def __post_init__(self) -> None:
        for text in (*self.command, *self.environment.values(), str(self.secrets), str(self.log)):
            if not text.isprintable():
                raise InvalidInput(
                    f"{text!r} holds a line break or another character that cannot stand in the"
                    " file of a service; use another name."
                )


def systemd(unit: Unit) -> str:
    # Variables are put in from the second word on.
    program, *rest = map(_word, unit.command)
    command = " ".join([program, *(word.replace("$", "$$") for word in rest)])
    variables = "".join(
        f"Environment={_word(f'{name}={value}')}\n" for name, value in unit.environment.items()
    )
    text = f"""\
[Unit]
Description={unit.title}
StartLimitIntervalSec=300
StartLimitBurst=10

[Service]
Type=exec
ExecStart={command}
{variables}EnvironmentFile=-{_percent(str(unit.secrets))}
# What it prints first logs in, which does not belong into a journal.
StandardOutput=null
StandardError=journal
SyslogIdentifier={unit.name}
Restart=on-failure
RestartSec=2
# Wrong usage does not get better.
RestartPreventExitStatus=2
# Agents have runners of their own, and go on.
KillMode=process
TimeoutStopSec={STOP_S}

[Install]
WantedBy=default.target
"""
    return _signed("", text, f"# {MADE}", "")


def launchd(unit: Unit) -> str:
    document = {
        "Label": unit.name,
        "ProgramArguments": [
            *("/bin/sh", "-c", WITH_SECRETS, unit.name, str(unit.secrets)),
            *unit.command,
        ],
        "EnvironmentVariables": dict(unit.environment),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 5,
        "ExitTimeOut": STOP_S,
        # Agents go on.
        "AbandonProcessGroup": True,
        # What it prints first logs in.
        "StandardOutPath": "/dev/null",
        "StandardErrorPath": str(unit.log),
    }
    xml = plistlib.dumps(document, sort_keys=False).decode()
    head = xml.index("<plist")
    return _signed(xml[:head], xml[head:], f"<!-- {MADE}", " -->")


def owner(text: str) -> Owner:
    found = _MARK.search(text)
    if found is None:
        return "foreign"
    rest = text[: found.start()] + text[found.end() :]
    return "ours" if _digest(rest) == found[1] else "edited"


def home(text: str) -> str | None:
    """The data directory that a file names, as it is written there."""
    found = _HOME.search(text)
    return (found[1] or found[2]) if found else None


def _signed(head: str, rest: str, before: str, after: str) -> str:
    return f"{head}{before}{_digest(head + rest)}{after}\n{rest}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _word(text: str) -> str:
    """As systemd reads words between quotation marks."""
    return '"' + _percent(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _percent(text: str) -> str:
    return text.replace("%", "%%")
