"""Agents: which there are, whether they could work, and whether they may."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agents_manager.domain.audit import Deed
from agents_manager.domain.names import visible
from agents_manager.domain.run import UNSANDBOXED
from agents_manager.domain.task import SYSTEM, Actor, Project
from agents_manager.errors import (
    InvalidConfig,
    NoSandbox,
    NotConsented,
    NotTrusted,
    ProjectElsewhere,
)
from agents_manager.flow import audit
from agents_manager.flow.ports import (
    EVERY_AGENT,
    Agent,
    Capabilities,
    Diagnosis,
    Keeping,
    ProjectConfig,
    Role,
    ServerState,
    Services,
    Tx,
)

NOTHING: Mapping[str, Any] = {}
REVIEW = "review"
SHOWN = 5
LONGEST = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    name: str
    model: str | None
    capabilities: Capabilities
    diagnosis: Diagnosis

    @property
    def usable(self) -> bool:
        return not self.diagnosis.missing


async def examine(
    s: Services, project: Project | None, name: str | None = None, *, try_servers: bool = False
) -> list[Examined]:
    """Every agent, or the one that is named, as it stands here and now. With `try_servers` the MCP
    servers of usable agents are started and asked for their tools."""
    found = await _examined(s, project, name)
    if not try_servers:
        return found
    return [
        replace(one, diagnosis=replace(one.diagnosis, servers=await _tried(s, one, project)))
        for one in found
    ]


async def _tried(s: Services, one: Examined, project: Project | None) -> Sequence[ServerState]:
    """Nothing of an agent that nobody trusts is started."""
    if project is None:
        return await s.agents.try_servers(one.name, None, {})
    if not _is_trusted(s, one.name, project):
        return ()
    config = s.configs.of(project)
    wanted = config.variables if trusted(project, config) else ()
    found = await asyncio.to_thread(s.variables.read, wanted)
    return await s.agents.try_servers(one.name, project, found.values)


def _is_trusted(s: Services, name: str, project: Project) -> bool:
    try:
        check_trust(s, name, project)
    except NotTrusted:
        return False
    return True


async def _examined(s: Services, project: Project | None, name: str | None) -> list[Examined]:
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
    try:
        check_consent(name, project, keeping(s, agent))
    except (NoSandbox, NotConsented) as error:
        return replace(found, missing=(*found.missing, error.message))
    return found


def allowed(
    s: Services, name: str, project: Project, settings: Mapping[str, Any] = NOTHING
) -> tuple[Agent, Keeping | None]:
    """The agent, and what keeps it, if it needs keeping; refused while nobody has trusted what the
    project's own file says of it, or has consented to its working without a sandbox where there is
    none."""
    agent = trusted_agent(s, name, project, settings)
    kept = keeping(s, agent)
    check_consent(name, project, kept)
    return agent, kept


def trusted_agent(
    s: Services, name: str, project: Project, settings: Mapping[str, Any] = NOTHING
) -> Agent:
    check_trust(s, name, project)
    return s.agents.get(name, project, settings)


def keeping(s: Services, agent: Agent) -> Keeping | None:
    """None for agents that need no keeping."""
    return None if agent.capabilities.harmless else s.sandbox.keeping()


def check_consent(name: str, project: Project, kept: Keeping | None) -> None:
    if kept is None:
        return
    if kept.required:
        way = f" {kept.way_out}" if kept.way_out else ""
        raise NoSandbox(f'Agent "{name}" is kept less than sandbox.level asks. {kept.why}{way}')
    if kept.level == UNSANDBOXED and project.consented_at is None:
        raise NotConsented(without_consent(name, project, kept))


def reviewer(s: Services, project: Project) -> str | None:
    """The agent that reviews work before people do; none while the configuration is broken."""
    try:
        return s.configs.of(project).review_agent
    except InvalidConfig:
        return None


def confirms_spec(s: Services, project: Project) -> bool:
    """Whether a person confirms what is to be built; a broken configuration takes nobody's say."""
    try:
        return s.configs.of(project).confirm_spec
    except InvalidConfig:
        return True


def of_role(s: Services, project: Project, mode: str) -> str | None:
    """The agent that the project has for a mode, which is the role of its run."""
    named = reviewer(s, project) if mode == REVIEW else None
    return named or _role(s, project, mode).agent


