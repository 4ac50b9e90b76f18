"""Steps 6 and 7: what the agent's output amounts to, held to the registry, to git and to the
project's checks. Nothing is approved for want of a word."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents_manager.domain import handoff_text
from agents_manager.domain import outcome as outcomes
from agents_manager.domain.ids import PromptId, RunId
from agents_manager.domain.names import one_line
from agents_manager.domain.outcome import Malformed, Nothing, Outcome, Reported
from agents_manager.domain.pipeline import BROUGHT, Pipeline, PromptType
from agents_manager.domain.prompt import Decision, Prompt
from agents_manager.domain.race import JUDGE
from agents_manager.domain.run import READ_ONLY_MODES, ErrorClass, Run, RunStatus
from agents_manager.domain.stages.table import BY_ROLE, WRITERS
from agents_manager.domain.task import Project, Task
from agents_manager.errors import ImportRefused
from agents_manager.flow import branches
from agents_manager.flow.branches import Ground
from agents_manager.flow.ports import Agent, Said, Services, Tx
from agents_manager.flow.registries import registry_of
from agents_manager.flow.runs import (
    checking,
    endings,
    handoffs,
    judging,
    midway,
    repairs,
    reports,
    spending,
    staging,
)
from agents_manager.flow.runs.places import ASKED, FRESH
from agents_manager.flow.runs.prepare import of
from agents_manager.flow.runs.verdict import Again, Ending, Verdict, trouble

REVIEW = "review"
CHANGED_BY_REVIEWER = (
    "The agent changed the branch, which one that only judges must not do; its verdict does not"
    " count. Look at what it committed."
)
UNCLEAR = (
    "No outcome was reported, and the last response may have been cut off or blocked, so nothing is"
    " assumed. Work that is not finished has to be finished first."
)
_WRITTEN = {"plan": "plan_complete", "design": "design_ready"}
"""Modes whose result is the text itself."""


async def conclude(
    run_id: RunId, asked: Again | None, ended: Ending, directory: Path, s: Services
) -> Verdict:
    """What a turn came to; `asked` is why there is this turn, where it is not the first."""
    run, task, project = await s.store.read(lambda tx: of(tx, run_id))
    await handoffs.put_aside(run, project, directory, s)
    standing = await _standing(run, task, project, asked, ended, directory, s)
    if standing is not None:
        return standing
    waits_for = await asyncio.to_thread(reports.paused, directory)
    if waits_for is not None and ended["reason"] != "cancelled":
        used = await spending.kept(run, project, directory, s)
        return {**await _paused(run, task, project, waits_for, s), **used}
    stopped = await endings.stopped(run, project, ended, directory, s)
    if stopped is not None:
        return await _with_usage(stopped, run, project, asked, directory, s)
    assert run.agent is not None
    agent = s.agents.get(run.agent, project)
    said = await asyncio.to_thread(spending.heard, agent, directory)
    if said.session_lost:
        await _keep_what_was_told(run, asked, directory, s)
    report = await asyncio.to_thread(reports.read, directory)
    failed = endings.failed(said, ended)
    if failed is None or endings.counts_anyway(failed, report):
        verdict = await _judge(run, task, project, agent, asked, said, report, directory, s)
        verdict = repairs.with_document(verdict, asked)
    else:
        verdict = await asyncio.to_thread(endings.with_growth, failed, agent, directory)
    if "paused" in verdict:
        return {**verdict, **spending.of_turn(run, project, said, s)}
    given = await asyncio.to_thread(handoffs.found, directory, said.final_text)
    given = given or (asked.get("given") if asked else None)
    verdict = await handoffs.held(run, task, project, verdict, given, s)
    verdict = await _once_more(run, project, verdict, asked, agent, s)
    if failed is not None and "error" not in verdict:
        verdict["interruption"] = f"{failed.get('error_class')}: {failed.get('error')}"
    if "again" in verdict and said.session:
        await s.store.write(lambda tx: tx.runs.update(run_id, session=said.session))
    return {**verdict, **spending.of_turn(run, project, said, s)}


async def _with_usage(
    stopped: Verdict, run: Run, project: Project, asked: Again | None, directory: Path, s: Services
) -> Verdict:
    if stopped.get("begun") is False:
        return stopped
    used = await spending.kept(run, project, directory, s)
    if used.get("session_lost"):
        await _keep_what_was_told(run, asked, directory, s)
    return {**stopped, **used}


async def _keep_what_was_told(run: Run, asked: Again | None, directory: Path, s: Services) -> None:
    """In the place of what would have been said in the session that is gone."""
    fresh = (directory / FRESH).read_bytes()
    if asked is None:
        text = fresh.decode()
        await s.store.write(lambda tx: tx.runs.update(run.id, prompt=text))
    else:
        (directory / ASKED).write_bytes(fresh)


async def _standing(
    run: Run,
    task: Task,
    project: Project,
    asked: Again | None,
    ended: Ending,
    directory: Path,
    s: Services,
) -> Verdict | None:
    """What a run came to that was asked for its handoff alone, whatever it said then and however
    that turn ended. None for other turns, for one that was stopped, and where the branch changed:
    that work was not looked at."""
    stands = asked.get("stands") if asked else None
    if asked is None or stands is None or ended["reason"] == "cancelled":
        return None
    ground = await s.store.read(lambda tx: branches.of_run(tx, s, run, task, project))
    try:
        settled = await _settle_work(run, task, project, ground, s)
    except ImportRefused:
        return None
    if settled.head_sha != stands.get("head_sha"):
        return None
    used = await spending.kept(run, project, directory, s)
    text = ""
    if ended["reason"] not in endings.ENDED_BY:
        agent = s.agents.get(run.agent or "", project)
        text = (await asyncio.to_thread(spending.heard, agent, directory)).final_text
    given = await asyncio.to_thread(handoffs.found, directory, text) or asked.get("given")
    verdict = await handoffs.held(run, task, project, handoffs.without(stands), given, s)
    if used.get("session_lost"):
        await _keep_what_was_told(run, asked, directory, s)
    verdict = handoffs.settled(verdict, asked["round"], may_ask=False)
    return {**verdict, **used, "begun": ended["reason"] != "no_budget"}


async def _once_more(
    run: Run, project: Project, verdict: Verdict, asked: Again | None, agent: Agent, s: Services
) -> Verdict:
    """Ask the agent again: once for an outcome that can be taken, and, if it can continue its
    session, once for a handoff and in several rounds for work that passes the checks."""
    done = asked["round"] if asked else 0
    may_repair = asked is None or asked["kind"] == "fix"
    may_ask = agent.capabilities.resumes and may_repair
    if "again" in verdict:
        again = verdict["again"]
        if not may_repair:
            return repairs.failed(again, asked)
        return {**verdict, "again": handoffs.asked_too({**again, "round": done}, verdict)}
    rounds = s.configs.of(project).max_fix_rounds
    failed = verdict.get("error_class") == ErrorClass.CHECKS_FAILED
    if failed and done < rounds and agent.capabilities.resumes:
        again = await checking.ask_to_fix(s, run, verdict, done, rounds)
        again = handoffs.asked_too(again, verdict)
        return Verdict(again=again, head_sha=verdict.get("head_sha"))
    if failed and run.mode in WRITERS and checking.can_be_debugged(verdict, s.configs.of(project)):
        verdict = checking.handed_on(verdict)
    return handoffs.settled(verdict, done, may_ask=may_ask)


async def _judge(
    run: Run,
    task: Task,
    project: Project,
    agent: Agent,
    asked: Again | None,
    said: Said,
    report: Any,
    directory: Path,
    s: Services,
) -> Verdict:
    registry = registry_of(s, project)

    def known(tx: Tx) -> tuple[Pipeline, Ground, str | None, set[str]]:
        pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
        runs = tx.runs.of_task(task.id)
        began = _where_unfinished_work_began(runs, run, registry.outcomes)
        rejected = _rejected_commits(tx.prompts.of_task(task.id), runs)
        return pipeline, branches.of_run(tx, s, run, task, project), began, rejected

    pipeline, ground, began, rejected = await s.store.read(known)
    offered = registry.offered(pipeline, task.status, run.mode)
    reading = _read(said, report, offered, registry.outcomes)
    if isinstance(reading, Malformed):
        return repairs.ask(reading.reason, repairs.message(said))
    try:
        settled = await _settle_work(run, task, project, ground, s)
    except ImportRefused as error:
        return trouble(error.message, ErrorClass.BAD_OUTPUT)
    start, head = settled.start_sha, settled.head_sha
    meddled = await staging.meddled(run, project, ground, head, s)
    if meddled is not None:
        return meddled
    if run.mode in (REVIEW, JUDGE) and head != run.base_sha:
        return trouble(CHANGED_BY_REVIEWER, ErrorClass.BAD_OUTPUT)
    changed = head not in (began, start, *rejected)
    if isinstance(reading, Nothing):
        unread = repairs.in_vain(asked, said) or await asyncio.to_thread(
            repairs.unread, agent, directory, offered, registry.outcomes
        )
        verdict = await _unsaid(run, project, said, unread, offered, changed, s)
    else:
        verdict = _reported(reading, offered, has_work=head not in (start, *rejected))
        verdict |= await staging.held(run, task, project, reading, head, directory, s)
        verdict |= await judging.held(run, reading, s)
        if "again" in verdict:
            return repairs.ask(verdict["again"]["text"], repairs.message(said))
    verdict |= settled.as_verdict()
    if _hands_over(verdict.get("outcome"), changed, registry.outcomes):
        return await checking.check(run, project, verdict, start, directory, s)
    return verdict


async def _paused(run: Run, task: Task, project: Project, prompt_id: str, s: Services) -> Verdict:
    """Whatever the agent says at the end: it was told that it goes on with the answer."""

    def read(tx: Tx) -> tuple[Prompt, Ground]:
        return tx.prompts.get(PromptId(prompt_id)), branches.of_run(tx, s, run, task, project)

    prompt, ground = await s.store.read(read)
    try:
        settled = await _settle_work(run, task, project, ground, s)
    except ImportRefused as error:
        return trouble(error.message, ErrorClass.BAD_OUTPUT)
    return {**_waiting(prompt), **settled.as_verdict()}


def _waiting(prompt: Prompt) -> Verdict:
    return Verdict(
        outcome=midway.OUTCOME, payload=dict(prompt.payload), inferred=False, paused=prompt.id
    )


def _hands_over(name: str | None, changed: bool, known: Mapping[str, Outcome]) -> bool:
    """Whether an outcome hands over work, that is, is neither a question nor without any."""
    if name is None or name == "no_changes":
        return False
    asks = name in known and known[name].prompt in BROUGHT
    return name == "pr_ready" or (changed and not asks)


def _where_unfinished_work_began(
    runs: Sequence[Run], run: Run, known: Mapping[str, Outcome]
) -> str | None:
    """Return the commit that the branch was at when this run began, or the first of the runs of its
    kind directly before it that ended without handing over their work."""
    began = run.base_sha
    kind = (run.mode, run.phase_id, run.part)
    alike = [r for r in runs if (r.mode, r.phase_id, r.part) == kind and r.started_at]
    earlier = [r for r in alike if r.created_at < run.created_at]
    for previous in reversed(earlier):
        outcome = known.get(previous.outcome or "")
        asked = outcome is not None and outcome.prompt in BROUGHT
        if previous.status is RunStatus.COMPLETED and not asked:
            break
        began = previous.base_sha or began
    return began


def _rejected_commits(prompts: Sequence[Prompt], runs: Sequence[Run]) -> set[str]:
    """Return the commits that a review of a person or an agent requested changes to."""
    asked = Decision.CHANGES_REQUESTED
    reviews = [p for p in prompts if p.type is PromptType.REVIEW and p.response]
    by_people = {
        p.payload.get("head_sha") for p in reviews if (p.response or {}).get("decision") == asked
    }
    by_agents = {r.head_sha for r in runs if r.mode == REVIEW and r.outcome == asked}
    return {head for head in by_people | by_agents if head}


def _read(
    said: Said, report: Any, offered: list[str], known: Mapping[str, Outcome]
) -> outcomes.Reading:
    """The first source that has an outcome counts: the report tool, the agent's structured output,
    the markers in its final message. If a later source asks a question, the agent is asked which
    one it means."""
    given = [value for value in (report, said.structured) if value is not None]
    if not given:
        return outcomes.read_markers(said.final_text, offered, known)
    words = outcomes.without_blocks(said.final_text)
    first, *later = [outcomes.read_value(value, offered, known, text=words) for value in given]
    if not isinstance(first, Reported):
        return first
    others = [one.name for one in later if isinstance(one, Reported)]
    others += outcomes.names_in(said.final_text)
    asks = outcomes.question_beside(first.name, others, known)
    if asks is None:
        return first
    return Malformed(f'Both "{first.name}" and "{asks}" were reported, and only one can count.')


@dataclass(frozen=True, slots=True)
class _Settled:
    """The work of a turn once all of it is committed."""

    start_sha: str
    head_sha: str
    left_out: tuple[str, ...]
    """Build products that were not committed."""

    def as_verdict(self) -> Verdict:
        verdict = Verdict(start_sha=self.start_sha, head_sha=self.head_sha)
        if self.left_out:
            verdict["left_out"] = list(self.left_out)
        return verdict


async def _settle_work(
    run: Run, task: Task, project: Project, ground: Ground, s: Services
) -> _Settled:
    """Takes over what the agent committed, commits what it left, and reads where the branch begins
    and ends."""
    left_out: tuple[str, ...] = ()
    config = s.configs.of(project, run)
    assert run.workspace is not None
    assert run.branch is not None
    if run.mode not in READ_ONLY_MODES and config.auto_commit:
        message = one_line(f"{task.title} ({run.mode}, work left by the agent)")
        rules = config.workspace.build_products
        done = await s.workspaces.commit_all(Path(run.workspace), run.branch, message, rules)
        left_out = done.left_out
    else:
        await s.workspaces.gather(Path(run.workspace), run.branch)
    ends = await s.workspaces.ends(Path(project.path), ground.branch, ground.base)
    return _Settled(*ends, left_out)


def _reported(reading: Reported, offered: list[str], *, has_work: bool) -> Verdict:
    """Return the reported outcome. `has_work` is whether the branch has commits that its base does
    not have and no review sent back, whichever run made them."""
    if reading.name == "pr_ready" and not has_work and "no_changes" in offered:
        reason = "The agent said that its work is ready, but it changed nothing."
        return Verdict(outcome="no_changes", payload={"reason": reason}, inferred=True)
    payload: dict[str, Any] | None = dict(reading.payload) if reading.payload else None
    text = handoff_text.without(reading.text)
    return Verdict(outcome=reading.name, payload=payload, inferred=False, document=text)


async def _unsaid(
    run: Run,
    project: Project,
    said: Said,
    unread: Again | None,
    offered: list[str],
    changed: bool,
    s: Services,
) -> Verdict:
    """What a run came to whose final message has no outcome. One that was cut off from a question
    of its own waits for the answer. Nothing is inferred if an earlier message looks like an outcome
    (`unread`)."""
    asked = await s.store.read(lambda tx: midway.unanswered(tx, run))
    if asked is not None:
        return _waiting(asked)
    if unread is not None:
        return Verdict(again=unread)
    if not said.ends_clearly:
        return repairs.ask(UNCLEAR, said.final_text)
    assume = s.configs.of(project).assume_approved
    text = handoff_text.without(said.final_text)
    return _infer(run, text, offered, changed, assume_approved=assume)


def _infer(
    run: Run, text: str, offered: list[str], changed: bool, *, assume_approved: bool
) -> Verdict:
    """What exit 0 without an outcome means, by mode. A review is never taken as an approval, unless
    the project says so."""
    if run.mode == REVIEW and assume_approved and "approved" in offered:
        return Verdict(outcome="approved", payload=None, inferred=True)
    written = _WRITTEN.get(run.mode)
    if written in offered and text.strip():
        return Verdict(outcome=written, payload=None, inferred=True, document=text)
    if run.mode not in READ_ONLY_MODES and run.mode not in BY_ROLE:
        if changed:
            return Verdict(outcome="pr_ready", payload=None, inferred=True)
        reason = "The agent ended without an outcome and without changes."
        return Verdict(outcome="no_changes", payload={"reason": reason}, inferred=True)
    takes = ", ".join(offered) or "none"
    return repairs.ask(f"No outcome was reported. Possible now: {takes}.", text)
