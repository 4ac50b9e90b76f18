"""The course of a staged task: what its runs and its log say about outputs, builders, requests and
tries. Everything else about stages is read from here, and nothing of it is kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, cast

from pydantic import ValidationError

from agents_manager.domain.event import Logged
from agents_manager.domain.run import Run
from agents_manager.domain.stages import outputs, table
from agents_manager.domain.stages.context import (
    LoopBackTrigger,
    RetryRecord,
    StageOutputs,
    SubPipelineResult,
)
from agents_manager.domain.stages.request import ORDER

SAME_FAILURE = 3
"""So many requests alike, in a row on one edge, and the loop does not converge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageFacts:
    """What guards may know of the stages."""

    batches: tuple[int, ...] = ()
    """Those of the plan that nobody has built."""
    test_command: str | None = None
    to_debug: tuple[str, ...] = ()
    """Builders that ended in trouble which no debugger has seen to."""
    untested: bool = False
    """Whether something was built since tests were last written."""
    requester: str | None = None
    """The status to go back to, where an agent did what another had asked for."""
    loop_backs: int = 0
    """Dispatched ones, since the last grant."""
    on_edge: int = 0
    """Those of them that lead the same way as the one that is to be dispatched."""
    alike: int = 0
    """Requests in a row that say the same as it does."""


