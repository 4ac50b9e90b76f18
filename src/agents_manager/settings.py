"""The only reader of configuration files.

Layers, later wins: defaults < `<AM_HOME>/config.json` < `<project>/.agents-manager/config.json`.
Unknown keys are errors that name the closest key.
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import time
from pathlib import Path
from stat import S_ISREG
from typing import Annotated, Any, Literal, Self, cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails, PydanticCustomError

from agents_manager.agents.config import CONFIGS, TRUSTED_KEYS, AgentConfig, AgentConfigs
from agents_manager.domain import strict_json
from agents_manager.domain.cost import Price
from agents_manager.domain.reminder import QuietHours, Reminders
from agents_manager.domain.retention import Retention
from agents_manager.domain.retry import RULES, Rule
from agents_manager.domain.run import ErrorClass
from agents_manager.domain.task import Project
from agents_manager.domain.value import Value
from agents_manager.environment import Settings, from_environment, user_name
from agents_manager.errors import InvalidConfig, closest
from agents_manager.flow.ports import (
    ANY_MODE,
    CheckSpec,
    Layer,
    ProjectConfig,
    Setting,
    SetupSpec,
    WorkspaceRules,
)
from agents_manager.flow.runs.places import MAX_FIX_ROUNDS

__all__ = ["Settings", "from_environment", "user_name"]

PROJECT_FOLDER = ".agents-manager"
MAX_FILE_BYTES = 1024 * 1024
DEFAULT_PORT = 4100
NO_SECRETS = "no-secrets"
SETUP_INPUTS = (
    *("package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml"),
    *("bun.lock", "bun.lockb", "pyproject.toml", "requirements*.txt", "constraints*.txt"),
    *("setup.py", "setup.cfg", "poetry.lock", "uv.lock", "pdm.lock", "Pipfile", "Pipfile.lock"),
    *("environment.yml", "Gemfile", "Gemfile.lock", "go.mod", "go.sum", "Cargo.toml", "Cargo.lock"),
    *("composer.json", "composer.lock", "mix.exs", "mix.lock", "pom.xml", "build.gradle*"),
    *(".tool-versions", ".nvmrc", ".python-version"),
)
DEFAULT: Layer = "default"
"""The layer of what no file says."""


class _Keys(Value):
    """Files speak camelCase, as their readers expect of JSON."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True
    )


class CheckConfig(_Keys):
    command: str | None = Field(default=None, min_length=1)
    """What `sh` runs in a clean checkout of the commit; exit code 0 means passed. `no-secrets` has
    none."""
    enabled: bool = True
    """Whether it is run at all."""
    severity: Literal["error", "warning"] = "error"
    """Whether a failure stops the outcome or is only told."""
    modes: tuple[str, ...] = ("implement",)
    """The modes after which it runs; `*` is every mode."""
    timeout: int = Field(default=120_000, gt=0)
    """Milliseconds."""


class ReviewConfig(_Keys):
    agent: str | None = Field(default=None, min_length=1)
    """The agent that reviews work in the pipeline `feature` before people do; none where left
    out."""
    assume_approved: bool = False
    """Take a review by an agent that ends without an outcome for an approval."""


class LimitsConfig(_Keys):
    host: int = Field(default=8, gt=0)
    """How many agents may work at a time on this machine."""
    free_disk_mb: int = Field(default=500, ge=0)
    """With less room on the disk of the data directory no agent is started; those at work go on."""


class RemindersConfig(_Keys):
    enabled: bool = True
    """Whether people are reminded of questions that stay open."""
    every_hours: float = Field(default=24, ge=0.01, le=8760)
    """How long a question may be open before they are, and before they are again."""


_Days = Annotated[int, Field(ge=1, le=36_500)]


