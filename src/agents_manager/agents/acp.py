"""Agents that speak the Agent Client Protocol, driven in a process of their own (`acp_driver.py`).
In what they differ stands in `acp_profiles.py`."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from agents_manager.agents import (
    environment,
    login_shell,
    mcp_servers,
    programs,
    settings_files,
    stream,
)
from agents_manager.agents.acp_gate import Policy
from agents_manager.agents.acp_profiles import ANY, PROFILES, Profile
from agents_manager.agents.config import AcpConfig
from agents_manager.agents.mcp_servers import Owner
from agents_manager.domain import permission
from agents_manager.errors import AgentNotInstalled
from agents_manager.flow.ports import Capabilities, Diagnosis, Job, Needs, Said, Turn

DRIVER = Path(__file__).with_name("acp_driver.py")
JOB = "acp.json"
SYSTEM_SETTINGS = "system-settings.json"
LIBRARY = "acp"
PASSED_ON = (
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    *("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"),
)
NO_LIBRARY = (
    "The library of the Agent Client Protocol is not installed. Install it with: pip install"
    ' "agents-manager[acp]"'
)
NOT_TRIED = "It was not tried with the program, only with the protocol that it speaks."


class AcpAgent:
    how_to_end = ""

    def __init__(self, name: str, config: AcpConfig) -> None:
        self._name = name
        self._config = config
        self._profile: Profile = PROFILES.get(config.profile or "", ANY)

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            resumes=self._profile.resumes,
            mcp=True,
            reports_cost=self._profile.reports_cost,
            read_only_modes=self._profile.asks,
            interrupts=True,
            asks_permission=True,
            reads_instructions=self._profile.reads_instructions,
        )

    @property
    def model(self) -> str | None:
        return self._config.model

    @property
    def system_prompt(self) -> str | None:
        return self._config.system_prompt

    def job(self, turn: Turn) -> Job:
        if find_spec(LIBRARY) is None:
            raise AgentNotInstalled(f'Agent "{self._name}": {NO_LIBRARY}')
        path = login_shell.path()
        names = (*PASSED_ON, *self._profile.env, *self._config.env)
        if self._profile.folder and not turn.kept:
            names += (self._profile.folder[0],)
        always = dict(self._profile.always)
        if turn.only_reads:
            always |= self._profile.reading_always
        servers = mcp_servers.ready(
            self._config.mcp_servers, Owner(self._name, path, turn.variables)
        )
        told = {**self._told(turn, path), "servers": {s.name: s.as_json() for s in servers}}
        files = {JOB: json.dumps(told), environment.PROMPT: turn.prompt}
        if self._profile.system_settings:
            variable, settings = self._profile.system_settings
            files[SYSTEM_SETTINGS] = json.dumps(settings)
            always[variable] = str(turn.dir / SYSTEM_SETTINGS)
        return Job(
            dir=turn.dir,
            run_id=turn.run.id,
            argv=(sys.executable, "-I", str(DRIVER), str(turn.dir / JOB)),
            cwd=turn.workspace,
            env={**environment.of(turn, path=path, names=names), **always},
            stdin="",
            files=files,
            limits=self._config.limits,
            folders=(turn.dir / permission.REQUESTS,),
            needs=mcp_servers.needed(self._needs(turn, path), servers),
            secrets=mcp_servers.secrets(servers),
            stop_signal="SIGINT",
        )

    def _needs(self, turn: Turn, path: str) -> Needs:
        """In a home of its own it finds its login and its settings, and nothing else."""
        profile = self._profile
        settings = {turn.home / file: self._users(file) for file in profile.settings}
        return Needs(
            programs=(programs.found(self._config.command[0], path, self._name),),
            logins={turn.home / file: self._users(file) for file in profile.logins},
            settings=settings,
            hosts=profile.hosts,
            addresses=settings_files.model_servers(settings.values()),
            shown=(turn.dir / permission.ANSWERS,),
        )

    def _session_mode(self, turn: Turn) -> str | None:
        profile = self._profile
        if turn.kept and profile.sandboxed and self._config.permissions is not Policy.ASK:
            return profile.sandboxed
        return (turn.read_only and profile.reading) or profile.mode

    def _users(self, file: str) -> Path:
        """Return where the user has a file of the agent."""
        variable, folder = self._profile.folder or ("", "")
        chosen = os.environ.get(variable)
        if chosen and Path(file).is_relative_to(folder):
            return Path(chosen) / Path(file).relative_to(folder)
        return Path.home() / file

    def read(self, folder: Path) -> Said:
        return stream.read(folder / "output")

    def parse(self, line: bytes) -> Sequence[Mapping[str, Any]]:
        return stream.shown(line)

    def meter(self) -> stream.UsageMeter:
        return stream.UsageMeter()

    def provider(self) -> None:
        return None

    def diagnose(self) -> Diagnosis:
        missing = () if find_spec(LIBRARY) else (NO_LIBRARY,)
        path = login_shell.path()
        program = self._config.command[0]
        found = programs.look_for(program, path)
        if found is None:
            absent = programs.absent(program, self._profile.get)
            return Diagnosis(missing=(*missing, absent), doubts=self._untried)
        release = programs.version(found, path)
        tested = self._profile.tested
        doubts = programs.doubts(self._name, release, tested) if tested else self._untried
        return Diagnosis(program=found, version=release, missing=missing, doubts=doubts)

    @property
    def _untried(self) -> Sequence[str]:
        return () if self._profile.tested else (NOT_TRIED,)

    def _told(self, turn: Turn, path: str) -> Mapping[str, Any]:
        config, profile = self._config, self._profile
        model = turn.run.model or config.model
        program, *arguments = config.command
        if model:
            arguments += [argument.replace("{model}", model) for argument in profile.model]
        report = turn.report
        return {
            "argv": [programs.found(program, path, self._name), *arguments],
            "workspace": str(turn.workspace),
            "mode": turn.run.mode,
            "read_only": turn.read_only,
            "resume": turn.session if profile.resumes else None,
            "prompt": turn.prompt,
            "fresh_prompt": turn.fresh_prompt,
            "report": {"url": report.url, "token": report.token} if report else None,
            "session_meta": profile.session_meta,
            "session_mode": self._session_mode(turn),
            "session_model": None if profile.model else model,
            "files": profile.files,
            "counts": profile.counts,
            "stops": profile.stops,
            "ends_clearly": profile.ends_clearly,
            "failure": profile.failure,
            "permissions": config.permissions,
            "max_permissions": config.max_permissions,
            "start_s": config.start_timeout_ms / 1000,
            "log_in": f"Log in with the program {program}, or set its key for the server.",
            "version": version("agents-manager"),
        }
