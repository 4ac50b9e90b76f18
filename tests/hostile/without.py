"""The program around a sandbox, with some of its measures switched off: what each of them is for
shows where it is missing."""

import os
import subprocess
import sys
from collections.abc import Sequence

sys.path.insert(0, sys.argv[1])

from agents_manager.sandbox import (
    alone,
    bubblewrap,
    connecting,
    egress,
    guard,
    launch,
    seatbelt,
    telling,
    tree,
)


def off(measure: str) -> None:
    match measure:
        case "environment":
            launch._started = _with_environment
        case "limits":
            telling.limits = lambda bounds: {}
        case "other user":
            cage = bubblewrap.Cage.loaded(sys.argv[3])
            launch.INSIDE = next(path for path in cage.reads if path.name == "stays-root.py")
        case "read-only root":
            bubblewrap.MEASURES[measure] = lambda cage, given: ["--bind", "/", "/"]
        case "shown read-only":
            bubblewrap.MEASURES["granted"] = _all_writable(bubblewrap.MEASURES["granted"])
        case "names":
            egress.check = lambda asked, hosts, private: True
        case "addresses":
            connecting.granted = lambda address, ports: True
        case "sandbox-exec":
            seatbelt.command = lambda cage, ports: list(cage.argv)
        case "end of all":
            tree.end_below = lambda: None
        case "rules" | "filter":
            del guard.MEASURES[measure]
        case _:
            del bubblewrap.MEASURES[measure]


def _with_environment(argv: Sequence[str], passed: Sequence[int]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(argv, env=dict(os.environ), cwd="/", pass_fds=passed, umask=0o022)


def _all_writable(measure: bubblewrap.Measure) -> bubblewrap.Measure:
    def granted(cage: bubblewrap.Cage, given: bubblewrap.Given) -> list[str]:
        return [part.replace("--ro-bind", "--bind") for part in measure(cage, given)]

    return granted


for named in filter(None, sys.argv[2].split(",")):
    off(named)
if sys.argv[3] == "guard":
    guard.main(*map(int, sys.argv[4:]))
alone.GUARD = (*bubblewrap.PROGRAM[:3], *sys.argv[:3], "guard")
launch.main(sys.argv[3:])
