"""Codex, driven by `codex exec --json`. Its commands run in its own sandbox, which lets them write
the worktree and commit to the branch, and nothing else; where all of Codex is in ours, they do
without."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from agents_manager.agents import (
    codex_output,
    codex_sandbox,
    environment,
    login_shell,
    programs,
    structured,
)
from agents_manager.agents.config import CodexConfig
from agents_manager.flow.ports import Capabilities, Diagnosis, Job, Needs, Said, Turn

HOME = "codex"
"""Below the folder of the task and agent: what Codex keeps, sessions above all."""
LOGIN = "auth.json"
SCHEMA = "schema.json"
TOKEN = "AM_REPORT_TOKEN"  # noqa: S105 - the name of the variable
TESTED = ((0, 138), (0, 166))
"""The first release with permission profiles, and the last one this was tried with."""

QUIET: Mapping[str, Any] = {
    "analytics.enabled": False,
    "check_for_update_on_startup": False,
    "features.apps": False,
    "features.plugins": False,
    "web_search": "disabled",
}
"""Nothing is sent or looked up that the task does not need; settings of the user's win."""

HOW_TO_END = """\
Your final message is a JSON object and nothing else: "outcome" is the name of the outcome,
"payload" its payload as JSON text or null, and "text" what else you have to say.
"""


class CodexAgent:
    capabilities = Capabilities(
        resumes=True, structured_output=True, mcp=True, read_only_modes=True
    )
    how_to_end = HOW_TO_END

    def __init__(self, name: str, config: CodexConfig) -> None:
        self._name = name
        self._config = config

    @property
    def model(self) -> str | None:
        return self._config.model

    @property
    def system_prompt(self) -> str | None:
        return self._config.system_prompt

    def job(self, turn: Turn) -> Job:
        path = login_shell.path()
        home, scratch = turn.home / HOME, turn.dir / "tmp"
        _log_in(home)
        session = turn.session if codex_output.rollout(home, turn.session) else None
        lost = session != turn.session
        program, *arguments = self._config.command
        arguments += ["exec", *self._options(turn, home, scratch)]
        arguments += ["resume", session, "-"] if session else ["-"]
        env = environment.of(turn, path=path, names=self._config.env)
        env |= {"CODEX_HOME": str(home), "TMPDIR": str(scratch)}
        return Job(
            dir=turn.dir,
            run_id=turn.run.id,
            argv=(programs.found(program, path, self._name), *arguments),
            cwd=turn.workspace,
            env=env | ({TOKEN: turn.report.token} if turn.report else {}),
            stdin=turn.fresh_prompt if lost else turn.prompt,
            files={
                environment.PROMPT: turn.prompt,
                # As text: the schemas of outcomes use more of JSON Schema than models take.
                SCHEMA: json.dumps(structured.schema(turn.offered, payload="string")),
                codex_output.BEFORE: codex_output.before(home, session, lost=lost),
            },
            limits=self._config.limits,
            folders=(home, scratch),
            needs=Needs(
                # The place that the link in its home leads to.
                logins={_login(): _login()},
                hosts=environment.CODEX_HOSTS,
                addresses=_model_servers(self._config.settings),
            ),
            turn_type="item.completed",
        )

    def _options(self, turn: Turn, home: Path, scratch: Path) -> list[str]:
        options = ["--json", "--skip-git-repo-check", "--color", "never"]
        if model := turn.run.model or self._config.model:
            options += ["--model", model]
        if turn.offered:
            options += ["--output-schema", str(turn.dir / SCHEMA)]
        settings = {
            **QUIET,
            **self._config.settings,
            **codex_sandbox.settings(turn, scratch, hidden=[home / LOGIN, _login()]),
        }
        if turn.report:
            settings["mcp_servers.agents_manager"] = _report_tool(turn.report.url)
        for key, value in settings.items():
            options += ["-c", f"{key}={_toml(value)}"]
        return options

    def read(self, folder: Path) -> Said:
        return codex_output.read(folder)

    def parse(self, line: bytes) -> Sequence[Mapping[str, Any]]:
        return codex_output.parse(line)

    def meter(self) -> None:
        return None

    def diagnose(self) -> Diagnosis:
        path = login_shell.path()
        program = self._config.command[0]
        found = programs.look_for(program, path)
        if found is None:
            return Diagnosis(missing=(programs.absent(program, "npm install -g @openai/codex"),))
        version = programs.version(found, path)
        return Diagnosis(
            program=found,
            version=version,
            missing=() if self._has_key() else (NO_LOGIN,),
            doubts=programs.doubts("Codex", version, TESTED),
        )

    def _has_key(self) -> bool:
        """A login, a key in the environment, or a model elsewhere that may need neither."""
        return (
            _login().is_file()
            or any(os.environ.get(name) for name in self._config.env)
            or "model_provider" in self._config.settings
        )


NO_LOGIN = "It is not logged in. Run: codex login, or set CODEX_API_KEY for the server."


def _login() -> Path:
    """The user's own login, where Codex keeps it."""
    return Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex") / LOGIN


def _log_in(home: Path) -> None:
    """Codex renews its login in place, and a renewed one ends the old: so there is one file, the
    user's, and every task's Codex is led to it."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    link = home / LOGIN
    if not link.is_symlink() or link.readlink() != _login():
        link.unlink(missing_ok=True)
        link.symlink_to(_login())


def _model_servers(settings: Mapping[str, Any]) -> list[str]:
    """The addresses in the settings, at any depth."""
    found: list[str] = []
    for key, value in settings.items():
        if isinstance(value, dict):
            found += _model_servers(cast("dict[str, Any]", value))
        elif key.rpartition(".")[2] == "base_url":
            found.append(str(value))
    return found


def _report_tool(url: str) -> dict[str, Any]:
    # Nobody is there to be asked whether the agent may report.
    return {
        "url": url,
        "bearer_token_env_var": TOKEN,
        "default_tools_approval_mode": "approve",
        "required": False,
    }


def _toml(value: Any) -> str:
    match value:
        case dict():
            pairs = cast("dict[str, Any]", value).items()
            return f"{{{','.join(f'{json.dumps(key)}={_toml(item)}' for key, item in pairs)}}}"
        case list():
            return f"[{','.join(_toml(item) for item in cast('list[Any]', value))}]"
        case _:
            return json.dumps(value, ensure_ascii=False)
