"""The build products that a run left out of its commit, read from the log of its task."""

from dataclasses import dataclass

from agents_manager.domain import event
from agents_manager.domain.run import Run
from agents_manager.flow.ports import Tx

MOST_EVENTS = 500


@dataclass(frozen=True, slots=True)
class LeftOut:
    paths: tuple[str, ...] = ()
    """Files and folders; a folder ends in a slash."""
    more: int = 0
    """How many others there are."""

    @property
    def summary(self) -> str | None:
        if not self.paths:
            return None
        return event.ProductsLeftOut(paths=self.paths, more=self.more).shown


def find(tx: Tx, run: Run) -> LeftOut:
    log = tx.events.newest(run.task_id, event.ProductsLeftOut.category, MOST_EVENTS)
    type_ = event.ProductsLeftOut.model_fields["type"].default
    found = (e.data for e in log if e.type == type_ and e.data["run"] == run.id)
    data = next(found, None)
    return LeftOut(tuple(data["paths"]), data["more"]) if data else LeftOut()
