"""The real Codex takes tasks through the walk, with a scripted model in the place of a paid one."""

import json
import os
import shutil
import signal
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agents_manager.agents import codex_sandbox
from agents_manager.domain.run import RunStatus
from agents_manager.flow import tasks
from agents_manager.flow.runs import places
from agents_manager.testing.scripted_model import (
    Broken,
    Cut,
    Garbled,
    Hang,
    Say,
    Status,
    Structured,
    Turn,
    When,
    asked,
    codex_add,
    codex_run,
    outcome,
    resumed,
)
from agents_manager.testing.scripted_model.steps import Step
from tests.agents.codex_desk import CODEX, READY, SCENARIO, Desk
from tests.repos import own_home, run
from tests.runner_jobs import processes_of
from tests.worlds import ANN, repo, world

__all__ = ["own_home", "repo", "world"]

COMMIT = "git add . && git commit -qm 'Say hello' && git log --oneline"
PLANNED = {"text": "1. Do it.", "outcome": "plan_complete", "payload": None}
NOTHING = {"text": "!", "outcome": "no_changes", "payload": '{"reason": "It is there."}'}
QUESTION = {"questions": [{"id": "q1", "question": "Which word?", "input_type": "text"}]}

RESETS_AT = 1_900_000_000
LIMITED = Status(
    429,
    "The usage limit has been reached",
    "usage_limit_reached",
    fields={"plan_type": "plus"},
    headers={
        "x-codex-primary-used-percent": "100",
        "x-codex-primary-window-minutes": "300",
        "x-codex-primary-reset-at": str(RESETS_AT),
    },
)


async def test_it_writes_commits_and_reports(desk: Desk) -> None:
    task = await desk.start([codex_add("hello.txt", "hello"), codex_run(COMMIT), Structured(READY)])
    done = await desk.one_run(task)
    desk.model.check()
    assert (done.status, done.outcome, done.model) == (
        RunStatus.COMPLETED,
        "pr_ready",
        "scripted-model",
    )
    assert done.usage is not None
    assert (done.usage.input_tokens, done.usage.output_tokens) == (300, 30)
    assert done.usage.cost_usd is None
    assert run(desk.world.repo, "log", "-1", "--format=%s", done.branch or "") == "Say hello"
    first = desk.model.requests(SCENARIO)[0].body
    assert first["text"]["format"]["schema"]["properties"]["outcome"]["enum"]
    assert "Title: Add greeting" in json.dumps(first["input"])


async def test_it_asks_and_goes_on_in_the_same_session(desk: Desk) -> None:
    asks = {"text": "Hm.", "outcome": "needs_info", "payload": json.dumps(QUESTION)}
    task = await desk.start(
        [Structured(asks), When(resumed, [codex_run("ls"), Structured(PLANNED)])],
        pipeline="feature",
    )
    view = await desk.ended(task)
    assert view.runs[0].outcome == "needs_info"
    await desk.world.answer(view.prompts[0], {"answers": [{"question_id": "q1", "text": "hi"}]})
    view = await desk.world.wait(task, lambda v: len(v.runs) == 2 and v.run is None, "a second run")
    first, second = view.runs
    assert first.session is not None
    assert second.session == first.session
    assert "You asked: Which word?" in json.dumps(desk.model.requests(SCENARIO)[-1].body["input"])
    # The session's total is 300; what the first run used is not counted again.
    assert first.usage is not None
    assert first.usage.input_tokens == 100
    assert second.usage is not None
    assert second.usage.input_tokens == 200


def half(rollout: Path) -> None:
    rollout.write_bytes(rollout.read_bytes()[:300])


@pytest.mark.slow
@pytest.mark.parametrize("lose", [pytest.param(Path.unlink, id="gone"), half])
async def test_a_session_that_cannot_go_on_is_begun_anew(
    desk: Desk, tmp_path: Path, lose: Callable[[Path], None]
) -> None:
    """Codex would die of it without a word, in this run and every later one."""
    asks = {"text": "Hm.", "outcome": "needs_info", "payload": json.dumps(QUESTION)}
    task = await desk.start(
        [Structured(asks), When(asked("Answer: hi"), [Structured(PLANNED)])], pipeline="feature"
    )
    view = await desk.ended(task)
    (rollout,) = (tmp_path / "home").glob("**/rollout-*.jsonl")
    lose(rollout)
    await desk.world.answer(view.prompts[0], {"answers": [{"question_id": "q1", "text": "hi"}]})
    view = await desk.world.until(task, "planned")
    first, second = view.runs
    assert second.session not in (first.session, None)
    heard = json.dumps(desk.model.requests(SCENARIO)[-1].body["input"])
    assert "Title: Add greeting" in heard
    assert "# Transcript of earlier runs" in heard
    assert heard.count("Hm.") == 1
    assert second.prompt is not None
    assert json.dumps(second.prompt)[1:-1] in heard, "what was said is on record"
    assert "agent.session_lost" in await desk.world.types(task)


