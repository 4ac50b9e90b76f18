"""What people order in a chat, through the functions that every door uses."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

from agents_manager.domain.budget import BudgetScope, spent
from agents_manager.domain.card import Reply
from agents_manager.domain.cost import By, Spent
from agents_manager.domain.delivery import DeliveryState
from agents_manager.domain.graph import Graph
from agents_manager.domain.names import visible
from agents_manager.domain.prompt import Prompt
from agents_manager.domain.routing import Occasion
from agents_manager.domain.task import Actor, Task
from agents_manager.errors import InvalidInput, TransitionRefused, closest
from agents_manager.flow import access, figures, later, remedies, tasks, views
from agents_manager.flow.channels import cards, new_tasks, router
from agents_manager.flow.ports import Act, Services, Tx

SHOWN = 10
SHORT = 8
SINCE = "30d"
BEFORE = {"slack": "/am "}
"""What stands before a command where that is not a slash alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    s: Services
    channel: str
    act: Act
    actor: Actor
    words: str

    @property
    def task(self) -> str:
        """The id of a task, or its beginning."""
        named = self.words.split()
        if not named:
            see = self.written("tasks")
            raise InvalidInput(f"Say which task: its id, or the first characters of it; see {see}.")
        return named[0]

    def written(self, command: str) -> str:
        """As people write it there."""
        return f"{BEFORE.get(self.channel, '/')}{command}"

    def card(self, title: str, *body: str, task: Task | None = None) -> Reply:
        return Reply(card=cards.told(self.s, title, body, task.id if task else None))


async def order(
    s: Services, channel: str, act: Act, actor: Actor, command: str, words: str
) -> Reply:
    name = command.lower().lstrip("/")
    made = Order(s=s, channel=channel, act=act, actor=actor, words=words)
    if name in ("start", "help"):
        ways = (f"{made.written(n)}{u}: {d}" for n, (_, u, d) in COMMANDS.items())
        return made.card("What I do", *ways)
    if name not in COMMANDS:
        hint = closest(name, list(COMMANDS))
        see = made.written("help")
        return Reply(says=f'There is no command "{visible(name, 40)}".{hint} Send {see}.')
    return await COMMANDS[name][0](made)


async def _inbox(order: Order) -> Reply:
    found = await order.s.store.read(lambda tx: views.inbox(tx, limit=SHOWN))
    if not found.items:
        return order.card("Your inbox", "Nobody asks anything.")
    rows = [
        f"• {visible(i.task.title, 80)}: {visible(i.summary, 200)}\n  {_named(order, i.task)}"
        for i in found.items
    ]
    more = found.total - len(found.items)
    return order.card(f"Your inbox: {found.total}", *rows, f"and {more} more" if more else "")


async def _tasks(order: Order) -> Reply:
    def read(tx: Tx) -> list[str]:
        page = tx.tasks.page(project=None, status=None, after=None, limit=100)
        lines = [_line(tx, order, task) for task in page if not _over(tx, task)]
        return lines[:SHOWN]

    rows = await order.s.store.read(read)
    return order.card("Open tasks", *(rows or ["There are none."]))


async def _task(order: Order) -> Reply:
    """With the question that is open about it, to be answered here."""

    def write(tx: Tx) -> Reply:
        view = views.task(tx, order.s, order.task, order.actor)
        if view.prompts:
            return _asked(tx, order, view.prompts[0])
        return order.card(view.task.title, view.why, task=view.task)

    return await order.s.store.write(write)


async def _why(order: Order) -> Reply:
    view = await order.s.store.read(lambda tx: views.task(tx, order.s, order.task, order.actor))
    return order.card(f"Why: {view.task.title}", view.why, task=view.task)


async def _new(order: Order) -> Reply:
    access.check_may_change(order.actor)
    new, named = new_tasks.read(order.words)
    project = await order.s.store.read(lambda tx: new_tasks.project_of(tx, named))
    task = await tasks.create(order.s, project, new, order.actor)
    start = f"Start it: {order.written('run')} {task.id[:SHORT]}"
    return order.card(f"Created: {task.title}", start, task=task)


