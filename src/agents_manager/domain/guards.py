"""Guards: pure conditions on a transition, each of which answers with a reason."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field

from agents_manager.domain.course import NO_STAGES, SAME_FAILURE, StageFacts
from agents_manager.domain.event.happening import counted_as
from agents_manager.domain.ids import RunId
from agents_manager.domain.names import visible
from agents_manager.domain.phase import Phase, PhaseStatus, active, upcoming
from agents_manager.domain.pipeline import GuardSpec, PromptType, Trigger, TriggerType
from agents_manager.domain.task import GuardCheck, PullRequest, PullState
from agents_manager.domain.value import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Fired:
    """What set a decision going."""

    trigger: Trigger
    to: str | None = None
    """The target a person asked for, of manual moves."""
    transition_id: str | None = None
    payload: Mapping[str, Any] | None = None
    """An outcome's payload, or the answer to a prompt."""
    prompt_type: PromptType | None = None
    prompt_id: str | None = None
    inferred: bool = False
    head_sha: str | None = None
    """The commit that a review looked at."""

    def __str__(self) -> str:
        return self.trigger.outcome or self.trigger.type.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All that guards may look at, read in the transaction that decides."""

    fired: Fired
    plan: str | None = None
    branch: str | None = None
    pull: PullRequest | None = None
    phases: tuple[Phase, ...] = ()
    phase_pull: PullRequest | None = None
    """The newest pull request of the phase at work."""
    final_pull: PullRequest | None = None
    """The newest one that takes the task's own branch to the base."""
    head_sha: str | None = None
    """Where the collected work stands."""
    checks_passed: bool | None = None
    """None when no checks were run on it."""
    documents: bool = False
    live_run: RunId | None = None
    unresolved: tuple[str, ...] = ()
    """Tasks this one depends on that are not finished."""
    blockers: tuple[str, ...] = ()
    """What runs said to be in its way, each in a sentence."""
    rounds: Mapping[str, int] = field(default_factory=dict[str, int])
    """Counted moves into each status since the last grant, the first left out."""
    review: Mapping[str, Any] | None = None
    """The review that is the trigger, else the one that brought the task to its status, with its
    head_sha."""
    agent_reviews: bool = False
    """Whether the project has an agent review work before people do."""
    spent_usd: float | None = 0.0
    """None when the cost of any run is unknown."""
    admin: bool = False
    files: int = 0
    """How many the task's work changes."""
    confirms_spec: bool = False
    """Whether a person looks at what is to be built before anybody builds it."""
    stages: StageFacts = NO_STAGES


MAX_REASON = 1_000
Verdict = tuple[bool, str]
Guard = Callable[[Facts, Mapping[str, Any]], Verdict]


def check(spec: GuardSpec, facts: Facts, guards: Mapping[str, Guard]) -> GuardCheck:
    """What the guard says; one that is gone or fails refuses, also where it is negated."""
    guard = guards.get(spec.type)
    if guard is None:
        reason = f'There is no guard "{spec.type}" any more; nothing passes it but force.'
        return GuardCheck(name=spec.name, passed=False, reason=reason)
    try:
        passed, reason = _answer(guard(facts, spec.params))
    except Exception as error:  # noqa: BLE001 - it may be a plugin's, and a decision is always made
        what = visible(f"{type(error).__name__}: {error}", MAX_REASON)
        reason = f'The guard "{spec.type}" failed: {what}'
        return GuardCheck(name=spec.name, passed=False, reason=reason)
    return GuardCheck(name=spec.name, passed=passed is not spec.negate, reason=reason)


def _answer(said: object) -> Verdict:
    match said:
        case (bool() as passed, str() as reason):
            return passed, visible(reason, MAX_REASON)
        case _:
            raise TypeError(f"it answered {said!r}, not a bool and a reason")


def has_plan(facts: Facts, _: Mapping[str, Any]) -> Verdict:
    """The task has a plan."""
    return (True, "There is a plan.") if facts.plan else (False, "There is no plan yet.")


def has_branch(facts: Facts, _: Mapping[str, Any]) -> Verdict:
    """The task has a branch."""
    if facts.branch:
        return True, f"The branch is {facts.branch}."
    return False, "There is no branch yet."


def has_pr(facts: Facts, _: Mapping[str, Any]) -> Verdict:
    """The task has a pull request."""
    if facts.pull:
        return True, f"Pull request #{facts.pull.number} exists."
    return False, "There is no pull request yet."


