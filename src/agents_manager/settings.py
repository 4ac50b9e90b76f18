"""The only reader and writer of configuration files.

Layers, later wins: defaults < `<AM_HOME>/config.json` < `<project>/.agents-manager/config.json` <
parameters of hooks < what is set for a run. Unknown keys are errors that name the closest key.
"""

import hashlib
import json
import os
import re
import stat
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import time as time_of_day
from functools import cache
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError
from pydantic.alias_generators import to_camel, to_snake

from agents_manager import built_in, config_models, json_text
from agents_manager.agents.config import McpAgentConfig
from agents_manager.config_models import (
    CheckConfig,
    Config,
    LimitsConfig,
    RetriesConfig,
    faults,
    merged,
)
from agents_manager.domain import strict_json
from agents_manager.domain.names import visible
from agents_manager.domain.reminder import QuietHours, Reminders
from agents_manager.domain.retention import Retention
from agents_manager.domain.run import ErrorClass, Run
from agents_manager.domain.run_settings import KEYS, NONE, PROGRAM_KEYS, Overrides, RunSetting
from agents_manager.domain.task import Project
from agents_manager.environment import Settings, from_environment, user_name
from agents_manager.errors import Conflict, InvalidConfig, InvalidInput, ProjectElsewhere
from agents_manager.flow.ports import (
    EVERY_AGENT,
    Adapters,
    AgentConfig,
    ChannelConfig,
    ChannelRules,
    CheckSpec,
    Edit,
    Layer,
    McpServer,
    ProjectConfig,
    Role,
    RunLimits,
    Setting,
    SetupSpec,
    Trouble,
    WorkspaceRules,
)
from agents_manager.sandbox.keeper import Rules

__all__ = ["Settings", "from_environment", "user_name"]

PROJECT_FOLDER = ".agents-manager"
PLACEHOLDER = """\
# For agents

What every agent should know about this project: how it is built and tested, what it looks like,
what not to touch.
"""
"""What `am init` writes to `instructions.md`. It is not sent to agents until somebody edits it."""
MAX_FILE_BYTES = 1024 * 1024
DEFAULT_PORT = 4100
CONFIG = "config.json"
INCLUDE = ".worktreeinclude"
MOST_TOLD = 500
NO_TEXTS: Mapping[Path, str] = {}
UNSETTLED_NS = 1_000_000_000
"""A file that was changed so lately may be changed again without a sign of it in its times."""
SHARED = frozenset(
    {
        *("autoCommit", "autoPush", "baseBranch", "branchPrefix", "branchStrategy"),
        *("installDeps", "preserveUncommitted", "rebaseOnStart"),
    }
)
"""Keys of an agent that are the project's where the agent's entry leaves them out."""
OF_THE_MACHINE = (
    *(("limits", "host"), ("limits", "freeDiskMb"), ("retention",), ("host",)),
    # A repository has no say in what keeps its agents.
    ("sandbox",),
    # Nor in who may read the figures of the program, or is told of its runs.
    *(("metrics",), ("traces",)),
    # A repository that somebody else wrote must not have the user's token sent to an address of its
    # choice.
    ("forge", "baseUrl"),
    ("forge", "settings"),
    # Nor choose for itself to be kept apart less.
    *(("workspace", "kind"), ("workspace", "importLimitMb")),
    *(("notifications", "digest"), ("notifications", "webUrl")),
)
"""What a project cannot say."""
SERVERS = "mcpServers"
OF_A_PROJECT = ("enabled", "events")
"""What it can say of a channel, but neither whom the user's bots speak to and listen to, nor
where."""
_PART = re.compile(r'"([^"]+)"|([^."]+)')
_DOTTED = re.compile(rf"({_PART.pattern})(\.({_PART.pattern}))*")


@dataclass(frozen=True, slots=True)
class File:
    """What the file of a layer said when it was read."""

    layer: Layer
    path: Path
    text: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reading:
    """What the files of a project said together, the later wins."""

    files: tuple[File, ...]
    config: Config
    instructions: str
    included: tuple[str, ...] = ()
    """The patterns of `.worktreeinclude`."""
    made: dict[str, ProjectConfig] = field(default_factory=dict[str, ProjectConfig], repr=False)
    """What they come to, by the agent that works."""

    def written(self, *place: str) -> tuple[File, int] | None:
        """The file that has the last word there, and the line."""
        for file in reversed(self.files):
            keys = _written(file.values, place)
            if keys is not None:
                return file, json_text.line_of(keys, file.text)
        return None

    def layer(self, *place: str) -> Layer | None:
        found = self.written(*place)
        return found[0].layer if found else None


