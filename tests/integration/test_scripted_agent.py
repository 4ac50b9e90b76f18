"""The scripted agent, played by real processes in a real repository."""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from agents_manager.agents.config import ScriptedConfig
from agents_manager.agents.scripted import ScriptedAgent
from agents_manager.domain import outcome
from agents_manager.domain.run import ErrorClass
from agents_manager.engine.runners import DetachedRunners
from agents_manager.errors import InvalidScript
from agents_manager.flow.ports import Agent, Ended, Said, Turn
from tests.runner_jobs import processes_of
from tests.turns import run_id, turn

AUTHOR = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
Play = Callable[..., Coroutine[Any, Any, tuple[Ended, Said]]]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "project").mkdir()
    git(work, "init", "--quiet", "--initial-branch=main")
    return work


@pytest.fixture
async def play(tmp_path: Path, work: Path) -> AsyncIterator[Play]:
    """Plays steps, or the turn given, and reads what the agent said."""
    runners = DetachedRunners()
    played: list[Path] = []

    async def play(*steps: Any, given: Turn | None = None, **limits: Any) -> tuple[Ended, Said]:
        config = {"script": {"default": [list(steps)]}} if steps else {}
        agent: Agent = ScriptedAgent(ScriptedConfig.model_validate({**config, **limits}))
        job = agent.job(given or turn(tmp_path, name=f"run-{len(played)}"))
        played.append(job.dir)
        await runners.start_or_adopt(job)
        end = await runners.wait(job.dir)
        assert processes_of(job.run_id) == []
        return end, agent.read(job.dir)

    yield play
    for folder in played:
        await runners.stop(folder)


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def errors_of(folder: Path) -> str:
    return (folder / "run-0" / "stderr").read_text()


def reported(said: Said) -> outcome.Reading:
    known = {each.name: each for each in outcome.BUILT_IN}
    return outcome.read_markers(said.final_text, list(known), known)


async def test_unscripted_plan(tmp_path: Path, play: Play) -> None:
    _, said = await play(given=turn(tmp_path, mode="plan"))
    read = reported(said)
    assert isinstance(read, outcome.Reported)
    assert read.name == "plan_complete"
    assert read.text.startswith("# Plan: Add a search box\n")


async def test_unscripted_implementation_commits_every_time(
    tmp_path: Path, work: Path, play: Play
) -> None:
    for visit in (0, 1):
        _, said = await play(given=turn(tmp_path, visit=visit, name=f"run-{visit}"))
        assert isinstance(reported(said), outcome.Reported)
    assert (
        git(work, "log", "--format=%an <%ae>|%cn|%s").splitlines()
        == [
            "Scripted agent <scripted@agents-manager.invalid>|Scripted agent|Note: Add a search box"
        ]
        * 2
    )
    lines = (work / "notes" / "add-a-search-box.md").read_text().splitlines()
    assert lines == ["- Add a search box (run 1)", "- Add a search box (run 2)"]


async def test_unscripted_review_reports_nothing(tmp_path: Path, play: Play) -> None:
    end, said = await play(given=turn(tmp_path, mode="review"))
    assert end.exit_code == 0
    assert isinstance(reported(said), outcome.Nothing)
    assert 'no script for the mode "review"' in said.final_text


async def test_files_and_commits(work: Path, play: Play) -> None:
    end, _ = await play(
        {"write": {"path": "a/b.txt", "text": "one two"}},
        {"write": {"path": "gone.txt", "text": ""}},
        {"commit": "Add"},
        {"commit": "Nothing"},
        {"modify": {"path": "a/b.txt", "replace": "two", "with": "three"}},
        {"modify": {"path": "a/b.txt", "append": " four"}},
        {"delete": "gone.txt"},
        {"commit": "Change"},
    )
    assert end.exit_code == 0
    assert git(work, "log", "--format=%s").splitlines() == ["Change", "Add"]
    assert git(work, "ls-files") == "a/b.txt"
    assert git(work, "status", "--porcelain") == ""
    assert (work / "a" / "b.txt").read_text() == "one three four"


