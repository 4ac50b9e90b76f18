"""Puts the Bot API of other people's making, which `make test-telegram` tries the Telegram channel
against, into `.telegram-api/`: the release that `telegram_api.json` names, from the registry that
npm is set up for. It takes 7 MB. What is there already is left alone."""

import json
import subprocess
import sys
from pathlib import Path

from agents_manager.webbuild import find_node

ROOT = Path(__file__).resolve().parent.parent
INSTALL = ("install", "--no-audit", "--no-fund", "--no-save", "--ignore-scripts")


def install(name: str, pinned: str) -> int:
    """A package of npm into a folder of its own; the exit code."""
    package: str = json.loads((ROOT / "scripts" / pinned).read_text())["package"]
    folder = ROOT / f".{name}"
    mark = folder / ".installed"
    if mark.exists() and mark.read_text() == package:
        return 0
    node = find_node()
    if node is None:
        print(f"{name}: npm is needed to install it; install Node.js.", file=sys.stderr)
        return 1
    print(f"{name}: {package}", flush=True)
    folder.mkdir(exist_ok=True)
    command = [*node.npm, *INSTALL, "--loglevel=error", "--prefix", str(folder), package]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        print(f"{name}: not installed: {done.stderr.strip()[-2000:]}", file=sys.stderr)
        return 1
    mark.write_text(package)
    return 0


if __name__ == "__main__":
    sys.exit(install("telegram-api", "telegram_api.json"))
