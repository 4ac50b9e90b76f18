"""Pipelines as data: the document, both notations of its triggers, and its questions.

Statuses are data, so code asks the pipeline (`is_final`, `awaits_human`) and never compares names.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, Self, cast

from pydantic import BaseModel, Field, ValidationError, field_validator, model_validator

from agents_manager.domain.value import Value, known_keys
from agents_manager.errors import InvalidPipeline, closest

ORIGIN = "$origin"
REQUESTER = "$requester"
"""The status whose agent had the one of this status run again."""
NAMELESS = frozenset({ORIGIN, REQUESTER})
"""Targets that the past of a task puts a status to."""
ANY_STATUS = "*"

OUTCOME_ALIASES: Mapping[str, str] = {"plan_ready": "plan_complete"}
"""Other names of outcomes, read from pipelines and agents alike."""


class Category(StrEnum):
    OPEN = "open"
    ACTIVE = "active"
    WAITING = "waiting"
    REVIEW = "review"
    FINAL = "final"


class TriggerType(StrEnum):
    MANUAL = "manual"
    AGENT_OUTCOME = "agent_outcome"
    AGENT_ERROR = "agent_error"
    PROMPT_RESPONSE = "prompt_response"
    REVIEW_SUBMITTED = "review_submitted"
    AUTO = "auto"
    LOOP_BACK = "loop_back"
    ANY = "any"


class Policy(StrEnum):
    REQUIRED = "required"
    BEST_EFFORT = "best_effort"
    FIRE_AND_FORGET = "fire_and_forget"


class PromptType(StrEnum):
    INFO_REQUEST = "info_request"
    REVIEW = "review"
    DOCUMENT_REVIEW = "document_review"
    SPLIT_PROPOSAL = "split_proposal"
    CHOICE = "choice"
    PERMISSION = "permission"
    BUDGET = "budget"


LONGEST_WAIT_S = 10 * 365 * 86_400
"""Longer times are slips of the pen, and beyond what calendars count."""


BROUGHT = frozenset({PromptType.INFO_REQUEST, PromptType.SPLIT_PROPOSAL})
"""Questions that only an agent's payload can ask."""


class StatusPrompt(Value):
    type: PromptType
    expires_after: int | None = Field(default=None, gt=0, le=LONGEST_WAIT_S)
    """Seconds."""
    roles: tuple[Annotated[str, Field(min_length=1, max_length=64)], ...] = ()
    """Who may answer, besides admins; everybody with access, where left out."""

    @field_validator("type")
    @classmethod
    def _of_a_status(cls, value: PromptType) -> PromptType:
        if value in (PromptType.PERMISSION, PromptType.BUDGET):
            raise ValueError(f"a {value} is asked for by a run, not by a status")
        return value


class HandoffRule(StrEnum):
    """Whether a run must leave a handoff; a run that ends with a question need not."""

    OPTIONAL = "optional"
    REQUIRED = "required"


class Status(Value):
    id: str = Field(min_length=1, max_length=64, pattern=r"^[a-z0-9_.-]+$")
    label: str = ""
    color: str | None = None
    category: Category
    position: int = 0
    stage: float | None = None
    role: str | None = None
    parallel: bool = False
    """Whether several agents may be started here side by side, each for a part of the work."""
    prompt: StatusPrompt | None = None
    handoff: HandoffRule | None = None
    """Of the runs in this status; as the pipeline says, where left out."""

    @field_validator("category", mode="before")
    @classmethod
    def _older_names(cls, value: object) -> object:
        return (
            {"done": "final", "backlog": "open"}.get(value, value)
            if isinstance(value, str)
            else value
        )

    @property
    def awaits_human(self) -> bool:
        return self.category in (Category.WAITING, Category.REVIEW)

    @property
    def title(self) -> str:
        return self.label or self.id.replace("_", " ")


class Trigger(Value):
    type: TriggerType
    outcome: str | None = None

    @field_validator("outcome")
    @classmethod
    def _older_names(cls, value: str | None) -> str | None:
        return OUTCOME_ALIASES.get(value, value) if value else value

    @model_validator(mode="after")
    def _outcome_where_it_belongs(self) -> Self:
        if (self.type is TriggerType.AGENT_OUTCOME) != (self.outcome is not None):
            raise ValueError("an outcome belongs to agent_outcome, and only there")
        return self


