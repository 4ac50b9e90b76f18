"""What configuration files may say: every key with its meaning, its limits and its default, and in
words what is wrong with what they say."""

import inspect
import re
from collections.abc import Collection, Mapping
from datetime import time as time_of_day
from functools import lru_cache, partial
from pathlib import Path
from typing import Annotated, Any, Literal, Self, Union, cast
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    create_model,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from agents_manager import addresses, json_text
from agents_manager.addresses import is_number
from agents_manager.agents.config import LostConfig
from agents_manager.domain.budget import Budgets, BudgetScope
from agents_manager.domain.build_products import BuildProducts
from agents_manager.domain.cost import MAX_USD, Price
from agents_manager.domain.host import NAME
from agents_manager.domain.issue import REPOSITORY
from agents_manager.domain.reminder import QuietHours
from agents_manager.domain.retry import RULES, Rule
from agents_manager.domain.run import ErrorClass
from agents_manager.domain.task import MergeMethod
from agents_manager.domain.value import known_keys
from agents_manager.errors import closest
from agents_manager.flow.ports import (
    ANY_MODE,
    GITHUB,
    Adapters,
    AgentConfig,
    ChannelConfig,
    ForgeRules,
    Keys,
    Label,
    McpServer,
    McpServers,
    Variable,
    WorkspaceKind,
)
from agents_manager.flow.runs.places import MAX_FIX_ROUNDS
from agents_manager.sandbox.bubblewrap import Bounds
from agents_manager.sandbox.keeper import Rules

NO_SECRETS = "no-secrets"
SETUP_INPUTS = (
    *("package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml"),
    *("bun.lock", "bun.lockb", "pyproject.toml", "requirements*.txt", "constraints*.txt"),
    *("setup.py", "setup.cfg", "poetry.lock", "uv.lock", "pdm.lock", "Pipfile", "Pipfile.lock"),
    *("environment.yml", "Gemfile", "Gemfile.lock", "go.mod", "go.sum", "Cargo.toml", "Cargo.lock"),
    *("composer.json", "composer.lock", "mix.exs", "mix.lock", "pom.xml", "build.gradle*"),
    *(".tool-versions", ".nvmrc", ".python-version"),
)


def _adapters(info: ValidationInfo) -> Adapters:
    """Those that the file is read with."""
    return info.context if isinstance(info.context, Adapters) else Adapters()


