"""What installed packages add to the engine."""

from fastapi import APIRouter

from agents_manager.api import pages
from agents_manager.api.context import Services

router = APIRouter(prefix="/plugins", tags=["plugins"])


@router.get("")
async def list_plugins(s: Services) -> pages.Plugins:
    """Every plugin with what it registers, or why it is not used."""
    return pages.Plugins(items=[pages.Plugin.of(p) for p in s.registry.plugins], next=None)
