"""Where a document may be put."""

import pytest

from agents_manager.domain.document import checked_path, default_path
from agents_manager.errors import InvalidInput

PATHS = {
    "": "it is empty",
    "/etc/plan.md": "leads out of the repository",
    "../plan.md": "leads out of the repository",
    "docs/../../plan.md": "leads out of the repository",
    "C:/plan.md": "leads out of the repository",
    "~/plan.md": "leads out of the repository",
    "docs//plan.md": "a part of it is empty",
    "docs/": "a part of it is empty",
    "./plan.md": "a part of it is empty",
    ".git/hooks/pre-commit": "leads into .git",
    "sub/.GIT/config": "leads into .git",
    ".git. /config": "leads into .git",
    "git~1/config": "leads into .git",
    "docs\\plan.md": "folders are parted by",
    "docs/pl\nan.md": "control or invisible",
    ".g\u200cit/config": "control or invisible",
    "x" * 501: "longer than 500",
}


@pytest.mark.parametrize(("path", "says"), PATHS.items())
def test_a_path_stays_in_the_repository(path: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        checked_path(path)


@pytest.mark.parametrize("path", ["plan.md", "docs/a b.md", ".github/Plän.md", "a.git/x", "..x/y"])
def test_a_path_below_the_top_is_taken(path: str) -> None:
    assert checked_path(path) == path


def test_a_document_has_a_place_by_its_name_and_title() -> None:
    assert default_path("plan", "Add: search!") == "docs/plans/add-search.md"
    assert default_path("investigation", "\u65e5\u672c") == "docs/investigations/task.md"
