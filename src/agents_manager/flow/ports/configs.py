"""What people set."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import time
from difflib import unified_diff
from pathlib import Path
from typing import Any, Literal, Protocol

from agents_manager.domain.budget import Budgets
from agents_manager.domain.cost import Prices
from agents_manager.domain.outcome import Outcome
from agents_manager.domain.reminder import QuietHours, Reminders
from agents_manager.domain.retention import Retention
from agents_manager.domain.retry import Rules
from agents_manager.domain.run import Run
from agents_manager.domain.run_settings import RunSetting
from agents_manager.domain.task import (
    MergeMethod,
    Project,
)
from agents_manager.flow.ports.channels import ChannelRules
from agents_manager.flow.ports.checks import CheckSpec, SetupSpec
from agents_manager.flow.ports.variables import Variable
from agents_manager.flow.ports.workspaces import WorkspaceRules


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """How many runs may go on at a time; None: as many as the machine takes."""

    project: int | None = None
    agent: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """Who works in a role of a pipeline, where that is not left to the defaults."""

    agent: str | None = None
    model: str | None = None


GITHUB = "https://api.github.com"
EVERY_AGENT = "*"
"""In place of the name of an agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgeRules:
    """Where the pull requests of a project live, as configured."""

    type: str = "local"
    """`local`, `github`, or the name that a plugin gave its own."""
    repository: str | None = None
    """`owner/name`; None: that of the remote."""
    base_url: str = GITHUB
    mirror_reviews: bool = False
    """Whether reviews made here are shown there, too."""
    note_on_issues: bool = False
    """Whether the end of a task is noted on the issue that it comes from."""
    close_issues: bool = False
    """Whether that issue is closed, too, once the change is merged."""
    poll_s: float = 60.0
    """How often what was done there is looked for."""
    settings: Any = None
    """What a forge of a plugin is told, as its own model or, without one, as it is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectConfig:
    """The settings of a project that the flow acts on, already merged and checked."""

    default_agent: str
    default_pipeline: str
    pipeline_by_type: Mapping[str, str]
    branch_prefix: str
    auto_commit: bool
    auto_push: bool
    checks: tuple[CheckSpec, ...]
    fail_on_error: bool
    fail_on_warning: bool
    max_fix_rounds: int
    """How often an agent is asked to mend what failed checks found."""
    ask_human_s: float
    """How long an agent waits for an answer before its run pauses."""
    review_agent: str | None
    """The agent that reviews work before people do."""
    roles: Mapping[str, Role]
    confirm_spec: bool
    """Whether a person confirms what a staged task is to build."""
    assume_approved: bool
    """Whether a review by an agent that ends without an outcome is an approval."""
    commands: Mapping[str, str]
    """All commands that would be run, by their places in the configuration."""
    commands_fingerprint: str
    own_agents: Mapping[str, Mapping[str, Any]]
    """What the project's own file says about the programs of agents, by agent; `*` is every agent.
    They run only while it is trusted."""
    instructions: str
    reminders: Reminders
    base_branch: str | None
    """Where work is merged to, if not to the branch that the project was registered with."""
    workspace: WorkspaceRules
    setup: SetupSpec
    teardown: SetupSpec
    """What is run in a workspace before it is removed."""
    copy_files: tuple[str, ...]
    """Patterns of ignored files that workspaces and check copies get, while they are trusted."""
    variables: tuple[Variable, ...]
    """What the runs get from this server's environment or keyring, while they are trusted."""
    prices: Prices
    """Of models that are not in the product's own table, or cost something else here."""
    retries: Rules
    """Which failed runs are tried again, by the class of their error."""
    limits: RunLimits
    runs_on: tuple[str, ...]
    """The labels that a machine must have for its work, where several share a database."""
    budgets: Budgets
    """What runs may cost."""
    merge_method: MergeMethod
    forge: ForgeRules


Layer = Literal["adapter default", "default", "user", "project"]
"""Of files. What hooks and people set for one run, `hook` and `run`, is on record with it."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A value in effect, and where it comes from."""

    key: str
    value: Any
    layer: Layer
    file: Path | None
    line: int | None


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong with the files of a project."""

    message: str
    details: tuple[str, ...]
    kept: bool
    """Whether what they said before holds on; else nothing is started."""

    @property
    def text(self) -> str:
        return " ".join([self.message, *self.details])


@dataclass(frozen=True, slots=True)
class Edit:
    """A configuration file before and after a change."""

    path: Path
    before: str | None
    """None where there is no file yet."""
    after: str

    @property
    def diff(self) -> str:
        before, after = (self.before or "").splitlines(), self.after.splitlines()
        lines = unified_diff(before, after, str(self.path), str(self.path), lineterm="")
        return "\n".join(lines)

    @property
    def fingerprint(self) -> str:
        """Of what is there before."""
        return hashlib.sha256((self.before or "").encode()).hexdigest()


class Configs(Protocol):
    def retention(self) -> Retention:
        """How long things are kept on this machine."""
        ...

    def channels(self, project: Project | None) -> Mapping[str, ChannelRules]:
        """Every channel there is, as it is set for a project or for the machine."""
        ...

    def quiet(self) -> QuietHours | None:
        """Those of the machine."""
        ...

    def digest_at(self) -> time | None:
        """When people are told of the day; None: they are not."""
        ...

    def web_url(self) -> str | None:
        """Where people reach the web app, if that is set."""
        ...

    def open_metrics(self) -> bool:
        """Whether figures of the program are given to everybody who reaches it."""
        ...

    def of(self, project: Project, run: Run | None = None) -> ProjectConfig:
        """As it holds for a run: what is set for it and for its agent wins. Without a run, as it
        holds for the default agent."""
        ...

    def of_run(self, project: Project, run: Run) -> Sequence[RunSetting]:
        """What can be set for a run, as it stands for this one."""
        ...

    def host_limit(self) -> int:
        """How many agents may work at a time on this machine."""
        ...

    def trouble(self, project: Project | None) -> Trouble | None:
        """What is wrong with the files as they stand now."""
        ...

    def explain(self, project: Project | None) -> Sequence[Setting]:
        """Every setting; InvalidConfig when a file is broken and never was sound."""
        ...

    def edited(self, project: Project | None, key: str, raw: str | None) -> Edit:
        """A change to the user's file, or to a project's; InvalidConfig when it would break it."""
        ...

    def changed(
        self, project: Project | None, values: Mapping[str, Any], unset: Sequence[str]
    ) -> Edit:
        """Several changes at once, with values as they are meant."""
        ...

    def write(self, edit: Edit) -> None:
        """Puts it in force, whole; Conflict when the file is not as it was."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineFile:
    """A pipeline that a project brings along, as far as it can be read."""

    name: str
    path: Path
    document: Mapping[str, Any] | None
    errors: tuple[str, ...]
    lines: Callable[[], Mapping[str, int]]
    """The line of each place in it."""


class ProjectFiles(Protocol):
    """What lies in a project's `.agents-manager`, read anew when it changed."""

    def pipelines(self, project: Project) -> list[PipelineFile]: ...
    def outcomes(self, project: Project) -> tuple[Mapping[str, Outcome], tuple[str, ...]]:
        """The project's own outcomes, and what is wrong with their files. A broken file keeps what
        it said before."""
        ...