def _held(settings: Mapping[str, Any], model: type[BaseModel] | None) -> Any:
    """What a plugin is told, as its model has it."""
    if model is None:
        return settings
    try:
        return model.model_validate(settings)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        told = [f"settings.{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in found]
        # A file may leave to that of another layer what is missing.
        kind = "missing" if all(one["type"] == "missing" for one in found) else "settings"
        raise PydanticCustomError(kind, "{told}", {"told": "; ".join(told)}) from None


class CheckConfig(Keys):
    command: str | None = Field(default=None, min_length=1)
    """What `sh` runs in a clean checkout of the commit; exit code 0 means passed. `no-secrets` has
    none, nor has a check with a `kind`."""
    kind: str | None = Field(default=None, min_length=1)
    """The kind of a check that a plugin brings."""
    settings: Mapping[str, Any] = Field(default_factory=dict[str, Any])
    """What a check of that kind is told."""
    enabled: bool = True
    """Whether it is run at all."""
    severity: Literal["error", "warning"] = "error"
    """Whether a failure stops the outcome or is only told."""
    modes: tuple[str, ...] = ("implement",)
    """The modes after which it runs; `*` is every mode, and `implement` stands for the roles of
    `staged` that change the work, too."""
    timeout: int = Field(default=120_000, gt=0)
    """Milliseconds."""

    @model_validator(mode="after")
    def _of_a_kind(self, info: ValidationInfo) -> Self:
        if self.kind is None:
            if self.settings:
                # A file may leave the kind to that of another layer.
                raise PydanticCustomError("missing", "settings are for a check with a kind")
            return self
        if self.command is not None:
            raise ValueError("a check has a command or a kind, not both")
        known = _adapters(info)
        kinds = [name for name, kind in known.checks.items() if kind.plugin]
        if self.kind not in kinds and not known.lost:
            raise ValueError(f'there is no kind of check "{self.kind}".{closest(self.kind, kinds)}')
        self.told(known)
        return self

    def told(self, known: Adapters) -> Any:
        kind = known.checks.get(self.kind or "")
        return _held(self.settings, kind.settings if kind else None)


class ReviewConfig(Keys):
    agent: str | None = Field(default=None, min_length=1)
    """The agent that reviews work in the pipeline `feature` before people do; none where left
    out."""
    assume_approved: bool = False
    """Take a review by an agent that ends without an outcome for an approval."""


class StagedConfig(Keys):
    confirm_spec: bool = True
    """Whether a person confirms in the pipeline `staged` what is to be built before anybody builds
    it."""


class RoleConfig(Keys):
    agent: str | None = Field(default=None, min_length=1)
    """The agent of runs in this role that name none; the default one where left out."""
    model: str | None = Field(default=None, min_length=1)
    """The model that this agent is asked to use in this role; as in `agents` where left out."""


_HOST = re.compile(r"(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*", re.IGNORECASE)
_ADDRESS = re.compile(r"[^\s/@:]+:\d{1,5}|\[[0-9a-fA-F:]+\]:\d{1,5}")
PACKAGES = (
    *("pypi.org", "files.pythonhosted.org", "registry.npmjs.org", "registry.yarnpkg.com"),
    *("index.crates.io", "static.crates.io", "proxy.golang.org", "sum.golang.org"),
    *("repo.maven.apache.org", "repo1.maven.org", "plugins.gradle.org"),
    *("plugins-artifacts.gradle.org", "services.gradle.org", "downloads.gradle.org"),
)


def _host(value: str) -> str:
    if not _HOST.fullmatch(value) or is_number(value):
        raise ValueError(
            f'"{value}" is no name of a host; write it as example.com or *.example.com'
        )
    return value.lower()


def _address(value: str) -> str:
    if not _ADDRESS.fullmatch(value):
        raise ValueError(f'"{value}" is no address; write it as 10.0.0.5:8080')
    return value.lower()


_Size = Annotated[int, Field(gt=0)]


class SandboxConfig(Keys):
    level: Literal["auto", "S3", "S2", "S1", "none"] = "auto"
    """`auto` is the strongest that works here; where none does, agents work with your rights once
    you consented to it for the project. `S3`, `S2` and `S1` refuse to work with less. `none`
    switches it off."""
    hosts: tuple[Annotated[str, AfterValidator(_host)], ...] | None = None
    """Names that agents, checks and set-up commands may reach besides the models of their agents,
    by HTTPS and HTTP; `*.example.com` is every name below. Unless set: the public package
    registries, and for checks and set-up those that pip, uv, npm, Yarn, Cargo and Go are configured
    for on this machine, also in a private network."""
    addresses: tuple[Annotated[str, AfterValidator(_address)], ...] = ()
    """The same for this machine, private networks and other ports, as `host:port`."""
    read: tuple[str, ...] = ()
    """Folders and files in your home that they may read, such as `~/.nvm`. All else there is
    hidden."""
    write: tuple[str, ...] = ()
    """Folders outside of the workspace that they may write, such as a cache. What an agent writes
    there, others read."""
    lock_settings: bool = True
    """Whether files in the workspace by which commands are run, such as `.claude`, `.vscode` or
    `.envrc`, cannot be changed by agents. With `false` they can, and it is pointed out."""
    memory_mb: _Size | None = 8_192
    """How much memory a run may use, all its processes together; null for no limit."""
    disk_mb: _Size | None = 20_480
    """How much a run may write to its workspace and its home."""
    processes: _Size | None = 2_048
    """How many processes and threads a run may have."""
    file_mb: _Size | None = 4_096
    """How large a file may become."""
    open_files: _Size | None = 65_536
    """How many files a process may have open."""

    def rules(self, home: Path) -> Rules:
        return Rules(
            level=self.level,
            hosts=PACKAGES if self.hosts is None else self.hosts,
            registries=self.hosts is None,
            addresses=self.addresses,
            reads=[home / Path(path).expanduser() for path in self.read],
            writes=[home / Path(path).expanduser() for path in self.write],
            lock_settings=self.lock_settings,
            bounds=Bounds(
                memory_mb=self.memory_mb,
                disk_mb=self.disk_mb,
                processes=self.processes,
                file_mb=self.file_mb,
                open_files=self.open_files,
            ),
        )


class WorkspaceConfig(Keys):
    kind: WorkspaceKind = "auto"
    """What an agent works in: `worktree` shares the project's repository, `clone` only reads it and
    its work is taken over. `auto` is a clone for an agent in a sandbox, unless the repository is
    a partial clone or has files that pass a filter (Git LFS, git-crypt); else a worktree."""
    import_limit_mb: int = Field(default=512, ge=1, le=1_000_000)
    """How many megabytes are taken over from a clone at once, at most."""
    keep: bool = False
    """Keep the workspaces of finished tasks until `retention.worktreesDays` have passed. Otherwise
    a workspace is removed as soon as its task is finished."""


_PRODUCT = re.compile(r"[^/\0]+/?")


def _product(value: str) -> str:
    if not _PRODUCT.fullmatch(value):
        raise ValueError(
            f'"{value}" is not the name of a file or folder; write it as *.min.js or generated/'
        )
    return value


class BuildProductsConfig(Keys):
    enabled: bool = True
    """Leave build products such as `node_modules` and `*.pyc` out of the commit of uncommitted
    work, even when no `.gitignore` names them. The run lists what was left out."""
    patterns: tuple[Annotated[str, Field(max_length=200), AfterValidator(_product)], ...] = Field(
        default=(), max_length=200
    )
    """Additional names to leave out, in any folder: `*.min.js` is a file, `generated/` a folder."""

    def value(self) -> BuildProducts:
        return BuildProducts(enabled=self.enabled, patterns=self.patterns)


_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OF_THE_PRODUCT = re.compile(r"(AM|GIT|LD|DYLD)_.*|PATH|HOME|TMPDIR|USER|LOGNAME")


def _variable(name: str) -> str:
    if not _VARIABLE.fullmatch(name):
        raise ValueError(f'"{name}" is not the name of a variable; write it as DATABASE_URL')
    if _OF_THE_PRODUCT.fullmatch(name):
        raise ValueError(f'"{name}" is set by Agents Manager itself and cannot be passed on')
    return name


def _file_pattern(value: str) -> str:
    if ".." in value.split("/") or "\n" in value or value.startswith("~"):
        raise ValueError(f'"{value}" leads out of the project; write it as .env or config/*.local')
    return value


class VariableConfig(Keys):
    source: Literal["environment", "keyring"] = Field(default="environment", alias="from")
    """Where the value is: in the server's environment, or in the operating system's keyring under
    the service `agents-manager`."""
    name: str | None = Field(default=None, min_length=1, max_length=200)
    """Its name there; that of the variable where left out."""
    optional: bool = False
    """Whether runs start without it."""

    @model_validator(mode="after")
    def _not_of_the_product(self) -> Self:
        if self.source == "environment" and self.name is not None:
            _variable(self.name)
        return self

    def value(self, name: str) -> Variable:
        entry = self.name or name
        return Variable(name=name, source=self.source, entry=entry, optional=self.optional)


_TIME_OF_DAY = re.compile(r"([01]\d|2[0-3]):[0-5]\d", re.ASCII)


def _time_of_day(value: str) -> str:
    if not _TIME_OF_DAY.fullmatch(value):
        raise ValueError(f'"{value}" is no time of day; write it as HH:MM, such as 22:00')
    return value


class DigestConfig(Keys):
    at: Annotated[str, AfterValidator(_time_of_day)]
    """When it is sent, as HH:MM, in the time zone of `quietHours` or of this machine."""


class NotificationsConfig(Keys):
    """Channels besides the web app and the command line: `of` adds one key for each."""

    digest: DigestConfig | None = None
    """What needs you, what was done and what it cost, once a day. Only in the user's file."""
    web_url: str | None = None
    """Where people reach the web app, for links; where this server answers if left out. Only in the
    user's file."""

    @field_validator("web_url")
    @classmethod
    def _web(cls, value: str | None) -> str | None:
        parts = urlsplit(value or "https://example.com")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f'"{value}" is no address; write it as https://HOST')
        return value.rstrip("/") if value else None

    def channels(self) -> Mapping[str, ChannelConfig]:
        said = {name: getattr(self, name) for name in type(self).model_fields}
        return {name: one for name, one in said.items() if isinstance(one, ChannelConfig)}


