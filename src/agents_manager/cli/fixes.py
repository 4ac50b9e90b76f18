"""Commands that mend what the doctor finds, as this machine takes them."""

import os
import shlex
import shutil
import sys
from pathlib import Path

PACKAGE = "agents-manager"
INSTALLERS = {
    "apt-get": "sudo apt-get install {package}",
    "dnf": "sudo dnf install {package}",
    "pacman": "sudo pacman -S {package}",
    "apk": "sudo apk add {package}",
    "zypper": "sudo zypper install {package}",
    "brew": "brew install {package}",
}
SYSCTL = Path("/proc/sys")
NAMESPACES = {
    "kernel.apparmor_restrict_unprivileged_userns": ("1", "0"),
    "kernel.unprivileged_userns_clone": ("0", "1"),
    "user.max_user_namespaces": ("0", "10000"),
}
"""Settings of the kernel by which users are kept from namespaces: as they stand then, and as they
would not be kept."""


def install(package: str) -> str:
    """By what the machine installs programs with."""
    for program, command in INSTALLERS.items():
        if shutil.which(program):
            return command.format(package=package)
    if sys.platform == "darwin" and package == "git":
        return "xcode-select --install"
    return INSTALLERS["apt-get"].format(package=package)


def upgrade() -> str:
    """Of this program, the way it was installed."""
    if Path(sys.prefix).match("uv/tools/*"):
        return f"uv tool upgrade {PACKAGE}"
    return f"{shlex.quote(sys.executable)} -m pip install --upgrade {PACKAGE}"


def uninstall(package: str) -> str:
    if Path(sys.prefix).match("uv/tools/*"):
        return f"uv pip uninstall --python {shlex.quote(sys.executable)} {shlex.quote(package)}"
    return f"{shlex.quote(sys.executable)} -m pip uninstall {shlex.quote(package)}"


def edit(path: Path | str) -> str:
    return f'"${{EDITOR:-vi}}" {quoted(path)}'


def own(home: Path) -> tuple[str, str]:
    """A data directory that can be written: this one, or another."""
    mine = home.is_dir() and home.stat().st_uid == os.geteuid()
    here = f"chmod u+rwx {quoted(home)}" if mine else f'sudo chown -R "$(id -u)" {quoted(home)}'
    return (here if home.is_dir() else f"mv {quoted(home)} {quoted(home)}.aside"), (
        "export AM_HOME=FOLDER"
    )


def clock() -> str:
    if sys.platform == "darwin":
        return "sudo sntp -sS time.apple.com"
    return "sudo timedatectl set-ntp true"


def sandbox(*, wanted: str, there: bool) -> tuple[str, ...]:
    """What would bring one; else what lets agents work without. `there`: bubblewrap is."""
    if wanted == "none":
        return ("am config unset --user sandbox.level --yes",)
    found: list[str] = []
    if sys.platform == "linux" and not there:
        found.append(install("bubblewrap"))
    for name, (closed, opened) in NAMESPACES.items():
        if _kernel(name) == closed:
            found.append(f"sudo sysctl -w {name}={opened}")
    if wanted != "auto":
        return (*found, "am config set --user sandbox.level auto --yes")
    return (*found, "am project consent PROJECT")


def _kernel(name: str) -> str | None:
    try:
        return (SYSCTL / name.replace(".", "/")).read_text(encoding="ascii").strip()
    except OSError:
        return None


def quoted(path: Path | str) -> str:
    return shlex.quote(str(path))
