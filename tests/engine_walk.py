"""The real engine walked by the script of a simulation: real store, real git, the flow's own
functions. Only the agent and its process are left out; what it ends with comes from the script."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from agents_manager import bootstrap
from agents_manager.domain import pipeline as pipelines
from agents_manager.domain.ids import RunId, TaskId
from agents_manager.domain.outcome import Malformed, Reported, validate
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import Prompt
from agents_manager.domain.run import ErrorClass, Run, RunStatus
from agents_manager.domain.simulation_script import Step
from agents_manager.domain.simulation_walk import SAID_SO
from agents_manager.domain.task import EffectRow, History, Project, Result, Task
from agents_manager.errors import AgentsManagerError
from agents_manager.flow import branches, hooks, prompts, tasks
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.runs import close, collect
from agents_manager.flow.runs.verdict import Verdict, trouble
from agents_manager.flow.unmerged import Consent
from agents_manager.settings import Settings
from tests import ready, repos
from tests.worlds import ANN, NO_RETRIES

T = TypeVar("T")
LEAVE = Consent(leave_unmerged=True)


class AtOnce:
    """Steps of an engine that never crashes."""

    async def run(self, name: str, fn: Callable[[], Awaitable[T]]) -> T:
        return await fn()


class Ground:
    """A program without a worker, on one repository, for many walks."""

    def __init__(self, s: Services, project: Project, runner: asyncio.Runner) -> None:
        self.s = s
        self.project = project
        self.runner = runner
        self._walks = 0

    def walk(self, document: dict[str, Any]) -> "EngineWalk":
        """A new task on the pipeline."""
        self._walks += 1
        name = f"walk{self._walks}"
        return self.runner.run(self._begin({**document, "id": name}, name))

    async def _begin(self, document: dict[str, Any], name: str) -> "EngineWalk":
        parsed = pipelines.parse(document)
        now = self.s.clock.now()
        # Saved without lint: a property may be about what lint would refuse.
        await self.s.store.write(lambda tx: tx.pipelines.save(parsed, document, now))
        new = tasks.NewTask(title=name, pipeline=name)
        task = await tasks.create(self.s, self.project, new, ANN)
        return EngineWalk(self.s, self.project, task.id, self.runner)


@contextmanager
def ground(folder: Path, files: repos.Files | None = None) -> Iterator[Ground]:
    with pytest.MonkeyPatch.context() as patch, asyncio.Runner() as runner:
        repos.settle(folder, patch)
        repo = repos.make_repo(folder / "walked", files)
        # In a simulation an error counts at once.
        home = ready.home(repos.scripted_home(folder / "home", **NO_RETRIES))
        opened = bootstrap.client(Settings(home, None))
        program = runner.run(opened.__aenter__())
        try:
            s = program.services
            yield Ground(s, runner.run(tasks.add_project(s, repo, None, None)), runner)
        finally:
            runner.run(opened.__aexit__(None, None, None))


class EngineWalk:
    def __init__(
        self, s: Services, project: Project, task_id: TaskId, runner: asyncio.Runner
    ) -> None:
        self.s = s
        self.project = project
        self.task_id = task_id
        self._repo = Path(project.path)
        self._runner = runner
        self._failing: set[str] = set()
        self._begun: set[str] = set()
        """Effects whose agent is at work."""

    # -------------------------------------------------------------------------- what there is

    def read(self, fn: Callable[[Tx], T]) -> T:
        return self._runner.run(self.s.store.read(fn))

    @property
    def task(self) -> Task:
        return self.read(lambda tx: tx.tasks.get(self.task_id))

    @property
    def history(self) -> list[History]:
        return self.read(lambda tx: tx.history.of_task(self.task_id))

    @property
    def asked(self) -> list[Prompt]:
        """Every question there was."""
        return self.read(lambda tx: tx.prompts.of_task(self.task_id))

    @property
    def pending(self) -> list[Prompt]:
        return self.read(lambda tx: tx.prompts.pending(self.task_id))

    @property
    def live(self) -> Run | None:
        return self.read(lambda tx: next(iter(tx.runs.live(self.task_id)), None))

    @property
    def final(self) -> bool:
        task = self.task
        return self.read(
            lambda tx: tx.pipelines.get(task.pipeline_id, task.pipeline_version).is_final(
                task.status
            )
        )

    @property
    def waits_for(self) -> str:
        """In the words of a simulation."""
        if self.final:
            return "The task is finished."
        asked = self.pending
        if asked:
            return f"A person is asked: {', '.join(p.type for p in asked)}."
        return "An agent is at work." if self.live else "A person moves it on."

    @property
    def moves(self) -> list[tuple[Result, str, str]]:
        return [(h.result, h.source, h.to) for h in self.history if h.result is not Result.REFUSED]

    # --------------------------------------------------------------------------- what is done

    def play(self, step: Step) -> AgentsManagerError | None:
        """One step and all that follows from it; what refused it."""
        return self.act(self._act(step.name, step.argument))

    def act(self, work: Coroutine[Any, Any, object]) -> AgentsManagerError | None:
        try:
            self._runner.run(work)
        except AgentsManagerError as error:
            return error
        finally:
            self._runner.run(self._perform())
        return None

    async def _act(self, name: str, argument: Any) -> None:
        match name:
            case "start":
                await tasks.move(self.s, self.task_id, ANN, consent=LEAVE)
            case "move":
                await tasks.move(self.s, self.task_id, ANN, to=argument, consent=LEAVE)
            case "outcome":
                await self._end(argument.name, argument.payload)
            case "error":
                await self._fail(argument)
            case "answer" | "review":
                raw = {"decision": argument, "summary": SAID_SO} if name == "review" else argument
                await self._answer(raw, choice=False, review=name == "review")
            case "choose":
                await self._answer({"choice_id": argument}, choice=True)
            case _:
                self._failing.add(argument.hook)

    async def _answer(
        self, raw: dict[str, Any], *, choice: bool = False, review: bool = False
    ) -> None:
        reviews = (PromptType.REVIEW, PromptType.DOCUMENT_REVIEW)
        for prompt in await self.s.store.read(lambda tx: tx.prompts.pending(self.task_id)):
            fits = (prompt.type is PromptType.CHOICE) is choice
            if fits and (not review or prompt.type in reviews):
                await prompts.answer(self.s, prompt.id, raw, ANN, consent=LEAVE)

    async def _end(self, name: str, payload: Any) -> None:
        """The agent at work ends with an outcome, held to the registry as its output would be."""
        runs = await self.s.store.read(lambda tx: tx.runs.live(self.task_id))
        if not runs:
            return
        run = runs[0]
        task = await self.s.store.read(lambda tx: tx.tasks.get(self.task_id))
        pipeline = await self.s.store.read(
            lambda tx: tx.pipelines.get(task.pipeline_id, task.pipeline_version)
        )
        known = self.s.registry
        reading = validate(name, payload, known.offered(pipeline, task.status), known.outcomes)
        if isinstance(reading, Malformed):
            return
        assert isinstance(reading, Reported)
        said = dict(reading.payload) if reading.payload else None
        verdict = Verdict(outcome=reading.name, payload=said, inferred=False, document="The text.")
        if reading.name == "pr_ready":
            await self._commit(run.id)
        await collect.collect(run.id, verdict, self.s)
        await close.close(run.id, verdict, self.s)

    async def _fail(self, error_class: ErrorClass) -> None:
        for run in await self.s.store.read(lambda tx: tx.runs.live(self.task_id)):
            await close.close(run.id, trouble(SAID_SO, error_class), self.s)

    async def _begin(self, run_id: RunId) -> None:
        """What the first step of a run leaves behind, but for the worktree."""
        run, at, own = await self.s.store.read(lambda tx: self._grounds(tx, run_id))
        for ground in (own, at):
            await self.s.workspaces.ensure_branch(self._repo, ground.branch, ground.base)

        def begun(tx: Tx) -> None:
            branches.keep(tx, self.s, tx.tasks.get(self.task_id), at)
            now = self.s.clock.now()
            tx.runs.update(run.id, status=RunStatus.RUNNING, branch=at.branch, started_at=now)

        await self.s.store.write(begun)

    async def _commit(self, run_id: RunId) -> None:
        _, at, _ = await self.s.store.read(lambda tx: self._grounds(tx, run_id))
        ref = f"refs/heads/{at.branch}"
        tip = repos.sha(self._repo, ref)
        made = repos.run(self._repo, "commit-tree", "-p", tip, "-m", run_id, f"{tip}^{{tree}}")
        repos.run(self._repo, "update-ref", ref, made)

    def _grounds(self, tx: Tx, run_id: RunId) -> tuple[Run, branches.Ground, branches.Ground]:
        """The run, where it works, and the branch of its task."""
        run, task = tx.runs.get(run_id), tx.tasks.get(self.task_id)
        at = branches.of_run(tx, self.s, run, task, self.project)
        return run, at, branches.of_task(tx, self.s, task, self.project)

    async def _perform(self) -> None:
        """All that is due of the task, but the work of agents."""
        while True:
            found = await self.s.store.read(self._due)
            if not found:
                return
            row, hook = found
            if row.kind == "start_agent" and hook not in self._failing:
                self._begun.add(row.id)
                await self._begin(RunId(row.payload["run_id"]))
            elif hook in self._failing:
                self._failing.discard(hook)
                await hooks.failed(self.s, row.id, row.attempt, SAID_SO, retryable=False)
            else:
                await hooks.perform(row.id, row.attempt, self.s, AtOnce())

    def _due(self, tx: Tx) -> tuple[EffectRow, str] | None:
        named = {
            record.effect: record.name
            for entry in tx.history.of_task(self.task_id)
            for record in entry.hooks
        }
        for row in tx.effects.due(self.s.clock.now(), 1000):
            hook = named.get(row.id, row.kind)
            if row.task_id == self.task_id and row.id not in self._begun:
                return row, hook
        return None
