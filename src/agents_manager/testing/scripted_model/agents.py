"""What agents need to talk to the scripted model, and calls of the tools they have."""

import json
import os
from pathlib import Path
from typing import Any

from agents_manager.testing.scripted_model.server import ModelServer
from agents_manager.testing.scripted_model.steps import Use

CODEX_KEY = "SCRIPTED_MODEL_KEY"
CODEX_MODEL = "scripted-model"


def claude_env(server: ModelServer, scenario: str, home: Path) -> dict[str, str]:
    """The whole environment of a Claude Code that keeps to `home` and asks only the server."""
    return {
        **_env(home),
        "ANTHROPIC_BASE_URL": server.url(scenario),
        "ANTHROPIC_API_KEY": "scripted",
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "CLAUDE_CODE_TMPDIR": str(home / "tmp"),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_TELEMETRY": "1",
    }


def codex_env(home: Path) -> dict[str, str]:
    """The whole environment of a Codex that keeps to `home`; `codex_args` name the server."""
    (home / ".codex").mkdir(parents=True, exist_ok=True)
    return {**_env(home), "CODEX_HOME": str(home / ".codex"), CODEX_KEY: "scripted"}


def codex_settings(server: ModelServer, scenario: str) -> dict[str, Any]:
    """Settings of Codex that name the server; its key is in the variable CODEX_KEY."""
    return {
        "model_provider": "scripted",
        "model_providers.scripted": {
            "name": "scripted",
            "base_url": f"{server.url(scenario)}/v1",
            "wire_api": "responses",
            "env_key": CODEX_KEY,
            "request_max_retries": 1,
            "stream_max_retries": 1,
        },
    }


def codex_args(server: ModelServer, scenario: str) -> list[str]:
    """Options for `codex exec`. No release knows this model, so Codex offers its plain tools."""
    named = codex_settings(server, scenario)
    provider = ",".join(
        f"{k}={json.dumps(v)}" for k, v in named["model_providers.scripted"].items()
    )
    settings = [
        f'model_provider="{named["model_provider"]}"',
        f"model_providers.scripted={{{provider}}}",
        "analytics.enabled=false",
        "check_for_update_on_startup=false",
        "features.plugins=false",
        "features.apps=false",
    ]
    options = [part for setting in settings for part in ("-c", setting)]
    return [*options, "-m", CODEX_MODEL]


def _env(home: Path) -> dict[str, str]:
    # Codex refuses to work when its home is below the folder for temporary files, as pytest's
    # folders are: each home has its own such folder beside the agent's.
    (home / "tmp").mkdir(parents=True, exist_ok=True)
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
    }


def claude_bash(command: str) -> Use:
    return Use("Bash", {"command": command, "description": "Run a command"})


def claude_write(path: Path, text: str) -> Use:
    return Use("Write", {"file_path": str(path), "content": text})


def claude_edit(path: Path, old: str, new: str) -> Use:
    return Use("Edit", {"file_path": str(path), "old_string": old, "new_string": new})


def claude_read(path: Path) -> Use:
    return Use("Read", {"file_path": str(path)})


def codex_run(command: str) -> Use:
    return Use("exec_command", {"cmd": command})


def codex_add(path: str, text: str) -> Use:
    """A new file, by a patch: Codex reports it as a change of a file."""
    return codex_patch(f"*** Add File: {path}", *(f"+{line}" for line in text.splitlines()))


def codex_report(outcome: str, payload: Any = None) -> Use:
    """A report to Agents Manager by its tool."""
    given = {"outcome": outcome, "payload": payload}
    return Use("mcp__agents_manager.report_outcome", given)


def codex_patch(*lines: str) -> Use:
    """Lines of Codex's patch format, between its first and its last."""
    # Codex applies a patch itself only where it stands in a here-document.
    patch = ["apply_patch <<'EOP'", "*** Begin Patch", *lines, "*** End Patch", "EOP"]
    return codex_run("\n".join(patch))
