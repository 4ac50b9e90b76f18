"""What the settings of every agent and of every channel have in common."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from agents_manager.domain.host import LABEL
from agents_manager.domain.routing import UNASKED, Occasion
from agents_manager.domain.run import Limits
from agents_manager.domain.run_settings import RunSettings
from agents_manager.domain.value import Value
from agents_manager.flow.ports.channels import ChannelRules

Label = Annotated[str, Field(pattern=f"^{LABEL}$")]


class Keys(Value):
    """Files speak camelCase, as their readers expect of JSON."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True
    )


class AgentConfig(RunSettings):
    """What every agent can be told."""

    display_name: str | None = None
    """How people see it called; its own name where left out."""
    base_branch: str | None = Field(default=None, min_length=1)
    """Where the work of tasks is merged to that it is the first to work at; the project's where
    left out."""
    branch_prefix: str | None = None
    """What the branches of these tasks begin with; as the project's do where left out."""
    auto_push: bool | None = None
    """Push its branches where there is a remote; as the project does where left out."""
    branch_strategy: Literal["new-per-task"] | None = None
    """As the project's."""
    runs_on: tuple[Label, ...] = ()
    """The labels that a machine must have for it, beside those of the project, where several share
    a Postgres database."""

    @property
    def limits(self) -> Limits:
        silence_ms = self.silence_timeout_ms
        return Limits(
            timeout_s=self.timeout_ms / 1000,
            silence_s=None if silence_ms is None else silence_ms / 1000,
            turns=self.max_turns,
            output_bytes=self.output_bytes,
        )


class ChannelConfig(Keys):
    """What every channel can be told."""

    enabled: bool = False
    """Whether anything is sent there."""
    events: tuple[Occasion, ...] = tuple(one for one in Occasion if one in UNASKED)
    """What is: `question`, `reminder`, `failure`, `done`, `notice` and `digest`."""
    break_through: tuple[Occasion, ...] = ()
    """What of it is sent in quiet hours, too. Only in the user's file, as all that follows."""

    def rules(self) -> ChannelRules:
        """A channel says here where it sends to, and who may answer."""
        return ChannelRules(
            enabled=self.enabled,
            events=frozenset(self.events),
            break_through=frozenset(self.break_through),
            people={},
            places=(),
        )
