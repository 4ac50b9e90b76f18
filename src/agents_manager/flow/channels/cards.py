"""What is shown: a delivery as a card, as things stand now. All that leaves passes here, and loses
the secrets that are known."""

from collections.abc import Mapping, Sequence
from typing import Any

from agents_manager.domain import dialogue
from agents_manager.domain.card import Button, Card, Reply
from agents_manager.domain.delivery import Delivery
from agents_manager.domain.dialogue import About, Step
from agents_manager.domain.ids import TaskId
from agents_manager.domain.names import visible, visible_lines
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import Prompt, PromptStatus
from agents_manager.domain.routing import Occasion
from agents_manager.errors import InvalidConfig, PromptNotFound, TaskNotFound
from agents_manager.flow import branches
from agents_manager.flow.ports import Services, Tx

Actions = Sequence[Mapping[str, Any]]


def about(tx: Tx, prompt: Prompt) -> About:
    task = tx.tasks.get(prompt.task_id)
    pull = None
    if prompt.type is PromptType.REVIEW:
        pull = branches.pull_from(tx, task, str(prompt.payload.get("branch")))
    return About(title=task.title, number=pull.number if pull else None)


def of(tx: Tx, s: Services, row: Delivery) -> tuple[Card, Actions] | None:
    """As it is sent; None when there is nothing to tell any more."""
    if row.task_id is not None and not _is_there(tx, row.task_id):
        return None
    if row.prompt_id is None:
        card = told(s, row.title, row.body, row.task_id)
        return card.model_copy(update={"repeat": row.repeat, "facts": _facts(row)}), ()
    prompt = tx.prompts.get(row.prompt_id)
    if prompt.status is not PromptStatus.PENDING:
        return None
    return asked(tx, s, row, prompt)


def asked(tx: Tx, s: Services, row: Delivery, prompt: Prompt) -> tuple[Card, Actions]:
    """The step that the question is at, and what its buttons stand for. Those that it has keep
    their ids, as the message that was lost in a crash may be there after all."""
    step = dialogue.step(prompt, about(tx, prompt), row.given)
    known = [str(one["button"]) for one in row.actions]
    ids = known if len(known) == len(step.ways) else [f"{row.id}-{s.ids.new()}" for _ in step.ways]
    actions = [
        {"button": id, "action": way.action.model_dump(mode="json")}
        for id, way in zip(ids, step.ways, strict=True)
    ]
    buttons = [
        Button(id=id, label=way.label, style=way.style)
        for id, way in zip(ids, step.ways, strict=True)
    ]
    card = _card(s, step, prompt.task_id, buttons)
    since = f"Open since {prompt.created_at:%Y-%m-%d %H:%M} UTC."
    first = (since,) if row.occasion is Occasion.REMINDER else ()
    more = {"body": (*first, *card.body), "repeat": row.repeat, "facts": _facts(row)}
    return card.model_copy(update=more), actions


def closed(tx: Tx, s: Services, row: Delivery) -> Card:
    """Without buttons, and with how it ended."""
    assert row.prompt_id is not None
    try:
        prompt = tx.prompts.get(row.prompt_id)
    except PromptNotFound:
        return told(s, row.title, ("The task was deleted.",), None)
    return ended(tx, s, prompt)


def ended(tx: Tx, s: Services, prompt: Prompt) -> Card:
    return _card(s, dialogue.closed(prompt, about(tx, prompt)), prompt.task_id, ())


def told(s: Services, title: str, body: Sequence[str], task_id: TaskId | None) -> Card:
    shown = tuple(visible_lines(part) for part in body if part.strip())
    step = Step(title=visible(title, len(title) + 1), body=shown)
    return _card(s, step, task_id, ())


def link(s: Services, task_id: TaskId | None) -> str | None:
    try:
        base = s.configs.web_url() or s.reachable.url
    except InvalidConfig:
        base = s.reachable.url
    where = f"tasks/{task_id}" if task_id else "inbox"
    return f"{base}/{where}" if base else None


def reply(s: Services, given: Reply) -> Reply:
    """What is said to somebody; its card was made here."""
    ask = None if given.ask is None else s.redact(given.ask)
    return given.model_copy(update={"ask": ask, "says": s.redact(given.says)})


def _is_there(tx: Tx, task_id: TaskId) -> bool:
    try:
        tx.tasks.get(task_id)
    except TaskNotFound:
        return False
    return True


def _facts(row: Delivery) -> dict[str, str]:
    known = {"occasion": row.occasion.value, "task": row.task_id, "prompt": row.prompt_id}
    return {name: value for name, value in known.items() if value}


def _card(s: Services, step: Step, task_id: TaskId | None, buttons: Sequence[Button]) -> Card:
    clean = s.redact
    return Card(
        title=clean(step.title),
        body=tuple(clean(part) for part in step.body),
        buttons=tuple(b.model_copy(update={"label": clean(b.label)}) for b in buttons),
        hint=clean(step.hint),
        link=link(s, task_id),
    )
