"""What is measured on: a temporary data directory, a repository, a task that asks."""

import json
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from agents_manager.domain.task import Actor, ActorType
from agents_manager.settings import Settings
from bench.world import observed

ANN = Actor(type=ActorType.USER, name="ann", via="bench", admin=True)

QUESTION = {
    "questions": [
        {
            "id": "q1",
            "question": "REST or GraphQL?",
            "input_type": "choice",
            "options": [{"label": "REST", "recommended": True}, {"label": "GraphQL"}],
        }
    ]
}
ANSWER = {"answers": [{"question_id": "q1", "option": "REST"}]}

FILES_A_FOLDER = 100


@contextmanager
def place(files: int = 1) -> Generator[tuple[Settings, Path]]:
    """Settings with an empty data directory, and a repository with one commit. Both are removed
    afterwards, when the sandbox levels of all runs have been noted."""
    with tempfile.TemporaryDirectory(prefix="am-bench-", ignore_cleanup_errors=True) as folder:
        repo = Path(folder, "repo")
        repo.mkdir()
        git(repo, "init", "--quiet", "--initial-branch=main")
        (repo / "README.md").write_text("A repository to work on.\n")
        for number in range(files - 1):
            folder_of = repo / f"part{number // FILES_A_FOLDER}"
            folder_of.mkdir(exist_ok=True)
            (folder_of / f"file{number}.txt").write_text(f"The text of file {number}.\n" * 20)
        # In the repository, as agents commit there too.
        git(repo, "config", "user.name", "Bench")
        git(repo, "config", "user.email", "bench@localhost")
        git(repo, "add", ".")
        git(repo, "commit", "--quiet", "--message=First")
        home = Path(folder, "home")
        home.mkdir()
        # Questions that are copied are years old, and a server would remind of thousands.
        config = {"defaultAgentType": "scripted", "reminders": {"enabled": False}}
        (home / "config.json").write_text(json.dumps(config))
        settings = Settings(home, None)
        yield settings, repo
        observed.runs_in(home)


def git(repo: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=repo, check=True, capture_output=True)
