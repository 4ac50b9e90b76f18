"""The sandbox of macOS: a profile for `sandbox-exec`, which Apple calls deprecated and which other
agents use all the same. A later rule counts more than an earlier one. Not tried on a Mac."""

from collections.abc import Sequence
from pathlib import Path

from agents_manager.sandbox import bubblewrap
from agents_manager.sandbox.bubblewrap import Cage

PROGRAM = "/usr/bin/sandbox-exec"

BASE = """\
(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow ipc-posix-sem)
(allow mach-lookup
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.trustd.agent"))
(allow file-read*)
(allow file-write-data file-ioctl
  (literal "/dev/null")
  (literal "/dev/zero")
  (literal "/dev/random")
  (literal "/dev/urandom"))
"""


def profile(cage: Cage, ports: Sequence[int]) -> str:
    """What is said of a place holds for all that lies beneath, until something else is said."""
    lines = [
        *_rules("deny", "file-read*", bubblewrap.hidden(cage)),
        # Ways lead through hidden places; what is asked there is only whether they are there.
        "(allow file-read-metadata)",
        *_rules("allow", "file-read*", [*bubblewrap.shown(cage), *bubblewrap.changed(cage)]),
        *_rules("allow", "file-write*", bubblewrap.changed(cage)),
        *_rules("deny", "file-write*", [*bubblewrap.shown(cage), *cage.locks]),
        *(f'(allow network-outbound (remote ip "localhost:{port}"))' for port in ports),
    ]
    return BASE + "".join(f"{line}\n" for line in lines)


def command(cage: Cage, ports: Sequence[int]) -> list[str]:
    return [PROGRAM, "-p", profile(cage, ports), *cage.argv]


def _rules(verdict: str, what: str, places: Sequence[Path]) -> list[str]:
    """For the kernel a place has one name, whatever links lead to it."""
    real = dict.fromkeys(place.resolve() for place in places)
    return [f"({verdict} {what} (subpath {_quoted(place)}))" for place in real]


def _quoted(place: Path) -> str:
    told = str(place).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{told}"'
