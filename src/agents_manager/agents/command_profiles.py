"""Programs whose command lines are known, so that nobody has to find them out again."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agents_manager.agents.programs import Release


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandProfile:
    command: Sequence[str]
    get: str
    tested: tuple[Release, Release]
    env: Sequence[str] = ()
    """Variables of the server that are passed on."""
    always: Mapping[str, str] = field(default_factory=dict[str, str])
    model: Sequence[str] = ()
    """The arguments that name a model, where there is one to name."""
    hosts: Sequence[str] = ()
    """Where its models are."""
    cost: re.Pattern[str] | None = None
    """Where its output says what a run cost, in dollars; the last place counts."""
    failure: re.Pattern[str] | None = None
    """A line that says what went wrong, of a program whose exit code does not."""


COMMANDS: Mapping[str, CommandProfile] = {
    "aider": CommandProfile(
        command=(
            *("aider", "--message-file", "{prompt_file}", "--yes-always"),
            *("--no-stream", "--no-pretty", "--no-fancy-input", "--no-check-update"),
            *("--analytics-disable", "--no-show-release-notes", "--no-show-model-warnings"),
            # The work is committed for it, and what it keeps has no place in the worktree.
            *("--no-auto-commits", "--no-dirty-commits", "--no-gitignore", "--map-tokens", "0"),
            *("--chat-history-file", "{home}/chat.md", "--input-history-file", "{home}/input"),
            # A repository may name commands of its own for these.
            *("--no-auto-lint", "--no-auto-test", "--no-suggest-shell-commands"),
            *("--no-detect-urls", "--no-notifications"),
        ),
        get="python -m pip install aider-chat",
        tested=((0, 86), (0, 86)),
        env=(
            *("OPENAI_API_KEY", "OPENAI_API_BASE", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"),
            *("DEEPSEEK_API_KEY", "OPENROUTER_API_KEY"),
        ),
        always={"LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        model=("--model", "{model}"),
        hosts=(
            *("api.openai.com", "api.anthropic.com", "generativelanguage.googleapis.com"),
            *("api.deepseek.com", "openrouter.ai"),
        ),
        cost=re.compile(r"\$(\d+(?:\.\d+)?) session"),
        failure=re.compile(r"^litellm\.(\w+(?:Error|Exception): .*)$", re.MULTILINE),
    ),
}
