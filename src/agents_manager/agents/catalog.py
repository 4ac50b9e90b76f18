"""Which agents there are: the adapters, under the names a project's configuration gives them."""

from collections.abc import Callable, Mapping

from agents_manager.agents.config import ScriptedConfig
from agents_manager.agents.scripted import ScriptedAgent
from agents_manager.domain.task import Project
from agents_manager.errors import AgentNotFound, closest
from agents_manager.flow.ports import Agent

ADAPTERS = {"scripted": ScriptedAgent}


class AgentCatalog:
    def __init__(self, configured: Callable[[Project], Mapping[str, ScriptedConfig]]) -> None:
        self._configured = configured

    def get(self, name: str, project: Project) -> Agent:
        config = self._configured(project).get(name) or ScriptedConfig()
        adapter = config.adapter or name
        if adapter not in ADAPTERS:
            known = sorted({*ADAPTERS, *self._configured(project)})
            raise AgentNotFound(
                f'There is no agent "{name}".{closest(name, known)} Known: {", ".join(known)}.'
            )
        return ADAPTERS[adapter](config)