class _SomeLost(NotificationsConfig):
    """Where a key may be a channel of a plugin that could not be used."""

    model_config = ConfigDict(extra="ignore")


class LimitsConfig(Keys):
    project: int | None = Field(default=None, gt=0)
    """How many agents may work at a time at one project; no limit of its own where left out."""
    agent: int | None = Field(default=None, gt=0)
    """How many runs one agent may have at a time; no limit of its own where left out."""
    host: int = Field(default=8, gt=0)
    """How many agents may work at a time on this machine; only in the user's file."""
    free_disk_mb: int = Field(default=500, ge=0)
    """With less room on the disk of the data directory no agent is started; those at work go on.
    Only in the user's file."""


_Dollars = Annotated[float, Field(le=MAX_USD, strict=True, allow_inf_nan=False)]


class BudgetsConfig(Keys):
    run_usd: _Dollars | None = None
    """What one run may cost, in dollars."""
    task_usd: _Dollars | None = None
    """What all runs of a task may cost together."""
    project_usd: _Dollars | None = None
    """What all runs of a project may cost together, ever."""
    day_usd: _Dollars | None = None
    """What all runs of all projects may cost together that were started on one day (UTC)."""

    @field_validator("*")
    @classmethod
    def _something(cls, value: float | None) -> float | None:
        if value is not None and value <= 0:
            raise ValueError(
                f"a budget is more than 0 dollars, not {value:g}; leave it out for no limit"
            )
        return value

    def value(self) -> Budgets:
        said = {scope: getattr(self, f"{scope}_usd") for scope in BudgetScope}
        return {scope: usd for scope, usd in said.items() if usd is not None}