@dataclass(frozen=True, slots=True)
class Look:
    """One look at the files of a project."""

    stamps: tuple[object, ...]
    settled: bool
    """Whether a change could not go unnoticed by the stamps."""
    good: Reading | None
    """What they say or, while they cannot be read, what they said before."""
    fault: InvalidConfig | None


class ConfigFiles:
    """Reads the layers anew whenever a file changed. Files that cannot be read leave what they said
    before in force, if they were ever read by this process."""

    def __init__(self, home: Path, known: Adapters | None = None, *, shared: bool = False) -> None:
        """`known`: what there is beside what is built in. `shared`: several machines have the
        projects, and need not have all of them."""
        self._home = home
        self._known = known or built_in.adapters()
        self._model = config_models.of(self._known)
        self._shared = shared
        self._looks: dict[str | None, Look] = {}

    def of(self, project: Project, run: Run | None = None) -> ProjectConfig:
        """Asked many times in a run, so it is made once for all runs that nothing is set for."""
        reading = self._reading(project)
        work = self._work(reading.config, run)
        if work.overrides.together:
            return self._made(reading, work, project)
        known = reading.made.get(work.agent)
        if known is None:
            known = reading.made[work.agent] = self._made(reading, work, project)
        return known

    def agents(self, project: Project | None) -> Mapping[str, AgentConfig]:
        """Returns the agents; those that take MCP servers have the ones of the project, too."""
        config = self.config(project)
        if not config.mcp_servers:
            return config.agents
        return {
            name: _with_servers(agent, config.mcp_servers)
            for name, agent in {**self._known.ready, **config.agents}.items()
        }

    def retention(self) -> Retention:
        return Retention(**self.config(None).retention.model_dump())

    def sandbox(self) -> Rules:
        return self.config(None).sandbox.rules(self._home)

    def channels(self, project: Project | None) -> Mapping[str, ChannelRules]:
        said = self.config(project).notifications.channels()
        return {name: _rules(one) for name, one in said.items()}

    def channel(self, name: str) -> ChannelConfig:
        """As it is set for the machine."""
        return self.config(None).notifications.channels()[name]

    def quiet(self) -> QuietHours | None:
        hours = self.config(None).quiet_hours
        return hours.value() if hours else None

    def digest_at(self) -> time_of_day | None:
        wanted = self.config(None).notifications.digest
        return time_of_day.fromisoformat(wanted.at) if wanted else None

    def web_url(self) -> str | None:
        return self.config(None).notifications.web_url

    def open_metrics(self) -> bool:
        try:
            return self.config(None).metrics.open
        except InvalidConfig:
            return False

    def config(self, project: Project | None) -> Config:
        return self._reading(project).config

    def host_limit(self) -> int:
        try:
            return self.config(None).limits.host
        except InvalidConfig:
            return LimitsConfig().host

    def trouble(self, project: Project | None) -> Trouble | None:
        look = self._look(project)
        if look.fault is None:
            return None
        return Trouble(look.fault.message, look.fault.details, kept=look.good is not None)

    def explain(self, project: Project | None) -> list[Setting]:
        """Every value in effect, with the layer, file and line that it comes from."""
        reading = self._reading(project)
        config = reading.config
        name = config.default_agent_type
        ready = {name: self._known.ready[name]} if name in self._known.ready else {}
        agents = {**ready, **config.agents}
        shown = config.model_copy(update={"agents": agents})
        values = shown.model_dump(mode="json", by_alias=True, serialize_as_any=True)
        return [
            _sourced(reading, place, value)
            for place, value in _leaves(values)
            if value is not None or place[0] != "agents" or place[-1] not in SHARED
        ]

    def of_run(self, project: Project, run: Run) -> list[RunSetting]:
        reading = self._reading(project)
        work = self._work(reading.config, run)
        return [
            RunSetting(key=key, value=work.said(key), layer=work.layer(reading, key))
            for key in KEYS
        ]

    def edited(self, project: Project | None, key: str, raw: str | None) -> Edit:
        """The file of the user, or of a project, with one value set or, without a value, taken out;
        held to the rules before anything is written."""
        if raw is None:
            return self.changed(project, {}, [key])
        first: InvalidConfig | None = None
        for value in _values(raw):
            try:
                return self.changed(project, {key: value}, [])
            except InvalidConfig as error:
                first = first or error
        assert first is not None
        raise first

    def changed(
        self, project: Project | None, values: Mapping[str, Any], unset: Sequence[str]
    ) -> Edit:
        path = self._layers(project)[-1][1]
        before = _text(path)
        after = before or "{}\n"
        for key in unset:
            keys = _written(self.said_by(path, after, of_project=project is not None), _place(key))
            if keys is None:
                raise InvalidInput(f'{path} says nothing about "{key}".')
            after = json_text.without(after, keys)
        for key, value in values.items():
            self.said_by(path, after, of_project=project is not None)
            after = json_text.with_value(after, _place(key), value)
        return self._tried(project, path, before, after)

    def write(self, edit: Edit) -> None:
        write(edit)

    def _tried(self, project: Project | None, path: Path, before: str | None, after: str) -> Edit:
        try:
            self._read(project, {path: after})
        except InvalidConfig as error:
            raise InvalidConfig(f"Nothing is changed: {error.message}", error.details) from None
        return Edit(path, before, after)

    def _reading(self, project: Project | None) -> Reading:
        look = self._look(project)
        if look.good is None:
            assert look.fault is not None
            raise type(look.fault)(look.fault.message, look.fault.details)
        return look.good

    def _look(self, project: Project | None) -> Look:
        key = None if project is None else project.path
        last = self._looks.get(key)
        paths = [path for _, path in self._layers(project)]
        beside = [*_instructions(project), *_include_file(project)]
        times = tuple(map(_stamp, [*paths, *beside]))
        stamps = (*times, self._is_here(project))
        if last is not None and last.settled and last.stamps == stamps:
            return last
        settled = all(stamp is None or stamp[0] < time.time_ns() - UNSETTLED_NS for stamp in times)
        try:
            look = Look(stamps, settled, self._read(project), None)
        except InvalidConfig as error:
            look = Look(stamps, settled, last.good if last else None, error)
        self._looks[key] = look
        return look

    def _is_here(self, project: Project | None) -> bool:
        """Where there is one machine alone, a folder without a file has the usual settings."""
        return not self._shared or project is None or Path(project.path).is_dir()

    def _read(self, project: Project | None, instead: Mapping[Path, str] = NO_TEXTS) -> Reading:
        if project is not None and not self._is_here(project):
            raise ProjectElsewhere(
                f'The settings of project "{project.name}" cannot be read, as it is not on this '
                f"machine (am project show {project.name} says where it is)."
            )
        files: list[File] = []
        together: dict[str, Any] = {}
        for layer, path in self._layers(project):
            text = instead.get(path) or _text(path)
            told = None if text is None else self.said_by(path, text, of_project=layer == "project")
            values = told or dict[str, Any]()
            files.append(File(layer, path, text or "", values))
            folder = self._home if layer == "user" else path.parent.parent
            together = merged(together, _anchored(values, folder))
        try:
            config = self._validated(together)
        except ValidationError as error:
            named = " and ".join(str(file.path) for file in files)
            found = faults(error, self._known)
            raise InvalidConfig(f"{named} have errors together.", found) from None
        of_project = (_text(path) for path in _instructions(project))
        told = (config.instructions or "", *(one for one in of_project if one != PLACEHOLDER))
        text = "\n\n".join(one for one in told if one)
        return Reading(tuple(files), config, text, _included(project))

    def said_by(self, path: Path, text: str, *, of_project: bool) -> Mapping[str, Any]:
        try:
            value = strict_json.loads(text, max_bytes=MAX_FILE_BYTES, max_depth=20)
        except ValueError as error:
            raise InvalidConfig(f"{path} is not valid JSON: {error}.") from None
        if not isinstance(value, dict):
            raise InvalidConfig(f"{path} must hold an object.")
        found: list[str] = []
        values = cast("dict[str, Any]", value)
        try:
            self._validated(values)
        except ValidationError as error:
            # A layer may leave to another what it does not change.
            found = faults(error, self._known, text, but=("missing", "union_tag_not_found"))
        for place in self._of_the_machine() if of_project else ():
            keys = _written(values, place)
            if keys is not None:
                where = f"line {json_text.line_of(keys, text)}, {'.'.join(place)}"
                found.append(f"{where}: it is for the whole machine and belongs into your own file")
        if found:
            raise InvalidConfig(f"{path} has errors.", found)
        return values

    def _validated(self, value: object) -> Config:
        try:
            return self._model.model_validate(value, context=self._known)
        except ValidationError:
            raise
        except Exception as error:
            what = visible(f"{type(error).__name__}: {error}", MOST_TOLD)
            raise InvalidConfig(f"The settings of a plugin cannot be read: {what}") from error

    def _of_the_machine(self) -> Iterator[tuple[str, ...]]:
        yield from OF_THE_MACHINE
        for channel, kind in self._known.channels.items():
            for name, told in kind.config.model_fields.items():
                if name not in OF_A_PROJECT:
                    yield "notifications", channel, told.alias or name

    def _work(self, config: Config, run: Run | None) -> "Work":
        agent = (run.agent if run else None) or config.default_agent_type
        entry = config.agents.get(agent) or self._known.ready.get(agent) or AgentConfig()
        return Work(config, agent, entry, run.overrides if run else NONE)

    def _made(self, reading: Reading, work: "Work", project: Project) -> ProjectConfig:
        config = reading.config
        own = _programs(reading.files[-1].values, self._known.plugin_keys)
        checks = {n: c for n, c in config.checks.items() if c.enabled}
        copied = (*config.copy_files, *reading.included)
        return ProjectConfig(
            default_agent=config.default_agent_type,
            default_pipeline=config.default_pipeline,
            pipeline_by_type=config.pipeline_by_type,
            branch_prefix=work.said("branchPrefix"),
            auto_commit=work.said("autoCommit"),
            auto_push=work.said("autoPush"),
            checks=tuple(
                CheckSpec(
                    name=name,
                    command=check.command,
                    severity=check.severity,
                    modes=check.modes,
                    timeout_s=check.timeout / 1000,
                    kind=check.kind,
                    settings=check.told(self._known),
                )
                for name, check in checks.items()
            ),
            fail_on_error=config.fail_on_error,
            fail_on_warning=config.fail_on_warning,
            max_fix_rounds=config.max_fix_rounds,
            ask_human_s=config.ask_human_timeout / 1000,
            review_agent=config.review.agent,
            assume_approved=config.review.assume_approved,
            confirm_spec=config.staged.confirm_spec,
            roles={name: Role(agent=r.agent, model=r.model) for name, r in config.roles.items()},
            commands=_commands(checks, own, config, copied),
            commands_fingerprint=_fingerprint(checks, own, config, copied),
            own_agents=own,
            instructions=reading.instructions,
            reminders=_reminders(config),
            base_branch=work.said("baseBranch"),
            workspace=WorkspaceRules(
                root=_root(config.worktree_root, project),
                rebase=work.said("rebaseOnStart"),
                tell_leftovers=work.said("preserveUncommitted"),
                kind=config.workspace.kind,
                import_limit=config.workspace.import_limit_mb * 1024**2,
                keep=config.workspace.keep,
                build_products=config.build_products.value(),
            ),
            setup=SetupSpec(
                commands=config.setup if work.said("installDeps") else (),
                inputs=config.setup_inputs,
                timeout_s=config.setup_timeout / 1000,
            ),
            variables=tuple(one.value(name) for name, one in config.env.items()),
            teardown=SetupSpec(
                commands=config.teardown, inputs=(), timeout_s=config.teardown_timeout / 1000
            ),
            copy_files=copied,
            prices=config.prices,
            retries={
                ErrorClass(name): getattr(config.retries, name).rule()
                for name in RetriesConfig.model_fields
            },
            limits=RunLimits(project=config.limits.project, agent=config.limits.agent),
            runs_on=tuple(sorted({*config.runs_on, *work.entry.runs_on})),
            budgets=config.budgets.value(),
            merge_method=config.forge.merge_method,
            forge=config.forge.value(self._known),
        )

    def _layers(self, project: Project | None) -> list[tuple[Layer, Path]]:
        """The files by the names of their layers, the later wins."""
        layers: list[tuple[Layer, Path]] = [("user", self._home / CONFIG)]
        if project is not None:
            layers.append(("project", Path(project.path) / PROJECT_FOLDER / CONFIG))
        return layers


