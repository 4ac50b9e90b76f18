"""Everything that can happen to a task, in one explicit union; each member says itself in a
sentence that command line, web and chat all use."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from agents_manager.domain.event.forges import (
    BranchCreated,
    BranchPushed,
    DocumentCommitted,
    ForgeRefused,
    IssueNoted,
    MergeConflicted,
    PolicyChanged,
    PullClosed,
    PullCreated,
    PullMerged,
    PullMoved,
    PullUpdated,
    PushRefused,
    ReviewNotTaken,
    SecretHeld,
    SecretLetThrough,
    StrangersReviewed,
)
from agents_manager.domain.event.handoffs import (
    HandoffDisagrees,
    HandoffRefused,
    HandoffReturned,
    HandoffSaved,
)
from agents_manager.domain.event.happening import Level
from agents_manager.domain.event.knowledge import (
    BlockerRaised,
    BlockerResolved,
    DecisionKept,
    KnowledgeLearned,
)
from agents_manager.domain.event.operation import CloneFailed, ConfigBroken, ConfigRepaired, DiskLow
from agents_manager.domain.event.people import (
    AnswerUndone,
    CommentAdded,
    CommentAnswered,
    CommentResolved,
    PromptAnswered,
    PromptCreated,
    PromptEnded,
    PromptReminded,
    ReviewSubmitted,
)
from agents_manager.domain.event.races import (
    RaceBegun,
    RaceCompared,
    RaceJudged,
    RaceOrdered,
    RacePicked,
)
from agents_manager.domain.event.runs import (
    AgentCancelled,
    AgentCompleted,
    AgentFailed,
    AgentInterrupted,
    AgentPaused,
    AgentProgram,
    AgentQueued,
    AgentStarted,
    BudgetGranted,
    BudgetNear,
    ChecksFailed,
    ChecksPassed,
    ChecksUndecided,
    CollectionFailed,
    ConnectionsBlocked,
    FixRequested,
    NoProgress,
    OutputRefused,
    RetryHastened,
    RetryScheduled,
    SessionLost,
    ToolUsed,
    ToolUsesLeftOut,
    TranscriptsRemoved,
    UsageRefused,
)
from agents_manager.domain.event.stages import (
    BatchesSerial,
    BuilderAssigned,
    BuilderEnded,
    BuilderStrayed,
    LoopBackCompleted,
    LoopBackDispatched,
    LoopBackRequested,
    LoopBackReturned,
    LoopBackStopped,
    PlaceholdersFound,
    ReaderChanged,
    StageRetried,
    StageSkipped,
    WorkDiscarded,
)
from agents_manager.domain.event.tasks import (
    AutoStopped,
    ChecksDecided,
    ClosedUnmerged,
    HookFailed,
    HookRetried,
    Noted,
    NotStarted,
    PhaseBegun,
    PhaseEnded,
    PhasesReordered,
    RoundsGranted,
    ScheduleHalted,
    ScheduleSkipped,
    SplitApproved,
    SplitRejected,
    StartSet,
    StartWaits,
    StatusBlocked,
    StatusChanged,
    StatusRolledBack,
    TaskCreated,
    TaskEdited,
    TaskMigrated,
    TaskRepaired,
    TaskStranded,
)
from agents_manager.domain.event.workspaces import (
    BranchAdvanced,
    BranchDiverged,
    BranchRebased,
    FetchFailed,
    FilesCopied,
    LfsPointers,
    PartConflicted,
    PartJoined,
    PartsLeft,
    ProductsLeftOut,
    RebaseConflicted,
    SnapshotRemoved,
    SnapshotRestored,
    SnapshotSaved,
    SubmodulesMissing,
    WorkLeft,
    WorkspaceIgnored,
    WorkspaceOrphaned,
    WorkspaceRebuilt,
    WorkspaceRemoved,
    WorkspaceSetUp,
    WorkspaceTornDown,
)
from agents_manager.domain.ids import TaskId
from agents_manager.domain.task import Actor

Event = Annotated[
    TaskCreated
    | TaskEdited
    | ChecksDecided
    | StartSet
    | StartWaits
    | ClosedUnmerged
    | NotStarted
    | ScheduleSkipped
    | ScheduleHalted
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
    | AgentInterrupted
    | AgentPaused
    | AgentProgram
    | AgentFailed
    | RetryScheduled
    | RetryHastened
    | SessionLost
    | NoProgress
    | AgentCancelled
    | ToolUsed
    | ToolUsesLeftOut
    | OutputRefused
    | ChecksFailed
    | ChecksUndecided
    | FixRequested
    | ChecksPassed
    | CollectionFailed
    | ConnectionsBlocked
    | PromptCreated
    | PromptAnswered
    | PromptEnded
    | PromptReminded
    | AnswerUndone
    | ReviewSubmitted
    | CommentAdded
    | CommentAnswered
    | CommentResolved
    | SplitApproved
    | SplitRejected
    | PhaseBegun
    | PhaseEnded
    | PhasesReordered
    | BranchCreated
    | PolicyChanged
    | SecretHeld
    | SecretLetThrough
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
    | IssueNoted
    | MergeConflicted
    | FetchFailed
    | WorkLeft
    | BranchAdvanced
    | BranchDiverged
    | PartConflicted
    | PartJoined
    | PartsLeft
    | FilesCopied
    | ProductsLeftOut
    | RaceOrdered
    | RaceBegun
    | RaceCompared
    | RaceJudged
    | RacePicked
    | BranchRebased
    | RebaseConflicted
    | WorkspaceRebuilt
    | CloneFailed
    | ConfigBroken
    | ConfigRepaired
    | WorkspaceIgnored
    | SubmodulesMissing
    | LfsPointers
    | WorkspaceSetUp
    | WorkspaceTornDown
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
    | BatchesSerial
    | BuilderAssigned
    | BuilderEnded
    | BuilderStrayed
    | LoopBackCompleted
    | LoopBackDispatched
    | LoopBackRequested
    | LoopBackReturned
    | LoopBackStopped
    | PlaceholdersFound
    | StageRetried
    | StageSkipped
    | WorkDiscarded
    | ReaderChanged
    | HandoffSaved
    | HandoffReturned
    | HandoffRefused
    | HandoffDisagrees
    | KnowledgeLearned
    | DecisionKept
    | BlockerRaised
    | BlockerResolved
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
