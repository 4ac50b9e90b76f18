"""What a plugin registers, one method for each kind. What cannot be used is refused at once."""

import inspect
import re
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from agents_manager.domain import form_schema, json_schema
from agents_manager.domain.guards import Guard
from agents_manager.domain.names import visible
from agents_manager.domain.outcome import Outcome
from agents_manager.domain.payload import NeedsInfo, OptionsProposed, ProposeSplit
from agents_manager.domain.pipeline import OUTCOME_ALIASES, Policy, PromptType
from agents_manager.domain.plugin import ADAPTERS, HookFunction, Ranker
from agents_manager.domain.registry import Registry
from agents_manager.errors import InvalidInput, InvalidPipeline
from agents_manager.flow.ports import (
    Adapters,
    Agent,
    AgentConfig,
    AgentKind,
    Channel,
    ChannelConfig,
    ChannelKind,
    CheckKind,
    ForgeKind,
    Tools,
)
from agents_manager.flow.ports.adapters import Check
from agents_manager.flow.ports.forges import Forge

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_WITH_HYPHENS = re.compile(r"[a-z][a-z0-9_-]{0,63}")
_OTHER_NOTIFICATIONS = ("digest", "web_url")
"""What stands beside channels in a configuration file."""
_ASKS = {
    PromptType.INFO_REQUEST: (NeedsInfo, OptionsProposed),
    PromptType.SPLIT_PROPOSAL: (ProposeSplit,),
}
"""The payloads that questions of a type can be read from."""


