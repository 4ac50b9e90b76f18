"""Codex, driven by `codex exec --json`. Its commands run in its own sandbox, which lets them write
the worktree and commit to the branch, and nothing else; where all of Codex is in ours, they do
without."""

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from agents_manager.agents import (
    codex_output,
    codex_sandbox,
    environment,
    login_shell,
    mcp_servers,
    programs,
    providers,
    structured,
)
from agents_manager.agents.config import CodexConfig
from agents_manager.agents.mcp_servers import Owner, ReadyServer
from agents_manager.errors import InvalidConfig, InvalidInput
from agents_manager.flow.ports import (
    Capabilities,
    Diagnosis,
    Endpoint,
    Job,
    Needs,
    Provider,
    Said,
    Turn,
)

HOME = "codex"
"""Below the folder of the task and agent: what Codex keeps, sessions above all."""
LOGIN = "auth.json"
SETTINGS = "config.toml"
"""In the same folder: the MCP servers, whose secrets must not be on a command line."""
SCHEMA = "schema.json"
TOKEN = "AM_REPORT_TOKEN"  # noqa: S105 - the name of the variable
KEY = "AM_MODEL_KEY"
KEYS = ("CODEX_API_KEY", "OPENAI_API_KEY")
"""Where the key of OpenAI is looked for."""
GATEWAY = "agents_manager"
PROVIDER_KEPT = (
    *("query_params", "request_max_retries", "stream_max_retries", "stream_idle_timeout_ms"),
)
"""What holds for a model provider that is asked through the gateway, too."""
TESTED = ((0, 138), (0, 169))
"""The first release with permission profiles, and the last one this was tried with."""
SERVER = "agents_manager"
"""The MCP server that a run reports to."""
DIRECT_TOOLS: Mapping[str, Any] = {
    "features.code_mode.direct_only_tool_namespaces": [f"mcp__{SERVER}"],
}
"""Offers the tools of our MCP server to the model directly. Without it, models that can search for
tools, or call them by scripts, are not shown them."""
DIRECT_TOOLS_SINCE = (0, 142)
"""The first release with that setting. Older ones refuse to start with it, and hide no tools."""

QUIET: Mapping[str, Any] = {
    "analytics.enabled": False,
    "check_for_update_on_startup": False,
    "features.apps": False,
    "features.plugins": False,
    "web_search": "disabled",
}
"""Nothing is sent or looked up that the task does not need; settings of the user's win."""
NO_INSTRUCTIONS: Mapping[str, Any] = {
    "project_doc_max_bytes": 0,
    "skills.include_instructions": False,
}
"""Keeps Codex from reading AGENTS.md and skills in the workspace, where an agent could change them.
The prompt holds those of the base commit."""
STEERING = (
    *("AGENTS.md", "AGENTS.override.md", SETTINGS, "hooks.json"),
    *("agents", "hooks", "plugins", "prompts", "rules", "skills"),
)
"""What Codex would read in its home, which the commands of an earlier run could write to."""

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
        _log_in(home, with_login=not self._config.gateway)
        _remove_steering(home)
        servers = mcp_servers.ready(
            self._config.mcp_servers, Owner(self._name, path, turn.variables)
        )
        _write_settings(home, servers, self._name)
        session = turn.session if codex_output.rollout(home, turn.session) else None
        lost = session != turn.session
        name, *arguments = self._config.command
        program = programs.found(name, path, self._name)
        version = programs.known_version(program, path)
        arguments += ["exec", *self._options(turn, home, scratch, version)]
        arguments += ["resume", session, "-"] if session else ["-"]
        env = self._keys(turn, environment.of(turn, path=path, names=self._config.env))
        env |= {"CODEX_HOME": str(home), "TMPDIR": str(scratch)}
        return Job(
            dir=turn.dir,
            run_id=turn.run.id,
            argv=(program, *arguments),
            program=program,
            program_version=version,
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
            needs=mcp_servers.needed(self._needs(turn), servers),
            secrets=mcp_servers.secrets(servers),
            turn_type="item.completed",
        )

    def _needs(self, turn: Turn) -> Needs:
        if turn.gateway is not None:
            return Needs(addresses=[turn.gateway.url])
        return Needs(
            # The place that the link in its home leads to.
            logins={_login(): _login()},
            hosts=environment.CODEX_HOSTS,
            addresses=_model_servers(self._config.settings),
        )

    def _options(self, turn: Turn, home: Path, scratch: Path, version: str | None) -> list[str]:
        options = ["--json", "--skip-git-repo-check", "--color", "never"]
        if model := turn.run.model or self._config.model:
            options += ["--model", model]
        if turn.offered:
            options += ["--output-schema", str(turn.dir / SCHEMA)]
        direct = turn.report and not programs.is_older(version, DIRECT_TOOLS_SINCE)
        settings = {
            **QUIET,
            **(DIRECT_TOOLS if direct else {}),
            **self._model_settings(turn),
            **NO_INSTRUCTIONS,
            **codex_sandbox.settings(
                turn, scratch, hidden=[home / LOGIN, home / SETTINGS, _login()]
            ),
        }
        if turn.report:
            settings[f"mcp_servers.{SERVER}"] = _report_tool(turn.report)
        for key, value in settings.items():
            options += ["-c", f"{key}={_toml(value)}"]
        return options

    def provider(self) -> Provider | None:
        if not self._config.gateway:
            return None
        named = _model_provider(self._config.settings)
        names = (str(named["env_key"]),) if "env_key" in named else KEYS
        url = str(named.get("base_url") or providers.OPENAI_URL)
        return providers.openai(self._name, url, names, named.get("http_headers", {}))

    def _keys(self, turn: Turn, env: dict[str, str]) -> dict[str, str]:
        provider = self.provider()
        if provider is None:
            return env
        assert turn.gateway is not None
        env = {name: value for name, value in env.items() if name not in KEYS}
        return {**environment.near(providers.without(env, provider)), KEY: turn.gateway.token}

    def _model_settings(self, turn: Turn) -> Mapping[str, Any]:
        """With the gateway in the place of the provider, if there is one."""
        settings = self._config.settings
        if turn.gateway is None:
            return settings
        named = _model_provider(settings)
        entry = {
            "name": GATEWAY,
            "base_url": turn.gateway.url,
            "wire_api": "responses",
            "env_key": KEY,
            **{key: named[key] for key in PROVIDER_KEPT if key in named},
        }
        others = {k: v for k, v in settings.items() if not k.startswith("model_provider")}
        return {**others, "model_provider": GATEWAY, f"model_providers.{GATEWAY}": entry}

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
            missing=self._missing(),
            doubts=programs.doubts("Codex", version, TESTED),
        )

    def _missing(self) -> Sequence[str]:
        try:
            known = self.provider() is not None or self._has_key()
        except InvalidInput as error:
            return (error.message,)
        return () if known else (NO_LOGIN,)

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


