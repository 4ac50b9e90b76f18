"""Hands commits that no agent handed over to a review, after a person chose that."""

from pathlib import Path

from agents_manager.domain.effects import HandOver
from agents_manager.domain.handing_over import CHECKED
from agents_manager.domain.ids import EffectId, PromptId
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import ADMIN, Prompt
from agents_manager.domain.question import Ask
from agents_manager.domain.run import ErrorClass, Run
from agents_manager.domain.task import Actor, ActorType, EffectRow
from agents_manager.domain.transition import Refused
from agents_manager.flow import (
    asking,
    branches,
    planning,
    settling,
    sharing,
    transitions,
    unreviewed,
)
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.runs import checking, close, collect
from agents_manager.flow.runs.prepare import of
from agents_manager.flow.runs.verdict import Verdict, trouble


def order(tx: Tx, s: Services, prompt: Prompt, how: str) -> None:
    """Add the effect that hands the commits over, with or without running the checks first."""
    effect = HandOver(prompt_id=prompt.id, with_checks=how == CHECKED)
    task = tx.tasks.get(prompt.task_id)
    planning.beside(tx, s, task, effect, EffectId(f"{prompt.id}-hand-over"))


async def perform(row: EffectRow, effect: HandOver, s: Services) -> None:
    """Check the commits, and move the task to its review if they pass. Otherwise ask again."""
    run = await s.store.read(lambda tx: _last_run(tx, row))
    if run is None:
        await settling.finish(s, row)
        return
    verdict = await _checked(run, effect, s)
    if "outcome" in verdict:
        await collect.collect(run.id, verdict, s)

    def then(tx: Tx) -> None:
        if _last_run(tx, row) is None:
            return
        if effect.with_checks:
            close.record_checks(tx, s, run, verdict)
        if "error" in verdict:
            ask_again(tx, s, row, verdict["error"], close.error_of(verdict).output)
        else:
            _move_to_review(tx, s, row, effect)

    await settling.finish(s, row, then)


def ask_again(tx: Tx, s: Services, row: EffectRow, reason: str, evidence: str = "") -> None:
    """Ask the same question again, with the reason why the work was not handed over."""
    effect = HandOver.model_validate(row.payload)
    prompt, task = tx.prompts.get(PromptId(effect.prompt_id)), tx.tasks.get(row.task_id)
    payload = {**prompt.payload, "reason": reason, "evidence": evidence}
    ask = Ask(PromptType.CHOICE, payload, None, (ADMIN,))
    last = tx.history.of_task(task.id)[-1]
    asking.open_prompt(tx, s, task, ask, last.id, prompt.resume, revision=prompt.revision + 1)


async def _checked(run: Run, effect: HandOver, s: Services) -> Verdict:
    """Return the verdict on the commits that are on the branch now."""
    run, task, project = await s.store.read(lambda tx: of(tx, run.id))
    ground = await s.store.read(lambda tx: branches.of_run(tx, s, run, task, project))
    await sharing.tell(s, task, await sharing.ready(s, task, project, [ground]))
    start, head = await s.workspaces.ends(Path(project.path), ground.branch, ground.base)
    if start == head:
        error = f'The branch "{ground.branch}" no longer has commits.'
        return trouble(error, ErrorClass.ENVIRONMENT)
    verdict = Verdict(outcome="pr_ready", start_sha=start, head_sha=head)
    directory = checking.last_dir(s, run)
    own = effect.with_checks
    verdict = await checking.judge(run, project, verdict, start, directory, s, fresh=True, own=own)
    if (
        not own and "error" not in verdict
    ):  # The results of an earlier run of the checks stay on record.
        verdict.pop("checks", None)
    return verdict


def _move_to_review(tx: Tx, s: Services, row: EffectRow, effect: HandOver) -> None:
    prompt, task = tx.prompts.get(PromptId(effect.prompt_id)), tx.tasks.get(row.task_id)
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    found = unreviewed.way(tx, task, pipeline)
    if found is None:
        ask_again(tx, s, row, f'Pipeline "{pipeline.id}" has no review for this work any more.')
        return
    leaving, fired = found
    name, via = prompt.responded_by or "", prompt.responded_via
    actor = Actor(type=ActorType.USER, name=name, via=via, admin=True)
    moved = transitions.apply(tx, s, task.id, fired, actor, leaving=leaving)
    if isinstance(moved, Refused):
        ask_again(tx, s, row, " ".join(moved.reasons))


def _last_run(tx: Tx, row: EffectRow) -> Run | None:
    """Return the task's last run, or None if the task was moved since the person answered."""
    last = tx.history.of_task(row.task_id)[-1]
    if last.id != row.history_id or tx.runs.live(row.task_id):
        return None
    return tx.runs.of_task(row.task_id)[-1]
