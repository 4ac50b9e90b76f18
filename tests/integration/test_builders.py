"""Stage 4 on the real engine: builders side by side, each in a workspace of its own, and their work
put together."""

from typing import Any

import pytest

from agents_manager.domain.run import Run
from agents_manager.domain.task import Task
from agents_manager.flow import tasks
from tests.integration.test_staged import context, told
from tests.repos import run as git
from tests.staged_walk import Step, build, builder, ends, patiently, plan, script, until
from tests.worlds import ANN, World, lives

NEW = ("new_a.txt", "new_b.txt", "new_c.txt")


def built(number: int, file: str, *before: Step, meets: tuple[str, ...] = ()) -> list[Step]:
    """A builder that commits its file, and then waits for what others commit."""
    change, commit, end = builder(number, f"F{2 - number % 2}", file)
    return [*before, change, commit, *({"meet": f"Change {one}"} for one in meets), end]


def wave(*builders: list[Step], **differing: Any) -> dict[str, Any]:
    """Three batches with a file each."""
    planned = plan(*([file] for file in NEW))
    return script(**{"plan_agent": [planned], "build_agent": [*builders], **differing})


def together(meets: tuple[str, ...] = NEW) -> list[list[Step]]:
    return [built(n, file, meets=meets) for n, file in enumerate(NEW, 1)]


async def builders(world: World, task: Task) -> list[Run]:
    return [run for run in (await world.view(task)).runs if run.mode == "build-agent"]


def branch_of(task_runs: list[Run]) -> str:
    return next(run.branch for run in task_runs if run.branch and not run.part)


async def test_three_builders_work_at_once_and_are_merged_in_order(shop: World) -> None:
    task = await build(shop, wave(*together()))
    view = await until(shop, task, "done")
    runs = await builders(shop, task)
    assert [(run.part, run.attempt) for run in runs] == [("1-1", 1), ("1-2", 2), ("1-3", 3)]
    assert len({run.base_sha for run in runs}) == 1
    assert len({run.workspace for run in runs}) == 3
    branch = branch_of([*view.runs])
    assert [e.data["branch"] for e in await told(shop, task, "part.joined")] == [
        f"{branch}--part-1-{n}" for n in (1, 2, 3)
    ]
    merges = git(shop.repo, "log", "--first-parent", "--merges", "--reverse", "--format=%s", branch)
    assert merges.splitlines() == [f"Put {run.branch} into {branch}" for run in runs]
    for number, file in enumerate(NEW, 1):
        assert git(shop.repo, "show", f"{branch}:{file}") == f"built {number}"
    outputs = (await context(shop, task)).stage_outputs
    assert [b.agent for b in outputs.stage_4_builds] == [f"build-agent-{n}" for n in (1, 2, 3)]
    assert [(r.build_agent, r.final_status) for r in outputs.sub_pipeline_results] == [
        (f"build-agent-{n}", "success") for n in (1, 2, 3)
    ]
    standing = await shop.s.workspaces.standing(shop.repo)
    assert [*standing] == [task.id]
    moves = [(h.source, h.to) for h in await shop.history(task) if h.source == "building"]
    assert moves == [("building", "done")]  # Once, and by the last of them.


async def test_what_conflicts_goes_to_a_debugger(shop: World) -> None:
    """Two builders change a file that neither was given, and say so."""

    def strays(number: int, file: str) -> list[Step]:
        shared = {"write": {"path": "shared.txt", "text": f"of {number}\n"}}
        change, commit, end = builder(number, f"F{2 - number % 2}", file)
        report = end["outcome"]["payload"]
        report["files_created"] = [file, "shared.txt"]
        report["deviations"] = ["shared.txt had to be there"]
        return [change, shared, commit, end]

    mended = [
        {"write": {"path": "shared.txt", "text": "of both\n"}},
        {"commit": "Mend"},
        *ends("debug_report"),
    ]
    made = wave(built(1, NEW[0]), strays(2, NEW[1]), strays(3, NEW[2]), debugger=[mended])
    task = await build(shop, made)
    view = await until(shop, task, "done")
    (conflict,) = await told(shop, task, "part.conflicted")
    third = (await builders(shop, task))[2]
    assert (conflict.data["run"], conflict.data["files"]) == (third.id, ["shared.txt"])
    assert git(shop.repo, "show", f"{third.branch}:shared.txt") == "of 3"
    ways = [h.transition_id for h in await shop.history(task)]
    assert ways == ["start", "planned", "conflict", "debugged"]
    debugger = next(run for run in view.runs if run.mode == "debugger")
    assert third.head_sha is not None
    for word in ("shared.txt", third.head_sha, f"{third.branch}"):
        assert word in (debugger.prompt or "")
    results = (await context(shop, task)).stage_outputs.sub_pipeline_results
    assert [r.final_status for r in results] == ["success", "success", "needs_external_debug"]
    branch = branch_of([*view.runs])
    assert git(shop.repo, "show", f"{branch}:shared.txt") == "of both"
    assert git(shop.repo, "show", f"{branch}:{NEW[1]}") == "built 2"


