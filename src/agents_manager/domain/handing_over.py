"""Commits that no agent handed over: what a person can do with them, and their way to a review."""

from agents_manager.domain.guards import Fired
from agents_manager.domain.pipeline import ANY_STATUS, Pipeline, Trigger, TriggerType
from agents_manager.domain.prompt import Choice

READY = Fired(trigger=Trigger(type=TriggerType.AGENT_OUTCOME, outcome="pr_ready"))
CHECKED, AS_IT_IS = "checked", "as_it_is"


def choices(label: str) -> list[Choice]:
    """Return what can be done with the commits, which the label describes."""
    return [
        Choice(
            id="check_again",
            label="Check again",
            detail=f"Run the checks on the branch ({label}). The work is reviewed if they pass.",
            action=f"hand_over:{CHECKED}",
        ),
        Choice(
            id="review",
            label="Review as it is",
            detail=f"Review the commits on the branch ({label}) without running the checks.",
            action=f"hand_over:{AS_IT_IS}",
        ),
    ]


def way(pipeline: Pipeline, origin: str | None) -> tuple[str, Fired] | None:
    """Return the status to leave and the trigger that together lead to the review of the work of
    the last active status."""
    if origin is None:
        return None
    if any(t.trigger == READY.trigger for t in pipeline.leaving(origin)):
        return origin, READY
    for move in pipeline.transitions:
        by_hand = move.trigger.type is TriggerType.MANUAL and move.source != ANY_STATUS
        if by_hand and any(hook.type == "push_and_create_pr" for hook in move.hooks):
            return move.source, Fired(trigger=move.trigger, transition_id=move.id)
    return None
