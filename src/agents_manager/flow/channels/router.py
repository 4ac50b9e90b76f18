"""What is told where: the log of events is followed behind a stored position, and what is to be
told of it becomes rows in the transaction that moves the position on. So nothing is told twice, and
nothing is lost while a channel is down."""

from collections.abc import Iterator
from dataclasses import dataclass

from agents_manager.domain import routing
from agents_manager.domain.delivery import Delivery, DeliveryState
from agents_manager.domain.effects import Notify
from agents_manager.domain.event import Logged
from agents_manager.domain.ids import PromptId, TaskId
from agents_manager.domain.routing import Occasion
from agents_manager.domain.task import EffectRow, Project, Task
from agents_manager.errors import InvalidConfig, NotFound
from agents_manager.flow.ports import ChannelRules, Services, Tx

CURSOR = "channels"
BROWSERS = "push"
BATCH = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """Something to tell, wherever it is wanted."""

    key: str
    occasion: Occasion
    title: str
    body: tuple[str, ...] = ()
    task_id: TaskId | None = None
    prompt_id: PromptId | None = None


def route(tx: Tx, s: Services) -> int:
    """How many events were looked at. At first, what was before is left alone."""
    last = tx.deliveries.position(CURSOR)
    if last is None:
        tx.deliveries.move_to(CURSOR, tx.events.last_id())
        return 0
    events = tx.events.after(last, task=None, limit=BATCH)
    for logged in events:
        _route(tx, s, logged)
    if events:
        tx.deliveries.move_to(CURSOR, events[-1].id)
    return len(events)


def pass_over(tx: Tx) -> None:
    """Nobody listens: what happens is not told later."""
    tx.deliveries.move_to(CURSOR, tx.events.last_id())


def is_new(tx: Tx) -> bool:
    """Whether there is something to look at."""
    return tx.deliveries.position(CURSOR) != tx.events.last_id()


def is_behind(tx: Tx) -> bool:
    """Whether it was begun to read, and not read to the end."""
    return tx.deliveries.position(CURSOR) is not None and is_new(tx)


def notice(tx: Tx, s: Services, row: EffectRow, effect: Notify) -> None:
    """What a hook or the program has to say; of a move that a question or the end of the task
    tells of, nothing more is told."""
    task = tx.tasks.get(row.task_id)
    if effect.of_move and _is_told(tx, task, row):
        return
    told = Telling(
        key=f"effect-{row.id}",
        occasion=effect.occasion,
        title=effect.title,
        body=tuple(part for part in effect.body.split("\n") if part.strip()),
        task_id=task.id,
        prompt_id=PromptId(effect.prompt) if effect.prompt else None,
    )
    tell(tx, s, told, tx.projects.get(task.project_id))


def tell(tx: Tx, s: Services, told: Telling, project: Project | None) -> int:
    """A row for each place of each channel that wants it; how many there are."""
    return sum(
        tx.deliveries.add(row(s, told, name, place))
        for name, rules in rules_of(s, project).items()
        if name in s.channels and rules.enabled and told.occasion in rules.events
        if heard(tx, s, name)
        for place in rules.places
    )


def heard(tx: Tx, s: Services, name: str) -> bool:
    """Whether anybody takes what the channel tells; browsers say so themselves."""
    return name != BROWSERS or bool(tx.access.subscriptions(s.clock.now()))


def rules_of(s: Services, project: Project | None) -> dict[str, ChannelRules]:
    """Those of a project; while its file is broken, those of the machine."""
    try:
        return dict(s.configs.channels(project))
    except InvalidConfig:
        if project is None:
            raise
        return dict(s.configs.channels(None))


def _route(tx: Tx, s: Services, logged: Logged) -> None:
    try:
        task = tx.tasks.get(logged.task_id)
    except NotFound:
        return
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    to = str(logged.data.get("to"))
    occasion = routing.occasion(logged.type, final=pipeline.has(to) and pipeline.is_final(to))
    if occasion is None:
        return
    for told in _tellings(tx, task, logged, occasion):
        tell(tx, s, told, tx.projects.get(task.project_id))


def _tellings(tx: Tx, task: Task, logged: Logged, occasion: Occasion) -> Iterator[Telling]:
    key = f"event-{logged.id}"
    match occasion:
        case Occasion.QUESTION:
            yield Telling(
                key=key,
                occasion=occasion,
                title=str(logged.data["summary"]),
                task_id=task.id,
                prompt_id=PromptId(str(logged.data["prompt"])),
            )
        case Occasion.DONE:
            pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
            status = pipeline.status(str(logged.data["to"])).title
            pull = tx.pulls.of_task(task.id)
            how = (f"Pull request #{pull.number} is {pull.state}.",) if pull else ()
            title = f'🏁 {status}: "{task.title}"'
            yield Telling(key=key, occasion=occasion, title=title, body=how, task_id=task.id)
        case _:
            if not _is_asked(tx, task, logged) and not _is_tried_again(tx, logged):
                title = f'⚠️ Trouble with "{task.title}"'
                body = (logged.summary,)
                yield Telling(key=key, occasion=occasion, title=title, body=body, task_id=task.id)


def _is_asked(tx: Tx, task: Task, logged: Logged) -> bool:
    """A question that came of it says what failed."""
    return any(p.created_at >= logged.time for p in tx.prompts.pending(task.id))


def _is_tried_again(tx: Tx, logged: Logged) -> bool:
    if logged.type != "agent.failed":
        return False
    last = tx.events.last(logged.task_id, "agent.retry_scheduled")
    return last is not None and last.data["run"] == logged.data["run"]


def _is_told(tx: Tx, task: Task, row: EffectRow) -> bool:
    move = tx.history.get(row.history_id)
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    prompts = tx.prompts.of_task(task.id)
    asked = any(p.history_id == row.history_id for p in prompts)
    return asked or (pipeline.has(move.to) and pipeline.is_final(move.to))


def row(s: Services, told: Telling, channel: str, place: str) -> Delivery:
    now = s.clock.now()
    return Delivery(
        id=s.ids.new(),
        key=told.key,
        channel=channel,
        place=place,
        occasion=told.occasion,
        task_id=told.task_id,
        prompt_id=told.prompt_id,
        title=told.title,
        body=told.body,
        state=DeliveryState.PENDING,
        attempts=0,
        due_at=now,
        host=None,
        repeat=False,
        message=None,
        given=(),
        actions=(),
        error=None,
        created_at=now,
        sent_at=None,
        closed_at=None,
    )
