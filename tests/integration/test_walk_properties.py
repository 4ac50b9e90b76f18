"""Whatever is done to a task, in whatever order: it has one status, a final one is left by nobody,
nobody is kept waiting without a question, and no answer is taken twice."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents_manager.domain import pipeline as pipelines
from agents_manager.domain import simulation_script
from agents_manager.domain.ids import EffectId
from agents_manager.domain.pipeline import Pipeline, PromptType
from agents_manager.domain.prompt import PromptStatus
from agents_manager.domain.task import Result
from agents_manager.flow import hooks, prompts, tasks
from agents_manager.flow.ports import Tx
from tests.engine_walk import AtOnce, EngineWalk, Ground, ground
from tests.pipeline_walks import script, sound_pipeline
from tests.unit.pipeline_documents import document
from tests.worlds import ANN, BOB

STEPS = 10
DISTURBANCES = st.sampled_from(["nothing", "nothing", "answer again", "force", "perform again"])


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with ground(tmp_path_factory.mktemp("walks")) as found:
        yield found


@pytest.mark.slow
@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
@given(made=sound_pipeline(), data=st.data())
def test_no_history_breaks_what_is_promised(
    engine: Ground, made: tuple[dict[str, Any], Pipeline], data: st.DataObject
) -> None:
    walked, pipeline = made
    walk = engine.walk(walked)
    for step in simulation_script.parse(data.draw(script(pipeline, STEPS))):
        walk.play(step)
        disturb(walk, pipeline, data.draw(DISTURBANCES), data)
        assert violations(walk, pipeline) == []


def disturb(walk: EngineWalk, pipeline: Pipeline, how: str, data: st.DataObject) -> None:
    match how:
        case "answer again":
            for prompt in walk.asked:
                if prompt.response is not None:
                    walk.act(prompts.answer(walk.s, prompt.id, prompt.response, BOB))
        case "force":
            to = data.draw(st.sampled_from([s.id for s in pipeline.statuses]))
            walk.act(tasks.move(walk.s, walk.task_id, ANN, to=to, force=True))
        case "perform again":
            rows = [h.effect for entry in walk.history for h in entry.hooks if h.effect]
            for effect in rows:
                row = walk.read(lambda tx, e=effect: tx.effects.get(EffectId(e)))
                if row.status not in ("pending", "started"):
                    walk.act(hooks.perform(row.id, row.attempt, walk.s, AtOnce()))
        case _:
            pass


def violations(walk: EngineWalk, pipeline: Pipeline) -> list[str]:
    return [*_one_status(walk), *_ends(walk, pipeline), *_waits(walk, pipeline), *_answers(walk)]


def _one_status(walk: EngineWalk) -> Iterator[str]:
    moves = [h for h in walk.history if h.result is not Result.REFUSED]
    if moves and walk.task.status != moves[-1].to:
        yield f"the task is {walk.task.status}, its history says {moves[-1].to}"
    for before, after in pairwise(moves):
        if after.source != before.to:
            yield f"the history forks: {before.to}, then {after.source}"
    versions = [h.version for h in moves if h.source != h.to]
    if versions != sorted(set(versions)):
        yield f"two moves made one version: {versions}"


def _ends(walk: EngineWalk, pipeline: Pipeline) -> Iterator[str]:
    for entry in walk.history:
        left = entry.result is not Result.REFUSED and entry.source != entry.to
        if left and pipeline.is_final(entry.source):
            yield f"{entry.source} is final and was left for {entry.to}"


def _waits(walk: EngineWalk, pipeline: Pipeline) -> Iterator[str]:
    pending = [p for p in walk.pending if p.status is PromptStatus.PENDING]
    if pipeline.awaits_human(walk.task.status) and not pending:
        yield f"{walk.task.status} waits for a person, and nothing is asked"
    for kind, number in Counter(p.type is PromptType.CHOICE for p in pending).items():
        if number > 1:
            yield f"{number} questions are open ({'choice' if kind else 'flow'})"


def _answers(walk: EngineWalk) -> Iterator[str]:
    """Every answer made its one move: none was lost, none counted twice."""
    fired = ("review_submitted", "prompt_response")
    done = (Result.DONE, Result.FORCED)
    moves = [h for h in walk.history if h.trigger in fired and h.result in done]
    answered = [p for p in walk.asked if p.response and p.type is not PromptType.CHOICE]
    if len(moves) != len(answered):
        yield f"{len(answered)} answers made {len(moves)} moves"


# ------------------------------------------------------------- the properties can be violated


def _wait_without_asking(tx: Tx, walk: EngineWalk) -> None:
    for prompt in tx.prompts.pending(walk.task_id):
        tx.prompts.close(prompt.id, status=PromptStatus.CANCELLED)


def _fork(tx: Tx, walk: EngineWalk) -> None:
    tx.tasks.move(tx.tasks.get(walk.task_id), "working", walk.s.clock.now())


def _leave_the_end(tx: Tx, walk: EngineWalk) -> None:
    entry = tx.history.of_task(walk.task_id)[-1]
    gone = {"id": "gone", "source": "done", "to": "asking"}
    tx.history.add(type(entry)(**{**_fields(entry), **gone}))


def _answer_twice(tx: Tx, walk: EngineWalk) -> None:
    entry = tx.history.of_task(walk.task_id)[-1]
    again = {"id": "again", "trigger": "prompt_response", "source": entry.to}
    tx.history.add(type(entry)(**{**_fields(entry), **again}))


def _fields(entry: Any) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in entry.__dataclass_fields__}


@pytest.mark.parametrize(
    ("break_it", "says"),
    [
        (_wait_without_asking, "nothing is asked"),
        (_fork, "its history says"),
        (_leave_the_end, "is final and was left"),
        (_answer_twice, "0 answers made 1 moves"),
    ],
)
def test_each_of_them_is_noticed(engine: Ground, break_it: Any, says: str) -> None:
    walk = engine.walk(document())
    asks = {"outcome": {"name": "needs_info", "payload": {"question": "Why?"}}}
    for step in simulation_script.parse(["start", asks]):
        walk.play(step)
    pipeline = pipelines.parse(document())
    assert violations(walk, pipeline) == []
    engine.runner.run(walk.s.store.write(lambda tx: break_it(tx, walk)))
    assert any(says in one for one in violations(walk, pipeline))
