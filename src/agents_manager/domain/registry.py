"""Everything the engine knows by name, handed around as one value; there is no global registry."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ValidationError

from agents_manager.domain import effects, guards, outcome, parts, race
from agents_manager.domain.guards import Guard
from agents_manager.domain.outcome import Outcome
from agents_manager.domain.pipeline import (
    BROUGHT,
    NAMELESS,
    GuardSpec,
    HookSpec,
    Pipeline,
    Policy,
    Transition,
    TriggerType,
    faults,
    no_status,
)
from agents_manager.domain.plugin import Borrowed, HookFunction, Plugin, Ranker
from agents_manager.errors import InvalidPipeline, closest


@dataclass(frozen=True, slots=True)
class Registry:
    guards: Mapping[str, Guard]
    outcomes: Mapping[str, Outcome]
    hooks: Mapping[str, Policy]
    params: Mapping[str, type[BaseModel]]
    """What a guard can be told, of those that can be told anything."""
    hook_params: Mapping[str, type[BaseModel]] = field(default_factory=dict[str, type[BaseModel]])
    """What a hook can be told, of those that are held to it."""
    handlers: Mapping[str, HookFunction] = field(default_factory=dict[str, HookFunction])
    """What performs the hooks of plugins."""
    rankers: Mapping[str, Ranker] = field(default_factory=dict[str, Ranker])
    """What plugins choose findings for a task by, beside words, tags and files."""
    plugins: tuple[Plugin, ...] = ()

    def policy(self, hook: HookSpec) -> Policy:
        return hook.policy or self.hooks[hook.type]

    def source(self, kind: str, name: str) -> str | None:
        """The plugin that registered a guard, hook, outcome or ranker; None of what is built in."""
        return next((p.title for p in self.plugins if name in getattr(p, f"{kind}s")), None)

    def borrowed(self, pipeline: Pipeline) -> list[Borrowed]:
        """What the pipeline has from plugins, each name once."""
        named = dict.fromkeys(
            pair
            for t in pipeline.transitions
            for pair in (
                *(("guard", guard.type) for guard in t.guards),
                *(("hook", hook.type) for hook in t.hooks),
                ("outcome", t.trigger.outcome or ""),
            )
        )
        sources = ((kind, name, self.source(kind, name)) for kind, name in named)
        return [Borrowed(kind=k, name=n, plugin=source) for k, n, source in sources if source]

    def nobody_knows(self, kind: str, name: str) -> str:
        """A sentence about a name that is not, or no longer, registered."""
        known: Mapping[str, object] = getattr(self, f"{kind}s")
        broken = "".join(f" {plugin.trouble}." for plugin in self.plugins if plugin.error)
        return f'there is no {kind} "{name}".{closest(name, sorted(known))}{broken}'

    def offered(self, pipeline: Pipeline, status_id: str, mode: str = "") -> list[str]:
        """The outcomes that the graph can take from a status, each once: those that transitions
        name, and with `any` every one that can be asked about where it leads. A judge's is no
        matter of the graph."""
        if mode == race.JUDGE:
            return [race.JUDGED]
        found: dict[str, None] = {}
        unnamed: list[Transition] = []
        for transition in pipeline.leaving(status_id):
            if transition.trigger.outcome:
                found[transition.trigger.outcome] = None
            elif transition.trigger.type is TriggerType.ANY:
                unnamed.append(transition)
        for name, known in self.outcomes.items():
            if any(_can_enter(pipeline, t.to, known) for t in unnamed):
                found.setdefault(name)
        found.pop(race.JUDGED, None)
        if pipeline.status(status_id).parallel:
            found.pop(parts.CONFLICT, None)
        return list(found)

    def check_names(self, pipeline: Pipeline) -> None:
        """Refuses a pipeline that names a guard, hook or outcome nobody knows, or tells a guard
        what it does not understand."""
        problems = list(self.problems(pipeline))
        if problems:
            raise InvalidPipeline(f'Pipeline "{pipeline.id}" has errors.', problems)

    def problems(self, pipeline: Pipeline) -> Iterator[str]:
        """Each as `place: what is wrong`."""
        statuses = dict.fromkeys(s.id for s in pipeline.statuses)
        for i, t in enumerate(pipeline.transitions):
            for j, guard in enumerate(t.guards):
                at = f"transitions.{i}.guards.{j}"
                if guard.type not in self.guards:
                    yield f"{at}.type: {self.nobody_knows('guard', guard.type)}"
                model = self.params.get(guard.type)
                if model is not None:
                    problems = _param_problems(guard, model, statuses)
                    yield from (f"{at}.params.{p}" for p in problems)
            for j, hook in enumerate(t.hooks):
                if hook.type not in self.hooks:
                    at = f"transitions.{i}.hooks.{j}.type"
                    yield f"{at}: {self.nobody_knows('hook', hook.type)}"
                model = self.hook_params.get(hook.type)
                if model is not None:
                    at = f"transitions.{i}.hooks.{j}.params"
                    yield from (f"{at}.{p}" for p in _misfits(hook.params, model))
            name = t.trigger.outcome
            if name is not None and name not in self.outcomes:
                at = f"transitions.{i}.trigger.outcome"
                yield f"{at}: {self.nobody_knows('outcome', name)}"


def _can_enter(pipeline: Pipeline, to: str, known: Outcome) -> bool:
    """A status that waits for a person is entered with a question."""
    if to in NAMELESS or not pipeline.awaits_human(to):
        return True
    prompt = pipeline.status(to).prompt
    if prompt is None:
        return known.prompt is not None
    return prompt.type not in BROUGHT or known.prompt is prompt.type


def _param_problems(
    guard: GuardSpec, model: type[BaseModel], statuses: Collection[str]
) -> Iterator[str]:
    found = list(_misfits(guard.params, model))
    if found:
        yield from found
        return
    status = guard.params.get("statusId")
    if status is not None and status not in statuses:
        yield f"statusId: {no_status(status, statuses)}"


def _misfits(params: Mapping[str, Any], model: type[BaseModel]) -> Iterator[str]:
    try:
        model.model_validate(params)
    except ValidationError as error:
        yield from faults(error, model)


def built_in() -> Registry:
    return Registry(
        guards=guards.BUILT_IN,
        outcomes={o.name: o for o in outcome.BUILT_IN},
        hooks=effects.HOOK_POLICIES,
        params=guards.GUARD_PARAMS,
        hook_params=effects.HOOK_PARAMS,
    )
