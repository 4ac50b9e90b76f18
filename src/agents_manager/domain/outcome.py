"""Outcomes: the registry of what an agent can end with, and the marker parser.

The parser is linear and bounded. It sees only what it is given: the caller passes the final
assistant message of a run that ended normally, never tool output.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import ValidationError

from agents_manager.domain import fences, form, json_schema, outcome_hint, strict_json
from agents_manager.domain import payload as payloads
from agents_manager.domain.pipeline import BROUGHT, OUTCOME_ALIASES, PromptType, faults
from agents_manager.domain.race import JUDGED, Judgement
from agents_manager.domain.stages.table import STAGES
from agents_manager.domain.value import Lenient
from agents_manager.errors import closest


@dataclass(frozen=True, slots=True)
class Outcome:
    name: str
    description: str
    payload: type[Lenient] | None = None
    payload_required: bool = True
    prompt: PromptType | None = None
    schema: Mapping[str, Any] | None = None
    """JSON Schema of the payload, of outcomes that a project defines instead of a model."""
    answer: Mapping[str, Any] | None = None
    """The form that it asks a person to fill in; the payload may then suggest an answer."""

    @property
    def payload_schema(self) -> Mapping[str, Any] | None:
        if self.payload:
            return _schema_of(self.payload)
        if self.answer is None:
            return self.schema
        return form.with_suggestion(self.schema or {"type": "object"}, self.answer)

    @property
    def title(self) -> str:
        """What its form is called."""
        titles = ((part or {}).get("title") for part in (self.answer, self.schema))
        return next((str(one) for one in titles if one), form.title(self.name, {}))

    @property
    def aliases(self) -> tuple[str, ...]:
        return tuple(alias for alias, name in OUTCOME_ALIASES.items() if name == self.name)


@cache
def _schema_of(payload: type[Lenient]) -> Mapping[str, Any]:
    """Kept: to make one takes longer than all else that a run is told."""
    return payload.model_json_schema()


BUILT_IN = (
    Outcome(
        "needs_info",
        "You need an answer from a person before you can go on.",
        payloads.NeedsInfo,
        prompt=PromptType.INFO_REQUEST,
    ),
    Outcome(
        "options_proposed",
        "You see several ways and a person should choose one.",
        payloads.OptionsProposed,
        prompt=PromptType.INFO_REQUEST,
    ),
    Outcome(
        "changes_requested",
        "You reviewed the work and it must be changed.",
        payloads.ChangesRequested,
        prompt=PromptType.REVIEW,
    ),
    Outcome(
        "plan_complete",
        "The plan is ready: it is the text of your final message.",
        prompt=PromptType.DOCUMENT_REVIEW,
    ),
    Outcome(
        "propose_split",
        "The task is too large for one run; you propose phases, in their order.",
        payloads.ProposeSplit,
        prompt=PromptType.SPLIT_PROPOSAL,
    ),
    Outcome(
        "design_ready",
        "The design is ready: it is the text of your final message.",
        prompt=PromptType.DOCUMENT_REVIEW,
    ),
    Outcome("pr_ready", "The work is committed and ready for review.", prompt=PromptType.REVIEW),
    Outcome(
        "approved",
        "You reviewed the work and found nothing that must change.",
        payloads.Approved,
        payload_required=False,
    ),
    Outcome("reproduced", "You saw the bug happen.", payloads.Notes, payload_required=False),
    Outcome("cannot_reproduce", "The bug did not show.", payloads.Notes, payload_required=False),
    Outcome(
        "investigation_complete",
        "You know the cause: it is the text of your final message.",
        payloads.Notes,
        payload_required=False,
    ),
    Outcome("no_changes", "Nothing had to be changed.", payloads.NoChanges),
    Outcome("conflicts_detected", "Merging met conflicts.", payloads.MergeTrouble),
    Outcome("merge_failed", "Merging failed.", payloads.MergeTrouble),
    Outcome(JUDGED, "You compared all contenders and picked one.", Judgement),
    *(Outcome(stage.outcome, stage.says, stage.output) for stage in STAGES),
)


@dataclass(frozen=True, slots=True)
class Reported:
    """A valid outcome with its payload in the registry's own notation."""

    name: str
    payload: Mapping[str, Any] | None
    text: str
    """The message without the outcome block."""


@dataclass(frozen=True, slots=True)
class Malformed:
    """Something was reported that cannot be taken; the reason goes back to the agent."""

    reason: str


@dataclass(frozen=True, slots=True)
class Nothing:
    """No outcome was reported."""


Reading = Reported | Malformed | Nothing

MAX_REASON = 2_000
"""A reason goes into the next prompt and the log; the text that is wrong may be of any length."""
MAX_NAME = 64

_OPEN = re.compile(r" {0,3}<<<OUTCOME:")
_CLOSE = "<<<END_PAYLOAD>>>"


@dataclass(frozen=True, slots=True)
class _Block:
    name: str
    body: str | None
    """None when the closing marker is missing."""


def read_markers(text: str, offered: Sequence[str], known: Mapping[str, Outcome]) -> Reading:
    """The one outcome of a final message, validated against the registry. A block that is repeated
    says it once."""
    blocks, rest = _blocks(text)
    if not blocks:
        return unreadable(text, offered, known) or Nothing()
    different = list(dict.fromkeys(_Block(b.name, b.body and b.body.strip()) for b in blocks))
    if len(different) > 1:
        names = ", ".join(b.name for b in different[:5]) + (", …" if len(different) > 5 else "")
        return Malformed(
            f"Exactly one outcome is expected; there were {len(different)} different blocks"
            f" ({names})."
        )
    block = different[0]
    if block.body is None:
        return Malformed(f'The block of outcome "{block.name}" has no closing {_CLOSE}.')
    body = _unfenced(block.body)
    try:
        value = (
            strict_json.loads(body, max_bytes=payloads.MAX_BYTES, max_depth=payloads.MAX_DEPTH)
            if body
            else None
        )
    except ValueError as error:
        return _invalid(block.name, f"is not valid JSON: {error}")
    return validate(block.name, value, offered, known, text=rest)


