"""What was said about a task, as the next agent is told it: questions with their answers, and the
rounds of review."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agents_manager.domain import form
from agents_manager.domain.comment import Comment, severity_word, told
from agents_manager.domain.context import indented
from agents_manager.domain.document import paragraph, text_lines
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import Decision, Prompt, SplitDecision
from agents_manager.domain.run import READ_ONLY_MODES, Run

MOST_QUOTED = 12
LONGEST_QUOTED = 500

Threads = Mapping[tuple[str | None, str | None], Comment]
"""Comments of reviews as they stand, by the review and what they are called in it."""


def threads(said: Iterable[Comment]) -> Threads:
    return {(c.review, c.review_comment): c for c in said if c.review}


def exchange(
    prompts: Iterable[Prompt], runs: Iterable[Run], run: Run, threads: Threads
) -> list[str]:
    """Everything that was answered, but the rounds of review of this work."""
    by_id = _by_id(runs)
    told = (_told(p, threads) for p in prompts if not (_sent_back(p) and _concerns(p, by_id, run)))
    return [text for text in told if text]


def rounds(prompts: Sequence[Prompt], runs: Sequence[Run], run: Run, threads: Threads) -> list[str]:
    """The rounds in which work of this kind, in this phase, was sent back."""
    by_id = _by_id(runs)
    asked = [p for p in prompts if _sent_back(p) and _concerns(p, by_id, run)]
    through_people = {p.run_id for p in prompts if p.type is PromptType.REVIEW}
    by_agents = [r for r in runs if _sends_back(r, run) and r.id not in through_people]
    at = [(p.responded_at or p.created_at, _remarks(p, threads)) for p in asked]
    at += [
        (r.ended_at or r.created_at, _review_lines(r.payload or {}, r.id, threads))
        for r in by_agents
    ]
    in_order = [lines for _, lines in sorted(at, key=lambda entry: entry[0])]
    return [
        "\n".join([f"Round {number} (Changes Requested):", *lines])
        for number, lines in enumerate(in_order, 1)
    ]


def latest(prompts: Iterable[Prompt], runs: Iterable[Run], threads: Threads) -> str:
    """The last answer that no run has worked with to an outcome."""
    done = [r.ended_at for r in runs if r.outcome is not None and r.ended_at is not None]
    fresh = [
        (p.responded_at, text)
        for p in prompts
        if p.responded_at is not None
        and all(ended <= p.responded_at for ended in done)
        and (text := _told(p, threads))
    ]
    return max(fresh, key=lambda entry: entry[0])[1] if fresh else ""


def answered(prompt: Prompt) -> str:
    """A question and its answer."""
    return _told(prompt, {})


def _told(prompt: Prompt, threads: Threads) -> str:
    response = prompt.response or {}
    match prompt.type:
        case PromptType.INFO_REQUEST if "questions" in prompt.payload:
            asker = "A task before this one asked" if prompt.resume.holds else "You asked"
            return _questions(prompt.payload, response, asker)
        case PromptType.INFO_REQUEST if form.is_form(prompt.payload):
            return _form(form.Form(**prompt.payload), response)
        case PromptType.INFO_REQUEST:
            return _options(prompt.payload, response)
        case PromptType.SPLIT_PROPOSAL if response["decision"] == SplitDecision.REJECTED:
            return (
                f"You proposed a split. It was rejected: {indented(response['reason'] or 'go on')}"
            )
        case PromptType.REVIEW | PromptType.DOCUMENT_REVIEW:
            what = f"{_reviewed(prompt.payload)} was"
            how = "sent back" if _sent_back(prompt) else "approved"
            remarks = (_remarks if _sent_back(prompt) else _said)(prompt, threads)
            return "\n".join([f"{what} {how}, with words:", *remarks]) if remarks else ""
        case PromptType.CHOICE if response.get("text"):
            return f"When the work had stopped, a person said: {indented(response['text'])}"
        case _:
            return ""


def _reviewed(payload: Mapping[str, Any]) -> str:
    name = f"he {payload.get('title', 'work').lower()}"
    return f"Version {payload['version']} of t{name}" if payload.get("version") else f"T{name}"


def _questions(payload: Mapping[str, Any], response: Mapping[str, Any], asker: str) -> str:
    given = {a["question_id"]: a for a in response["answers"]}
    return "\n\n".join(
        _question(question, given[question["id"]], asker)
        for question in payload["questions"]
        if question["id"] in given
    )


def _question(question: Mapping[str, Any], answer: Mapping[str, Any], asker: str) -> str:
    lines = [f"{asker}: {indented(question['question'])}"]
    if question.get("context"):
        lines.append(f"  {indented(question['context'])}")
    lines += [_option(number, o) for number, o in enumerate(question.get("options") or (), 1)]
    words = ". ".join(str(x) for x in (answer["option"], answer["text"]) if x)
    return "\n".join([*lines, f"Answer: {indented(words)}"])


def _form(asked: form.Form, response: Mapping[str, Any]) -> str:
    lines = [f"You ended with {asked.outcome}. A person was asked: {indented(asked.title)}"]
    lines += _rows(form.rows(asked.reported))
    given = _rows(form.rows(response["value"], asked.schema))
    return "\n".join([*lines, "Answer:" if given else "Answer: every field was left out", *given])


def _rows(rows: Iterable[tuple[str, str]]) -> list[str]:
    return [f"- {indented(name)}: {indented(said)}" for name, said in rows]


def _options(payload: Mapping[str, Any], response: Mapping[str, Any]) -> str:
    lines = [f"You proposed: {indented(payload['summary'])}"]
    lines += [_option(number, o) for number, o in enumerate(payload["options"], 1)]
    chosen = next((o for o in payload["options"] if o["id"] == response["option_id"]), None)
    if chosen:
        lines.append(f"Chosen: {indented(chosen['label'])}")
    if response["text"]:
        lines.append(f"In the person's own words: {indented(response['text'])}")
    if response["instructions"]:
        lines.append(f"Further instructions: {indented(response['instructions'])}")
    return "\n".join(lines)


def _option(number: int, option: Mapping[str, Any]) -> str:
    recommended = " (recommended)" if option.get("recommended") else ""
    about = f" - {indented(option['description'])}" if option.get("description") else ""
    return f"  Option {number}: {indented(option['label'])}{recommended}{about}"


def _sent_back(prompt: Prompt) -> bool:
    kinds = (PromptType.REVIEW, PromptType.DOCUMENT_REVIEW)
    decision = (prompt.response or {}).get("decision")
    return prompt.type in kinds and decision == Decision.CHANGES_REQUESTED


def _by_id(runs: Iterable[Run]) -> dict[str, Run]:
    return {str(r.id): r for r in runs}


def _concerns(prompt: Prompt, runs: Mapping[str, Run], run: Run) -> bool:
    asker = runs.get(prompt.run_id or "")
    if asker is not None and asker.phase_id != run.phase_id:
        return False
    if prompt.type is PromptType.DOCUMENT_REVIEW:
        return asker is None or asker.mode == run.mode
    return _at_code(run)


def _sends_back(reviewer: Run, run: Run) -> bool:
    """A review by an agent that went back without a person between."""
    back = reviewer.outcome == Decision.CHANGES_REQUESTED
    return back and _at_code(run) and reviewer.phase_id == run.phase_id


def _at_code(run: Run) -> bool:
    return run.mode not in READ_ONLY_MODES or run.mode == "review"


def _remarks(prompt: Prompt, threads: Threads) -> list[str]:
    """The agent's review, where there was one, and what the person added."""
    review: Mapping[str, Any] = prompt.payload.get("review") or {}
    return [*_review_lines(review, prompt.run_id, threads), *_said(prompt, threads)]


