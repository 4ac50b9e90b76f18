"""The agent and model that are chosen for a task: whether they can be, and which runs use them."""

from collections.abc import Mapping
from typing import Any

from agents_manager.domain import race
from agents_manager.domain.race import Contender
from agents_manager.domain.run import Run
from agents_manager.domain.task import Project, Task
from agents_manager.errors import AgentNotFound
from agents_manager.flow import agents
from agents_manager.flow.ports import Services

NAMES = ("agent", "model")
CHECKING = (agents.REVIEW, race.JUDGE)
"""Modes that check the work of others: an agent that the project has for them stays."""


def settled(
    s: Services, project: Project, words: Mapping[str, Any], task: Task | None = None
) -> tuple[dict[str, Any], list[str]]:
    """Returns agent and model as they are kept with the task, and what is wrong with them. A model
    belongs to its agent: without one it is of the project's default agent, and another agent does
    not inherit it."""
    if not any(name in words for name in NAMES):
        return {}, []
    before = Contender(agent=task.agent, model=task.model) if task and task.agent else None
    agent = words.get("agent", before and before.agent)
    inherited = before.model if before and before.agent == agent else None
    model = words.get("model", inherited)
    if model is not None and agent is None:
        agent = s.configs.of(project).default_agent
    kept = {"agent": agent, "model": model}
    if agent is None:
        return kept, []
    try:
        found = s.agents.get(agent, project)
    except AgentNotFound as error:
        return kept, [f"agent: {error.message}"]
    if model is not None and found.capabilities.ignores_model:
        return kept, [f'model: Agent "{agent}" does not accept a model. Leave the model out.']
    return kept, []


def of_mode(s: Services, project: Project, task: Task, mode: str) -> Contender | None:
    """Returns what is chosen for the task's runs in this mode; None where others decide."""
    if task.agent is None or (mode in CHECKING and agents.of_role(s, project, mode)):
        return None
    return Contender(agent=task.agent, model=task.model)


def recorded(choice: Contender | None, agent: str | None) -> dict[str, Any]:
    """Returns what a run of this agent records of the choice; the model is for its own agent."""
    if choice is None:
        return {}
    model = choice.model if agent == choice.agent else None
    return {"agent": choice.agent, **({"model": model} if model else {})}


def is_replaced(choice: Contender | None, last: Run | None) -> bool:
    """Returns whether another agent was chosen when the last run was asked for, or none."""
    before = last.overrides.task.get("agent") if last else None
    return before != (choice.agent if choice else None)
