"""Which calls of Claude Code's tools are refused, and in which words."""

from pathlib import Path

import pytest

from agents_manager.agents import claude_gate

TOOLS = (*claude_gate.READS, claude_gate.COMMAND, *claude_gate.WRITES)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    (work / "src").mkdir(parents=True)
    (work / ".git").write_text("gitdir: elsewhere\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "workshop").mkdir()
    (work / "out").symlink_to(tmp_path / "outside")
    (work / "in").symlink_to(work / "src")
    (work / "file").symlink_to(tmp_path / "outside" / "not there")
    (work / "git").symlink_to(work / ".git")
    return work


@pytest.mark.parametrize(
    "path",
    ["new.txt", "src/new/deep.txt", "in/new.txt", "src/../new.txt", ".gitignore", ".github/x.yml"],
)
def test_files_of_the_workspace_can_be_written(work: Path, path: str) -> None:
    for tool, name in claude_gate.WRITES.items():
        assert claude_gate.refusal(tool, {name: f"{work}/{path}"}, work, TOOLS) is None


@pytest.mark.parametrize(
    ("path", "words"),
    [
        pytest.param("/etc/passwd", "outside", id="elsewhere"),
        pytest.param("{work}/../workshop/x", "outside", id="a name that begins alike"),
        pytest.param("{work}/src/../../x", "outside", id="dots"),
        pytest.param("{work}/out/x", "which leads to", id="below a link"),
        pytest.param("{work}/out/not/there", "which leads to", id="new folders below a link"),
        pytest.param("{work}/out/../x", "outside", id="dots behind a link"),
        pytest.param("{work}/file", "which leads to", id="a link to a file that is not there"),
        pytest.param("{work}", "outside", id="the workspace itself"),
        pytest.param("{work}/.git", "git commands", id="the git file"),
        pytest.param("{work}/git", "git commands", id="a link to it"),
        pytest.param("{work}/sub/.Git/config", "git commands", id="a repository inside"),
        pytest.param("src/x", "absolute", id="relative"),
        pytest.param("~/x", "absolute", id="home"),
        pytest.param("{work}/a\x00b", "cannot be written", id="NUL"),
        pytest.param(None, "absolute", id="no path"),
    ],
)
def test_everything_else_is_refused(work: Path, path: str | None, words: str) -> None:
    given = {"file_path": path and path.format(work=work)}
    why = claude_gate.refusal("Write", given, work, TOOLS)
    assert why is not None
    assert words in why


def test_a_workspace_that_is_named_by_a_link(work: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(work)
    for root in (work, tmp_path / "alias"):
        given = {"file_path": str(tmp_path / "alias" / "x")}
        assert claude_gate.refusal("Write", given, root, TOOLS) is None


def test_only_the_tools_of_the_run(work: Path) -> None:
    assert claude_gate.refusal("Bash", {"command": "ls"}, work, TOOLS) is None
    for ours in ("mcp__agents-manager__report_outcome", "StructuredOutput"):
        assert claude_gate.refusal(ours, {}, work, ()) is None
    for tool in ("CronCreate", "mcp__other__write", "Write"):
        why = claude_gate.refusal(tool, {}, work, claude_gate.READS)
        assert why is not None
        assert f"The tool {tool} is not available in this run" in why


@pytest.mark.parametrize(
    ("permissions", "tool", "path", "asks"),
    [
        pytest.param("refuse", "Write", "/etc/x", False, id="refused"),
        pytest.param("workspace", "Write", "/etc/x", True, id="outside"),
        pytest.param("workspace", "Write", "{work}/x", False, id="inside"),
        pytest.param("workspace", "Write", "x", False, id="not absolute"),
        pytest.param("workspace", "Bash", None, False, id="a command"),
        pytest.param("ask", "Bash", None, True, id="every command"),
        pytest.param("ask", "Write", "{work}/x", True, id="every change"),
        pytest.param("ask", "Read", None, False, id="reading"),
        pytest.param("ask", "CronCreate", None, False, id="not a tool of the run"),
        pytest.param("ask", claude_gate.PERMISSION, None, False, id="ours"),
    ],
)
def test_whom_a_person_decides_for(
    work: Path, permissions: str, tool: str, path: str | None, asks: bool
) -> None:
    given = {"file_path": path and path.format(work=work)}
    why = claude_gate.refusal(tool, given, work, TOOLS)
    assert bool(claude_gate.asked(tool, given, why, TOOLS, permissions)) is asks
