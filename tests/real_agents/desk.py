"""What each real agent needs to ask the scripted model, and calls of the tools that it has."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents_manager.testing.scripted_model import Use, claude_bash, claude_write

AGENTS = Path(__file__).parent.parent.parent / ".agents"
SCENARIO = "x"
MODEL = "scripted-model"
Env = dict[str, str]


@dataclass(frozen=True)
class Real:
    """A real agent."""

    set_up: Callable[[Path, str], Env]
    """Given the user's home and the address of the model: the variables it needs beside."""
    write: Callable[[Path, str], Use]
    run: Callable[[str], Use]
    settings: Mapping[str, Any]
    goes_on: bool = True
    counts: bool = True
    """Whether it says how many tokens it used."""


def _file(place: Path, content: Any) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(content if isinstance(content, str) else json.dumps(content))


def _gemini(home: Path, url: str) -> Env:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"disableAutoUpdate": True, "maxAttempts": 2},
    }
    _file(home / ".gemini" / "settings.json", settings)
    return {"GEMINI_API_KEY": "scripted", "GOOGLE_GEMINI_BASE_URL": url}


def _opencode(home: Path, url: str) -> Env:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "scripted"},
        "models": {MODEL: {"name": MODEL}},
    }
    name = f"scripted/{MODEL}"
    config = {"provider": {"scripted": provider}, "model": name, "small_model": name}
    _file(home / ".config" / "opencode" / "opencode.json", {**config, "share": "disabled"})
    return {}


def _qwen(home: Path, url: str) -> Env:
    return {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "scripted", "OPENAI_MODEL": MODEL}


def _copilot(home: Path, url: str) -> Env:
    return {
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_API_KEY": "scripted",
        "COPILOT_MODEL": MODEL,
        "COPILOT_OFFLINE": "true",
    }


def _kimi(home: Path, url: str) -> Env:
    config = (
        f'default_model = "{MODEL}"\n'
        f'[providers.scripted]\ntype = "openai"\nbase_url = "{url}/v1"\napi_key = "scripted"\n'
        f'[models.{MODEL}]\nprovider = "scripted"\nmodel = "{MODEL}"\nmax_context_size = 100000\n'
    )
    _file(home / "kimi" / "config.toml", config)
    return {"KIMI_CODE_HOME": str(home / "kimi")}


def _claude(home: Path, url: str) -> Env:
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "scripted",
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
    }


def _codex(home: Path, url: str) -> Env:
    config = (
        f'model = "{MODEL}"\nmodel_provider = "scripted"\n'
        f'[model_providers.scripted]\nname = "scripted"\nbase_url = "{url}/v1"\n'
        'wire_api = "responses"\nenv_key = "OPENAI_API_KEY"\n'
        "[analytics]\nenabled = false\n[features]\nplugins = false\napps = false\n"
    )
    _file(home / "codex" / "config.toml", config)
    return {"CODEX_HOME": str(home / "codex"), "OPENAI_API_KEY": "scripted"}


def _shell(name: str, **more: Any) -> Callable[[str], Use]:
    return lambda command: Use(name, {"command": command, **more})


def _writer(name: str, path: str, text: str) -> Callable[[Path, str], Use]:
    return lambda place, content: Use(name, {path: str(place), text: content})


REAL: Mapping[str, Real] = {
    "gemini": Real(
        _gemini,
        _writer("write_file", "file_path", "content"),
        _shell("run_shell_command", description="Run it"),
        {"model": "gemini-2.5-pro"},
        goes_on=False,
    ),
    "opencode": Real(
        _opencode,
        _writer("write", "filePath", "content"),
        _shell("bash", description="Run it"),
        {},
        counts=False,
    ),
    "qwen": Real(
        _qwen,
        _writer("write_file", "file_path", "content"),
        _shell("run_shell_command", is_background=False),
        {},
    ),
    "copilot": Real(
        _copilot,
        _writer("create", "path", "file_text"),
        _shell("bash", description="Run it"),
        {},
    ),
    "kimi": Real(_kimi, _writer("Write", "path", "content"), _shell("Bash"), {}, counts=False),
    "claude-acp": Real(_claude, claude_write, claude_bash, {}),
    "codex-acp": Real(
        _codex,
        lambda place, text: Use("exec_command", {"cmd": f"printf '{text}' > '{place}'"}),
        lambda command: Use("exec_command", {"cmd": command}),
        {},
    ),
}
