"""One engine per data directory; a lock that nobody stands behind keeps no server out."""

import fcntl
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from agents_manager.engine import host
from agents_manager.engine.host import HostLock
from agents_manager.errors import HostLocked


def dead_process() -> int:
    ended = subprocess.Popen([sys.executable, "-I", "-S", "-c", ""])
    ended.wait()
    return ended.pid


def test_a_lock_that_outlives_its_server_for_a_moment_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "host.lock"
    path.write_text(str(dead_process()))
    left = os.open(path, os.O_RDWR)
    fcntl.flock(left, fcntl.LOCK_SH)
    threading.Timer(0.2, os.close, [left]).start()
    with HostLock(tmp_path):
        assert path.read_text() == str(os.getpid())
        assert host.is_live(tmp_path)


def test_a_server_that_lives_keeps_others_out_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "LEFTOVER_S", 3600)
    with (
        HostLock(tmp_path),
        pytest.raises(HostLocked, match=rf"process {os.getpid()}\) already works"),
    ):
        HostLock(tmp_path).__enter__()


def test_a_lock_that_stays_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "LEFTOVER_S", 0.1)
    (tmp_path / "host.lock").write_text(str(dead_process()))
    with (tmp_path / "host.lock").open() as left:
        fcntl.flock(left, fcntl.LOCK_SH)
        with pytest.raises(HostLocked):
            HostLock(tmp_path).__enter__()
