"""Unusual streams and tool results, the real agents that are tried with them, what each combination
leads to, and the tables of it in docs/concepts/retries.md.

`make test-agents` writes the tables: with AM_KEEP_STREAMS set, each test writes its row."""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents_manager.testing.scripted_model import (
    CODEX_KEY,
    ModelServer,
    Once,
    Say,
    Structured,
    Turn,
    Use,
    claude_bash,
    codex_run,
    codex_settings,
    outcome,
)
from agents_manager.testing.scripted_model.steps import Step
from agents_manager.testing.scripted_model.unusual import UNUSUAL, Provider
from tests.agents.codex_desk import CODEX, CODEX_MODEL, READY
from tests.claude import MODEL
from tests.real_agents.desk import REAL, SCENARIO

PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "retries.md"
BEGINS, ENDS = "<!-- streams -->", "<!-- /streams -->"
HALF = "echo half > a.txt && git add a.txt && git commit -qm 'Add half'"
"""What an agent does before the unusual response."""
LARGE_BYTES = 30 * 1024 * 1024
LARGE = f"head -c {LARGE_BYTES} /dev/zero | tr '\\0' 'x'"
CALL, RESULT = "truncated call", "large result"
SENT = {
    **{name: one.sent for name, one in UNUSUAL.items()},
    CALL: "a call of a tool whose JSON is cut off",
    RESULT: "nothing unusual, but a command prints 30 MB",
}
"""Each stream by its name, in the words of the page."""
GATEWAY = ("429 seconds", "429 date", "429 reset")
"""Streams that are also sent through the gateway."""


Settings = Mapping[str, Any]
Env = Mapping[str, str]


# ------------------------------------------------------------------------------------------ agents


@dataclass(frozen=True)
class Agent:
    """A real agent, and how it is made to ask the scripted model."""

    title: str
    provider: Provider
    set_up: Callable[[Path, ModelServer, str], tuple[Settings, Env]]
    """Given the user's home and the stream: its settings and the variables of the server."""
    run: Callable[[str], Use]
    done: Say | Structured
    """How the model says that the work is finished."""
    gateway: bool = False


def _claude(_: Path, model: ModelServer, stream: str) -> tuple[Settings, Env]:
    # Only subscriptions have a usage limit.
    login = "CLAUDE_CODE_OAUTH_TOKEN" if stream == "usage limit" else "ANTHROPIC_API_KEY"
    settings = {"adapter": "claude-code", "model": MODEL, "env": ["CLAUDE_CODE_MAX_RETRIES"]}
    return settings, {
        "ANTHROPIC_BASE_URL": model.url(SCENARIO),
        "CLAUDE_CODE_MAX_RETRIES": "1",
        login: "sk-scripted-0123456789",
    }


def _codex(_: Path, model: ModelServer, stream: str) -> tuple[Settings, Env]:
    settings = {
        "adapter": "codex",
        "command": [CODEX],
        "model": CODEX_MODEL,
        "env": [CODEX_KEY],
        "settings": codex_settings(model, SCENARIO),
    }
    if stream in ("429 seconds", "429 date"):  # It waits for as long as it is told to.
        settings["timeout"] = 20_000
    return settings, {CODEX_KEY: "sk-scripted-0123456789"}


def _gemini(home: Path, model: ModelServer, _: str) -> tuple[Settings, Env]:
    return REAL["gemini"].settings, REAL["gemini"].set_up(home, model.url(SCENARIO))


def _claude_code(title: str, *, gateway: bool) -> Agent:
    return Agent(title, "anthropic", _claude, claude_bash, Structured(READY), gateway)


def _codex_cli(title: str, *, gateway: bool) -> Agent:
    return Agent(title, "openai", _codex, codex_run, Structured(READY), gateway)


AGENTS: Mapping[str, Agent] = {
    "claude-code": _claude_code("Claude Code", gateway=False),
    "claude-code-gateway": _claude_code("Claude Code through the gateway", gateway=True),
    "codex": _codex_cli("Codex", gateway=False),
    "codex-gateway": _codex_cli("Codex through the gateway", gateway=True),
    "gemini": Agent(
        "Gemini (ACP)", "gemini", _gemini, REAL["gemini"].run, outcome("pr_ready", text="Done.")
    ),
}


