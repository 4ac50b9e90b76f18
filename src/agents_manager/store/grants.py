"""What people granted beyond budgets."""

from dataclasses import asdict

from sqlalchemy import bindparam, delete, func, insert, select

from agents_manager.domain.budget import BudgetScope, Grant
from agents_manager.domain.ids import PromptId
from agents_manager.store import schema
from agents_manager.store.statements import Session

_GRANT = schema.grant.c
_ADD = insert(schema.grant)
_TOTAL = select(func.sum(_GRANT.usd)).where(
    _GRANT.scope == bindparam("scope"), _GRANT.subject == bindparam("subject")
)
_TAKE_BACK = delete(schema.grant).where(_GRANT.prompt_id == bindparam("b_prompt"))


class Grants:
    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, grant: Grant) -> None:
        self._session.run(_ADD, asdict(grant))

    def total(self, scope: BudgetScope, subject: str) -> float:
        return self._session.scalar(_TOTAL, {"scope": scope, "subject": subject}) or 0.0

    def take_back(self, prompt_id: PromptId) -> None:
        self._session.run(_TAKE_BACK, {"b_prompt": prompt_id})