ESCAPES = """
echo x > ../outside; echo x > {tmp}/outside
echo x > {git}/config; echo x > {git}/hooks/post-commit
echo x > .git; echo x > {own}/commondir; echo 'ref: refs/heads/main' > {own}/HEAD
git branch -f main HEAD; echo x > {git}/objects/info/alternates
cat {login}; env | grep -c SCRIPTED; echo "mode $AM_MODE"; echo the end
"""


@pytest.mark.slow
async def test_it_can_commit_and_nothing_else(desk: Desk, own_home: Path, tmp_path: Path) -> None:
    login = own_home / ".codex" / "auth.json"
    login.parent.mkdir()
    login.write_text('{"tokens": null, "note": "sk-secret-key"}')
    git = desk.world.repo / ".git"
    own = "$(git rev-parse --git-dir)"
    escapes = ESCAPES.format(git=f"'{git}'", own=own, login=f"'{login}'", tmp=f"'{tmp_path}'")
    # What a repository says about Codex is not listened to.
    relaxed = 'sandbox_mode = "danger-full-access"\n'
    folder = desk.world.repo / ".codex"
    folder.mkdir()
    (folder / "config.toml").write_text(relaxed)
    run(desk.world.repo, "add", ".codex")
    run(desk.world.repo, "commit", "-qm", "Relax")
    before = (git / "config").read_text(), run(desk.world.repo, "rev-parse", "main")
    task = await desk.start(
        [codex_run(escapes), codex_add("a.txt", "a"), codex_run(COMMIT), Structured(READY)]
    )
    done = await desk.one_run(task)
    assert done.outcome == "pr_ready"
    told = desk.results()
    assert "the end" in told
    assert "Say hello" in told
    assert "mode implement" in told
    assert ("sk-secret-key" in told, "\n0\n" in told) == (False, True)
    assert ((git / "config").read_text(), run(desk.world.repo, "rev-parse", "main")) == before
    workspace = Path(done.workspace or "")
    assert not (workspace.parent / "outside").exists()
    assert not (tmp_path / "outside").exists()
    assert not (git / "hooks" / "post-commit").exists()
    assert run(workspace, "symbolic-ref", "HEAD") == f"refs/heads/{done.branch}"


@pytest.mark.slow
async def test_it_commits_in_a_clone(desk: Desk) -> None:
    config = desk.world.program.settings.home / "config.json"
    config.write_text(
        json.dumps({**json.loads(config.read_text()), "workspace": {"kind": "clone"}})
    )
    task = await desk.start([codex_add("hello.txt", "hello"), codex_run(COMMIT), Structured(READY)])
    done = await desk.one_run(task)
    assert (done.status, done.outcome) == (RunStatus.COMPLETED, "pr_ready")
    assert (Path(done.workspace or "") / ".git").is_dir()
    assert done.branch
    assert run(desk.world.repo, "log", "-1", "--format=%s", done.branch) == "Say hello"


