"""What the pipelines of a project may name: all that is known, and the outcomes of its own."""

from dataclasses import replace

from agents_manager.domain.registry import Registry
from agents_manager.domain.task import Project
from agents_manager.flow.ports import Services


def registry_of(s: Services, project: Project) -> Registry:
    own, _ = s.files.outcomes(project)
    return replace(s.registry, outcomes={**s.registry.outcomes, **own}) if own else s.registry