@dataclass(frozen=True, slots=True)
class Work:
    """The settings of a run: what is set for it, then what is set for its agent, then what is set
    for all."""

    config: Config
    agent: str
    entry: AgentConfig
    overrides: Overrides

    def said(self, key: str) -> Any:
        together = self.overrides.together
        return together[key] if key in together else self._configured(key)

    def _configured(self, key: str) -> Any:
        own = self._own(key)
        return getattr(self.config, _snake(key)) if own is None and key in SHARED else own

    def _own(self, key: str) -> Any:
        return getattr(self.entry, KEYS.get(key) or _snake(key))

    def layer(self, reading: Reading, key: str) -> str:
        if key in self.overrides.run:
            return "run"
        if key in self.overrides.hook:
            return "hook"
        if key in self.overrides.task:
            return "task"
        if key in self.overrides.role:
            return "role"
        if key in SHARED and self._own(key) is None:
            return reading.layer(key) or "default"
        return reading.layer("agents", self.agent, key) or "adapter default"


_snake = cache(to_snake)


def _with_servers(agent: AgentConfig, servers: Mapping[str, McpServer]) -> AgentConfig:
    if not isinstance(agent, McpAgentConfig):
        return agent
    return agent.model_copy(update={"mcp_servers": {**servers, **agent.mcp_servers}})


