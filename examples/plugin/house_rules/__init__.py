"""A plugin with one of each kind: the rules of one house."""

import json
from importlib import resources

from agents_manager.plugins import Additions
from house_rules.logbook import Logbook, LogbookConfig
from house_rules.parrot import ParrotAgent, ParrotConfig
from house_rules.plain_git import PlainGit, PlainGitSettings
from house_rules.rules import TICKET_FILED, Rounds, few_rounds, same_shop, write_down
from house_rules.todos import Todos, count_todos

HOTFIX = json.loads(resources.files(__name__).joinpath("hotfix.json").read_text())


def register(add: Additions) -> None:
    add.guard("few_rounds", few_rounds, params=Rounds)
    add.hook("write_down", write_down, policy="required")
    add.outcome(TICKET_FILED)
    add.ranker("same_shop", same_shop)
    add.agent("parrot", ParrotConfig, ParrotAgent)
    add.forge("plain-git", PlainGit, settings=PlainGitSettings)
    add.channel("logbook", LogbookConfig, lambda tools, config: Logbook(config))
    add.check("todos", count_todos, settings=Todos)
    add.pipeline(HOTFIX)
