"""Takes what people do in channels. Who somebody is, their id alone says; what a button means, the
row of the message does. Whoever is not known gets no answer, and is counted."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from agents_manager.domain import dialogue
from agents_manager.domain.card import Reply
from agents_manager.domain.delivery import Delivery
from agents_manager.domain.dialogue import Action
from agents_manager.domain.ids import PromptId
from agents_manager.domain.names import visible
from agents_manager.domain.prompt import PromptStatus
from agents_manager.domain.task import Actor, ActorType
from agents_manager.errors import (
    AgentsManagerError,
    Conflict,
    InvalidAnswer,
    PromptNotFound,
)
from agents_manager.flow import access, prompts, undoing
from agents_manager.flow.channels import cards, commands
from agents_manager.flow.ports import Act, Person, Services, Tx

WORDS_WAIT = timedelta(hours=1)
"""How long somebody may take for words that they were asked for."""
UNKNOWN_BUTTON = "This button does nothing any more; nothing was done."
UNKNOWN_WORDS = "I do not know what this answers; reply to a question, or press a button of it."
PRESS = "Words alone decide nothing here; press one of the buttons."
GONE = "The task was deleted; no answer is needed."


@dataclass(frozen=True, slots=True)
class _Complete:
    """All that was asked is answered."""

    prompt: PromptId
    answer: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FrontDesk:
    s: Services

    async def pressed(
        self, channel: str, act: Act, message: str, button: str, words: str | None = None
    ) -> Reply | None:
        return await self._serve(
            channel, act, lambda actor: self._press(channel, act, actor, button, words)
        )

    async def wrote(self, channel: str, act: Act, to: str | None, words: str) -> Reply | None:
        return await self._serve(
            channel, act, lambda actor: self._write(channel, act, actor, to, words)
        )

    async def ordered(self, channel: str, act: Act, command: str, words: str) -> Reply | None:
        return await self._serve(
            channel, act, lambda actor: commands.order(self.s, channel, act, actor, command, words)
        )

    async def _serve(
        self, channel: str, act: Act, serve: Callable[[Actor], Awaitable[Reply | None]]
    ) -> Reply | None:
        person = self.s.configs.channels(None)[channel].people.get(act.person)
        if person is None:
            now, called = self.s.clock.now(), visible(act.called, 100)
            await self.s.store.write(
                lambda tx: tx.deliveries.stranger(channel, act.person[:100], called, now)
            )
            return None
        try:
            reply = await serve(actor_of(person, channel))
        except AgentsManagerError as error:
            reply = Reply(says=" ".join([error.message, *error.details]))
        return None if reply is None else cards.reply(self.s, reply)

    async def _press(
        self, channel: str, act: Act, actor: Actor, button: str, words: str | None
    ) -> Reply:
        def write(tx: Tx) -> Reply | _Complete:
            row = self._bound(tx, channel, act, button)
            action = row.action(button) if row else None
            if row is None or action is None:
                return self._over(tx, row)
            return self._go(tx, channel, act, actor, row, action, button, words)

        return await self._finish(channel, act, actor, await self.s.store.write(write))

    async def _write(
        self, channel: str, act: Act, actor: Actor, to: str | None, words: str
    ) -> Reply | None:
        def write(tx: Tx) -> Reply | _Complete | None:
            row = tx.deliveries.by_message(channel, act.place, to) if to else None
            if row is not None:
                return self._to_message(tx, channel, act, actor, row, words)
            asked = tx.deliveries.words_asked(channel, act.place, act.person)
            if asked is None or self.s.clock.now() - asked[1] > WORDS_WAIT:
                alone = act.place in self.s.configs.channels(None)[channel].people
                return Reply(says=UNKNOWN_WORDS) if alone or to else None
            row = self._bound(tx, channel, act, asked[0])
            action = row.action(asked[0]) if row else None
            if row is None or action is None:
                return self._over(tx, row)
            return self._go(tx, channel, act, actor, row, action, asked[0], words)

        found = await self.s.store.write(write)
        return None if found is None else await self._finish(channel, act, actor, found)

    def _bound(self, tx: Tx, channel: str, act: Act, button: str) -> Delivery | None:
        """The row of a button that was shown here, and to this person where to one alone."""
        row = tx.deliveries.find(button.partition("-")[0])
        if row is None or (row.channel, row.place) != (channel, act.place):
            return None
        alone = row.place in self.s.configs.channels(None)[channel].people
        return None if alone and row.place != act.person else row

    def _over(self, tx: Tx, row: Delivery | None) -> Reply:
        """A button of an earlier step, or none that was ever given."""
        if row is None or row.prompt_id is None:
            return Reply(says=UNKNOWN_BUTTON)
        card = cards.of(tx, self.s, row)
        return Reply(says=UNKNOWN_BUTTON, card=card[0] if card else cards.closed(tx, self.s, row))

    def _to_message(
        self, tx: Tx, channel: str, act: Act, actor: Actor, row: Delivery, words: str
    ) -> Reply | _Complete:
        if row.prompt_id is None:
            return Reply(says=UNKNOWN_WORDS)
        asked = tx.deliveries.words_asked(channel, act.place, act.person)
        if asked is not None and (action := row.action(asked[0])) is not None:
            return self._go(tx, channel, act, actor, row, action, asked[0], words)
        try:
            prompt = tx.prompts.get(row.prompt_id)
        except PromptNotFound:
            return Reply(says=GONE)
        action = dialogue.step(prompt, cards.about(tx, prompt), row.given).words
        if action is None and prompt.status is PromptStatus.PENDING:
            return Reply(says=PRESS)
        none = Action(gives={})
        return self._go(tx, channel, act, actor, row, action or none, "", words)

    def _go(
        self,
        tx: Tx,
        channel: str,
        act: Act,
        actor: Actor,
        row: Delivery,
        action: Action,
        button: str,
        words: str | None,
    ) -> Reply | _Complete:
        """One step on; the answer itself is given after this."""
        assert row.prompt_id is not None
        try:
            prompt = tx.prompts.get(row.prompt_id)
        except PromptNotFound:
            return Reply(says=GONE, card=cards.closed(tx, self.s, row))
        access.check_may_change(actor)
        if prompt.status is not PromptStatus.PENDING:
            return _Complete(prompt.id, {})  # Says who was faster, or that it was taken before.
        undoing.check_may_answer(prompt, actor)
        if action.asks is not None and words is None:
            now = self.s.clock.now()
            tx.deliveries.ask_words(channel, act.place, act.person, button, now)
            return Reply(ask=action.asks)
        try:
            taken = dialogue.take(prompt, row.given, action, words)
        except InvalidAnswer as error:
            said = " ".join([error.message, *error.details])
            return Reply(ask=f"{said} {action.asks}") if button and words else Reply(says=said)
        if taken.answer is not None:
            return _Complete(prompt.id, taken.answer)
        tx.deliveries.words_given(channel, act.place, act.person)
        tx.deliveries.update(row.id, given=taken.given, actions=())
        card, actions = cards.asked(tx, self.s, _fresh(tx, row), prompt)
        tx.deliveries.update(row.id, actions=tuple(actions))
        return Reply(card=card)

    async def _finish(
        self, channel: str, act: Act, actor: Actor, found: Reply | _Complete
    ) -> Reply:
        if isinstance(found, Reply):
            return found
        says = "Thank you, that is answered."
        key = f"{channel}:{act.key}"
        try:
            await prompts.answer(self.s, found.prompt, found.answer, actor, key=key)
        except Conflict as error:
            says = " ".join([error.message, *error.details])

        def write(tx: Tx) -> Reply:
            tx.deliveries.words_given(channel, act.place, act.person)
            prompt = tx.prompts.get(found.prompt)
            open_still = prompt.status is PromptStatus.PENDING
            return Reply(says=says, card=None if open_still else cards.ended(tx, self.s, prompt))

        return await self.s.store.write(write)


def actor_of(person: Person, channel: str) -> Actor:
    admin = person.role == access.ADMIN
    return Actor(type=ActorType.USER, name=person.name, via=channel, admin=admin, role=person.role)


def _fresh(tx: Tx, row: Delivery) -> Delivery:
    found = tx.deliveries.find(row.id)
    assert found is not None
    return found
