"""Lint and simulate over HTTP."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents_manager.domain.task import Project
from tests.api.scenes import told
from tests.unit.pipeline_documents import document, edge, status

LINT = "/api/v1/pipelines/lint"
SIMULATE = "/api/v1/pipelines/simulate"


async def test_a_saved_pipeline_and_a_document_are_linted(api: httpx.AsyncClient) -> None:
    for form in ({"pipeline": "feature"}, {"pipeline": "feature", "version": 1}):
        response = await api.post(LINT, json=form)
        assert response.status_code == 200
        assert response.json() == {"ok": True, "findings": [], "plugins": []}
    broken = await api.post(LINT, json={"document": document(without="working-agent_error-stuck")})
    report = broken.json()
    assert report["ok"] is False
    [finding] = report["findings"]
    assert finding["severity"] == "error"
    assert (finding["code"], finding["position"]) == ("no_error_edge", "statuses.1")
    assert finding["message"]
    assert finding["fix"]
    warned = await api.post(LINT, json={"document": document(without="working-no_changes-stuck")})
    assert warned.json()["ok"] is True
    assert [f["severity"] for f in warned.json()["findings"]] == ["warning"]
    shapeless = (await api.post(LINT, json={"document": {}})).json()
    assert {f["code"] for f in shapeless["findings"]} == {"shape"}


async def test_a_script_is_walked_and_nothing_is_kept(api: httpx.AsyncClient) -> None:
    question = {"question": "Which colour?", "options": ["red", "blue"]}
    script = [
        "start",
        {"outcome": {"name": "needs_info", "payload": question}},
        {"answer": {"answers": [{"question_id": "q1", "option": "red"}]}},
        {"outcome": "pr_ready"},
        {"review": "approved"},
    ]
    response = await api.post(SIMULATE, json={"pipeline": "simple", "script": script})
    assert response.status_code == 200
    walked = response.json()
    assert (walked["status"], walked["finished"]) == ("done", True)
    assert [(d["step"], d["from"], d["to"]) for d in walked["decisions"]] == [
        (1, "open", "in_progress"),
        (2, "in_progress", "needs_info"),
        (3, "needs_info", "in_progress"),
        (4, "in_progress", "review"),
        (5, "review", "merging"),
        (5, "merging", "done"),
    ]
    asked = walked["decisions"][1]["asks"]
    assert asked == {"type": "info_request", "summary": "Which colour?", "choices": []}
    assert walked["decisions"][4]["effects"] == [
        {"name": "merge_pr", "policy": "required", "effect": None}
    ]
    assert (await api.get("/api/v1/tasks")).json()["items"] == []


async def test_the_outcomes_of_a_project_are_known(
    api: httpx.AsyncClient, project: Project, repo: Path
) -> None:
    folder = repo / ".agents-manager" / "outcomes"
    folder.mkdir(parents=True)
    (folder / "deployed.json").write_text('{"type": "object", "description": "It runs."}')
    simple = json.loads(files("agents_manager").joinpath("pipelines/simple.json").read_text())
    trigger = {"type": "agent_outcome", "outcome": "deployed"}
    simple["transitions"].append({"from": "in_progress", "to": "done", "trigger": trigger})
    unknown = (await api.post(LINT, json={"document": simple})).json()
    assert [f["code"] for f in unknown["findings"]] == ["unknown_name"]
    form = {"document": simple, "project": project.name}
    assert (await api.post(LINT, json=form)).json()["ok"] is True
    script = ["start", {"outcome": {"name": "deployed", "payload": {}}}]
    walked = (await api.post(SIMULATE, json={**form, "script": script})).json()
    assert walked["status"] == "done"


async def test_a_project_without_checks_has_passed_none(
    api: httpx.AsyncClient, project: Project
) -> None:
    checked = document(
        edge("working", "checking", "pr_ready", hooks=[{"type": "run_checks"}]),
        edge("checking", "reviewing", "manual", "checks_passed"),
        without="working-pr_ready-reviewing",
        statuses=(status("checking", "active"),),
    )
    script = ["start", {"outcome": "pr_ready"}, {"move": "reviewing"}]
    for form, end in (({}, "reviewing"), ({"project": project.name}, "checking")):
        sent = {"document": checked, "script": script, **form}
        assert (await api.post(SIMULATE, json=sent)).json()["status"] == end


WRONG: dict[str, tuple[str, dict[str, Any], str]] = {
    "neither": (LINT, {}, "either the id of a pipeline or a document"),
    "both": (LINT, {"pipeline": "simple", "document": {}}, "either the id"),
    "no-such-field": (LINT, {"pipelines": "simple"}, "no such field"),
    "no-script": (SIMULATE, {"pipeline": "simple"}, "Field required"),
    "no-list": (SIMULATE, {"pipeline": "simple", "script": {}}, "valid list"),
    "no-such-step": (
        SIMULATE,
        {"pipeline": "simple", "script": ["strat"]},
        'step 1: there is no step "strat". Did you mean "start"?',
    ),
    "no-pipeline": (SIMULATE, {"document": {}, "script": []}, "statuses: Field required"),
    "unknown-guard": (
        SIMULATE,
        {
            "document": document(
                {"from": "open", "to": "done", "trigger": "manual", "guards": [{"type": "x"}]}
            ),
            "script": [],
        },
        'there is no guard "x"',
    ),
}


@pytest.mark.parametrize(("path", "form", "says"), WRONG.values(), ids=WRONG)
async def test_wrong_forms_are_refused(
    api: httpx.AsyncClient, path: str, form: dict[str, Any], says: str
) -> None:
    response = await api.post(path, json=form)
    assert response.status_code == 422
    body = response.json()
    assert any(says in line for line in (body["message"], *body["details"])), body


async def test_what_is_not_there_and_what_is_too_large(api: httpx.AsyncClient) -> None:
    missing = await api.post(LINT, json={"pipeline": "simpel"})
    message = told(missing, 404, "PipelineNotFound")["message"]
    assert 'Did you mean "simple"?' in message
    told(await api.post(LINT, json={"pipeline": "simple", "project": "x"}), 404, "ProjectNotFound")
    told(await api.post(LINT, content=b"x" * 10_000_000), 413, "TooLarge")
    deep = b'{"document": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    headers = {"Content-Type": "application/json"}
    for body, says in (
        (deep, "nested deeper than 32"),
        (b'{"pipeline": "a", "pipeline": "b"}', "twice"),
        (b'{"version": NaN}', "NaN"),
    ):
        refused = await api.post(LINT, content=body, headers=headers)
        assert says in told(refused, 422, "InvalidInput")["message"]
