"""Questions as people read them, and the commands that answer them."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from agents_manager.cli.pages import form as forms
from agents_manager.cli.render import (
    Block,
    Line,
    Table,
    Tone,
    ago,
    counted,
    lines,
    money,
    one_line,
    short,
    title,
)
from agents_manager.domain import form
from agents_manager.domain.budget import Budget, spent
from agents_manager.domain.document import text_lines
from agents_manager.domain.form import Form
from agents_manager.domain.payload import (
    InputType,
    NeedsInfo,
    OptionsProposed,
    ProposedOption,
    ProposeSplit,
    Question,
    recommended_first,
)
from agents_manager.domain.pipeline import PromptType
from agents_manager.domain.prompt import (
    BudgetPayload,
    ChoicePayload,
    Decision,
    PermissionPayload,
    Prompt,
    PromptStatus,
    agent_objects,
    recommended_answer,
    who_may_answer,
)
from agents_manager.domain.task import Task
from agents_manager.flow.views import InboxItem

REVIEWS = (PromptType.REVIEW, PromptType.DOCUMENT_REVIEW)
RECOMMENDED = " (recommended)"
SHA = 8


def inbox(items: Sequence[InboxItem]) -> Iterator[Block]:
    if not items:
        yield Line("Nobody asks anything.")
        return
    yield Table(
        ("ID", "TASK", "PROJECT", "ASKS", "SINCE", "BEHIND IT"),
        [
            (
                short(i.prompt.id),
                f"{short(i.task.id)} {i.task.title}",
                i.project.name,
                i.summary,
                ago(i.prompt.created_at),
                counted(len(i.waiting_behind), "task") if i.waiting_behind else "",
            )
            for i in items
        ],
        cut=("TASK", "ASKS"),
    )
    yield Line()
    yield Line(f"Read one: am prompt show {short(items[0].prompt.id)}", Tone.QUIET)


def page(item: InboxItem, change: Sequence[Block], earlier: Sequence[Prompt]) -> Iterator[Block]:
    """The whole question; `change` shows the work it is about, `earlier` are the rounds before."""
    prompt, task = item.prompt, item.task
    yield title(one_line(item.summary))
    when = f"asked {ago(prompt.created_at)}"
    about = f'{prompt.id} · "{one_line(task.title)}" ({short(task.id)}) in {item.project.name}'
    yield Line(f"{about} · {when}", Tone.QUIET)
    if prompt.midway and prompt.run_id and prompt.status is PromptStatus.PENDING:
        yield Line(f"Run {short(prompt.run_id)} goes on with the answer.", Tone.QUIET)
    if prompt.note:
        yield Line()
        yield Line(f"Asked again (revision {prompt.revision}): {prompt.note}", Tone.URGENT)
    yield Line()
    yield from asked(prompt)
    yield from change
    for number, round_ in enumerate(earlier, 1):
        yield from _sent_back(number, round_)
    if item.waiting_behind:
        yield Line("Waiting behind it: " + ", ".join(f'"{t}"' for t in item.waiting_behind))
        yield Line()
    if prompt.status is PromptStatus.PENDING:
        yield title("Answer")
        for way in ways(prompt, task):
            yield Line(f"  {way}")
        yield from _terms(prompt)
    else:
        yield from _closed(prompt)


def sent_back(prompts: Sequence[Prompt], about: Prompt) -> list[Prompt]:
    """The earlier reviews of the same kind that asked for changes."""
    return [
        p
        for p in prompts
        if p.type is about.type
        and p.status is PromptStatus.RESPONDED
        and p.created_at < about.created_at
        and (p.response or {}).get("decision") == Decision.CHANGES_REQUESTED
    ]


def ways(prompt: Prompt, task: Task) -> list[str]:
    """The exact commands that answer a prompt, the easiest first."""
    answer = f"am prompt answer {short(prompt.id)}"
    if prompt.type in REVIEWS:
        review = f"am review {short(task.id)}"
        if agent_objects(prompt.payload):
            return [
                f"{review} --send-back   # Send back for rework",
                f'{review} --request-changes "What else must change" [--comments FILE]',
                f"{review} --approve   # Approve anyway",
            ]
        return [
            f"{review} --approve",
            f'{review} --request-changes "What must change" [--comments FILE]',
        ]
    if prompt.type is PromptType.SPLIT_PROPOSAL:
        return [
            f"{answer} --option approve",
            f'{answer} --option reject --text "Why not"',
            f"{answer} --answers FILE   # with other phases",
        ]
    if prompt.type is PromptType.CHOICE:
        choices = ChoicePayload.model_validate(prompt.payload).choices
        return [f"{answer} --option {n}   # {c.label}" for n, c in enumerate(choices, 1)]
    if prompt.type is PromptType.PERMISSION:
        return [f"{answer} --option {name}" for name in ("allow", "run", "project", "deny")]
    if prompt.type is PromptType.BUDGET:
        return [f"{answer} --option grant --text 5   # $5.00 more", f"{answer} --option stop"]
    accept = recommended_answer(prompt.type, prompt.payload) is not None
    first = [f"{answer} --accept"] if accept else []
    if form.is_form(prompt.payload):
        example = forms.example(Form(**prompt.payload))
        return [*first, answer, f"{answer} --answers FILE   # {one_line(example)}"]
    questions = prompt.payload.get("questions", ())
    if len(questions) > 1:
        return [*first, answer, f"{answer} --answers FILE"]
    if questions and not _offers(questions[0]):
        return [*first, f'{answer} --text "Your own words"']
    return [*first, f"{answer} --option N", f'{answer} --text "Your own words"']


def _offers(question: Mapping[str, Any]) -> bool:
    """Whether there is anything to choose from."""
    of = Question.model_validate(question)
    return bool(of.options) or of.input_type is not InputType.TEXT


def diff_statistics(diff: str) -> Table:
    """Each file of a unified diff with its added and removed lines."""
    rows: list[list[int | str]] = []
    in_hunk = False
    for line in diff.splitlines():
        if line.startswith("diff --git "):
            rows.append([line.rpartition(" b/")[2], 0, 0])
            in_hunk = False
        elif line.startswith("@@"):
            in_hunk = True
        elif in_hunk and rows and line[:1] in ("+", "-"):
            column = 1 if line[0] == "+" else 2
            rows[-1][column] = int(rows[-1][column]) + 1
    return Table(("FILE", "+", "-"), [[str(cell) for cell in row] for row in rows], indent=2)


def diff_lines(diff: str) -> Iterator[Block]:
    for line in diff.splitlines():
        yield Line(line, _diff_tone(line), verbatim=True)


def _diff_tone(line: str) -> Tone:
    if line.startswith(("diff ", "+++", "---", "index ")):
        return Tone.TITLE
    return {"+": Tone.ADDED, "-": Tone.REMOVED, "@": Tone.QUIET}.get(line[:1], Tone.PLAIN)


def asked(prompt: Prompt) -> Iterator[Block]:
    payload = prompt.payload
    match prompt.type:
        case PromptType.INFO_REQUEST:
            yield from _info(payload)
        case PromptType.REVIEW:
            yield from _work(prompt, payload)
        case PromptType.DOCUMENT_REVIEW:
            yield from _numbered(str(payload["document"]))
            yield Line()
        case PromptType.SPLIT_PROPOSAL:
            yield from phase_lines(ProposeSplit.model_validate(payload))
            yield Line()
        case PromptType.CHOICE:
            yield from _choice(ChoicePayload.model_validate(payload))
            yield Line()
        case PromptType.PERMISSION:
            yield from permission_lines(PermissionPayload.model_validate(payload))
            yield Line()
        case PromptType.BUDGET:
            yield from _budget(BudgetPayload.model_validate(payload).budget)
            yield Line()


def _numbered(text: str) -> Iterator[Block]:
    """With the numbers that comments name."""
    for number, line in enumerate(text_lines(text), 1):
        yield Line(f"{number:5}  {line}".rstrip())


def _info(payload: Mapping[str, Any]) -> Iterator[Block]:
    if form.is_form(payload):
        yield from forms.asked(Form(**payload))
        return
    if "questions" in payload:
        for number, question in enumerate(NeedsInfo.model_validate(payload).questions, 1):
            yield from question_lines(number, question)
            yield Line()
        return
    options = recommended_first(OptionsProposed.model_validate(payload).options)
    for number, option in enumerate(options, 1):
        yield from option_lines(number, option)
        yield Line()


def _budget(budget: Budget) -> Iterator[Line]:
    facts = {
        "Budget": f"{budget.scope}: {one_line(budget.name)}",
        "Limit": money(budget.limit_usd),
        "Granted": money(budget.granted_usd) if budget.granted_usd else "",
        "Spent": spent(budget.spent_usd, budget.unknown).removesuffix(" spent"),
    }
    for name, fact in facts.items():
        if fact:
            yield Line(f"  {name:<9}{fact}")


def permission_lines(wanted: PermissionPayload) -> Iterator[Line]:
    yield Line(f"  {one_line(wanted.tool)}: {one_line(wanted.action)}")
    if wanted.reason:
        yield from lines(wanted.reason, indent=4, tone=Tone.QUIET, prose=True)


def question_lines(number: int, question: Question) -> Iterator[Line]:
    yield title(f"{number}. {one_line(question.question)}")
    if question.context:
        yield from lines(question.context, indent=3, tone=Tone.QUIET, prose=True)
    for n, option in enumerate(recommended_first(question.options), 1):
        mark = RECOMMENDED if option.recommended else ""
        yield Line(f"   {n}) {one_line(option.label)}{mark}")
        if option.description:
            yield from lines(option.description, indent=6, tone=Tone.QUIET, prose=True)
    if question.suggested_answer is not None:
        yield Line(f"   Suggested: {one_line(question.suggested_answer)}")
    yield Line(f"   Id: {one_line(question.id)}", Tone.QUIET)


def option_lines(number: int, option: ProposedOption) -> Iterator[Line]:
    mark = RECOMMENDED if option.recommended else ""
    effort = f" · effort: {option.effort.value}" if option.effort else ""
    yield title(f"{number}) {one_line(option.label)}{mark}{effort}")
    yield from lines(option.description, indent=3, prose=True)
    yield from (Line(f"   + {one_line(pro)}", Tone.ADDED) for pro in option.pros)
    yield from (Line(f"   - {one_line(con)}", Tone.REMOVED) for con in option.cons)
    if option.tradeoffs:
        yield from lines(option.tradeoffs, indent=3, tone=Tone.QUIET, prose=True)


def phase_lines(split: ProposeSplit) -> Iterator[Line]:
    for number, phase in enumerate(split.proposed_phases, 1):
        yield title(f"{number}. {one_line(phase.name)} · {phase.complexity.value} complexity")
        yield from lines(phase.description, indent=3, prose=True)


def choice_lines(choice: ChoicePayload) -> Iterator[Line]:
    for number, one in enumerate(choice.choices, 1):
        yield Line(f"  {number}) {one_line(one.label)}")
        if one.detail:
            yield from lines(one.detail, indent=5, prose=True)


def _choice(choice: ChoicePayload) -> Iterator[Line]:
    if choice.evidence:
        yield Line(f"  Evidence: {one_line(choice.evidence)}")
    yield from choice_lines(choice)


def _work(prompt: Prompt, payload: Mapping[str, Any]) -> Iterator[Block]:
    yield Line(
        f"  {payload['branch']} into {payload['base']}, at {str(payload['head_sha'])[:SHA]}: "
        f"{counted(payload['files'], 'file')}, +{payload['additions']} -{payload['deletions']}"
    )
    yield Line(f"  See the change: am prompt show {short(prompt.id)} --diff", Tone.QUIET)
    for warning in payload.get("warnings", ()):
        yield Line(f"  Check failed: {one_line(warning)}", Tone.URGENT)
    if policy := payload.get("policy"):
        files = one_line(", ".join(policy))
        yield Line(f"  It tells agents and checks what to do: {files}", Tone.URGENT)
    review: Mapping[str, Any] = payload.get("review") or {}
    if review:
        yield Line()
        decided = str(review.get("decision", "")).replace("_", " ")
        said = f": {one_line(str(review['summary']))}" if review.get("summary") else ""
        yield title(f"An agent reviewed it, {decided}{said}")
        yield from comment_lines(review.get("comments") or ())
    yield Line()


def comment_lines(comments: Sequence[Mapping[str, Any]]) -> Iterator[Line]:
    for comment in comments:
        place, line = str(comment.get("file") or ""), comment.get("line")
        if line:
            place = f"{place}:{line}" if place else f"line {line}"
        where = f"{one_line(place)}: " if place else ""
        yield Line(f"  {where}[{comment['severity']}] {one_line(str(comment['comment']))}")


def _sent_back(number: int, prompt: Prompt) -> Iterator[Line]:
    response = prompt.response or {}
    said = one_line(response.get("summary") or "")
    yield title(f"Round {number}, sent back by {prompt.responded_by}: {said}")
    yield from comment_lines(response.get("comments") or ())
    yield Line()


def _terms(prompt: Prompt) -> Iterator[Line]:
    """Who may answer, and what happens if nobody does."""
    said: list[str] = []
    if prompt.roles:
        said.append(f"For {who_may_answer(prompt)}.")
    if prompt.default_at:
        said.append(f"The recommended answer is taken at {_moment(prompt.default_at)}.")
    if prompt.expires_at:
        said.append(f"It expires at {_moment(prompt.expires_at)}.")
    if prompt.reminders:
        said.append(f"{counted(prompt.reminders, 'reminder')} so far.")
    if said:
        yield Line("  " + " ".join(said), Tone.QUIET)


def _moment(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S} UTC"


def _closed(prompt: Prompt) -> Iterator[Line]:
    if prompt.responded_at is None:
        why = {
            PromptStatus.EXPIRED: "nobody answered in time",
            PromptStatus.SUPERSEDED: "a newer question took its place",
        }.get(prompt.status, "the task went on another way")
        yield Line(f"This question was {prompt.status}; {why}.")
        return
    by, via = prompt.responded_by, prompt.responded_via
    undone = ", and it was taken back" if prompt.status is PromptStatus.SUPERSEDED else ""
    yield title(f"{by} answered {ago(prompt.responded_at)} via {via}{undone}")
    response = prompt.response or {}
    if "value" in response:
        yield from forms.values(form.rows(response["value"], prompt.payload["schema"]))
    elif response.get("usd") is not None:
        yield Line(f"  granted {money(response['usd'])} more")
    elif "decision" in response:
        said = response.get("summary") or response.get("reason") or ""
        yield Line(f"  {response['decision']}: {one_line(said)}")
        yield from comment_lines(response.get("comments") or ())
    for answer in response.get("answers", ()):
        said = ". ".join(str(x) for x in (answer["option"], answer["text"]) if x)
        yield Line(f"  {one_line(answer['question_id'])}: {one_line(said)}")
    if "allow" in response:
        yield Line(f"  {'allowed' if response['allow'] else 'not allowed'} ({response['scope']})")
    for key in ("option_id", "choice_id", "text", "instructions"):
        if response.get(key):
            yield Line(f"  {key.replace('_', ' ')}: {one_line(str(response[key]))}")
