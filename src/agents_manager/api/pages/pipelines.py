"""Pipelines, their parts and versions."""

from datetime import datetime

from pydantic import Field

from agents_manager.api import schemas
from agents_manager.domain.finding import Severity
from agents_manager.domain.pipeline import Policy, PromptType
from agents_manager.domain.task import Result


class StatusCount(schemas.Out):
    status: str
    tasks: int
    """That are there now."""
    visits: int
    """That are over."""
    median_s: float | None
    mean_s: float | None
    """Of those; null when there are none."""


class TransitionCount(schemas.Out):
    transition_id: str
    times: int


class PipelineCounts(schemas.Out):
    pipeline_id: str
    version: int
    statuses: list[StatusCount]
    transitions: list[TransitionCount]


class Pipelines(schemas.Out):
    items: list[schemas.Pipeline]
    next: str | None


class Finding(schemas.Out):
    severity: Severity
    code: str
    position: str
    message: str
    fix: str


class SavedPipeline(schemas.Out):
    pipeline: schemas.Pipeline
    new: bool
    """False when the newest version said the same already."""
    behind: int
    """Unfinished tasks on older versions."""
    warnings: list[Finding]


class Borrowed(schemas.Out):
    kind: str
    """`guard`, `hook` or `outcome`."""
    name: str
    plugin: str


class LintReport(schemas.Out):
    ok: bool
    """Whether it can be saved; warnings do not matter for that."""
    findings: list[Finding]
    plugins: list[Borrowed]
    """What it has from plugins."""


class Asked(schemas.Out):
    type: PromptType
    summary: str
    choices: list[str]


class Decided(schemas.Out):
    step: int
    by: str
    result: Result
    source: str = Field(serialization_alias="from")
    to: str
    transition: str | None
    guards: list[schemas.GuardCheck]
    reasons: list[str]
    effects: list[schemas.HookRecord]
    asks: Asked | None


class Simulation(schemas.Out):
    decisions: list[Decided]
    status: str
    finished: bool
    waits_for: str
    visited: list[str]
    not_visited: list[str]
    plugins: list[Borrowed]
    """What it has from plugins."""


class Plugin(schemas.Out):
    package: str
    version: str
    entry_point: str
    guards: list[str]
    hooks: list[str]
    outcomes: list[str]
    rankers: list[str]
    agents: list[str]
    forges: list[str]
    channels: list[str]
    checks: list[str]
    pipelines: list[str]
    error: str | None
    """Why nothing of it is registered."""


class Plugins(schemas.Out):
    items: list[Plugin]
    next: str | None


class GuardPart(schemas.Out):
    name: str
    meaning: str
    params: schemas.Json | None
    """JSON Schema of what it can be told; null: nothing that is checked."""


class HookPart(schemas.Out):
    name: str
    meaning: str
    policy: Policy
    """Where the pipeline gives none."""
    params: schemas.Json | None
    """JSON Schema of what it can be told; null: nothing that is checked."""


class OutcomePart(schemas.Out):
    name: str
    meaning: str
    payload: schemas.Json | None
    """JSON Schema; null: it has none."""
    payload_required: bool
    prompt: PromptType | None
    """The question that it can open."""
    answer: schemas.Json | None
    """JSON Schema of the form that it asks to fill in; null: it asks otherwise, or nothing."""


class Parts(schemas.Out):
    guards: list[GuardPart]
    hooks: list[HookPart]
    outcomes: list[OutcomePart]
    built_in: list[str]
    """Ids of pipelines that come with the product; yours are saved under others."""


class PipelineVersion(schemas.Out):
    version: int
    created_at: datetime
    tasks: int
    """Unfinished tasks on it."""


class PipelineVersions(schemas.Out):
    items: list[PipelineVersion]
    next: str | None


class PipelineFile(schemas.Out):
    name: str
    path: str
    pipeline_id: str | None
    version: int | None
    """The last good one, which new tasks follow; null when there is none."""
    errors: list[str]
    """Why the file, as it is now, is not used."""


class PipelineFiles(schemas.Out):
    items: list[PipelineFile]
    next: str | None


class MigrationStep(schemas.Out):
    task_id: str
    title: str
    version: int
    source: str = Field(serialization_alias="from")
    to: str | None
    """Null when the status is in the version neither by name nor by the map."""
    problem: str | None
    """Why this task cannot be migrated now; while one cannot be, none is."""


class Migration(schemas.Out):
    pipeline_id: str
    version: int
    applied: bool
    tasks: list[MigrationStep]
