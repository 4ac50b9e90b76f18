"""Issues on GitHub: read for tasks, and told how those ended. GitHub lists pull requests among
them."""

import re
from datetime import UTC, datetime
from urllib.parse import urlencode

from agents_manager.domain.issue import REPOSITORY, Found, Issue, Note, Wanted
from agents_manager.domain.names import visible
from agents_manager.errors import ForgeError, HookFailed
from agents_manager.scm import pull_text
from agents_manager.scm.github_api import Api
from agents_manager.scm.github_models import IssueComment, IssueRow

MAX_PAGES = 30
GONE = (404, 410)
NAMES = 200
MARK = "<!-- agents-manager note "
"""What our notes begin with, so that none is written twice."""
_PAGE = re.compile(
    rf"https?://(?P<host>[A-Za-z0-9.:-]+)/(?P<repository>{REPOSITORY.pattern})/issues/[0-9]+"
)


async def found(api: Api, wanted: Wanted) -> Found:
    if wanted.numbers:
        return await _numbered(api, wanted.numbers)
    asked = {"state": wanted.state, "sort": "created", "direction": "asc"}
    if wanted.labels:
        asked["labels"] = ",".join(wanted.labels)
    rows, complete = await api.some(f"/issues?{urlencode(asked)}", IssueRow, MAX_PAGES)
    issues = tuple(_issue(row) for row in rows if row.pull_request is None)
    return Found(
        repository=api.repository,
        issues=issues,
        pulls=len(rows) - len(issues),
        complete=complete,
    )


async def _numbered(api: Api, numbers: tuple[int, ...]) -> Found:
    issues: list[Issue] = []
    missing: list[str] = []
    for number in dict.fromkeys(numbers):
        row = await api.find(f"/issues/{number}", IssueRow, GONE)
        if row is None:
            why = "there is no such issue, or the token cannot see it"
            missing.append(f"{api.repository}#{number}: {why}")
        elif row.pull_request is not None:
            missing.append(f"{api.repository}#{number}: it is a pull request, not an issue")
        else:
            issues.append(_issue(row))
    return Found(repository=api.repository, issues=tuple(issues), missing=tuple(missing))


async def note(api: Api, number: int, note: Note, since: datetime) -> bool:
    """The note, and the closing after it, each unless it is done; whether it is closed by this."""
    there = await api.find(f"/issues/{number}", IssueRow, GONE)
    if there is None:
        raise HookFailed(f"{api.repository}#{number} is gone, or hidden from the token.")
    if note.text is not None:
        await _write(api, number, note.key, note.text, since)
    closed = note.close and there.state == "open"
    if closed:
        done = {"state": "closed", "state_reason": "completed"}
        await api.send("PATCH", f"/issues/{number}", done)
    return closed


async def _write(api: Api, number: int, key: str, text: str, since: datetime) -> None:
    at, mark = f"/issues/{number}/comments", f"{MARK}{key} -->"
    asked = urlencode({"since": f"{since.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"})
    said = await api.pages(f"{at}?{asked}", IssueComment)
    if not any(mark in (one.body or "") for one in said):
        await api.send("POST", at, {"body": pull_text.bounded(f"{mark}\n{text}")})


def _issue(row: IssueRow) -> Issue:
    place = _PAGE.fullmatch(row.html_url)
    if place is None:
        raise ForgeError(f'GitHub says that an issue is at "{visible(row.html_url, NAMES)}".')
    return Issue(
        repository=place["repository"],
        number=row.number,
        id=f"{place['host']} {row.id}",
        title=row.title,
        body=row.body or "",
        labels=tuple(row.names),
        author=row.user.login if row.user else "ghost",
        url=row.html_url,
    )
