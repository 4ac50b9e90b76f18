"""Loads what plugins add. A package names a function in the entry point group
`agents_manager.plugins`; the function is handed an `Additions`. What is wrong with one plugin is on
record with its name, and takes nothing from the others."""

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint, entry_points

import structlog

from agents_manager.domain import lint
from agents_manager.domain import pipeline as pipelines
from agents_manager.domain.names import visible
from agents_manager.domain.plugin import KINDS, Plugin
from agents_manager.domain.registry import Registry
from agents_manager.errors import AgentsManagerError, InvalidInput
from agents_manager.flow.ports import Adapters
from agents_manager.plugins.additions import Additions

log = structlog.get_logger()

GROUP = "agents_manager.plugins"
MAX_ERROR = 500


@dataclass(frozen=True, slots=True)
class Known:
    """All that there is by name: for pipelines, and for configuration files."""

    registry: Registry
    adapters: Adapters


def load(
    known: Registry, built_in: Callable[[Additions], None], chosen: Collection[str] | None
) -> Known:
    """What is built in, with what plugins add: those of the chosen packages, or of all."""
    wanted = None if chosen is None else {_canonical(name) for name in chosen}
    first = Additions(known)
    built_in(first)
    registry, adapters, plugins = first.registry, first.adapters, list[Plugin]()
    try:
        found: Iterable[EntryPoint] = sorted(entry_points(group=GROUP), key=_place)
    except Exception as error:  # noqa: BLE001 - a broken package must not stop the server
        plugins.append(_failed("the installed packages", "", GROUP, error))
        found = ()
    for entry in found:
        package, version = _origin(entry)
        if wanted is not None and _canonical(package) not in wanted:
            continue
        plugin = Plugin(package=package, version=version, entry_point=entry.name)
        additions = Additions(replace(registry, plugins=tuple(plugins)), adapters, plugin.title)
        try:
            entry.load()(additions)
            _lint(additions)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - nor must a broken plugin
            plugins.append(_failed(package, version, entry.name, error))
            continue
        registry, adapters = additions.registry, additions.adapters
        plugins.append(replace(plugin, **{kind: additions.added(kind) for kind in KINDS}))
    seen = {_canonical(plugin.package) for plugin in plugins}
    missing = InvalidInput("it is named in AM_PLUGINS, but not installed")
    plugins += [_failed(name, "", "", missing) for name in sorted((wanted or set()) - seen)]
    lost = " ".join(f"{plugin.trouble}." for plugin in plugins if plugin.error)
    return Known(replace(registry, plugins=tuple(plugins)), replace(adapters, lost=lost))


def _lint(additions: Additions) -> None:
    for name in additions.added("pipelines"):
        lint.refuse_errors(pipelines.parse(additions.adapters.pipelines[name]), additions.registry)


def _origin(entry: EntryPoint) -> tuple[str, str]:
    return (entry.dist.name, entry.dist.version) if entry.dist else ("unknown", "")


def _place(entry: EntryPoint) -> tuple[str, str]:
    return _origin(entry)[0], entry.name


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def _failed(package: str, version: str, entry_point: str, error: BaseException) -> Plugin:
    told = f"{type(error).__name__}: {error}"
    if isinstance(error, AgentsManagerError):
        told = " ".join([error.message, *error.details])
    plugin = Plugin(
        package=package,
        version=version,
        entry_point=entry_point,
        error=visible(told, MAX_ERROR),
    )
    log.warning("plugin.failed", plugin=plugin.title, entry_point=entry_point, reason=plugin.error)
    return plugin
