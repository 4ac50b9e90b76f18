"""Pull requests: those that the application itself keeps, and what is known of those elsewhere."""

from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, select, update
from sqlalchemy.exc import IntegrityError

from agents_manager.domain.ids import ProjectId, TaskId
from agents_manager.domain.task import LOCAL, PullRequest, PullState
from agents_manager.errors import Conflict, PullRequestNotFound
from agents_manager.store import schema
from agents_manager.store.rows import Rows, violates
from agents_manager.store.statements import Session

PULLS = Rows(schema.pull, PullRequest, PullRequestNotFound, state=PullState)
_PULL = schema.pull.c
_PROJECT = schema.project.c
_LAST_NUMBER = select(_PROJECT.last_pull).where(_PROJECT.id == bindparam("wanted"))
_TAKE_NUMBER = (
    update(schema.project)
    .where(_PROJECT.id == bindparam("b_project"), _PROJECT.last_pull < bindparam("b_number"))
    .values(last_pull=bindparam("b_number"))
)
_BEST_FIRST = PULLS.select.order_by(
    (_PULL.state == PullState.OPEN).desc(), _PULL.number.desc()
).limit(1)
_OF_BRANCHES = _BEST_FIRST.where(
    _PULL.project_id == bindparam("wanted"),
    _PULL.head_branch == bindparam("head"),
    _PULL.base_branch == bindparam("onto"),
)
_OPEN_OUTSIDE = PULLS.select.where(_PULL.forge != LOCAL, _PULL.state == PullState.OPEN).order_by(
    _PULL.project_id, _PULL.number
)
_OF_TASK = PULLS.select.where(_PULL.task_id == bindparam("wanted")).order_by(_PULL.number)


class Pulls:
    """Of several that fit, the open one counts, else the newest."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, pull: PullRequest) -> None:
        try:
            PULLS.add(self._session, pull)
        except IntegrityError as error:
            if violates(
                error,
                "uq_am_pull_project_id_forge_number",
                "am_pull.project_id, am_pull.forge, am_pull.number",
            ):
                raise Conflict(f"There is a pull request #{pull.number} already.") from error
            if violates(error, "uq_am_pull_open", "am_pull.project_id, am_pull.head_branch"):
                branches = f'from "{pull.head_branch}" to "{pull.base_branch}"'
                raise Conflict(f"There is an open pull request {branches} already.") from error
            raise
        if pull.forge == LOCAL:
            taken = {"b_project": pull.project_id, "b_number": pull.number}
            self._session.run(_TAKE_NUMBER, taken)

    def next_number(self, project_id: ProjectId) -> int:
        return (self._session.scalar(_LAST_NUMBER, {"wanted": project_id}) or 0) + 1

    def find(self, project_id: ProjectId, head: str, base: str) -> PullRequest | None:
        wanted = {"wanted": project_id, "head": head, "onto": base}
        return PULLS.first(self._session, _OF_BRANCHES, wanted)

    def open_outside(self) -> list[PullRequest]:
        return PULLS.all(self._session, _OPEN_OUTSIDE, {})

    def of_task(self, task_id: TaskId) -> PullRequest | None:
        pulls = self.all_of_task(task_id)
        return max(pulls, key=lambda p: (p.state is PullState.OPEN, p.number), default=None)

    def all_of_task(self, task_id: TaskId) -> list[PullRequest]:
        return PULLS.all(self._session, _OF_TASK, {"wanted": task_id})

    def update(self, pull_id: str, now: datetime, **fields: Any) -> None:
        PULLS.update(self._session, pull_id, {"updated_at": now, **fields})