def pr_merged(facts: Facts, _: Mapping[str, Any]) -> Verdict:
    """The task's pull request is merged; of a task with phases, the final one."""
    return _merged(facts.final_pull if facts.phases else facts.pull)


def _merged(pull: PullRequest | None) -> Verdict:
    if pull is None:
        return False, "There is no pull request yet."
    if pull.state is PullState.MERGED:
        return True, f"Pull request #{pull.number} is merged."
    return False, f"Pull request #{pull.number} is not merged."


def split_approved(facts: Facts, _: Mapping[str, Any]) -> Verdict:
    """What set the move going is the approval of a split."""
    return _split_is(facts, "approved")


def split_rejected(facts: Facts, _: Mapping[str, Any]) -> Verdict:
    """What set the move going is the rejection of a split."""
    return _split_is(facts, "rejected")


def _split_is(facts: Facts, decision: str) -> Verdict:
    if facts.fired.prompt_type is not PromptType.SPLIT_PROPOSAL or facts.fired.payload is None:
        return False, "No split was decided on."
    said = facts.fired.payload["decision"]
    return said == decision, f"The split was {said}."


def current_phase_has_pr(facts: Facts, _: Mapping[str, Any]) -> Verdict:
    """The phase at work has a pull request."""
    if facts.phase_pull:
        return True, f"Pull request #{facts.phase_pull.number} exists."
    return False, "The current phase has no pull request yet."


def current_phase_pr_merged(facts: Facts, _: Mapping[str, Any]) -> Verdict:
    """The pull request of the phase at work is merged."""
    if active(facts.phases) is None:
        return False, "No phase is at work."
    return _merged(facts.phase_pull)


def phases_remain(facts: Facts, _: Mapping[str, Any]) -> Verdict:
    """A phase has not been begun."""
    following = upcoming(facts.phases)
    if following is not None:
        return True, f'The phase "{following.name}" has not been begun.'
    return False, "No phase is left to begin."


def all_phases_completed(facts: Facts, _: Mapping[str, Any]) -> Verdict:
    """Every phase is done or skipped, or at work with its pull request merged."""
    if not facts.phases:
        return False, "The task has no phases."
    merged = _merged(facts.phase_pull)[0]
    for phase in facts.phases:
        ended = phase.status in (PhaseStatus.DONE, PhaseStatus.SKIPPED)
        if not ended and not (phase.status is PhaseStatus.ACTIVE and merged):
            return False, f'The phase "{phase.name}" is not completed.'
    return True, "Every phase is completed."


def has_final_pr(facts: Facts, _: Mapping[str, Any]) -> Verdict:
    """The pull request that takes all phases to the base exists."""
    if facts.final_pull:
        return True, f"The final pull request is #{facts.final_pull.number}."
    return False, "There is no final pull request yet."


def checks_passed(facts: Facts, _: Mapping[str, Any]) -> Verdict:
    """The project's checks passed on the work as it stands."""
    if facts.checks_passed is None:
        return False, "No checks were run on the work as it stands."
    return (
        facts.checks_passed,
        "The checks passed." if facts.checks_passed else "The checks failed.",
    )


def has_document(facts: Facts, _: Mapping[str, Any]) -> Verdict:
    """The task has a plan or a design document."""
    if facts.documents:
        return True, "There is a document."
    return False, "There is no document yet."


def no_running_agent(facts: Facts, _: Mapping[str, Any]) -> Verdict:
    """No agent works at the task."""
    if facts.live_run is None:
        return True, "No agent is running."
    return False, f"Run {facts.live_run} is still going on; stop it first."


def dependencies_resolved(facts: Facts, _: Mapping[str, Any]) -> Verdict:
    """Every task this one depends on is finished, and no blocker that names it is left."""
    if not facts.unresolved and not facts.blockers:
        return True, "Nothing it depends on is open."
    waits = [f"It waits for {', '.join(facts.unresolved)}."] if facts.unresolved else []
    return False, " ".join([*waits, *facts.blockers])


def max_iterations(facts: Facts, params: Mapping[str, Any]) -> Verdict:
    """The status was entered again fewer than `max` times since the last grant."""
    limit = int(params["max"])
    done = facts.rounds.get(str(params["statusId"]), 0)
    if done < limit:
        return True, f"Round {done + 1} of {limit}."
    return False, f"Maximum review iterations ({limit}) reached. Manual intervention required."


