"""All forges behind one port: the project says where a new pull request goes, and a pull request
where it lives."""

from collections.abc import Sequence
from datetime import datetime
from typing import cast

from agents_manager.domain.comment import Comment
from agents_manager.domain.issue import Found, Note, Reference, Wanted
from agents_manager.domain.task import LOCAL, MergeMethod, Project, PullRequest, Task
from agents_manager.errors import AgentsManagerError, HookFailed, PluginFailed
from agents_manager.flow.ports import (
    Adapters,
    Conflicted,
    Forge,
    Merged,
    OutsideForge,
    RemoteForge,
    Tools,
)
from agents_manager.plugins.blame import ForgeOfPlugin, blaming
from agents_manager.scm import github
from agents_manager.scm.github import GitHub


class ChosenForges:
    def __init__(self, adapters: Adapters, tools: Tools) -> None:
        self._adapters = adapters
        self._tools = tools
        self._built: dict[str, Forge] = {}

    def needs_push(self, project: Project) -> bool:
        return self._type(project) != LOCAL

    def outside(self, pull: PullRequest) -> OutsideForge | None:
        return None if pull.forge == LOCAL else self._remote(pull.forge)

    async def trouble(self, project: Project) -> str | None:
        if not self.needs_push(project):
            return None
        try:
            return await self._remote(self._type(project)).trouble(project)
        except AgentsManagerError as error:
            return error.message

    async def publish(
        self, project: Project, task: Task, branch: str, base: str, title: str, body: str
    ) -> PullRequest:
        forge = self._named(self._type(project))
        return await forge.publish(project, task, branch, base, title, body)

    async def merge(
        self, project: Project, pull: PullRequest, head_sha: str, method: MergeMethod
    ) -> Merged | Conflicted:
        return await self._named(pull.forge).merge(project, pull, head_sha, method)

    async def comments(self, project: Project, pull: PullRequest) -> Sequence[Comment]:
        return await self._named(pull.forge).comments(project, pull)

    async def issues(self, project: Project, wanted: Wanted) -> Found:
        return await self._github.issues(project, wanted)

    async def note(self, project: Project, issue: Reference, note: Note, since: datetime) -> bool:
        return await self._github.note(project, issue, note, since)

    @property
    def _github(self) -> GitHub:
        return cast("GitHub", self._named(github.NAME))

    def _type(self, project: Project) -> str:
        return self._tools.configs.of(project).forge.type

    def _remote(self, name: str) -> RemoteForge:
        return cast("RemoteForge", self._named(name))

    def _named(self, name: str) -> Forge:
        if name not in self._built:
            self._built[name] = self._made(name)
        return self._built[name]

    def _made(self, name: str) -> Forge:
        kind = self._adapters.forges.get(name)
        if kind is None:
            raise HookFailed(self._adapters.missing(f'There is no forge "{name}".'))
        if kind.plugin is None:
            return kind.build(self._tools)
        with blaming(kind.plugin, PluginFailed):
            made = cast("RemoteForge", kind.build(self._tools))
        return ForgeOfPlugin(kind.plugin, made)
