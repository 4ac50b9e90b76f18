"""What a stage's output is held to beyond its own form: what it was given, what it did, and what
other stages said. Each fault is a sentence for the agent."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from agents_manager.domain.course import Assignment
from agents_manager.domain.stages import outputs, table
from agents_manager.domain.stages.context import StageOutputs
from agents_manager.domain.stages.request import Priority, Request, refusal
from agents_manager.domain.value import Lenient

_VARIES = re.compile(r"0x[0-9a-f]+|[0-9a-f]{8,}|\d+")


def problems(
    agent: str,
    output: Lenient,
    made: StageOutputs,
    requests: Sequence[Request],
    *,
    assignment: Assignment | None = None,
    changed: Sequence[str] = (),
    builders: Sequence[str] = (),
) -> list[str]:
    """Everything that keeps the output from being taken."""
    found = [said for request in requests if (said := _refusal(agent, request, builders))]
    match output:
        case outputs.ImplementationPlan():
            found += _uncovered(output, made.stage_0_taskspec)
        case outputs.PreFlightCheck(status=outputs.CheckStatus.FAIL) if not requests:
            found.append("FAIL needs a REQUEST: say who mends the blocker.")
        case outputs.BuildReport() if assignment:
            found += _misreported(output, assignment, changed)
        case outputs.ReviewReport():
            found += _unjudged(output, made.stage_0_taskspec)
        case _:
            pass
    return found


def _refusal(agent: str, request: Request, builders: Sequence[str]) -> str | None:
    stage = table.stage_of(request.target)
    numbered = stage is not None and request.target != stage.role
    if numbered and request.target not in builders:
        return f"There was no {request.target}; request {table.BUILDER} for a fresh one."
    return refusal(agent, request)


def _uncovered(plan: outputs.ImplementationPlan, spec: outputs.TaskSpec | None) -> Iterator[str]:
    wanted = {feature.id for feature in spec.features} if spec else set[str]()
    planned = {feature.id for batch in plan.batches for feature in batch.features}
    # A plan without batches says that there is nothing to build.
    for missing in sorted(wanted - planned) if planned else ():
        yield f"Feature {missing} of the TaskSpec is in no batch."
    for unknown in sorted(planned - wanted) if wanted else ():
        yield f"The TaskSpec has no feature {unknown}."


def _misreported(
    report: outputs.BuildReport, given: Assignment, changed: Sequence[str]
) -> Iterator[str]:
    if report.agent != given.agent:
        yield f'You are {given.agent}, not "{report.agent}".'
    if given.batch:
        wanted = {feature.id for feature in given.batch.features}
        told = {feature.id for feature in report.features}
        for missing in sorted(wanted - told):
            yield f"Feature {missing} of your batch is not in the report."
        for other in sorted(told - wanted):
            yield f"Feature {other} is not in your batch."
    claimed = {*report.files_created, *report.files_modified}
    for file in sorted(claimed - set(changed)):
        yield f"The report names {file}, which you did not change."
    for file in sorted(set(changed) - claimed):
        yield f"You changed {file}, which the report does not name."
    for file in strayed(given, changed):
        if not any(file in deviation for deviation in report.deviations):
            yield (
                f"You changed {file}, which is not in your batch; take it back, or say under"
                " deviations why it had to be."
            )


def strayed(given: Assignment, changed: Sequence[str]) -> list[str]:
    """Files that a builder was not given; tests of its batch it was."""
    if given.batch is None:
        return []
    return sorted(set(changed) - given.batch.touched)


def _unjudged(report: outputs.ReviewReport, spec: outputs.TaskSpec | None) -> Iterator[str]:
    judged = {one.feature for one in report.criteria}
    for feature in spec.features if spec else ():
        if feature.id not in judged:
            yield f"No criterion of feature {feature.id} is judged."


def implied(output: Lenient) -> Request | None:
    """What a failure asks for, where its agent did not."""
    match output:
        case outputs.TestReport(status="FAIL"):
            names = [one.test for one in output.failing] or list(output.violations)
            reason = f"{output.failed} of {output.total} tests fail"
            told = "\n".join(f"{one.test}: {one.error}" for one in output.failing)
            return _request("debugger", reason, told or "\n".join(names))
        case outputs.ReviewReport(status="FAIL"):
            first = output.issues[0].description if output.issues else "criteria are not met"
            told = "\n".join(
                f"{one.severity}: {one.description} {one.location} {one.fix}".strip()
                for one in output.issues
            )
            return _request(table.BUILDER, f"The review failed: {first}", told)
        case _:
            return None


def _request(target: str, reason: str, context: str) -> Request:
    return Request(
        target=target, reason=reason[:1_000], context=context[:10_000], priority=Priority.HIGH
    )


def signature(output: Lenient, request: Request) -> str:
    """What failed, without what varies from one time to the next."""
    match output:
        case outputs.TestReport() | outputs.IntegrationTestReport() if output.failing:
            failed = sorted(f"{one.test} {one.error}" for one in output.failing)
        case _:
            failed = [request.reason]
    plain = "\n".join(_VARIES.sub("*", " ".join(line.lower().split())) for line in failed)
    return hashlib.sha256(plain.encode()).hexdigest()[:16]


def shared(plan: outputs.ImplementationPlan) -> dict[str, tuple[int, ...]]:
    """Files that stand in more than one batch."""
    found: dict[str, list[int]] = defaultdict(list)
    for batch in plan.batches:
        for file in sorted(batch.touched):
            found[file].append(batch.number)
    return {file: tuple(numbers) for file, numbers in found.items() if len(numbers) > 1}
