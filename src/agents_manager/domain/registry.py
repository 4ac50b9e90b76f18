"""Everything the engine knows by name, handed around as one value; there is no global registry."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from agents_manager.domain import effects, guards, outcome
from agents_manager.domain.guards import Guard
from agents_manager.domain.outcome import Outcome
from agents_manager.domain.pipeline import (
    GuardSpec,
    HookSpec,
    Pipeline,
    Policy,
    faults,
    no_status,
)
from agents_manager.errors import InvalidPipeline, closest


@dataclass(frozen=True, slots=True)
class Registry:
    guards: Mapping[str, Guard]
    outcomes: Mapping[str, Outcome]
    hooks: Mapping[str, Policy]

    def policy(self, hook: HookSpec) -> Policy:
        return hook.policy or self.hooks[hook.type]

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
                    yield _unknown(f"{at}.type", "guard", guard.type, self.guards)
                yield from (f"{at}.params.{p}" for p in _param_problems(guard, statuses))
            for j, hook in enumerate(t.hooks):
                if hook.type not in self.hooks:
                    at = f"transitions.{i}.hooks.{j}.type"
                    yield _unknown(at, "hook", hook.type, self.hooks)
            name = t.trigger.outcome
            if name is not None and name not in self.outcomes:
                at = f"transitions.{i}.trigger.outcome"
                yield _unknown(at, "outcome", name, self.outcomes)


def _param_problems(guard: GuardSpec, statuses: Collection[str]) -> Iterator[str]:
    model = guards.GUARD_PARAMS.get(guard.type)
    if model is None:
        return
    try:
        model.model_validate(guard.params)
    except ValidationError as error:
        yield from faults(error)
        return
    status = guard.params.get("statusId")
    if status is not None and status not in statuses:
        yield f"statusId: {no_status(status, statuses)}"


def _unknown(at: str, kind: str, name: str, known: Mapping[str, object]) -> str:
    return f'{at}: there is no {kind} "{name}".{closest(name, sorted(known))}'


def built_in() -> Registry:
    return Registry(
        guards=guards.BUILT_IN,
        outcomes={o.name: o for o in outcome.BUILT_IN},
        hooks=effects.HOOK_POLICIES,
    )
