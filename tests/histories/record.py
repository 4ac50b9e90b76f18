"""Records what typical tasks leave behind, for later versions to be held to.

`python -m tests.histories record` records with this version; with names behind it, only those
tasks. With the code of an earlier commit in a worktree, its own tests beside it:

    PYTHONPATH=OLD/src:OLD python tests/histories/record.py record

What is recorded is one database with all tasks, the engine's beside it, and a file that has for
each task every decision with all it was made from, and how the task stood in the end. Walks that
the version does not know are left out. Nothing here may need more than the oldest version had.
"""

import asyncio
import gzip
import json
import logging
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import structlog
from pydantic import TypeAdapter

import agents_manager
from agents_manager.domain import guards, transition
from agents_manager.errors import TransitionRefused
from agents_manager.flow import hooks, prompts, tasks
from agents_manager.store import copies, migrate
from tests import repos
from tests.worlds import ANN, World, working

FOLDER = Path(__file__).parent
Step = dict[str, Any]
Walk = Callable[[World], Awaitable[Any]]
WALKS: dict[str, Walk] = {}
FACTS: TypeAdapter[guards.Facts] = TypeAdapter(guards.Facts)
READY: Step = {"outcome": "pr_ready"}
PLANS: list[Step] = [{"say": "# Plan\n\nDo it."}, {"outcome": "plan_complete"}]
ASKS: list[Step] = [{"ask": {"questions": [{"id": "q1", "question": "Which?", "options": ["a"]}]}}]
OPTIONS: Step = {
    "outcome": {
        "name": "options_proposed",
        "payload": {
            "summary": "?",
            "options": [{"id": "a", "label": "A"}, {"id": "b", "label": "B"}],
        },
    }
}
SPLIT: Step = {
    "outcome": {
        "name": "propose_split",
        "payload": {"reason": "Two.", "proposedPhases": [{"name": "One"}, {"name": "Two"}]},
    }
}


def walk(fn: Walk) -> Walk:
    WALKS[fn.__name__] = fn
    return fn


def writes(name: str, text: str = "text\n") -> list[Step]:
    return [{"write": {"path": name, "text": text}}, {"commit": f"Write {name}"}, READY]


async def reviewed(w: World, task: Any, status: str, runs: int, decision: str = "approved") -> None:
    await w.wait(task, lambda v: v.task.status == status and len(v.runs) == runs, status)
    more = {"summary": "Not yet."} if decision != "approved" else {}
    await w.review(task, decision, **more)


# ---------------------------------------------------------------- the tasks


@walk
async def simple(w: World) -> Any:
    task = await w.start({"implement": [writes("simple.txt")]}, pipeline="simple")
    await reviewed(w, task, "review", 1)
    await w.until(task, "done")
    return task


@walk
async def feature(w: World) -> Any:
    task = await w.start({"plan": [PLANS], "implement": [writes("feature.txt")]})
    await reviewed(w, task, "planned", 1)
    await reviewed(w, task, "pr_review", 2)
    await w.until(task, "done")
    return task


@walk
async def plan_sent_back(w: World) -> Any:
    task = await w.start({"plan": [PLANS, PLANS]})
    await reviewed(w, task, "planned", 1, "changes_requested")
    await w.wait(task, lambda v: v.task.status == "planned" and len(v.runs) == 2, "planned again")
    return task


@walk
async def question(w: World) -> Any:
    task = await w.start({"implement": [ASKS, writes("question.txt")]}, pipeline="simple")
    view = await w.until(task, "needs_info")
    await w.answer(view.prompts[0], {"answers": [{"question_id": "q1", "option": "a"}]})
    await w.until(task, "review")
    return task


@walk
async def question_open(w: World) -> Any:
    task = await w.start({"implement": [ASKS]}, pipeline="chore")
    await w.until(task, "needs_info")
    return task


@walk
async def options(w: World) -> Any:
    made = {"design": [[OPTIONS], [{"say": "# Design"}, {"outcome": "design_ready"}]]}
    task = await w.start(made, pipeline="document")
    view = await w.until(task, "options_proposed")
    await w.answer(view.prompts[0], {"option_id": "b"})
    await reviewed(w, task, "design_review", 2)
    await w.until(task, "done")
    return task


