"""A scripted model: real agents work against it on loopback, with no account and no network."""

from agents_manager.testing.scripted_model.agents import (
    claude_bash,
    claude_edit,
    claude_env,
    claude_read,
    claude_write,
    codex_add,
    codex_args,
    codex_env,
    codex_patch,
    codex_run,
)
from agents_manager.testing.scripted_model.record import Request
from agents_manager.testing.scripted_model.server import ModelServer
from agents_manager.testing.scripted_model.steps import (
    Cut,
    Hang,
    Malformed,
    Once,
    Say,
    Status,
    Structured,
    Turn,
    Usage,
    Use,
    When,
    outcome,
)
from agents_manager.testing.scripted_model.talk import Talk, asked, resulted, resumed

__all__ = [
    "Cut",
    "Hang",
    "Malformed",
    "ModelServer",
    "Once",
    "Request",
    "Say",
    "Status",
    "Structured",
    "Talk",
    "Turn",
    "Usage",
    "Use",
    "When",
    "asked",
    "claude_bash",
    "claude_edit",
    "claude_env",
    "claude_read",
    "claude_write",
    "codex_add",
    "codex_args",
    "codex_env",
    "codex_patch",
    "codex_run",
    "outcome",
    "resulted",
    "resumed",
]