class GuardSpec(Value):
    type: str
    params: Mapping[str, Any] = Field(default_factory=dict[str, Any])
    negate: bool = Field(default=False, alias="not")

    @property
    def name(self) -> str:
        return f"not {self.type}" if self.negate else self.type


class HookSpec(Value):
    type: str
    params: Mapping[str, Any] = Field(default_factory=dict[str, Any])
    policy: Policy | None = None


class Transition(Value):
    id: str
    source: str = Field(alias="from")
    to: str
    label: str = ""
    trigger: Trigger
    guards: tuple[GuardSpec, ...] = ()
    hooks: tuple[HookSpec, ...] = ()
    skips: Mapping[str, str] = Field(default_factory=dict[str, str])
    """Statuses that are left out by going this way, each with the guard that says why."""

    @property
    def title(self) -> str:
        return self.label or f"to {self.to}"


AGENT_HOOKS = frozenset({"start_agent", "start_phase_agent"})
CHOSEN = frozenset({TriggerType.MANUAL, TriggerType.LOOP_BACK})
"""Triggers that say where they want to go."""


class Pipeline(Value):
    id: str = Field(min_length=1, max_length=64, pattern=r"^[a-z0-9_-]+$")
    name: str
    version: int = 1
    description: str = ""
    handoff: HandoffRule = HandoffRule.OPTIONAL
    statuses: tuple[Status, ...] = Field(min_length=1, max_length=1_000)
    transitions: tuple[Transition, ...] = Field(max_length=5_000)

    @cached_property
    def _by_id(self) -> Mapping[str, Status]:
        return {s.id: s for s in self.statuses}

    @cached_property
    def _by_source(self) -> Mapping[str, list[Transition]]:
        found: dict[str, list[Transition]] = defaultdict(list)
        for transition in self.transitions:
            found[transition.source].append(transition)
        return dict(found)

    def status(self, status_id: str) -> Status:
        status = self._by_id.get(status_id)
        if status is None:
            raise InvalidPipeline(f'Pipeline "{self.id}" has no status "{status_id}".')
        return status

    def has(self, status_id: str) -> bool:
        return status_id in self._by_id

    @property
    def initial(self) -> Status:
        return next(s for s in sorted(self.statuses, key=_position) if s.category is Category.OPEN)

    def is_final(self, status_id: str) -> bool:
        return self.status(status_id).category is Category.FINAL

    def is_cancelled(self, status_id: str) -> bool:
        """Whether tasks get to this final status only by moves that stop the agent."""
        if not self.is_final(status_id):
            return False
        into = [t for t in self.transitions if t.to == status_id]
        return bool(into) and all(any(h.type == "stop_agent" for h in t.hooks) for t in into)

    def awaits_human(self, status_id: str) -> bool:
        return self.status(status_id).awaits_human

    def requires_handoff(self, status_id: str) -> bool:
        return (self.status(status_id).handoff or self.handoff) is HandoffRule.REQUIRED

    def is_active(self, status_id: str) -> bool:
        return self.status(status_id).category is Category.ACTIVE

    def leaving(self, status_id: str) -> list[Transition]:
        """Transitions out of a status. An explicit `from` beats `*` for the same trigger; where the
        target is chosen, for the same target."""
        explicit = self._by_source.get(status_id, [])
        if self.is_final(status_id):
            return list(explicit)
        taken = {_claim(t) for t in explicit}
        return explicit + [
            t
            for t in self._by_source.get(ANY_STATUS, [])
            if (t.to != status_id or t.trigger.type is TriggerType.LOOP_BACK)
            and _claim(t) not in taken
        ]


def _claim(transition: Transition) -> tuple[Trigger, str | None]:
    chosen = transition.trigger.type in CHOSEN
    return transition.trigger, transition.to if chosen else None


def _position(status: Status) -> int:
    return status.position


def parse(document: object, *, where: str = "pipeline") -> Pipeline:
    """A pipeline from its document; every fault is named with its place."""
    if not isinstance(document, dict):
        raise InvalidPipeline(f"{where}: a pipeline is an object with statuses and transitions.")
    raw = cast("dict[str, Any]", document)
    try:
        pipeline = Pipeline.model_validate({**raw, "transitions": _transitions(raw)})
    except ValidationError as error:
        raise InvalidPipeline(f"{where} is not a pipeline.", faults(error, Pipeline)) from None
    problems = list(_shape_problems(pipeline))
    if problems:
        raise InvalidPipeline(f'Pipeline "{pipeline.id}" has errors.', problems)
    return pipeline


