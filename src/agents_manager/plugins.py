"""Guards, hooks, outcomes and rankers of installed packages. A package names a function in the
entry point group `agents_manager.plugins`; the function is handed an `Additions`. What is wrong
with one plugin is on record with its name, and takes nothing from the others."""

import inspect
import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points

import structlog
from pydantic import BaseModel

from agents_manager.domain import form_schema, json_schema
from agents_manager.domain.guards import Guard
from agents_manager.domain.names import visible
from agents_manager.domain.outcome import Outcome
from agents_manager.domain.payload import NeedsInfo, OptionsProposed, ProposeSplit
from agents_manager.domain.pipeline import OUTCOME_ALIASES, Policy, PromptType
from agents_manager.domain.plugin import HookFunction, Plugin, Ranker
from agents_manager.domain.registry import Registry
from agents_manager.errors import InvalidInput

log = structlog.get_logger()

GROUP = "agents_manager.plugins"
MAX_ERROR = 500
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_ASKS = {
    PromptType.INFO_REQUEST: (NeedsInfo, OptionsProposed),
    PromptType.SPLIT_PROPOSAL: (ProposeSplit,),
}
"""The payloads that questions of a type can be read from."""


class Additions:
    """What a plugin registers. A bad or taken name is refused at once."""

    def __init__(self, known: Registry) -> None:
        self._known = known
        self.registry = known

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

    def added(self, kind: str) -> tuple[str, ...]:
        before, after = getattr(self._known, kind), getattr(self.registry, kind)
        return tuple(name for name in after if name not in before)

    def _free(self, kind: str, name: str, taken: Collection[str]) -> None:
        if not _NAME.fullmatch(name):
            raise InvalidInput(
                f'"{visible(name, 80)}" cannot be the name of a {kind}: it is made of small'
                " letters, digits and _, and begins with a letter."
            )
        if name in taken:
            owner = self.registry.source(kind, name)
            who = f"the plugin {owner} registers it" if owner else "it is built in"
            raise InvalidInput(f'The {kind} "{name}" cannot be registered: {who}.')


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


def load(known: Registry, chosen: Collection[str] | None) -> Registry:
    """The registry with what plugins add: those of the chosen packages, or of all."""
    wanted = None if chosen is None else {_canonical(name) for name in chosen}
    registry, plugins = known, list[Plugin]()
    try:
        found: Iterable[EntryPoint] = sorted(entry_points(group=GROUP), key=_place)
    except Exception as error:  # noqa: BLE001 - a broken package must not stop the server
        plugins.append(_failed("the installed packages", "", GROUP, error))
        found = ()
    for entry in found:
        package, version = _origin(entry)
        if wanted is not None and _canonical(package) not in wanted:
            continue
        additions = Additions(replace(registry, plugins=tuple(plugins)))
        try:
            entry.load()(additions)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - nor must a broken plugin
            plugins.append(_failed(package, version, entry.name, error))
            continue
        registry = additions.registry
        plugins.append(
            Plugin(
                package=package,
                version=version,
                entry_point=entry.name,
                guards=additions.added("guards"),
                hooks=additions.added("hooks"),
                outcomes=additions.added("outcomes"),
                rankers=additions.added("rankers"),
            )
        )
    seen = {_canonical(plugin.package) for plugin in plugins}
    missing = InvalidInput("it is named in AM_PLUGINS, but not installed")
    plugins += [_failed(name, "", "", missing) for name in sorted((wanted or set()) - seen)]
    return replace(registry, plugins=tuple(plugins))


def _origin(entry: EntryPoint) -> tuple[str, str]:
    return (entry.dist.name, entry.dist.version) if entry.dist else ("unknown", "")


def _place(entry: EntryPoint) -> tuple[str, str]:
    return _origin(entry)[0], entry.name


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def _failed(package: str, version: str, entry_point: str, error: BaseException) -> Plugin:
    told = str(error) if isinstance(error, InvalidInput) else f"{type(error).__name__}: {error}"
    plugin = Plugin(
        package=package,
        version=version,
        entry_point=entry_point,
        error=visible(told, MAX_ERROR),
    )
    log.warning("plugin.failed", plugin=plugin.title, entry_point=entry_point, reason=plugin.error)
    return plugin
