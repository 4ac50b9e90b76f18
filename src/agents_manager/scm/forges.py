"""All forges behind one port: the project says where a new pull request goes, and a pull request
where it lives."""

from collections.abc import Sequence
from datetime import datetime

from agents_manager.domain.comment import Comment
from agents_manager.domain.issue import Found, Note, Reference, Wanted
from agents_manager.domain.task import LOCAL, MergeMethod, Project, PullRequest, Task
from agents_manager.flow.ports import Configs, Conflicted, Forge, Merged, OutsideForge
from agents_manager.scm.github import GitHub
from agents_manager.scm.local_forge import LocalForge


class ChosenForges:
    def __init__(self, local: LocalForge, github: GitHub, configs: Configs) -> None:
        self._local = local
        self._github = github
        self._configs = configs

    def needs_push(self, project: Project) -> bool:
        return self._configs.of(project).forge.type != LOCAL

    def outside(self, pull: PullRequest) -> OutsideForge | None:
        return None if pull.forge == LOCAL else self._github

    async def trouble(self, project: Project) -> str | None:
        return await self._github.trouble(project) if self.needs_push(project) else None

    async def publish(
        self, project: Project, task: Task, branch: str, base: str, title: str, body: str
    ) -> PullRequest:
        forge = self._github if self.needs_push(project) else self._local
        return await forge.publish(project, task, branch, base, title, body)

    async def merge(
        self, project: Project, pull: PullRequest, head_sha: str, method: MergeMethod
    ) -> Merged | Conflicted:
        return await self._of(pull).merge(project, pull, head_sha, method)

    async def comments(self, project: Project, pull: PullRequest) -> Sequence[Comment]:
        return await self._of(pull).comments(project, pull)

    async def issues(self, project: Project, wanted: Wanted) -> Found:
        return await self._github.issues(project, wanted)

    async def note(self, project: Project, issue: Reference, note: Note, since: datetime) -> bool:
        return await self._github.note(project, issue, note, since)

    def _of(self, pull: PullRequest) -> Forge:
        return self.outside(pull) or self._local
