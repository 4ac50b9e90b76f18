"""The end of a race, without anybody beside who performs effects: what is picked is taken once,
whatever dies on the way."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents_manager import bootstrap
from agents_manager.bootstrap import Program
from agents_manager.domain import race
from agents_manager.domain.event import Event
from agents_manager.domain.run import ErrorClass, Run, RunStatus
from agents_manager.domain.task import EffectRow, Task
from agents_manager.flow import facts, hooks, prompts, racing, tasks, transitions
from agents_manager.flow.ports import Change, Removed, Services
from agents_manager.flow.runs import close
from agents_manager.flow.runs.verdict import Verdict, trouble
from agents_manager.scm.workspaces import ChosenWorkspaces
from agents_manager.settings import Settings
from tests.asking import Clock
from tests.engine_walk import AtOnce
from tests.repos import make_repo, refs, scripted_home
from tests.repos import run as git
from tests.worlds import ANN, NO_RETRIES

DONE = Verdict(outcome="pr_ready", payload=None, inferred=False)
THREE = [race.Contender(agent="scripted", model=name) for name in ("one", "two", "three")]


class Died(BaseException):
    """The process was killed."""


class Dying(ChosenWorkspaces):
    """Real git, whose process is killed after so many of its steps."""

    def __init__(self, root: Path, steps: int) -> None:
        super().__init__(root)
        self._left = steps

    def _step(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise Died

    async def adopt(self, repo: Path, branch: str, sha: str, message: str) -> str:
        done = await super().adopt(repo, branch, sha, message)
        self._step()
        return done

    async def remove(self, repo: Path, key: str, *, idle: bool = False) -> Removed:
        done = await super().remove(repo, key, idle=idle)
        self._step()
        return done

    async def shelve(self, repo: Path, key: str, branch: str) -> Sequence[Event]:
        done = await super().shelve(repo, key, branch)
        self._step()
        return done

    async def change(self, repo: Path, branch: str, base: str) -> Change:
        done = await super().change(repo, branch, base)
        self._step()
        return done


class Course:
    """Contenders that are at work, each with a commit."""

    def __init__(self, program: Program, repo: Path, task: Task) -> None:
        self.s, self.home = program.services, program.settings.home
        self.repo, self.task = repo, task

    @property
    def branch(self) -> str:
        return f"agent/race-{self.task.id[:8]}"

    async def live(self) -> list[Run]:
        return await self.s.store.read(lambda tx: tx.runs.live(self.task.id))

    async def status(self) -> str:
        return (await self.s.store.read(lambda tx: tx.tasks.get(self.task.id))).status

    async def told(self, kind: str) -> list[dict[str, Any]]:
        read = self.s.store.read
        log = await read(lambda tx: tx.events.of_task(self.task.id, after_seq=0, limit=500))
        return [dict(e.data) for e in log if e.type == kind]

    async def end(self, run: Run, verdict: Verdict = DONE) -> None:
        await close.close(
            run.id, {**verdict, "head_sha": git(self.repo, "rev-parse", run.branch or "")}, self.s
        )

    async def open(self, kind: str) -> list[EffectRow]:
        found = await self.s.store.read(lambda tx: tx.effects.open(self.task.id))
        return [effect for effect in found if effect.kind == kind]

    async def perform(self, kind: str, s: Services | None = None) -> None:
        for effect in await self.open(kind):
            await hooks.perform(effect.id, effect.attempt, s or self.s, AtOnce())

    async def choose(self, choice: str) -> None:
        (prompt,) = await self.s.store.read(lambda tx: tx.prompts.pending(self.task.id))
        await prompts.answer(self.s, prompt.id, {"choice_id": choice}, ANN)

    async def choices(self) -> list[str]:
        (prompt,) = await self.s.store.read(lambda tx: tx.prompts.pending(self.task.id))
        return [choice["id"] for choice in prompt.payload["choices"]]


@pytest.fixture
async def program(tmp_path: Path, own_home: Path) -> AsyncIterator[Program]:
    place = Settings(scripted_home(tmp_path / "home", **NO_RETRIES), None)
    async with bootstrap.client(place, clock=Clock()) as program:
        yield program


@pytest.fixture
async def course(program: Program, tmp_path: Path) -> Course:
    repo = make_repo(tmp_path / "shop")
    await tasks.add_project(program.services, repo, None, None)
    return await begun(program, repo)


async def begun(program: Program, repo: Path) -> Course:
    s = program.services
    project = await s.store.read(lambda tx: tx.projects.find("shop"))
    task = await tasks.create(s, project, tasks.NewTask(title="Race", pipeline="simple"), ANN)
    await racing.order(s, task.id, THREE, None, ANN)
    course = Course(program, repo, task)
    git(repo, "branch", course.branch)
    for run in await course.live():
        await _work(course, run)
    return course


async def _work(course: Course, run: Run) -> None:
    """What the first steps of a run leave behind, and a commit of its own."""
    s, repo, branch = course.s, course.repo, f"{course.branch}--part-{run.part}"
    made = await s.workspaces.prepare(repo, f"{run.task_id}.{run.part}", branch, course.branch)
    (made.path / "work.txt").write_text(run.part)
    sha = (await s.workspaces.commit_all(made.path, branch, f"Of {run.part}")).sha
    await s.workspaces.release(made.path)
    fields = {
        "status": RunStatus.RUNNING,
        "started_at": s.clock.now(),
        "branch": branch,
        "workspace": str(made.path),
        "base_sha": git(repo, "rev-parse", "main"),
        "head_sha": sha,
    }
    await s.store.write(lambda tx: tx.runs.update(run.id, **fields))


async def test_nobody_is_asked_until_the_last_has_ended_and_then_once(course: Course) -> None:
    first, second, third = await course.live()
    await course.end(second)
    await course.end(third, trouble("No.", ErrorClass.AUTH))
    assert await course.open("settle_race") == []
    await course.end(first)
    (effect,) = await course.open("settle_race")
    await course.perform("settle_race")
    assert (await course.choices())[:4] == ["pick-1-1", "pick-1-2", "rerun", "race"]
    await hooks.perform(effect.id, effect.attempt, course.s, AtOnce())  # As after a crash.
    assert len(await course.told("race.compared")) == 1
    assert len(await course.s.store.read(lambda tx: tx.prompts.of_task(course.task.id))) == 1


async def test_a_task_that_was_cancelled_in_between_stays_so(course: Course) -> None:
    for run in await course.live():
        await course.end(run)
    await course.perform("settle_race")
    await course.choose("pick-1-1")
    await tasks.move(course.s, course.task.id, ANN, to="cancelled")
    await course.perform("take_part")
    assert await course.status() == "cancelled"
    assert git(course.repo, "rev-parse", course.branch) == git(course.repo, "rev-parse", "main")
    assert len([name for name in refs(course.repo, "refs/heads") if "--part-" in name]) == 3


@pytest.mark.slow
async def test_what_cannot_be_taken_is_asked_for_again(course: Course) -> None:
    """Git was told to forget the commits of the one that is picked."""
    runs = await course.live()
    for run in runs:
        await course.end(run)
    await course.perform("settle_race")
    gone = {"head_sha": "0" * 39 + "1"}
    await course.s.store.write(lambda tx: tx.runs.update(runs[0].id, **gone))
    await course.choose("pick-1-1")
    for _ in range(hooks.MAX_ATTEMPTS):
        await course.perform("take_part")
    assert await course.status() == "in_progress"
    assert "pick-1-2" in await course.choices()
    assert await course.told("race.picked") == []
    await course.choose("pick-1-2")
    await course.perform("take_part")
    assert await course.status() == "review"


STEPS = 8
"""The branch is moved; three workspaces and three branches go; the change is read."""


@pytest.mark.parametrize(
    "steps", [pytest.param(n, marks=[] if n == 2 else pytest.mark.slow) for n in range(STEPS)]
)
async def test_killed_after_any_step_it_is_taken_whole_and_once(course: Course, steps: int) -> None:
    runs = await course.live()
    for run in runs:
        await course.end(run)
    await course.perform("settle_race")
    await course.choose("pick-1-2")
    dying = replace(course.s, workspaces=Dying(course.home / "worktrees", steps))
    with pytest.raises(Died):
        await course.perform("take_part", dying)
    assert await course.status() == "in_progress"
    assert await course.told("race.picked") == []
    await course.perform("take_part")
    assert await course.status() == "review"
    assert len(await course.told("race.picked")) == 1
    assert git(course.repo, "rev-parse", course.branch) == runs[1].head_sha
    assert [*refs(course.repo, "refs/heads")] == [f"refs/heads/{course.branch}", "refs/heads/main"]
    kept = refs(course.repo, "refs/agents-manager/snapshots")
    assert sorted(kept.values()) == sorted(r.head_sha or "" for r in (runs[0], runs[2]))
    assert sorted(e["number"] for e in await course.told("snapshot.saved")) == [1, 2]
    assert [*await course.s.workspaces.standing(course.repo)] == []
    assert len(await course.open("push_and_create_pr")) == 1
    # Whoever goes on with it goes on with what was picked, not with who was last.
    ways = await course.s.store.read(
        lambda tx: facts.resume_point(tx, course.task, transitions.AUTO, None)
    )
    assert ways.run == runs[1].id


@pytest.mark.slow
async def test_a_branch_that_somebody_looks_at_is_saved_and_stays(course: Course) -> None:
    runs = await course.live()
    for run in runs:
        await course.end(run)
    await course.perform("settle_race")
    await course.s.workspaces.remove(course.repo, f"{course.task.id}.{runs[0].part}")
    git(course.repo, "switch", "-q", runs[0].branch or "")
    await course.choose("pick-1-2")
    await course.perform("take_part")
    assert f"refs/heads/{runs[0].branch}" in refs(course.repo, "refs/heads")
    assert runs[0].head_sha in refs(course.repo, "refs/agents-manager/snapshots").values()
