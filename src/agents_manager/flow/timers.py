"""What time does to questions: they expire, the suggested answer is taken where the agent allowed
it, and people are reminded. All of it is in the rows, so that a crash forgets none, and is done in
one transaction with the look that finds it due, so that none is done twice."""

import structlog

from agents_manager.domain import event
from agents_manager.domain.ids import EffectId, ProjectId, PromptId
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import Choice, Prompt, PromptStatus, recommended_answer
from agents_manager.domain.reminder import Reminders
from agents_manager.domain.routing import Occasion
from agents_manager.errors import (
    AgentsManagerError,
    Conflict,
    HookFailed,
    InvalidInput,
    NotFound,
)
from agents_manager.flow import asking, places, planning, prompts
from agents_manager.flow.liveness import SUPERVISOR
from agents_manager.flow.ports import Services, Tx

log = structlog.get_logger()


async def fire(s: Services) -> None:
    """Closes what has expired and takes the suggested answers that are due."""
    now = s.clock.now()
    for prompt_id in await s.store.read(lambda tx: tx.prompts.due(now)):
        try:
            if not await s.store.write(lambda tx, p=prompt_id: _expire(tx, s, p)):
                await _take_default(s, prompt_id)
        except AgentsManagerError as error:  # One of them must not hold up the others.
            log.warning("prompt.timer_failed", prompt=prompt_id, error=error.message)


def _expire(tx: Tx, s: Services, prompt_id: PromptId) -> bool:
    """Closes the question and lets an admin choose how the task goes on."""
    prompt, now = tx.prompts.get(prompt_id), s.clock.now()
    if prompt.expires_at is None or prompt.expires_at > now:
        return False
    if prompt.status is not PromptStatus.PENDING:
        return True
    asking.close(tx, s, prompt, PromptStatus.EXPIRED)
    if prompt.type is PromptType.PERMISSION:  # The run that asked goes on without it.
        return True
    task = tx.tasks.get(prompt.task_id)
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    reason = f"Nobody answered in time: {asking.summary(prompt)}"
    again = Choice(id="ask", label="Ask again", action=f"ask:{prompt.id}")
    extra = [] if prompt.type is PromptType.CHOICE else [again]
    asking.open_choice(tx, s, task, pipeline, prompt.history_id, reason, extra=extra)
    notice = EffectId(f"{prompt.id}-expired")
    planning.notice(tx, s, task, notice, f"Not answered in time: {task.title}", reason)
    return True


async def _take_default(s: Services, prompt_id: PromptId) -> None:
    """As if a person had accepted what is recommended; if the pipeline does not take that, the
    question stays open for a person."""
    prompt = await s.store.read(lambda tx: tx.prompts.get(prompt_id))
    answer = recommended_answer(prompt.type, prompt.payload)
    assert answer is not None
    try:
        await prompts.answer(s, prompt_id, answer, prompts.BY_DEFAULT)
    except (Conflict, InvalidInput, HookFailed):
        await s.store.write(lambda tx: tx.prompts.update(prompt_id, default_at=None))


async def remind(s: Services) -> None:
    """Reminds people of what has been open for too long."""
    for project in await s.store.read(lambda tx: tx.projects.all()):
        if places.away(s, project) is not None:
            continue  # A machine that has it reminds.
        try:
            wanted = s.configs.of(project).reminders
        except AgentsManagerError as error:
            log.warning("reminders.config_broken", project=project.name, error=error.message)
            continue
        await _remind_project(s, project.id, wanted)


async def _remind_project(s: Services, project_id: ProjectId, wanted: Reminders) -> None:
    since = wanted.silent_since(s.clock.now())
    if since is None:
        return
    for prompt_id in await s.store.read(lambda tx: tx.prompts.silent(project_id, since)):
        await s.store.write(lambda tx, p=prompt_id: _remind(tx, s, p, wanted))


def _remind(tx: Tx, s: Services, prompt_id: PromptId, wanted: Reminders) -> None:
    try:
        prompt = tx.prompts.get(prompt_id)
    except NotFound:
        return  # Deleted with its task since the look.
    now = s.clock.now()
    since = wanted.silent_since(now)
    heard = prompt.reminded_at or prompt.created_at
    if prompt.status is not PromptStatus.PENDING or since is None or heard > since:
        return
    number = prompt.reminders + 1
    tx.prompts.update(prompt.id, reminders=number, reminded_at=now)
    told = event.PromptReminded(prompt=prompt.id, number=number)
    tx.events.add(prompt.task_id, told, SUPERVISOR, now)
    task = tx.tasks.get(prompt.task_id)
    notice = EffectId(f"{prompt.id}-reminder-{number}")
    title = f"Still waiting for an answer: {task.title}"
    body = f"{asking.summary(prompt)}\n{_since(prompt)}"
    planning.notice(tx, s, task, notice, title, body, Occasion.REMINDER, prompt.id)


def _since(prompt: Prompt) -> str:
    return f"Asked at {prompt.created_at:%Y-%m-%d %H:%M} UTC: am prompt show {prompt.id}"
