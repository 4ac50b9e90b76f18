#!/usr/bin/env python3
"""`systemctl`, `loginctl`, `journalctl` and `launchctl` of a machine that has one user and no init:
called by one of these names it does what the real program does, with the same words, and refuses
arguments it does not know. systemd's unit files are read by the rules of systemd.syntax(7) and
systemd.service(5); what a unit names is really started and stopped."""
# ruff: noqa: T201

import json
import os
import plistlib
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(os.environ.get("FAKE_LAUNCHERS", ""))
BUS = "Failed to connect to bus: No medium found"
_WORD = re.compile(r'"((?:[^"\\]|\\.)*)"(?:\s+|$)')


def main() -> int:
    name, args = Path(sys.argv[0]).name, sys.argv[1:]
    with (HERE / "calls").open("a") as calls:
        calls.write(json.dumps([name, *args]) + "\n")
    if (HERE / "down").exists():
        return refuse(BUS)
    return {
        "systemctl": systemctl,
        "loginctl": loginctl,
        "journalctl": journalctl,
        "launchctl": launchctl,
    }[name](args)


def install(folder: Path, bin: Path) -> dict[str, str]:
    """The programs in a folder, and the variables they need."""
    for each in (folder, bin):
        each.mkdir(parents=True, exist_ok=True)
    for name in ("systemctl", "loginctl", "journalctl", "launchctl"):
        program = bin / name
        program.write_text(f"#!{sys.executable}\n" + Path(__file__).read_text())
        program.chmod(0o755)
    return {"FAKE_LAUNCHERS": str(folder), "PATH": f"{bin}:{os.environ['PATH']}"}


def calls(folder: Path) -> list[list[str]]:
    return [json.loads(line) for line in (folder / "calls").read_text().splitlines()]


def refuse(text: str) -> int:
    print(text, file=sys.stderr)
    return 1


# ---------------------------------------------------------------------------------------- systemd


def systemctl(args: list[str]) -> int:
    assert args[0] == "--user", args
    match args[1:]:
        case ["show-environment"]:
            print(f"HOME={Path.home()}")
        case ["daemon-reload"]:
            shutil.rmtree(HERE / "loaded", ignore_errors=True)
            if units().exists():
                shutil.copytree(units(), HERE / "loaded")
        case ["enable", unit]:
            return enable(unit)
        case ["restart", unit]:
            stop(unit)
            start(unit)
        case ["disable", "--now", unit]:
            (HERE / f"enabled-{unit}").unlink(missing_ok=True)
            stop(unit)
        case ["show", unit, *wanted]:
            found = shown(unit)
            for one in wanted:
                name = one.removeprefix("--property=")
                print(f"{name}={found[name]}")
        case _:
            return refuse(f"Unknown command verb {args}.")
    return 0


def enable(unit: str) -> int:
    if not (HERE / "loaded" / unit).exists():
        return refuse(f"Failed to enable unit: Unit file {unit} does not exist.")
    if (HERE / "full").exists():
        return refuse("Failed to enable unit: No space left on device")
    assert read(unit)["WantedBy"] == ["default.target"]
    (HERE / f"enabled-{unit}").touch()
    return 0


def shown(unit: str) -> dict[str, str]:
    pid = live(unit)
    enabled = (HERE / f"enabled-{unit}").exists()
    return {
        "UnitFileState": "enabled" if enabled else "",
        "ActiveState": "active" if pid else "inactive",
        "SubState": "running" if pid else "dead",
        "MainPID": str(pid or 0),
        "NRestarts": "0",
    }


def units() -> Path:
    above = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(above) / "systemd" / "user"


def read(unit: str) -> dict[str, list[str]]:
    """The settings of a unit; a name may be given several times."""
    found: dict[str, list[str]] = {}
    for line in (HERE / "loaded" / unit).read_text().splitlines():
        if line and line[0] not in "#;[":
            assert not line.endswith("\\"), "the next line would belong to it"
            name, _, value = line.partition("=")
            found.setdefault(name, []).append(value)
    return found


def words(text: str) -> list[str]:
    found: list[str] = []
    at = 0
    while at < len(text):
        word = _WORD.match(text, at)
        assert word, f"not a word: {text[at:]}"
        found.append(specifiers(re.sub(r'\\(["\\])', r"\1", word[1])))
        at = word.end()
    return found


