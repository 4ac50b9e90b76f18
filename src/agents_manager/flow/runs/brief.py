"""Steps 2 and 3: what the agent is told. The exact text is stored with the run."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agents_manager.domain.ids import RunId
from agents_manager.domain.phase import Phase
from agents_manager.domain.pipeline import Pipeline, PromptType
from agents_manager.domain.prompt import Prompt, PromptStatus
from agents_manager.domain.registry import Registry
from agents_manager.domain.run import Run
from agents_manager.domain.task import Artifact, ArtifactType, Task
from agents_manager.flow import pipelines
from agents_manager.flow.ports import Services, Tx
from agents_manager.flow.runs import notes
from agents_manager.flow.runs.prepare import of

_SEVERITY = {"must_fix": "Must Fix", "should_fix": "Should Fix", "suggestion": "Suggestion"}


async def brief(run_id: RunId, s: Services) -> None:
    run, task, project = await s.store.read(lambda tx: of(tx, run_id))
    instructions = s.configs.of(project).instructions
    registry = pipelines.registry_of(s, project)
    parts = await s.store.read(lambda tx: sections(tx, s, run, task, instructions, registry))
    text = "\n\n".join(f"# {heading}\n\n{body}" for heading, body in parts if body)
    await s.store.write(lambda tx: tx.runs.update(run_id, prompt=text))


def sections(
    tx: Tx, s: Services, run: Run, task: Task, instructions: str, registry: Registry
) -> list[tuple[str, str]]:
    """Everything the agent is told, in order, each part under its heading."""
    pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
    prompts = [p for p in tx.prompts.of_task(task.id) if p.status is PromptStatus.RESPONDED]
    phases = tx.phases.of_task(task.id)
    others = [r for r in tx.runs.of_task(task.id) if r.id != run.id and r.ended_at]
    rules = s.configs.of(tx.projects.get(run.project_id)).workspace
    return [
        ("Instructions", s.templates.get(run.mode) or s.templates["implement"]),
        ("This phase", _phase(phases, run)),
        ("Task", _task(task)),
        ("Phases", _phases(phases)),
        ("Plan", task.plan or ""),
        ("Your workspace", notes.of_workspace(tx, run, rules)),
        ("What there is already", _artifacts(tx.tasks.artifacts(task.id))),
        ("Earlier questions and answers", _exchange(prompts)),
        ("Review", _rounds(prompts)),
        ("Earlier runs", _runs([r for r in others if not r.never_began])),
        ("How to end", _outcomes(s.templates["outcome"], task, pipeline, registry)),
        ("Project instructions", instructions),
    ]


def _task(task: Task) -> str:
    lines = [f"Title: {task.title}", "", task.description or "(no description)"]
    if task.objective:
        lines += ["", f"Objective: {task.objective}"]
    if task.acceptance_criteria:
        lines += ["", "Acceptance criteria:", *(f"- {c}" for c in task.acceptance_criteria)]
    tags = ", ".join(task.tags) or "none"
    facts = f"Priority: {task.priority}. Size: {task.size}. Complexity: {task.complexity}."
    return "\n".join([*lines, "", f"{facts} Tags: {tags}."])


def _phase(phases: Iterable[Phase], run: Run) -> str:
    phase = next((p for p in phases if p.id == run.phase_id), None)
    return f"{phase.name}\n\n{phase.description}".strip() if phase else ""


def _phases(phases: Iterable[Phase]) -> str:
    return "\n".join(f"{p.position + 1}. {p.name} ({p.status}): {p.description}" for p in phases)


def _artifacts(artifacts: Iterable[Artifact]) -> str:
    shown = [a for a in artifacts if a.type is not ArtifactType.DOCUMENT]
    return "\n".join(f"- {a.type.value.replace('_', ' ')}: {a.label}" for a in shown)


def _exchange(prompts: Sequence[Prompt]) -> str:
    told = [
        _answered(p.payload, p.response or {}) for p in prompts if p.type is PromptType.INFO_REQUEST
    ]
    rejected = [
        (p.response or {})
        for p in prompts
        if p.type is PromptType.SPLIT_PROPOSAL and (p.response or {})["decision"] == "rejected"
    ]
    told += [f"You proposed a split. It was rejected: {r['reason'] or 'go on'}" for r in rejected]
    return "\n\n".join(told)


def _answered(payload: Mapping[str, Any], response: Mapping[str, Any]) -> str:
    if "questions" in payload:
        questions = {q["id"]: q["question"] for q in payload["questions"]}
        pairs = [
            f"You asked: {questions[a['question_id']]}\n"
            f"Answer: {'. '.join(str(x) for x in (a['option'], a['text']) if x)}"
            for a in response["answers"]
        ]
        return "\n\n".join(pairs)
    lines = [f"You proposed: {payload['summary']}"]
    chosen = next((o for o in payload["options"] if o["id"] == response["option_id"]), None)
    if chosen:
        lines.append(f"Chosen: {chosen['label']}. {chosen['description']}".strip())
    if response["text"]:
        lines.append(f"In the person's own words: {response['text']}")
    if response["instructions"]:
        lines.append(f"Further instructions: {response['instructions']}")
    return "\n".join(lines)


def _rounds(prompts: Iterable[Prompt]) -> str:
    """All earlier rounds, the number of this one first."""
    asked = [
        p
        for p in prompts
        if p.type in (PromptType.REVIEW, PromptType.DOCUMENT_REVIEW)
        and (p.response or {}).get("decision") == "changes_requested"
    ]
    if not asked:
        return ""
    lines = [f"This is review iteration #{len(asked) + 1}. Previous review feedback:"]
    for number, prompt in enumerate(asked, 1):
        response = prompt.response or {}
        lines += ["", f"Round {number} (Changes Requested):"]
        if response["summary"]:
            lines.append(response["summary"])
        lines += [_comment(c) for c in response["comments"]]
    lines += ["", "Address the remaining issues from the latest review."]
    return "\n".join(lines)


def _comment(comment: Mapping[str, Any]) -> str:
    place = comment["file"] or ""
    if place and comment["line"]:
        place += f":{comment['line']}"
    where = f" {place} -" if place else ""
    return f"- [{_SEVERITY[comment['severity']]}]{where} {comment['comment']}"


def _runs(runs: Iterable[Run]) -> str:
    return "\n".join(
        f"- {r.mode} by {r.agent}: {r.outcome or r.status}"
        + (f" ({r.error.error})" if r.error else "")
        for r in runs
    )


def _outcomes(template: str, task: Task, pipeline: Pipeline, registry: Registry) -> str:
    lines: list[str] = []
    for name in registry.offered(pipeline, task.status):
        outcome = next(
            (o for o in registry.outcomes.values() if name in (o.name, *o.aliases)), None
        )
        schema = outcome.payload_schema if outcome else None
        if outcome is None or schema is None:
            text = outcome.description if outcome else ""
            lines.append(f"- `{name}`: {text} No payload.")
            continue
        shape = json.dumps(schema, separators=(",", ":"))
        lines.append(f"- `{name}`: {outcome.description} Payload: {shape}")
    return template.replace("{outcomes}", "\n".join(lines))
