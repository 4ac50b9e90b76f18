"""What can be set for one run, by a hook's parameters or by who starts it, over what the files say
of its agent. None of it says which program runs: that is trusted as it stands in a file, or not."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field, ValidationError

from agents_manager.domain.value import Lenient, Value
from agents_manager.errors import InvalidInput, closest


class RunSettings(Lenient):
    model: str | None = None
    """The model it asks for; the agent's own choice where left out."""
    timeout_ms: int = Field(default=600_000, gt=0, alias="timeout")
    """How long a run may take, in milliseconds."""
    silence_timeout_ms: int | None = Field(default=None, gt=0, alias="silenceTimeout")
    """How long a run may go on without any output, in milliseconds; no limit where left out."""
    max_turns: int | None = Field(default=None, gt=0)
    """How many messages an agent may write in a run; no limit where left out."""
    output_bytes: int = Field(default=200 * 1024 * 1024, gt=0)
    """How much output of a run is kept; the rest is dropped and the run marked as truncated."""
    system_prompt: str | None = Field(default=None, max_length=100_000)
    """What is added to its own system prompt; to the prompt of agents that have none."""
    auto_commit: bool | None = None
    """Commit what the agent left uncommitted; as the project does where left out."""
    rebase_on_start: bool | None = None
    """Rebase a task's branch onto its base before a run; as the project does where left out."""
    preserve_uncommitted: bool | None = None
    """Tell a run of the uncommitted work that an earlier one left; as the project does where left
    out."""
    install_deps: bool | None = None
    """Whether the set-up commands are run; as the project does where left out."""


class StartParams(RunSettings):
    """What the hooks that start an agent can be told."""

    mode: str | None = None
    agent: str | None = None
    agent_type: str | None = None
    include_payload_context: bool | None = None


class Overrides(Value):
    """The layers of a run above the files, as they were given. `task` holds the agent that was
    chosen for the task, and its model where the run is that agent's."""

    role: Mapping[str, Any] = Field(default_factory=dict[str, Any])
    task: Mapping[str, Any] = Field(default_factory=dict[str, Any])
    hook: Mapping[str, Any] = Field(default_factory=dict[str, Any])
    run: Mapping[str, Any] = Field(default_factory=dict[str, Any])

    @property
    def together(self) -> dict[str, Any]:
        of_task = {key: value for key, value in self.task.items() if key in KEYS}
        return {**self.role, **of_task, **self.hook, **self.run}


NONE = Overrides()
KEYS: Mapping[str, str] = {
    (field.alias or name): name for name, field in RunSettings.model_fields.items()
}
"""The keys of files and forms, and what they are called in the code."""
PROGRAM_KEYS = (
    "adapter",
    "profile",
    "command",
    "env",
    "settings",
    "permissions",
    "gateway",
    "mcpServers",
)
"""What says which program runs and what it is told: of a project's file, only once trusted."""


class RunSetting(Value):
    """A value that a run was started with, and the layer it came from."""

    key: str
    value: Any
    layer: str


def picked(params: Mapping[str, Any]) -> dict[str, Any]:
    """The settings among the parameters of a hook, in either notation."""
    found = {alias: params.get(alias, params.get(name)) for alias, name in KEYS.items()}
    return {key: value for key, value in found.items() if value is not None}


def checked(given: Mapping[str, Any]) -> dict[str, Any]:
    """What somebody set for a run, under its own keys; InvalidInput that names each that cannot be
    set."""
    try:
        read = RunSettings.model_validate(given)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        told = [_told(str(fault["loc"][0]), fault["type"], fault["msg"]) for fault in faults]
        raise InvalidInput("The run cannot be started so.", told) from None
    return read.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _told(key: str, kind: str, message: str) -> str:
    if kind != "extra_forbidden":
        return f"{key}: {message}"
    if key in PROGRAM_KEYS:
        return f"{key}: it says which program runs, so only a configuration file can set it"
    hint = closest(key, list(KEYS))
    return f'{key}: there is no key "{key}" for a run.{hint} Known: {", ".join(KEYS)}'
