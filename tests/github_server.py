"""A GitHub for tests: a real HTTP server on loopback before a real bare repository. It knows
nothing of the product. What it is sent is held to what GitHub asks for (method, address, headers,
fields and their types), and whatever does not fit is kept in `faults`; it answers as GitHub does,
with pages, ETags, limits and refusals."""

import hashlib
import json
import re
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qs, unquote, urlsplit

from tests.github.description import published
from tests.github_issues import Issues, stamp

TOKEN = "ghp_fakeTokenForTests0123456789"
BOT = "am-bot"
"""Whose token it is: who opens pull requests, and cannot approve them."""

Fields = Mapping[str, tuple[type | tuple[type, ...], bool]]
"""By name: its type, and whether it must be there."""

TEXT: tuple[type, bool] = (str, True)
MAYBE: tuple[type, bool] = (str, False)
BODIES: Mapping[tuple[str, str], Fields] = {
    ("POST", "/pulls"): {
        **{"title": TEXT, "head": TEXT, "base": TEXT, "body": MAYBE},
        **{"draft": (bool, False), "maintainer_can_modify": (bool, False)},
    },
    ("PATCH", "/pulls/N"): {"title": MAYBE, "body": MAYBE, "state": MAYBE, "base": MAYBE},
    ("PUT", "/pulls/N/merge"): {
        **{"sha": MAYBE, "merge_method": MAYBE, "commit_title": MAYBE, "commit_message": MAYBE}
    },
    ("POST", "/pulls/N/reviews"): {
        **{"commit_id": MAYBE, "body": MAYBE, "event": MAYBE, "comments": (list, False)}
    },
    ("POST", "/issues/N/comments"): {"body": TEXT},
    ("PATCH", "/issues/N"): {"state": MAYBE, "state_reason": MAYBE},
    ("POST", "/graphql"): {"query": TEXT, "variables": (dict, False)},
}
GETS = (
    *("/pulls", "/pulls/N", "/pulls/N/reviews", "/pulls/N/comments", "/issues/N/comments"),
    *("/issues", "/issues/N"),
    *("/git/ref/heads/B", "/commits/S/status", "/commits/S/check-runs"),
)
QUERIES = frozenset(
    {"head", "base", "state", "per_page", "page", "sort", "direction", "labels", "since"}
)


