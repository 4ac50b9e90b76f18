"""The machines that work, and what waits for a place."""

from fastapi import APIRouter

from agents_manager.api import pages
from agents_manager.api.context import Admin, Services
from agents_manager.domain.host import HostState
from agents_manager.flow import hosts

router = APIRouter(prefix="/hosts", tags=["hosts"])


@router.get("")
async def get_hosts(s: Services) -> pages.Hosts:
    """Every machine with the agents that work on it, how far limits are used, and which runs wait
    for a place and why."""
    return pages.Hosts.of(await hosts.overview(s))


@router.post("/{host}/drain")
async def drain_host(host: str, s: Services, actor: Admin) -> pages.Host:
    """Lets a machine finish what it has and take nothing new."""
    return pages.Host.of(await hosts.tell(s, host, HostState.DRAINING, actor))


@router.post("/{host}/resume")
async def resume_host(host: str, s: Services, actor: Admin) -> pages.Host:
    """Lets a machine take work again."""
    return pages.Host.of(await hosts.tell(s, host, HostState.UP, actor))


@router.delete("/{host}")
async def remove_host(host: str, s: Services, actor: Admin) -> pages.Host:
    """Sends a machine away: it ends, and others take over what it had."""
    return pages.Host.of(await hosts.tell(s, host, HostState.LEFT, actor))
