"""The same task by several agents on the real engine: each in a workspace of its own, compared,
one picked, the rest kept."""

from typing import Any

import pytest

from agents_manager.domain import race
from agents_manager.domain.event import Logged
from agents_manager.domain.run import Run, RunStatus
from agents_manager.domain.task import Actor, ActorType, Task
from agents_manager.errors import InvalidInput, NotAllowed, NotFound, TransitionRefused
from agents_manager.flow import comparing, racing, remedies, snapshots, tasks
from agents_manager.flow.views import TaskView
from tests.repos import refs
from tests.repos import run as git
from tests.worlds import ANN, World, lives

Step = dict[str, Any]
THREE = ("scripted:one", "scripted:two", "scripted:three")
JUDGE = "scripted:judge"


def works(text: str, *before: Step, cost: float | None = None) -> list[Step]:
    spent = [{"usage": {"input_tokens": 10, "output_tokens": 5, "cost_usd": cost}}] if cost else []
    return [
        *before,
        {"write": {"path": "greeting.txt", "text": f"{text}\n"}},
        {"commit": f"Say {text}"},
        *spent,
        {"outcome": "pr_ready"},
    ]


def picks(letter: str) -> list[Step]:
    payload = {"pick": letter, "reasons": "The best of them."}
    return [{"outcome": {"name": "race_judged", "payload": payload}}]


FAILS: list[Step] = [{"crash": 1}]
HANGS: list[Step] = [{"say": "Up."}, {"hang": True}]


def contenders(*texts: str) -> list[race.Contender]:
    return [race.named(text) for text in texts]


async def run_race(
    world: World, script: dict[str, Any], *texts: str, judge: str | None = None
) -> Task:
    task = await world.create(script, pipeline="simple")
    judging = race.named(judge) if judge else None
    await racing.order(world.s, task.id, contenders(*(texts or THREE)), judging, ANN)
    return task


async def asked(world: World, task: Task) -> TaskView:
    return await world.wait(task, lambda v: bool(v.prompts), "asked whose work is taken")


async def told(world: World, task: Task, kind: str) -> list[Logged]:
    return [e for e in await world.events(task) if e.type == kind]


def choices(view: TaskView) -> dict[str, str]:
    return {c["id"]: c["label"] for c in view.prompts[0].payload["choices"]}


def own(runs: "list[Run] | Any") -> list[Run]:
    return [run for run in runs if run.part]


async def test_three_race_and_a_person_picks(world: World) -> None:
    script = {"implement": [works("a", cost=0.5), works("b"), works("c")]}
    task = await run_race(world, script)
    view = await asked(world, task)
    assert (view.task.status, view.prompts[0].type) == ("in_progress", "choice")
    runs = own(view.runs)
    assert [(run.part, run.model) for run in runs] == [
        *(("1-1", "one"), ("1-2", "two"), ("1-3", "three")),
    ]
    assert len({run.base_sha for run in runs}) == 1
    assert len({run.workspace for run in runs}) == 3
    assert len({(run.prompt or "").partition("How to end")[0] for run in runs}) == 1
    shown = choices(view)
    assert [*shown][:4] == ["pick-1-1", "pick-1-2", "pick-1-3", "race"]
    assert "scripted (one): 1 file +1 -1, $0.50" in shown["pick-1-1"]
    assert "cost unknown" in shown["pick-1-2"]
    before = await comparing.of_task(world.s, task.id)
    assert [(c.unfit, c.figures and c.figures.files) for c in before.contenders] == [(None, 1)] * 3
    assert before.contenders[1].figures is not None
    assert before.contenders[1].figures.commits == ("Say b",)

    await racing.pick(world.s, task.id, "scripted:two", ANN)
    view = await world.until(task, "review")
    branch = next(a.label for a in view.artifacts if a.type == "branch")
    assert git(world.repo, "show", f"{branch}:greeting.txt") == "b"
    assert git(world.repo, "log", "--merges", "--format=%s", branch) == ""
    assert not [name for name in refs(world.repo, "refs/heads") if "--part-" in name]
    assert [*await world.s.workspaces.standing(world.repo)] == []
    kept = await snapshots.of_task(world.s, task.id)
    assert {git(world.repo, "show", f"{one.ref}:greeting.txt") for one in kept} == {"a", "c"}
    after = await comparing.of_task(world.s, task.id)
    assert after.picked == runs[1].id
    assert {c.snapshot for c in after.contenders} == {1, 2, None}
    moves = [(h.source, h.to) for h in await world.history(task)]
    assert moves == [("open", "in_progress"), ("in_progress", "review")]

    await world.review(task, "approved")
    await world.until(task, "done")
    assert git(world.repo, "show", "main:greeting.txt") == "b"