class ForgeConfig(Keys):
    type: str = "local"
    """`local`: pull requests live in Agents Manager. `github`: on GitHub, which needs a token in
    `AM_GITHUB_TOKEN`. Plugins bring more."""
    settings: Mapping[str, Any] = Field(default_factory=dict[str, Any])
    """What a forge of a plugin is told. Only in the user's file."""
    repository: str | None = Field(default=None, max_length=200)
    """The repository there, as `owner/name`; that of the remote where left out."""
    base_url: str = GITHUB
    """The address of the API; that of GitHub Enterprise is `https://HOST/api/v3`. Only in the
    user's file, as the token is sent there."""
    merge_method: MergeMethod = MergeMethod.MERGE
    """How approved work comes into its base: `merge` makes a merge commit, `squash` one commit of
    all, `rebase` puts each commit on top."""
    mirror_reviews: bool = False
    """Whether reviews that are made here are shown on GitHub, too."""
    note_on_issues: bool = False
    """Whether the issue that a task was imported from gets a note when the task ends: what was
    merged, or that nothing was."""
    close_issues: bool = False
    """Whether that issue is closed, too, once the change is merged."""
    poll_seconds: int = Field(default=60, ge=10, le=86_400)
    """How often open pull requests are looked at for what was done to them there."""

    @field_validator("repository")
    @classmethod
    def _owner_and_name(cls, value: str | None) -> str | None:
        if value is not None and not REPOSITORY.fullmatch(value):
            raise ValueError(f'"{value}" is no repository; write it as owner/name')
        return value

    @field_validator("base_url")
    @classmethod
    def _address(cls, value: str) -> str:
        return addresses.platform(value, such_as="https://HOST/api/v3")

    @field_validator("type")
    @classmethod
    def _known(cls, value: str, info: ValidationInfo) -> str:
        known = _adapters(info)
        if known.forges and value not in known.forges and not known.lost:
            *first, last = (f"'{name}'" for name in known.forges)
            raise ValueError(f"Input should be {', '.join(first)} or {last}")
        return value

    @model_validator(mode="after")
    def _told(self, info: ValidationInfo) -> Self:
        self.told(_adapters(info))
        return self

    def told(self, known: Adapters) -> Any:
        kind = known.forges.get(self.type)
        return _held(self.settings, kind.settings if kind else None)

    def value(self, known: Adapters) -> ForgeRules:
        return ForgeRules(
            type=self.type,
            repository=self.repository,
            base_url=self.base_url,
            mirror_reviews=self.mirror_reviews,
            note_on_issues=self.note_on_issues,
            close_issues=self.close_issues,
            poll_s=float(self.poll_seconds),
            settings=self.told(known),
        )


class RemindersConfig(Keys):
    enabled: bool = True
    """Whether people are reminded of questions that stay open."""
    every_hours: float = Field(default=24, ge=0.01, le=8760)
    """How long a question may be open before they are, and before they are again."""


_Days = Annotated[int, Field(ge=1, le=36_500)]


