"""What the flow relies on, whichever adapter drives the agent."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from agents_manager.engine.runners import DetachedRunners
from agents_manager.flow.ports import Agent
from agents_manager.testing.values import turn

WORDS = "I looked, and all is well."
PRINTED = {
    "nothing": b"",
    "no text": b"\xff\xfe\x00" * 1000,
    "wrong types": b'{"type": "result", "text": 3, "structured": NaN}\n',
    "more than every number": b'{"type": "usage", "cost_usd": 1e999}\n',
    "half a character": b'{"type": "assistant", "text": "\\ud800"}\n',
    "very deep": b'{"type":' + b"[" * 100_000,
    "one long line": b"x" * 10_000_000,
    "empty messages": b'{"type": "assistant", "text": null}\n' * 1000,
}


class AgentContract:
    @pytest.fixture
    def speaking(self, tmp_path: Path) -> Callable[[str], Agent]:
        """To be overridden: an agent whose program, when it runs, says these words and ends."""
        raise NotImplementedError

    @pytest.fixture
    def agent(self, speaking: Callable[[str], Agent]) -> Agent:
        return speaking(WORDS)

    async def test_a_turn_runs_in_the_workspace_with_what_an_agent_is_told(
        self, agent: Agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("AM_DATABASE_URL", "postgresql://secret")
        monkeypatch.setenv("GITHUB_TOKEN", "secret")
        job = agent.job(turn(tmp_path, mode="plan"))
        assert (job.cwd, job.dir) == (tmp_path / "work", tmp_path / "run-1")
        assert (job.env["AM_TASK_ID"], job.env["AM_MODE"]) == ("task-1", "plan")
        assert job.env["AM_RUN_ID"] == job.run_id
        assert job.files[Path(job.env["AM_PROMPT_FILE"]).name] == "Do it."
        assert Path(job.env["AM_PROMPT_FILE"]).parent == job.dir
        assert "secret" not in json.dumps(dict(job.env))
        assert all(folder.startswith("/") for folder in job.env["PATH"].split(":"))

    async def test_its_last_words_are_read(self, agent: Agent, tmp_path: Path) -> None:
        (tmp_path / "work").mkdir(exist_ok=True)
        runners, job = DetachedRunners(), agent.job(turn(tmp_path))
        await runners.start_or_adopt(job)
        try:
            ended = await runners.wait(job.dir)
        finally:
            await runners.stop(job.dir)
        said = agent.read(job.dir)
        assert (ended.reason, ended.exit_code) == ("exited", 0)
        assert (said.error, said.error_class) == (None, None)
        assert WORDS in said.final_text

    @pytest.mark.parametrize("printed", PRINTED.values(), ids=PRINTED)
    def test_whatever_is_printed_can_be_read(
        self, agent: Agent, tmp_path: Path, printed: bytes
    ) -> None:
        (tmp_path / "output").write_bytes(printed)
        said = agent.read(tmp_path)
        assert "\x00" not in said.final_text
        said.final_text.encode()
        for line in printed.splitlines():
            messages = agent.parse(line)
            assert all(isinstance(message["type"], str) for message in messages)
            json.dumps(messages, allow_nan=False)

    def test_output_that_is_missing_is_nothing_said(self, agent: Agent, tmp_path: Path) -> None:
        said = agent.read(tmp_path / "nowhere")
        assert (said.final_text, said.usage, said.error) == ("", None, None)

    def test_a_look_at_it_tells_what_is_missing(self, agent: Agent) -> None:
        found = agent.diagnose()
        assert all(isinstance(one, str) and one for one in (*found.missing, *found.doubts))
