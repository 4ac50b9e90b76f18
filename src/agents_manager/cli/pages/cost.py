"""What runs cost and how they went, as people read it."""

from collections.abc import Iterator

from agents_manager.cli.render import (
    UNKNOWN,
    Block,
    Line,
    Table,
    Tone,
    counted,
    money,
    short,
    title,
    took,
)
from agents_manager.domain.budget import Budget
from agents_manager.domain.cost import By, CostReport, Merges, Share, Spent, StatsReport, Work

NOTHING = Line("There are no runs to count.")
NO_KEY = {By.AGENT: "(no agent yet)", By.MODEL: "(the agent's default)"}


def cost(report: CostReport) -> Iterator[Block]:
    yield from _shares(report)
    if report.budgets:
        yield Line()
        yield Table(
            ("BUDGET", "OF", "LIMIT", "SPENT", "UNKNOWN", "LEFT"),
            [_budget(budget) for budget in report.budgets],
            cut=("OF",),
        )


def _budget(budget: Budget) -> tuple[str, ...]:
    granted = f" ({money(budget.granted_usd)} granted)" if budget.granted_usd else ""
    least, most = ("at least ", "at most ") if budget.unknown else ("", "")
    return (
        budget.scope.value,
        budget.name,
        f"{money(budget.limit_usd)}{granted}",
        f"{least}{money(budget.spent_usd)}",
        str(budget.unknown),
        f"{most}{money(budget.left_usd)}" if budget.left_usd else "nothing",
    )


def _shares(report: CostReport) -> Iterator[Block]:
    if not report.total.runs:
        yield NOTHING
        return
    yield title(_sum(report.total))
    yield Line()
    head = (report.by.upper(), "COST", "RUNS", "UNKNOWN")
    task = ("ID",) if report.by is By.TASK else ()
    rows = [(*_key(report.by, s), *_numbers(s.spent)) for s in report.shares]
    yield Table((*task, *head), rows, cut=(head[0],))
    if report.left_out:
        yield Line(f"… {report.left_out} more; --limit shows more of them.", Tone.QUIET)


def stats(report: StatsReport) -> Iterator[Block]:
    work, merges = report.work, report.merges
    if not work.spent.runs:
        yield NOTHING
        return
    ended = f"{work.completed} completed, {work.failed} failed, {work.cancelled} stopped"
    facts = {
        "Runs": f"{work.spent.runs}: {ended}, {work.live} not over",
        "Success": _rate(work),
        "Took": _mean(work),
        "Cost": _sum(work.spent),
        "Merged": counted(merges.tasks, "task"),
        "Reviews": _reviews(merges) + " per merged task" if merges.tasks else "",
        "Price": _each(merges) if merges.tasks else "",
    }
    for name, fact in facts.items():
        if fact:
            yield Line(f"{name:<9}{fact}")
    yield Line()
    yield Table(
        ("AGENT", "RUNS", "SUCCESS", "TOOK", "COST", "UNKNOWN", "MERGED", "REVIEWS", "PER TASK"),
        [
            (
                agent.agent or NO_KEY[By.AGENT],
                str(agent.work.spent.runs),
                _rate(agent.work),
                _mean(agent.work),
                money(agent.work.spent.cost_usd),
                str(agent.work.spent.unknown),
                str(agent.merges.tasks),
                _reviews(agent.merges),
                money(agent.merges.cost_per_task_usd) if agent.merges.tasks else "",
            )
            for agent in report.agents
        ],
    )


def _key(by: By, share: Share) -> tuple[str, ...]:
    name = share.name or NO_KEY.get(by, UNKNOWN)
    return (short(share.key), name) if by is By.TASK and share.key else (name,)


def _numbers(spent: Spent) -> tuple[str, ...]:
    return money(spent.cost_usd), str(spent.runs), str(spent.unknown)


def _sum(spent: Spent) -> str:
    known = spent.runs - spent.unknown
    if not spent.unknown:
        return f"{money(spent.cost_usd)} in {counted(known, 'run')}"
    if not known:
        return f"unknown, of {counted(spent.runs, 'run')}"
    return f"{money(spent.cost_usd)} in {counted(known, 'run')}; {spent.unknown} more cost unknown"


def _rate(work: Work) -> str:
    return "" if work.success_rate is None else f"{work.success_rate:.0%}"


def _mean(work: Work) -> str:
    return "" if work.mean_duration_s is None else took(work.mean_duration_s)


def _reviews(merges: Merges) -> str:
    return "" if merges.review_rounds is None else f"{merges.review_rounds:g}"


def _each(merges: Merges) -> str:
    left = f"; {counted(merges.unknown, 'task')} more cost unknown" if merges.unknown else ""
    return f"{money(merges.cost_per_task_usd)} per merged task{left}"
