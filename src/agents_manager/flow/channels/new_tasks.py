"""A task out of the words of a chat, with options as the command line has them."""

from agents_manager.domain.names import visible
from agents_manager.domain.task import Project
from agents_manager.errors import InvalidInput, closest
from agents_manager.flow.ports import Tx
from agents_manager.flow.tasks import NewTask

USAGE = " TITLE [--project NAME] [--agent NAME] [--model NAME]"
OPTIONS = ("project", "agent", "model")
DASHES = ("--", "—")
"""Phones turn two hyphens into a dash."""


def read(words: str) -> tuple[NewTask, str | None]:
    """Returns the task that the words describe, and the project they name. The title is all that
    belongs to no option."""
    title: list[str] = []
    given: dict[str, str] = {}
    left = iter(words.split())
    for word in left:
        dash = next((dash for dash in DASHES if word.startswith(dash)), None)
        name, equals, value = word.removeprefix(dash or "").partition("=")
        if dash is None or not name:
            title.append(word)
            continue
        if name not in OPTIONS:
            hint = closest(name, OPTIONS)
            known = ", ".join(f"--{one}" for one in OPTIONS)
            raise InvalidInput(f'There is no option "--{visible(name, 40)}".{hint} Known: {known}.')
        value = value if equals else next(left, "")
        if not value:
            raise InvalidInput(f"--{name} needs a value.")
        given[name] = value
    new = NewTask(title=" ".join(title), agent=given.get("agent"), model=given.get("model"))
    return new, given.get("project")


def project_of(tx: Tx, named: str | None) -> Project:
    """Returns the named project, or the only one."""
    if named is not None:
        return tx.projects.find(named)
    known = tx.projects.all()
    if len(known) == 1:
        return known[0]
    names = ", ".join(visible(one.name, 80) for one in known) or "none"
    raise InvalidInput(f"Name the project of the task with --project NAME. Known: {names}.")