class Additions:
    """What a plugin registers. A bad or taken name is refused at once."""

    def __init__(
        self, known: Registry, adapters: Adapters | None = None, plugin: str | None = None
    ) -> None:
        """`plugin`: who registers; None is the product itself."""
        self._known = known
        self._had = adapters or Adapters()
        self._plugin = plugin
        self.registry = known
        self.adapters = self._had

    def guard(self, name: str, guard: Guard, *, params: type[BaseModel] | None = None) -> None:
        """A pure function of facts and parameters that answers with a bool and a reason. With a
        model, parameters are held to it when a pipeline is saved."""
        self._free("guard", name, self.registry.guards)
        _plain("guard", name, guard)
        models = {name: params} if params else {}
        self.registry = replace(
            self.registry,
            guards={**self.registry.guards, name: guard},
            params={**self.registry.params, **models},
        )

    def hook(
        self, name: str, perform: HookFunction, *, policy: Policy | str = Policy.BEST_EFFORT
    ) -> None:
        """A function that is called after the move, in a thread of its own, and may be called again
        with the same key. The policy is for pipelines that give none."""
        self._free("hook", name, self.registry.hooks)
        _plain("hook", name, perform)
        self.registry = replace(
            self.registry,
            hooks={**self.registry.hooks, name: Policy(policy)},
            handlers={**self.registry.handlers, name: perform},
        )

    def outcome(self, outcome: Outcome) -> None:
        """What an agent can end with; its payload is a model or a JSON Schema."""
        self._free("outcome", outcome.name, {**self.registry.outcomes, **OUTCOME_ALIASES})
        wrong = _schema_problems(outcome)
        if wrong:
            raise InvalidInput(f'The schema of outcome "{outcome.name}": {"; ".join(wrong)}')
        models = _ASKS.get(outcome.prompt) if outcome.prompt and not outcome.answer else None
        if models and not (outcome.payload and issubclass(outcome.payload, models)):
            names = " or ".join(model.__name__ for model in models)
            what = f'The outcome "{outcome.name}" opens {outcome.prompt}'
            raise InvalidInput(f"{what}, so its payload is a {names}.")
        outcomes = {**self.registry.outcomes, outcome.name: outcome}
        self.registry = replace(self.registry, outcomes=outcomes)

    def ranker(self, name: str, rank: Ranker) -> None:
        """A function that says how well findings fit a task, such as by embeddings. It is called
        while a prompt is written, so it must be quick."""
        self._free("ranker", name, self.registry.rankers)
        _plain("ranker", name, rank)
        self.registry = replace(self.registry, rankers={**self.registry.rankers, name: rank})

    def agent(
        self,
        name: str,
        config: type[AgentConfig],
        build: Callable[[str, Any], Agent],
        *,
        profiles: Collection[str] = (),
    ) -> None:
        """An adapter, as `adapter` of an agent. Its settings are held to the model, which says
        `adapter: Literal["<name>"] = "<name>"`; where none is required, there is an agent of that
        name without any."""
        known = self.adapters.said_by_name
        for one in (name, *profiles):
            self._free("agent", one, known, _WITH_HYPHENS)
        _model("agent", name, config, AgentConfig)
        said = config.model_fields.get("adapter")
        if said is None or (get_args(said.annotation), said.default) != ((name,), name):
            what = f'The settings of agent "{name}" do not say'
            raise InvalidInput(f'{what} adapter: Literal["{name}"] = "{name}".')
        with suppress(ValidationError):  # Where it has to be told something.
            config()
        kind = AgentKind(config=config, build=build, profiles=tuple(profiles), plugin=self._plugin)
        self.adapters = replace(self.adapters, agents={**self.adapters.agents, name: kind})

    def forge(
        self,
        name: str,
        build: Callable[[Tools], Forge],
        *,
        settings: type[BaseModel] | None = None,
    ) -> None:
        """Where pull requests live, as `type` of `forge`. That of a plugin is a `RemoteForge`: what
        is to be merged is pushed first."""
        self._free("forge", name, self.adapters.forges, _WITH_HYPHENS)
        if settings is not None:
            _model("forge", name, settings, BaseModel)
        kind = ForgeKind(build=build, settings=settings, plugin=self._plugin)
        self.adapters = replace(self.adapters, forges={**self.adapters.forges, name: kind})

    def channel(
        self,
        name: str,
        config: type[ChannelConfig],
        build: Callable[[Tools, Callable[[], Any]], Channel],
    ) -> None:
        """A way to reach people, as a key of `notifications`. Each of its settings has a default;
        what is set is asked of the function that it is built with."""
        taken = (*self.adapters.channels, *_OTHER_NOTIFICATIONS)
        self._free("channel", name, taken, _NAME)
        _model("channel", name, config, ChannelConfig)
        try:
            config().rules()
        except ValidationError:
            what = f'The settings of channel "{name}"'
            raise InvalidInput(f"{what} have no default, which each of them needs.") from None
        kind = ChannelKind(config=config, build=build, plugin=self._plugin)
        self.adapters = replace(self.adapters, channels={**self.adapters.channels, name: kind})

    def check(self, name: str, run: Check, *, settings: type[BaseModel] | None = None) -> None:
        """A kind of check, as `kind` of a project's check. It is awaited, so it must not block."""
        self._free("check", name, self.adapters.checks, _WITH_HYPHENS)
        if not inspect.iscoroutinefunction(run):
            raise InvalidInput(f'The check "{name}" is not an async function.')
        if settings is not None:
            _model("check", name, settings, BaseModel)
        kind = CheckKind(run=run, settings=settings, plugin=self._plugin)
        self.adapters = replace(self.adapters, checks={**self.adapters.checks, name: kind})

    def pipeline(self, document: Mapping[str, Any]) -> None:
        """A pipeline beside those that are built in. It may name what the same plugin registers,
        before it or after, and is linted once all is registered."""
        name = document.get("id")
        if not isinstance(name, str):
            raise InvalidPipeline("A pipeline is registered without an id.")
        self._free("pipeline", name, self.adapters.pipelines, _WITH_HYPHENS)
        known = {**self.adapters.pipelines, name: document}
        self.adapters = replace(self.adapters, pipelines=known)

    def added(self, kind: str) -> tuple[str, ...]:
        of_files = kind in ADAPTERS
        before: object = self._had if of_files else self._known
        after: object = self.adapters if of_files else self.registry
        return tuple(name for name in getattr(after, kind) if name not in getattr(before, kind))

    def _free(
        self, kind: str, name: str, taken: Collection[str], allowed: re.Pattern[str] = _NAME
    ) -> None:
        if not allowed.fullmatch(name):
            signs = "digits, - and _" if allowed is _WITH_HYPHENS else "digits and _"
            raise InvalidInput(
                f'"{visible(name, 80)}" cannot be the name of a {kind}: it is made of small'
                f" letters, {signs}, and begins with a letter."
            )
        if name in taken:
            owner = self.registry.source(kind, name)
            who = f"the plugin {owner} registers it" if owner else "it is built in"
            raise InvalidInput(f'The {kind} "{name}" cannot be registered: {who}.')


def _model(kind: str, name: str, model: type[BaseModel], base: type[BaseModel]) -> None:
    if not (inspect.isclass(model) and issubclass(model, base)):
        raise InvalidInput(f'The settings of {kind} "{name}" are no {base.__name__}.')


def _schema_problems(outcome: Outcome) -> list[str]:
    if outcome.answer is None:
        return json_schema.problems(outcome.schema) if outcome.schema is not None else []
    if outcome.payload or outcome.prompt != PromptType.INFO_REQUEST:
        return ["answer: a form is an info_request, and goes with a JSON Schema, not a model"]
    schema = outcome.schema or {"type": "object"}
    return form_schema.outcome_problems({**schema, "answer": outcome.answer})


def _plain(kind: str, name: str, function: object) -> None:
    if not callable(function) or inspect.iscoroutinefunction(function):
        raise InvalidInput(f'The {kind} "{name}" is not a plain function.')
