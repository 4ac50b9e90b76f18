"""Everything that can happen to a task, in one explicit union; each member says itself in a
sentence that command line, web and chat all use."""

import shlex
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, TypeAdapter

from agents_manager.domain.budget import BudgetScope, dollars
from agents_manager.domain.ids import TaskId
from agents_manager.domain.names import visible
from agents_manager.domain.run import UNSANDBOXED
from agents_manager.domain.task import Actor
from agents_manager.domain.value import Value


class Level(StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


def counted_as(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


SENTENCE_LIMIT = 1_000


class Happening(Value, ABC):
    category: ClassVar[str] = "lifecycle"
    level: ClassVar[Level] = Level.INFO

    def sentence(self) -> str:
        """What happened, on one line, whatever agents and tools wrote into it; all of their words
        are in the fields."""
        return visible(self.says()[: 4 * SENTENCE_LIMIT], SENTENCE_LIMIT)

    @abstractmethod
    def says(self) -> str: ...


class TaskCreated(Happening):
    type: Literal["task.created"] = "task.created"
    title: str
    pipeline: str

    def says(self) -> str:
        return f'Task "{self.title}" was created in pipeline {self.pipeline}.'


class TaskEdited(Happening):
    category = "edit"
    type: Literal["task.edited"] = "task.edited"
    fields: tuple[str, ...]
    run: str | None = None
    """The run that was going on, and keeps the words it was given."""

    def says(self) -> str:
        changed = ", ".join(name.replace("_", " ") for name in self.fields)
        kept = " The agent that is at work was told the old words." if self.run else ""
        return f"Changed: {changed}.{kept}"


class TaskStranded(Happening):
    category = "error"
    level = Level.ERROR
    type: Literal["task.stranded"] = "task.stranded"
    status: str
    version: int
    reason: str

    def says(self) -> str:
        return f"Nobody will move this task on from {self.status}. {self.reason}"


class TaskRepaired(Happening):
    category = "error"
    level = Level.WARNING
    type: Literal["task.repaired"] = "task.repaired"
    version: int
    fault: str
    repair: str

    def says(self) -> str:
        return f"{self.fault} {self.repair}"


class DiskLow(Happening):
    category = "error"
    level = Level.WARNING
    type: Literal["disk.low"] = "disk.low"
    run: str
    reason: str

    def says(self) -> str:
        return f"The agent waits for room on the disk. {self.reason}"


class StatusChanged(Happening):
    category = "transition"
    type: Literal["status.changed"] = "status.changed"
    source: str
    to: str
    trigger: str
    forced: bool = False

    def says(self) -> str:
        how = " by force" if self.forced else ""
        return f"Moved from {self.source} to {self.to}{how} ({self.trigger})."


class StatusBlocked(Happening):
    category = "transition"
    level = Level.WARNING
    type: Literal["status.blocked"] = "status.blocked"
    status: str
    trigger: str
    reasons: tuple[str, ...]

    def says(self) -> str:
        return f"Stayed in {self.status} ({self.trigger}): {' '.join(self.reasons)}"


class StatusRolledBack(Happening):
    category = "transition"
    level = Level.ERROR
    type: Literal["status.rolled_back"] = "status.rolled_back"
    source: str
    to: str
    hook: str
    error: str

    def says(self) -> str:
        return f"Went back from {self.source} to {self.to}: {self.hook} failed: {self.error}"


class TaskMigrated(Happening):
    category = "transition"
    type: Literal["task.migrated"] = "task.migrated"
    from_version: int
    to_version: int
    source: str
    to: str

    def says(self) -> str:
        where = f"stays in {self.to}" if self.to == self.source else f"{self.source} is {self.to}"
        return f"Migrated from version {self.from_version} to {self.to_version}: {where}."


class AutoStopped(Happening):
    category = "error"
    level = Level.ERROR
    type: Literal["auto.stopped"] = "auto.stopped"
    moves: int

    def says(self) -> str:
        return f"Stopped after {self.moves} automatic moves in a row; the pipeline loops."


class RoundsGranted(Happening):
    category = "guard"
    type: Literal["rounds.granted"] = "rounds.granted"
    by: str

    def says(self) -> str:
        return f"{self.by} granted more rounds."


class AgentQueued(Happening):
    category = "agent"
    type: Literal["agent.queued"] = "agent.queued"
    run: str
    agent: str
    mode: str

    def says(self) -> str:
        return f"{self.agent} will start ({self.mode})."


class AgentStarted(Happening):
    category = "agent"
    type: Literal["agent.started"] = "agent.started"
    run: str
    agent: str
    mode: str
    attempt: int
    sandbox: str | None = None

    def says(self) -> str:
        how = ", unsandboxed" if self.sandbox == UNSANDBOXED else ""
        return f"{self.agent} started ({self.mode}{how})."


class AgentCompleted(Happening):
    category = "agent"
    type: Literal["agent.completed"] = "agent.completed"
    run: str
    outcome: str
    inferred: bool
    cost_usd: float | None

    def says(self) -> str:
        cost = "cost unknown" if self.cost_usd is None else f"${self.cost_usd:.2f}"
        how = "was taken to have ended with" if self.inferred else "ended with"
        return f"The agent {how} {self.outcome} ({cost})."


class AgentFailed(Happening):
    category = "agent"
    level = Level.ERROR
    type: Literal["agent.failed"] = "agent.failed"
    run: str
    error_class: str
    error: str

    def says(self) -> str:
        return f"The agent failed ({self.error_class}): {self.error}"


class RetryScheduled(Happening):
    category = "agent"
    level = Level.WARNING
    type: Literal["agent.retry_scheduled"] = "agent.retry_scheduled"
    run: str
    """The run that failed."""
    retry: str
    """The run that waits."""
    error_class: str
    number: int
    tries: int
    due_at: datetime

    def says(self) -> str:
        which = f"retry {self.number} of {self.tries}, after {self.error_class}"
        return f"The agent is tried again at {self.due_at:%Y-%m-%d %H:%M:%S} UTC ({which})."


class RetryHastened(Happening):
    category = "agent"
    type: Literal["agent.retry_hastened"] = "agent.retry_hastened"
    run: str
    by: str

    def says(self) -> str:
        return f"{self.by} had the agent tried again without waiting any longer."


class SessionLost(Happening):
    category = "agent"
    level = Level.WARNING
    type: Literal["agent.session_lost"] = "agent.session_lost"
    run: str

    def says(self) -> str:
        gone = "The session that the agent was to go on with is gone"
        return f"{gone}; it began a new one and was told what was said in the old."


class NoProgress(Happening):
    category = "agent"
    level = Level.ERROR
    type: Literal["agent.no_progress"] = "agent.no_progress"
    run: str
    mode: str
    times: int
    ended_with: str

    def says(self) -> str:
        runs = f"{self.times} runs ({self.mode})"
        return f"Halted: {runs} in a row left the same work and ended with {self.ended_with}"


class AgentCancelled(Happening):
    category = "agent"
    level = Level.WARNING
    type: Literal["agent.cancelled"] = "agent.cancelled"
    run: str

    def says(self) -> str:
        return "The agent was stopped."


class OutputRefused(Happening):
    category = "payload"
    level = Level.WARNING
    type: Literal["agent.output_refused"] = "agent.output_refused"
    run: str
    reason: str

    def says(self) -> str:
        return f"The agent's outcome could not be taken and it was asked again: {self.reason}"


class ChecksFailed(Happening):
    category = "agent"
    level = Level.ERROR
    type: Literal["agent.checks_failed"] = "agent.checks_failed"
    run: str
    outcome: str
    checks: tuple[str, ...]
    output: str = ""

    def says(self) -> str:
        return f"Checks failed after {self.outcome}: {', '.join(self.checks)}."


class FixRequested(Happening):
    category = "agent"
    level = Level.WARNING
    type: Literal["agent.fix_requested"] = "agent.fix_requested"
    run: str
    outcome: str
    round: int
    rounds: int
    checks: tuple[str, ...]
    output: str = ""

    def says(self) -> str:
        return (
            f"Checks failed after {self.outcome}: {', '.join(self.checks)}. The agent is asked to"
            f" mend it (round {self.round} of {self.rounds})."
        )


class ChecksPassed(Happening):
    category = "agent"
    type: Literal["agent.checks_passed"] = "agent.checks_passed"
    run: str
    checks: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    def says(self) -> str:
        told = f"; failed, which is only told: {', '.join(self.warnings)}" if self.warnings else ""
        return f"Checks passed: {', '.join(self.checks) or 'none'}{told}."


class CollectionFailed(Happening):
    category = "agent"
    level = Level.WARNING
    type: Literal["agent.artifact_collection_failed"] = "agent.artifact_collection_failed"
    run: str
    error: str

    def says(self) -> str:
        again = "am artifact collect TASK tries again."
        return f"Not everything the agent made could be collected ({again}): {self.error}"


class PromptCreated(Happening):
    category = "prompt"
    type: Literal["prompt_created"] = "prompt_created"
    prompt: str
    prompt_type: str
    revision: int
    summary: str

    def says(self) -> str:
        return f"Waiting for a person ({self.prompt_type}): {self.summary}"


class PromptAnswered(Happening):
    category = "prompt"
    type: Literal["prompt_response"] = "prompt_response"
    prompt: str
    by: str
    via: str
    response: Mapping[str, Any]

    def says(self) -> str:
        return f"{self.by} answered via {self.via}."


class PromptEnded(Happening):
    category = "prompt"
    type: Literal["prompt_closed"] = "prompt_closed"
    prompt: str
    status: str

    def says(self) -> str:
        match self.status:
            case "expired":
                return "Nobody answered the question in time; it is closed."
            case "superseded":
                return "A newer question took the place of this one."
            case _:
                return f"The question was {self.status}; nobody has to answer it any more."


class PromptReminded(Happening):
    category = "prompt"
    type: Literal["prompt_reminded"] = "prompt_reminded"
    prompt: str
    number: int

    def says(self) -> str:
        return f"People were reminded that the question is open (reminder {self.number})."


class AnswerUndone(Happening):
    category = "prompt"
    type: Literal["prompt_undone"] = "prompt_undone"
    prompt: str
    by: str
    again: str
    """The question, asked again."""

    def says(self) -> str:
        return f"{self.by} took the answer back before it had any effect; the question is open."


class ReviewSubmitted(Happening):
    category = "review"
    type: Literal["review_submitted"] = "review_submitted"
    prompt: str | None
    """None: an agent reviewed, which nobody was asked to."""
    decision: str
    by: str
    via: str
    summary: str | None
    comments: tuple[Mapping[str, Any], ...]
    head_sha: str | None

    def says(self) -> str:
        what = "approved" if self.decision == "approved" else "asked for changes"
        counted = f" with {counted_as(len(self.comments), 'comment')}" if self.comments else ""
        said = f": {self.summary}" if self.summary else ""
        end = "" if said.endswith((".", "!", "?")) else "."
        return f"{self.by} {what}{counted}{said}{end}"


class CommentAdded(Happening):
    category = "review"
    type: Literal["comment.added"] = "comment.added"
    number: int
    by: str
    text: str
    pull: int | None
    """The pull request it is about; None: the task."""
    file: str | None
    line: int | None

    def says(self) -> str:
        line = f":{self.line}" if self.line else ""
        place = f" on {self.file}{line}" if self.file else ""
        return f"{self.by} commented{place}: {self.text}"


class CommentResolved(Happening):
    category = "review"
    type: Literal["comment.resolved"] = "comment.resolved"
    number: int
    by: str
    resolved: bool

    def says(self) -> str:
        how = "resolved" if self.resolved else "opened again"
        return f"{self.by} {how} comment {self.number}."


class SplitApproved(Happening):
    category = "review"
    type: Literal["split_approved"] = "split_approved"
    prompt: str
    by: str
    phases: tuple[str, ...]

    def says(self) -> str:
        return f"{self.by} approved the split into {counted_as(len(self.phases), 'phase')}."


class SplitRejected(Happening):
    category = "review"
    type: Literal["split_rejected"] = "split_rejected"
    prompt: str
    by: str
    reason: str | None

    def says(self) -> str:
        return f"{self.by} rejected the split{f': {self.reason}' if self.reason else ''}."


class PhaseBegun(Happening):
    type: Literal["phase.begun"] = "phase.begun"
    number: int
    name: str

    def says(self) -> str:
        return f'Phase {self.number}, "{self.name}", has begun.'


class PhaseEnded(Happening):
    type: Literal["phase.ended"] = "phase.ended"
    number: int
    name: str
    status: str

    def says(self) -> str:
        return f'Phase {self.number}, "{self.name}", is {self.status}.'


class PhasesReordered(Happening):
    category = "edit"
    type: Literal["phases.reordered"] = "phases.reordered"
    names: tuple[str, ...]
    by: str

    def says(self) -> str:
        return f"{self.by} put the phases in this order: {', '.join(self.names)}."


class BranchCreated(Happening):
    category = "git"
    type: Literal["branch.created"] = "branch.created"
    branch: str
    base: str

    def says(self) -> str:
        return f"Branch {self.branch} was created from {self.base}."


class BranchPushed(Happening):
    category = "git"
    type: Literal["git.pushed"] = "git.pushed"
    branch: str
    remote: str
    sha: str

    def says(self) -> str:
        return f"{self.branch} is at {self.sha[:8]} in {self.remote}."


class PushRefused(Happening):
    category = "git"
    level = Level.WARNING
    type: Literal["git.push_refused"] = "git.push_refused"
    branch: str
    remote: str
    reason: str

    def says(self) -> str:
        return f"{self.branch} was not pushed to {self.remote}; work goes on here. {self.reason}"


class PullCreated(Happening):
    category = "git"
    type: Literal["pull_request.created"] = "pull_request.created"
    number: int
    head: str
    base: str
    head_sha: str

    def says(self) -> str:
        return f"Pull request #{self.number} takes {self.head} to {self.base}."


class PullUpdated(Happening):
    category = "git"
    type: Literal["pull_request.updated"] = "pull_request.updated"
    number: int
    head_sha: str

    def says(self) -> str:
        return f"Pull request #{self.number} now stands at {self.head_sha[:8]}."


class PullMerged(Happening):
    category = "git"
    type: Literal["pull_request.merged"] = "pull_request.merged"
    number: int
    merge_sha: str
    by: str | None = None
    """Who merged it on its forge; None: it was merged from here."""

    def says(self) -> str:
        there = f" by {self.by} on its forge" if self.by else ""
        return f"Pull request #{self.number} was merged as {self.merge_sha[:8]}{there}."


class PullClosed(Happening):
    category = "git"
    level = Level.WARNING
    type: Literal["pull_request.closed"] = "pull_request.closed"
    number: int

    def says(self) -> str:
        return f"Pull request #{self.number} was closed on its forge without a merge."


class PullMoved(Happening):
    category = "git"
    level = Level.WARNING
    type: Literal["pull_request.moved"] = "pull_request.moved"
    number: int
    before: str
    after: str

    def says(self) -> str:
        went = f"from {self.before[:8]} to {self.after[:8]}"
        return (
            f"Pull request #{self.number} was moved {went} by a push; what was approved before does"
            " not count."
        )


class StrangersReviewed(Happening):
    category = "review"
    type: Literal["review.strangers"] = "review.strangers"
    pull: int
    people: int

    def says(self) -> str:
        who = counted_as(self.people, "person")
        return f"Pull request #{self.pull} was reviewed by {who} without access; nobody heeds that."


class ReviewNotTaken(Happening):
    category = "review"
    level = Level.WARNING
    type: Literal["review.not_taken"] = "review.not_taken"
    pull: int
    by: str
    decision: str
    reason: str

    def says(self) -> str:
        what = "approval" if self.decision == "approved" else "request for changes"
        return f"The {what} by {self.by} on pull request #{self.pull} moved nothing: {self.reason}"


class ForgeRefused(Happening):
    category = "error"
    level = Level.ERROR
    type: Literal["forge.refused"] = "forge.refused"
    pull: int
    reason: str

    def says(self) -> str:
        return f"What is done to pull request #{self.pull} is not noticed now. {self.reason}"


class MergeConflicted(Happening):
    category = "git"
    level = Level.WARNING
    type: Literal["pull_request.conflict"] = "pull_request.conflict"
    number: int
    files: tuple[str, ...]

    def says(self) -> str:
        where = ", ".join(self.files) or "its history"
        return f"Pull request #{self.number} conflicts in {where}."


class ConfigBroken(Happening):
    category = "error"
    level = Level.WARNING
    type: Literal["config.broken"] = "config.broken"
    project: str
    reason: str
    kept: bool
    """Whether the settings from before hold on; else no run is started."""

    def says(self) -> str:
        then = "what it said before holds on" if self.kept else "no run is started until it can"
        return f'The settings of project "{self.project}" cannot be read, {then}. {self.reason}'


class ConfigRepaired(Happening):
    category = "note"
    type: Literal["config.repaired"] = "config.repaired"
    project: str

    def says(self) -> str:
        return f'The settings of project "{self.project}" can be read again, and are in force.'


class WorkspaceEvent(Happening):
    category = "git"
    run: str | None = None
    """The run that the workspace was made ready for."""


class FetchFailed(WorkspaceEvent):
    level = Level.WARNING
    type: Literal["git.fetch_failed"] = "git.fetch_failed"
    remote: str
    error: str

    def says(self) -> str:
        return f"Could not ask {self.remote} for news; went on with what is here. {self.error}"


class BranchAdvanced(WorkspaceEvent):
    type: Literal["git.branch_advanced"] = "git.branch_advanced"
    branch: str
    remote: str

    def says(self) -> str:
        return f"Brought {self.branch} forward to where it is in {self.remote}."


class BranchDiverged(WorkspaceEvent):
    level = Level.WARNING
    type: Literal["git.branch_diverged"] = "git.branch_diverged"
    branch: str
    remote: str

    def says(self) -> str:
        return f"{self.branch} and its state in {self.remote} went apart; the one here counts."


class BranchRebased(WorkspaceEvent):
    type: Literal["git.rebased"] = "git.rebased"
    branch: str
    base: str

    def says(self) -> str:
        return f"Rebased {self.branch} onto {self.base}."


class RebaseConflicted(WorkspaceEvent):
    level = Level.WARNING
    type: Literal["git.rebase_conflicted"] = "git.rebase_conflicted"
    branch: str
    base: str
    files: tuple[str, ...]

    def says(self) -> str:
        where = f" in {', '.join(self.files)}" if self.files else ""
        return f"Rebasing {self.branch} onto {self.base} conflicts{where}; it was left as it was."


class WorkspaceRebuilt(WorkspaceEvent):
    level = Level.WARNING
    type: Literal["workspace.rebuilt"] = "workspace.rebuilt"
    branch: str
    reason: str

    def says(self) -> str:
        return f"The worktree was built anew from {self.branch}: {self.reason}."


class WorkspaceIgnored(WorkspaceEvent):
    type: Literal["workspace.ignored"] = "workspace.ignored"
    line: str
    file: str

    def says(self) -> str:
        return f'Added "{self.line}" to {self.file}, as worktrees lie there; it is not committed.'


class SubmodulesMissing(WorkspaceEvent):
    level = Level.WARNING
    type: Literal["workspace.submodules_missing"] = "workspace.submodules_missing"
    paths: tuple[str, ...]
    reason: str

    def says(self) -> str:
        return f"Submodules that are empty in the worktree: {', '.join(self.paths)}. {self.reason}"


class LfsPointers(WorkspaceEvent):
    level = Level.WARNING
    type: Literal["workspace.lfs_pointers"] = "workspace.lfs_pointers"
    reason: str

    def says(self) -> str:
        return f"Files kept in Git LFS are only pointers in the worktree: {self.reason}."


class WorkspaceSetUp(WorkspaceEvent):
    category = "agent"
    type: Literal["workspace.set_up"] = "workspace.set_up"
    commands: tuple[str, ...]

    def says(self) -> str:
        return f"Set up the worktree: {'; '.join(self.commands)}."


class WorkspaceRemoved(WorkspaceEvent):
    type: Literal["workspace.removed"] = "workspace.removed"
    kept: str | None = None
    """Where the folder was moved to, as it holds repositories that no snapshot can."""

    def says(self) -> str:
        kept = f" It holds repositories of its own and was kept at {self.kept}."
        return f"Removed the worktree.{kept if self.kept else ''}"


class WorkspaceOrphaned(Happening):
    category = "git"
    level = Level.WARNING
    type: Literal["workspace.orphaned"] = "workspace.orphaned"
    path: str
    removed: bool

    def says(self) -> str:
        whose = f"The worktree {self.path} belongs to no task"
        if self.removed:
            return f"{whose}; it was removed, as a branch holds all that was in it."
        way = "Take from it what is of use, then: git worktree remove --force"
        return f"{whose} and holds work that no branch does. {way} {shlex.quote(self.path)}"


class SnapshotSaved(WorkspaceEvent):
    type: Literal["snapshot.saved"] = "snapshot.saved"
    number: int
    ref: str
    files: int

    def says(self) -> str:
        what = counted_as(self.files, "file") if self.files else "commits of no branch"
        return f"Saved left-over work ({what}) as snapshot {self.number}."


class SnapshotRemoved(Happening):
    category = "git"
    type: Literal["snapshot.removed"] = "snapshot.removed"
    number: int
    sha: str

    def says(self) -> str:
        return f"Retention removed snapshot {self.number} ({self.sha[:8]}); its task was merged."


class TranscriptsRemoved(Happening):
    category = "agent"
    type: Literal["agent.transcripts_removed"] = "agent.transcripts_removed"
    runs: int
    bytes: int

    def says(self) -> str:
        what = counted_as(self.runs, "run")
        return f"Retention removed the transcripts of {what} ({self.bytes / 1e6:.1f} MB)."


class SnapshotRestored(Happening):
    category = "git"
    type: Literal["snapshot.restored"] = "snapshot.restored"
    number: int
    to: str
    by: str

    def says(self) -> str:
        return f"{self.by} restored snapshot {self.number} to {self.to}."


class DocumentCommitted(Happening):
    category = "git"
    type: Literal["document.committed"] = "document.committed"
    document: str
    version: int
    path: str
    branch: str
    commit: str

    def says(self) -> str:
        what = f"Version {self.version} of the {self.document}"
        return f"{what} was committed to {self.branch} as {self.path} ({self.commit[:8]})."


class HookFailed(Happening):
    category = "hook"
    level = Level.ERROR
    type: Literal["hook.failed"] = "hook.failed"
    effect: str
    hook: str
    error: str

    def says(self) -> str:
        return f"{self.hook} failed: {self.error}"


class HookRetried(Happening):
    category = "hook"
    level = Level.WARNING
    type: Literal["hook.retried"] = "hook.retried"
    effect: str
    hook: str
    attempt: int
    error: str

    def says(self) -> str:
        return f"{self.hook} will be tried again (attempt {self.attempt}): {self.error}"


class UsageRefused(Happening):
    category = "cost"
    level = Level.WARNING
    type: Literal["cost.usage_refused"] = "cost.usage_refused"
    run: str
    reason: str

    def says(self) -> str:
        return f"What the agent said it used is not believed and counts as unknown: {self.reason}"


class BudgetNear(Happening):
    category = "cost"
    level = Level.WARNING
    type: Literal["cost.budget_near"] = "cost.budget_near"
    run: str
    scope: BudgetScope
    subject: str
    limit_usd: float
    spent_usd: float
    unknown: int
    """Runs whose cost is unknown, and not in the sum."""
    text: str

    def says(self) -> str:
        return self.text


class BudgetGranted(Happening):
    category = "cost"
    type: Literal["cost.budget_granted"] = "cost.budget_granted"
    scope: BudgetScope
    subject: str
    usd: float
    by: str
    prompt: str

    def says(self) -> str:
        return f"{self.by} granted {dollars(self.usd)} more for the {self.scope}."


class Noted(Happening):
    category = "note"
    type: Literal["note"] = "note"
    text: str = Field(min_length=1)

    def says(self) -> str:
        return visible(self.text, SENTENCE_LIMIT) or "A note without words."


Event = Annotated[
    TaskCreated
    | TaskEdited
    | TaskStranded
    | TaskRepaired
    | DiskLow
    | StatusChanged
    | StatusBlocked
    | StatusRolledBack
    | TaskMigrated
    | AutoStopped
    | RoundsGranted
    | AgentQueued
    | AgentStarted
    | AgentCompleted
    | AgentFailed
    | RetryScheduled
    | RetryHastened
    | SessionLost
    | NoProgress
    | AgentCancelled
    | OutputRefused
    | ChecksFailed
    | FixRequested
    | ChecksPassed
    | CollectionFailed
    | PromptCreated
    | PromptAnswered
    | PromptEnded
    | PromptReminded
    | AnswerUndone
    | ReviewSubmitted
    | CommentAdded
    | CommentResolved
    | SplitApproved
    | SplitRejected
    | PhaseBegun
    | PhaseEnded
    | PhasesReordered
    | BranchCreated
    | BranchPushed
    | PushRefused
    | PullCreated
    | PullUpdated
    | PullMerged
    | PullClosed
    | PullMoved
    | StrangersReviewed
    | ReviewNotTaken
    | ForgeRefused
    | MergeConflicted
    | FetchFailed
    | BranchAdvanced
    | BranchDiverged
    | BranchRebased
    | RebaseConflicted
    | WorkspaceRebuilt
    | ConfigBroken
    | ConfigRepaired
    | WorkspaceIgnored
    | SubmodulesMissing
    | LfsPointers
    | WorkspaceSetUp
    | WorkspaceRemoved
    | WorkspaceOrphaned
    | SnapshotSaved
    | SnapshotRestored
    | DocumentCommitted
    | SnapshotRemoved
    | TranscriptsRemoved
    | HookFailed
    | HookRetried
    | UsageRefused
    | BudgetNear
    | BudgetGranted
    | Noted,
    Field(discriminator="type"),
]
EVENT: TypeAdapter[Event] = TypeAdapter(Event)


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """One entry of the append-only log."""

    id: int
    task_id: TaskId
    seq: int
    time: datetime
    category: str
    type: str
    level: Level
    summary: str
    actor: Actor
    data: Mapping[str, Any]
