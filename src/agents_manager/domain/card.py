"""What people are shown outside the web app: plain words and buttons. Each channel gives it the
form of its platform; nothing in it is markup, as much of it is an agent's words."""

from collections.abc import Mapping
from enum import StrEnum

from pydantic import Field

from agents_manager.domain.names import visible
from agents_manager.domain.value import Value

MOST_TITLE = 250
"""Characters of a title that every platform shows."""


class Style(StrEnum):
    PRIMARY = "primary"
    """What is recommended."""
    DANGER = "danger"
    PLAIN = "plain"


class Button(Value):
    id: str = Field(max_length=64)
    """Says nothing by itself; it comes back when the button is pressed."""
    label: str
    style: Style = Style.PLAIN


class Card(Value):
    title: str
    body: tuple[str, ...] = ()
    """Paragraphs."""
    buttons: tuple[Button, ...] = ()
    """The recommended one first."""
    hint: str = ""
    """How else it is answered."""
    link: str | None = None
    """Where the web app shows all of it; None while that has no address."""
    repeat: bool = False
    """It may have been sent before: a crash came between sending it and noting that."""
    facts: Mapping[str, str] = Field(default_factory=dict[str, str])
    """For programs: the occasion, and the task and the prompt that it is about."""

    def elsewhere(self) -> "Card":
        """For where it is longer than can be shown: nothing is cut, and nobody answers what they
        have not read."""
        where = "in the web app" if self.link else "in the web app or by am inbox"
        length = sum(map(len, (*self.body, self.hint)))
        return self.model_copy(
            update={
                "title": visible(self.title, MOST_TITLE),
                "body": (
                    f"This is too long to be shown here: {length} characters. Read it {where}.",
                ),
                "buttons": (),
                "hint": "",
            }
        )


class Reply(Value):
    """What is given back to somebody who pressed or wrote something."""

    ask: str | None = None
    """They are asked for words, with these; what they pressed counts once they gave them."""
    says: str = ""
    """To them alone, where the platform can."""
    card: Card | None = None
    """In place of the message whose button was pressed; as a new one to whoever wrote."""
