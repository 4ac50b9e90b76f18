"""The users whose repositories these are: whoever runs the tests, or a plain user made by root."""

import json
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.e2e.am_program import Am, document
from tests.repositories import tools

ROOT = Path(__file__).parents[2]
MODEL = "claude-sonnet-4-5"
PATIENCE_S = 300.0
GIT = '[user]\nname = "Ada Löve"\nemail = ada@example.org\n[init]\ndefaultBranch = main\n'
REGISTRIES = ("PIP_", "UV_", "NPM_CONFIG_", "npm_config_", "SSL_CERT", "NODE_EXTRA_CA_CERTS")
"""How the names of variables begin that say where packages come from, on this machine."""


@dataclass(frozen=True)
class Account:
    """A user of the machine with a home of its own and `am` installed."""

    am: Path
    home: Path
    ids: tuple[int, int] | None = None
    """User and group, if it is another user than the one who runs the tests."""
    variables: dict[str, str] = field(default_factory=dict[str, str])
    forked: Am | None = None
    """Runs the commands of `am` in less time, for the user who runs the tests."""

    @property
    def env(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if k.startswith(REGISTRIES)}
        folders = (self.home / ".local/bin", self.home / ".npm-global/bin")
        path = ":".join([*map(str, folders), "/usr/local/bin:/usr/bin:/bin"])
        own = {"HOME": str(self.home), "USER": "ada", "PATH": path, "LANG": "C.UTF-8"}
        return {**kept, **own, "GIT_CONFIG_NOSYSTEM": "1", **self.variables}

    def run(
        self, *argv: str | Path, cwd: Path | None = None, check: bool = True
    ) -> "subprocess.CompletedProcess[str]":
        """Runs a program as this user."""
        done = subprocess.run(
            argv,
            cwd=cwd or self.home,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            **self._identity,
        )
        if check and done.returncode:
            words = " ".join(map(str, argv))
            raise AssertionError(f"{words}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    def am_command(self, args: Sequence[str], cwd: Path) -> tuple[int, str, str]:
        """Runs `am` as this user; returns its exit status, its output and its errors."""
        if self.forked is not None:
            done = self.forked(*args, cwd=cwd, env=self.env)
            return done.code, done.out, done.err
        ran = self.run(self.am, *args, cwd=cwd, check=False)
        return ran.returncode, ran.stdout, ran.stderr

    def write(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        self.own(path)

    def own(self, path: Path) -> None:
        """Makes a file or folder this user's, with what is in it and the new folders above it."""
        if self.ids is None:
            return
        above = [p for p in path.parents if p.is_relative_to(self.home)]
        for each in (path, *above, *path.rglob("*")):
            os.chown(each, *self.ids, follow_symlinks=False)

    @contextmanager
    def serving(self, log: Path) -> Generator[dict[str, Any]]:
        """Runs `am serve` until the end of the block; provides what it prints when it is ready."""
        with log.open("wb") as errors:
            server = subprocess.Popen(
                [self.am, "serve", "--port", "0", "--json"],
                stdout=subprocess.PIPE,
                stderr=errors,
                env=self.env,
                cwd=self.home,
                text=True,
                **self._identity,
            )
        try:
            yield document(server, log)
            server.send_signal(signal.SIGINT)
            server.communicate(timeout=30)
            assert server.returncode == 0, log.read_text()
            assert "Traceback" not in log.read_text()
        finally:
            server.kill()
            server.communicate()

    @property
    def _identity(self) -> Mapping[str, Any]:
        if self.ids is None:
            return {}
        return {"user": self.ids[0], "group": self.ids[1], "extra_groups": []}


@contextmanager
def current(folder: Path) -> Generator[Account]:
    """Provides whoever runs the tests, with a home in the folder."""
    am = Am(folder)
    am.env, am.patience_s = {}, PATIENCE_S
    am.home.mkdir()
    account = Account(am=Path(sys.executable).with_name("am"), home=folder / "home", forked=am)
    account.home.mkdir()
    with am.quickly():
        yield _ready(account)


@contextmanager
def plain(installed: Path) -> Generator[Account]:
    """Provides a new user, who is removed with all files and processes afterwards. Needs root."""
    name = f"am-{secrets.token_hex(4)}"
    subprocess.run(["useradd", "--create-home", "--shell", "/bin/sh", name], check=True)
    known = pwd.getpwnam(name)
    try:
        ids = (known.pw_uid, known.pw_gid)
        yield _ready(Account(am=installed / "bin" / "am", home=Path(known.pw_dir), ids=ids))
    finally:
        _end_processes(known.pw_uid)
        subprocess.run(["userdel", "--remove", name], check=True, capture_output=True)


@contextmanager
def installation() -> Generator[Path]:
    """Provides a virtual environment that every user can run, with the wheel of `make wheel` and
    its dependencies as the lock file pins them."""
    wheels = sorted((ROOT / "dist").glob("*.whl"))
    assert wheels, "There is no wheel; run: make wheel"
    uv = Path(sys.executable).with_name("uv")
    with tempfile.TemporaryDirectory(prefix="agents-manager-", dir="/opt") as name:
        folder = Path(name)
        folder.chmod(0o755)
        python = shutil.which("python3", path="/usr/local/bin:/usr/bin")
        assert python, "There is no Python that every user can run."
        subprocess.run([uv, "venv", "--quiet", "--python", python, folder / "venv"], check=True)
        lock = _without_hashes(folder / "constraints.txt")
        install = [uv, "pip", "install", "--quiet", "--compile-bytecode", "--constraint", lock]
        target = ["--python", folder / "venv" / "bin" / "python", f"{wheels[-1]}[claude]"]
        subprocess.run([*install, *target], check=True)
        yield folder / "venv"


def _without_hashes(file: Path) -> Path:
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    pins = [line.rstrip(" \\") for line in lines if line and not line.startswith((" ", "#"))]
    file.write_text("\n".join(pins))
    return file


def _ready(account: Account) -> Account:
    """Writes what a new user has: a name for commits, and the machine's package registries."""
    account.write(account.home / ".gitconfig", GIT)
    for name in tools.REGISTRY_FILES:
        source = Path.home() / name
        if source.is_file():
            account.write(account.home / name, source.read_text(encoding="utf-8"))
    settings: dict[str, Any] = {"agents": {"claude-code": {"model": MODEL}}}
    if private := tools.private_registries():
        settings["sandbox"] = {"addresses": private}
    account.write(account.home / ".agents-manager" / "config.json", json.dumps(settings))
    return account


def _end_processes(user: int) -> None:
    for _ in range(50):
        mine = [p for p in Path("/proc").glob("[0-9]*") if _owner(p) == user]
        if not mine:
            return
        for process in mine:
            try:
                os.kill(int(process.name), signal.SIGKILL)
            except ProcessLookupError:
                continue
        time.sleep(0.1)


def _owner(path: Path) -> int | None:
    try:
        return path.stat().st_uid
    except OSError:
        return None
