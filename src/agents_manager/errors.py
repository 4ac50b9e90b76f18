"""Every error a user can meet. The class name is the API's error code, the docstring the default
message; an instance's message names the thing, the place and the way out."""

from collections.abc import Sequence
from typing import ClassVar


class AgentsManagerError(Exception):
    """Something went wrong."""

    http_status: ClassVar[int] = 500
    retryable: ClassVar[bool] = False

    def __init__(self, message: str | None = None, details: Sequence[str] = ()) -> None:
        self.message = message or (self.__class__.__doc__ or "").strip()
        self.details = tuple(details)
        super().__init__(self.message)


class InvalidInput(AgentsManagerError):
    """What was sent is not valid."""

    http_status = 422


class InvalidPipeline(InvalidInput):
    """The pipeline document has errors."""


class InvalidAnswer(InvalidInput):
    """The answer does not fit the prompt."""


class InvalidConfig(InvalidInput):
    """A configuration file has errors."""


class ProjectElsewhere(InvalidConfig):
    """The project is not on this machine, so that nobody can say here how it is set up."""


class InvalidRepository(InvalidInput):
    """The folder is not a git repository that can be used."""


class InvalidScript(InvalidInput):
    """The script of the scripted agent has errors."""


class NotReady(AgentsManagerError):
    """The server cannot do its work now."""

    http_status = 503
    retryable = True


class NotFound(AgentsManagerError):
    """There is no such thing."""

    http_status = 404


class ProjectNotFound(NotFound):
    """There is no such project."""


class PipelineNotFound(NotFound):
    """There is no such pipeline."""


class TaskNotFound(NotFound):
    """There is no such task."""


class AgentNotFound(InvalidInput):
    """There is no such agent."""


class AgentNotInstalled(InvalidInput):
    """The agent's program is not there."""


class MissingVariable(InvalidInput):
    """A variable that runs of the project need is not set where the server runs."""


class NotTrusted(InvalidInput):
    """The project's commands have not been trusted as they stand now."""


class NoSandbox(InvalidInput):
    """The sandbox that agents are to work in cannot be had here."""


class NotConsented(InvalidInput):
    """Nobody has allowed agents to work at the project without a sandbox."""


class RunNotFound(NotFound):
    """There is no such run."""


class PromptNotFound(NotFound):
    """There is no such prompt."""


class KnowledgeNotFound(NotFound):
    """There is no such node."""


class BlockerNotFound(NotFound):
    """There is no such blocker."""


class PhaseNotFound(NotFound):
    """There is no such phase."""


class CommentNotFound(NotFound):
    """The task has no such comment."""


class SnapshotNotFound(NotFound):
    """There is no such snapshot."""


class DocumentNotFound(NotFound):
    """The task has no such document, or no such version of it."""


class PullRequestNotFound(NotFound):
    """There is no such pull request."""


class TokenNotFound(NotFound):
    """There is no such token or session."""


class HostNotFound(NotFound):
    """There is no such machine."""


class ScheduleNotFound(NotFound):
    """There is no such schedule."""


class Conflict(AgentsManagerError):
    """The request does not fit the present state."""

    http_status = 409


class StaleTask(Conflict):
    """The task changed in the meantime; read it again."""


class StaleKnowledge(Conflict):
    """The node changed in the meantime; read it again."""


class TransitionRefused(Conflict):
    """The pipeline does not allow this move now."""


class UnmergedWork(TransitionRefused):
    """The task has commits that are not merged; closing it as done needs a confirmation."""

    def __init__(
        self, message: str | None = None, details: Sequence[str] = (), *, dependents: int = 0
    ) -> None:
        super().__init__(message, details)
        self.dependents = dependents
        """How many unfinished tasks depend on it."""


class TaskInUse(Conflict):
    """The task cannot be deleted now."""


class RetentionBusy(Conflict):
    """Another pass of retention is at work on this data directory."""


class WorkspaceInUse(Conflict):
    """An agent works in the task's workspace now."""


class RestoreRefused(Conflict):
    """The snapshot cannot be restored there."""


class ProjectInUse(Conflict):
    """The project cannot be removed now."""


class RetryRefused(Conflict):
    """This hook cannot be performed again now."""


class PromptAlreadyAnswered(Conflict):
    """Somebody else answered first."""


class PromptClosed(Conflict):
    """The prompt can no longer be answered."""


