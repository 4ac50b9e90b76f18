"""What is counted of the disk that a command uses."""

from pathlib import Path

import pytest

from agents_manager.sandbox import watch
from agents_manager.sandbox.bubblewrap import Bounds, Cage

MB = 1024 * 1024


@pytest.mark.parametrize(("allowed", "fits"), [(3, True), (1, False)])
def test_a_folder_in_another_counts_once(tmp_path: Path, allowed: int, fits: bool) -> None:
    """As a clone and its `.git`, which both may be written."""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/pack").write_bytes(b"x" * (2 * MB))
    bounds = Bounds(disk_mb=allowed)
    cage = Cage(argv=(), cwd=tmp_path, writes=(tmp_path, tmp_path / ".git"), bounds=bounds)
    assert (watch.too_much_disk(cage, 0) is None) == fits
