"""The program around a sandbox, with some of its measures switched off: what each of them is for
shows where it is missing."""

import os
import sys
from typing import NoReturn

sys.path.insert(0, sys.argv[1])

from agents_manager.sandbox import (
    alone,
    bubblewrap,
    connecting,
    egress,
    guard,
    launch,
    namespaces,
    seatbelt,
    telling,
    tree,
)


def _with_environment(argv: list[str]) -> NoReturn:
    os.execve(argv[0], argv, dict(os.environ))


def _all_writable(measure: bubblewrap.Measure) -> bubblewrap.Measure:
    def granted(cage: bubblewrap.Cage, given: bubblewrap.Given) -> list[str]:
        return [part.replace("--ro-bind", "--bind") for part in measure(cage, given)]

    return granted


REPLACED: dict[str, tuple[object, str, object]] = {
    "environment": (namespaces, "_execute", _with_environment),
    "limits": (telling, "limits", lambda bounds: {}),
    "names": (egress, "check", lambda asked, hosts, private: True),
    "addresses": (connecting, "granted", lambda address, ports: True),
    "sandbox-exec": (seatbelt, "command", lambda cage, ports: list(cage.argv)),
    "end of all": (tree, "end_below", lambda: None),
}


def off(measure: str) -> None:
    if measure in REPLACED:
        setattr(*REPLACED[measure])
        return
    match measure:
        case "other user":
            cage = bubblewrap.Cage.from_json(launch.read(sys.argv[3]))
            program = next(path for path in cage.reads if path.name == "stays_root.py")
            start = namespaces.INSIDE[0].replace("import inside", "import stays_root as inside")
            namespaces.INSIDE = (start, str(program.parent))
        case "read-only root":
            bubblewrap.MEASURES[measure] = lambda cage, given: ["--bind", "/", "/"]
        case "shown read-only":
            bubblewrap.MEASURES["granted"] = _all_writable(bubblewrap.MEASURES["granted"])
        case "rules" | "filter":
            del guard.MEASURES[measure]
        case _:
            del bubblewrap.MEASURES[measure]


for named in filter(None, sys.argv[2].split(",")):
    off(named)
if sys.argv[3] == "guard":
    guard.main(*map(int, sys.argv[4:]))
alone.GUARD = (*bubblewrap.PROGRAM[:3], *sys.argv[:3], "guard")
launch.main(sys.argv[3:])
