"""What pipelines are written with."""

import inspect
from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from agents_manager.api import forms, pages
from agents_manager.api.context import Services
from agents_manager.api.schemas import Json
from agents_manager.domain import effects
from agents_manager.domain.registry import Registry
from agents_manager.flow.registries import registry_of

router = APIRouter(tags=["pipelines"])


@router.get("/parts")
async def list_parts(s: Services, query: Annotated[forms.PartQuery, Query()]) -> pages.Parts:
    """The guards, hooks and outcomes that a pipeline may name, with what each takes, and the ids
    that are taken by pipelines that come with the product."""
    name, registry = query.project, s.registry
    if name is not None:
        project = await s.store.read(lambda tx: tx.projects.find(name))
        registry = registry_of(s, project)
    return pages.Parts(
        guards=_guards(registry),
        hooks=_hooks(registry),
        outcomes=_outcomes(registry),
        built_in=sorted(s.built_in),
    )


def _guards(registry: Registry) -> list[pages.GuardPart]:
    return [
        pages.GuardPart(
            name=name,
            meaning=inspect.getdoc(guard) or "",
            params=_schema(registry.params, name),
        )
        for name, guard in registry.guards.items()
    ]


def _hooks(registry: Registry) -> list[pages.HookPart]:
    return [
        pages.HookPart(
            name=name,
            meaning=effects.HOOK_MEANINGS.get(name, ""),
            policy=policy,
            params=_schema(registry.hook_params, name),
        )
        for name, policy in registry.hooks.items()
    ]


def _outcomes(registry: Registry) -> list[pages.OutcomePart]:
    return [
        pages.OutcomePart(
            name=one.name,
            meaning=one.description,
            payload=dict(one.payload_schema) if one.payload_schema else None,
            payload_required=one.payload_schema is not None and one.payload_required,
            prompt=one.prompt,
            answer=dict(one.answer) if one.answer else None,
        )
        for one in registry.outcomes.values()
    ]


def _schema(models: Mapping[str, type[BaseModel]], name: str) -> Json | None:
    model = models.get(name)
    return model.model_json_schema() if model else None