async def test_without_the_sandbox_it_could(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The measure above is what keeps it in: switched off, the same command gets out."""
    monkeypatch.setattr(
        codex_sandbox, "settings", lambda *_, **__: {"sandbox_mode": "danger-full-access"}
    )
    outside = desk.world.repo.parent / "outside"
    task = await desk.start([codex_run(f"echo x > '{outside}'; echo the end"), Structured(READY)])
    await desk.ended(task)
    assert outside.exists()


async def test_a_mode_that_only_reads_cannot_write(desk: Desk) -> None:
    task = await desk.start(
        [codex_run("echo x > plan.txt; cat greeting.txt"), Structured(PLANNED)], pipeline="feature"
    )
    view = await desk.world.until(task, "planned")
    assert view.task.plan == "1. Do it."
    assert "Read-only file system" in desk.results()
    assert not (Path(view.runs[0].workspace or "") / "plan.txt").exists()


@pytest.mark.slow
async def test_a_form_that_is_not_kept_gets_one_repair_turn(desk: Desk) -> None:
    """Codex takes whatever the model says for the schema; we do not."""
    wrong = {"text": "?", "outcome": "no_changes", "payload": '{"why": "It is there."}'}
    task = await desk.start([Structured(wrong), When(resumed, [Structured(NOTHING)])])
    done = await desk.one_run(task)
    assert (done.outcome, done.payload) == ("no_changes", {"reason": "It is there."})
    heard = json.dumps(desk.model.requests(SCENARIO)[-1].body["input"])
    assert 'The payload of outcome \\"no_changes\\" is not valid' in heard
    first, repair = places.told(desk.world.s, done)
    assert "Your final message is a JSON object" in first
    texts = [
        c["text"]
        for i in desk.model.requests(SCENARIO)[-1].body["input"]
        if i.get("role") == "user"
        for c in i["content"]
    ]
    assert first in texts
    assert texts[-1] == repair
    assert "agent.output_refused" in await desk.world.types(task)


@pytest.mark.slow
async def test_markers_are_read_too_and_twice_wrong_is_an_error(desk: Desk) -> None:
    half = Say("<<<OUTCOME:pr_ready>>>")
    task = await desk.start([half, When(resumed, [outcome("approvd")])])
    error = await desk.failed(task)
    assert error.startswith('bad_output: There is no outcome "approvd". Did you mean "approved"?')


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "begins"),
    [
        pytest.param(Status(401, "Incorrect API key."), "auth: unexpected status 401", id="401"),
        pytest.param(Status(429, "Slow down."), "rate_limit: exceeded retry limit", id="429"),
        pytest.param(
            Status(429, "No credit.", "insufficient_quota"), "quota: Quota exceeded", id="quota"
        ),
        pytest.param(Status(503, "Overloaded."), "overloaded: unexpected status 503", id="503"),
        pytest.param(Broken(), "overloaded: stream disconnected", id="error event"),
        pytest.param(Garbled(), "interrupted: stream disconnected", id="garbled"),
        pytest.param(Garbled(garbage=""), "interrupted: stream disconnected", id="early end"),
        pytest.param(Cut(), "interrupted: stream disconnected", id="cut"),
        pytest.param(Turn([Say("No.")], stop="refusal"), "refusal: ", id="refusal"),
        pytest.param(
            Turn([Say("I was going to")], stop="max_tokens"), "max_tokens: ", id="max tokens"
        ),
        pytest.param(
            Status(400, "Your input exceeds the context window of this model."),
            "context_too_long: ",
            id="prompt too long",
        ),
        pytest.param(LIMITED, "quota: ", id="usage limit"),
    ],
)
async def test_an_interrupted_or_refused_response_has_its_class(
    desk: Desk, step: Step, begins: str
) -> None:
    assert (await desk.failed(await desk.start([step] * 9))).startswith(begins)


@pytest.mark.slow
async def test_a_usage_limit_names_the_time_at_which_it_resets(desk: Desk) -> None:
    task = await desk.start([LIMITED])
    view = await desk.ended(task)
    error = view.runs[-1].error
    assert error is not None
    assert error.resets_at == datetime.fromtimestamp(RESETS_AT, UTC)


async def test_one_that_is_killed_has_crashed(desk: Desk) -> None:
    task = await desk.start([Hang()])
    live = await desk.hanging(task)
    for pid in processes_of(live):
        os.kill(pid, signal.SIGKILL)
    assert (await desk.failed(task)).startswith("crash: Codex ended in the middle of its turn.")


async def test_a_wrong_setting_is_told(desk: Desk) -> None:
    task = await desk.start([], settings={"model_provider": "nowhere"})
    assert (await desk.failed(task)).startswith("crash: Codex ended in the middle of its turn.")


async def test_a_sandbox_that_cannot_be_set_up_is_noticed(desk: Desk, tmp_path: Path) -> None:
    """Codex itself says nothing then and exits with 0, whatever the model makes of it."""
    alone = tmp_path / "codex"
    try:
        alone.hardlink_to(CODEX)
    except OSError:
        shutil.copy(CODEX, alone)
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("git", "sh"):
        (programs / name).symlink_to(str(shutil.which(name)))
    task = await desk.start(
        [codex_run("echo hi > a.txt"), Structured(READY)],
        command=[str(shutil.which("env")), f"PATH={programs}", str(alone)],
    )
    error = await desk.failed(task)
    assert error.startswith("environment: Codex could not start the sandbox")
    assert "bubblewrap is unavailable" in error


@pytest.mark.slow
async def test_one_that_hangs_is_stopped_with_all_it_started(desk: Desk) -> None:
    again = When(asked("Earlier runs"), [Structured(NOTHING)])
    task = await desk.start([codex_run("sleep 60 & echo on"), Hang(), again])
    live = await desk.hanging(task)
    await tasks.stop_run(desk.world.s, live, ANN)
    view = await desk.ended(task)
    assert view.runs[0].status is RunStatus.CANCELLED
    assert processes_of(live) == []
    # What it did until then is known to whoever is run again.
    await desk.world.choose(task, "rerun")
    view = await desk.world.wait(task, lambda v: len(v.runs) == 2 and v.run is None, "a second run")
    assert view.runs[1].outcome == "no_changes"
    assert view.runs[1].session == view.runs[0].session is not None
    assert "sleep 60" in json.dumps(desk.model.requests(SCENARIO)[-1].body["input"])
