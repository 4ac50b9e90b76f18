"""`am host` where machines share a database."""

from pathlib import Path

import pytest

from tests.e2e.am_program import Am
from tests.postgres import fresh_database


@pytest.mark.slow
def test_a_machine_is_drained_resumed_and_sent_away(tmp_path: Path, postgres_url: str) -> None:
    am = Am(tmp_path)
    am.make_repo()
    am.env["AM_DATABASE_URL"] = fresh_database(postgres_url)
    worker = ("worker", "--name", "gpu-1", "--label", "gpu", "--capacity", "2")
    with am.serving(*worker):
        (host,) = am.json("host", "list")["hosts"]
        assert (host["name"], host["labels"], host["capacity"]) == ("gpu-1", ["gpu"], 2)
        assert am.json("host", "drain", "gpu-1")["state"] == "draining"
        assert "gpu-1 (here)  draining  0 of 2" in am("host", "list").out
        assert am.json("host", "resume", "gpu-1")["state"] == "up"
        assert am("host", "drain", "gpu-9").code == 1
    assert am.json("host", "remove", "gpu-1")["state"] == "left"
