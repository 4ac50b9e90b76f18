"""What a command in the git sandbox can do to the helper that started it, to the command after it,
and to the machine. Run as a program, by any user and without site-packages; prints JSON."""

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SOURCES, LEVEL, WORK, TOLD = sys.argv[1:5]
sys.path.insert(0, SOURCES)

from agents_manager.sandbox import direct  # noqa: E402
from agents_manager.sandbox.bubblewrap import Bounds, Cage  # noqa: E402
from agents_manager.scm import sandboxed  # noqa: E402
from agents_manager.scm.sandboxed import Helpers, Started  # noqa: E402

PATH = {"PATH": "/usr/bin:/bin"}
STARTED: list[Any] = []
LEAVES = "setsid sleep 300 & sleep 0.5"
OTHERS = "for each in /proc/[0-9]*; do read -r name < $each/comm; echo $name; done"
MEMORY = "cat /proc/$PPID/environ > /dev/null && echo read; : > /proc/$PPID/mem && echo written"
CONNECTION = "ls /proc/$PPID/fd; ls -l /proc/self/fd | grep -c socket"


def start(control: int, writes: Sequence[Path], reads: Sequence[Path]) -> Started:
    told: dict[str, Any] = json.loads(Path(TOLD).read_text())
    cage = Cage(
        argv=(),
        cwd=Path("/"),
        writes=writes,
        reads=reads,
        hides=[Path(each) for each in told["hides"]],
        bounds=Bounds(file_mb=1, processes=500),
        level=LEVEL,
    )
    STARTED.append(direct.start_git_helper(cage, control))
    return STARTED[-1]


async def run(helpers: Helpers, *argv: str) -> tuple[int, str]:
    reads = [Path(TOLD), *(Path(TOLD).with_name(name) for name in ("escapes.py", "shown"))]
    box = helpers.box([Path(WORK)], reads)
    command = await helpers.run(box, argv, PATH, Path(WORK))
    assert command.stdout
    printed = await command.stdout.read()
    return await command.wait(), printed.decode()


async def main() -> dict[str, Any]:
    helpers = Helpers(start)
    found: dict[str, Any] = {"escapes": await run(helpers, sys.executable, *escapes())}
    found["before"] = await run(helpers, "sh", "-c", f"exec > /dev/null; {LEAVES}")
    found["others"] = await run(helpers, "sh", "-c", OTHERS)
    found["memory"] = await run(helpers, "sh", "-c", MEMORY)
    found["connection"] = await run(helpers, "sh", "-c", CONNECTION)
    found["started"] = len(STARTED)
    found["killed"] = await run(helpers, "sh", "-c", "kill -9 $PPID; sleep 300")
    found["after"] = await run(helpers, "echo", "works")
    sandboxed.IDLE_S = 0.2
    await run(helpers, "true")
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and any(p.poll() is None for p, _ in STARTED):
        await asyncio.sleep(0.05)
    found["left"] = sum(process.poll() is None for process, _ in STARTED)
    return found


def escapes() -> Sequence[str]:
    return ("-I", "-S", str(Path(TOLD).with_name("escapes.py")), TOLD)


sys.stdout.write(json.dumps(asyncio.run(main())))