def unreadable(text: str, offered: Sequence[str], known: Mapping[str, Outcome]) -> Malformed | None:
    """Return why the text counts as a failed attempt to report an outcome, or None if nothing in it
    looks like one."""
    asks = [o.name for o in known.values() if o.prompt is PromptType.INFO_REQUEST]
    names = {*offered, *asks}
    names |= {alias for alias, name in OUTCOME_ALIASES.items() if name in names}
    line = outcome_hint.find(text, sorted(names))
    if line is None:
        return None
    return Malformed(f'This looks like an outcome, but it cannot be read as one: "{line}".')


def question_beside(name: str, others: Sequence[str], known: Mapping[str, Outcome]) -> str | None:
    """Return the name of a question among the other outcomes that were reported with this one, or
    None. A report counts before other outcomes, but a question must not get lost beside it."""
    for other in (OUTCOME_ALIASES.get(one, one) for one in others):
        if other != name and other in known and known[other].prompt in BROUGHT:
            return other
    return None


def names_in(text: str) -> list[str]:
    """Return the names of the outcome blocks in a message."""
    return [block.name for block in _blocks(text)[0]]


def without_blocks(text: str) -> str:
    """The words of a message whose outcome was given another way."""
    return _blocks(text)[1]


def read_value(
    value: Any, offered: Sequence[str], known: Mapping[str, Outcome], *, text: str
) -> Reading:
    """An outcome that comes as data: `{"outcome": …, "payload": …}`, held to the same rules as one
    in a message."""
    match value:
        case {"outcome": str(name), **rest} if not set(rest) - {"payload"}:
            payload = rest.get("payload")
        case _:
            return Malformed('An outcome is an object with "outcome" and, where needed, "payload".')
    try:
        bounded = strict_json.loads(
            json.dumps(payload), max_bytes=payloads.MAX_BYTES, max_depth=payloads.MAX_DEPTH
        )
    except (ValueError, RecursionError) as error:
        return _invalid(name[:MAX_NAME], f"is not valid JSON: {error}")
    return validate(name[:MAX_NAME], bounded, offered, known, text=text)


def validate(
    name: str, value: Any, offered: Sequence[str], known: Mapping[str, Outcome], *, text: str = ""
) -> Reading:
    """Holds a reported outcome to the registry and to what the graph offers now."""
    canonical = OUTCOME_ALIASES.get(name, name)
    takes = ", ".join(offered) or "none"
    if canonical not in known:
        return Malformed(
            f'There is no outcome "{name}".{closest(name, list(known))} Possible now: {takes}.'
        )
    outcome = known[canonical]
    if canonical not in offered:
        return Malformed(f'The outcome "{name}" is not possible here. Possible now: {takes}.')
    schema = outcome.payload_schema
    if schema is None:
        return Reported(canonical, None, text)
    if outcome.payload is not None:
        value = _without_type(value, canonical)
    if value is None:
        if outcome.payload_required:
            return Malformed(f'The outcome "{name}" needs a payload.')
        return Reported(canonical, None, text)
    if outcome.payload is None:
        wrong = json_schema.faults(schema, value)
        problem = f"is not valid: {'; '.join(wrong)}"
        return _invalid(name, problem) if wrong else Reported(canonical, value, text)
    try:
        payload = outcome.payload.model_validate(value)
    except ValidationError as error:
        return _invalid(name, f"is not valid: {'; '.join(faults(error))}")
    return Reported(canonical, payload.model_dump(mode="json"), text)


def _without_type(value: Any, canonical: str) -> Any:
    """The payload without a `type` that repeats the name of its outcome. A `type` that says
    anything else stays, and is refused like every unknown field."""
    match value:
        case {"type": str(said), **rest} if OUTCOME_ALIASES.get(said, said) == canonical:
            return rest
        case _:
            return value


def _invalid(name: str, fault: str) -> Malformed:
    reason = f'The payload of outcome "{name}" {fault}.'
    return Malformed(reason if len(reason) <= MAX_REASON else reason[: MAX_REASON - 1] + "…")


def _blocks(text: str) -> tuple[list[_Block], str]:
    blocks: list[_Block] = []
    rest: list[str] = []
    fence: str | None = None
    name: str | None = None
    body: list[str] = []
    for line in fences.lines(text):
        if name is None:
            fence, inside = fences.state(fence, line)
            opened = None if inside else _OPEN.match(line)
            if opened is None:
                rest.append(line)
                continue
            # What is no name (cut off, mistyped) is taken for one, so that the agent hears of it.
            head, _, line = line[opened.end() :].partition(">>>")
            name = head[:MAX_NAME]
        before, closed, _ = line.partition(_CLOSE)
        body.append(before)
        if closed:
            blocks.append(_Block(name, "\n".join(body)))
            name, body = None, []
    if name is not None:
        blocks.append(_Block(name, None))
    return blocks, "\n".join(rest).strip()


def _unfenced(body: str) -> str:
    """Agents like to wrap the payload itself in a code fence; one such wrapping is taken off."""
    body = body.strip()
    first, *inner = fences.lines(body)
    fence, _ = fences.state(None, first)
    if fence and inner and fences.state(fence, inner[-1])[0] is None:
        return "\n".join(inner[:-1]).strip()
    return body