class RetentionConfig(Keys):
    transcripts_days: _Days | None = 180
    """How many days after the end of its task a transcript is kept."""
    transcripts_mb: Annotated[int, Field(ge=1)] | None = None
    """How many megabytes the transcripts of finished tasks may take together; the oldest go
    first."""
    worktrees_days: _Days | None = 14
    """How many days after the end of its task a workspace is kept; what no commit holds is saved as
    a snapshot first."""
    snapshots_days: _Days | None = None
    """How many days after the merge of its task a snapshot is kept. One of a task that was not
    merged, or that was taken after the merge, is kept whatever its age."""
    engine_days: _Days | None = 30
    """How many days the engine's records of what was done are kept, the answers given under an
    Idempotency-Key, and what channels told."""
    backups_days: _Days | None = None
    """How many days databases that were put aside are kept; the newest always is."""
    setup_days: _Days | None = 14
    """How many days the files that set-up commands installed stay in the cache after their last
    use."""
    setup_mb: Annotated[int, Field(ge=1)] | None = 10_000
    """How many megabytes the cache of installed files may take; the least recently used go
    first."""


class RetryConfig(Keys):
    tries: int = Field(ge=0, le=20)
    """How often it is tried again; 0 for never."""
    delay: int = Field(ge=0, le=86_400_000)
    """The wait before the first retry, in milliseconds. One that the provider names comes before
    it."""
    factor: float = Field(ge=1, le=10)
    """What each wait is to the one before."""
    max_delay: int = Field(default=86_400_000, ge=0, le=86_400_000)
    """The longest wait, in milliseconds."""
    jitter: float = Field(default=0.0, ge=0, le=1)
    """The part of each wait, from 0 to 1, by which runs are spread, so that they do not all return
    at the same moment."""

    def rule(self) -> Rule:
        return Rule(
            tries=self.tries,
            delay_s=self.delay / 1000,
            factor=self.factor,
            longest_s=self.max_delay / 1000,
            jitter=self.jitter,
        )


def _retry(error_class: str) -> Any:
    rule = RULES[ErrorClass(error_class)]
    default = RetryConfig(
        tries=rule.tries,
        delay=int(rule.delay_s * 1000),
        factor=rule.factor,
        max_delay=int(rule.longest_s * 1000),
        jitter=rule.jitter,
    )
    return Field(default=default, alias=error_class)


class RetriesConfig(Keys):
    crash: RetryConfig = _retry("crash")
    """The agent's program failed."""
    timeout: RetryConfig = _retry("timeout")
    """It took too long."""
    stalled: RetryConfig = _retry("stalled")
    """It said nothing for too long."""
    interrupted: RetryConfig = _retry("interrupted")
    """The model's response was cut off, or the agent was ended from outside."""
    rate_limit: RetryConfig = _retry("rate_limit")
    """The provider answers no more for a moment."""
    overloaded: RetryConfig = _retry("overloaded")
    """The provider is temporarily unable to answer anyone."""
    quota: RetryConfig = _retry("quota")
    """What the account may use is used up."""
    context_too_long: RetryConfig = _retry("context_too_long")
    """A continued session no longer fits into the model's context. The retry starts a new session
    with a summary; a first prompt that is too long is not retried."""
    max_tokens: RetryConfig = _retry("max_tokens")
    """The model reached its limit of output tokens."""
    refusal: RetryConfig = _retry("refusal")
    """The model declined to work on the task."""
    auth: RetryConfig = _retry("auth")
    """The provider does not know the account."""
    bad_output: RetryConfig = _retry("bad_output")
    """Its outcome could not be taken."""
    checks_failed: RetryConfig = _retry("checks_failed")
    """Its work did not pass the checks."""
    environment: RetryConfig = _retry("environment")
    """It could not be started."""

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, value: Any) -> Any:
        """What a file leaves out of a rule is as in the rule of that class."""
        if not isinstance(value, dict):
            return value
        rules = cast("dict[str, Any]", value)
        fields = {key: cls.model_fields[key] for key in rules if key in cls.model_fields}
        whole = {
            key: {**field.get_default().model_dump(by_alias=True), **rules[key]}
            for key, field in fields.items()
            if isinstance(rules[key], dict)
        }
        return {**rules, **whole}


class QuietHoursConfig(Keys):
    start: Annotated[str, AfterValidator(_time_of_day)] = Field(alias="from")
    """When they begin, as HH:MM."""
    end: Annotated[str, AfterValidator(_time_of_day)] = Field(alias="to")
    """When they end; earlier than `from` means the next day."""
    zone: str | None = None
    """The time zone, such as Europe/Berlin; that of this machine where left out."""

    @field_validator("zone")
    @classmethod
    def _known_zone(cls, value: str | None) -> str | None:
        try:
            return None if value is None else ZoneInfo(value).key
        except (ZoneInfoNotFoundError, ValueError, OSError):
            hint = closest(str(value), sorted(available_timezones()))
            raise ValueError(f'there is no time zone "{value}".{hint}') from None

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if self.start == self.end:
            raise ValueError("they begin and end at the same time; leave quietHours out for none")
        return self

    def value(self) -> QuietHours:
        return QuietHours(
            start=time_of_day.fromisoformat(self.start),
            end=time_of_day.fromisoformat(self.end),
            zone=ZoneInfo(self.zone) if self.zone else None,
        )


