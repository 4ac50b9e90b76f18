"""What pipelines can name: a guard, a hook and an outcome; and a ranker."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from agents_manager.domain.guards import Facts
from agents_manager.domain.outcome import Outcome
from agents_manager.domain.plugin import HookCall
from agents_manager.errors import HookFailed


class Rounds(BaseModel):
    model_config = ConfigDict(extra="forbid")

    statusId: str
    max: int = Field(ge=0)


def few_rounds(facts: Facts, params: Mapping[str, Any]) -> tuple[bool, str]:
    """Work that was sent back too often is not closed without a look."""
    rounds = facts.rounds.get(params["statusId"], 0)
    return rounds <= params["max"], f"It came round {rounds} times; {params['max']} are allowed."


def write_down(call: HookCall) -> None:
    """One line for each move. A crash may call it again, so the key is looked for first."""
    if "file" not in call.params:
        raise HookFailed("write_down needs a file.")
    path = Path(call.project.path, call.params["file"])
    written = path.read_text() if path.exists() else ""
    if call.key not in written:
        path.write_text(
            f"{written}{call.key} {call.task.title}: {call.move.source} → {call.move.to}\n"
        )


def same_shop(about: str, findings: Sequence[str]) -> list[float]:
    """What was found out about a shop fits whatever is done about shops. A ranker that is worth its
    name would compare embeddings here."""
    shop = "shop" in about.lower()
    return [1.0 if shop and "shop" in finding.lower() else 0.0 for finding in findings]


TICKET_FILED = Outcome(
    name="ticket_filed",
    description="You filed a ticket instead of changing code.",
    schema={
        "type": "object",
        "required": ["ticket"],
        "properties": {"ticket": {"type": "string", "pattern": "^SHOP-[0-9]+$"}},
    },
)
