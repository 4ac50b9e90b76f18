"""Claude Code, driven by its SDK in a process of its own (`claude_driver.py`)."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from agents_manager.agents import (
    claude_gate,
    claude_program,
    environment,
    login_shell,
    mcp_servers,
    programs,
    providers,
    stream,
    structured,
)
from agents_manager.agents.config import ClaudeCodeConfig
from agents_manager.agents.mcp_servers import Owner, ReadyServer
from agents_manager.errors import AgentNotInstalled, InvalidInput
from agents_manager.flow.ports import Capabilities, Diagnosis, Job, Needs, Provider, Said, Turn

# A server that one of the SDK's libraries loads where there is one, and that nothing here needs, is
# left out: 3 MB of every run.
DRIVER = """\
import sys
sys.modules["uvicorn"] = None
from agents_manager.agents import claude_driver
sys.exit(claude_driver.main(sys.argv[1]))
"""
JOB = "claude.json"
MCP = "mcp.json"
"""Where the driver looks for servers that Claude Code is to know."""
LOGIN = ".credentials.json"
SDK = "claude_agent_sdk"

ACCOUNTS: Mapping[str, Sequence[str]] = {
    "ANTHROPIC_API_KEY": (),
    "ANTHROPIC_AUTH_TOKEN": (),
    "CLAUDE_CODE_OAUTH_TOKEN": (),
    "CLAUDE_CODE_USE_BEDROCK": (
        *("AWS_REGION", "AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID"),
        *("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "ANTHROPIC_BEDROCK_BASE_URL"),
    ),
    "CLAUDE_CODE_USE_VERTEX": (
        *("CLOUD_ML_REGION", "ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_APPLICATION_CREDENTIALS"),
        "ANTHROPIC_VERTEX_BASE_URL",
    ),
}
"""Variables that say who pays, and what each needs beside it."""
ANTHROPIC = ("ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS")
PASSED_ON = (
    *ANTHROPIC,
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    *("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"),
)
ALWAYS = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
    # What it would remember lies outside of the workspace, and what it leaves in the background
    # would end with the run.
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
}

TESTED = ((0, 2, 182), (0, 2, 184))
NO_SDK = (
    'The Claude Agent SDK is not installed. Install it with: pip install "agents-manager[claude]"'
)
NO_ACCOUNT = (
    "It has no account: log in with Claude Code (claude, then /login), or set ANTHROPIC_API_KEY"
    " for the server."
)

HOW_TO_END = f"""\
Give your final message by the tool {claude_gate.ENDS}: "outcome" is the name of the outcome,
"payload" its payload or null, and "text" all that you have to say, in full. Where the outcome's
result is a text, it is this one. Nothing else you say is kept.
"""


class ClaudeCodeAgent:
    how_to_end = HOW_TO_END

    def __init__(self, name: str, config: ClaudeCodeConfig) -> None:
        self._name = name
        self._config = config

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            resumes=True,
            structured_output=True,
            mcp=True,
            reports_cost=True,
            read_only_modes=True,
            system_prompt=True,
            interrupts=True,
            asks_permission=self._config.permissions != claude_gate.REFUSE,
        )

    @property
    def model(self) -> str | None:
        return self._config.model

    @property
    def system_prompt(self) -> str | None:
        return self._config.system_prompt

    def job(self, turn: Turn) -> Job:
        path = login_shell.path()
        program = claude_program.choose(path) if find_spec(SDK) is not None else None
        if program is None:
            raise AgentNotInstalled(f'Agent "{self._name}": {NO_SDK}')
        limits = self._config.limits
        servers = mcp_servers.ready(
            self._config.mcp_servers, Owner(self._name, path, turn.variables)
        )
        return Job(
            dir=turn.dir,
            run_id=turn.run.id,
            argv=(sys.executable, "-I", "-X", "no_debug_ranges", "-c", DRIVER, str(turn.dir / JOB)),
            cwd=turn.workspace,
            env=self._env(turn),
            stdin="",
            files={
                JOB: json.dumps({**self._told(turn), "program": program.path}),
                environment.PROMPT: turn.prompt,
                **_servers(turn, servers),
            },
            # Claude Code counts its turns itself and then ends in order.
            limits=limits.model_copy(update={"turns": None}),
            folders=(turn.home,),
            needs=mcp_servers.needed(self._needs(turn, program.path), servers),
            program=program.path,
            program_version=program.version,
            secrets=mcp_servers.secrets(servers),
            system_prompt=self._config.system_prompt or "",
            stop_signal="SIGINT",
        )

    def read(self, folder: Path) -> Said:
        return stream.read(folder / "output")

    def parse(self, line: bytes) -> Sequence[Mapping[str, Any]]:
        return stream.shown(line)

    def meter(self) -> stream.UsageMeter:
        return stream.UsageMeter()

    def diagnose(self) -> Diagnosis:
        if find_spec(SDK) is None:
            return Diagnosis(missing=(NO_SDK,))
        release, program = version("claude-agent-sdk"), claude_program.choose(login_shell.path())
        if program is None:
            return Diagnosis(missing=(NO_SDK,))
        return Diagnosis(
            program=program.path,
            version=program.version,
            missing=self._missing(),
            doubts=(
                *program.doubts,
                *programs.doubts("The Claude Agent SDK", release, TESTED),
            ),
        )

    def _missing(self) -> Sequence[str]:
        try:
            known = self.provider() is not None or self._has_account()
        except InvalidInput as error:
            return (error.message,)
        return () if known else (NO_ACCOUNT,)

    def _has_account(self) -> bool:
        # macOS keeps the login in its keychain, where looking would ask its user.
        kept = sys.platform == "darwin" or _login().is_file()
        return kept or any(os.environ.get(name) for name in ACCOUNTS)

    def _told(self, turn: Turn) -> Mapping[str, Any]:
        tools = [*claude_gate.READS, claude_gate.COMMAND]
        allowed = list(claude_gate.READS)
        if not turn.read_only:
            tools += claude_gate.WRITES
            allowed = tools
        elif not turn.only_reads:
            allowed = tools
        # A mode that reads is not given more, and without a server there is nobody to ask.
        refuses = turn.read_only or turn.report is None
        return {
            "workspace": str(turn.workspace),
            "home": str(turn.home),
            "model": turn.run.model or self._config.model,
            "max_turns": self._config.max_turns,
            "resume": turn.session,
            "prompt": turn.prompt,
            "fresh_prompt": turn.fresh_prompt,
            "schema": structured.schema(turn.offered, payload="object") if turn.offered else None,
            "system_prompt": self._config.system_prompt,
            "tools": tools,
            "allowed": allowed,
            "servers": list(self._config.mcp_servers),
            "permissions": claude_gate.REFUSE if refuses else self._config.permissions,
        }

    def provider(self) -> Provider | None:
        return providers.anthropic(self._name) if self._config.gateway else None

    def _env(self, turn: Turn) -> dict[str, str]:
        provider = self.provider()
        if provider is not None:
            return self._env_with_gateway(turn, provider)
        accounts = [name for name in ACCOUNTS if os.environ.get(name)]
        names = [*PASSED_ON, *self._config.env, *accounts]
        for account in accounts:
            names += ACCOUNTS[account]
        env = {**environment.of(turn, path=login_shell.path(), names=names), **ALWAYS}
        # What it finds in the user's own folder, it would also change there: hooks above all.
        if accounts or turn.kept:
            env["CLAUDE_CONFIG_DIR"] = str(turn.home)
        elif "CLAUDE_CONFIG_DIR" in os.environ:
            env["CLAUDE_CONFIG_DIR"] = os.environ["CLAUDE_CONFIG_DIR"]
        return env

    def _env_with_gateway(self, turn: Turn, provider: Provider) -> dict[str, str]:
        """Neither the key, nor what else would lead to a provider."""
        assert turn.gateway is not None
        paying = {*ACCOUNTS, *(name for needs in ACCOUNTS.values() for name in needs), *ANTHROPIC}
        names = [name for name in (*PASSED_ON, *self._config.env) if name not in paying]
        env = environment.of(turn, path=login_shell.path(), names=names)
        return {
            **environment.near(providers.without(env, provider)),
            **ALWAYS,
            "ANTHROPIC_BASE_URL": turn.gateway.url,
            "ANTHROPIC_API_KEY": turn.gateway.token,
            "CLAUDE_CONFIG_DIR": str(turn.home),
        }

    def _needs(self, turn: Turn, program: str) -> Needs:
        if turn.gateway is not None:
            return Needs(programs=(program,))
        account = any(os.environ.get(name) for name in ACCOUNTS)
        return Needs(
            programs=(program,),
            logins={} if account else {turn.home / LOGIN: _login()},
            hosts=(*environment.CLAUDE_HOSTS, *_clouds()),
        )


def _login() -> Path:
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude") / LOGIN


def _clouds() -> list[str]:
    """Where Claude is asked by way of Amazon or Google."""
    hosts: list[str] = []
    if region := os.environ.get("AWS_REGION"):
        hosts += [f"bedrock-runtime.{region}.amazonaws.com", f"sts.{region}.amazonaws.com"]
    if region := os.environ.get("CLOUD_ML_REGION"):
        hosts += [f"{region}-aiplatform.googleapis.com", "oauth2.googleapis.com"]
    return hosts


def _servers(turn: Turn, servers: Sequence[ReadyServer]) -> dict[str, str]:
    known = {server.name: server.as_json() for server in servers}
    if turn.report is None:
        return {MCP: json.dumps({"mcpServers": known})} if known else {}
    header = {"Authorization": f"Bearer {turn.report.token}"}
    # In milliseconds; without it Claude Code gives up after a minute.
    takes = int(turn.report.takes_s * 1000)
    ours = {"type": "http", "url": turn.report.url, "headers": header, "timeout": takes}
    return {MCP: json.dumps({"mcpServers": {**known, claude_gate.SERVER: ours}})}