class HostConfig(Keys):
    name: str | None = Field(default=None, pattern=f"^{NAME}$")
    """How this machine is called; as in its network where left out. No two may have one name."""
    labels: tuple[Label, ...] = ()
    """What it has that work may need, such as `gpu` or `os=linux`."""


class MetricsConfig(Keys):
    open: bool = False
    """Whether `/metrics` is answered without a token, for all who reach the server."""


class TracesConfig(Keys):
    endpoint: str | None = Field(default=None, pattern=r"^https?://")
    """Where traces of runs are sent by OTLP over HTTP, such as http://localhost:4318/v1/traces.
    Where it is left out, OTEL_EXPORTER_OTLP_ENDPOINT says; without either nothing is sent."""
    content: bool = False
    """Whether what agents give to their tools is sent, too, without the secrets that are known."""


class Config(Keys):
    """What holds for every set of adapters; `of` says what theirs can be told."""

    model_config = ConfigDict(defer_build=True)

    default_agent_type: str = "claude-code"
    """The agent of runs that name none."""
    default_pipeline: str = "feature"
    """The pipeline of tasks that name none."""
    pipeline_by_type: Mapping[str, str] = Field(default_factory=dict[str, str])
    """The pipeline of tasks of a type that name none; its types are known beside the built-in
    ones."""
    base_branch: str | None = Field(default=None, min_length=1)
    """Where work is merged to; the branch that the project was registered with where left out."""
    branch_prefix: str = "agent/"
    """What the branches of tasks begin with."""
    branch_strategy: Literal["new-per-task"] = "new-per-task"
    """Each task has a branch of its own."""
    worktree_root: str | None = Field(default=None, min_length=1)
    """The folder of the workspaces, absolute or relative to the project; `worktrees` in the data
    directory where left out. One inside the project is added to its `.gitignore`."""
    workspace: WorkspaceConfig = WorkspaceConfig()
    """What agents work in. In the data directory's file only."""
    rebase_on_start: bool = False
    """Rebase a task's branch onto its base before each run."""
    preserve_uncommitted: bool = True
    """Tell a run of the uncommitted work that an earlier one left. It is saved as a snapshot in any
    case."""
    install_deps: bool = True
    """Whether the set-up commands are run."""
    setup: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """What `sh` runs in a new workspace, one after the other."""
    setup_inputs: tuple[Annotated[str, Field(min_length=1)], ...] = SETUP_INPUTS
    """Patterns of committed files, in any folder; when one of them changed, set-up runs again."""
    setup_timeout: int = Field(default=600_000, gt=0)
    """How long one set-up command may take, in milliseconds."""
    env: Mapping[Annotated[str, AfterValidator(_variable)], VariableConfig] = Field(
        default_factory=dict[str, VariableConfig]
    )
    """Variables that set-up, checks and agents get from this server, by name, once the project is
    trusted. Their values are in no file and are redacted in everything that is kept."""
    teardown: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """What `sh` runs in a workspace before it is removed, one after the other, such as stopping the
    services that set-up started. A failure is recorded, and the workspace is removed all the
    same."""
    teardown_timeout: int = Field(default=60_000, gt=0, le=3_600_000)
    """How long one of these commands may take, in milliseconds."""
    copy_files: tuple[
        Annotated[str, Field(min_length=1, max_length=500), AfterValidator(_file_pattern)], ...
    ] = Field(default=(), max_length=200)
    """Ignored files of the main checkout that new workspaces and check copies get once the project
    is trusted, such as `.env`: patterns in the syntax of `.gitignore`, besides those in the file
    `.worktreeinclude` at the root of the project."""
    auto_commit: bool = True
    """Commit what an agent left uncommitted."""
    build_products: BuildProductsConfig = BuildProductsConfig()
    """What that commit leaves out."""
    auto_push: bool = True
    """Push a task's branch when its pull request is opened or brought up to date, where the project
    has a remote; never by force."""
    mcp_servers: McpServers = Field(default_factory=dict[str, McpServer])
    """MCP servers for every agent that takes them, by name, in the form of `.mcp.json`. Those of a
    project's own file are used only while the project is trusted."""
    agents: Mapping[str, AgentConfig] = Field(default_factory=dict[str, AgentConfig])
    """Settings of each agent, by its name. `adapter` says what drives it; an agent that has the
    name of an adapter need not say it."""
    checks: Mapping[str, CheckConfig] = Field(
        default_factory=dict[str, CheckConfig], validate_default=True
    )
    """The project's checks, by name. `no-secrets` is on unless it is disabled here."""
    fail_on_error: bool = True
    """Whether a failed check of severity error stops the outcome; else it is only told."""
    fail_on_warning: bool = False
    """Whether a failed check of severity warning stops the outcome too."""
    max_fix_rounds: int = Field(default=3, ge=0, le=MAX_FIX_ROUNDS)
    """How often the agent is asked, in the same session, to mend what failed checks found before
    the run fails."""
    ask_human_timeout: int = Field(default=240_000, ge=0, le=3_600_000)
    """How long a question by the tool `ask_human` keeps its agent waiting, in milliseconds; then
    the run pauses, and goes on once somebody has answered."""
    review: ReviewConfig = ReviewConfig()
    """Reviews by an agent."""
    staged: StagedConfig = StagedConfig()
    """The pipeline `staged`."""
    roles: Mapping[str, RoleConfig] = Field(default_factory=dict[str, RoleConfig])
    """Who works in a role, by its name: a mode such as `plan`, `implement` or `review`, a role of
    `staged` such as `plan-agent`, or one that a pipeline of yours names."""
    instructions: str | None = Field(default=None, max_length=100_000)
    """What every prompt says, before the `.agents-manager/instructions.md` of the project."""
    forge: ForgeConfig = ForgeConfig()
    """Where pull requests live."""
    limits: LimitsConfig = LimitsConfig()
    """How much may go on at a time."""
    runs_on: tuple[Label, ...] = ()
    """The labels that a machine must have to work at this, where several share a Postgres
    database; those of the agent come on top."""
    budgets: BudgetsConfig = BudgetsConfig()
    """What runs may cost before they are stopped and somebody is asked for more; no limit where
    left out."""
    reminders: RemindersConfig = RemindersConfig()
    """When people are reminded of open questions, by every channel."""
    quiet_hours: QuietHoursConfig | None = None
    """When they are not; what falls due then is sent at their end."""
    notifications: NotificationsConfig = NotificationsConfig()
    """Where questions are sent to, besides the web app and the command line."""
    sandbox: SandboxConfig = SandboxConfig()
    """How agents, and what they wrote, are kept apart from the rest of the machine. In the data
    directory's file only."""
    retention: RetentionConfig = RetentionConfig()
    """How long things are kept; null keeps for ever. In the data directory's file only."""
    host: HostConfig = HostConfig()
    """This machine, where several share a Postgres database. In the data directory's file only."""
    metrics: MetricsConfig = MetricsConfig()
    """The figures at `/metrics`. In the data directory's file only."""
    traces: TracesConfig = TracesConfig()
    """Where runs are told of as traces. In the data directory's file only."""
    retries: RetriesConfig = RetriesConfig()
    """Which failed runs are tried again, by the class of their error."""
    prices: Mapping[str, Price] = Field(default_factory=dict[str, Price])
    """What models cost, by name, in dollars per million tokens; for agents that report no cost. It
    comes before the table of the product."""

    @field_validator("checks", mode="before")
    @classmethod
    def _no_secrets(cls, value: object) -> object:
        """What of it no file says is as it is by default, where there are checks of one's own
        too."""
        if not isinstance(value, dict):
            return value
        checks = cast("dict[str, Any]", value)
        return merged({NO_SECRETS: {"modes": [ANY_MODE]}}, checks)

    @field_validator("checks")
    @classmethod
    def _commands(cls, value: Mapping[str, CheckConfig]) -> Mapping[str, CheckConfig]:
        if value[NO_SECRETS].command or value[NO_SECRETS].kind:
            raise ValueError(f"{NO_SECRETS} takes no command; give yours a check of another name")
        for name, check in value.items():
            if check.enabled and not (check.command or check.kind) and name != NO_SECRETS:
                # A file may leave the command to that of another layer.
                needs = 'the check "{name}" needs a command'
                raise PydanticCustomError("missing", needs, {"name": name})
        return value


