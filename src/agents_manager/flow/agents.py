"""Agents: which there are, whether they could work, and whether they may."""

import asyncio
from dataclasses import dataclass, replace

from agents_manager.domain.task import Project
from agents_manager.errors import InvalidConfig, NotConsented, NotTrusted
from agents_manager.flow.ports import Agent, Capabilities, Diagnosis, Services


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    name: str
    model: str | None
    capabilities: Capabilities
    diagnosis: Diagnosis

    @property
    def usable(self) -> bool:
        return not self.diagnosis.missing


async def examine(s: Services, project: Project | None, name: str | None = None) -> list[Examined]:
    """Every agent, or the one that is named, as it stands here and now."""
    known = s.agents.known(project) if name is None else {name: s.agents.get(name, project)}
    return [
        Examined(
            name=each,
            model=agent.model,
            capabilities=agent.capabilities,
            diagnosis=await asyncio.to_thread(_diagnosis, s, project, each, agent),
        )
        for each, agent in sorted(known.items(), key=lambda entry: entry[0])
    ]


def _diagnosis(s: Services, project: Project | None, name: str, agent: Agent) -> Diagnosis:
    """Looking starts programs, so those that nobody trusts are not looked at."""
    if project is None:
        return agent.diagnose()
    try:
        check_trust(s, name, project)
    except NotTrusted as error:
        return Diagnosis(missing=(error.message,))
    found = agent.diagnose()
    if agent.capabilities.harmless or project.consented_at is not None:
        return found
    return replace(found, missing=(*found.missing, without_consent(name, project)))


def allowed(s: Services, name: str, project: Project) -> Agent:
    """The agent; refused while nobody has trusted what the project's own file says of it, or while
    nobody has consented to its working without a sandbox."""
    check_trust(s, name, project)
    agent = s.agents.get(name, project)
    if not agent.capabilities.harmless and project.consented_at is None:
        raise NotConsented(without_consent(name, project))
    return agent


def reviewer(s: Services, project: Project) -> str | None:
    """The agent that reviews work before people do; none while the configuration is broken."""
    try:
        return s.configs.of(project).review_agent
    except InvalidConfig:
        return None


def check_trust(s: Services, name: str, project: Project) -> None:
    config = s.configs.of(project)
    if name in config.own_agents and project.trusted_commands != config.commands_fingerprint:
        raise NotTrusted(untrusted(project))


def untrusted(project: Project) -> str:
    return (
        f'The commands of project "{project.name}" changed since they were trusted. '
        f"Look at them, then run: am project trust {project.name}"
    )


def without_consent(name: str, project: Project) -> str:
    return (
        f'Agent "{name}" would work without a sandbox: its program can read and write what you can.'
        f' To allow that for project "{project.name}", run: am project consent {project.name}'
    )


async def consent(s: Services, project: Project, *, given: bool) -> Project:
    """Allows agents to work at the project without a sandbox, once and for all, or no longer."""
    since = (project.consented_at or s.clock.now()) if given else None
    await s.store.write(lambda tx: tx.projects.update(project.id, consented_at=since))
    return replace(project, consented_at=since)
