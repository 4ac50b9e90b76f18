"""What is old enough to go."""

from fastapi import APIRouter

from agents_manager.api import pages
from agents_manager.api.context import Admin, Services
from agents_manager.flow.retention import sweep

router = APIRouter(prefix="/retention", tags=["retention"])


@router.get("")
async def get_retention(s: Services) -> pages.Retention:
    """What a pass would remove now, with sizes and reasons; nothing is touched."""
    return pages.Retention.of(await sweep.sweep(s, dry_run=True))


@router.post("")
async def apply_retention(s: Services, actor: Admin) -> pages.Retention:
    """Removes what is old enough by the settings, as the server does once a day."""
    return pages.Retention.of(await sweep.sweep(s, dry_run=False, by=actor))
