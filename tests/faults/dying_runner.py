"""The real runner, told where to die. Stands in for `runner.py` as the program of the detached
process: counts what the runner does to files and processes, kills it at the point it was told, and
keeps a list of the agents it started. Started without site-packages, like the runner itself.

    dying_runner.py RUNNER EVIDENCE KILL JOB-FOLDER
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND


class Points:
    def __init__(self, evidence: str, kill: str) -> None:
        self._kill = kill
        self._log = os.open(f"{evidence}/runner-points", APPEND, 0o600)
        self.who = f"runner {self._ordinal(evidence)}"
        self._counts: dict[str, int] = {}

    def _ordinal(self, evidence: str) -> int:
        fd = os.open(f"{evidence}/runners", APPEND, 0o600)
        os.write(fd, b".")
        return os.lseek(fd, 0, os.SEEK_END)

    def reach(self, name: str) -> None:
        self._counts[name] = self._counts.get(name, 0) + 1
        label = f"{self.who}: {name} #{self._counts[name]}"
        write(self._log, f"{label}\n".encode())
        if label == self._kill:
            os.kill(os.getpid(), signal.SIGKILL)


write, open_, fork, exec_ = os.write, os.open, os.fork, os.execvpe


def lay(points: Points, evidence: str, folder: str) -> None:
    names: dict[int, str] = {2: "runner.log"}

    def counted_open(path, flags, *rest, **fields):
        if flags & WRITES == 0:
            return open_(path, flags, *rest, **fields)
        points.reach(f"open {path} begins")
        fd = open_(path, flags, *rest, **fields)
        names[fd] = str(path)
        points.reach(f"open {path} done")
        return fd

    def counted_write(fd, content):
        points.reach(f"write {names.get(fd, 'pipe')} begins")
        count = write(fd, content)
        points.reach(f"write {names.get(fd, 'pipe')} done")
        return count

    def counted_fork():
        points.reach("fork begins")
        lock = one_at_a_time(evidence, folder)
        pid = fork()
        if pid == 0:
            points.who += " agent"
            os.set_inheritable(lock, True)
        else:
            os.close(lock)
        points.reach("fork done")
        return pid

    def counted_exec(*args):
        points.reach("exec begins")
        exec_(*args)

    os.open, os.write, os.fork, os.execvpe = counted_open, counted_write, counted_fork, counted_exec
    for name in ("replace", "fsync", "dup2", "setsid", "chdir", "waitpid", "killpg"):
        setattr(os, name, around(points, name, getattr(os, name)))
    fcntl.flock = around(points, "flock", fcntl.flock)


def around(points: Points, name: str, call):
    def counted(*args):
        points.reach(f"{name} begins")
        result = call(*args)
        points.reach(f"{name} done")
        return result

    return counted


def one_at_a_time(evidence: str, folder: str) -> int:
    """A lock that the agent inherits and keeps for as long as it lives: two agents at once are
    found out. The list tells how many there were for each job."""
    lock = open_(f"{evidence}/agent", APPEND, 0o600)
    starts = open_(f"{evidence}/agents", APPEND, 0o600)
    try:
        flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        write(starts, f"{folder}\n".encode())
    except BlockingIOError:
        write(starts, f"{folder}\nBESIDE ANOTHER {folder}\n".encode())
    return lock


flock = fcntl.flock


def main(runner: str, evidence: str, kill: str, folder: str) -> None:
    lay(Points(evidence, kill), evidence, folder)
    sys.argv = [runner, folder]
    with open(runner, encoding="utf-8") as file:  # noqa: PTH123 - as lean as the runner
        program = compile(file.read(), runner, "exec")
    exec(program, {"__name__": "__main__", "__file__": runner})


if __name__ == "__main__":
    main(*sys.argv[1:])
