"""What `am init` asks at a terminal, or takes as it would offer it."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agents_manager.cli.render import clean
from agents_manager.cli.session import Desk
from agents_manager.errors import InvalidAnswer

if TYPE_CHECKING:
    from agents_manager.flow.agents import Examined

FIRST = "claude-code"
SCRIPTED = "scripted"
USUAL = ("main", "master", "trunk", "develop")


@dataclass(frozen=True, slots=True)
class Wishes:
    """What was said; None for what was not."""

    agent: str | None
    test: str | None
    """Empty for none."""
    register: bool | None
    base_branch: str | None
    name: str | None


@dataclass(frozen=True, slots=True)
class Asker:
    desk: Desk
    top: Path
    branch: str
    ask: bool
    """Else what would be offered is taken."""

    async def complete(self, wishes: Wishes, *, written: bool, known: bool) -> Wishes:
        """`written`: the configuration is there, and `known`: it is registered; neither is asked
        about then."""
        if not written:
            wishes = replace(wishes, agent=wishes.agent or await self._agent())
        if known:
            return wishes
        return replace(wishes, base_branch=wishes.base_branch or await self._base())

    def register(self, wishes: Wishes) -> Wishes:
        """Asks whether to register the project, unless an option said it."""
        if wishes.register is not None:
            return wishes
        question = "Register the project? Its commands may run then."
        said = click.confirm(question, default=True, err=True) if self.ask else True
        return replace(wishes, register=said)

    async def _agent(self) -> str:
        from agents_manager.cli import answering
        from agents_manager.flow import agents

        found = await agents.examine(self.desk.services, None)
        offered = sorted((one for one in found if one.usable), key=_order)
        if all(one.name == SCRIPTED for one in offered):
            # The usual one, which says at the end what it lacks.
            offered = [*(one for one in found if one.name == FIRST), *offered]
        names = [(one.name,) for one in offered]
        self._say("Which agent works at its tasks?")
        for number, one in enumerate(offered, 1):
            self._say(f"  {number}) {_told(one)}")
        while True:
            try:
                return answering.pick(self._text("Number or name", "1"), names)
            except InvalidAnswer as error:
                self._say(error.message)

    async def _base(self) -> str | None:
        """Asked where another branch than the one that is checked out is likelier."""
        from agents_manager.scm.git import Place, branch_tip, common_dir, git

        if self.branch in USUAL:
            return None
        place = Place(git_dir=await common_dir(self.top))
        told = await git(place, "symbolic-ref", "-q", "refs/remotes/origin/HEAD", check=False)
        of_remote = told.line.removeprefix("refs/remotes/origin/")
        likely = [b for b in (of_remote, *USUAL) if b and await branch_tip(place, b)]
        return self._text("Which branch is work merged to?", likely[0]) if likely else None

    def _text(self, question: str, offered: str) -> str:
        if not self.ask:
            return offered
        said: str = click.prompt(clean(question), default=offered, err=True)
        return said.strip()

    def _say(self, text: str) -> None:
        if self.ask:
            self.desk.output.say(text)


def _order(one: "Examined") -> tuple[bool, bool, str]:
    return one.name == SCRIPTED, one.name != FIRST, one.name


def _told(one: "Examined") -> str:
    if one.name == SCRIPTED:
        return "scripted: plays a script, without a model"
    if not one.usable:
        return f"{one.name}: {one.diagnosis.missing[0]}"
    return " ".join(part for part in (one.name, one.diagnosis.version) if part)
