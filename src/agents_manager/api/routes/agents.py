"""Agents that tasks can be given to, and whether they could work."""

from typing import Annotated

from fastapi import APIRouter, Query

from agents_manager.api import forms, pages
from agents_manager.api.context import Services
from agents_manager.flow import agents

router = APIRouter(prefix="/agents", tags=["agents"])


@router.get("")
async def list_agents(s: Services, query: Annotated[forms.AgentQuery, Query()]) -> pages.Agents:
    """Every agent: what is there, and what is missing with the way to get it. With a project, its
    own settings and its user's consent count."""
    named = query.project
    project = await s.store.read(lambda tx: tx.projects.find(named)) if named else None
    found = await agents.examine(s, project)
    return pages.Agents(items=[_agent(one) for one in found], next=None)


def _agent(one: agents.Examined) -> pages.Agent:
    return pages.Agent(
        name=one.name,
        usable=one.usable,
        model=one.model,
        program=one.diagnosis.program,
        version=one.diagnosis.version,
        missing=list(one.diagnosis.missing),
        doubts=list(one.diagnosis.doubts),
        capabilities=pages.Capabilities.of(one.capabilities),
    )
