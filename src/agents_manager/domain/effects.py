"""What a hook asks for, as one explicit union. An effect is a command; it is stored with the
transition and performed afterwards, under its own id as the idempotency key."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, TypeAdapter

from agents_manager.domain.pipeline import Policy
from agents_manager.domain.routing import Occasion
from agents_manager.domain.run_settings import StartParams
from agents_manager.domain.value import Value


class StartAgent(Value):
    kind: Literal["start_agent"] = "start_agent"
    run_id: str


class StopAgent(Value):
    kind: Literal["stop_agent"] = "stop_agent"
    run_id: str
    then: str | None = None
    """The transition to make once the run is proven gone."""
    force: bool = False
    reason: str | None = None
    payload: Mapping[str, Any] | None = None
    """What the history of that move says."""
    by: str


class CreateTaskBranch(Value):
    kind: Literal["create_task_branch"] = "create_task_branch"


class PushAndCreatePr(Value):
    kind: Literal["push_and_create_pr"] = "push_and_create_pr"


class MergePr(Value):
    kind: Literal["merge_pr"] = "merge_pr"
    head_sha: str | None
    """The commit that was approved; a head that moved since is not merged."""
    which: Literal["current", "phase", "final"] = "current"


class CreateFinalPr(Value):
    kind: Literal["create_final_pr"] = "create_final_pr"


class MirrorReview(Value):
    """Shows a review that was made here where the pull request lives."""

    kind: Literal["mirror_review"] = "mirror_review"
    prompt_id: str


class LookAtPull(Value):
    """Looks what was done to a pull request where it lives."""

    kind: Literal["look_at_pull"] = "look_at_pull"
    pull_id: str


class NoteOnIssue(Value):
    """Tells the issue that a task comes from how the task ended."""

    kind: Literal["note_on_issue"] = "note_on_issue"
    pull_id: str | None
    """What was merged; None: nothing was."""


class JoinParts(Value):
    """Puts together what was done side by side, and goes on with what it came to."""

    kind: Literal["join_parts"] = "join_parts"
    run_id: str
    """Of the group's runs, the last that ended."""


class SettleRace(Value):
    """Compares what the contenders of a race made, and has somebody pick."""

    kind: Literal["settle_race"] = "settle_race"
    run_id: str
    """Of the contenders, the last that ended."""


class TakePart(Value):
    """Makes the work of the contender that was picked the task's, keeps the rest as snapshots, and
    goes on with what it ended with."""

    kind: Literal["take_part"] = "take_part"
    run_id: str
    by: str
    overrules: bool = False
    """Whether another was picked before, whose ending has moved the task already."""


class RunChecks(Value):
    kind: Literal["run_checks"] = "run_checks"


class RecheckRun(Value):
    """Runs the checks of an ended run again, without its agent."""

    kind: Literal["recheck_run"] = "recheck_run"
    run_id: str


class HandOver(Value):
    """Hands the commits on the branch over to a review, as a person chose in a question."""

    kind: Literal["hand_over"] = "hand_over"
    prompt_id: str
    with_checks: bool
    """Whether the project's checks run first. The search for secrets always does."""


class Notify(Value):
    kind: Literal["notify"] = "notify"
    title: str
    body: str = ""
    occasion: Occasion = Occasion.NOTICE
    prompt: str | None = None
    """The question that people are reminded of."""
    of_move: bool = False
    """A hook asked for it: what else tells of the move is enough."""


class DeleteWorktree(Value):
    kind: Literal["delete_worktree"] = "delete_worktree"


class RemoveWorkspace(Value):
    """Removes the workspaces of a task that is finished."""

    kind: Literal["remove_workspace"] = "remove_workspace"


class PluginHook(Value):
    """What a plugin's hook does is the plugin's business."""

    kind: Literal["plugin_hook"] = "plugin_hook"
    hook: str
    params: Mapping[str, Any]


Effect = Annotated[
    StartAgent
    | StopAgent
    | CreateTaskBranch
    | PushAndCreatePr
    | CreateFinalPr
    | MergePr
    | MirrorReview
    | LookAtPull
    | NoteOnIssue
    | JoinParts
    | SettleRace
    | TakePart
    | RunChecks
    | RecheckRun
    | HandOver
    | Notify
    | DeleteWorktree
    | RemoveWorkspace
    | PluginHook,
    Field(discriminator="kind"),
]
EFFECT: TypeAdapter[Effect] = TypeAdapter(Effect)

InRepository = (
    CreateTaskBranch
    | JoinParts
    | SettleRace
    | TakePart
    | RunChecks
    | RecheckRun
    | HandOver
    | DeleteWorktree
)
OfPulls = PushAndCreatePr | CreateFinalPr | MergePr | MirrorReview | LookAtPull

HOOK_POLICIES: dict[str, Policy] = {
    "start_agent": Policy.REQUIRED,
    "stop_agent": Policy.REQUIRED,
    "create_task_branch": Policy.REQUIRED,
    "push_and_create_pr": Policy.REQUIRED,
    "merge_pr": Policy.REQUIRED,
    "execute_split": Policy.REQUIRED,
    "start_phase_agent": Policy.REQUIRED,
    "advance_phase": Policy.REQUIRED,
    "merge_phase_pr": Policy.REQUIRED,
    "create_final_pr": Policy.REQUIRED,
    "merge_final_pr": Policy.REQUIRED,
    "run_checks": Policy.REQUIRED,
    "notify": Policy.BEST_EFFORT,
    "delete_worktree": Policy.BEST_EFFORT,
    "log_activity": Policy.FIRE_AND_FORGET,
    "inject_payload_context": Policy.FIRE_AND_FORGET,
}
"""Every hook a pipeline may name, with the policy it has when the pipeline gives none."""

HOOK_MEANINGS: dict[str, str] = {
    "start_agent": "Starts an agent, as `mode`, `agent` and the settings of a run say, such as"
    " `model` and `timeout`; the mode and agent that it leaves out are as before the question.",
    "stop_agent": "Stops the task's live run, and makes the move once it is proven gone.",
    "create_task_branch": "Creates the task's branch, unless it is there already.",
    "push_and_create_pr": "Pushes the task's branch and opens its pull request, or brings it up to"
    " date.",
    "merge_pr": "Merges the pull request, if its head is still the commit that was approved.",
    "execute_split": "Creates the phases of an approved split, begins the first, and creates the"
    " branch that they are merged into.",
    "start_phase_agent": "Starts an agent on the phase at work; without phases, on the task.",
    "advance_phase": "Ends the phase at work and begins the next.",
    "merge_phase_pr": "Merges the pull request of the phase at work into the task's branch.",
    "create_final_pr": "Ends the last phase and opens the pull request that takes the task's branch"
    " to the base.",
    "merge_final_pr": "Merges the final pull request into the base.",
    "run_checks": "Runs the project's checks on the work as it stands; a failed one fails it.",
    "notify": "Tells people, by every channel, `title` and `body`.",
    "delete_worktree": "Removes the task's workspace, after a snapshot of what lies in it.",
    "log_activity": "Writes `message` into the task's log.",
    "inject_payload_context": "Does nothing: an agent is always told the whole exchange.",
}

HOOK_PARAMS: Mapping[str, type[BaseModel]] = {
    "start_agent": StartParams,
    "start_phase_agent": StartParams,
}

BESIDE = frozenset({"notify", "mirror_review", "look_at_pull", "note_on_issue", "remove_workspace"})
"""No move of the task, and no person, waits for these."""
OUT_OF_LINE = frozenset({"stop_agent", *BESIDE})
"""Performed at once and waited for by nobody; every other effect of a task keeps its order."""