@pytest.mark.slow
async def test_what_is_sent_back_goes_on_with_the_picked_one_alone(world: World) -> None:
    script = {"implement": [works("a"), works("b"), works("c"), works("b and more")]}
    task = await run_race(world, script)
    await asked(world, task)
    await world.choose(task, "pick-1-2")
    await world.until(task, "review")
    await world.review(task, "changes_requested", summary="More.")
    view = await world.wait(task, lambda v: len(v.runs) == 4 and v.run is None, "changed")
    again = view.runs[3]
    assert (again.part, again.agent, again.model) == ("", "scripted", "two")
    view = await world.until(task, "review")
    branch = next(a.label for a in view.artifacts if a.type == "branch")
    assert git(world.repo, "show", f"{branch}:greeting.txt") == "b and more"


@pytest.mark.slow
async def test_one_that_failed_is_shown_and_cannot_be_picked(world: World) -> None:
    test = {"command": "grep -q good greeting.txt"}
    world.configure({"checks": {"test": test}, "maxFixRounds": 0})
    await tasks.trust_project(world.s, world.project)
    script = {"implement": [works("good"), works("bad"), FAILS]}
    task = await run_race(world, script)
    view = await asked(world, task)
    shown = choices(view)
    assert [name for name in shown if name.startswith("pick")] == ["pick-1-1"]
    assert "rerun" in shown
    compared = (await comparing.of_task(world.s, task.id)).contenders
    assert [c.checks.passed for c in compared] == [True, False, None]
    assert compared[1].checks.failed == ("test",)
    assert "checks_failed" in (compared[1].unfit or "")
    assert "crash" in (compared[2].unfit or "")
    for which in ("scripted:two", compared[2].run.id if compared[2].run else ""):
        with pytest.raises(TransitionRefused, match="cannot be picked"):
            await racing.pick(world.s, task.id, which, ANN)
    with pytest.raises(NotFound, match="none of the contenders: scripted:one"):
        await racing.pick(world.s, task.id, "nobody", ANN)
    with pytest.raises(TransitionRefused, match="am task compare"):
        await world.s.store.write(
            lambda tx: remedies.start_run(tx, world.s, task.id, ANN, remedies.Order())
        )
    await world.choose(task, "pick-1-1")
    view = await world.until(task, "review")
    (change,) = [a.data for a in view.artifacts if a.type == "diff"]
    assert (change["checks_passed"], change["files"]) == (True, 1)


@pytest.mark.slow
async def test_those_that_are_not_done_are_run_again_or_all_anew(world: World) -> None:
    script = {
        "implement": [
            *(FAILS, FAILS, works("third")),
            *(works("first"), works("second")),
            *(works("new 1"), works("new 2"), works("new 3")),
        ]
    }
    task = await run_race(world, script)
    await asked(world, task)
    await world.choose(task, "rerun")
    view = await world.wait(task, lambda v: len(v.runs) == 5 and bool(v.prompts), "asked again")
    assert [run.part for run in view.runs] == ["1-1", "1-2", "1-3", "1-1", "1-2"]
    assert [name for name in choices(view) if name.startswith("pick")] == [
        *("pick-1-1", "pick-1-2", "pick-1-3"),
    ]
    await world.choose(task, "race")
    view = await world.wait(task, lambda v: len(v.runs) == 8 and bool(v.prompts), "raced again")
    assert [run.part for run in view.runs[5:]] == ["2-1", "2-2", "2-3"]
    await world.choose(task, "pick-2-3")
    await world.until(task, "review")
    assert not [name for name in refs(world.repo, "refs/heads") if "--part-" in name]
    kept = await snapshots.of_task(world.s, task.id)
    assert {git(world.repo, "show", f"{one.ref}:greeting.txt") for one in kept} == {
        *("first", "second", "third", "new 1", "new 2"),
    }