@walk
async def split(w: World) -> Any:
    parts = [writes("one.txt"), writes("two.txt")]
    task = await w.start({"plan": [[SPLIT]], "implement": parts})
    view = await w.until(task, "pending_split")
    await w.answer(view.prompts[0], {"decision": "approved"})
    await reviewed(w, task, "pr_review", 2)
    await reviewed(w, task, "pr_review", 3)
    await w.wait(task, lambda v: all(p.status != "active" for p in v.phases), "phases done")
    await w.settled(task)
    await reviewed(w, task, "pr_review", 3)
    await w.until(task, "done")
    return task


@walk
async def split_under_way(w: World) -> Any:
    task = await w.start({"plan": [[SPLIT]], "implement": [writes("three.txt")]})
    view = await w.until(task, "pending_split")
    await w.answer(view.prompts[0], {"decision": "approved"})
    await w.wait(task, lambda v: v.task.status == "pr_review" and len(v.runs) == 2, "a phase")
    return task


@walk
async def split_rejected(w: World) -> Any:
    task = await w.start({"plan": [[SPLIT], PLANS]})
    view = await w.until(task, "pending_split")
    await w.answer(view.prompts[0], {"decision": "rejected", "reason": "It is small."})
    await w.until(task, "planned")
    return task


@walk
async def review_loop(w: World) -> Any:
    visits = [writes("loop.txt", f"{n}\n") for n in range(3)]
    task = await w.start({"implement": visits}, pipeline="chore")
    await reviewed(w, task, "pr_review", 1, "changes_requested")
    await reviewed(w, task, "pr_review", 2, "changes_requested")
    await reviewed(w, task, "pr_review", 3)
    await w.until(task, "done")
    return task


@walk
async def too_many_rounds(w: World) -> Any:
    visits = [writes("rounds.txt", f"{n}\n") for n in range(9)]
    task = await w.start({"implement": visits}, pipeline="chore")
    for runs in range(1, 9):
        await reviewed(w, task, "pr_review", runs, "changes_requested")
        view = await w.wait(task, lambda v: bool(v.prompts), "asked")
        if view.task.status != "pr_review":
            return task
    raise AssertionError("the rounds have no end")


@walk
async def failed_then_again(w: World) -> Any:
    fails = [{"fail": {"message": "No.", "class": "auth"}}]
    task = await w.start({"implement": [fails, writes("again.txt")]}, pipeline="simple")
    await w.until(task, "needs_decision")
    await w.choose(task, "again")
    await w.until(task, "review")
    return task


@walk
async def retried(w: World) -> Any:
    w.configure({"retries": {"crash": {"tries": 1, "delay": 100}}})
    task = await w.start({"implement": [[{"crash": True}], writes("tried.txt")]}, pipeline="simple")
    await w.wait(task, lambda v: v.task.status == "review" and len(v.runs) == 2, "tried again")
    return task


@walk
async def cancelled(w: World) -> Any:
    task = await w.start({"implement": [[{"hang": True}]]}, pipeline="simple")
    await w.wait(task, lambda v: v.run is not None and v.run.started_at is not None, "running")
    await tasks.move(w.s, task.id, ANN, to="cancelled", stop=True)
    await w.until(task, "cancelled")
    return task


@walk
async def stopped(w: World) -> Any:
    task = await w.start({"implement": [[{"hang": True}]]}, pipeline="chore")
    view = await w.wait(task, lambda v: v.run is not None and bool(v.run.started_at), "running")
    await tasks.stop_run(w.s, view.runs[-1].id, ANN)
    await w.wait(task, lambda v: v.run is None and bool(v.prompts), "a choice")
    return task


@walk
async def rolled_back(w: World) -> Any:
    """The branch moves after it was looked at, so that the merge fails and is taken back."""
    task = await w.start({"implement": [writes("moved.txt")]}, pipeline="simple")
    view = await w.until(task, "review")
    await w.settled(task)
    branch = view.prompts[0].payload["branch"]
    tip = repos.sha(w.repo, branch)
    later = repos.run(w.repo, "commit-tree", "-p", tip, "-m", "Later", f"{tip}^{{tree}}")
    repos.run(w.repo, "update-ref", f"refs/heads/{branch}", later)
    await w.review(task, "approved")
    await w.wait(task, lambda v: v.task.status == "review" and bool(v.prompts), "taken back")
    await w.settled(task)
    return task


@walk
async def conflict(w: World) -> Any:
    mine, theirs = writes("greeting.txt", "hello\n"), writes("greeting.txt", "hey\n")
    task = await w.start({"implement": [mine, theirs]}, pipeline="simple")
    await w.until(task, "review")
    repos.commit(w.repo, {"greeting.txt": "hey\n"}, "Theirs")
    await w.review(task, "approved")
    await reviewed(w, task, "review", 2)
    await w.until(task, "done")
    return task