def settings_of_role(
    s: Services, project: Project, mode: str, agent: str | None
) -> Mapping[str, Any]:
    """A model is of its agent: it means nothing to another that works in the role."""
    role = _role(s, project, mode)
    if role.model is None:
        return NOTHING
    default = s.configs.of(project).default_agent
    return {"model": role.model} if (agent or default) == (role.agent or default) else NOTHING


def _role(s: Services, project: Project, mode: str) -> Role:
    try:
        return s.configs.of(project).roles.get(mode, Role())
    except ProjectElsewhere:
        raise  # Its settings are somewhere: a run must not begin as if it had none.
    except InvalidConfig:
        return Role()


def check_trust(s: Services, name: str, project: Project) -> None:
    config = s.configs.of(project)
    own = not {name, EVERY_AGENT}.isdisjoint(config.own_agents)
    parts = (f"agents.{name}.", f"agents.{EVERY_AGENT}.", "env.")
    if own and not trusted(project, config, *parts):
        raise NotTrusted(untrusted(project, config))


def trusted(project: Project, config: ProjectConfig, *parts: str) -> bool:
    """Whether a person trusted the project's commands as they are now: all of them, or those whose
    place starts with one of `parts`, such as "setup." or "agents.codex."."""
    if project.trusted_commands == config.commands_fingerprint:
        return True
    if not parts or project.trusted is None:
        return False
    before, now = project.trusted, config.commands
    places = (place for place in {*before, *now} if place.startswith(parts))
    return all(before.get(place) == now.get(place) for place in places)


def check_startable(s: Services, project: Project, names: Sequence[str] = ()) -> None:
    """Raises NotTrusted if tasks that are created and started now would fail, because nobody has
    trusted the commands of their agents, set-up or checks. `names` are the agents, if not the
    default one."""
    config = s.configs.of(project)
    try:
        check_trusted(project, config, "setup.", "checks.", "env.")
        for name in names or (config.default_agent,):
            check_trust(s, name, project)
    except NotTrusted as error:
        raise NotTrusted(f"Nothing was created, as it could not start. {error.message}") from None


def check_trusted(project: Project, config: ProjectConfig, *parts: str) -> None:
    if not trusted(project, config, *parts):
        raise NotTrusted(untrusted(project, config))


def untrusted(project: Project, config: ProjectConfig) -> str:
    """Says what changed, so that nobody trusts it unseen."""
    found = changes(project, config)
    shown = "; ".join(found[:SHOWN]) + ("; …" if len(found) > SHOWN else "")
    return (
        f'The commands of project "{project.name}" changed since they were trusted: {shown}. '
        f"Look at them, then run: am project trust {project.name}"
    )


def changes(project: Project, config: ProjectConfig) -> list[str]:
    """What became of each command since the project's commands were trusted."""
    if trusted(project, config):
        return []
    if project.trusted is None:
        return [f"{place} is {_quoted(command)}" for place, command in config.commands.items()]
    before, now = project.trusted, config.commands
    return [
        _change(place, before.get(place), now.get(place))
        for place in sorted({*before, *now})
        if before.get(place) != now.get(place)
    ]


def _change(place: str, before: str | None, now: str | None) -> str:
    if before is None:
        return f"{place} is new: {_quoted(now or '')}"
    if now is None:
        return f"{place} is gone: {_quoted(before)}"
    return f"{place} was {_quoted(before)}, is {_quoted(now)}"


def _quoted(command: str) -> str:
    return f'"{visible(command, LONGEST)}"'


def without_consent(name: str, project: Project, kept: Keeping) -> str:
    way = f"{kept.why} {kept.way_out}".strip()
    return (
        f'Agent "{name}" would work without a sandbox: its program can read and write what you can.'
        f' {way.removesuffix(".")}. To allow that for project "{project.name}", run:'
        f" am project consent {project.name}"
    )


async def consent(s: Services, project: Project, *, given: bool, by: Actor = SYSTEM) -> Project:
    """Allows agents to work at the project without a sandbox, once and for all, or no longer."""
    now = s.clock.now()
    since = (project.consented_at or now) if given else None
    deed = Deed.CONSENT_GIVEN if given else Deed.CONSENT_WITHDRAWN
    allowed = "allowed" if given else "no longer allows"
    summary = f'{allowed} agents to work at project "{project.name}" without a sandbox'

    def write(tx: Tx) -> None:
        tx.projects.update(project.id, consented_at=since)
        audit.note(tx, now, by, deed, summary, project=project.name)

    await s.store.write(write)
    return replace(project, consented_at=since)
