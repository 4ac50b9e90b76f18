"""Blocks of ports for tasks."""

import socket
from pathlib import Path

import pytest

from agents_manager.engine import ports
from agents_manager.engine.ports import PortFiles


def test_a_block_is_kept_by_a_new_process_and_had_by_one_task(tmp_path: Path) -> None:
    first = PortFiles(tmp_path / "ports").assign("one")
    assert first
    assert PortFiles(tmp_path / "ports").assign("one") == first
    second = PortFiles(tmp_path / "ports").assign("two")
    assert second
    assert abs(second - first) >= ports.BLOCK
    PortFiles(tmp_path / "ports").release("one")
    assert PortFiles(tmp_path / "ports").owners() == {second: "two"}


def test_a_block_in_use_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "FIRST", 32_700)
    monkeypatch.setattr(ports, "PAST", 32_720)
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 32_703))
        busy.listen()
        made = PortFiles(tmp_path / "ports")
        assert made.assign("one") == 32_710
        assert made.assign("two") is None
    assert made.assign("two") == 32_700


def test_what_else_is_in_the_folder_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("x")
    (tmp_path / "20010").write_text("x")
    assert PortFiles(tmp_path).owners() == {}
    assert PortFiles(tmp_path).assign("one")
