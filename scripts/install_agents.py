"""Puts the agents that `make test-agents` tries into `.agents/`, each in a folder of its own, from
the registries that npm and uv are set up for. The releases are those of `agents.json`.

All of them take about 2.5 GB. What is there already is left alone."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
AGENTS = ROOT / ".agents"
PINNED = ROOT / "scripts" / "agents.json"
NPM = ("npm", "install", "--no-audit", "--no-fund", "--no-save", "--loglevel=error")


def main() -> int:
    pinned = json.loads(PINNED.read_text())
    failed: list[str] = []
    for kind, install in (("npm", npm), ("pypi", pypi)):
        for name, package in pinned[kind].items():
            mark = AGENTS / name / ".installed"
            if mark.exists() and mark.read_text() == package:
                continue
            print(f"agents: {package}", end=" ", flush=True)
            started = time.monotonic()
            done = install(AGENTS / name, package)
            print(f"({time.monotonic() - started:.0f} s)", flush=True)
            if done.returncode:
                failed.append(f"{package}: {done.stderr.strip()[-2000:]}")
            else:
                mark.write_text(package)
    for why in failed:
        print(f"agents: not installed: {why}", file=sys.stderr)
    return 1 if failed else 0


def npm(folder: Path, package: str) -> "subprocess.CompletedProcess[str]":
    """With the Node.js that is installed first: npm takes an older release of a package, without a
    word, where the one at hand is too old."""
    folder.mkdir(parents=True, exist_ok=True)
    node = AGENTS / "node" / "node_modules" / ".bin"
    env = {**os.environ, "PATH": f"{node}{os.pathsep}{os.environ['PATH']}"}
    return run([*NPM, "--prefix", str(folder), package], env)


def pypi(folder: Path, package: str) -> "subprocess.CompletedProcess[str]":
    uv = str(Path(sys.executable).with_name("uv"))
    done = run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)])
    if done.returncode:
        return done
    return run([uv, "pip", "install", "--quiet", "--python", str(folder / "bin/python"), package])


def run(
    command: list[str], env: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, env=env, capture_output=True, text=True, cwd=ROOT)


if __name__ == "__main__":
    sys.exit(main())
