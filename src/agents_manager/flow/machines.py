"""Which machine has a run, where several share a database; one that is alone has all of them."""

from agents_manager.domain.host import Host
from agents_manager.domain.run import Run
from agents_manager.flow.ports import Services, Tx


def elsewhere(s: Services, run: Run) -> bool:
    """Whether the files and processes of a run are on another machine."""
    return s.here is not None and run.host not in (None, s.here.host)


def known(tx: Tx, host_id: str) -> Host | None:
    return next((host for host in tx.hosts.all() if host.id == host_id), None)


def lost(tx: Tx, s: Services, run: Run) -> bool:
    """Whether the machine that has a run is another, and is not heard of any more."""
    return elsewhere(s, run) and run.host not in tx.hosts.alive()


def sees_to(tx: Tx, s: Services, run: Run) -> bool:
    """Whether what is to be done about a run is done here: on its own machine, and on any other
    once that one is gone."""
    return not elsewhere(s, run) or lost(tx, s, run)
