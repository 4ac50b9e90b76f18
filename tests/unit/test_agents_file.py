"""The section in a file: nothing else of it is touched, and no link is followed."""

from pathlib import Path

import pytest

from agents_manager.cli import agents_file
from agents_manager.domain.agents_md import BEGIN, END, section
from agents_manager.errors import InvalidInput

SECTION = section([])


def test_a_file_gets_the_section_once_and_keeps_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "AGENTS.md"
    file.write_bytes(b"# Rules\r\n")
    file.chmod(0o640)
    assert agents_file.write(file, SECTION)
    assert not agents_file.write(file, SECTION)
    assert file.read_bytes().startswith(b"# Rules\r\n\r\n" + BEGIN.encode() + b"\r\n")
    assert file.stat().st_mode & 0o777 == 0o640
    new = tmp_path / "NEW.md"
    assert agents_file.write(new, SECTION)
    assert new.read_text() == SECTION
    assert {path.name for path in tmp_path.iterdir()} == {"AGENTS.md", "NEW.md"}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (f"{END}\n".encode(), "is left as it is. The marks"),
        (b"fine\n\xe4\n", "line 2"),
        (b"x" * (agents_file.MAX_BYTES + 1), "at most"),
    ],
)
def test_a_file_that_cannot_be_taken_is_left_as_it_is(
    tmp_path: Path, content: bytes, why: str
) -> None:
    file = tmp_path / "AGENTS.md"
    file.write_bytes(content)
    with pytest.raises(InvalidInput, match=why):
        agents_file.write(file, SECTION)
    assert file.read_bytes() == content
    assert [path.name for path in tmp_path.iterdir()] == ["AGENTS.md"]


def test_links_and_folders_are_refused(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("Mine")
    for name, target in (("link", "victim"), ("loose", "nowhere")):
        link = tmp_path / name
        link.symlink_to(target)
        with pytest.raises(InvalidInput, match="symbolic link"):
            agents_file.write(link, SECTION)
    assert victim.read_text() == "Mine"
    assert not (tmp_path / "nowhere").exists()
    with pytest.raises(InvalidInput, match="no file"):
        agents_file.write(tmp_path, SECTION)
