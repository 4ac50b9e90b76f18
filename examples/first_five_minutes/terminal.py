"""A terminal of somebody who has nothing yet: an empty home, a short PATH, and a record of what was
typed and what came of it."""

import hashlib
import os
import pty
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

PATIENCE_S = 300
SHOWN_ID = 8
_DRAWN = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\r")
_LINK = re.compile(r"/login#\S+")
_PORT = re.compile(r"(?<=127\.0\.0\.1:)\d+")
_CLAUDE = re.compile(r"(?<=claude-code )\d+(\.\d+)+|(?<=/claude, version )\d+(\.\d+)+")
CLAUDE = "2.1.327"
_PYTHON = re.compile(r"(?<=/lib/)python3\.\d+")
_AGO = re.compile(r"\b\d+ (s|min) ago\b")


class Terminal:
    def __init__(self, home: Path, env: Mapping[str, str]) -> None:
        self.home = home
        self.cwd = home
        # Wide, because the paths that are shown in the end are shorter than the real ones.
        wide = {"TERM": "xterm", "COLUMNS": "10000"}
        self.env = {**env, **wide, "HOME": str(home), "LANG": "C.UTF-8"}
        self.record: list[str] = []
        self._ids: dict[str, str] = {}

    def type(self, command: str, *, answers: str = "", shown: str | None = None) -> str:
        """Runs a command as its user types it, on a terminal if it asks; it must succeed."""
        out, code = self._asked(command, answers) if answers else self._run(command)
        if code:
            raise SystemExit(f"$ {command}\n{out}\nended with {code}")
        self.record.append(f"$ {shown or command}\n{out}".rstrip())
        return out

    def quietly(self, command: str) -> str:
        out, code = self._run(command)
        if code:
            raise SystemExit(f"$ {command}\n{out}\nended with {code}")
        return out

    def told(self, text: str) -> str:
        """Returns the text without what differs each time: ids, times, ports, the folder, links
        that log in, versions of others."""
        text = text.replace(str(self.home), "~")
        for known, instead in self._ids.items():
            text = text.replace(known, instead)
        text = _LINK.sub("/login#…", text)
        text = _AGO.sub("just now", text)
        text = _PYTHON.sub("python3.11", _CLAUDE.sub(CLAUDE, text))
        return "\n".join(line.rstrip() for line in _PORT.sub("4100", text).splitlines())

    def know(self, id: str) -> str:
        """The beginning of an id that is another every time."""
        made = hashlib.sha256(str(len(self._ids)).encode()).hexdigest()[:SHOWN_ID]
        self._ids.setdefault(id[:SHOWN_ID], made)
        return id[:SHOWN_ID]

    def _run(self, command: str) -> tuple[str, int]:
        ran = subprocess.run(
            ["bash", "-c", command],
            cwd=self.cwd,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        return ran.stdout, ran.returncode

    def _asked(self, command: str, answers: str) -> tuple[str, int]:
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            ["bash", "-c", command],
            cwd=self.cwd,
            env=self.env,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        # One after the other, each behind its question, as on a screen.
        seen = b""
        for answer in answers.splitlines():
            while not seen.rstrip(b" ").endswith(b":"):
                seen += os.read(ours, 65536)
            os.write(ours, answer.encode() + b"\n")
            seen += os.read(ours, 65536)
        while True:
            try:
                seen += os.read(ours, 65536)
            except OSError:  # Linux says so when the other side is closed.
                break
        os.close(ours)
        return _DRAWN.sub("", seen.decode()), process.wait(PATIENCE_S)