def steps(stream: str, agent: Agent) -> list[Step]:
    """Return what the model does: half of the work, then what is unusual, and, where the agent gets
    that far, the end."""
    half = agent.run(HALF)
    if stream == RESULT:
        return [half, agent.run(LARGE), agent.done]
    if stream == CALL:
        call = agent.run("echo never > never.txt")
        given = json.dumps(call.input)
        return [half, Use(call.name, given[: len(given) // 2]), agent.done, agent.done]
    unusual = UNUSUAL[stream]
    step = unusual.step(agent.provider)
    if unusual.once and not isinstance(step, Turn):
        return [half, Once(step, agent.done), agent.done]
    return [half, *[step] * 9]


# ---------------------------------------------------------------------------------------- expected

Ending = str
"""`done`; `waits` after a delay, or `reset` at the time that the provider names, for a retry; or
`asks` a person; or `new session` for a retry in one, after which a person is asked."""
DONE = ("", "done")
EXPECTED: Mapping[str, tuple[str, Ending]] = {
    "error event once": DONE,
    "error event": ("overloaded", "waits"),
    "late error event": ("overloaded", "waits"),
    "garbled": ("interrupted", "waits"),
    "truncated JSON": ("interrupted", "waits"),
    "early end": ("interrupted", "waits"),
    "cut": ("interrupted", "waits"),
    "429 seconds": ("rate_limit", "waits"),
    "429 date": ("rate_limit", "waits"),
    "429 reset": ("rate_limit", "waits"),
    "429": ("rate_limit", "waits"),
    "usage limit": ("quota", "reset"),
    "529": ("overloaded", "waits"),
    "refusal": ("refusal", "asks"),
    "max tokens": ("max_tokens", "asks"),
    "prompt too long": ("context_too_long", "new session"),
    "no credit": ("quota", "waits"),
    CALL: DONE,
    RESULT: DONE,
}
DIFFERENT: Mapping[tuple[str, str], tuple[str, Ending]] = {
    # It says no more than that the response was cut off.
    ("late error event", "claude-code"): ("interrupted", "waits"),
    # It ends these turns as if they were complete, and is asked for its outcome once.
    ("early end", "gemini"): ("bad_output", "asks"),
    ("refusal", "gemini"): ("bad_output", "asks"),
    ("max tokens", "gemini"): ("bad_output", "asks"),
    # Its provider tells how long to wait in the response itself.
    ("429 seconds", "gemini"): ("rate_limit", "reset"),
    ("usage limit", "gemini"): ("rate_limit", "reset"),
    # It sends all of the result to the model.
    (RESULT, "gemini"): ("context_too_long", "new session"),
}
"""Where an agent differs."""


def expected(stream: str, name: str) -> tuple[str, Ending]:
    if AGENTS[name].gateway:
        return ("rate_limit", "reset")
    return DIFFERENT.get((stream, name), EXPECTED[stream])


def pairs() -> Iterator[tuple[str, str]]:
    """Return every stream with every agent that it is tried with."""
    for name, agent in AGENTS.items():
        for stream in GATEWAY if agent.gateway else SENT:
            yield stream, name


# ------------------------------------------------------------------------------------------ tables


@dataclass(frozen=True)
class Row:
    error_class: str
    next: str
    seen: str
    """What the person sees of the run."""


Table = Mapping[tuple[str, str], Row]
"""The rows by stream and agent."""
_ADDRESSES = re.compile(r"(https?://)?(127\.0\.0\.1|localhost):\d+[^\s),]*")
_IDS = re.compile(r"\b(msg|req)_\w+|(?<=request id: )\w+")
_TIMES = re.compile(
    r"\b\d{1,2}:\d\d ?[apAP][mM]\b"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d| UTC)?"
)
_HEAD = ("| Stream | Class | What happens next | What the person sees |", "|---|---|---|---|")
MAX_SEEN = 200


def plain(text: str) -> str:
    """Return the text as it is the same in each test: without addresses, times and line breaks."""
    text = "".join(one if one.isprintable() else " " for one in text)
    for pattern, word in ((_ADDRESSES, "address"), (_TIMES, "time"), (_IDS, "id")):
        text = pattern.sub(f"({word})", text)
    text = " ".join(text.split())
    return text if len(text) <= MAX_SEEN else f"{text[: MAX_SEEN - 1].rstrip()}…"


def _cell(text: str) -> str:
    """Return the text so that nothing in it is markup."""
    return re.sub(r"([\\|<>*_`\[\]])", r"\\\1", text)


def render(table: Table) -> str:
    parts: list[str] = []
    for name, agent in AGENTS.items():
        rows = [
            f"| {SENT[stream]} | {f'`{row.error_class}`' if row.error_class else 'none'}"
            f" | {row.next} | {_cell(row.seen)} |"
            for stream, one in pairs()
            if one == name and (row := table.get((stream, name)))
        ]
        parts.append("\n".join([f"### {agent.title}", "", *_HEAD, *rows]))
    return "\n\n".join(parts)


def read(page: str) -> dict[tuple[str, str], Row]:
    """Return the rows of the page."""
    names = {f"### {agent.title}": name for name, agent in AGENTS.items()}
    streams = {sent: stream for stream, sent in SENT.items()}
    found: dict[tuple[str, str], Row] = {}
    name = None
    for line in _between(page)[1].splitlines():
        name = names.get(line, name)
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if name and len(cells) == 4 and cells[0] in streams:
            seen = re.sub(r"\\(.)", r"\1", cells[3])
            error_class = "" if cells[1] == "none" else cells[1].strip("`")
            found[streams[cells[0]], name] = Row(error_class, cells[2], seen)
    return found


def keep(stream: str, name: str, row: Row) -> None:
    """Write the row into the page if this test run is to write the tables."""
    if not os.environ.get("AM_KEEP_STREAMS"):
        return
    text = PAGE.read_text(encoding="utf-8")
    before, _, after = _between(text)
    table = render({**read(text), (stream, name): row})
    PAGE.write_text(f"{before}{BEGINS}\n\n{table}\n\n{ENDS}{after}", encoding="utf-8")


def _between(page: str) -> Sequence[str]:
    before, rest = page.split(BEGINS)
    within, after = rest.split(ENDS)
    return before, within, after