class RetentionConfig(_Keys):
    transcripts_days: _Days | None = 180
    """How many days after the end of its task a transcript is kept."""
    transcripts_mb: Annotated[int, Field(ge=1)] | None = None
    """How many megabytes the transcripts of finished tasks may take together; the oldest go
    first."""
    worktrees_days: _Days | None = 14
    """How many days after the end of its task a worktree is kept; what no commit holds is saved as
    a snapshot first."""
    snapshots_days: _Days | None = None
    """How many days after the merge of its task a snapshot is kept. One of a task that was not
    merged, or that was taken after the merge, is kept whatever its age."""
    engine_days: _Days | None = 30
    """How many days the engine's records of what was done are kept, and the answers given under an
    Idempotency-Key."""
    backups_days: _Days | None = None
    """How many days databases that were put aside are kept; the newest always is."""


class RetryConfig(_Keys):
    tries: int = Field(ge=0, le=20)
    """How often it is tried again; 0 for never."""
    delay: int = Field(ge=0, le=86_400_000)
    """The wait before the first retry, in milliseconds. One that the provider names comes before
    it."""
    factor: float = Field(ge=1, le=10)
    """What each wait is to the one before; none is longer than a day."""

    def rule(self) -> Rule:
        return Rule(tries=self.tries, delay_s=self.delay / 1000, factor=self.factor)


def _retry(error_class: str) -> Any:
    rule = RULES[ErrorClass(error_class)]
    default = RetryConfig(tries=rule.tries, delay=int(rule.delay_s * 1000), factor=rule.factor)
    return Field(default=default, alias=error_class)


class RetriesConfig(_Keys):
    crash: RetryConfig = _retry("crash")
    """The agent's program failed."""
    timeout: RetryConfig = _retry("timeout")
    """It took too long."""
    stalled: RetryConfig = _retry("stalled")
    """It said nothing for too long."""
    interrupted: RetryConfig = _retry("interrupted")
    """Its process or its machine was ended from outside."""
    rate_limit: RetryConfig = _retry("rate_limit")
    """The provider answers no more for a moment."""
    quota: RetryConfig = _retry("quota")
    """What the account may use is used up."""
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
            key: {**field.get_default().model_dump(), **rules[key]}
            for key, field in fields.items()
            if isinstance(rules[key], dict)
        }
        return {**rules, **whole}


_TIME_OF_DAY = re.compile(r"([01]\d|2[0-3]):[0-5]\d", re.ASCII)


class QuietHoursConfig(_Keys):
    start: str = Field(alias="from")
    """When they begin, as HH:MM."""
    end: str = Field(alias="to")
    """When they end; earlier than `from` means the next day."""
    zone: str | None = None
    """The time zone, such as Europe/Berlin; that of this machine where left out."""

    @field_validator("start", "end")
    @classmethod
    def _time_of_day(cls, value: str) -> str:
        if not _TIME_OF_DAY.fullmatch(value):
            raise ValueError(f'"{value}" is no time of day; write it as HH:MM, such as 22:00')
        return value

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
            start=time.fromisoformat(self.start),
            end=time.fromisoformat(self.end),
            zone=ZoneInfo(self.zone) if self.zone else None,
        )


