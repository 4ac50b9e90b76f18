"""Plugins over HTTP: what they register, what is wrong with them, and where they are used."""

from pathlib import Path

import httpx
import pytest

from agents_manager.bootstrap import Program
from tests.installed import install, install_example, site
from tests.unit.pipeline_documents import document, edge

__all__ = ["site"]


@pytest.fixture
def installed(site: Path) -> Path:
    install_example(site)
    install(site, "zz-broken", {"bad": "zz_broken:register"}, {"zz_broken": "1 / 0"})
    return site


async def test_plugins_are_listed_with_what_they_register(
    installed: Path, program: Program, api: httpx.AsyncClient
) -> None:
    good, broken = (await api.get("/api/v1/plugins")).json()["items"]
    assert good == {
        "package": "am-house-rules",
        "version": "1.0",
        "entry_point": "house_rules",
        "guards": ["few_rounds"],
        "hooks": ["write_down"],
        "outcomes": ["ticket_filed"],
        "rankers": ["same_shop"],
        "agents": ["parrot"],
        "forges": ["plain-git"],
        "channels": ["logbook"],
        "checks": ["todos"],
        "pipelines": ["hotfix"],
        "error": None,
    }
    assert (broken["package"], broken["guards"]) == ("zz-broken", [])
    assert broken["error"] == "ZeroDivisionError: division by zero"


async def test_lint_and_simulate_name_the_plugin(installed: Path, api: httpx.AsyncClient) -> None:
    filed = edge("working", "stuck", "ticket_filed")
    form = {"document": document(filed)}
    from_plugin = {"kind": "outcome", "name": "ticket_filed", "plugin": "am-house-rules 1.0"}
    linted = (await api.post("/api/v1/pipelines/lint", json=form)).json()
    assert (linted["ok"], linted["plugins"]) == (True, [from_plugin])
    ended = {"outcome": {"name": "ticket_filed", "payload": {"ticket": "SHOP-1"}}}
    walked = await api.post("/api/v1/pipelines/simulate", json={**form, "script": ["start", ended]})
    assert (walked.json()["status"], walked.json()["plugins"]) == ("stuck", [from_plugin])
