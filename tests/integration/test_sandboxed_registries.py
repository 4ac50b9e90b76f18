"""Set-up in the real sandbox reaches the package registries of its user, and no other address."""

import http.server
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents_manager.sandbox.keeper import Rules
from tests import sandboxes

ASK = """\
import os, sys, urllib.request
try:
    print(urllib.request.urlopen(sys.argv[1], timeout=10).status, os.environ.get("PIP_INDEX_URL"))
except OSError as error:
    print("refused", error)
"""


class _Registry(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Keeps the test's output clean."""


@pytest.fixture
def registry() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Registry) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


def ask(tmp_path: Path, address: str, rules: Rules) -> str:
    """Returns what a sandboxed command gets from the address."""
    command = [sys.executable, "-c", ASK, f"http://{address}/simple/"]
    return sandboxed(tmp_path, command, rules)


def sandboxed(tmp_path: Path, command: list[str], rules: Rules) -> str:
    """Returns what a command prints in the sandbox. Its home is a folder that it can write."""
    tree = tmp_path / "tree"
    tree.mkdir(exist_ok=True)
    env = {"PATH": os.environ["PATH"], "HOME": str(tree), "TMPDIR": str(tree)}
    argv = sandboxes.keeper(tmp_path / "am", rules).command(command, env, tree, writes=[tree])
    return subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60).stdout


def test_a_registry_of_the_machine_is_reached_without_its_credentials(
    tmp_path: Path, registry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandboxes.installed()
    monkeypatch.setenv("PIP_INDEX_URL", f"http://ann:hunter2@{registry}/simple")
    said = ask(tmp_path, registry, Rules(registries=True))
    assert said == f"200 http://{registry}/simple\n"


def test_it_is_refused_if_the_user_chose_the_hosts(
    tmp_path: Path, registry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandboxes.installed()
    monkeypatch.setenv("PIP_INDEX_URL", f"http://{registry}/simple")
    assert ask(tmp_path, registry, Rules(registries=False)).startswith("refused")


def test_an_address_that_is_no_registry_is_refused(
    tmp_path: Path, registry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandboxes.installed()
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:2/simple")
    assert ask(tmp_path, registry, Rules(registries=True)).startswith("refused")


def test_settings_of_the_user_are_in_the_home_without_credentials(
    tmp_path: Path, own_home: Path
) -> None:
    sandboxes.installed()
    (own_home / ".npmrc").write_text("registry=https://npm.example/\n//npm.example/:_authToken=x\n")
    (own_home / ".config" / "pip").mkdir(parents=True)
    (own_home / ".config" / "pip" / "pip.conf").write_text("[global]\nindex-url = https://a/b\n")
    look = [
        "sh",
        "-c",
        'cat "$HOME/.npmrc" "$HOME/.config/pip/pip.conf"; touch "$HOME/.config/own"',
    ]
    said = sandboxed(tmp_path, look, Rules())
    assert said == "registry=https://npm.example/\n[global]\nindex-url = https://a/b\n"


def test_a_link_that_a_command_left_in_the_home_is_not_followed(
    tmp_path: Path, own_home: Path
) -> None:
    sandboxes.installed()
    (own_home / ".npmrc").write_text("registry=https://npm.example/\n")
    (own_home / ".cargo").mkdir()
    (own_home / ".cargo" / "config.toml").write_text('[registries.own]\nindex = "https://own/"\n')
    sandboxed(tmp_path, ["sh", "-c", "rm -r .npmrc .cargo; ln -s victim .npmrc"], Rules())
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "tree" / ".cargo").symlink_to(tmp_path / "elsewhere")
    sandboxed(tmp_path, ["true"], Rules())
    assert not (tmp_path / "tree" / "victim").exists()
    assert list((tmp_path / "elsewhere").iterdir()) == []