def faults(error: ValidationError, model: type[BaseModel] | None = None) -> list[str]:
    """A validation error as lines of `place: what is wrong`; with the model, a key that it does not
    have comes with the closest that it has."""
    errors = error.errors(include_url=False, include_context=False, include_input=False)
    places = [e["loc"] for e in errors]

    def follows(place: tuple[int | str, ...]) -> bool:
        return any(p[: len(place)] == place != p for p in places)

    return [
        f"{'.'.join(str(part) for part in e['loc']) or 'document'}: "
        + (
            _no_key(model, e["loc"]) if model and e["type"] == "extra_forbidden" else e["msg"]
        ).removeprefix("Value error, ")
        for e in errors
        # A list that is too short only because its items are wrong is no fault of its own.
        if e["type"] != "too_short" or not follows(e["loc"])
    ]


def _no_key(model: type[BaseModel], place: tuple[int | str, ...]) -> str:
    key = str(place[-1])
    return f'there is no key "{key}".{closest(key, known_keys(model, place))}'


def located(faults: Iterable[str], lines: Mapping[str, int]) -> list[str]:
    """The same faults, each with the line of its place or of what it lies in."""
    placed = ((line_of(fault.partition(":")[0], lines), fault) for fault in faults)
    return [f"line {line}, {fault}" if line else fault for line, fault in placed]


def line_of(place: str, lines: Mapping[str, int]) -> int | None:
    """The line of a place, or of the nearest thing that it lies in."""
    while place and place not in lines:
        place = place.rpartition(".")[0]
    return lines.get(place)


def _transitions(raw: Mapping[str, Any]) -> object:
    rows = raw.get("transitions", [])
    if not isinstance(rows, list):
        return rows
    return [_one_notation(row, i) for i, row in enumerate(cast("list[Any]", rows))]


def _one_notation(row: Any, index: int) -> Any:
    """Reads `"trigger": "agent_outcome", "outcomeValue": "x"` as the object form; makes ids."""
    if not isinstance(row, dict):
        return cast("object", row)
    fields = dict(cast("dict[str, Any]", row))
    if isinstance(fields.get("trigger"), str):
        outcome = fields.pop("outcomeValue", None)
        fields["trigger"] = {"type": fields["trigger"], "outcome": outcome}
    trigger = fields.get("trigger")
    if isinstance(trigger, dict):
        kind = cast("dict[str, Any]", trigger).get("outcome") or cast(
            "dict[str, Any]", trigger
        ).get("type")
        fields.setdefault("id", f"{fields.get('from')}-{kind}-{fields.get('to')}-{index}")
    return fields


def _shape_problems(pipeline: Pipeline) -> Sequence[str]:
    known = dict.fromkeys(s.id for s in pipeline.statuses)
    problems = [
        f'statuses: "{i}" stands there twice' for i in _repeated([s.id for s in pipeline.statuses])
    ]
    problems += [
        f'transitions: the id "{i}" stands there twice'
        for i in _repeated([t.id for t in pipeline.transitions])
    ]
    if not any(s.category is Category.OPEN for s in pipeline.statuses):
        problems.append("statuses: none has the category open, so a task cannot begin")
    for i, t in enumerate(pipeline.transitions):
        if t.source != ANY_STATUS and t.source not in known:
            problems.append(f"transitions.{i}.from: {no_status(t.source, known)}")
        if t.to not in NAMELESS and t.to not in known:
            problems.append(f"transitions.{i}.to: {no_status(t.to, known)}")
        for skipped, guard in t.skips.items():
            if skipped not in known:
                problems.append(f"transitions.{i}.skips: {no_status(skipped, known)}")
            if guard not in {g.type for g in t.guards}:
                problems.append(
                    f'transitions.{i}.skips: "{guard}" is no guard of this transition, so it'
                    f' cannot say why "{skipped}" is left out'
                )
    return problems


def no_status(name: str, known: Collection[str]) -> str:
    return f'there is no status "{name}".{closest(name, list(known))}'


def _repeated(names: Sequence[str]) -> list[str]:
    return sorted(name for name, times in Counter(names).items() if times > 1)
