"""The world of a simulation: what agents and hooks would have left behind, as facts. Every hook
that the script does not let fail is taken to succeed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from agents_manager.domain.course import StageFacts, test_command, wave
from agents_manager.domain.event.happening import counted_as
from agents_manager.domain.guards import Facts, Fired
from agents_manager.domain.ids import ProjectId, RunId, TaskId
from agents_manager.domain.outcome import Outcome
from agents_manager.domain.payload import ProposedPhase
from agents_manager.domain.phase import Phase, PhaseStatus, active, upcoming
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.stages.outputs import Batch, ImplementationPlan, RepoProfile
from agents_manager.domain.stages.table import BY_OUTCOME
from agents_manager.domain.task import PullRequest, PullState
from agents_manager.errors import HookFailed

TASK = TaskId("simulated")
BRANCH = "simulated"
NOON = datetime(2000, 1, 1, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    plan: str | None = None
    branch: str | None = None
    commits: int = 0
    committed_on: str | None = None
    """The branch of the last commit."""
    worked_on: str | None = None
    """The branch of the last run, or None if that run did not begin."""
    has_checks: bool = True
    """Whether the project has any; without, `run_checks` succeeds and nothing has passed."""
    checks_passed: bool | None = None
    agent_reviews: bool = False
    confirms_spec: bool = True
    stages: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """What stages ended with."""
    phases: tuple[Phase, ...] = ()
    pulls: tuple[PullRequest, ...] = ()

    @property
    def head(self) -> str | None:
        return f"commit-{self.commits}" if self.commits else None

    @property
    def work(self) -> Mapping[str, Any] | None:
        """What a review looks at."""
        if not self.commits:
            return None
        counts = {"files": self.commits, "additions": self.commits, "deletions": 0}
        return {"head_sha": self.head, **counts}

    @property
    def unreviewed(self) -> str | None:
        """The commits on the branch of the last run in one phrase, or None if there are none."""
        if self.committed_on is None or self.committed_on != self.worked_on:
            return None
        return f"+{self.commits} -0 in {counted_as(self.commits, 'file')}"

    @property
    def document(self) -> Mapping[str, Any] | None:
        if self.plan is None:
            return None
        return {"document": self.plan, "title": "Plan", "artifact_id": None}

    def facts(
        self,
        fired: Fired,
        rounds: Mapping[str, int],
        reviewed: Fired | None,
        live_run: str | None,
        *,
        admin: bool,
    ) -> Facts:
        review = None
        if reviewed is not None and reviewed.payload is not None:
            review = {**reviewed.payload, "head_sha": reviewed.head_sha}
        return Facts(
            fired=fired,
            plan=self.plan,
            branch=self.branch,
            pull=self.pulls[-1] if self.pulls else None,
            phases=self.phases,
            phase_pull=self._pull(self._ground) if active(self.phases) else None,
            final_pull=self._pull(BRANCH) if self.phases else None,
            head_sha=self.head,
            checks_passed=self.checks_passed,
            documents=self.plan is not None,
            live_run=RunId(live_run) if live_run else None,
            rounds=rounds,
            review=review,
            agent_reviews=self.agent_reviews,
            admin=admin,
            files=self.commits,
            confirms_spec=self.confirms_spec,
            stages=self._stage_facts(),
        )

    def _stage_facts(self) -> StageFacts:
        """What is built side by side ends with one report; nobody requests anybody here."""
        batches: list[Batch] = []
        untested = False
        command = None
        for name, payload in self.stages:
            if name == "implementation_plan":
                batches = [*ImplementationPlan.model_validate(payload).batches]
            elif name == "build_report":
                built = wave(batches)
                batches = [batch for batch in batches if batch not in built]
                untested = True
            elif name == "test_writing_report":
                untested = False
            elif name == "repo_profile":
                command = test_command(RepoProfile.model_validate(payload))
        numbers = tuple(batch.number for batch in batches)
        return StageFacts(batches=numbers, test_command=command, untested=untested)

    def reported(self, outcome: Outcome, payload: Mapping[str, Any] | None) -> "World":
        """After an agent ended so: its document is kept, or its work is committed."""
        stage = BY_OUTCOME.get(outcome.name)
        if stage is not None:
            work = self.commits + stage.writes
            spec = "The document of the simulation." if outcome.name == "task_spec" else self.plan
            told = (*self.stages, (outcome.name, payload or {}))
            on = self._ground if stage.writes else self.committed_on
            return replace(self, stages=told, commits=work, committed_on=on, plan=spec)
        if outcome.prompt is PromptType.DOCUMENT_REVIEW:
            return replace(self, plan="The document of the simulation.")
        if outcome.prompt is PromptType.REVIEW and outcome.payload is None:
            made = replace(self, commits=self.commits + 1, checks_passed=None)
            return replace(made, committed_on=self._ground)
        return self

    def begun(self, hook: str, payload: Mapping[str, Any] | None) -> "World":
        """After the move that a hook belongs to; HookFailed when it cannot be made."""
        match hook:
            case "execute_split":
                return self._split(payload or {})
            case "advance_phase":
                return self._finished()._next()
            case "create_final_pr":
                return self._finished()
            case _:
                return self

    def done(self, hook: str) -> "World":
        """After a hook was performed; HookFailed when it cannot be."""
        act = _PERFORMED.get(hook)
        return act(self) if act else self

    @property
    def _ground(self) -> str:
        phase = active(self.phases)
        return f"{BRANCH}--{phase.number}" if phase else BRANCH

    def _pull(self, branch: str) -> PullRequest | None:
        standing = [p for p in self.pulls if p.state is not PullState.CLOSED]
        return next((p for p in reversed(standing) if p.head_branch == branch), None)

    def with_branch(self) -> "World":
        return replace(self, branch=BRANCH)

    def begun_run(self) -> "World":
        return replace(self, branch=BRANCH, worked_on=self._ground)

    def opened(self, branch: str | None = None) -> "World":
        """With the pull request of the phase at work or of the task, open and up to date."""
        self._need_branch()
        head = branch or self._ground
        known = self._pull(head)
        if known and known.state is PullState.OPEN:
            return self
        pull = PullRequest(
            id=f"pull-{len(self.pulls) + 1}",
            project_id=ProjectId("simulated"),
            task_id=TASK,
            number=len(self.pulls) + 1,
            title="",
            body="",
            head_branch=head,
            base_branch="main" if head == BRANCH else BRANCH,
            head_sha=self.head or "",
            state=PullState.OPEN,
            merge_sha=None,
            created_at=NOON,
            updated_at=NOON,
        )
        return replace(self, branch=BRANCH, pulls=(*self.pulls, pull))

    def merged(self, branch: str | None = None) -> "World":
        pull = self._pull(branch) if branch else (self.pulls[-1] if self.pulls else None)
        if pull is None:
            raise HookFailed("There is no pull request to merge.")
        done = replace(pull, state=PullState.MERGED, merge_sha="merged")
        return replace(self, pulls=tuple(done if p is pull else p for p in self.pulls))

    def merged_phase(self) -> "World":
        return self.merged(self._ground)

    def _split(self, answer: Mapping[str, Any]) -> "World":
        parts = [ProposedPhase.model_validate(p) for p in answer.get("phases") or ()]
        if not parts:
            raise HookFailed("There is no approved split to make phases from.")
        # In the middle of a phase, that phase becomes the first of them.
        at_work = active(self.phases)
        new = parts[1:] if at_work else parts
        at = self.phases.index(at_work) + 1 if at_work else len(self.phases)
        first = len(self.phases) + 1
        made = tuple(_phase(first + i, part) for i, part in enumerate(new))
        phased = replace(self, phases=(*self.phases[:at], *made, *self.phases[at:]))
        return phased if at_work else phased._without_open_pulls()._next()

    def _without_open_pulls(self) -> "World":
        closed = (
            replace(p, state=PullState.CLOSED) if p.state is PullState.OPEN else p
            for p in self.pulls
        )
        return replace(self, pulls=tuple(closed))

    def _finished(self) -> "World":
        return self._marked(active(self.phases), PhaseStatus.DONE)

    def _next(self) -> "World":
        following = upcoming(self.phases)
        if following is None:
            raise HookFailed("There is no phase left to begin.")
        return self._marked(following, PhaseStatus.ACTIVE)

    def _marked(self, phase: Phase | None, status: PhaseStatus) -> "World":
        marked = (replace(p, status=status) if p is phase else p for p in self.phases)
        return replace(self, phases=tuple(marked))

    def _need_branch(self) -> None:
        if self.branch is None:
            raise HookFailed("There is no branch yet.")

    def checked(self) -> "World":
        self._need_branch()
        return replace(self, checks_passed=True if self.has_checks else None)


def _phase(number: int, part: ProposedPhase) -> Phase:
    return Phase(
        id=f"phase-{number}",
        task_id=TASK,
        position=number,
        number=number,
        name=part.name,
        description=part.description,
        complexity=part.complexity,
        status=PhaseStatus.PENDING,
        created_at=NOON,
    )


_PERFORMED: Mapping[str, Callable[[World], World]] = {
    "start_agent": World.begun_run,
    "start_phase_agent": World.begun_run,
    "create_task_branch": World.with_branch,
    "execute_split": World.with_branch,
    "push_and_create_pr": World.opened,
    "create_final_pr": lambda world: world.opened(BRANCH),
    "merge_pr": World.merged,
    "merge_phase_pr": World.merged_phase,
    "merge_final_pr": lambda world: world.merged(BRANCH),
    "run_checks": World.checked,
}
