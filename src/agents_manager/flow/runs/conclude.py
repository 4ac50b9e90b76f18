"""Steps 6 and 7: what the agent's output amounts to, held to the registry, to git and to the
project's checks. Nothing is approved for want of a word."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agents_manager.domain import handoff_text
from agents_manager.domain import outcome as outcomes
from agents_manager.domain.ids import PromptId, RunId
from agents_manager.domain.names import one_line
from agents_manager.domain.outcome import Malformed, Nothing, Outcome, Reported
from agents_manager.domain.pipeline import BROUGHT, Pipeline
from agents_manager.domain.prompt import Prompt
from agents_manager.domain.race import JUDGE
from agents_manager.domain.run import READ_ONLY_MODES, ErrorClass, Run
from agents_manager.domain.stages.table import BY_ROLE, WRITERS
from agents_manager.domain.task import Project, Task
from agents_manager.errors import ImportRefused
from agents_manager.flow import branches
from agents_manager.flow.branches import Ground
from agents_manager.flow.ports import Agent, Said, Services, Tx
from agents_manager.flow.registries import registry_of
from agents_manager.flow.runs import (
    checking,
    handoffs,
    judging,
    midway,
    reports,
    spending,
    staging,
)
from agents_manager.flow.runs.places import ASKED, FRESH
from agents_manager.flow.runs.prepare import of
from agents_manager.flow.runs.verdict import Again, Ending, Verdict, trouble

CUT = (
    "The agent printed more than is kept of its output (outputBytes), so its final message is not"
    " known."
)
REVIEW = "review"
CHANGED_BY_REVIEWER = (
    "The agent changed the branch, which one that only judges must not do; its verdict does not"
    " count. Look at what it committed."
)
_WRITTEN = {"plan": "plan_complete", "design": "design_ready"}
"""Modes whose result is the text itself."""

_ENDED_BY: Mapping[str, tuple[ErrorClass, str]] = {
    "timeout": (ErrorClass.TIMEOUT, "The agent took longer than it may."),
    "stalled": (ErrorClass.STALLED, "The agent said nothing for too long."),
    "turns": (ErrorClass.BUDGET, "The agent took more turns than it may."),
    "budget": (ErrorClass.BUDGET, "A budget is used up."),
    "no_budget": (ErrorClass.BUDGET, "A budget was used up before this turn."),
    "cancelled": (ErrorClass.CANCELLED, "The agent was stopped."),
    "lost": (ErrorClass.INTERRUPTED, "The agent's runner was killed."),
    "interrupted": (ErrorClass.INTERRUPTED, "Its machine was cut off from the database."),
    "limit": (ErrorClass.LIMIT, "The agent used more of the machine than it may."),
    "refused": (ErrorClass.ENVIRONMENT, "The runner could not start the agent."),
}


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
    if ended["reason"] in _ENDED_BY:
        error_class, why = _ENDED_BY[ended["reason"]]
        verdict = trouble(ended.get("message") or why, error_class)
        if ended["reason"] == "no_budget":
            return {**verdict, "over_budget": True, "begun": False}
        if ended["reason"] == "budget":
            verdict["over_budget"] = True
        used = await spending.kept(run, project, directory, s)
        if used.get("session_lost"):
            await _keep_what_was_told(run, asked, directory, s)
        return {**verdict, **used}
    assert run.agent is not None
    agent = s.agents.get(run.agent, project)
    said = await asyncio.to_thread(spending.heard, agent, directory)
    if said.session_lost:
        await _keep_what_was_told(run, asked, directory, s)
    report = await asyncio.to_thread(reports.read, directory)
    verdict = await _judge(run, task, project, said, report, ended, directory, s)
    if "paused" in verdict:
        return {**verdict, **spending.of_turn(run, project, said, s)}
    given = await asyncio.to_thread(handoffs.found, directory, said.final_text)
    given = given or (asked.get("given") if asked else None)
    verdict = await handoffs.held(run, task, project, verdict, given, s)
    verdict = await _once_more(run, project, verdict, asked, agent, s)
    if "again" in verdict and said.session:
        await s.store.write(lambda tx: tx.runs.update(run_id, session=said.session))
    return {**verdict, **spending.of_turn(run, project, said, s)}


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
        _, head = await _settle_work(run, task, project, ground, s)
    except ImportRefused:
        return None
    if head != stands.get("head_sha"):
        return None
    used = await spending.kept(run, project, directory, s)
    text = ""
    if ended["reason"] not in _ENDED_BY:
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
    """The agent is asked again where it can go on with its session: once for an outcome or a
    handoff that can be taken, and so many rounds for work that passes the checks."""
    done = asked["round"] if asked else 0
    may_ask = agent.capabilities.resumes and (asked is None or asked["kind"] == "fix")
    if "again" in verdict:
        again = verdict["again"]
        if not may_ask:
            return trouble(again["text"], ErrorClass.BAD_OUTPUT)
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


def _repair(reason: str) -> Verdict:
    return Verdict(again=Again(kind="repair", round=0, text=reason))


async def _judge(
    run: Run,
    task: Task,
    project: Project,
    said: Said,
    report: Any,
    ended: Ending,
    directory: Path,
    s: Services,
) -> Verdict:
    failed = _failed(said, ended)
    if failed is not None:
        return failed

    def known(tx: Tx) -> tuple[Pipeline, Ground]:
        pipeline = tx.pipelines.get(task.pipeline_id, task.pipeline_version)
        return pipeline, branches.of_run(tx, s, run, task, project)

    pipeline, ground = await s.store.read(known)
    registry = registry_of(s, project)
    offered = registry.offered(pipeline, task.status, run.mode)
    reading = _read(said, report, offered, registry.outcomes)
    if isinstance(reading, Malformed):
        return _repair(reading.reason)
    try:
        start, head = await _settle_work(run, task, project, ground, s)
    except ImportRefused as error:
        return trouble(error.message, ErrorClass.BAD_OUTPUT)
    meddled = await staging.meddled(run, project, ground, head, s)
    if meddled is not None:
        return meddled
    changed = head != run.base_sha
    if run.mode in (REVIEW, JUDGE) and changed:
        return trouble(CHANGED_BY_REVIEWER, ErrorClass.BAD_OUTPUT)
    if isinstance(reading, Nothing):
        verdict = await _unsaid(run, project, said, offered, changed, s)
    else:
        verdict = _reported(reading, offered, changed)
        verdict |= await staging.held(run, task, project, reading, head, directory, s)
        verdict |= await judging.held(run, reading, s)
        if "again" in verdict:
            return _repair(verdict["again"]["text"])
    verdict |= Verdict(start_sha=start, head_sha=head)
    if _hands_over(verdict.get("outcome"), changed, registry.outcomes):
        return await checking.check(run, project, verdict, start, directory, s)
    return verdict


async def _paused(run: Run, task: Task, project: Project, prompt_id: str, s: Services) -> Verdict:
    """Whatever the agent says at the end: it was told that it goes on with the answer."""

    def read(tx: Tx) -> tuple[Prompt, Ground]:
        return tx.prompts.get(PromptId(prompt_id)), branches.of_run(tx, s, run, task, project)

    prompt, ground = await s.store.read(read)
    try:
        start, head = await _settle_work(run, task, project, ground, s)
    except ImportRefused as error:
        return trouble(error.message, ErrorClass.BAD_OUTPUT)
    return {**_waiting(prompt), "start_sha": start, "head_sha": head}


def _waiting(prompt: Prompt) -> Verdict:
    return Verdict(
        outcome=midway.OUTCOME, payload=dict(prompt.payload), inferred=False, paused=prompt.id
    )


def _failed(said: Said, ended: Ending) -> Verdict | None:
    """What the agent ended with, where it did not end well."""
    if said.error_class is not None:
        why = said.error or "The agent reported an error."
        return trouble(why, said.error_class, said.resets_at)
    if ended["exit_code"] != 0:
        why = f"The agent exited with code {ended['exit_code']}."
        return trouble(f"{why} {said.error or ''}".strip(), ErrorClass.CRASH)
    return trouble(CUT, ErrorClass.BAD_OUTPUT) if ended["truncated"] else None


def _hands_over(name: str | None, changed: bool, known: Mapping[str, Outcome]) -> bool:
    """Whether an outcome hands over work, that is, is neither a question nor without any."""
    if name is None or name == "no_changes":
        return False
    asks = name in known and known[name].prompt in BROUGHT
    return name == "pr_ready" or (changed and not asks)


def _read(
    said: Said, report: Any, offered: list[str], known: Mapping[str, Outcome]
) -> outcomes.Reading:
    """The first source that has an outcome counts: the report tool, the agent's structured output,
    the markers in its final message."""
    for given in (report, said.structured):
        if given is not None:
            words = outcomes.without_blocks(said.final_text)
            return outcomes.read_value(given, offered, known, text=words)
    return outcomes.read_markers(said.final_text, offered, known)


async def _settle_work(
    run: Run, task: Task, project: Project, ground: Ground, s: Services
) -> tuple[str, str]:
    """Takes over what the agent committed, commits what it left, and reads where the branch begins
    and ends."""
    assert run.workspace is not None
    assert run.branch is not None
    if run.mode not in READ_ONLY_MODES and s.configs.of(project, run).auto_commit:
        message = one_line(f"{task.title} ({run.mode}, work left by the agent)")
        await s.workspaces.commit_all(Path(run.workspace), run.branch, message)
    else:
        await s.workspaces.gather(Path(run.workspace), run.branch)
    return await s.workspaces.ends(Path(project.path), ground.branch, ground.base)


def _reported(reading: Reported, offered: list[str], changed: bool) -> Verdict:
    if reading.name == "pr_ready" and not changed and "no_changes" in offered:
        reason = "The agent said that its work is ready, but it changed nothing."
        return Verdict(outcome="no_changes", payload={"reason": reason}, inferred=True)
    payload: dict[str, Any] | None = dict(reading.payload) if reading.payload else None
    text = handoff_text.without(reading.text)
    return Verdict(outcome=reading.name, payload=payload, inferred=False, document=text)


async def _unsaid(
    run: Run, project: Project, said: Said, offered: list[str], changed: bool, s: Services
) -> Verdict:
    """What a run came to whose agent did not say. One that was cut off from a question of its own
    waits for the answer."""
    asked = await s.store.read(lambda tx: midway.unanswered(tx, run))
    if asked is not None:
        return _waiting(asked)
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
    return _repair(f"No outcome was reported. Possible now: {takes}.")
