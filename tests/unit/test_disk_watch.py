"""What is counted of the disk that a command uses."""

from pathlib import Path

import pytest

from agents_manager.sandbox import usage

MB = 1024 * 1024


@pytest.mark.parametrize(("allowed", "fits"), [(3, True), (1, False)])
def test_a_folder_in_another_counts_once(tmp_path: Path, allowed: int, fits: bool) -> None:
    """As a clone and its `.git`, which both may be written."""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/pack").write_bytes(b"x" * (2 * MB))
    writes = [str(tmp_path), str(tmp_path / ".git")]
    assert (usage.too_much_disk(writes, {"disk_mb": allowed}, 0) is None) == fits
