"""What each stage of the staged pipeline gives back. One model a stage: the engine holds agents to
it, the prompt shows it and the web app renders it. What depends on other stages' outputs is in
`stage_rules`."""

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, field_validator, model_validator

from agents_manager.domain.payload import Complexity
from agents_manager.domain.value import Lenient

Text = Annotated[str, StringConstraints(min_length=1)]
Texts = Annotated[tuple[Text, ...], Field(max_length=500)]
File = Annotated[str, StringConstraints(min_length=1, max_length=4096)]
Files = Annotated[tuple[File, ...], Field(max_length=2000)]
FeatureId = Annotated[str, StringConstraints(pattern=r"^F[1-9]\d{0,3}$")]
Count = Annotated[int, Field(ge=0, strict=True)]

FILES_OF_A_BATCH = 2
WAVE = 5
"""Builders at a time."""
WAVES = 3
MOST_BATCHES = WAVE * WAVES


class OptimizedPrompt(Lenient):
    """Stage -1. The request itself is passed on word for word, whatever stands here."""

    prompt: Text
    notes: str | None = None


class Feature(Lenient):
    id: FeatureId
    name: Text
    description: Text
    acceptance_criteria: Texts = Field(min_length=1)

    @field_validator("acceptance_criteria")
    @classmethod
    def _testable(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for criterion in value:
            if len(criterion.split()) < 3:
                raise ValueError(
                    f'"{criterion}" cannot be tested; say what is done and what is seen then'
                )
        return value


class TaskSpec(Lenient):
    """Stage 0."""

    summary: Text
    features: tuple[Feature, ...] = Field(min_length=1, max_length=200)
    risks: Texts = ()
    assumptions: Texts = ()
    blockers: Texts = ()
    next_stage: float | str | None = None

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        _once("feature", (feature.id for feature in self.features))
        return self


class Overview(Lenient):
    name: Text
    type: Text
    language: Text
    framework: str | None = None


class Dependency(Lenient):
    name: Text
    version: str | None = None
    purpose: str = ""


class Testing(Lenient):
    framework: str | None = None
    command: str | None = None
    coverage: str | None = None


class Stack(Lenient):
    dependencies: tuple[Dependency, ...] = Field(default=(), max_length=1000)
    build_tools: Texts = ()
    testing: Testing = Testing()
    lint: str | None = None


class Conventions(Lenient):
    naming: str = ""
    imports: str = ""
    errors: str = ""
    docs: str = ""


class FeatureFiles(Lenient):
    feature: FeatureId
    existing: Files = ()
    new: Files = ()
    tests: Files = ()


class Command(Lenient):
    command: Text
    verified: bool = Field(strict=True)
    """Whether it was run, and did what it is for."""


class Commands(Lenient):
    install: Command | None
    test: Command | None
    lint: Command | None = None
    build: Command | None = None
    dev: Command | None = None


class RepoProfile(Lenient):
    """Stage 1."""

    overview: Overview
    tree: str
    stack: Stack
    conventions: Conventions
    test_conventions: str = ""
    feature_files: tuple[FeatureFiles, ...] = Field(default=(), max_length=200)
    commands: Commands
    notes: str = ""


class PlannedTest(Lenient):
    path: File
    description: str = ""


class PlannedFeature(Lenient):
    id: FeatureId
    complexity: Complexity = Complexity.MEDIUM
    modify: Files = ()
    create: Files = ()
    tests: tuple[PlannedTest, ...] = Field(default=(), max_length=200)
    notes: str = ""


class Batch(Lenient):
    number: int = Field(ge=1, strict=True)
    features: tuple[PlannedFeature, ...] = Field(min_length=1, max_length=50)

    @property
    def files(self) -> tuple[str, ...]:
        """To modify and to create; tests do not count."""
        named = (file for one in self.features for file in (*one.modify, *one.create))
        return tuple(dict.fromkeys(named))

    @property
    def touched(self) -> frozenset[str]:
        """All that its builder may change."""
        tests = (test.path for feature in self.features for test in feature.tests)
        return frozenset((*self.files, *tests))

    @model_validator(mode="after")
    def _small(self) -> Self:
        if not 1 <= len(self.files) <= FILES_OF_A_BATCH:
            raise ValueError(
                f"batch {self.number} has {len(self.files)} files to modify or create; a batch has"
                f" 1 or {FILES_OF_A_BATCH}, tests not counted"
            )
        return self


class Criteria(Lenient):
    before: Texts = ()
    after: Texts = ()


class ImplementationPlan(Lenient):
    """Stage 2."""

    batches: tuple[Batch, ...]
    criteria: Criteria = Criteria()
    risks: Texts = ()
    dependencies: Texts = ()

    @model_validator(mode="after")
    def _sound(self) -> Self:
        numbers = [batch.number for batch in self.batches]
        if numbers != list(range(1, len(numbers) + 1)):
            raise ValueError("batches are numbered 1, 2, 3 … in their order")
        if len(numbers) > MOST_BATCHES:
            raise ValueError(
                f"{len(numbers)} batches; there are at most {MOST_BATCHES}, {WAVES} waves of"
                f" {WAVE} builders. Split the task."
            )
        return self


class DocFinding(Lenient):
    source: Text
    topic: Text
    content: Text
    relevance: Text


class DocsResearchOutput(Lenient):
    """Stage 3."""

    queries: Texts
    findings: tuple[DocFinding, ...] = Field(max_length=200)
    api_patterns: Texts = ()


class CheckStatus(StrEnum):
    PASS = "PASS"  # noqa: S105 - not a password
    WARN = "WARN"
    FAIL = "FAIL"


class PreCheck(Lenient):
    check: Text
    status: CheckStatus
    details: str = ""


class PreFlightBlocker(Lenient):
    title: Text
    check: Text
    issue: Text
    fix: Text


class PreFlightCheck(Lenient):
    """Stage 3.5."""

    environment: tuple[PreCheck, ...] = Field(max_length=200)
    dependencies: tuple[PreCheck, ...] = Field(max_length=200)
    file_system: tuple[PreCheck, ...] = Field(max_length=200)
    plan_consistency: tuple[PreCheck, ...] = Field(max_length=200)
    status: CheckStatus
    blockers: tuple[PreFlightBlocker, ...] = Field(default=(), max_length=200)
    warnings: Texts = ()

    @property
    def checks(self) -> tuple[PreCheck, ...]:
        return (*self.environment, *self.dependencies, *self.file_system, *self.plan_consistency)

    @model_validator(mode="after")
    def _sound(self) -> Self:
        failed = any(one.status is CheckStatus.FAIL for one in self.checks)
        if failed != (self.status is CheckStatus.FAIL):
            raise ValueError("the status is FAIL when a check is, and only then")
        if failed and not self.blockers:
            raise ValueError("FAIL needs a blocker that says what is wrong and how it is mended")
        return self


class BuildStatus(StrEnum):
    COMPLETE = "COMPLETE"
    PARTIAL = "PARTIAL"
    INCOMPLETE = "INCOMPLETE"


class BuiltFeature(Lenient):
    id: FeatureId
    status: BuildStatus
    notes: str = ""


class Change(Lenient):
    id: str = Field(pattern=r"^C[1-9]\d{0,3}$")
    file: File
    description: Text


class BuildReport(Lenient):
    """Stage 4, of each builder."""

    agent: Text
    features: tuple[BuiltFeature, ...] = Field(min_length=1, max_length=50)
    files_created: Files = ()
    files_modified: Files = ()
    changes: tuple[Change, ...] = Field(default=(), max_length=500)
    tests: Texts = ()
    deviations: Texts = ()
    blockers: Texts = ()
    next_steps: Texts = ()

    @model_validator(mode="after")
    def _sound(self) -> Self:
        _once("change", (change.id for change in self.changes))
        open_ones = [one.id for one in self.features if one.status is not BuildStatus.COMPLETE]
        if open_ones and not (self.blockers or self.next_steps):
            raise ValueError(
                f"{', '.join(open_ones)} is not complete: say what is in the way (blockers) or what"
                " is left to do (next_steps)"
            )
        return self


class TestFileAction(StrEnum):
    CREATED = "created"
    MODIFIED = "modified"


class TestFile(Lenient):
    path: File
    action: TestFileAction
    target: Text
    count: Count
    framework: str = ""


class Coverage(StrEnum):
    COVERED = "COVERED"
    PARTIAL = "PARTIAL"
    NOT = "NOT"


class CoveredCriterion(Lenient):
    feature: FeatureId
    criterion: Text
    covered_by: Texts = ()
    status: Coverage
    gap: str | None = None

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if self.status is Coverage.COVERED and not self.covered_by:
            raise ValueError("COVERED names the tests that cover it (covered_by)")
        if self.status is not Coverage.COVERED and not self.gap:
            raise ValueError(f"{self.status} says what is missing (gap)")
        return self


class Gap(Lenient):
    file: File
    function: str = ""
    kind: Text
    severity: Text


class Placeholders(Lenient):
    checked: Count
    found: Count
    violations: Texts = ()

    @model_validator(mode="after")
    def _add_up(self) -> Self:
        if self.found != len(self.violations):
            raise ValueError(
                f"{self.found} placeholder tests were found and {len(self.violations)} are named;"
                " each is a violation"
            )
        if self.found > self.checked:
            raise ValueError(f"{self.found} of {self.checked} tests cannot be placeholders")
        return self


class TestWritingReport(Lenient):
    """Stage 4.5."""

    files: tuple[TestFile, ...] = Field(max_length=500)
    criteria: tuple[CoveredCriterion, ...] = Field(max_length=1000)
    gaps: tuple[Gap, ...] = Field(default=(), max_length=500)
    placeholders: Placeholders


class FoundError(Lenient):
    error: Text
    location: str = ""
    root_cause: Text
    fix: str = ""


class Fix(Lenient):
    id: str = Field(pattern=r"^D[1-9]\d{0,3}$")
    file: File | None = None
    description: Text


class DebugStatus(StrEnum):
    FIXED = "FIXED"
    PARTIAL = "PARTIAL"
    NEEDS_CONTINUATION = "NEEDS_CONTINUATION"


class Verification(Lenient):
    status: DebugStatus
    confidence: Text
    next: str | None = None

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if self.status is not DebugStatus.FIXED and not self.next:
            raise ValueError(f"{self.status} says what comes next")
        return self


class DebugReport(Lenient):
    """Stage 5."""

    errors: tuple[FoundError, ...] = Field(max_length=200)
    fixes: tuple[Fix, ...] = Field(max_length=200)
    verification: Verification

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        _once("fix", (fix.id for fix in self.fixes))
        return self


Result = Literal["PASS", "FAIL"]


class LogicCheck(Lenient):
    kind: Text
    file: File
    result: Text


class LogicSeverity(StrEnum):
    CRITICAL = "CRITICAL"
    MAJOR = "MAJOR"
    MINOR = "MINOR"


class LogicIssue(Lenient):
    severity: LogicSeverity
    kind: Text
    file: File
    analysis: Text
    impact: Text
    fix: Text


class LogicCounts(Lenient):
    critical: Count
    major: Count
    minor: Count


class LogicVerification(Lenient):
    """Stage 5.5."""

    checks: tuple[LogicCheck, ...] = Field(max_length=500)
    issues: tuple[LogicIssue, ...] = Field(max_length=500)
    status: Result
    counts: LogicCounts

    @model_validator(mode="after")
    def _add_up(self) -> Self:
        _counted(self.counts, LogicSeverity, [issue.severity for issue in self.issues])
        if self.counts.critical and self.status == "PASS":
            raise ValueError("a critical issue does not pass")
        return self


class FailingTest(Lenient):
    test: Text
    error: Text
    stack: str | None = None


class TestReport(Lenient):
    """Stage 6."""

    status: Result
    total: Count
    passed: Count
    failed: Count
    skipped: Count
    coverage: float | None = Field(default=None, ge=0, le=100)
    lint: str = ""
    failing: tuple[FailingTest, ...] = Field(default=(), max_length=500)
    violations: Texts = ()

    @model_validator(mode="after")
    def _add_up(self) -> Self:
        counted = self.passed + self.failed + self.skipped
        if counted != self.total:
            raise ValueError(
                f"{self.passed} passed, {self.failed} failed and {self.skipped} skipped are"
                f" {counted}, not {self.total}"
            )
        if self.status == "PASS" and (self.failed or self.failing):
            raise ValueError("what has failing tests does not pass")
        if self.failed and not self.failing:
            raise ValueError(f"{self.failed} tests failed; name them (failing)")
        if len(self.failing) > self.failed:
            raise ValueError(f"{len(self.failing)} failing tests are named, of {self.failed}")
        return self


class Suite(Lenient):
    name: Text
    status: Result
    total: Count
    failed: Count = 0


class Pair(Lenient):
    a: Text
    b: Text
    status: Result
    notes: str = ""


class Contract(Lenient):
    endpoint: Text
    method: Text
    expected: Text
    actual: str
    status: Result


class IntegrationTestReport(Lenient):
    """Stage 6.5."""

    suites: tuple[Suite, ...] = Field(max_length=200)
    pairs: tuple[Pair, ...] = Field(default=(), max_length=500)
    contracts: tuple[Contract, ...] = Field(default=(), max_length=500)
    breaking_changes: Texts = ()
    failing: tuple[FailingTest, ...] = Field(default=(), max_length=500)

    @property
    def failed(self) -> bool:
        parts = (*self.suites, *self.pairs, *self.contracts)
        return bool(self.failing) or any(part.status == "FAIL" for part in parts)

    @model_validator(mode="after")
    def _add_up(self) -> Self:
        for suite in self.suites:
            if suite.failed > suite.total:
                raise ValueError(f"{suite.name}: {suite.failed} of {suite.total} cannot fail")
            if bool(suite.failed) != (suite.status == "FAIL"):
                raise ValueError(f"{suite.name}: it fails when a test of it does, and only then")
        return self


class Verdict(StrEnum):
    MET = "MET"
    PARTIAL = "PARTIAL"
    NOT_MET = "NOT_MET"


class ReviewedCriterion(Lenient):
    feature: FeatureId
    criterion: Text
    verdict: Verdict
    evidence: Text


class ReviewSeverity(StrEnum):
    BLOCKER = "BLOCKER"
    MAJOR = "MAJOR"
    MINOR = "MINOR"


class ReviewIssue(Lenient):
    severity: ReviewSeverity
    description: Text
    location: str = ""
    fix: str = ""


class ReviewCounts(Lenient):
    blocker: Count
    major: Count
    minor: Count


class ReviewReport(Lenient):
    """Stage 7."""

    criteria: tuple[ReviewedCriterion, ...] = Field(max_length=1000)
    issues: tuple[ReviewIssue, ...] = Field(max_length=500)
    status: Result
    counts: ReviewCounts

    @model_validator(mode="after")
    def _add_up(self) -> Self:
        _counted(self.counts, ReviewSeverity, [issue.severity for issue in self.issues])
        open_ones = [one for one in self.criteria if one.verdict is Verdict.NOT_MET]
        if self.status == "PASS" and (self.counts.blocker or open_ones):
            raise ValueError("a blocker, or a criterion that is not met, does not pass")
        return self


class DecisionKind(StrEnum):
    COMPLETE = "COMPLETE"
    RESTART = "RESTART"
    ESCALATE = "ESCALATE"


class Evidence(Lenient):
    tests: Text
    review: Text
    criteria: Text
    changes: Text


class Restart(Lenient):
    goal: Text
    items: Texts = Field(min_length=1)
    context: str = ""


class Decision(Lenient):
    """Stage 8."""

    decision: DecisionKind
    justification: Text
    evidence: Evidence
    restart: Restart | None = None

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if (self.decision is DecisionKind.RESTART) != (self.restart is not None):
            raise ValueError("RESTART says what for (restart), and nothing else does")
        return self


def _once(what: str, ids: Iterable[str]) -> None:
    twice = [name for name, times in Counter(ids).items() if times > 1]
    if twice:
        raise ValueError(f"the {what} {twice[0]} stands there twice")


def _counted(
    counts: LogicCounts | ReviewCounts, kinds: type[StrEnum], found: Sequence[str]
) -> None:
    there = Counter(found)
    for kind in kinds:
        told = getattr(counts, kind.lower())
        if told != there[kind]:
            raise ValueError(f"counts: {kind} is {told}, but {there[kind]} such issues are named")