@pytest.mark.slow
async def test_when_all_fail_a_person_is_asked_what_to_do(world: World) -> None:
    task = await run_race(world, {"implement": [FAILS]}, "scripted:one", "scripted:two")
    view = await asked(world, task)
    assert "None of those" in view.prompts[0].payload["reason"]
    assert "It failed (crash)" in view.prompts[0].payload["evidence"]
    assert [*choices(view)] == ["rerun", "race", "cancel"]
    await world.choose(task, "cancel")
    await world.until(task, "cancelled")


@pytest.mark.slow
async def test_a_judge_picks_without_knowing_names(world: World) -> None:
    script = {"implement": [works("a"), FAILS, works("c")], "judge": [picks("C")]}
    task = await run_race(world, script, judge=JUDGE)
    view = await world.until(task, "review")
    judge = view.runs[-1]
    assert (judge.mode, judge.model, judge.part) == ("judge", "judge", "")
    asked_for = judge.prompt or ""
    assert "# Contender A" in asked_for
    assert "+c" in asked_for
    assert "# Contender B" not in asked_for
    for name in ("scripted", "three"):
        assert name not in asked_for.partition("# Contender A")[2].partition("# How to end")[0]
    branch = next(a.label for a in view.artifacts if a.type == "branch")
    assert git(world.repo, "show", f"{branch}:greeting.txt") == "c"
    (judged,) = await told(world, task, "race.judged")
    assert judged.data["reasons"] == "The best of them."
    assert (await comparing.of_task(world.s, task.id)).reasons == "The best of them."
    # Who is sent the work back is its author, never the judge.
    assert view.prompts[0].resume.run == view.runs[2].id


@pytest.mark.slow
async def test_a_person_overrules_the_judge_before_the_merge(world: World) -> None:
    script = {"implement": [works("a"), works("b")], "judge": [picks("A")]}
    task = await run_race(world, script, "scripted:one", "scripted:two", judge=JUDGE)
    view = await world.until(task, "review")
    await world.settled(task)
    with pytest.raises(TransitionRefused, match="is picked already"):
        await racing.pick(world.s, task.id, "scripted:one", ANN)
    nobody = Actor(type=ActorType.USER, name="eve", via="http", admin=False)
    with pytest.raises(NotAllowed):
        await racing.pick(world.s, task.id, "scripted:two", nobody)
    await racing.pick(world.s, task.id, "scripted:two", ANN)
    await world.settled(task)
    view = await world.view(task)
    assert [(p.type, p.revision) for p in view.prompts] == [("review", 2)]
    assert "instead" in (view.prompts[0].note or "")
    assert view.prompts[0].resume.run == view.runs[1].id
    branch = next(a.label for a in view.artifacts if a.type == "branch")
    assert git(world.repo, "show", f"{branch}:greeting.txt") == "b"
    assert view.prompts[0].payload["head_sha"] == git(world.repo, "rev-parse", branch)
    assert (await comparing.of_task(world.s, task.id)).picked == view.runs[1].id
    await world.review(task, "approved")
    await world.until(task, "done")
    assert git(world.repo, "show", "main:greeting.txt") == "b"
    with pytest.raises(TransitionRefused, match="too late"):
        await racing.pick(world.s, task.id, "scripted:one", ANN)


@pytest.mark.parametrize(
    ("plays", "why"),
    [
        ([{"crash": 1}], "exited with code 1"),
        ({"steps": picks("B"), "repair": picks("Z")}, "cannot be picked"),
        ([{"write": {"path": "x", "text": "x"}}, {"commit": "Mine"}, *picks("A")], "changed"),
        (HANGS, "stopped"),
    ],
    ids=["fails", "picks one that failed", "changes the branch", "is stopped"],
)
@pytest.mark.slow
async def test_a_judge_that_comes_to_nothing_leaves_it_to_a_person(
    world: World, plays: Any, why: str
) -> None:
    script = {"implement": [works("a"), FAILS], "judge": [plays]}
    task = await run_race(world, script, "scripted:one", "scripted:two", judge=JUDGE)
    if plays is HANGS:
        view = await world.wait(
            task, lambda v: bool(v.run and v.run.mode == "judge" and v.run.started_at), "judged"
        )
        assert view.run is not None
        with pytest.raises(TransitionRefused, match="am run stop"):
            await racing.pick(world.s, task.id, "scripted:one", ANN)
        await tasks.stop_run(world.s, view.run.id, ANN)
    view = await asked(world, task)
    assert why in view.prompts[0].payload["reason"]
    await world.choose(task, "pick-1-1")
    await world.until(task, "review")


