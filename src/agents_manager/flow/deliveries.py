"""What a forge tells us by itself: only which pull request is to be looked at. What was done to it
is asked there, never taken from the message."""

import hashlib
import hmac

from agents_manager.domain.effects import LookAtPull
from agents_manager.domain.ids import EffectId
from agents_manager.errors import Conflict
from agents_manager.flow import planning
from agents_manager.flow.ports import Services, Tx


def signed(body: bytes, secret: str, signature: str) -> bool:
    """Whether the sender knows the secret (HMAC, SHA-256)."""
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(f"sha256={digest}".encode(), signature.encode())


async def taken(s: Services, forge: str, delivery: str, number: int | None) -> int:
    """How many pull requests are looked at because of it; Conflict when it came before."""
    key = f"webhook {forge} {delivery}"
    mark = hashlib.sha256(delivery.encode()).hexdigest()[:16]

    def write(tx: Tx) -> int:
        if tx.access.reply(key) is not None:
            raise Conflict(f'The delivery "{delivery}" was taken before.')
        tx.access.keep_reply(key, "", 202, "", s.clock.now())
        open_here = [p for p in tx.pulls.open_outside() if (p.forge, p.number) == (forge, number)]
        for pull in open_here:
            order, task = LookAtPull(pull_id=pull.id), tx.tasks.get(pull.task_id)
            waiting = (e for e in tx.effects.open(task.id) if e.kind == order.kind)
            if all(e.status != "pending" or e.payload["pull_id"] != pull.id for e in waiting):
                planning.beside(tx, s, task, order, EffectId(f"{pull.id}-look-{mark}"))
        return len(open_here)

    return await s.store.write(write)
