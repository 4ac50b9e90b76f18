"""Hooks that plugins perform."""

import asyncio

from agents_manager.domain import effects
from agents_manager.domain.names import visible
from agents_manager.domain.plugin import HookCall
from agents_manager.domain.task import EffectRow
from agents_manager.errors import AgentsManagerError, HookFailed, PluginFailed
from agents_manager.flow.ports import Services
from agents_manager.flow.settling import finish, task_and_project

LIMIT_S = 600.0
MAX_ERROR = 1_000


async def call(row: EffectRow, effect: effects.PluginHook, s: Services) -> None:
    """A plugin's own function, in a thread: whatever it does, the engine goes on."""
    perform = s.registry.handlers.get(effect.hook)
    if perform is None:
        raise HookFailed(f"Nothing performs it: {s.registry.nobody_knows('hook', effect.hook)}")
    task, project = await task_and_project(s, row)
    move = await s.store.read(lambda tx: tx.history.get(row.history_id))
    call = HookCall(
        key=row.id,
        attempt=row.attempt,
        params=effect.params,
        task=task,
        project=project,
        move=move,
    )
    try:
        async with asyncio.timeout(LIMIT_S):
            await asyncio.to_thread(perform, call)
    except TimeoutError:
        raise HookFailed(f"It took longer than {LIMIT_S:.0f} s.") from None
    except AgentsManagerError:
        raise
    except Exception as error:
        raise PluginFailed(visible(f"{type(error).__name__}: {error}", MAX_ERROR)) from error
    await finish(s, row)
