"""What was taken before, also before this server was started: a signed request that is sent again
by somebody else has no effect."""

import hashlib

from agents_manager.flow.ports import Services, Tx


async def before(s: Services, channel: str, signature: str) -> bool:
    """Whether it was; from now on it is."""
    key = f"hook {channel} {hashlib.sha256(signature.encode()).hexdigest()}"

    def write(tx: Tx) -> bool:
        if tx.access.reply(key) is not None:
            return True
        tx.access.keep_reply(key, "", 200, "", s.clock.now())
        return False

    return await s.store.write(write)