async def test_meeting_while_a_worktree_is_being_made(
    tmp_path: Path, work: Path, play: Play
) -> None:
    await play({"write": {"path": "a.txt", "text": "a"}}, {"commit": "First"})
    beside = tmp_path / "beside"
    git(work, "worktree", "add", "--quiet", str(beside))
    head = work / ".git" / "worktrees" / "beside" / "HEAD"
    whole = head.read_text()
    head.write_text("0" * 40)  # As git leaves it for a moment.

    meeting = asyncio.create_task(play({"say": "Up."}, {"meet": "Change"}, {"say": "Met."}))
    output = tmp_path / "run-1" / "output"
    while not (output.exists() and output.stat().st_size):
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.3)
    head.write_text(whole)
    git(beside, *AUTHOR, "commit", "--quiet", "--allow-empty", "--message=Change")
    end, said = await meeting
    assert end.exit_code == 0, errors_of(tmp_path)
    assert "Met." in said.final_text


async def test_message_stream(tmp_path: Path, play: Play) -> None:
    _, said = await play(
        {"say": "First."},
        {"tool": {"name": "Bash", "input": {"command": "ls"}}},
        {"usage": {"input_tokens": 7, "cost_usd": 0.25}},
        {"stderr": "a warning"},
        {"say": "Second."},
    )
    assert (said.final_text, said.session) == ("First.\n\nSecond.", run_id(tmp_path, "run-0"))
    assert said.usage is not None
    assert (said.usage.input_tokens, said.usage.output_tokens, said.usage.cost_usd) == (
        7,
        None,
        0.25,
    )
    assert '"name": "Bash"' in (tmp_path / "run-0" / "output").read_text()
    assert errors_of(tmp_path) == "a warning\n"


async def test_question(play: Play) -> None:
    _, said = await play({"say": "Hm."}, {"ask": {"question": "Which?", "options": ["A", "B"]}})
    read = reported(said)
    assert isinstance(read, outcome.Reported)
    assert read.payload is not None
    assert (read.name, read.payload["questions"][0]["question"]) == ("needs_info", "Which?")


async def test_outcome_with_payload_and_text(play: Play) -> None:
    payload = {"reason": "It is done already."}
    step = {"name": "no_changes", "payload": payload, "text": "Look."}
    _, said = await play({"outcome": step})
    assert reported(said) == outcome.Reported("no_changes", payload, "Look.")


async def test_malformed_outcome_and_its_repair(tmp_path: Path, play: Play) -> None:
    block = (
        "```agent-script\nimplement:\n- steps:\n  - malformed: '<<<OUTCOME:pr_ready>>>{'\n"
        "  repair:\n  - outcome: pr_ready\n```"
    )
    _, first = await play(given=turn(tmp_path, description=block))
    assert isinstance(reported(first), outcome.Malformed)
    again = turn(tmp_path, description=block, number=2, session=first.session, name="run-2")
    _, second = await play(given=again)
    assert reported(second) == outcome.Reported("pr_ready", None, "")
    assert (second.session, second.session_lost) == (first.session, False)


async def test_a_session_that_is_gone_is_begun_anew(tmp_path: Path, play: Play) -> None:
    given = turn(tmp_path, session="gone", prompt="Go on.", fresh_prompt="All of it.")
    _, said = await play(given=given)
    assert (said.session, said.session_lost) == (given.run.id, True)
    assert (given.dir / "prompt.md").read_text() == "All of it."


async def test_failure_with_a_class(play: Play) -> None:
    end, said = await play({"fail": {"class": "rate_limit", "message": "Too many requests."}})
    assert (end.exit_code, said.final_text) == (1, "")
    assert (said.error, said.error_class) == ("Too many requests.", ErrorClass.RATE_LIMIT)


@pytest.mark.parametrize(("how", "code"), [(3, 3), ("SIGSEGV", -11), ("KILL", -9), ("INT", -2)])
async def test_crash(play: Play, how: int | str, code: int) -> None:
    end, said = await play({"say": "Wait."}, {"crash": how})
    assert (end.reason, end.exit_code, said.final_text) == ("exited", code, "Wait.")


async def test_hang_is_ended_by_the_timeout(play: Play) -> None:
    end, _ = await play({"say": "Zzz."}, {"hang": True}, timeout=300)
    assert end.reason == "timeout"


async def test_silence_is_ended(play: Play) -> None:
    end, _ = await play({"say": "Zzz."}, {"sleep": 30}, silenceTimeout=300)
    assert end.reason == "stalled"


