"""What comes with the product, registered as plugins register theirs."""

import json
from collections.abc import Collection
from functools import cache
from importlib import resources
from pathlib import Path

import agents_manager.agents.built_in as of_agents
import agents_manager.channels.built_in as of_channels
import agents_manager.checks.built_in as of_checks
import agents_manager.scm.built_in as of_scm
from agents_manager import plugins
from agents_manager.domain import registry
from agents_manager.flow.ports import Adapters
from agents_manager.plugins import Additions, Known


def register(add: Additions) -> None:
    for kind in (of_agents, of_channels, of_checks, of_scm):
        kind.register(add)
    for text in texts("pipelines", ".json").values():
        add.pipeline(json.loads(text))


def known(chosen: Collection[str] | None) -> Known:
    """With what plugins add: those of the chosen packages, or of all."""
    return plugins.load(registry.built_in(), register, chosen)


@cache
def adapters() -> Adapters:
    """Without plugins."""
    add = Additions(registry.built_in())
    register(add)
    return add.adapters


def texts(folder: str, ending: str) -> dict[str, str]:
    """Files that come along, by their names."""
    files = resources.files("agents_manager").joinpath(folder).iterdir()
    return {
        Path(file.name).stem: file.read_text(encoding="utf-8")
        for file in files
        if file.name.endswith(ending)
    }
