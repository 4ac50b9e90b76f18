"""What the doctor of an agent sees, and that no secret is part of it."""

from dataclasses import fields
from pathlib import Path

import pytest
from pydantic import ValidationError

from agents_manager import built_in
from agents_manager.agents import login_shell, programs
from agents_manager.agents.acp import NOT_TRIED
from agents_manager.agents.catalog import AgentCatalog
from agents_manager.agents.codex import CodexAgent
from agents_manager.agents.config import AcpConfig, CodexConfig, CommandConfig
from agents_manager.cli.pages import agent as pages
from agents_manager.cli.render import Line
from agents_manager.flow.agents import Examined
from agents_manager.flow.ports import Capabilities, Diagnosis
from tests.repos import executable

KEY = "sk-very-secret"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of the PATH, for a user without a login."""
    monkeypatch.setattr(login_shell, "path", lambda: str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    monkeypatch.delenv("CODEX_API_KEY", raising=False)
    return tmp_path


def codex() -> CodexAgent:
    return CodexAgent("codex", CodexConfig())


def test_a_program_that_is_not_there(folder: Path) -> None:
    found = codex().diagnose()
    assert (found.program, found.version) == (None, None)
    assert "npm install -g @openai/codex" in found.missing[0]


def test_a_program_without_a_login(folder: Path) -> None:
    program = executable(folder / "codex", "echo codex-cli 0.163.0")
    found = codex().diagnose()
    assert (found.program, found.version) == (str(program), "0.163.0")
    assert "codex login" in found.missing[0]
    assert found.doubts == ()


@pytest.mark.parametrize("way", ["file", "variable"])
def test_a_login_is_seen_and_not_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    executable(folder / "codex", "echo codex-cli 0.163.0")
    if way == "file":
        (folder / ".codex").mkdir()
        (folder / ".codex" / "auth.json").write_text(KEY)
    else:
        monkeypatch.setenv("CODEX_API_KEY", KEY)
    found = codex().diagnose()
    assert found.missing == ()
    assert KEY not in str(found)


@pytest.mark.parametrize(
    ("version", "words"),
    [
        (None, "does not say its version"),
        ("0.99.1", "older than what is tested (0.138 to 0.166): update it"),
        ("0.167.0", "newer than what is tested"),
        ("1.0", "newer than what is tested"),
        ("0.166.3", ""),
        ("0.138.0", ""),
    ],
)
def test_releases_that_were_not_tried(version: str | None, words: str) -> None:
    found = programs.doubts("Codex", version, ((0, 138), (0, 166)))
    assert words in " ".join(found)
    assert bool(found) == bool(words)


@pytest.mark.parametrize("script", ["exit 3", "echo no number", "printf '\\377'"])
def test_a_program_that_does_not_say_its_version(tmp_path: Path, script: str) -> None:
    assert programs.version(str(executable(tmp_path / "x", script)), "/bin:/usr/bin") is None


def test_what_it_can_do_is_told_in_words() -> None:
    assert set(pages.ABLE) == {field.name for field in fields(Capabilities)}
    able = Capabilities(resumes=True, reports_cost=True)
    one = Examined(name="mine", model=None, capabilities=able, diagnosis=Diagnosis())
    *_, last = pages.diagnoses([one])
    assert isinstance(last, Line)
    assert last.text == "  It goes on with its session, tells its cost."


def test_an_agent_that_was_not_tried_says_so(folder: Path) -> None:
    known = AgentCatalog(built_in.adapters(), lambda _project: {}).known(None)
    goose, gemini, aider = (known[name].diagnose() for name in ("goose", "gemini", "aider"))
    assert goose.doubts == (NOT_TRIED,)
    assert goose.missing[0].endswith("Get it from its maker.")
    assert gemini.doubts == ()
    assert gemini.missing[0].endswith("Get it with: npm install -g @google/gemini-cli")
    assert aider.missing[0].endswith("Get it with: python -m pip install aider-chat")


def test_a_profile_that_does_not_exist_is_refused_with_the_closest() -> None:
    for config, meant in ((AcpConfig, "gemini"), (CommandConfig, "aider")):
        with pytest.raises(ValidationError, match=f'Did you mean "{meant}"'):
            config.model_validate({"profile": f"{meant}i"})
