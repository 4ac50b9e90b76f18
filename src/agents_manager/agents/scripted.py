"""The scripted agent: plays the steps of a script in the worktree, with no model and no account.
It runs, fails, floods and asks like any other agent, so demos and tests need nothing else."""

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agents_manager.agents import environment, script, stream
from agents_manager.agents.config import ScriptedConfig
from agents_manager.agents.script import Script, Step, Visit
from agents_manager.errors import InvalidScript
from agents_manager.flow.ports import Capabilities, Diagnosis, Job, Said, Turn

PLAY = Path(__file__).with_name("play.py")


class ScriptedAgent:
    capabilities = Capabilities(resumes=True, reports_cost=True, harmless=True, ignores_model=True)
    how_to_end = ""

    def __init__(self, config: ScriptedConfig | None = None) -> None:
        self._config = config or ScriptedConfig()

    @property
    def model(self) -> str | None:
        return self._config.model

    @property
    def system_prompt(self) -> str | None:
        return self._config.system_prompt

    def job(self, turn: Turn) -> Job:
        lost = turn.session is not None and not _kept(turn, turn.session).exists()
        session = turn.run.id if lost or turn.session is None else turn.session
        told = {
            "session": session,
            "kept": str(_kept(turn, session)),
            "lost": lost,
            "steps": self._steps(turn),
        }
        return Job(
            dir=turn.dir,
            run_id=turn.run.id,
            argv=(sys.executable, "-I", "-S", str(PLAY), str(turn.dir / "steps.json")),
            cwd=turn.workspace,
            env={
                **environment.of(turn, path=os.environ.get("PATH", os.defpath)),
                "HOME": str(turn.dir),
                "LANG": "C.UTF-8",
                "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_CONFIG_GLOBAL": os.devnull,
            },
            stdin="",
            files={
                "steps.json": json.dumps(told),
                environment.PROMPT: turn.fresh_prompt if lost else turn.prompt,
            },
            limits=self._config.limits,
            folders=(turn.home,),
        )

    def read(self, folder: Path) -> Said:
        return stream.read(folder / "output")

    def parse(self, line: bytes) -> Sequence[Mapping[str, Any]]:
        return stream.shown(line)

    def meter(self) -> stream.UsageMeter:
        return stream.UsageMeter()

    def provider(self) -> None:
        return None

    def diagnose(self) -> Diagnosis:
        return Diagnosis(program=sys.executable)

    def _steps(self, turn: Turn) -> tuple[Step, ...]:
        found = self._script(turn)
        visit = found.visit(turn.run.mode, turn.visit) if found else None
        visit = visit or _unscripted(turn)
        if turn.fix:
            return visit.fix[min(turn.fix, len(visit.fix)) - 1] if visit.fix else ()
        return visit.steps if turn.number == 1 else visit.repair

    def _script(self, turn: Turn) -> Script | None:
        """The task's own script, else the configured one."""
        text = script.in_description(turn.task.description)
        if text is not None:
            return script.parse(text, "The agent-script block of the task's description")
        if self._config.script is not None:
            return script.check(self._config.script, "The configured script")
        if self._config.script_file is not None:
            return _from_file(Path(turn.project.path) / self._config.script_file)
        return None


def _kept(turn: Turn, session: str) -> Path:
    """What there is of a session: a file that says that there was one."""
    return turn.home / f"session-{session}"


def _from_file(path: Path) -> Script:
    where = f'The script "{path}"'
    try:
        with path.open("rb") as file:
            content = file.read(script.MAX_BYTES + 1)
        return script.parse(content.decode(), where, is_json=path.suffix == ".json")
    except OSError as error:
        raise InvalidScript(f"{where} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InvalidScript(f"{where} is not UTF-8 text.") from error


def _unscripted(turn: Turn) -> Visit:
    """What is played where no script names the mode."""
    title = turn.task.title
    if turn.run.mode == "plan":
        plan = (
            f"# Plan: {title}\n\n"
            f"1. Note the work in `{_notes(title)}`.\n"
            "2. Commit it.\n"
            "3. Hand it over for review."
        )
        return Visit((("say", plan), ("outcome", _ending("plan_complete"))))
    if turn.run.mode == "implement":
        line = f"- {title} (run {turn.visit + 1})\n"
        return Visit(
            (
                ("modify", {"path": _notes(title), "append": line}),
                ("commit", f"Note: {title}"),
                ("say", f"Added a line to `{_notes(title)}`."),
                ("outcome", _ending("pr_ready")),
            )
        )
    text = (
        f'The scripted agent has no script for the mode "{turn.run.mode}" and reports no outcome.'
    )
    return Visit((("say", text),))


def _ending(name: str) -> dict[str, object]:
    return {"name": name, "payload": None, "text": None}


def _notes(title: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:50].strip("-")
    return f"notes/{slug or 'task'}.md"