@pytest.mark.slow
async def test_who_cancels_in_the_middle_stops_all_of_them(world: World) -> None:
    task = await run_race(world, {"implement": [HANGS]})
    await world.wait(
        task, lambda v: sum(bool(r.started_at) for r in v.runs if r.status.live) == 3, "at work"
    )
    with pytest.raises(TransitionRefused, match=r"works at .* am run stop"):
        await racing.order(world.s, task.id, contenders(*THREE), None, ANN)
    await tasks.move(world.s, task.id, ANN, to="cancelled")
    view = await world.until(task, "cancelled")
    await world.settled(task)
    assert {run.status for run in view.runs} == {RunStatus.CANCELLED}
    pids = [f.read_text() for f in world.program.settings.home.glob("jobs/*/1/pid")]
    assert not any(lives(pid) for pid in pids)
    assert not await told(world, task, "race.compared")
    with pytest.raises(TransitionRefused, match="finished"):
        await racing.order(world.s, task.id, contenders(*THREE), None, ANN)


@pytest.mark.parametrize(
    ("names", "judge", "why"),
    [
        (("scripted",), None, "A race has 2 to 5 contenders; there are 1"),
        ((*"abcdef",), None, "there are 6"),
        (("scripted", "scripted"), None, "scripted is there twice"),
        (("scripted", "scripted:x", "scripted"), None, "scripted is there twice"),
        (("scripted:a", "nosuch"), None, "nosuch"),
        (("scripted:a", "scripted:b"), "scripted:b", "an author never judges"),
        (("scripted:a", "scripted:b"), "nosuch", "nosuch"),
    ],
)
@pytest.mark.slow
async def test_what_cannot_race_is_refused(
    world: World, names: tuple[str, ...], judge: str | None, why: str
) -> None:
    given = [f"scripted:{n}" if len(n) == 1 else n for n in names]
    task = await world.create({})
    judging = race.named(judge) if judge else None
    with pytest.raises(InvalidInput, match=why):
        await racing.order(world.s, task.id, contenders(*given), judging, ANN)
    assert (await world.view(task)).task.status == "open"
    assert not await told(world, task, "race.ordered")


@pytest.mark.slow
async def test_the_model_that_an_agent_has_anyway_counts(world: World) -> None:
    world.configure({"agents": {"scripted": {"model": "big"}}})
    await tasks.trust_project(world.s, world.project)
    task = await world.create({})
    with pytest.raises(InvalidInput, match="scripted:big is there twice"):
        await racing.order(world.s, task.id, contenders("scripted", "scripted:big"), None, ANN)
    with pytest.raises(InvalidInput, match="an author never judges"):
        await racing.order(
            world.s,
            task.id,
            contenders("scripted", "scripted:small"),
            race.named("scripted:big"),
            ANN,
        )


@pytest.mark.slow
async def test_where_nobody_implements_nobody_races(world: World) -> None:
    task = await world.create({}, pipeline="document")
    with pytest.raises(TransitionRefused, match="no agent can be started that implements"):
        await racing.order(world.s, task.id, contenders(*THREE), None, ANN)
    with pytest.raises(TransitionRefused, match="No agents worked side by side"):
        await racing.pick(world.s, task.id, "scripted:one", ANN)
    with pytest.raises(NotFound, match="am task race"):
        await comparing.of_task(world.s, task.id)


@pytest.mark.slow
async def test_who_plans_first_plans_alone_and_then_they_race(world: World) -> None:
    script = {
        "plan": [[{"say": "# Plan\n1. Greet."}, {"outcome": "plan_complete"}]],
        "implement": [works("a"), works("b")],
    }
    task = await world.create(script, pipeline="feature")
    two = contenders("scripted:one", "scripted:two")
    await racing.order(world.s, task.id, two, None, ANN, start=False)
    assert (await world.view(task)).runs == []
    await tasks.move(world.s, task.id, ANN)
    view = await asked(world, task)
    assert [run.part for run in view.runs] == [""]
    assert (await comparing.of_task(world.s, task.id)).contenders[0].run is None
    await world.review(task, "approved")
    view = await world.wait(task, lambda v: len(v.runs) == 3 and bool(v.prompts), "raced")
    assert [run.part for run in view.runs] == ["", "1-1", "1-2"]
    await world.choose(task, "pick-1-1")
    await world.wait(task, lambda v: v.task.status != "implementing", "went on")
