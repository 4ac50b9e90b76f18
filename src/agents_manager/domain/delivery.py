"""What is to be told in one place of one channel, and what became of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from agents_manager.domain.dialogue import Action, Given
from agents_manager.domain.ids import PromptId, TaskId
from agents_manager.domain.routing import Occasion


class DeliveryState(StrEnum):
    PENDING = "pending"
    SENDING = "sending"
    """Handed to the platform; after a crash nobody knows whether it got there."""
    SENT = "sent"
    FAILED = "failed"
    """The platform does not take it."""
    VOID = "void"
    """It was not needed any more when its turn came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    id: str
    key: str
    """What it is about; told once in a place."""
    channel: str
    place: str
    occasion: Occasion
    task_id: TaskId | None
    prompt_id: PromptId | None
    title: str
    body: tuple[str, ...]
    """Of what is no question; that one is shown as it is when it is sent."""
    state: DeliveryState
    attempts: int
    due_at: datetime
    host: str | None
    repeat: bool
    message: str | None
    """Its id on the platform."""
    given: Given
    """What was answered of several questions."""
    actions: tuple[Mapping[str, Any], ...]
    """What its buttons stand for, each with the button's id."""
    error: str | None
    created_at: datetime
    sent_at: datetime | None
    closed_at: datetime | None
    """When its buttons were taken away, or it never had any."""

    def action(self, button: str) -> Action | None:
        found = next((one for one in self.actions if one["button"] == button), None)
        return Action.model_validate(found["action"]) if found else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stranger:
    """Somebody whom a channel does not know, and who got no answer."""

    channel: str
    person: str
    called: str
    times: int
    last_at: datetime
