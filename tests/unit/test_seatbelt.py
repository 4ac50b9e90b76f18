"""The profile for the sandbox of macOS, as text. Nobody tried it on a Mac."""

from pathlib import Path

import pytest

from agents_manager.sandbox import bubblewrap, seatbelt
from agents_manager.sandbox.bubblewrap import Cage

GOLDEN = """\
(deny file-read* (subpath "/private/tmp"))
(deny file-read* (subpath "/Users"))
(allow file-read-metadata)
(allow file-read* (subpath "/Users/ada/.nvm"))
(allow file-read* (subpath "/Users/ada/data/work/.git"))
(allow file-read* (subpath "/Users/ada/data/work"))
(allow file-read* (subpath "/Users/ada/odd \\"name\\\\"))
(allow file-write* (subpath "/Users/ada/data/work"))
(allow file-write* (subpath "/Users/ada/odd \\"name\\\\"))
(deny file-write* (subpath "/Users/ada/.nvm"))
(deny file-write* (subpath "/Users/ada/data/work/.git"))
(deny file-write* (subpath "/Users/ada/data/work/.envrc"))
(allow network-outbound (remote ip "localhost:3128"))
(allow network-outbound (remote ip "localhost:8000"))
"""


@pytest.fixture
def cage(monkeypatch: pytest.MonkeyPatch) -> Cage:
    """On a Mac, whose folders are not here."""
    work = Path("/Users/ada/data/work")
    hidden, shown = [Path("/private/tmp"), Path("/Users")], [Path("/Users/ada/.nvm"), work / ".git"]
    monkeypatch.setattr(bubblewrap, "hidden", lambda cage: hidden)
    monkeypatch.setattr(bubblewrap, "shown", lambda cage: shown)
    writes = (work, Path('/Users/ada/odd "name\\'))
    return Cage(argv=("make",), cwd=work, writes=writes, locks=(work / ".envrc",))


def test_it_denies_what_is_hidden_and_allows_what_was_granted(cage: Cage) -> None:
    """The order counts: what may only be read comes after what may be written around it."""
    assert seatbelt.profile(cage, [3128, 8000]) == seatbelt.BASE + GOLDEN


def test_all_else_is_denied(cage: Cage) -> None:
    lines = seatbelt.profile(cage, []).splitlines()
    assert lines[:2] == ["(version 1)", "(deny default)"]
    assert not any("network" in line for line in lines)


def test_the_command_comes_last(cage: Cage) -> None:
    program, flag, _, *argv = seatbelt.command(cage, [])
    assert (program, flag, argv) == ("/usr/bin/sandbox-exec", "-p", ["make"])
