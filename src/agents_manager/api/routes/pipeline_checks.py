"""Looking at a pipeline before tasks walk it. Nothing is saved here."""

import asyncio
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter

from agents_manager.api import forms, pages
from agents_manager.api.context import Services
from agents_manager.domain import lint, simulate, simulation_script
from agents_manager.domain import pipeline as pipelines
from agents_manager.domain.finding import errors
from agents_manager.domain.registry import Registry
from agents_manager.domain.task import Project
from agents_manager.errors import InvalidInput
from agents_manager.flow import pipelines as kept
from agents_manager.flow import ports
from agents_manager.flow.ports import Tx
from agents_manager.flow.registries import registry_of

router = APIRouter(prefix="/pipelines", tags=["pipelines"])


@router.post("/lint")
async def lint_pipeline(s: Services, form: forms.PipelineForm) -> pages.LintReport:
    """Every finding with its place and the way out. Saving refuses what has errors."""
    document, registry = await _named(s, form, await _project(s, form))
    # Off the loop: a large document takes a while.
    parsed, found = await asyncio.to_thread(lint.check_document, document, registry)
    borrowed = registry.borrowed(parsed) if parsed else []
    return pages.LintReport(
        ok=not errors(found),
        findings=[pages.Finding.of(f) for f in found],
        plugins=[pages.Borrowed.of(b) for b in borrowed],
    )


@router.post("/simulate")
async def simulate_pipeline(s: Services, form: forms.SimulateForm) -> pages.Simulation:
    """Walks it by a script of outcomes and answers, and tells each decision. Nothing is started."""
    project = await _project(s, form)
    document, registry = await _named(s, form, project)
    steps = simulation_script.parse(form.script)
    checks = kept.has_checks(s, project)

    def walk() -> simulate.Simulation:
        pipeline = pipelines.parse(document, where="The document")
        registry.check_names(pipeline)
        return simulate.simulate(pipeline, registry, steps, checks=checks)

    return pages.Simulation.of(await asyncio.to_thread(walk))


async def _project(s: ports.Services, form: forms.PipelineForm) -> Project | None:
    name = form.project
    return None if name is None else await s.store.read(lambda tx: tx.projects.find(name))


async def _named(
    s: ports.Services, form: forms.PipelineForm, project: Project | None
) -> tuple[Mapping[str, Any], Registry]:
    """The document that is meant, and all that it may name."""
    if (form.pipeline is None) == (form.document is None):
        raise InvalidInput(
            "Give either the id of a pipeline or a document.", ["pipeline", "document"]
        )
    registry = registry_of(s, project) if project else s.registry
    if form.document is not None:
        return form.document, registry
    wanted, version = form.pipeline or "", form.version

    def read(tx: Tx) -> Mapping[str, Any]:
        return kept.document(tx, kept.stored_id(tx, wanted, project), version)

    return await s.store.read(read), registry