def _rules(said: ChannelConfig) -> ChannelRules:
    """What a plugin's settings fail to say must not take the other channels with it."""
    try:
        return said.rules()
    except Exception:  # noqa: BLE001 - whatever it is, nothing can be sent there
        return replace(ChannelConfig.rules(said), enabled=False)


def _sourced(reading: Reading, place: tuple[str, ...], value: Any) -> Setting:
    key, found = ".".join(place), reading.written(*place)
    if found is not None:
        file, line = found
        return Setting(key, value, file.layer, file.path, line)
    layer: Layer = "adapter default" if place[0] == "agents" and len(place) > 1 else "default"
    return Setting(key, value, layer, None, None)


def _instructions(project: Project | None) -> list[Path]:
    return [] if project is None else [Path(project.path) / PROJECT_FOLDER / "instructions.md"]


def _include_file(project: Project | None) -> list[Path]:
    return [] if project is None else [Path(project.path) / INCLUDE]


def _included(project: Project | None) -> tuple[str, ...]:
    """The patterns of `.worktreeinclude`, without those that lead out of the project."""
    lines = [line for path in _include_file(project) for line in (_text(path) or "").splitlines()]
    said = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    return tuple(line for line in said if ".." not in line.split("/"))


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _place(key: str) -> tuple[str, ...]:
    """The keys between the dots; one that has a dot itself stands in quotes."""
    if not _DOTTED.fullmatch(key):
        raise InvalidInput(f'"{key}" is no key; write it as in agents.claude-code.model.')
    return tuple(quoted or plain for quoted, plain in _PART.findall(key))


