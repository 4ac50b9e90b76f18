"""Which agents there are: the adapters, under the names a project's configuration gives them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from agents_manager.agents import mcp_probe
from agents_manager.agents.config import LostConfig, McpAgentConfig
from agents_manager.domain.task import Project
from agents_manager.errors import AgentNotFound, InvalidConfig, closest
from agents_manager.flow.ports import Adapters, Agent, AgentConfig, ServerState
from agents_manager.plugins.blame import AgentOfPlugin, LostAgent, sentence

NOTHING: Mapping[str, Any] = {}


class AgentCatalog:
    def __init__(
        self,
        adapters: Adapters,
        configured: Callable[[Project | None], Mapping[str, AgentConfig]],
    ) -> None:
        self._adapters = adapters
        self._configured = configured

    def get(
        self, name: str, project: Project | None, settings: Mapping[str, Any] = NOTHING
    ) -> Agent:
        known = self._configs(project)
        if name not in known:
            raise AgentNotFound(
                self._adapters.missing(
                    f'There is no agent "{name}".{closest(name, sorted(known))}'
                    f" Known: {', '.join(sorted(known))}."
                )
            )
        return self._built(name, _with(name, known[name], settings))

    async def try_servers(
        self, name: str, project: Project | None, variables: Mapping[str, str]
    ) -> Sequence[ServerState]:
        config = self._configs(project).get(name)
        if not isinstance(config, McpAgentConfig) or not config.mcp_servers:
            return ()
        return await mcp_probe.probe(config.mcp_servers, name, variables)

    def known(self, project: Project | None) -> Mapping[str, Agent]:
        return {name: self._built(name, config) for name, config in self._configs(project).items()}

    def _configs(self, project: Project | None) -> Mapping[str, AgentConfig]:
        return {**self._adapters.ready, **self._configured(project)}

    def _built(self, name: str, config: AgentConfig) -> Agent:
        if isinstance(config, LostConfig):
            known = sorted(self._adapters.agents)
            what = f'There is no adapter "{config.named}".{closest(config.named, known)}'
            return LostAgent(self._adapters.missing(what))
        kind = self._adapters.agents[type(config).model_fields["adapter"].default]
        if kind.plugin is None:
            return kind.build(name, config)
        try:
            return AgentOfPlugin(kind.plugin, kind.build(name, config))
        except Exception as error:  # noqa: BLE001 - whatever it is, others work on
            return LostAgent(sentence(kind.plugin, error))


def _with(name: str, config: AgentConfig, settings: Mapping[str, Any]) -> AgentConfig:
    """The parameters of hooks may be older than the keys and their meaning."""
    if not settings:
        return config
    merged = {**config.model_dump(by_alias=True), **settings}
    try:
        return type(config).model_validate(merged)
    except ValidationError as error:
        why = [f"{f['loc'][0]}: {f['msg']}" for f in error.errors(include_url=False)]
        raise InvalidConfig(
            f'Agent "{name}" cannot be told what was set for this run.', why
        ) from None