class Config(_Keys):
    default_agent_type: str = "scripted"
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
    """The folder of the worktrees, absolute or relative to the project; `worktrees` in the data
    directory where left out. One inside the project is added to its `.gitignore`."""
    rebase_on_start: bool = False
    """Rebase a task's branch onto its base before each run."""
    preserve_uncommitted: bool = True
    """Tell a run of the uncommitted work that an earlier one left. It is saved as a snapshot in any
    case."""
    install_deps: bool = True
    """Whether the set-up commands are run."""
    setup: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """What `sh` runs in a new worktree, one after the other."""
    setup_inputs: tuple[Annotated[str, Field(min_length=1)], ...] = SETUP_INPUTS
    """Patterns of committed files, in any folder; when one of them changed, set-up runs again."""
    setup_timeout: int = Field(default=600_000, gt=0)
    """How long one set-up command may take, in milliseconds."""
    auto_commit: bool = True
    """Commit what an agent left uncommitted."""
    auto_push: bool = True
    """Push a task's branch when its pull request is opened or brought up to date, where the project
    has a remote; never by force."""
    agents: AgentConfigs = Field(default_factory=dict[str, Any])
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
    review: ReviewConfig = ReviewConfig()
    """Reviews by an agent."""
    limits: LimitsConfig = LimitsConfig()
    """How much may go on at a time."""
    reminders: RemindersConfig = RemindersConfig()
    """When people are reminded of open questions, by every channel."""
    quiet_hours: QuietHoursConfig | None = None
    """When they are not; what falls due then is sent at their end."""
    retention: RetentionConfig = RetentionConfig()
    """How long things are kept; null keeps for ever. In the data directory's file only."""
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
        return _merge({NO_SECRETS: {"modes": [ANY_MODE]}}, checks)

    @field_validator("checks")
    @classmethod
    def _commands(cls, value: Mapping[str, CheckConfig]) -> Mapping[str, CheckConfig]:
        if value[NO_SECRETS].command is not None:
            raise ValueError(f"{NO_SECRETS} takes no command; give yours a check of another name")
        for name, check in value.items():
            if check.enabled and check.command is None and name != NO_SECRETS:
                # A file may leave the command to that of another layer.
                needs = 'the check "{name}" needs a command'
                raise PydanticCustomError("missing", needs, {"name": name})
        return value


