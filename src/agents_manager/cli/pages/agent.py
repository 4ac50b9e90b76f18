"""Agents as people read them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from agents_manager.cli.render import Block, Line, Table, Tone, one_line, title
from agents_manager.flow.agents import Examined

ABLE = {
    "resumes": "goes on with its session",
    "structured_output": "gives its outcome as data",
    "mcp": "calls the report tool",
    "reports_cost": "tells its cost",
    "system_prompt": "takes additions to its system prompt",
    "read_only_modes": "is kept from writing where a mode only reads",
    "harmless": "needs no consent",
    "interrupts": "ends in order when it is stopped",
    "asks_permission": "asks a person for permissions",
    "reads_instructions": "reads AGENTS.md in its workspace itself",
    "ignores_model": "does not accept a model",
}
"""What each capability means to a person."""


def document(one: Examined) -> Mapping[str, Any]:
    return {
        "name": one.name,
        "usable": one.usable,
        "model": one.model,
        "program": one.diagnosis.program,
        "version": one.diagnosis.version,
        "missing": one.diagnosis.missing,
        "doubts": one.diagnosis.doubts,
        "servers": [asdict(server) for server in one.diagnosis.servers],
        "capabilities": one.capabilities,
    }


def listing(found: Sequence[Examined]) -> Iterator[Block]:
    yield Table(
        ("NAME", "USABLE", "VERSION", "MODEL", "PROGRAM"),
        [
            (
                one.name,
                "yes" if one.usable else "no",
                one.diagnosis.version or "",
                one.model or "",
                one.diagnosis.program or "",
            )
            for one in found
        ],
    )
    if not all(one.usable for one in found):
        yield Line()
        yield Line("What is missing: am agent doctor", Tone.QUIET)


def diagnoses(found: Sequence[Examined]) -> Iterator[Block]:
    for number, one in enumerate(found):
        if number:
            yield Line()
        yield title(f"{one.name}: {'can be used' if one.usable else 'cannot be used'}")
        if one.diagnosis.program:
            release = f", version {one.diagnosis.version}" if one.diagnosis.version else ""
            yield Line(f"  {one_line(one.diagnosis.program)}{release}", Tone.QUIET)
        able = [ABLE[name] for name, has in asdict(one.capabilities).items() if has]
        if able:
            yield Line(f"  It {', '.join(able)}.", Tone.QUIET)
        for server in one.diagnosis.servers:
            name = f"  MCP server {server.name} ({server.type}, {one_line(server.place)})"
            if server.tools is None:
                yield Line(f"{name}: {one_line(server.problem)}", Tone.URGENT)
            else:
                tools = "1 tool" if server.tools == 1 else f"{server.tools} tools"
                yield Line(f"{name}: works, {tools}", Tone.QUIET)
        for missing in one.diagnosis.missing:
            yield Line(f"  {one_line(missing)}", Tone.REMOVED)
        for doubt in one.diagnosis.doubts:
            yield Line(f"  {one_line(doubt)}", Tone.URGENT)
