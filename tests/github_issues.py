"""The issues of the GitHub for tests, and what words of pull requests do to them: a reference is
noted on the issue, and behind one of GitHub's keywords it closes the issue with the merge."""

import html
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

KEYWORD = r"\b(?P<closes>(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+)?"
PLACES = (
    r"(?:(?<![\w/])(?:[\w-]+/[\w.-]+)?#|\bGH-|https?://[\w.:-]+/[\w-]+/[\w.-]+/(?:issues|pull)/)"
)
REFERENCE = re.compile(rf"(?:{KEYWORD})?{PLACES}(?P<number>\d+)", re.IGNORECASE)


@dataclass
class Issues:
    repository: str
    rows: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    mentioned: set[int] = field(default_factory=set[int])
    """What words of pull requests refer to."""

    def open(
        self,
        number: int,
        title: str = "The door sticks",
        body: str | None = "It does.",
        labels: tuple[str, ...] = (),
        author: str = "eve",
        state: str = "open",
    ) -> dict[str, Any]:
        self.rows[number] = {
            **{"id": 4_000 + number, "number": number, "title": title, "body": body},
            **{"state": state, "state_reason": None, "user": {"login": author, "id": 7}},
            "labels": [{"id": len(name), "name": name, "color": "aabbcc"} for name in labels],
            **{"created_at": stamp(), "updated_at": stamp(), "author_association": "NONE"},
            **{"locked": False, "comments": 0},
        }
        return self.rows[number]

    def row(self, number: int) -> dict[str, Any]:
        page = f"https://github.test/{self.repository}/issues/{number}"
        return {**self.rows[number], "html_url": page}

    def listed(self, query: Mapping[str, str], pulls: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """With pull requests among them, as GitHub does."""
        state, wanted = query.get("state", "open"), set(query.get("labels", "").split(",")) - {""}
        found = [*map(self.row, self.rows), *map(self.pull_row, pulls)]
        found = [row for row in found if state in ("all", row["state"])]
        found = [row for row in found if wanted <= {one["name"] for one in row["labels"]}]
        oldest = query.get("direction") == "asc"
        return sorted(found, key=lambda row: row["number"], reverse=not oldest)

    def edit(self, number: int, sent: Mapping[str, Any]) -> None:
        self.rows[number].update(sent, updated_at=stamp())

    def read(self, *texts: str, merged: bool = False) -> None:
        """What the words of a pull request do."""
        for found in REFERENCE.finditer(html.unescape("\n".join(texts))):
            number = int(found["number"])
            self.mentioned.add(number)
            if merged and found["closes"] and number in self.rows:
                self.edit(number, {"state": "closed", "state_reason": "completed"})

    @staticmethod
    def pull_row(pull: dict[str, Any]) -> dict[str, Any]:
        kept = ("number", "title", "body", "state", "html_url", "user")
        more = {"url": pull["html_url"], "merged_at": pull["merged_at"]}
        return {
            **{key: pull[key] for key in kept},
            **{"id": 8_000 + pull["number"], "labels": [], "pull_request": more},
        }


def stamp() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
