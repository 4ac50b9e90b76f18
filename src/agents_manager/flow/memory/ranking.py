"""What plugins think of the findings that a task may be told."""

import math
from collections.abc import Mapping, Sequence

import structlog

from agents_manager.domain import recall
from agents_manager.domain.knowledge import Fit, Query
from agents_manager.domain.plugin import Ranker
from agents_manager.domain.recall import About
from agents_manager.domain.task import Task
from agents_manager.flow.ports import Services, Tx

NEWEST = 200
"""Findings beside the candidates that plugins are asked about."""
log = structlog.get_logger()


def boosts(
    tx: Tx, s: Services, task: Task, about: About, candidates: list[Fit]
) -> Mapping[str, tuple[float, str]]:
    """Points and their reason by node. Nodes that have no word in common with the task, and that a
    plugin finds to fit, become candidates."""
    if not s.registry.rankers:
        return {}
    known = {fit.node.id for fit in candidates}
    query = Query(project_id=task.project_id, kinds=recall.KINDS)
    others = [n for n in tx.knowledge.search(query, limit=NEWEST) if n.id not in known]
    nodes = [*(fit.node for fit in candidates), *others]
    text = "\n".join([task.title, task.objective, task.description, " ".join(about.tags)])
    found: dict[str, tuple[float, str]] = {}
    for name, rank in s.registry.rankers.items():
        numbers = _asked(name, rank, text, [n.text for n in nodes])
        for node, fits in zip(nodes, numbers, strict=True):
            if fits >= recall.FITS and fits * recall.RANKED > found.get(node.id, (0.0, ""))[0]:
                found[node.id] = (fits * recall.RANKED, f"{name} {fits:.2f}")
    candidates += [
        Fit(node=n, text=0.0, words=(), tags=(), files=()) for n in others if n.id in found
    ]
    return found


def _asked(name: str, rank: Ranker, text: str, findings: Sequence[str]) -> list[float]:
    """Nothing where the plugin fails: a prompt must not depend on it."""
    try:
        numbers = [float(number) for number in rank(text, findings)]
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the plugin's
        log.warning("ranker.failed", ranker=name, reason=f"{type(error).__name__}: {error}")
        return [0.0] * len(findings)
    if len(numbers) != len(findings) or not all(map(math.isfinite, numbers)):
        log.warning("ranker.failed", ranker=name, reason="It does not give a number for each text.")
        return [0.0] * len(findings)
    return [min(max(number, 0.0), 1.0) for number in numbers]