@walk
async def budget(w: World) -> Any:
    w.configure({"budgets": {"taskUsd": 1}})
    spends = [{"usage": {"cost_usd": 1.25}}, {"hang": True}]
    task = await w.start({"implement": [spends, writes("paid.txt")]}, pipeline="simple")
    view = await w.wait(task, lambda v: bool(v.prompts), "a budget")
    await w.answer(view.prompts[0], {"decision": "grant", "usd": 2})
    await w.until(task, "review")
    return task


@walk
async def permission(w: World) -> Any:
    """By an agent behind a protocol, as the scripted one asks for nothing."""
    from tests.acp import command

    wish: Step = {"permission": {"kind": "execute", "title": "make test"}}
    says: Step = {"outcome": {"name": "no_changes", "payload": {"reason": "All is said."}}}
    script = w.repo.parent / "script.json"
    script.write_text(json.dumps({"steps": [wish, says]}))
    entry = {"adapter": "acp", "command": command(script), "permissions": "ask"}
    w.configure({"defaultAgentType": "mine", "agents": {"mine": entry}})
    w.project = await tasks.trust_project(w.s, w.project)
    task = await w.start({}, pipeline="simple")
    view = await w.wait(task, lambda v: bool(v.prompts), "a permission")
    await w.answer(view.prompts[0], {"allow": True, "scope": "run"})
    await w.until(task, "needs_decision")
    return task


@walk
async def bug(w: World) -> Any:
    task = await w.start({"investigate": [[{"outcome": "cannot_reproduce"}]]}, pipeline="bug")
    await w.until(task, "needs_decision")
    return task


@walk
async def nothing_to_do(w: World) -> Any:
    says = {"outcome": {"name": "no_changes", "payload": {"reason": "It is there."}}}
    task = await w.start({"implement": [[says]]}, pipeline="chore")
    await w.until(task, "needs_decision")
    await w.choose(task, "finish")
    await w.until(task, "done")
    return task


@walk
async def dependent(w: World) -> Any:
    first = await w.create({}, pipeline="simple", title="First")
    task = await w.create({}, pipeline="simple", dependencies=(first.id,))
    with pytest.raises(TransitionRefused):
        await tasks.move(w.s, task.id, ANN)
    return task


@walk
async def commented(w: World) -> Any:
    task = await w.start({"implement": [writes("said.txt")]}, pipeline="simple")
    view = await w.until(task, "review")
    line = {"file": "said.txt", "line": 1, "severity": "must_fix", "comment": "No."}
    said = {"decision": "changes_requested", "summary": "See there.", "comments": [line]}
    await prompts.answer(w.s, view.prompts[0].id, said, ANN)
    await w.wait(task, lambda v: len(v.runs) == 2 and v.run is None, "taken up")
    return task


@walk
async def staged(w: World) -> Any:
    from tests import staged_walk

    repos.commit(w.repo, staged_walk.FILES, "A shop")
    task = await staged_walk.begun(w)
    await staged_walk.patiently(w, task, lambda v: v.run is None and bool(v.prompts), "asked")
    return task


@walk
async def handoff(w: World) -> Any:
    gotcha = {"issue": "It has no last line", "discovered_in": "kept.txt", "mitigation": "Append."}
    changed = [{"path": "kept.txt", "purpose": "To keep"}]
    blocker = {"blocker": "No server", "impact": "No tests", "suggested_resolution": "Start it"}
    note = {
        "outcome": "completed",
        "files_created": changed,
        "gotchas": [{**gotcha, "severity": "high"}],
        "blockers": [{**blocker, "blocking_tasks": []}],
    }
    work = writes("kept.txt")
    task = await w.start({"implement": [[*work[:2], {"handoff": note}, READY]]}, pipeline="simple")
    await w.until(task, "review")
    return task


# ---------------------------------------------------------------- recording


def recorded(kept: dict[str, Any]) -> Callable[..., Any]:
    """`decide`, which also keeps what it was asked and what it answered, each once."""
    decide = transition.decide

    def decided(pipeline: Any, status: str, origin: Any, facts: Any, known: Any, **how: Any) -> Any:
        decision = decide(pipeline, status, origin, facts, known, **how)
        entry = {
            "pipeline": [pipeline.id, pipeline.version],
            "status": status,
            "origin": origin,
            "facts": FACTS.dump_python(facts, mode="json", exclude_defaults=True),
            "force": how.get("force", False),
            "decision": told_of(decision),
        }
        kept.setdefault(json.dumps(entry, sort_keys=True), entry)
        return decision

    return decided