def _values(raw: str) -> list[Any]:
    """What a word of the command line can mean: a value of JSON, else the word itself."""
    try:
        return [strict_json.loads(raw, max_bytes=MAX_FILE_BYTES, max_depth=20), raw]
    except ValueError:
        return [raw]


def write(edit: Edit) -> None:
    """Puts the new text in the place of the old, at once and whole."""
    path = edit.path.resolve()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", dir=path.parent, prefix=".config-", delete=False, encoding="utf-8"
        ) as file:
            file.write(edit.after)
            file.flush()
            os.fsync(file.fileno())
        temporary = Path(file.name)
        temporary.chmod(stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o644)
        if _text(path) != edit.before:
            temporary.unlink()
            raise Conflict(f"{edit.path} changed in the meantime; try again.")
        temporary.replace(path)
    except OSError as error:
        raise InvalidConfig(f"{edit.path} cannot be written: {error.strerror}.") from None


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
        anchored[name] = _with_anchored_servers(anchored[name], folder)
    return _with_anchored_servers({**layer, "agents": anchored}, folder)


def _with_anchored_servers(entry: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The same with the programs of MCP servers."""
    key = SERVERS if SERVERS in entry else _snake(SERVERS)
    servers = cast("dict[str, dict[str, Any]]", entry.get(key, {}))
    anchored = {
        name: {**server, "command": str(folder / Path(program).expanduser())}
        for name, server in servers.items()
        if isinstance(program := server.get("command"), str) and "/" in program
    }
    return {**entry, key: {**servers, **anchored}} if servers else dict(entry)


def _programs(
    layer: Mapping[str, Any], of_plugins: Collection[str]
) -> dict[str, Mapping[str, Any]]:
    """What a file says about the programs of agents, by agent; `*` is every agent. What a plugin
    makes of its own keys is not known here."""
    said = {
        name: {key: agent[key] for key in (*PROGRAM_KEYS, *sorted(of_plugins)) if key in agent}
        for name, agent in _agents_of(layer).items()
    }
    of_all = {key: layer[key] for key in (SERVERS, _snake(SERVERS)) if key in layer}
    named = {EVERY_AGENT: of_all, **said}
    return {name: programs for name, programs in named.items() if programs}


def _root(configured: str | None, project: Project) -> Path | None:
    return Path(project.path, Path(configured).expanduser()) if configured else None


def _commands(
    checks: Mapping[str, CheckConfig],
    agents: Mapping[str, Mapping[str, Any]],
    config: Config,
    copied: Sequence[str],
) -> dict[str, str]:
    """All that would be run or passed on, by its place in the configuration."""
    found = {f"checks.{name}": run for name, check in checks.items() if (run := _run_by(check))}
    found |= {f"setup.{number}": command for number, command in enumerate(config.setup, 1)}
    found |= {f"teardown.{number}": one for number, one in enumerate(config.teardown, 1)}
    found |= {f"copyFiles.{number}": pattern for number, pattern in enumerate(copied, 1)}
    found |= {f"env.{name}": one.value(name).described for name, one in config.env.items()}
    for name, said in agents.items():
        found |= {f"agents.{name}.{key}": _words(value) for key, value in said.items()}
    return found


def _run_by(check: CheckConfig) -> str | None:
    """What a plugin makes of the settings of its check is not known here."""
    return check.command or (check.kind and f"{check.kind} {_words(dict(check.settings))}")


def _words(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _fingerprint(
    checks: Mapping[str, CheckConfig],
    agents: Mapping[str, Mapping[str, Any]],
    config: Config,
    copied: Sequence[str],
) -> str:
    """Changes whenever a command that would be run, or what is passed on to it, changes."""
    commands = {name: run for name, check in checks.items() if (run := _run_by(check))}
    setup, env = config.setup, {name: one.value(name) for name, one in config.env.items()}
    # Without set-up or agents as it was before there were any: what was trusted stays trusted.
    parts: list[Any] = [commands, agents, list(setup)] if setup else [commands, agents]
    if env:
        parts.append({name: variable.described for name, variable in env.items()})
    if copied:
        parts.append({"copyFiles": list(copied)})
    if config.teardown:
        parts.append({"teardown": list(config.teardown)})
    more = setup or agents or env or copied or config.teardown
    text = json.dumps(parts if more else commands, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _text(path: Path) -> str | None:
    try:
        return bounded_text(path, MAX_FILE_BYTES)
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise InvalidConfig(f"{path} {error}.") from None


def bounded_text(path: Path, most: int) -> str:
    """The file's text, or ValueError with what is wrong. A project's file may be a link to
    anything: never waits, as a pipe would make it, nor fills memory."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise ValueError("is not a file")
        if found.st_size > most:
            raise ValueError(f"has {found.st_size} bytes; {most} are read at most")
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8 text (byte {error.start})") from None
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from None