class ConfigFiles:
    """Reads the layers anew whenever a file changed."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._cache: dict[Path, tuple[tuple[int, int], Mapping[str, Any]]] = {}

    def of(self, project: Project) -> ProjectConfig:
        folder = Path(project.path) / PROJECT_FOLDER
        config = self.config(project)
        own = _programs(self._layer(folder / "config.json"))
        checks = {n: c for n, c in config.checks.items() if c.enabled}
        setup = config.setup if config.install_deps else ()
        return ProjectConfig(
            default_agent=config.default_agent_type,
            default_pipeline=config.default_pipeline,
            pipeline_by_type=config.pipeline_by_type,
            branch_prefix=config.branch_prefix,
            auto_commit=config.auto_commit,
            auto_push=config.auto_push,
            checks=tuple(
                CheckSpec(
                    name=name,
                    command=check.command,
                    severity=check.severity,
                    modes=check.modes,
                    timeout_s=check.timeout / 1000,
                )
                for name, check in checks.items()
            ),
            fail_on_error=config.fail_on_error,
            fail_on_warning=config.fail_on_warning,
            max_fix_rounds=config.max_fix_rounds,
            review_agent=config.review.agent,
            assume_approved=config.review.assume_approved,
            commands_fingerprint=_fingerprint(checks, own, setup),
            own_agents=own,
            instructions=_text(folder / "instructions.md"),
            reminders=_reminders(config),
            base_branch=config.base_branch,
            workspace=WorkspaceRules(
                root=_root(config.worktree_root, project),
                rebase=config.rebase_on_start,
                tell_leftovers=config.preserve_uncommitted,
            ),
            setup=SetupSpec(
                commands=setup,
                inputs=config.setup_inputs,
                timeout_s=config.setup_timeout / 1000,
            ),
            prices=config.prices,
            retries={
                ErrorClass(name): getattr(config.retries, name).rule()
                for name in RetriesConfig.model_fields
            },
        )

    def agents(self, project: Project | None) -> Mapping[str, AgentConfig]:
        return self.config(project).agents

    def retention(self) -> Retention:
        return Retention(**self.config(None).retention.model_dump())

    def config(self, project: Project | None) -> Config:
        layers = self._layers(project)
        merged: dict[str, Any] = {}
        for name, layer in layers.items():
            if name == "project" and "retention" in self._layer(layer):
                own = self._home / "config.json"
                why = "A project cannot say how long things are kept."
                raise InvalidConfig(f'{layer} has errors. {why} "retention" belongs into {own}.')
            folder = self._home if name == "user" else layer.parent.parent
            merged = _merge(merged, _anchored(self._layer(layer), folder))
        try:
            return Config.model_validate(merged)
        except ValidationError as error:
            named = " and ".join(str(layer) for layer in layers.values())
            raise InvalidConfig(f"{named} have errors together.", _faults(error)) from None

    def explain(self, project: Project | None) -> list[Setting]:
        """Every value in effect, with the layer, file and line that it comes from."""
        config = self.config(project).model_dump(mode="json", by_alias=True, serialize_as_any=True)
        layers = list(reversed(self._layers(project).items()))
        return [self._sourced(place, value, layers) for place, value in _leaves(config)]

    def _sourced(
        self, place: tuple[str, ...], value: Any, layers: Sequence[tuple[Layer, Path]]
    ) -> Setting:
        key = ".".join(place)
        for name, path in layers:
            written = _written(self._layer(path), place)
            if written is not None:
                return Setting(key, value, name, path, _line_of(written, _text(path)))
        return Setting(key, value, DEFAULT, None, None)

    def _layers(self, project: Project | None) -> dict[Layer, Path]:
        """The files by the names of their layers, the later wins."""
        layers: dict[Layer, Path] = {"user": self._home / "config.json"}
        if project is not None:
            layers["project"] = Path(project.path) / PROJECT_FOLDER / "config.json"
        return layers

    def _layer(self, path: Path) -> Mapping[str, Any]:
        try:
            stat = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return {}
        stamp = (stat.st_mtime_ns, stat.st_size)
        known = self._cache.get(path)
        if known is None or known[0] != stamp:
            known = (stamp, _read(path))
            self._cache[path] = known
        return known[1]


def _read(path: Path) -> Mapping[str, Any]:
    text = _text(path)
    try:
        value = strict_json.loads(text, max_bytes=MAX_FILE_BYTES, max_depth=20)
    except ValueError as error:
        raise InvalidConfig(f"{path} is not valid JSON: {error}.") from None
    if not isinstance(value, dict):
        raise InvalidConfig(f"{path} must hold an object.")
    try:
        Config.model_validate(value)
    except ValidationError as error:
        # A layer may leave to another what it does not change.
        found = _faults(error, text, but=("missing", "union_tag_not_found"))
        if found:
            raise InvalidConfig(f"{path} has errors.", found) from None
    return cast("dict[str, Any]", value)


def _faults(error: ValidationError, text: str = "", *, but: Collection[str] = ()) -> list[str]:
    """Each with its place, and with its line where the text is given."""
    found: list[str] = []
    for fault in error.errors(include_url=False, include_input=False):
        if fault["type"] in but:
            continue
        # The adapter of an agent is a part of the place that does not stand in the file.
        place = fault["loc"][:2] + fault["loc"][3:] if fault["loc"][0] == "agents" else fault["loc"]
        line = f"line {_line_of(place, text)}, " if text else ""
        found.append(f"{line}{'.'.join(str(part) for part in place)}: {_says(fault)}")
    return found


def _says(fault: ErrorDetails) -> str:
    key = str(fault["loc"][-1])
    match fault["type"]:
        case "extra_forbidden":
            return f'there is no key "{key}".{closest(key, _known_keys(fault["loc"]))}'
        case "union_tag_invalid":
            adapter = str(fault.get("ctx", {}).get("tag"))
            return f'there is no adapter "{adapter}".{closest(adapter, list(CONFIGS))}'
        case "union_tag_not_found":
            return f'its "adapter" is missing: one of {", ".join(CONFIGS)}.'
        case _:
            return fault["msg"].removeprefix("Value error, ")


def _known_keys(place: tuple[int | str, ...]) -> list[str]:
    model: type[BaseModel] = Config
    if len(place) > 1:
        models: dict[str, type[BaseModel]] = {
            "checks": CheckConfig,
            "limits": LimitsConfig,
            "review": ReviewConfig,
            "reminders": RemindersConfig,
            "retention": RetentionConfig,
            "quietHours": QuietHoursConfig,
            "retries": RetryConfig if place[2:] else RetriesConfig,
            "prices": Price,
        }
        model = CONFIGS[str(place[2])] if place[0] == "agents" else models[str(place[0])]
    return [field.alias or name for name, field in model.model_fields.items()]


def _line_of(place: tuple[int | str, ...], text: str) -> int:
    """The line of the last key, each key looked for behind the one it lies under."""
    lines = text.splitlines()
    found = 0
    for part in place:
        quoted = json.dumps(part, ensure_ascii=False)
        found = next((n for n in range(found, len(lines)) if quoted in lines[n]), found)
    return found + 1


def _leaves(
    value: Mapping[str, Any], above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every value that is no object itself, or an empty one, with the keys that lead to it."""
    for key, item in value.items():
        place = (*above, key)
        if isinstance(item, dict) and item:
            yield from _leaves(cast("dict[str, Any]", item), place)
        else:
            yield place, item


