"""Branches, pull requests and merges."""

from typing import Literal

from agents_manager.domain.event.happening import Happening, Level, counted_as


class BranchCreated(Happening):
    category = "git"
    type: Literal["branch.created"] = "branch.created"
    branch: str
    base: str

    def says(self) -> str:
        return f"Branch {self.branch} was created from {self.base}."


class PolicyChanged(Happening):
    category = "git"
    level = Level.WARNING
    type: Literal["policy.changed"] = "policy.changed"
    files: tuple[str, ...]

    def says(self) -> str:
        return (
            "The change touches files by which agents and checks are told what to do:"
            f" {', '.join(self.files)}. It is not merged unless a person approves it."
        )


class SecretHeld(Happening):
    category = "git"
    level = Level.WARNING
    type: Literal["secret.held"] = "secret.held"
    branch: str
    head_sha: str
    marks: tuple[str, ...]
    """Of the commits and texts in which something was found; a person lets exactly these
    through."""
    places: tuple[str, ...]
    """Where something was found and what kind it is; never what it is."""

    def says(self) -> str:
        return (
            f"{self.branch} at {self.head_sha[:8]} was held back: it seems to hold a secret"
            f" ({'; '.join(self.places)})."
        )


class SecretLetThrough(Happening):
    category = "git"
    level = Level.WARNING
    type: Literal["secret.let_through"] = "secret.let_through"
    by: str
    marks: tuple[str, ...]
    places: tuple[str, ...]

    def says(self) -> str:
        return f"{self.by} let through what looked like a secret ({'; '.join(self.places)})."


class BranchPushed(Happening):
    category = "git"
    type: Literal["git.pushed"] = "git.pushed"
    branch: str
    remote: str
    sha: str

    def says(self) -> str:
        return f"{self.branch} is at {self.sha[:8]} in {self.remote}."


class PushRefused(Happening):
    category = "git"
    level = Level.WARNING
    type: Literal["git.push_refused"] = "git.push_refused"
    branch: str
    remote: str
    reason: str

    def says(self) -> str:
        return f"{self.branch} was not pushed to {self.remote}; work goes on here. {self.reason}"


class PullCreated(Happening):
    category = "git"
    type: Literal["pull_request.created"] = "pull_request.created"
    number: int
    head: str
    base: str
    head_sha: str

    def says(self) -> str:
        return f"Pull request #{self.number} takes {self.head} to {self.base}."


class PullUpdated(Happening):
    category = "git"
    type: Literal["pull_request.updated"] = "pull_request.updated"
    number: int
    head_sha: str

    def says(self) -> str:
        return f"Pull request #{self.number} now stands at {self.head_sha[:8]}."


class PullMerged(Happening):
    category = "git"
    type: Literal["pull_request.merged"] = "pull_request.merged"
    number: int
    merge_sha: str
    by: str | None = None
    """Who merged it on its forge; None: it was merged from here."""

    def says(self) -> str:
        there = f" by {self.by} on its forge" if self.by else ""
        return f"Pull request #{self.number} was merged as {self.merge_sha[:8]}{there}."


class PullClosed(Happening):
    category = "git"
    level = Level.WARNING
    type: Literal["pull_request.closed"] = "pull_request.closed"
    number: int

    def says(self) -> str:
        return f"Pull request #{self.number} was closed on its forge without a merge."


class PullMoved(Happening):
    category = "git"
    level = Level.WARNING
    type: Literal["pull_request.moved"] = "pull_request.moved"
    number: int
    before: str
    after: str

    def says(self) -> str:
        went = f"from {self.before[:8]} to {self.after[:8]}"
        return (
            f"Pull request #{self.number} was moved {went} by a push; what was approved before does"
            " not count."
        )


class StrangersReviewed(Happening):
    category = "review"
    type: Literal["review.strangers"] = "review.strangers"
    pull: int
    people: int

    def says(self) -> str:
        who = counted_as(self.people, "person")
        return f"Pull request #{self.pull} was reviewed by {who} without access; nobody heeds that."


class ReviewNotTaken(Happening):
    category = "review"
    level = Level.WARNING
    type: Literal["review.not_taken"] = "review.not_taken"
    pull: int
    by: str
    decision: str
    reason: str

    def says(self) -> str:
        what = "approval" if self.decision == "approved" else "request for changes"
        return f"The {what} by {self.by} on pull request #{self.pull} moved nothing: {self.reason}"


class ForgeRefused(Happening):
    category = "error"
    level = Level.ERROR
    type: Literal["forge.refused"] = "forge.refused"
    pull: int
    reason: str

    def says(self) -> str:
        return f"What is done to pull request #{self.pull} is not noticed now. {self.reason}"


class IssueNoted(Happening):
    category = "git"
    type: Literal["issue.noted"] = "issue.noted"
    issue: str
    closed: bool

    def says(self) -> str:
        done = "was closed" if self.closed else "was told how the task ended"
        return f"Issue {self.issue} {done}."


class MergeConflicted(Happening):
    category = "git"
    level = Level.WARNING
    type: Literal["pull_request.conflict"] = "pull_request.conflict"
    number: int
    files: tuple[str, ...]

    def says(self) -> str:
        where = ", ".join(self.files) or "its history"
        return f"Pull request #{self.number} conflicts in {where}."


class DocumentCommitted(Happening):
    category = "git"
    type: Literal["document.committed"] = "document.committed"
    document: str
    version: int
    path: str
    branch: str
    commit: str

    def says(self) -> str:
        what = f"Version {self.version} of the {self.document}"
        return f"{what} was committed to {self.branch} as {self.path} ({self.commit[:8]})."
