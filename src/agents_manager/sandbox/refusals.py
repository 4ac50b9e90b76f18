"""What a sandbox kept a command from reaching: connections that the proxy refused, and ports of
this machine that the command's own error messages name. All names come from the command, so they
are untrusted."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from agents_manager.addresses import is_number
from agents_manager.domain.names import visible
from agents_manager.flow.ports import Refusal, Refusals
from agents_manager.sandbox.bubblewrap import EGRESS_PORT
from agents_manager.sandbox.egress import LOG_BYTES, NAME

MOST = 20
LONGEST_PLACE = 100
SILENT = ("let through", "broke: ", "cut: ", "it cannot be reached", "the name has no address")
"""How the proxy describes connections that no setting of the sandbox would make work."""
ALLOWABLE = ("addresses are not", "port ", "the name is not on", "the name leads to", "programs on")
"""How the reasons begin that `sandbox.addresses` overrules."""
NEAR_PORT = "programs on this machine are not let through"
TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
LISTENS = "0A"
_NEAR = re.compile(r"(?<![\w.])(?:127\.0\.0\.1|localhost|\[?::1\]?):(\d{1,5})(?!\d)")


def found(log: Path, cage: Path, complaints: str) -> list[Refusal]:
    """Return what was refused to an ended command. `log` is the proxy's record, `cage` describes
    the sandbox, and `complaints` is what the command printed as errors."""
    seen = dict[str, Refusal]()
    for entry in _entries(log):
        match entry:
            case {"place": str(place), "said": str(why)} if not why.startswith(SILENT):
                place = visible(place, LONGEST_PLACE)
                seen.setdefault(place, Refusal(place=place, why=visible(why, LONGEST_PLACE)))
            case _:
                pass
    for port in _near_ports(cage, complaints):
        place = f"127.0.0.1:{port}"
        seen.setdefault(place, Refusal(place=place, why=NEAR_PORT))
    return list(seen.values())


def described(refused: Sequence[Refusal], allowed: Sequence[str]) -> Refusals:
    """Return these refusals with the command that allows their places in addition to `allowed`,
    the present value of `sandbox.addresses`."""
    shown = tuple(refused[:MOST])
    more = [r.place for r in shown if r.why.startswith(ALLOWABLE) and _is_place(r.place)]
    value = json.dumps(list(dict.fromkeys([*allowed, *more])))
    command = f"am config set --user sandbox.addresses {shlex.quote(value)}" if more else ""
    return Refusals(refused=shown, more=len(refused) - len(shown), allow=command)


def _is_place(place: str) -> bool:
    """Return whether a place can be a value of the setting. Nothing else gets into a command that
    people paste."""
    host, _, port = place.rpartition(":")
    named = NAME.fullmatch(host) is not None or is_number(host)
    return named and port.isascii() and port.isdigit() and 0 < int(port) <= 65_535


def _entries(log: Path) -> Iterator[Any]:
    try:
        with log.open("rb") as file:
            lines = file.read(2 * LOG_BYTES).splitlines()
    except OSError:
        return
    for line in lines:
        with suppress(ValueError):  # The last line may be cut off.
            yield json.loads(line)


def _near_ports(cage: Path, complaints: str) -> list[int]:
    """Return the ports that the errors name, that a program on this machine listens on, and that
    the sandbox does not have."""
    named = {int(port) for port in _NEAR.findall(complaints)} - {EGRESS_PORT}
    if not named:
        return []
    try:
        described: Mapping[str, Any] = json.loads(cage.read_bytes())
        open_ports = {int(port) for port in described["ports"]}
    except (OSError, ValueError, LookupError, TypeError):
        return []
    return sorted((named - open_ports) & _listening())


def _listening() -> set[int]:
    ports: set[int] = set()
    for table in TABLES:
        with suppress(OSError):
            rows = (line.split() for line in table.read_text().splitlines()[1:])
            ports |= {int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == LISTENS}
    return ports
