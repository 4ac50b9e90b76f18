"""The settings of an agent, as they stand under `agents` in a configuration file."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from agents_manager.domain.run import Limits
from agents_manager.domain.value import Lenient


class AgentConfig(Lenient):
    """What every agent can be told."""

    adapter: str | None = None
    """Which adapter drives it; the agent's own name where left out."""
    display_name: str | None = None
    """How people see it called; its own name where left out."""
    model: str | None = None
    """The model it asks for; the adapter's choice where left out."""
    timeout_ms: int = Field(default=600_000, gt=0, alias="timeout")
    """How long a run may take."""
    silence_timeout_ms: int | None = Field(default=None, gt=0, alias="silenceTimeout")
    """How long a run may go on without any output; no limit where left out."""
    output_bytes: int = Field(default=200 * 1024 * 1024, gt=0)
    """How much output of a run is kept; the rest is dropped and the run marked as truncated."""

    @property
    def limits(self) -> Limits:
        silence_ms = self.silence_timeout_ms
        return Limits(
            timeout_s=self.timeout_ms / 1000,
            silence_s=None if silence_ms is None else silence_ms / 1000,
            output_bytes=self.output_bytes,
        )


class ScriptedConfig(AgentConfig):
    """The scripted agent."""

    script: Mapping[str, Any] | None = None
    """A script for every task that brings none of its own."""
    script_file: str | None = None
    """The same as a YAML or JSON file, absolute or relative to the project."""