def _model_provider(settings: Mapping[str, Any]) -> dict[str, Any]:
    """What the settings say about the provider that they choose, however that is written."""
    place = f"model_providers.{settings.get('model_provider')}"
    listed = settings.get("model_providers", {}).get(settings.get("model_provider"), {})
    dotted = {
        key.removeprefix(f"{place}."): value
        for key, value in settings.items()
        if key.startswith(f"{place}.")
    }
    return {**listed, **settings.get(place, {}), **dotted}


def _log_in(home: Path, *, with_login: bool) -> None:
    """Codex renews its login in place, and a renewed one ends the old: so there is one file, the
    user's, and every task's Codex is led to it."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    link = home / LOGIN
    if not with_login:
        link.unlink(missing_ok=True)
    elif not link.is_symlink() or link.readlink() != _login():
        link.unlink(missing_ok=True)
        link.symlink_to(_login())


def _remove_steering(home: Path) -> None:
    for name in STEERING:
        place = home / name
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)


def _write_settings(home: Path, servers: Sequence[ReadyServer], agent: str) -> None:
    if not servers:
        return
    lines = ["[mcp_servers]"]
    for server in servers:
        if server.type == "sse":
            raise InvalidConfig(
                f'MCP server "{server.name}" of agent "{agent}" is of type sse, which Codex does'
                " not know. Use http."
            )
        entry: dict[str, Any] = {"default_tools_approval_mode": "approve", "required": False}
        if server.type == "stdio":
            entry |= {"command": server.command, "args": list(server.args), "env": dict(server.env)}
            entry["env_vars"] = list(codex_sandbox.PROXIES)
        else:
            entry |= {"url": server.url, "http_headers": dict(server.headers)}
        lines.append(f"{server.name} = {_toml(entry)}")
    file = home / SETTINGS
    file.touch(mode=0o600)
    file.write_text("\n".join([*lines, ""]), encoding="utf-8")


def _model_servers(settings: Mapping[str, Any]) -> list[str]:
    """The addresses in the settings, at any depth."""
    found: list[str] = []
    for key, value in settings.items():
        if isinstance(value, dict):
            found += _model_servers(cast("dict[str, Any]", value))
        elif key.rpartition(".")[2] == "base_url":
            found.append(str(value))
    return found


def _report_tool(report: Endpoint) -> dict[str, Any]:
    # Nobody is there to be asked whether the agent may report.
    return {
        "url": report.url,
        "tool_timeout_sec": int(report.takes_s),
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