@pytest.mark.slow
async def test_a_builder_that_dies_is_tried_again_alone(shop: World) -> None:
    """Its second try waits for nobody, and finds what the first had committed."""
    first, second, third = together(())
    dies = [*second[:2], {"crash": 1}]
    again = [second[2]]
    shop.configure({"retries": {"crash": {"tries": 2, "delay": 10, "factor": 1}}})
    task = await build(shop, wave(first, dies, third, again))
    await until(shop, task, "done")
    runs = await builders(shop, task)
    assert [(run.part, run.error is None) for run in runs] == [
        *(("1-1", True), ("1-2", False), ("1-3", True), ("1-2", True)),
    ]
    assert len(await told(shop, task, "part.joined")) == 3
    (retried,) = (await context(shop, task)).retry_history
    assert (retried.agent, retried.attempt) == ("build-agent-2", 2)
    assert "crash: The agent exited with code 1." in (runs[3].prompt or "")


@pytest.mark.slow
async def test_when_one_fails_for_good_the_others_are_kept_and_it_goes_on_alone(
    shop: World,
) -> None:
    first, second, third = together(())
    made = wave(first, [*second[:2], {"crash": 1}], third, [second[2]])
    task = await build(shop, made)
    await patiently(shop, task, lambda v: v.task.status == "failed", "failed")
    assert len(await told(shop, task, "part.joined")) == 2
    await shop.choose(task, "retry")
    await until(shop, task, "done")
    runs = await builders(shop, task)
    assert [run.part for run in runs] == ["1-1", "1-2", "1-3", "1-2"]


@pytest.mark.slow
async def test_batches_that_share_a_file_are_built_one_after_the_other(shop: World) -> None:
    planned = plan(["new_a.txt"], ["new_a.txt", "new_b.txt"], ["new_c.txt"])
    second = built(2, "new_b.txt")
    made = wave(built(1, "new_a.txt"), built(3, "new_c.txt"), second, plan_agent=[planned])
    task = await build(shop, made)
    await until(shop, task, "done")
    assert [run.part for run in await builders(shop, task)] == ["1-1", "1-2", ""]
    given = [e.data["agent"] for e in await told(shop, task, "builder.assigned")]
    assert given == ["build-agent-1", "build-agent-3", "build-agent-2"]
    assert [e.summary for e in await told(shop, task, "plan.serial")] == [
        "Batches 1, 2 share new_a.txt and are built one after the other."
    ]


async def test_who_cancels_stops_all_of_them(shop: World) -> None:
    hang = [{"say": "Up."}, {"hang": True}]
    task = await build(shop, wave(hang, hang, hang))
    view = await patiently(
        shop,
        task,
        lambda v: sum(run.started_at is not None for run in v.runs if run.status.live) == 3,
        "three at work",
    )
    assert "side by side" in view.next_mover.text
    stopping = await tasks.move(shop.s, task.id, ANN, to="cancelled")
    assert isinstance(stopping, tasks.Stopping)
    assert len(stopping.beside) == 2
    await until(shop, task, "cancelled")
    await shop.settled(task)
    assert {run.status.value for run in await builders(shop, task)} == {"cancelled"}
    pids = [
        file.read_text()
        for file in shop.program.settings.home.glob("jobs/*/1/pid")
        if file.exists()
    ]
    assert not any(lives(pid) for pid in pids)


@pytest.mark.slow
async def test_one_that_is_stopped_is_run_again_alone(shop: World) -> None:
    first, second, third = together(())
    made = wave(first, [{"say": "Up."}, {"hang": True}], third, second)
    task = await build(shop, made)
    view = await patiently(
        shop,
        task,
        lambda v: (
            [(r.part, bool(r.started_at)) for r in v.runs if r.status.live] == [("1-2", True)]
        ),
        "only the second at work",
    )
    assert view.run is not None
    await tasks.stop_run(shop.s, view.run.id, ANN)
    await shop.choose(task, "rerun")
    await until(shop, task, "done")
    runs = await builders(shop, task)
    assert [run.part for run in runs] == ["1-1", "1-2", "1-3", "1-2"]
    assert len(await told(shop, task, "builder.assigned")) == 4


@pytest.mark.slow
async def test_a_question_of_one_waits_for_the_others_and_goes_on_in_its_part(shop: World) -> None:
    first, second, third = together(())
    ask = [{"ask": {"question": "Which?", "suggestedAnswer": "this"}}]
    made = wave(first, ask, third, second)
    task = await build(shop, made)
    view = await patiently(shop, task, lambda v: v.task.status == "needs_info", "needs_info")
    assert all(not run.status.live for run in view.runs)
    await shop.answer(view.prompts[0], {"answers": [{"question_id": "q1", "text": "that"}]})
    await until(shop, task, "done")
    runs = await builders(shop, task)
    assert [run.part for run in runs] == ["1-1", "1-2", "1-3", "1-2"]
    assert runs[3].session == runs[1].session
    assert "that" in (runs[3].prompt or "")


@pytest.mark.slow
async def test_what_a_builder_requests_is_taken_up_after_the_wave(shop: World) -> None:
    first, second, third = together()
    second[-1]["outcome"]["text"] = "REQUEST: plan-agent - It is not planned\nPriority: high"
    task = await build(shop, wave(first, second, third, built(2, NEW[1])))
    view = await until(shop, task, "done")
    modes = [run.mode for run in view.runs]
    assert modes == ["plan-agent", *["build-agent"] * 3, "plan-agent", "build-agent"]
    given = [e.data["agent"] for e in await told(shop, task, "builder.assigned")]
    assert given[3:] == ["build-agent-2"]
    assert [run.part for run in view.runs][3:] == ["1-3", "", ""]
