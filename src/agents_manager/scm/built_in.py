"""The forges that come with the product."""

from agents_manager.domain.task import LOCAL
from agents_manager.flow.ports import Tools
from agents_manager.plugins import Additions
from agents_manager.scm import credentials, github
from agents_manager.scm.github import GitHub
from agents_manager.scm.local_forge import LocalForge


def register(add: Additions) -> None:
    add.forge(LOCAL, _local)
    add.forge(github.NAME, _github)


def _local(tools: Tools) -> LocalForge:
    keys = credentials.keys(tools.store, tools.configs) if tools.here else None
    return LocalForge(tools.store, tools.clock, tools.ids, keys)


def _github(tools: Tools) -> GitHub:
    return GitHub(tools.store, tools.clock, tools.ids, tools.configs)
