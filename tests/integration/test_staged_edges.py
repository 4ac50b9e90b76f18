"""Every edge of the pipeline `staged`, walked with the scripted agent."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from agents_manager.domain.stages import table
from agents_manager.domain.task import Result
from tests.integration.test_built_in_pipelines import (
    ANSWER,
    ASK,
    CRASH,
    OPTIONS,
    Step,
    built_in,
    take,
)
from tests.staged_walk import UNCONFIRMED, builder, changes, ends, patiently, plan, sample, script
from tests.worlds import World

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

Steps = list[dict[str, Any]]
Walk = tuple[Mapping[str, Any], Mapping[str, Any], Sequence[Step], str]

CANCEL: Step = ("escalated", "choose", "cancel")
RESTART = ends(
    "decision",
    sample("decision", decision="RESTART", restart={"goal": "More", "items": ["It"]}),
)
ESCALATE = ends("decision", sample("decision", decision="ESCALATE"))
NO_PLAN = ends("implementation_plan", {"batches": []})
UNTESTED = ends(
    "repo_profile",
    sample("repo_profile", stack={"testing": {}}, commands={"install": None, "test": None}),
)


def requests(outcome: str, target: str) -> Steps:
    said = f"REQUEST: {target} - It has to be seen to\nPriority: high"
    return ends(outcome, sample(outcome, risks=[f"What {target} says"]), said)


def partly(number: int, file: str) -> Steps:
    """A builder that did not get all of it done."""
    made = builder(number, "F1", file)
    left = {"features": [{"id": "F1", "status": "PARTIAL"}], "next_steps": ["The rest of it"]}
    made[-1]["outcome"]["payload"] |= left
    return made


def clashing(number: int, feature: str, file: str) -> Steps:
    """A builder that changes a file which another does, too."""
    change, commit, end = builder(number, feature, file)
    report = end["outcome"]["payload"]
    report["files_created"] = [file, "new_shared.txt"]
    report["deviations"] = ["new_shared.txt had to be there"]
    shared = {"write": {"path": "new_shared.txt", "text": f"of {file}\n"}}
    return [change, shared, commit, end]


def batches(*files: str) -> Steps:
    """A plan of these files, of which the last feature is the second."""
    return plan(*([file] for file in files))


def takes_back(file: str, *end: dict[str, Any]) -> Steps:
    return [{"delete": file}, {"commit": f"Take {file} back"}, *end]


def idle(number: int, feature: str) -> Steps:
    """A builder who finds that nothing has to be changed."""
    end = builder(number, feature, "app.py")[-1]
    end["outcome"]["payload"] |= {"files_modified": [], "changes": []}
    return [end]


ASKED = [stage.role for stage in table.STAGES if stage.number not in (2, 8)]
FIRST, SECOND = builder(1, "F1", "app.py"), builder(2, "F2", "README.md")
WALKS: Mapping[str, Walk] = {
    "each agent is requested, and the merge has its troubles": (
        {},
        script(
            task_breakdown=[requests("task_spec", "plan-agent"), ends("task_spec")],
            plan_agent=[
                ends("implementation_plan"),
                *(requests("implementation_plan", role) for role in ASKED),
                ends("implementation_plan"),
            ],
            build_agent=[
                *(builder(3, "F1", "new_asked.txt"), FIRST, SECOND, builder(4, "F1", "app.py")),
            ],
            debugger=[
                *[[*changes("app.py", "mended\n"), *ends("debug_report")]] * 2,
                [
                    {"write": {"path": "app.py", "text": "theirs\n"}},
                    {"commit": "As theirs"},
                    *ends("debug_report"),
                ],
            ],
        ),
        [
            ("confirming", "review", "changes_requested"),
            ("confirming", "review", "approved"),
            ("pr_review", "trouble", "merge_failed"),
            ("pr_review", "review", "changes_requested"),
            ("pr_review", "clash", "app.py"),
            ("pr_review", "review", "approved"),
        ],
        "done",
    ),
    "builders conflict, wait for each other, and begin again": (
        UNCONFIRMED,
        script(
            plan_agent=[
                batches("new_a.txt", "new_b.txt", "new_a.txt"),
                batches("new_c.txt", "new_d.txt", "new_c.txt"),
                batches("new_e.txt", "new_f.txt"),
                NO_PLAN,
            ],
            build_agent=[
                *(clashing(1, "F1", "new_a.txt"), clashing(2, "F2", "new_b.txt")),
                builder(3, "F1", "new_a.txt"),
                *(builder(1, "F1", "new_c.txt"), builder(2, "F2", "new_d.txt")),
                builder(3, "F1", "new_c.txt"),
                *(clashing(1, "F1", "new_e.txt"), clashing(2, "F2", "new_f.txt")),
            ],
            decide_agent=[RESTART, RESTART, ESCALATE],
        ),
        [
            ("escalated", "choose", "plan_anew"),
            ("escalated", "choose", "review_anyway"),
            ("pr_review", "review", "approved"),
        ],
        "done",
    ),
    "there is no test command, and the debugger leaves nothing": (
        UNCONFIRMED,
        script(
            code_discovery=[UNTESTED],
            plan_agent=[batches("new_g.txt", "new_h.txt")],
            build_agent=[partly(1, "new_g.txt"), builder(2, "F2", "new_h.txt")],
            debugger=[
                [{"delete": "new_h.txt"}, *takes_back("new_g.txt", *ends("debug_report"))],
            ],
        ),
        [("escalated", "choose", "finish")],
        "done",
    ),
    "there is no test command, and then no plan": (
        UNCONFIRMED,
        script(
            code_discovery=[UNTESTED],
            plan_agent=[ends("implementation_plan"), NO_PLAN],
            decide_agent=[RESTART, ESCALATE],
        ),
        [CANCEL],
        "cancelled",
    ),
    "nothing has to be changed": (
        UNCONFIRMED,
        script(
            plan_agent=[ends("implementation_plan"), NO_PLAN],
            build_agent=[idle(1, "F1"), idle(2, "F2")],
            decide_agent=[RESTART, ends("decision")],
        ),
        [CANCEL],
        "cancelled",
    ),
    "a requested builder leaves trouble, and there is no plan": (
        UNCONFIRMED,
        script(
            task_breakdown=[requests("task_spec", "build-agent"), ends("task_spec")],
            code_discovery=[UNTESTED],
            plan_agent=[NO_PLAN],
            build_agent=[partly(1, "new_i.txt")],
            decide_agent=[ESCALATE],
        ),
        [CANCEL],
        "cancelled",
    ),
    "agents ask and die, and one is to be debugged": (
        UNCONFIRMED,
        script(
            prompt_optimizer=[ASK, OPTIONS, CRASH, ends("optimized_prompt")],
            build_agent=[partly(1, "app.py"), SECOND],
            decide_agent=[ESCALATE],
        ),
        [
            ("needs_info", "answer", ANSWER),
            ("needs_info", "answer", {"option_id": "a"}),
            ("failed", "choose", "retry"),
            CANCEL,
        ],
        "cancelled",
    ),
    "the test writer leaves nothing": (
        UNCONFIRMED,
        script(
            plan_agent=[batches("new_j.txt", "new_k.txt")],
            build_agent=[builder(1, "F1", "new_j.txt"), builder(2, "F2", "new_k.txt")],
            test_writer=[
                [{"delete": "new_k.txt"}, *takes_back("new_j.txt", *ends("test_writing_report"))],
            ],
            decide_agent=[ESCALATE],
        ),
        [CANCEL],
        "cancelled",
    ),
}


async def test_every_edge_of_the_stages_is_walked(shop: World) -> None:
    taken: set[str | None] = set()
    for title, (config, made, steps, end) in WALKS.items():
        shop.configure(config)
        task = await shop.start(made, pipeline="staged", title=title)
        await take(shop, task, title, steps, end, patiently)
        taken |= {h.transition_id for h in await shop.history(task) if h.result is Result.DONE}
    assert {t.id for t in built_in("staged").transitions} - taken == set()
