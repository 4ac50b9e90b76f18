"""A TaskSpec as people read it, to confirm it."""

from collections.abc import Iterable

from agents_manager.domain.stages.outputs import TaskSpec


def markdown(spec: TaskSpec) -> str:
    parts = [f"# Specification\n\n{spec.summary}"]
    for feature in spec.features:
        criteria = _listed(feature.acceptance_criteria)
        parts.append(f"## {feature.id}: {feature.name}\n\n{feature.description}\n\n{criteria}")
    more = {"Risks": spec.risks, "Assumptions": spec.assumptions, "Blockers": spec.blockers}
    parts += [f"## {title}\n\n{_listed(lines)}" for title, lines in more.items() if lines]
    return "\n\n".join(parts) + "\n"


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
