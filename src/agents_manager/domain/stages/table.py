"""The stages: their roles, what they give back and are given, and who may ask whom."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from agents_manager.domain.stages import outputs
from agents_manager.domain.value import Lenient

DECIDER = "decide-agent"
BUILDER = "build-agent"
TEST_WRITER = "test-writer"
_BUILDER_N = re.compile(rf"{BUILDER}-([1-9]\d?)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    number: float
    role: str
    output: type[Lenient]
    field: str | None
    """Its place in the outputs of a PipelineContext; the decision has none."""
    title: str
    says: str
    """What it has done when it ends with its output, to the agent."""
    given: tuple[float, ...] = ()
    """The stages whose outputs it is given, where there are any; the request it always is."""
    many: bool = False
    """Whether its outputs are kept all, not the last alone."""
    writes: bool = False
    commands: bool = True
    """Whether it runs the project."""
    mandatory: bool = True

    @property
    def outcome(self) -> str:
        """Snake case of the output's name."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", self.output.__name__).lower()


_ALL = (-1, 0, 1, 2, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7)
STAGES = (
    Stage(
        number=-1,
        role="prompt-optimizer",
        commands=False,
        output=outputs.OptimizedPrompt,
        field="stage_neg1_prompt",
        title="Optimized Prompt",
        says="You made the request clearer; it is passed on word for word beside that.",
    ),
    Stage(
        number=0,
        role="task-breakdown",
        commands=False,
        output=outputs.TaskSpec,
        field="stage_0_taskspec",
        title="TaskSpec",
        says="You broke the request down into features, each with criteria that can be tested.",
    ),
    Stage(
        number=1,
        role="code-discovery",
        output=outputs.RepoProfile,
        field="stage_1_repoprofile",
        title="RepoProfile",
        says="You know the repository: its stack, its conventions and its commands, which you ran.",
        given=(0,),
    ),
    Stage(
        number=2,
        role="plan-agent",
        commands=False,
        output=outputs.ImplementationPlan,
        field="stage_2_plan",
        title="Implementation Plan",
        says="You planned the work in batches of one or two files that cover every feature.",
        given=(0, 1),
    ),
    Stage(
        number=3,
        role="docs-researcher",
        commands=False,
        output=outputs.DocsResearchOutput,
        field="stage_3_docs",
        title="Documentation",
        says="You looked up what the work needs to know.",
        given=(0, 2),
    ),
    Stage(
        number=3.5,
        role="pre-flight-checker",
        output=outputs.PreFlightCheck,
        field="stage_3_5_preflight",
        title="Pre-Flight Check",
        says="You checked whether work can begin; FAIL names the blocker and requests an agent.",
        given=(0, 1, 2, 3),
    ),
    Stage(
        number=4,
        role=BUILDER,
        output=outputs.BuildReport,
        field="stage_4_builds",
        title="Builds",
        says="You built your batch.",
        given=(0, 1, 2, 3),
        many=True,
        writes=True,
        mandatory=False,
    ),
    Stage(
        number=4.5,
        role=TEST_WRITER,
        output=outputs.TestWritingReport,
        field="stage_4_5_test_writing",
        title="Test Writing",
        says="You wrote the tests that the criteria need; a placeholder is a violation.",
        given=(0, 1, 4),
        writes=True,
        mandatory=False,
    ),
    Stage(
        number=5,
        role="debugger",
        output=outputs.DebugReport,
        field="stage_5_debug",
        title="Debug",
        says="You looked for the cause of what failed, and mended it.",
        given=(0, 4, 6),
        many=True,
        writes=True,
        mandatory=False,
    ),
    Stage(
        number=5.5,
        role="logical-agent",
        output=outputs.LogicVerification,
        field="stage_5_5_logic",
        title="Logic Verification",
        says="You read the work for faults of logic, and changed nothing.",
        given=(0, 4),
        mandatory=False,
    ),
    Stage(
        number=6,
        role="test-agent",
        output=outputs.TestReport,
        field="stage_6_tests",
        title="Tests",
        says="You ran all tests; FAIL requests the debugger.",
        given=(0, 1, 4),
    ),
    Stage(
        number=6.5,
        role="integration-agent",
        output=outputs.IntegrationTestReport,
        field="stage_6_5_integration",
        title="Integration",
        says="You tested how the parts work together.",
        given=(0, 1, 4, 6),
    ),
    Stage(
        number=7,
        role="review-agent",
        output=outputs.ReviewReport,
        field="stage_7_review",
        title="Review",
        says="You held the work to every criterion; FAIL requests a builder.",
        given=_ALL,
    ),
    Stage(
        number=8,
        role=DECIDER,
        commands=False,
        output=outputs.Decision,
        field=None,
        title="Decision",
        says="You decided whether the work is complete, begins again or goes to a person.",
        given=_ALL,
    ),
)
MANY_GIVEN = 5
"""Who is given the outputs of more stages than that gets them in brief."""
READERS = frozenset(stage.role for stage in STAGES if not stage.writes)
"""Roles that change nothing."""
READERS_WITH_COMMANDS = frozenset(s.role for s in STAGES if s.commands and not s.writes)
WRITERS = frozenset(stage.role for stage in STAGES if stage.writes)
BY_NUMBER: Mapping[float, Stage] = {stage.number: stage for stage in STAGES}
BY_ROLE: Mapping[str, Stage] = {stage.role: stage for stage in STAGES}
BY_OUTCOME: Mapping[str, Stage] = {stage.outcome: stage for stage in STAGES}
_RIGHTS: Mapping[str, frozenset[str]] = {
    "prompt-optimizer": frozenset(),
    TEST_WRITER: frozenset({BUILDER, "code-discovery", "debugger"}),
    "logical-agent": frozenset({BUILDER, "debugger", "code-discovery", "test-agent"}),
    "test-agent": frozenset({"debugger"}),
    "integration-agent": frozenset({"debugger"}),
    "review-agent": frozenset({BUILDER}),
    "pre-flight-checker": frozenset(s.role for s in STAGES if s.number < 3.5),
    DECIDER: frozenset(),
}


def stage_of(agent: str) -> Stage | None:
    """Of a role, or of one of the builders."""
    return BY_ROLE.get(BUILDER if _BUILDER_N.fullmatch(agent) else agent)


def may_ask(role: str) -> frozenset[str]:
    """Whom it may have run again."""
    others = frozenset(s.role for s in STAGES if s.role not in (role, DECIDER))
    return _RIGHTS.get(role, others)
