"""What pipelines are written with, over HTTP."""

from pathlib import Path

import httpx

from agents_manager.domain.task import Project
from tests import forms
from tests.api.scenes import told

PARTS = "/api/v1/parts"


async def test_every_part_comes_with_its_meaning_and_what_it_takes(api: httpx.AsyncClient) -> None:
    parts = (await api.get(PARTS)).json()
    guards = {guard["name"]: guard for guard in parts["guards"]}
    assert guards["has_pr"] == {
        "name": "has_pr",
        "meaning": "The task has a pull request.",
        "params": None,
    }
    assert set(guards["max_iterations"]["params"]["required"]) == {"statusId", "max"}
    hooks = {hook["name"]: hook for hook in parts["hooks"]}
    assert hooks["notify"]["policy"] == "best_effort"
    assert "mode" in hooks["start_agent"]["params"]["properties"]
    outcomes = {outcome["name"]: outcome for outcome in parts["outcomes"]}
    assert outcomes["needs_info"]["payload_required"]
    assert outcomes["needs_info"]["prompt"] == "info_request"
    assert outcomes["pr_ready"]["payload"] is None
    assert not outcomes["pr_ready"]["payload_required"]
    assert all(part["meaning"] for kind in (guards, hooks, outcomes) for part in kind.values())
    assert {"feature", "simple"} <= set(parts["built_in"])


async def test_the_outcomes_of_a_project_are_among_them(
    api: httpx.AsyncClient, project: Project, repo: Path
) -> None:
    folder = repo / ".agents-manager" / "outcomes"
    folder.mkdir(parents=True)
    (folder / "filed.json").write_text('{"type": "object", "description": "A ticket was filed."}')
    known = {o["name"]: o for o in (await api.get(PARTS)).json()["outcomes"]}
    own = {
        o["name"]: o
        for o in (await api.get(PARTS, params={"project": project.name})).json()["outcomes"]
    }
    assert set(own) - set(known) == {"filed"}
    assert own["filed"]["meaning"] == "A ticket was filed."
    assert (own["filed"]["prompt"], own["filed"]["answer"]) == (None, None)
    told(await api.get(PARTS, params={"project": "x"}), 404, "ProjectNotFound")


async def test_an_outcome_that_asks_comes_with_its_form(
    api: httpx.AsyncClient, project: Project, repo: Path
) -> None:
    forms.bring_form(repo)
    parts = (await api.get(PARTS, params={"project": project.name})).json()
    own = next(o for o in parts["outcomes"] if o["name"] == forms.OUTCOME)
    assert (own["prompt"], own["answer"]) == ("info_request", forms.RELEASE["answer"])
    assert own["payload"]["properties"]["suggested_answer"]["title"] == "Which release?"