async def _run(order: Order) -> Reply:
    access.check_may_change(order.actor)

    def write(tx: Tx) -> Task | None:
        task = tx.tasks.find(order.task)
        pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
        if task.status not in Graph(pipeline, order.s.registry).agent_statuses():
            return None
        remedies.start_run(tx, order.s, task.id, order.actor, remedies.Order())
        return task

    task = await order.s.store.write(write)
    if task is None:
        started = await later.start(order.s, order.task, order.actor)
        if isinstance(started, later.Waiting):
            waits = started.readiness.sentence()
            return order.card(f"Starts later: {started.task.title}", waits, task=started.task)
        task = started if isinstance(started, Task) else started.task
    return order.card(f"Started: {task.title}", task=task)


async def _stop(order: Order) -> Reply:
    access.check_may_change(order.actor)
    task, live = await order.s.store.read(
        lambda tx: ((task := tx.tasks.find(order.task)), tx.runs.live(task.id))
    )
    if not live:
        raise TransitionRefused(f'No agent works at "{task.title}" now.')
    for run in live:
        await tasks.stop_run(order.s, run.id, order.actor)
    return order.card(f"Stopping: {task.title}", task=task)


async def _cost(order: Order) -> Reply:
    s = order.s
    if order.words.strip():
        task, used = await s.store.read(
            lambda tx: (
                (task := tx.tasks.find(order.task)),
                tx.figures.spent(BudgetScope.TASK, task.id),
            )
        )
        return order.card(f"Cost: {task.title}", _sum(used), task=task)
    since = figures.since(SINCE, s.clock.now())
    report = await s.store.read(
        lambda tx: figures.cost(tx, s, By.PROJECT, project=None, since=since, limit=SHOWN)
    )
    rows = [f"• {visible(x.name or '?', 80)}: {_sum(x.spent)}" for x in report.shares]
    return order.card("Cost of the last 30 days", _sum(report.total), *rows)


Do = Callable[[Order], Awaitable[Reply]]
COMMANDS: Mapping[str, tuple[Do, str, str]] = {
    "inbox": (_inbox, "", "what needs you"),
    "tasks": (_tasks, "", "the open tasks"),
    "task": (_task, " ID", "one task, and the question about it"),
    "new": (_new, new_tasks.USAGE, "create a task"),
    "run": (_run, " ID", "start its agent"),
    "stop": (_stop, " ID", "stop its agent"),
    "why": (_why, " ID", "why it is where it is"),
    "cost": (_cost, " [ID]", "what was spent"),
}
"""Each with what it takes and what it does; `help` tells them."""


def _asked(tx: Tx, order: Order, prompt: Prompt) -> Reply:
    """The question as a message of its own; what it is called there nobody knows, so that it is
    not taken back, and a late press is answered instead."""
    s, now = order.s, order.s.clock.now()
    told = router.Telling(
        key=f"task-{s.ids.new()}",
        occasion=Occasion.QUESTION,
        title=prompt.type,
        task_id=prompt.task_id,
        prompt_id=prompt.id,
    )
    row = router.row(s, told, order.channel, order.act.place)
    card, actions = cards.asked(tx, s, row, prompt)
    shown = {"state": DeliveryState.SENT, "sent_at": now, "closed_at": now}
    tx.deliveries.add(replace(row, actions=tuple(actions), **shown))
    return Reply(card=card)


def _line(tx: Tx, order: Order, task: Task) -> str:
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    status = pipeline.status(task.status).title
    return f"• {visible(task.title, 80)}: {status}\n  {_named(order, task)}"


def _named(order: Order, task: Task) -> str:
    return f"{order.written('task')} {task.id[:SHORT]}"


def _over(tx: Tx, task: Task) -> bool:
    return tx.pipelines.get(task.pipeline_id, task.pipeline_version).is_final(task.status)


def _sum(used: Spent) -> str:
    """Unknown is never nothing."""
    if used.cost_usd is None and used.runs:
        return f"Unknown: none of {used.runs} runs says what it cost."
    return f"{spent(used.cost_usd or 0.0, used.unknown)}."