def told_of(decision: Any) -> dict[str, Any]:
    """What is the same in every version; not how it is worded."""
    if isinstance(decision, transition.Moved):
        return {
            "moved": decision.transition.id,
            "to": decision.to,
            "hooks": [hook.type for hook in decision.hooks],
            "checks": [[c.name, c.passed] for c in decision.checks],
            "forced": decision.forced,
        }
    return {
        "refused": str(decision.kind),
        "checks": [[c.name, c.passed] for one in decision.candidates for c in one.checks],
    }


def standing(view: Any) -> dict[str, Any]:
    """How a task stands, as the doors tell it."""
    return {
        "status": view.task.status,
        "version": view.task.version,
        "mover": view.next_mover.kind,
        "prompts": [[str(p.type), str(p.status)] for p in view.prompts],
        "moves": [[m.id, m.to, m.allowed] for m in view.moves],
        "runs": [[r.mode, str(r.status), r.outcome] for r in view.runs],
        "phases": [[p.name, str(p.status)] for p in view.phases],
        "pull": str(view.pull.state) if view.pull else None,
        "artifacts": [str(a.type) for a in view.artifacts],
    }


async def record(names: list[str]) -> None:
    kept: dict[str, Any] = {}
    transition.decide = recorded(kept)
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        folder = Path(place)
        repos.settle(folder, patch)
        files = {"README.md": "Hello\n", "greeting.txt": "hi\n"}
        repo = repos.make_repo(folder / "repo", files)
        made: dict[str, dict[str, Any]] = {}
        async with working(folder / "home", repo) as world:
            for name in names:
                kept.clear()
                world.configure({})
                try:
                    task = await WALKS[name](world)
                    await world.wait(task, lambda v: v.run is None, "left alone")
                    await world.settled(task)
                except Exception as error:  # noqa: BLE001 - what this version cannot do is left out
                    print(f"{name}: left out: {type(error).__name__}: {str(error)[:300]}")  # noqa: T201
                    continue
                view = await world.view(task)
                made[name] = {
                    "task": str(task.id),
                    "now": world.s.clock.now().isoformat(),
                    "decisions": [*kept.values()],
                    "state": standing(view),
                }
                print(f"{name}: {len(kept)} decisions")  # noqa: T201
            held = await under_way(world, patch)
            # In this order, as of every backup: what the engine does not know yet is started.
            for name in ("engine.db", "agents-manager.db"):
                copies.copy(folder / "home" / name, folder / name)
        held["host"] = (folder / "home" / "host-id").read_text().strip()
        keep(made, held, folder)


async def under_way(w: World, patch: pytest.MonkeyPatch) -> dict[str, Any]:
    """An effect that the engine has begun when all is copied."""
    begun = asyncio.get_running_loop().create_future()
    perform = hooks.perform

    async def hold(effect_id: Any, attempt: int, s: Any, steps: Any) -> None:
        row = await s.store.read(lambda tx: tx.effects.get(effect_id))
        if row.kind == "notify" and not begun.done():
            begun.set_result({"effect": str(effect_id), "attempt": attempt})
            await asyncio.Event().wait()
        await perform(effect_id, attempt, s, steps)

    patch.setattr(hooks, "perform", hold)
    w.configure({})
    await w.start({"implement": [ASKS]}, pipeline="simple", title="Under way")
    return await begun


def keep(made: dict[str, dict[str, Any]], held: dict[str, Any], folder: Path) -> None:
    code = Path(agents_manager.__file__).parent
    commit = subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], cwd=code, text=True)
    # A line for each task.
    lines = ",\n".join(f"{compact(name)}:{compact(told)}" for name, told in made.items())
    head = f'{{"commit":{compact(commit.strip())},"engine":{compact(held)}'
    (FOLDER / f"{migrate.HEAD}.json").write_text(f'{head},"tasks":{{\n{lines}\n}}}}\n')
    for name, kept in (("engine.db", "engine.db"), ("agents-manager.db", "db")):
        packed = gzip.compress((folder / name).read_bytes(), 9, mtime=0)
        (FOLDER / f"{migrate.HEAD}.{kept}.gz").write_bytes(packed)


def compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def main(arguments: list[str]) -> None:
    if arguments[:1] != ["record"]:
        raise SystemExit(__doc__)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    asyncio.run(record(arguments[1:] or list(WALKS)))


if __name__ == "__main__":
    main(sys.argv[1:])