@lru_cache(maxsize=4)
def of(known: Adapters) -> type[Config]:
    """The model of files, where these adapters are known."""
    configs = [kind.config for kind in known.agents.values()]
    lost = [LostConfig] if known.lost else []
    one: Any = Annotated[Union[*configs, *lost], Field(discriminator="adapter")]
    agents: Any = Annotated[Mapping[str, one], BeforeValidator(partial(_named, known))]
    channels: dict[str, Any] = {
        name: (kind.config, Field(default=kind.config(), description=inspect.getdoc(kind.config)))
        for name, kind in known.channels.items()
    }
    base = _SomeLost if known.lost else NotificationsConfig
    told = create_model("Notifications", __base__=base, **channels)
    return create_model(
        "Settings",
        __base__=Config,
        agents=(agents, Field(default_factory=dict[str, Any])),
        notifications=(told, Field(default=told())),
    )


def _named(known: Adapters, value: object) -> object:
    """Says the adapter and the profile where the name of an agent does."""
    if not isinstance(value, dict):
        return value
    agents = cast("dict[str, Any]", value)
    return {
        name: _completed(known, name, cast("dict[str, Any]", entry))
        if isinstance(entry, dict)
        else entry
        for name, entry in agents.items()
    }


def _completed(known: Adapters, name: str, entry: dict[str, Any]) -> dict[str, Any]:
    said, adapter = known.said_by_name.get(name, {}), entry.get("adapter")
    wanted = adapter or said.get("adapter") or name
    if known.lost and wanted not in known.agents:
        return {**entry, "adapter": "lost", "named": str(wanted)}
    return {**said, **entry} if adapter in (None, said.get("adapter")) else entry


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Objects key by key, all else as above."""
    both = dict(below)
    for key, value in above.items():
        old = both.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            both[key] = merged(cast("dict[str, Any]", old), cast("dict[str, Any]", value))
        else:
            both[key] = value
    return both


def faults(
    error: ValidationError, known: Adapters, text: str = "", *, but: Collection[str] = ()
) -> list[str]:
    """Each with its place, and with its line where the text is given."""
    found: list[str] = []
    for fault in error.errors(include_url=False, include_input=False):
        if fault["type"] in but:
            continue
        # The adapter of an agent is a part of the place that does not stand in the file.
        place = fault["loc"][:2] + fault["loc"][3:] if fault["loc"][0] == "agents" else fault["loc"]
        line = f"line {json_text.line_of(place, text)}, " if text else ""
        found.append(f"{line}{'.'.join(str(part) for part in place)}: {_says(fault, known)}")
    return found


def _says(fault: ErrorDetails, known: Adapters) -> str:
    key = str(fault["loc"][-1])
    match fault["type"]:
        case "extra_forbidden":
            return f'there is no key "{key}".{closest(key, _known_keys(fault["loc"], known))}'
        case "union_tag_invalid":
            adapter = str(fault.get("ctx", {}).get("tag"))
            return f'there is no adapter "{adapter}".{closest(adapter, list(known.agents))}'
        case "union_tag_not_found":
            return f'its "adapter" is missing: one of {", ".join(known.agents)}.'
        case _:
            return fault["msg"].removeprefix("Value error, ")


def _known_keys(place: tuple[int | str, ...], known: Adapters) -> list[str]:
    if place[0] == "notifications":
        return known_keys(of(known), place)
    model: type[BaseModel] = Config
    if len(place) > 1:
        models: dict[str, type[BaseModel]] = {
            "checks": CheckConfig,
            "limits": LimitsConfig,
            "host": HostConfig,
            "budgets": BudgetsConfig,
            "review": ReviewConfig,
            "roles": RoleConfig,
            "staged": StagedConfig,
            "sandbox": SandboxConfig,
            "forge": ForgeConfig,
            "reminders": RemindersConfig,
            "retention": RetentionConfig,
            "workspace": WorkspaceConfig,
            "buildProducts": BuildProductsConfig,
            "env": VariableConfig,
            "quietHours": QuietHoursConfig,
            "retries": RetryConfig if place[2:] else RetriesConfig,
            "prices": Price,
            "mcpServers": McpServer,
        }
        of_agent = place[0] == "agents"
        model = known.agents[str(place[2])].config if of_agent else models[str(place[0])]
        model = McpServer if of_agent and "mcpServers" in place[3:-1] else model
    return [field.alias or name for name, field in model.model_fields.items()]