def specifiers(text: str) -> str:
    assert not re.search(r"(?<!%)%(%%)*(?!%)", text), f"a specifier: {text}"
    return text.replace("%%", "%")


def start(unit: str) -> None:
    said = read(unit)
    program, *rest = words(said["ExecStart"][0])
    rest = [word.replace("$$", "\0") for word in rest]
    assert not any("$" in word for word in rest), "a variable would be put in"
    env = {"HOME": str(Path.home()), "USER": "ada", "LANG": "C.UTF-8"}
    for line in said.get("Environment", []):
        for word in words(line):
            name, _, value = word.partition("=")
            env[name] = value
    for line in said.get("EnvironmentFile", []):
        file = Path(specifiers(line.removeprefix("-")))
        if file.exists() or not line.startswith("-"):
            pairs = (line.partition("=") for line in file.read_text().splitlines() if "=" in line)
            env |= {name: value.strip("'\"") for name, _, value in pairs}
    journal = (HERE / f"journal-{unit}").open("ab")
    out = subprocess.DEVNULL if said.get("StandardOutput") == ["null"] else journal
    command = [program, *(word.replace("\0", "$") for word in rest)]
    ran = subprocess.Popen(
        command, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=journal, cwd=Path.home(),
        start_new_session=True,
    )  # fmt: skip
    (HERE / f"pid-{unit}").write_text(str(ran.pid))


def live(unit: str) -> int | None:
    try:
        pid = int((HERE / f"pid-{unit}").read_text())
        return pid if Path("/proc", str(pid), "cmdline").read_bytes() else None
    except FileNotFoundError:
        return None


def stop(unit: str) -> None:
    pid = live(unit)
    if pid is None:
        return
    if read(unit).get("KillMode") == ["process"]:
        os.kill(pid, signal.SIGTERM)
    else:
        os.killpg(pid, signal.SIGTERM)
    end = time.monotonic() + int(read(unit)["TimeoutStopSec"][0])
    while live(unit) and time.monotonic() < end:
        time.sleep(0.02)
    assert not live(unit), "it had to be killed"


def loginctl(args: list[str]) -> int:
    match args:
        case ["show-user", user, "--property=Linger"] if user == str(os.getuid()):
            print("Linger=yes" if (HERE / "linger").exists() else "Linger=no")
            return 0
        case _:
            return refuse(f"Unknown command verb {args}.")


def journalctl(args: list[str]) -> int:
    match args:
        case ["--user", "--unit", unit, "--lines", number, "--output", "cat", "--no-pager"]:
            journal = HERE / f"journal-{unit}.service"
            lines = journal.read_text().splitlines() if journal.exists() else []
            print("\n".join(lines[-int(number) :]))
            return 0
        case _:
            return refuse(f"Failed to parse {args}.")


# ---------------------------------------------------------------------------------------- launchd


def launchctl(args: list[str]) -> int:
    domain = f"gui/{os.getuid()}"
    match args:
        case ["bootstrap", where, file] if where == domain:
            document = plistlib.loads(Path(file).read_bytes())
            label = document["Label"]
            if (HERE / label).exists():
                return refuse("Bootstrap failed: 5: Input/output error")
            assert Path(file).name == f"{label}.plist"
            (HERE / label).write_text(json.dumps(document))
            return 0
        case ["enable", target]:
            return 0 if target.startswith(f"{domain}/") else refuse("Unrecognized target specifier")
        case ["bootout", target]:
            label = HERE / target.removeprefix(f"{domain}/")
            if not label.exists():
                return refuse("Boot-out failed: 3: No such process")
            label.unlink()
            return 0
        case ["print", target]:
            if not (HERE / target.removeprefix(f"{domain}/")).exists():
                print(f'Could not find service "{target}" in domain', file=sys.stderr)
                return 113
            print(f"{target} = {{\n\tactive count = 1\n\tstate = running\n\n\tpid = 4321\n}}")
            return 0
        case _:
            return refuse(f"Unrecognized subcommand: {args}")


if __name__ == "__main__":
    sys.exit(main())
