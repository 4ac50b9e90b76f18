"""Decisions of people about failed checks that the agent may not be the cause of."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from agents_manager.domain import event
from agents_manager.domain.effects import RecheckRun
from agents_manager.domain.ids import EffectId, RunId, TaskId
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import Choice, ChoicePayload, Prompt
from agents_manager.domain.race import JUDGE
from agents_manager.domain.run import Run
from agents_manager.domain.task import Actor
from agents_manager.errors import InvalidInput, closest
from agents_manager.flow import asking, planning, remedies, unreviewed
from agents_manager.flow.ports import CheckSpec, Services, Tx

UNDECIDED, DECIDED = "agent.checks_undecided", "task.checks_decided"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckDecisions:
    """What people decided about the checks of a task."""

    skipped: tuple[str, ...] = ()
    left_to_agent: tuple[str, ...] = ()
    """Checks that the agent fixes although they fail on the base commit too."""

    def without_skipped(self, specs: Sequence[CheckSpec]) -> list[CheckSpec]:
        """Returns the checks to run. The search for secrets cannot be skipped."""
        return [spec for spec in specs if not spec.own or spec.name not in self.skipped]


def of_task(tx: Tx, task_id: TaskId) -> CheckDecisions:
    last = tx.events.last(task_id, DECIDED)
    if last is None:
        return CheckDecisions()
    return CheckDecisions(
        skipped=tuple(last.data["skipped"]), left_to_agent=tuple(last.data["left_to_agent"])
    )


def may_ask(run: Run) -> bool:
    """Returns whether a person can decide about the checks of a run: not for one of several that
    work side by side, whose task continues when all of them ended."""
    return not run.part and run.mode != JUDGE


def undecided(tx: Tx, run: Run) -> dict[str, Any] | None:
    """Returns the data of the last event that says that a person has to decide for the run."""
    last = tx.events.last(run.task_id, UNDECIDED)
    return dict(last.data) if last and last.data["run"] == run.id else None


def ask(tx: Tx, s: Services, run: Run, reason: str) -> None:
    """Asks a person how the task continues after the failed checks of a run."""
    data = undecided(tx, run) or {"checks": [], "ran": False}
    names: list[str] = data["checks"]
    skips = [
        Choice(
            id="skip" if len(names) == 1 else f"skip-{number}",
            label=f'Skip "{name}" for this task',
            action=f"skip_check:{run.id}:{name}",
        )
        for number, name in enumerate(names, 1)
    ]
    fix = Choice(id="fix", label="Let the agent fix it", action=f"fix_check:{run.id}")
    task = tx.tasks.get(run.task_id)
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    choices = [
        Choice(id="retry", label="Retry the checks", action=f"recheck:{run.id}"),
        *skips,
        Choice(id="edit", label="Edit the check", action=f"edit_check:{run.id}"),
        *([fix] if data["ran"] else []),
        *unreviewed.review_choice(tx, task, pipeline),
    ]
    last = tx.history.of_task(task.id)[-1]
    log = run.error.output if run.error else ""
    asking.open_choice(tx, s, task, pipeline, last.id, reason, evidence=log, extra=choices)


def choose(tx: Tx, s: Services, prompt: Prompt, action: str, actor: Actor) -> None:
    """Does what a person chose in the question of `ask`."""
    what, run_id, *name = action.split(":", 2)
    run = tx.runs.get(RunId(run_id))
    decided = of_task(tx, run.task_id)
    match what:
        case "edit_check":
            ask(tx, s, run, _where_configured(tx, s, run))
        case "fix_check":
            checks = (undecided(tx, run) or {"checks": ()})["checks"]
            left = tuple(dict.fromkeys((*decided.left_to_agent, *checks)))
            _decide(tx, s, run.task_id, replace(decided, left_to_agent=left), actor)
            remedies.rerun(tx, s, run.task_id, actor)
        case "skip_check":
            skipped = tuple(dict.fromkeys((*decided.skipped, *name)))
            _decide(tx, s, run.task_id, replace(decided, skipped=skipped), actor)
            _recheck(tx, s, prompt, run)
        case _:
            _recheck(tx, s, prompt, run)


def take_back(tx: Tx, s: Services, prompt: Prompt, actor: Actor) -> None:
    """Takes back what the answer to a question of `ask` decided."""
    if prompt.type is not PromptType.CHOICE or prompt.response is None:
        return
    choices = ChoicePayload.model_validate(prompt.payload).choices
    chosen = next(c for c in choices if c.id == prompt.response["choice_id"])
    what, _, about = chosen.action.partition(":")
    if what not in ("skip_check", "fix_check"):
        return
    run_id, _, name = about.partition(":")
    run = tx.runs.get(RunId(run_id))
    names = [name] if name else (undecided(tx, run) or {"checks": []})["checks"]
    decided = of_task(tx, prompt.task_id)
    field = "skipped" if what == "skip_check" else "left_to_agent"
    left = tuple(n for n in getattr(decided, field) if n not in names)
    _decide(tx, s, prompt.task_id, replace(decided, **{field: left}), actor)


async def restore(s: Services, task_id: str, name: str, actor: Actor) -> CheckDecisions:
    """Has a skipped check run for the task again, from its next run on."""

    def write(tx: Tx) -> CheckDecisions:
        task = tx.tasks.find(task_id)
        decided = of_task(tx, task.id)
        if name not in decided.skipped:
            hint = closest(name, list(decided.skipped))
            raise InvalidInput(f'Check "{name}" is not skipped for "{task.title}".{hint}')
        left = replace(decided, skipped=tuple(n for n in decided.skipped if n != name))
        _decide(tx, s, task.id, left, actor)
        return left

    return await s.store.write(write)


def _recheck(tx: Tx, s: Services, prompt: Prompt, run: Run) -> None:
    effect_id = EffectId(f"{prompt.id}-recheck")
    planning.beside(tx, s, tx.tasks.get(run.task_id), RecheckRun(run_id=run.id), effect_id)


def _where_configured(tx: Tx, s: Services, run: Run) -> str:
    project = tx.projects.get(run.project_id)
    names: list[str] = (undecided(tx, run) or {"checks": []})["checks"]
    places = [
        f"{setting.key} in {setting.file}"
        for setting in s.configs.explain(project)
        if setting.file is not None
        and (setting.key == "setup" or setting.key.startswith(tuple(f"checks.{n}" for n in names)))
    ]
    where = "; ".join(dict.fromkeys(places)) or ", ".join(f"checks.{name}" for name in names)
    return (
        f'Edit {where}. Trust the changed commands with "am project trust {project.name}", then'
        " retry the checks."
    )


def _decide(tx: Tx, s: Services, task_id: TaskId, decided: CheckDecisions, actor: Actor) -> None:
    happened = event.ChecksDecided(
        skipped=decided.skipped, left_to_agent=decided.left_to_agent, by=actor.name
    )
    tx.events.add(task_id, happened, actor, s.clock.now())