NO_STAGES = StageFacts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    agent: str
    batch: outputs.Batch | None
    files: tuple[str, ...]
    trigger: str | None

    @property
    def number(self) -> int:
        return int(self.agent.rpartition("-")[2])


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request on record."""

    trigger: LoopBackTrigger
    run: str
    status: str
    """Where the agent works that asked."""
    signature: str
    at: datetime

    @property
    def edge(self) -> tuple[str, str]:
        return edge(self.trigger.source_agent, self.trigger.target_agent)

    @property
    def straight_back(self) -> bool:
        """Whether control returns to who asked, and not over the stages between."""
        target = table.stage_of(self.trigger.target_agent)
        assert target is not None
        return not target.writes or target.number > self.trigger.source_stage


def edge(source: str, target: str) -> tuple[str, str]:
    """From role to role; builders are one."""
    ends = [table.stage_of(name) for name in (source, target)]
    return cast("tuple[str, str]", tuple(s.role if s else "" for s in ends))


@dataclass(frozen=True, kw_only=True)
class Course:
    """What it takes long to find out is found out once."""

    runs: Sequence[Run]
    log: Sequence[Logged]
    """The events of stages, the oldest first."""
    since: datetime | None = None
    """When a person last had a say: loop-backs count from there."""

    def before(self, run: Run) -> "Course":
        """As it was when the run was started."""
        names = [r.id for r in self.runs]
        earlier = self.runs[: names.index(run.id)]
        over = [r for r in earlier if r.ended_at and r.ended_at <= run.created_at]
        mine = [e for e in self.log if e.data.get("run") == run.id and e.type in _OF_ITS_START]
        log = [e for e in self.log if e.time <= run.created_at and e not in mine]
        return Course(runs=over, log=[*log, *mine], since=self.since)

    @cached_property
    def delivered(self) -> list[tuple[Run, table.Stage]]:
        """Runs that ended with the output of their stage, in their order."""
        return [(run, stage) for run in self.runs if (stage := delivered(run))]

    def happened(self, type: str) -> list[Logged]:
        return [e for e in self.log if e.type == type]

    @cached_property
    def made(self) -> StageOutputs:
        fields: dict[str, Any] = {}
        for run, stage in self.delivered:
            output = _read(stage, run.payload)
            if output is None or stage.field is None:
                continue
            if stage.many:
                fields[stage.field] = (*fields.get(stage.field, ()), output)
            else:
                fields[stage.field] = output
        ended = {e.data["run"]: _plain(e.data) for e in self.happened("builder.ended")}
        results = [ended[run.id] for run in self.runs if run.id in ended]
        named = [SubPipelineResult.model_validate(r) for r in results if r["files_targeted"]]
        return StageOutputs(**fields, sub_pipeline_results=tuple(named))

    def completed(self) -> tuple[float, ...]:
        return tuple(dict.fromkeys(stage.number for _, stage in self.delivered))

    @cached_property
    def assignments(self) -> Mapping[str, Assignment]:
        """Of builders, by their runs, in their order."""
        return {
            e.data["run"]: Assignment(
                agent=e.data["agent"],
                batch=outputs.Batch.model_validate(e.data["batch"]) if e.data["batch"] else None,
                files=tuple(e.data["files"]),
                trigger=e.data["trigger"],
            )
            for e in self.happened("builder.assigned")
        }

    def batches_left(self) -> list[outputs.Batch]:
        """Of the newest plan, those that no builder has built. A plan that follows a decision
        begins the work again."""
        plan = self.made.stage_2_plan
        built: list[tuple[outputs.PlannedFeature, ...]] = []
        decided = False
        for run, stage in self.delivered:
            decided = decided or stage.role == table.DECIDER
            if decided and stage.field == "stage_2_plan":
                built, decided = [], False
            found = self.assignments.get(run.id) if stage.role == table.BUILDER else None
            if found and found.batch:
                built.append(found.batch.features)
        left: list[outputs.Batch] = []
        for batch in plan.batches if plan else ():
            if batch.features in built:
                built.remove(batch.features)
            else:
                left.append(batch)
        return left

    def wave(self) -> list[outputs.Batch]:
        """Those of them that are built next, side by side."""
        return wave(self.batches_left())

    def base_of(self, run: Run) -> str | None:
        """The commit that its work begins at, in the runs that it goes on from too."""
        base, before = run.base_sha, self.goes_on_from(run)
        while before:
            base, before = before.base_sha or base, self.goes_on_from(before)
        return base

    def unfinished(self, mode: str) -> Run | None:
        """The last run, if it was of this mode and left its work undone: the next goes on."""
        last = self.runs[-1] if self.runs else None
        goes_on = last and not last.part and last.mode == mode and delivered(last) is None
        return last if goes_on else None

    def goes_on_from(self, run: Run) -> Run | None:
        """The run before it, if that left undone what this one goes on with. A part of the work
        is gone on with by itself."""
        earlier = self.runs[: [r.id for r in self.runs].index(run.id)]
        mine = [r for r in earlier if r.part == run.part] if run.part else earlier
        before = mine[-1] if mine else None
        if before is None or (before.mode, before.part) != (run.mode, run.part):
            return None
        return before if delivered(before) is None else None

    @cached_property
    def asked(self) -> list[Asked]:
        dispatched = {e.data["trigger"] for e in self.happened("loop_back.dispatched")}
        completed = {e.data["trigger"] for e in self.happened("loop_back.completed")}

        def status(trigger: str) -> str:
            if trigger in completed:
                return "completed"
            return "dispatched" if trigger in dispatched else "pending"

        return [
            Asked(
                trigger=LoopBackTrigger.model_validate(
                    {
                        "trigger_id": e.data["trigger"],
                        **{name: e.data[name] for name in _OF_A_TRIGGER},
                        "context": e.data["context"] or None,
                        "status": status(e.data["trigger"]),
                    }
                ),
                run=e.data["run"],
                status=e.data["source_status"],
                signature=e.data["signature"],
                at=e.time,
            )
            for e in self.happened("loop_back.requested")
        ]

    def pending(self) -> list[Asked]:
        """The most urgent first, of these the oldest."""
        waiting = [a for a in self.asked if a.trigger.status == "pending"]
        return sorted(waiting, key=lambda a: ORDER.index(a.trigger.priority))

    def served(self, run_id: str) -> Asked | None:
        """The request that a run is for: it was dispatched for it, goes on with a run that was, or
        was come back to in the middle of it."""
        asked = {a.trigger.trigger_id: a for a in self.asked}
        sent = {e.data["run"]: e.data["trigger"] for e in self.happened("loop_back.dispatched")}
        back = {e.data["run"]: e.data["trigger"] for e in self.happened("loop_back.returned")}
        found: dict[str, str | None] = {}
        for run in self.runs:
            before = self.goes_on_from(run)
            if run.id in sent:
                found[run.id] = sent[run.id]
            elif run.id in back:
                found[run.id] = found.get(asked[back[run.id]].run)
            else:
                found[run.id] = found[before.id] if before else None
        return asked.get(found.get(run_id) or "")

    def returning(self) -> Asked | None:
        """The request whose asker control goes back to, now that the last run has ended."""
        if not self.runs or delivered(self.runs[-1]) is None:
            return None
        served = self.served(self.runs[-1].id)
        return served if served and served.straight_back else None

    def to_debug(self) -> tuple[str, ...]:
        seen = [run.ended_at for run, stage in self.delivered if stage.role == "debugger"]
        last = max((at for at in seen if at), default=None)
        results = {e.data["build_agent"]: e for e in self.happened("builder.ended")}
        return tuple(
            agent
            for agent, e in results.items()
            if e.data["final_status"] != "success" and (last is None or e.time > last)
        )

    def restart(self) -> outputs.Restart | None:
        """What the work was begun again for; None once it was decided otherwise."""
        said = [run.payload for run, stage in self.delivered if stage.role == table.DECIDER]
        decision = _read(table.BY_ROLE[table.DECIDER], said[-1]) if said else None
        return decision.restart if isinstance(decision, outputs.Decision) else None

    def retries(self) -> tuple[RetryRecord, ...]:
        return tuple(
            RetryRecord(
                **{name: e.data[name] for name in ("stage", "agent", "attempt")},
                issue=e.data["issue"],
                improvement=e.data["improvement"],
                timestamp=e.time,
            )
            for e in self.happened("stage.retried")
        )

    def facts(self, trigger_id: str | None = None) -> StageFacts:
        """With the request that is to be dispatched, where there is one."""
        made = self.made
        asked = {a.trigger.trigger_id: a for a in self.asked}
        sent = [
            asked[e.data["trigger"]]
            for e in self.happened("loop_back.dispatched")
            if self.since is None or e.time > self.since
        ]
        wanted = asked.get(trigger_id or "")
        back = self.returning()
        return StageFacts(
            batches=tuple(batch.number for batch in self.batches_left()),
            test_command=test_command(made.stage_1_repoprofile),
            to_debug=self.to_debug(),
            untested=self._untested(),
            requester=back.status if back else None,
            loop_backs=len(sent),
            on_edge=sum(wanted is not None and a.edge == wanted.edge for a in sent),
            alike=self._alike(wanted) if wanted else 0,
        )

    def _untested(self) -> bool:
        done = [stage.role for _, stage in self.delivered]
        last = [role for role in done if role in (table.BUILDER, table.TEST_WRITER)][-1:]
        return last == [table.BUILDER]

    def _alike(self, wanted: Asked) -> int:
        number = 0
        on_edge = [a for a in self.asked if a.edge == wanted.edge and a.at <= wanted.at]
        for one in reversed(on_edge):
            if one.signature != wanted.signature or (self.since and one.at <= self.since):
                break
            number += 1
        return number


_OF_A_TRIGGER = (
    *("source_agent", "source_stage", "target_agent", "target_stage", "reason", "priority"),
)
_OF_ITS_START = frozenset({"builder.assigned", "loop_back.dispatched", "loop_back.returned"})


def delivered(run: Run) -> table.Stage | None:
    """The stage whose output the run ended with."""
    stage = table.BY_OUTCOME.get(run.outcome or "")
    ended = stage is not None and stage.role == run.mode and run.payload is not None
    return stage if ended and run.error is None else None


def wave(left: Sequence[outputs.Batch]) -> list[outputs.Batch]:
    """What can be built at a time: batches of one cycle, none of which shares a file with one that
    comes before it."""
    taken: list[outputs.Batch] = []
    files: set[str] = set()
    for batch in left:
        if (batch.number - 1) // outputs.WAVE != (left[0].number - 1) // outputs.WAVE:
            break
        if files.isdisjoint(batch.touched):
            taken.append(batch)
        files.update(batch.touched)
    return taken


def _read(stage: table.Stage, payload: Mapping[str, Any] | None) -> Any:
    """None: it is of another version of this program, and no longer sound."""
    try:
        output = stage.output.model_validate(payload)
    except ValidationError:
        return None
    return output.prompt if isinstance(output, outputs.OptimizedPrompt) else output


def _plain(data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: data[name] for name in SubPipelineResult.model_fields}


def test_command(profile: outputs.RepoProfile | None) -> str | None:
    if profile is None:
        return None
    command = profile.commands.test
    return command.command if command else profile.stack.testing.command
