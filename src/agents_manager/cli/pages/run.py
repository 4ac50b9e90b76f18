"""Runs as people read them."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from agents_manager.cli.pages import handoff
from agents_manager.cli.render import (
    UNKNOWN,
    Block,
    Line,
    Table,
    Tone,
    ago,
    counted,
    excerpt,
    lines,
    money,
    one_line,
    short,
    title,
    took,
)
from agents_manager.domain.event import ConnectionsBlocked
from agents_manager.domain.run import CostBasis, ErrorClass, Run, Usage
from agents_manager.flow.runs.handoffs import Note
from agents_manager.flow.runs.left_out import LeftOut
from agents_manager.flow.runs.verdict import Check

MAX_INPUT = 200
MAX_RESULT = 5
"""How many lines of a tool's result are printed."""
MAX_WIDTH = 300
SANDBOX = "Sandbox"


def table(runs: Sequence[Run], *, indent: int = 0) -> Table:
    return Table(
        ("ID", "MODE", "AGENT", "STATUS", "ENDED WITH", "COST", "TOOK", "STARTED"),
        [
            (
                short(r.id),
                f"{r.mode} {r.part}".strip(),
                r.agent or "",
                r.status.value,
                _ending(r),
                money(r.cost_usd),
                _took(r),
                ago(r.started_at) if r.started_at else "not yet",
            )
            for r in runs
        ],
        indent,
        cut=("ENDED WITH",),
    )


def listing(runs: Sequence[Run]) -> Iterator[Block]:
    yield table(runs) if runs else Line("No agent has run yet.")


def page(
    run: Run,
    task_title: str,
    rounds: Sequence[Sequence[Check]] = (),
    note: Note | None = None,
    products: LeftOut | None = None,
    blocked: ConnectionsBlocked | None = None,
) -> Iterator[Block]:
    yield title(f"{run.mode} by {run.agent or 'an agent'}: {run.status}")
    yield Line(f'{run.id} · "{one_line(task_title)}" ({short(run.task_id)})', Tone.QUIET)
    yield Line()
    facts = {
        "Outcome": run.outcome,
        "Error": f"{run.error.error} ({run.error.error_class})" if run.error else None,
        "Checks": _checked(rounds),
        "Handoff": handoff.summary(note) if note else None,
        "Attempt": str(run.attempt),
        "Part": run.part,
        "Model": run.model,
        SANDBOX: "none: the agent worked unsandboxed" if run.unkept else run.sandbox,
        "Blocked": _blocked(blocked) if blocked else None,
        "Session": run.session,
        "Cost": _cost(run),
        "Tokens": _tokens(run.usage),
        "Started": ago(run.started_at) if run.started_at else "not yet",
        "Took": _took(run),
        "Branch": run.branch,
        "Commits": f"{run.base_sha[:8]}..{run.head_sha[:8]}"
        if run.base_sha and run.head_sha
        else None,
        "Left out": products.summary if products else None,
        "Workspace": run.workspace,
        "Transcript": f"removed by retention on {run.transcript_removed_at:%Y-%m-%d}"
        if run.transcript_removed_at
        else None,
        "Set by": _set(run),
    }
    for name, fact in facts.items():
        if fact:
            red = name == SANDBOX and run.unkept
            yield Line(f"{name:<10}{one_line(fact)}", Tone.REMOVED if red else Tone.PLAIN)
    if run.error and run.error.error_class is ErrorClass.BAD_OUTPUT and run.error.output:
        yield Line()
        yield title("What the agent said")
        yield from lines(run.error.output, indent=2)
    yield Line()
    there = [*(["handoff"] if note and (note.kept or note.violations) else [])]
    there += ["checks"] if rounds else []
    for word in ("transcript", *there, "diff", "show --prompt"):
        verb, _, option = word.partition(" ")
        yield Line(f"am run {verb} {short(run.id)} {option}".rstrip(), Tone.QUIET)
    yield Line(f"am config show --run {short(run.id)}", Tone.QUIET)


def _blocked(blocked: ConnectionsBlocked) -> str:
    told = zip(blocked.places, blocked.reasons, strict=False)
    places = "; ".join(f"{place} ({why})" for place, why in told)
    more = f" and {blocked.more} more" if blocked.more else ""
    return f"{places}{more}." + (f" Allow with: {blocked.allow}" if blocked.allow else "")


def _set(run: Run) -> str:
    """What was set for this run alone, and by whom."""
    return ", ".join(
        f"{key}={json.dumps(value)} ({layer})"
        for layer, said in run.overrides
        for key, value in said.items()
    )