@dataclass
class Trouble:
    """What the server answers instead, as often as it is to."""

    status: int
    message: str | bytes
    """Bytes are sent as they are."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    times: int = 1_000_000

    @property
    def value(self) -> Any:
        return {"message": self.message} if isinstance(self.message, str) else self.message


@dataclass
class FakeGitHub:
    """The state of one repository, and what people do there."""

    repo: Path
    """Bare."""
    name: str = "acme/shop"
    former: str | None = None
    """What it was called before."""
    token: str = TOKEN
    page_size: int = 100
    protected: str | None = None
    """Why nothing can be merged."""
    trouble: Trouble | None = None
    checks: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    checks_hidden: bool = False
    asked: list[str] = field(default_factory=list[str])
    faults: list[str] = field(default_factory=list[str])
    pulls: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    said: dict[str, list[dict[str, Any]]] = field(
        default_factory=lambda: {"reviews": [], "comments": [], "issue": []}
    )
    issues: Issues = field(default_factory=lambda: Issues("acme/shop"))
    unchanged: int = 0
    """How often it could say that nothing changed."""
    resolved: set[int] = field(default_factory=set[int])
    before_merge: Callable[[], None] = lambda: None
    _next: int = 1
    _lock: threading.RLock = field(default_factory=threading.RLock)

    # ------------------------------------------------------------------------- what people do

    def comment(
        self,
        number: int,
        author: str,
        text: str,
        file: str | None = None,
        line: int | None = None,
        association: str = "COLLABORATOR",
    ) -> int:
        one = self._said(number, author, text, association)
        if file is None:
            self.said["issue"].append(one)
        else:
            made = {"original_commit_id": self.head(number), "original_line": line, "side": "RIGHT"}
            placed = {"path": file, "subject_type": "line" if line else "file", **made}
            self.said["comments"].append({**one, **placed, "pull_request_review_id": None})
        return one["id"]

    def reply(self, to: int, author: str, text: str, association: str = "COLLABORATOR") -> int:
        """Under a comment on a line; all of a thread name its first."""
        [first] = [one for one in self.said["comments"] if one["id"] == to]
        said = self._said(first["pull"], author, text, association)
        self.said["comments"].append({**first, **said, "in_reply_to_id": to})
        return said["id"]

    def review(
        self,
        number: int,
        author: str,
        state: str,
        body: str = "",
        association: str = "COLLABORATOR",
        commit: str | None = None,
    ) -> int:
        one = self._said(number, author, body, association)
        sha = commit or self.head(number)
        when = {"submitted_at": one.pop("created_at")}
        del one["updated_at"]
        self.said["reviews"].append({**one, **when, "state": state, "commit_id": sha})
        return one["id"]

    def merge(self, number: int, by: str = "ann") -> str:
        sha = self._merge(self.pulls[number], self.head(number), "merge")
        assert sha is not None
        self.pulls[number]["merged_by"] = {"login": by}
        return sha

    def close(self, number: int) -> None:
        self.pulls[number]["state"] = "closed"

    def retarget(self, number: int, base: str) -> None:
        """Has it go to another branch, made for that."""
        self._git("branch", base, self.pulls[number]["base"])
        self.pulls[number]["base"] = base

    def head(self, number: int) -> str:
        pull = self.pulls[number]
        return pull["merged_head"] or self._git("rev-parse", f"refs/heads/{pull['head']}")

    def last(self) -> int:
        return max(self.pulls)

    def _said(self, number: int, author: str, body: str, association: str) -> dict[str, Any]:
        self._next += 1
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1_772_366_400 + self._next))
        who = {"user": {"login": author, "id": len(author)}, "author_association": association}
        return {
            "id": self._next,
            "body": body,
            "pull": number,
            **who,
            "created_at": when,
            "updated_at": when,
        }

    # ------------------------------------------------------------------------- what it answers

    def answer(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, dict[str, str], Any]:
        with self._lock:
            self.asked.append(f"{method} {url}")
            try:
                return self._answer(method, url, headers, body)
            except Exception as error:
                self.faults.append(f"{method} {url}: {error!r}")
                raise

    def _answer(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, dict[str, str], Any]:
        refused = self._check_headers(method, url, headers)
        if refused:
            return refused
        if self.trouble and self.trouble.times > 0:
            self.trouble.times -= 1
            return self.trouble.status, dict(self.trouble.headers), self.trouble.value
        parts = urlsplit(url)
        path = unquote(parts.path)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        sent = json.loads(body) if body else {}
        if path == "/graphql":
            fault = self._fits("POST", "/graphql", query, sent)
            return (200, {}, self._threads(sent)) if fault is None else fault
        if self.former and path.startswith(f"/repos/{self.former}/"):
            rest = url.partition(f"/repos/{self.former}")[2]
            status = 301 if method == "GET" else 307
            return status, {"Location": f"/repositories/42{rest}"}, {"message": "Moved Permanently"}
        for folder in (f"/repos/{self.name}", "/repositories/42"):
            if path.startswith(f"{folder}/"):
                inside = path.removeprefix(folder)
                answer = self._in_repository(method, inside, query, sent, headers)
                self._hold(method, f"{inside}?{parts.query}", headers, body, answer)
                return answer
        return _not_found()

    def _hold(
        self,
        method: str,
        inside: str,
        headers: Mapping[str, str],
        body: bytes,
        answer: tuple[int, dict[str, str], Any],
    ) -> None:
        """Holds request and answer to what GitHub publishes, in `make test-github`."""
        description = published()
        if description is not None:
            url, (status, _, value) = f"/repos/{self.name}{inside}", answer
            self.faults += description.exchange_faults(method, url, headers, body, status, value)

    def _check_headers(
        self, method: str, url: str, headers: Mapping[str, str]
    ) -> tuple[int, dict[str, str], Any] | None:
        wanted = {
            "accept": "application/vnd.github+json",
            "x-github-api-version": "2022-11-28",
            "user-agent": "agents-manager",
        }
        for name, value in wanted.items():
            if headers.get(name) != value:
                self.faults.append(f"{method} {url}: {name} is {headers.get(name)!r}")
        if method != "GET" and headers.get("content-type") != "application/json":
            self.faults.append(f"{method} {url}: content-type is {headers.get('content-type')!r}")
        if headers.get("authorization") != f"Bearer {self.token}":
            return 401, {}, {"message": "Bad credentials", "documentation_url": "https://docs"}
        return None

    def _fits(
        self, method: str, shape: str, query: Mapping[str, str], sent: Any
    ) -> tuple[int, dict[str, str], Any] | None:
        """Refuses what GitHub would not take, or would not heed."""
        if method == "GET" and shape in GETS:
            found = [f"query {name}" for name in query if name not in QUERIES]
        elif (method, shape) not in BODIES:
            found = ["no such address"]
        else:
            fields = BODIES[method, shape]
            found = [f"field {name} is unknown" for name in sent if name not in fields]
            for name, (kind, needed) in fields.items():
                if name in sent and not isinstance(sent[name], kind):
                    found.append(f"field {name} is {sent[name]!r}")
                elif name not in sent and needed:
                    found.append(f"field {name} is missing")
        self.faults += [f"{method} {shape}: {fault}" for fault in found]
        return (422, {}, {"message": "Invalid request", "errors": found}) if found else None

    def _in_repository(
        self, method: str, path: str, query: dict[str, str], sent: Any, headers: Mapping[str, str]
    ) -> tuple[int, dict[str, str], Any]:
        shape = re.sub(r"^/(pulls|issues)/\d+", r"/\1/N", path)
        shape = re.sub(r"^/commits/[0-9a-f]{40}/", "/commits/S/", shape)
        shape = re.sub(r"^/git/ref/heads/.+", "/git/ref/heads/B", shape)
        refused = self._fits(method, shape, query, sent)
        if refused:
            return refused
        found = re.search(r"^/(pulls|issues)/(\d+)", path)
        number = int(found[2]) if found else 0
        known = {*self.pulls, *(self.issues.rows if found and found[1] == "issues" else ())}
        if found and number not in known:
            return _not_found()
        if method == "GET":
            return self._read(shape, path, number, query, headers)
        match method, shape:
            case "POST", "/pulls":
                return self._create(sent)
            case "POST", "/issues/N/comments":
                made = self._said(number, BOT, sent["body"], "OWNER")
                self.said["issue"].append({**made, "created_at": stamp(), "updated_at": stamp()})
                return 201, {}, _shown(self.said["issue"][-1])
            case "PATCH", "/issues/N":
                self.issues.edit(number, sent)
                return 200, {}, self.issues.row(number)
            case "PATCH", _:
                self.pulls[number].update(sent)
                self.issues.read(*(self.pulls[number][part] for part in ("title", "body")))
                return 200, {}, self._pull(number)
            case "PUT", _:
                return self._ordered_merge(number, sent)
            case _:
                return self._reviewed(number, sent)

    def _read(
        self, shape: str, path: str, number: int, query: dict[str, str], headers: Mapping[str, str]
    ) -> tuple[int, dict[str, str], Any]:
        if shape.startswith("/commits/S") and self.checks_hidden:
            return 403, {}, {"message": "Resource not accessible by personal access token"}
        match shape:
            case "/pulls":
                value: Any = [self._listed(n) for n in sorted(self.pulls, reverse=True)]
                value = [p for p in value if _matches(p, query, self.name.partition("/")[0])]
            case "/pulls/N":
                value = self._pull(number)
            case "/issues":
                pulls = [self._listed(n) for n in self.pulls]
                value = self.issues.listed(query, pulls)
            case "/issues/N":
                mine = number in self.issues.rows
                value = (
                    self.issues.row(number) if mine else self.issues.pull_row(self._pull(number))
                )
            case "/git/ref/heads/B":
                ref = f"refs/heads/{path.removeprefix('/git/ref/heads/')}"
                sha = self._git("rev-parse", "-q", "--verify", ref, check=False)
                if not sha:
                    return _not_found()
                value = {"ref": ref, "object": {"type": "commit", "sha": sha}}
            case "/commits/S/status":
                value = {"state": "pending", "total_count": 0, "statuses": []}
            case "/commits/S/check-runs":
                value = {"total_count": len(self.checks), "check_runs": self.checks}
            case _:
                kind = "issue" if shape.startswith("/issues") else shape.rpartition("/")[2]
                since = query.get("since", "")
                mine = [one for one in self.said[kind] if one["pull"] == number]
                mine = [self._on_line(one) if kind == "comments" else one for one in mine]
                value = [_shown(one) for one in mine if since <= one.get("updated_at", since)]
        return self._paged(path, query, value, headers)

    def _paged(
        self, path: str, query: dict[str, str], value: Any, headers: Mapping[str, str]
    ) -> tuple[int, dict[str, str], Any]:
        more: dict[str, str] = {}
        if isinstance(value, list):
            size = min(int(query.get("per_page", "30")), self.page_size)
            page = int(query.get("page", "1"))
            if len(value) > page * size:
                rest = "&".join(f"{k}={v}" for k, v in {**query, "page": page + 1}.items())
                host = headers["host"]
                more["Link"] = f'<http://{host}/repos/{self.name}{path}?{rest}>; rel="next"'
            value = value[(page - 1) * size : page * size]
        tag = f'W/"{hashlib.sha256(json.dumps(value).encode()).hexdigest()}"'
        if headers.get("if-none-match") == tag:
            self.unchanged += 1
            return 304, {"ETag": tag, **more}, b""
        return 200, {"ETag": tag, **more}, value

    def _create(self, sent: dict[str, Any]) -> tuple[int, dict[str, str], Any]:
        for name in ("head", "base"):
            if not self._tip(sent[name]):
                return _invalid(f"{name} invalid")
        if "\n" in sent["title"] or len(sent["title"]) > 256:
            self.faults.append(f"title {sent['title']!r}")
            return _invalid("title is too long")
        if len(sent.get("body", "")) > 65536:
            return _invalid("body is too long (maximum is 65536 characters)")
        ends = sent["head"], sent["base"]
        if any((p["head"], p["base"], p["state"]) == (*ends, "open") for p in self.pulls.values()):
            return _invalid(f"A pull request already exists for acme:{sent['head']}.")
        if self._tip(sent["head"]) == self._tip(sent["base"]):
            return _invalid(f"No commits between {sent['base']} and {sent['head']}")
        number = max(self.pulls, default=6) + 1
        self.pulls[number] = {
            **{"number": number, "title": sent["title"], "body": sent.get("body", "")},
            **{"head": sent["head"], "base": sent["base"], "state": "open"},
            **{"merged_at": None, "merge_commit_sha": None, "merged_by": None, "merged_head": None},
        }
        self.issues.read(sent["title"], sent.get("body", ""))
        return 201, {}, self._pull(number)

    def _listed(self, number: int) -> dict[str, Any]:
        pull = self.pulls[number]
        owner = self.name.partition("/")[0]
        label = {"label": f"{owner}:{pull['head']}", "ref": pull["head"]}
        return {
            **{key: pull[key] for key in ("number", "title", "body", "state")},
            **{key: pull[key] for key in ("merged_at", "merge_commit_sha")},
            "html_url": f"https://github.test/{self.name}/pull/{number}",
            "user": {"login": BOT},
            "head": {**label, "sha": self.head(number)},
            "base": {"ref": pull["base"], "sha": self._tip(pull["base"])},
        }

    def _pull(self, number: int) -> dict[str, Any]:
        pull = self.pulls[number]
        merged = pull["merged_at"] is not None
        can = None if merged else self._tree(pull["base"], self.head(number)) is not None
        more = {"merged": merged, "mergeable": can, "mergeable_state": "clean" if can else "dirty"}
        return {**self._listed(number), **more, "merged_by": pull["merged_by"]}

    def _ordered_merge(self, number: int, sent: dict[str, Any]) -> tuple[int, dict[str, str], Any]:
        self.before_merge()
        pull, head = self.pulls[number], self.head(number)
        if sent.get("sha") not in (None, head):
            return 409, {}, {"message": "Head branch was modified. Review and try the merge again."}
        if pull["state"] == "closed":
            return 405, {}, {"message": "Pull Request is not mergeable"}
        if self.protected:
            return 405, {}, {"message": self.protected}
        sha = self._merge(pull, head, sent.get("merge_method", "merge"))
        if sha is None:
            return 405, {}, {"message": "Pull Request is not mergeable"}
        pull["merged_by"] = {"login": BOT}
        return 200, {}, {"sha": sha, "merged": True, "message": "Pull Request successfully merged"}

    def _merge(self, pull: dict[str, Any], head: str, method: str) -> str | None:
        base, tree = self._tip(pull["base"]), self._tree(pull["base"], head)
        if tree is None:
            return None
        parents = ["-p", base] if method == "squash" else ["-p", base, "-p", head]
        words = f"Merge pull request #{pull['number']}\n\n{pull['title']}"
        sha = self._git("commit-tree", tree, *parents, "-m", words)
        self._git("update-ref", f"refs/heads/{pull['base']}", sha)
        done = {"state": "closed", "merged_at": "2026-03-01T12:00:00Z", "merge_commit_sha": sha}
        pull.update(done, merged_head=head)
        self.issues.read(pull["title"], pull["body"], merged=True)
        return sha

    def _reviewed(self, number: int, sent: dict[str, Any]) -> tuple[int, dict[str, str], Any]:
        event = sent.get("event")
        if event not in ("APPROVE", "REQUEST_CHANGES", "COMMENT"):
            self.faults.append(f"event {event!r}")
        if event != "COMMENT":
            what = "approve" if event == "APPROVE" else "request changes on"
            return _invalid(f"Can not {what} your own pull request")
        for comment in sent.get("comments", ()):
            if set(comment) - {"path", "line", "side", "body"}:
                self.faults.append(f"comment {comment!r}")
            if comment["path"].startswith("missing"):
                return _invalid("Line could not be resolved")
        made = self.review(number, BOT, "COMMENTED", sent.get("body", ""), "OWNER")
        for comment in sent.get("comments", ()):
            self.comment(number, BOT, comment["body"], comment["path"], comment["line"], "OWNER")
            self.said["comments"][-1]["pull_request_review_id"] = made
        return 200, {}, {"id": made, "state": "COMMENTED"}

    def _threads(self, sent: dict[str, Any]) -> Any:
        wanted = sent["variables"]
        if f"{wanted['owner']}/{wanted['name']}" not in (self.name, self.former):
            return {"data": {"repository": None}, "errors": [{"message": "Could not resolve"}]}
        mine = [
            c["id"]
            for c in self.said["comments"]
            if c["pull"] == wanted["number"] and "in_reply_to_id" not in c
        ]
        first = int(wanted["after"] or 0)
        nodes = [
            {"isResolved": one in self.resolved, "comments": {"nodes": [{"databaseId": one}]}}
            for one in mine[first : first + self.page_size]
        ]
        more = first + self.page_size < len(mine)
        page = {"hasNextPage": more, "endCursor": str(first + self.page_size)}
        threads = {"pageInfo": page, "nodes": nodes}
        return {"data": {"repository": {"pullRequest": {"reviewThreads": threads}}}}

    def _on_line(self, one: dict[str, Any]) -> dict[str, Any]:
        """With the line as it is now, and none where it is not in the head any more."""
        line, made_on, path = one["original_line"], one["original_commit_id"], one["path"]
        head = self.head(one["pull"])
        text = self._git("show", f"{made_on}:{path}", check=False).split("\n")
        hunk = [f"+{words}" for words in text[max(0, (line or 0) - 4) : line]]
        now = line
        if line and made_on != head:
            span = f"{made_on}..{head}"
            follow = self._git(
                "blame",
                "--reverse",
                "--porcelain",
                f"-L{line},{line}",
                span,
                "--",
                path,
                check=False,
            )
            at, number = [*follow.split(" "), "", ""][:2]
            now = int(number) if at == head else None
        return {**one, "line": now, "diff_hunk": "\n".join(["@@ -0,0 +1 @@", *hunk])}

    # ------------------------------------------------------------------------- its repository

    def _tip(self, branch: str) -> str:
        return self._git("rev-parse", "-q", "--verify", f"refs/heads/{branch}", check=False)

    def _tree(self, base: str, head: str) -> str | None:
        done = self._run("merge-tree", "--write-tree", self._tip(base), head)
        return done.stdout.partition("\n")[0] if done.returncode == 0 else None

    def _git(self, *order: str, check: bool = True) -> str:
        done = self._run(*order)
        if check and done.returncode:
            raise AssertionError(done.stderr)
        return done.stdout.strip() if done.returncode == 0 else ""

    def _run(self, *order: str) -> subprocess.CompletedProcess[str]:
        who = ["-c", "user.name=GitHub", "-c", "user.email=noreply@github.test"]
        return subprocess.run(
            ["git", *who, "--git-dir", str(self.repo), *order],
            capture_output=True,
            text=True,
            check=False,
        )


def _shown(said: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in said.items() if name != "pull"}


def _matches(pull: dict[str, Any], query: Mapping[str, str], owner: str) -> bool:
    fits = query.get("state", "open") in ("all", pull["state"])
    if "head" in query:
        fits = fits and query["head"] == f"{owner}:{pull['head']['ref']}"
    return fits and query.get("base", pull["base"]["ref"]) == pull["base"]["ref"]


def _not_found() -> tuple[int, dict[str, str], Any]:
    return 404, {}, {"message": "Not Found", "documentation_url": "https://docs.github.test"}


def _invalid(message: str) -> tuple[int, dict[str, str], Any]:
    return 422, {}, {"message": "Validation Failed", "errors": [{"message": message}]}


class Answers(Protocol):
    def answer(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, dict[str, str], Any]: ...


class Served:
    """The server while it runs."""

    def __init__(self, github: Answers) -> None:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _serve(self) -> None:
                length = int(self.headers.get("content-length", "0"))
                headers = {name.lower(): value for name, value in self.headers.items()}
                sent = self.rfile.read(length)
                status, more, value = github.answer(self.command, self.path, headers, sent)
                body = value if isinstance(value, bytes) else json.dumps(value).encode()
                self.send_response_only(status)
                for name, told in {"Date": formatdate(usegmt=True), **more}.items():
                    self.send_header(name, told)
                self.send_header("Content-Type", "application/json; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve

            def log_message(self, format: str, *args: Any) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "Served":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