_SAME_PAYLOAD = {
    "needs_info": PromptType.INFO_REQUEST,
    "options_proposed": PromptType.INFO_REQUEST,
    "changes_requested": PromptType.REVIEW,
}


def has_payload_response(facts: Facts, params: Mapping[str, Any]) -> Verdict:
    """What set the move going is a person's answer to a question."""
    wanted = params.get("payloadType")
    prompt_type = facts.fired.prompt_type
    if prompt_type is None or facts.fired.payload is None:
        return False, "The question has not been answered."
    if wanted is not None and _SAME_PAYLOAD.get(str(wanted), str(wanted)) != prompt_type:
        return False, f"The answer is to {prompt_type}, not to {wanted}."
    return True, "The question has been answered."


def review_approved(facts: Facts, _: Mapping[str, Any]) -> Verdict:
    """The review approved the work as it stands now."""
    return _review_is(facts, "approved")


def review_changes_requested(facts: Facts, _: Mapping[str, Any]) -> Verdict:
    """The review asked for changes."""
    return _review_is(facts, "changes_requested")


def _review_is(facts: Facts, decision: str) -> Verdict:
    if facts.review is None:
        return False, "There is no review yet."
    if facts.review["decision"] != decision:
        return False, f"The review says {facts.review['decision']}."
    seen, head = facts.review.get("head_sha"), facts.head_sha
    if decision == "approved" and seen and head and seen != head:
        return False, f"The approval was for {seen[:8]}, but the work is now at {head[:8]}."
    return True, f"The review says {decision}."


def agent_reviews(facts: Facts, _: Mapping[str, Any]) -> Verdict:
    """The project has an agent review work before people do (`review.agent`)."""
    if facts.agent_reviews:
        return True, "An agent reviews first."
    return False, "No agent is set to review."


def within_budget(facts: Facts, params: Mapping[str, Any]) -> Verdict:
    """The task has spent less than its budget."""
    limit = params.get("taskUsd")
    if limit is None:
        return True, "No budget is set."
    if facts.spent_usd is None:
        return (
            False,
            f"The cost so far is unknown, so a budget of ${float(limit):.2f} cannot be held.",
        )
    within = facts.spent_usd < float(limit)
    return within, f"${facts.spent_usd:.2f} of ${float(limit):.2f} are spent."


def payload_is(facts: Facts, params: Mapping[str, Any]) -> Verdict:
    """What the agent ended with, or a person answered, has this value in this field."""
    field, wanted = str(params["field"]), params["value"]
    if facts.fired.payload is None or field not in facts.fired.payload:
        return False, f'There is no "{field}".'
    said = facts.fired.payload[field]
    return said == wanted, f"The {field} is {said}."


def work_changed(facts: Facts, _: Mapping[str, Any]) -> Verdict:
    """The work of the task changes a file."""
    if facts.files:
        return True, f"{counted_as(facts.files, 'file')} changed."
    return False, "No file changed."


def batches_remain(facts: Facts, _: Mapping[str, Any]) -> Verdict:
    """The plan has a batch that nobody has built."""
    if facts.stages.batches:
        return True, f"Batch {facts.stages.batches[0]} has not been built."
    return False, "The plan has no batch that is still to be built."


def tests_can_be_written(facts: Facts, params: Mapping[str, Any]) -> Verdict:
    """The work changes a file, and the profile of the repository has a command that tests it."""
    changed, reason = work_changed(facts, params)
    if not changed:
        return False, reason
    if facts.stages.test_command is None:
        return False, "The profile of the repository has no test command."
    return True, f"Tests are run by: {facts.stages.test_command}"


def tests_are_due(facts: Facts, params: Mapping[str, Any]) -> Verdict:
    """Something was built since tests were last written, and they can be written."""
    can, reason = tests_can_be_written(facts, params)
    if not can:
        return False, reason
    if not facts.stages.untested:
        return False, "Tests were written since the last builder."
    return True, "Something was built, and no tests were written since."


def needs_debugging(facts: Facts, _: Mapping[str, Any]) -> Verdict:
    """A builder ended in trouble that no debugger has seen to."""
    if facts.stages.to_debug:
        return True, f"{', '.join(facts.stages.to_debug)} ended in trouble."
    return False, "No builder needs debugging, and nobody requested it."


