"""What an agent finds in its environment: an allow-list, never the server's own."""

import os
from collections.abc import Iterable, Mapping

from agents_manager.environment import without_product
from agents_manager.flow.ports import Turn

CLAUDE_HOSTS = ("api.anthropic.com", "platform.claude.com", "console.anthropic.com", "claude.ai")
CODEX_HOSTS = ("api.openai.com", "chatgpt.com", "auth.openai.com")
KEPT = ("HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR")
PROMPT = "prompt.md"


def near(env: Mapping[str, str]) -> dict[str, str]:
    """The same for a program that asks us, which no proxy may come between."""
    proxied = any(name in env for name in ("HTTP_PROXY", "http_proxy"))
    names = ("NO_PROXY", "no_proxy") if proxied else ()
    return {**env, **{n: ",".join(filter(None, (env.get(n), "127.0.0.1"))) for n in names}}


def of(turn: Turn, *, path: str, names: Iterable[str] = ()) -> dict[str, str]:
    """Return the variables that every agent gets, and those of the server in `names`."""
    kept = {name: os.environ[name] for name in (*KEPT, *names) if name in os.environ}
    variables = {
        **kept,
        "PATH": path,
        "TERM": "dumb",
        "GIT_TERMINAL_PROMPT": "0",
        "AM_TASK_ID": turn.task.id,
        "AM_RUN_ID": turn.run.id,
        "AM_MODE": turn.run.mode,
        "AM_PROMPT_FILE": str(turn.dir / PROMPT),
    }
    return without_product(variables)
