"""The rules of Landlock as they are assembled, and the addresses that may be connected to."""

import socket
from pathlib import Path

import pytest

from agents_manager.sandbox import connecting, landlock
from agents_manager.sandbox.bubblewrap import Cage


def test_what_is_open_is_all_but_what_is_hidden(tmp_path: Path) -> None:
    for name in ("etc", "home/ada", "var/lib/x", "var/tmp", "usr/bin"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "var/file").touch()
    (tmp_path / "var/run").symlink_to(tmp_path / "home")
    hidden = [tmp_path / "home", tmp_path / "var/tmp"]
    found = landlock.open_places(hidden, tmp_path)
    names = [str(path.relative_to(tmp_path)) for path in found]
    assert names == ["etc", "usr", "var/file", "var/lib"]


def test_a_command_reads_the_system_and_changes_what_it_was_granted(tmp_path: Path) -> None:
    work, secret = tmp_path / "work", tmp_path / "secret"
    work.mkdir()
    secret.mkdir()
    rules = landlock.rules(Cage(argv=("true",), cwd=work, writes=(work,), hides=(tmp_path,)), [80])
    assert {Path("/etc"), Path("/usr"), Path("/proc")} <= {*rules.reads}
    for place in (Path("/"), Path("/dev"), Path("/tmp"), Path("/root"), Path("/run"), secret):
        assert place not in rules.reads
    assert work in rules.writes
    assert not any(path.is_relative_to("/etc") for path in rules.writes)


def packed(host: str, port: int) -> bytes:
    if ":" in host:
        address = socket.inet_pton(socket.AF_INET6, host)
        head = socket.AF_INET6.to_bytes(2, "little") + port.to_bytes(2, "big")
        return head + bytes(4) + address + bytes(4)
    head = socket.AF_INET.to_bytes(2, "little") + port.to_bytes(2, "big")
    return head + socket.inet_aton(host) + bytes(8)


@pytest.mark.parametrize(
    ("address", "granted"),
    [
        (packed("127.0.0.1", 3128), True),
        (packed("::1", 3128), True),
        (packed("::ffff:127.0.0.1", 3128), True),
        (packed("127.0.0.1", 3129), False),
        (packed("127.0.0.2", 3128), False),
        (packed("0.0.0.0", 3128), False),
        (packed("192.0.2.1", 3128), False),
        (packed("::ffff:192.0.2.1", 3128), False),
        (packed("::", 3128), False),
        (packed("127.0.0.1", 3128)[:6], False),
        (socket.AF_UNIX.to_bytes(2, "little") + b"/run/docker.sock", False),
        (bytes(16), False),
        (b"", False),
    ],
)
def test_only_ports_of_this_machine_that_were_granted_are_reached(
    address: bytes, granted: bool
) -> None:
    assert connecting.granted(address, [3128]) is granted