def confirms_spec(facts: Facts, _: Mapping[str, Any]) -> Verdict:
    """A person confirms what is to be built before anybody builds it (`staged.confirmSpec`)."""
    if facts.confirms_spec:
        return True, "A person confirms the task specification."
    return False, "Nobody is asked to confirm the task specification (staged.confirmSpec)."


def was_requested(facts: Facts, _: Mapping[str, Any]) -> Verdict:
    """An agent had this one run again, and control goes straight back to it."""
    if facts.stages.requester:
        return True, f"The agent in {facts.stages.requester} had asked for it."
    return False, "No agent waits for it."


def loop_backs_within(facts: Facts, params: Mapping[str, Any]) -> Verdict:
    """Agents had each other run again fewer than `edge` times on this way and `task` times in all
    since the last grant, and did not say the same three times in a row."""
    stages, edge, task = facts.stages, int(params["edge"]), int(params["task"])
    way = "{source_agent} → {target_agent}".format_map(facts.fired.payload or NOBODY)
    if stages.alike >= SAME_FAILURE:
        return False, f"{way} failed {stages.alike} times in a row in the same way."
    if stages.on_edge >= edge:
        return False, f"{way} was gone {stages.on_edge} times; at most {edge} are allowed."
    if stages.loop_backs >= task:
        return False, f"There were {stages.loop_backs} loop-backs; a task has at most {task}."
    return True, f"{way}: {stages.on_edge + 1} of {edge}; {stages.loop_backs + 1} of {task} in all."


NOBODY = {"source_agent": "nobody", "target_agent": "nobody"}


def is_admin(facts: Facts, _: Mapping[str, Any]) -> Verdict:
    """An admin makes the move."""
    return facts.admin, "An admin asked." if facts.admin else "Only an admin may do this."


BUILT_IN: Mapping[str, Guard] = {
    guard.__name__: guard
    for guard in (
        has_plan,
        has_branch,
        has_pr,
        pr_merged,
        no_running_agent,
        dependencies_resolved,
        max_iterations,
        has_payload_response,
        review_approved,
        review_changes_requested,
        agent_reviews,
        within_budget,
        is_admin,
        split_approved,
        split_rejected,
        current_phase_has_pr,
        current_phase_pr_merged,
        phases_remain,
        all_phases_completed,
        has_final_pr,
        checks_passed,
        has_document,
        payload_is,
        work_changed,
        batches_remain,
        tests_can_be_written,
        tests_are_due,
        needs_debugging,
        confirms_spec,
        was_requested,
        loop_backs_within,
    )
}


class MaxIterations(Value):
    statusId: str
    """The status whose entries are counted."""
    max: int = Field(ge=1)
    """How often it may be entered again."""


class HasPayloadResponse(Value):
    payloadType: str | None = None
    """The outcome or type of prompt the answer must be to; any, where left out."""


class WithinBudget(Value):
    taskUsd: float | None = Field(default=None, gt=0)
    """How much the task may spend; no limit, where left out."""


class PayloadIs(Value):
    field: str
    """The field of what the agent ended with."""
    value: str | int | bool
    """What it has to be."""


class LoopBacksWithin(Value):
    edge: int = Field(ge=1)
    """How often one agent may have another run again."""
    task: int = Field(ge=1)
    """How often agents may do so in the whole task."""


GUARD_PARAMS: Mapping[str, type[Value]] = {
    "payload_is": PayloadIs,
    "loop_backs_within": LoopBacksWithin,
    "max_iterations": MaxIterations,
    "has_payload_response": HasPayloadResponse,
    "within_budget": WithinBudget,
}
"""What a guard can be told. They are held to this when a pipeline is saved."""

_MATCHED_BY_ANY = frozenset(
    {
        TriggerType.MANUAL,
        TriggerType.AGENT_OUTCOME,
        TriggerType.PROMPT_RESPONSE,
        TriggerType.REVIEW_SUBMITTED,
    }
)


def matches(trigger: Trigger, guards: tuple[GuardSpec, ...], fired: Fired) -> bool:
    """Whether a transition listens to what fired."""
    kind = fired.trigger.type
    if trigger.type is TriggerType.ANY:
        return kind in _MATCHED_BY_ANY
    if trigger == fired.trigger:
        return True
    # The older form of an answer: a manual transition that asks for the response.
    return (
        kind is TriggerType.PROMPT_RESPONSE
        and trigger.type is TriggerType.MANUAL
        and any(g.type == "has_payload_response" and not g.negate for g in guards)
    )