def _said(prompt: Prompt, threads: Threads) -> list[str]:
    document = str(prompt.payload.get("document") or "")
    return _review_lines(prompt.response or {}, prompt.id, threads, document)


def _review_lines(
    review: Mapping[str, Any], key: str | None, threads: Threads, document: str = ""
) -> list[str]:
    lines = [indented(review["summary"])] if review.get("summary") else []
    comments = review.get("comments") or ()
    if isinstance(comments, str):
        return [*lines, indented(comments)]
    known = [(threads.get((key, c.get("id"))), c) for c in comments]
    return [*lines, *(told(said) if said else _comment(c, document) for said, c in known)]


def _comment(comment: Mapping[str, Any], document: str) -> str:
    """Of a document, or from before comments could be answered."""
    file, line = comment["file"], comment["line"]
    place = f"{file}:{line}" if file and line else file or (f"line {line}" if line else "")
    where = f" {indented(place)} -" if place else ""
    severity = severity_word(comment["severity"])
    said = f"- [{severity}]{where} {indented(comment['comment'])}"
    return said if file or not line else "\n  ".join([said, *_quoted(document, line)])


def _quoted(document: str, line: int) -> list[str]:
    """The paragraph that a comment is about."""
    quoted = text_lines(paragraph(document, line))
    more = ["…"] if len(quoted) > MOST_QUOTED else []
    return [f"> {one[:LONGEST_QUOTED]}" for one in [*quoted[:MOST_QUOTED], *more] if one]