class UndoRefused(Conflict):
    """The answer can no longer be taken back."""


class ProjectExists(Conflict):
    """This repository is already registered."""


class IdempotencyMismatch(Conflict):
    """This Idempotency-Key was used for another request."""


class HostLocked(Conflict):
    """Another server already works on this data directory."""


class HostNameTaken(Conflict):
    """Another machine has this name."""


class HostReplaced(Conflict):
    """This machine was given up by others, or another start of it goes on in its place."""


class WorkElsewhere(Conflict):
    """What was done at the task so far is on another machine only."""


class NotAllowed(AgentsManagerError):
    """You may not do this."""

    http_status = 403


class Unauthenticated(AgentsManagerError):
    """A valid token is needed."""

    http_status = 401


class TooManyRequests(AgentsManagerError):
    """Requests come faster than the server takes them from one caller."""

    http_status = 429
    retryable = True


class TooManyAttempts(AgentsManagerError):
    """Too many wrong tokens were tried at once."""

    http_status = 429
    retryable = True


class BudgetUsedUp(AgentsManagerError):
    """A budget is used up, so that the model is not asked."""

    http_status = 402


class TooLarge(AgentsManagerError):
    """What was sent is larger than is taken here."""

    http_status = 413


class WrongHost(AgentsManagerError):
    """This server does not answer under that name."""

    http_status = 421


class StoreError(AgentsManagerError):
    """The database cannot be used."""

    http_status = 503


class StoreUnavailable(StoreError):
    """The database does not answer now; what waits for it goes on when it does."""

    retryable = True


class CorruptRow(StoreError):
    """A row of the database holds a value that cannot be read."""

    http_status = 500


class SchemaTooNew(StoreError):
    """The database was written by a newer version of Agents Manager."""


class SchemaInUse(StoreError):
    """Servers of an older version work on the database."""


class SchemaMovedOn(StoreError):
    """Another version of Agents Manager changed the database under this one."""


class DatabaseMoved(StoreError):
    """The data lives in another database now."""


class MigrationFailed(StoreError):
    """The database could not be brought up to date; the old file is unchanged."""


class ExternalError(AgentsManagerError):
    """Something outside Agents Manager failed."""

    http_status = 502
    retryable = True


class AgentProcessError(ExternalError):
    """The agent's process could not be started or followed."""


class GitError(ExternalError):
    """A git command failed."""


class GitKilled(GitError):
    """A git process was killed; trying again may help."""


class WorkspaceBusy(GitError):
    """Somebody else's git is at work in the workspace; it is never interrupted."""

    http_status = 409


class ImportRefused(GitError):
    """What an agent committed cannot be taken over into the project's repository."""

    retryable = False


class ForgeError(ExternalError):
    """The forge refused or did not answer."""


class ForgeUnavailable(ForgeError):
    """The forge is out of order or wants to be left alone for a while; it is asked again later."""

    def __init__(self, message: str | None = None, wait_s: float | None = None) -> None:
        super().__init__(message)
        self.wait_s = wait_s
        """For how long it wants to be left alone, where it says so."""


class ChannelError(ExternalError):
    """A channel could not tell people something."""


class ChannelDown(ChannelError):
    """A channel does not answer or wants to be left alone for a while; it is tried again later."""

    def __init__(
        self, message: str | None = None, wait_s: float | None = None, *, unsure: bool = False
    ) -> None:
        super().__init__(message)
        self.wait_s = wait_s
        """For how long it wants to be left alone, where it says so."""
        self.unsure = unsure
        """What was sent may have arrived nevertheless."""


class ChannelRefused(ChannelError):
    """A channel does not take what is sent, and would not take it later."""

    retryable = False


class PluginFailed(ExternalError):
    """A plugin failed at what it was asked to do."""


class HookFailed(AgentsManagerError):
    """A hook cannot be performed, and trying again would not help."""

    http_status = 409


class SecretFound(HookFailed):
    """What would leave seems to hold a secret."""

    def __init__(self, message: str, marks: Sequence[str]) -> None:
        super().__init__(message)
        self.marks = marks
        """Of what holds it, for whoever lets it through."""


def closest(name: str, known: Sequence[str]) -> str:
    """` Did you mean "x"?` for messages about unknown names, or nothing."""
    from difflib import get_close_matches

    found = get_close_matches(name, known, n=1)
    return f' Did you mean "{found[0]}"?' if found else ""
