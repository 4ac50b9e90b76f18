"""A real file system that is soon full."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """Where it cannot be had, the test is not proven here."""
    if os.geteuid() != 0:
        pytest.xfail("Not proven here: only root can mount a small disk.")
    folder.mkdir(parents=True, exist_ok=True)
    size = f"size={megabytes}m"
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", folder], check=False)
    if mounted.returncode != 0:
        pytest.xfail("Not proven here: this root may not mount.")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def fill(folder: Path) -> Path:
    """To the last byte; what is in the way is the file that is returned."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for piece in (1 << 20, 1 << 12, 1):
            try:
                while file.write(bytes(piece)) == piece:
                    pass
            except OSError:
                continue
    return ballast
