"""Where a run keeps what each of its turns brings along and prints."""

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from agents_manager.domain.ids import RunId
from agents_manager.domain.run import Run
from agents_manager.flow.ports import Services

MAX_FIX_ROUNDS = 10
TURNS = range(1, 2 * (1 + MAX_FIX_ROUNDS) + 1)
"""The run itself and the rounds of fixing, each with a repair turn where its outcome cannot be
taken."""
OUTPUT = "output"
"""In the directory of a turn: what its agent printed."""
STDERR = "stderr"
"""What it complained."""
CHECKS = "checks.json"
"""In the directory of a turn: what the project's checks said about its work."""
ASKED = "asked.md"
"""What the agent was told in a later turn; the first is stored with the run."""
FRESH = "fresh.md"
"""What it is told instead where its session is gone."""
SYSTEM = "system.md"
"""What was added to the agent's own system prompt, where it takes that."""

SETUP_LOG = "setup.log"
"""In the directory of the run: what its set-up commands printed."""


def job_dir(s: Services, run_id: RunId, turn: int) -> Path:
    return s.jobs_dir / run_id / str(turn)


def printed_at(s: Services, run_id: RunId) -> datetime | None:
    """When the agent last printed something; None: it has not, or it can no longer be read."""
    found: list[float] = []
    for turn in TURNS:
        with suppress(FileNotFoundError):
            found.append((job_dir(s, run_id, turn) / OUTPUT).stat().st_mtime)
    return datetime.fromtimestamp(max(found), UTC) if found else None


def removed_at(s: Services, run: Run) -> datetime | None:
    """When retention removed what the run printed; None while it can be read."""
    gone = run.transcript_removed_at
    return None if gone is None or (s.jobs_dir / run.id).exists() else gone


def told(s: Services, run: Run) -> list[str]:
    """Exactly what the agent was given, turn by turn."""
    if run.prompt is None:
        return []
    later = [job_dir(s, run.id, turn) / ASKED for turn in TURNS[1:]]
    return [run.prompt, *(f.read_bytes().decode() for f in later if f.exists())]


def system_prompt(s: Services, run: Run) -> str | None:
    """What came before that, in the agent's own system prompt."""
    file = job_dir(s, run.id, TURNS[0]) / SYSTEM
    return file.read_bytes().decode() if file.exists() else None