@pytest.mark.parametrize(
    "size", [{"bytes": 5_000_123}, {"lines": 10}, {"bytes": 5_000_000, "line_bytes": 5_000_000}]
)
async def test_flood_does_not_hide_the_result(play: Play, size: dict[str, int]) -> None:
    end, said = await play({"flood": size}, {"say": "Through."})
    assert end.output_bytes >= size.get("bytes", 10_000)
    assert said.final_text == "Through."


async def test_flood_over_the_limit_is_cut(play: Play) -> None:
    end, said = await play({"flood": {"bytes": 300_000}}, {"say": "Lost."}, outputBytes=100_000)
    assert (end.exit_code, end.output_bytes, end.truncated) == (0, 100_000, True)
    assert said.final_text == ""


async def test_daemon_is_ended_with_the_run(play: Play) -> None:
    end, said = await play({"daemon": 60}, {"say": "Bye."})
    assert (end.reason, said.final_text) == ("exited", "Bye.")


@pytest.mark.parametrize(
    "path", ["../out", "/tmp/out", "a/../../out", "link/out", "file-link", ".git/hooks/x", "."]
)
async def test_paths_outside_are_refused(tmp_path: Path, work: Path, play: Play, path: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("theirs")
    (work / "link").symlink_to(outside)
    (work / "file-link").symlink_to(outside / "file")
    end, _ = await play({"write": {"path": path, "text": "ours"}})
    assert end.exit_code == 1
    assert "The script cannot be played" in errors_of(tmp_path)
    assert [file.name for file in outside.iterdir()] == ["file"]
    assert (outside / "file").read_text() == "theirs"


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"modify": {"path": "a.txt", "replace": "zzz", "with": "y"}}, "does not hold the text"),
        ({"modify": {"path": "none.txt", "replace": "z", "with": "y"}}, "No such file"),
        ({"delete": "none.txt"}, "No such file"),
    ],
)
async def test_steps_that_do_not_fit_the_worktree(
    tmp_path: Path, work: Path, play: Play, step: dict[str, Any], message: str
) -> None:
    (work / "a.txt").write_text("abc")
    end, said = await play(step)
    assert (end.exit_code, said.final_text) == (1, "")
    assert message in errors_of(tmp_path)


async def test_agent_finds_its_prompt_and_little_else(tmp_path: Path) -> None:
    job = ScriptedAgent().job(turn(tmp_path))
    assert job.files["prompt.md"] == "Do it."
    assert job.env["AM_PROMPT_FILE"] == str(job.dir / "prompt.md")
    assert (job.env["AM_TASK_ID"], job.env["AM_MODE"]) == ("task-1", "implement")
    assert not {"GIT_DIR", "SSH_AUTH_SOCK", "AM_HOME"} & set(job.env)


SAYS = "default: [[say: {}]]"


def said_first(agent: Agent, given: Turn) -> str:
    return agent.job(given).files["steps.json"]


def test_sources_of_the_script_in_order(tmp_path: Path, work: Path) -> None:
    (tmp_path / "project" / "script.yaml").write_text(SAYS.format("from the file"))
    (tmp_path / "script.json").write_text('{"default": [[{"say": "from json"}]]}')
    block = f"```agent-script\n{SAYS.format('from the task')}\n```"
    inline = {"default": [[{"say": "from the configuration"}]]}
    by_file = ScriptedAgent(ScriptedConfig(script_file="script.yaml"))
    by_json = ScriptedAgent(ScriptedConfig(script_file=str(tmp_path / "script.json")))
    inlined = ScriptedAgent(ScriptedConfig(script=inline, script_file="script.yaml"))
    assert "from the file" in said_first(by_file, turn(tmp_path))
    assert "from json" in said_first(by_json, turn(tmp_path))
    assert "from the configuration" in said_first(inlined, turn(tmp_path))
    assert "from the task" in said_first(inlined, turn(tmp_path, description=block))


@pytest.mark.parametrize(
    ("name", "message"),
    [("none.yaml", "cannot be read"), ("bad.yaml", "bad.yaml"), ("binary.yaml", "not UTF-8")],
)
def test_broken_script_files_are_named(tmp_path: Path, work: Path, name: str, message: str) -> None:
    (tmp_path / "project" / "bad.yaml").write_text("plan: [[sayy: x]]")
    (tmp_path / "project" / "binary.yaml").write_bytes(b"\xff\xfe")
    agent = ScriptedAgent(ScriptedConfig(script_file=name))
    with pytest.raises(InvalidScript, match=message):
        agent.job(turn(tmp_path))
