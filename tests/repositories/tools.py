"""The programs that the example repositories need, installed where they are missing, and the
registries that they are configured for on this machine."""

import ipaddress
import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from agents_manager.config_models import PACKAGES
from tests import debian

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".repository-tools"
PINNED: Mapping[str, str] = json.loads((ROOT / "scripts" / "repository_tools.json").read_text())
REGISTRY_FILES = (".npmrc", ".config/pip/pip.conf", ".config/uv/uv.toml", ".cargo/config.toml")
"""Where users say which registries their tools ask."""
SYSTEM = "/usr/local/bin:/usr/bin:/bin"
NPM = ("npm", "install", "--global", "--no-audit", "--no-fund", "--loglevel=error")


def install(name: str, home: Path) -> None:
    """Makes a tool available to the user with this home, whose PATH has `.local/bin` and
    `.npm-global/bin`."""
    if name in PINNED:
        shutil.copytree(_from_npm(name), home / ".npm-global", symlinks=True, dirs_exist_ok=True)
    elif name == "uv":
        (home / ".local" / "bin").mkdir(parents=True, exist_ok=True)
        shutil.copy2(Path(sys.executable).with_name("uv"), home / ".local" / "bin" / "uv")
    else:
        debian.have(name, DEBIAN[name])


def private_registries() -> list[str]:
    """Returns the public registries that this machine's network leads to a private address, as
    `sandbox.addresses` takes them."""
    return [f"{host}:443" for host in PACKAGES if _is_private(host)]


def _is_private(host: str) -> bool:
    try:
        found = socket.getaddrinfo(host, 443, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return not all(ipaddress.ip_address(entry[4][0]).is_global for entry in found)


def _program(name: str) -> Callable[[], str | None]:
    return lambda: shutil.which(name, path=SYSTEM)


def _makes_environments() -> bool | None:
    python = shutil.which("python3", path=SYSTEM)
    command = [python or "python3", "-c", "import ensurepip, venv"]
    return subprocess.run(command, capture_output=True).returncode == 0 or None


DEBIAN: Mapping[str, Callable[[], object | None]] = {
    "npm": _program("npm"),
    "golang-go": _program("go"),
    "cargo": _program("cargo"),
    "python3-venv": _makes_environments,
}


def _from_npm(name: str) -> Path:
    """Returns a folder that npm has installed the pinned release into."""
    folder = FOLDER / name
    mark = folder / ".installed"
    if not mark.exists() or mark.read_text() != PINNED[name]:
        debian.have("npm", DEBIAN["npm"])
        shutil.rmtree(folder, ignore_errors=True)
        command = [*NPM, "--prefix", str(folder), PINNED[name]]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            debian.missing(f"{PINNED[name]} cannot be installed: {done.stderr.strip()[-500:]}")
        mark.write_text(PINNED[name])
    return folder