def _written(layer: Mapping[str, Any], place: tuple[str, ...]) -> tuple[str, ...] | None:
    """The keys as the layer writes them, if it says something there; snake_case is read too."""
    at: object = layer
    found: list[str] = []
    for part in place:
        fields = cast("dict[str, object]", at) if isinstance(at, dict) else {}
        key = part if part in fields else next((k for k in fields if to_camel(k) == part), None)
        if key is None:
            return None
        found.append(key)
        at = fields[key]
    return tuple(found)


def _merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            merged[key] = _merge(cast("dict[str, Any]", old), cast("dict[str, Any]", value))
        else:
            merged[key] = value
    return merged


def _reminders(config: Config) -> Reminders:
    wanted = config.reminders
    return Reminders(
        every_s=wanted.every_hours * 3600 if wanted.enabled else None,
        quiet=config.quiet_hours.value() if config.quiet_hours else None,
    )


def _agents_of(layer: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return cast("dict[str, dict[str, Any]]", layer.get("agents", {}))


def _anchored(layer: Mapping[str, Any], folder: Path) -> Mapping[str, Any]:
    """A program is looked for from the folder that its file speaks for, never from the worktree,
    where an agent could put another in its place."""
    anchored: dict[str, Any] = {}
    for name, agent in _agents_of(layer).items():
        match agent.get("command"):
            case [str(program), *arguments] if "/" in program:
                path = str(folder / Path(program).expanduser())
                anchored[name] = {**agent, "command": [path, *arguments]}
            case _:
                anchored[name] = agent
    return {**layer, "agents": anchored}


def _programs(layer: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """What a file says about the programs of agents, by agent."""
    said = {
        name: {key: agent[key] for key in TRUSTED_KEYS if key in agent}
        for name, agent in _agents_of(layer).items()
    }
    return {name: programs for name, programs in said.items() if programs}


def _root(configured: str | None, project: Project) -> Path | None:
    return Path(project.path, Path(configured).expanduser()) if configured else None


def _fingerprint(
    checks: Mapping[str, CheckConfig], agents: Mapping[str, Mapping[str, Any]], setup: Sequence[str]
) -> str:
    """Changes whenever a command that would be run changes."""
    commands = {name: check.command for name, check in checks.items() if check.command}
    # Without set-up or agents as it was before there were any: what was trusted stays trusted.
    parts = [commands, agents, list(setup)] if setup else [commands, agents]
    text = json.dumps(parts if setup or agents else commands, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _text(path: Path) -> str:
    try:
        return bounded_text(path, MAX_FILE_BYTES)
    except FileNotFoundError:
        return ""
    except ValueError as error:
        raise InvalidConfig(f"{path} {error}.") from None


def bounded_text(path: Path, most: int) -> str:
    """The file's text, or ValueError with what is wrong. A project's file may be a link to
    anything: never waits, as a pipe would make it, nor fills memory."""
    try:
        stat = path.stat()
        if not S_ISREG(stat.st_mode):
            raise ValueError("is not a file")
        if stat.st_size > most:
            raise ValueError(f"has {stat.st_size} bytes; {most} are read at most")
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8 text (byte {error.start})") from None
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from None