def told(system: str | None, first: str, later: Sequence[str]) -> Iterator[Block]:
    if system:
        yield title("Added to the agent's own system prompt")
        yield from lines(system)
        yield Line()
        yield title("Then")
    yield from lines(first)
    for prompt in later:
        yield Line()
        yield title("And then")
        yield from lines(prompt)


def checks(rounds: Sequence[Sequence[Check]]) -> Iterator[Block]:
    if not rounds:
        yield Line("No check was run on its work.")
    for number, results in enumerate(rounds):
        yield title(f"After round {number} of fixing" if number else "After its work")
        for check in results:
            tone = Tone.PLAIN if check["passed"] else Tone.URGENT
            about = f"{check['how']}, {check['severity']}" if not check["passed"] else check["how"]
            yield Line(f"  {one_line(check['name'])}: {about} ({took(check['seconds'])})", tone)
            yield from lines(check["output"].rstrip(), indent=4, tone=Tone.QUIET)
        yield Line()


def _checked(rounds: Sequence[Sequence[Check]]) -> str | None:
    """What the last ones said, and how many rounds it took."""
    if not rounds:
        return None
    failed = [check for check in rounds[-1] if not check["passed"]]
    said = ", ".join(f"{c['name']} ({c['how']})" for c in failed)
    fixes = f", after {counted(len(rounds) - 1, 'round')} of fixing" if len(rounds) > 1 else ""
    return (f"failed: {said}" if failed else "passed") + fixes


def ending(run: Run, task_title: str) -> Iterator[Block]:
    how = f"{run.status}, {_ending(run)}" if _ending(run) else run.status
    yield Line(f'Run {short(run.id)} of "{one_line(task_title)}": {one_line(how)}.', Tone.QUIET)


def transcript(
    messages: Iterable[Mapping[str, Any]], complaints: str = "", removed_at: datetime | None = None
) -> Iterator[Block]:
    if removed_at is not None:
        yield Line(f"The transcript was removed by retention on {removed_at:%Y-%m-%d}.")
    for message in messages:
        yield from _message(message)
    if complaints.strip():
        yield title("On standard error")
        yield from lines(complaints, indent=2)


def _message(message: Mapping[str, Any]) -> Iterator[Line]:
    match message.get("type"):
        case "assistant" | "output":
            yield from lines(str(message.get("text", "")))
        case "tool_use":
            given = json.dumps(message.get("input", {}), ensure_ascii=False)
            shown = given if len(given) <= MAX_INPUT else given[: MAX_INPUT - 1] + "…"
            name = str(message.get("name", "tool"))
            yield Line(f"> {one_line(name)} {one_line(shown)}", Tone.QUIET)
        case "tool_result":
            yield from _returned(message)
        case "usage":
            told = ", ".join(f"{k} {v}" for k, v in message.items() if k != "type")
            yield Line(f"> used {one_line(told)}", Tone.QUIET)
        case "result":
            yield Line()
            yield title("Final message")
            yield from lines(str(message.get("error") or message.get("text") or ""), indent=2)
        case other:
            yield Line(f"> {one_line(str(other))}", Tone.QUIET)


def _returned(message: Mapping[str, Any]) -> Iterator[Line]:
    """What a tool returned, in its first lines; a program may also put all of it on one line."""
    text = "\n".join(line[:MAX_WIDTH] for line in str(message.get("text", "")).splitlines())
    if message.get("ok") is False:
        yield Line("  failed:", Tone.URGENT)
    for line in excerpt(text, MAX_RESULT, indent=2):
        yield replace(line, tone=Tone.QUIET)


def _ending(run: Run) -> str:
    if run.error:
        return f"{run.error.error_class}: {run.error.error}"
    return run.outcome or ""


def _took(run: Run) -> str:
    if run.started_at is None or run.ended_at is None:
        return ""
    return took((run.ended_at - run.started_at).total_seconds())


def _cost(run: Run) -> str:
    computed = run.cost_basis is CostBasis.COMPUTED
    return money(run.cost_usd) + (" (its tokens by their prices)" if computed else "")


def _tokens(usage: Usage | None) -> str:
    if usage is None or (usage.input_tokens is None and usage.output_tokens is None):
        return UNKNOWN
    given = UNKNOWN if usage.input_tokens is None else str(usage.input_tokens)
    made = UNKNOWN if usage.output_tokens is None else str(usage.output_tokens)
    return f"{given} in, {made} out"
