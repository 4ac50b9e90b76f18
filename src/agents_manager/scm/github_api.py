"""GitHub's REST interface, as far as it is used. Answers are bounded and checked, what was asked
before is asked by its ETag, and every failure becomes one of ours, with the way out."""

import asyncio
import json
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import urljoin, urlsplit

import structlog
from pydantic import BaseModel, ValidationError

from agents_manager.domain.names import visible
from agents_manager.errors import ForgeError, ForgeUnavailable, HookFailed
from agents_manager.flow.ports import Clock
from agents_manager.scm.github_models import Failure

if TYPE_CHECKING:
    import httpx

log = structlog.get_logger()
Model = TypeVar("Model", bound=BaseModel)

HEADERS = {
    "Accept": "application/vnd.github+json",
    "X-GitHub-Api-Version": "2022-11-28",
    "User-Agent": "agents-manager",
}
TIMEOUT_S = 20.0
"""Without a sign of life."""
LONGEST_S = 60.0
MAX_BYTES = 8 * 1024 * 1024
MAX_PAGES = 20
PER_PAGE = 100
MAX_HOPS = 3
KEPT = 500
LONG = 100_000
"""What is longer is not kept to be compared."""
SAID = 300
"""As much as is told of what GitHub says."""
SECONDARY_S = 60.0
"""What GitHub asks for where it does not say for how long to wait."""
MOVED = (301, 302, 307, 308)
HIDDEN = (403, 404)


@dataclass(frozen=True, slots=True)
class Use:
    """What the repository is wanted for, in what is said where that fails."""

    rights: str
    way: str


OF_PULLS = Use(
    'It needs read and write access to "Contents" and "Pull requests" of the repository',
    "set forge.repository to owner/name, or forge.type to local",
)
OF_ISSUES = Use(
    'It needs read access to "Issues" of the repository, and write access for notes',
    "name the repository as owner/name, or set forge.repository",
)


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    value: Any
    links: Mapping[str, str]
    size: int = 0

    def read(self, model: type[Model]) -> Model:
        try:
            return model.model_validate(self.value)
        except ValidationError as error:
            [first, *_] = error.errors(include_url=False, include_input=False)
            where = ".".join(map(str, first["loc"]))
            raise ForgeError(f"GitHub's answer cannot be read: {where}: {first['msg']}") from None

    def listed(self, model: type[Model]) -> list[Model]:
        if not isinstance(self.value, list):
            raise ForgeError("GitHub's answer cannot be read: it is no list")
        rows = cast("list[Any]", self.value)
        return [Reply(self.status, row, {}).read(model) for row in rows]

    @property
    def says(self) -> str:
        """What went wrong, in GitHub's words."""
        try:
            said = Failure.model_validate(self.value)
        except ValidationError:
            return f"status {self.status}"
        words = [said.message, *map(_words, said.errors)]
        return visible(" ".join(w for w in words if w), SAID) or f"status {self.status}"


def _words(error: object) -> str:
    match error:
        case {"message": str(words)} | {"code": str(words)} | str(words):
            return words
        case _:
            return ""


class Memory:
    """What addresses answered, so that GitHub can say that nothing changed."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[str, Reply]] = {}

    def tag(self, url: str) -> str | None:
        known = self._kept.get(url)
        return known[0] if known else None

    def reply(self, url: str) -> Reply:
        return self._kept[url][1]

    def keep(self, url: str, tag: str | None, reply: Reply) -> None:
        self._kept.pop(url, None)
        if tag is not None and reply.size <= LONG:
            self._kept[url] = tag, reply
        while len(self._kept) > KEPT:
            del self._kept[next(iter(self._kept))]


class Api:
    """One repository, for as long as one call to the forge takes."""

    def __init__(
        self,
        client: "httpx.AsyncClient",
        base: str,
        repository: str,
        memory: Memory,
        clock: Clock,
        use: Use,
    ) -> None:
        self.repository = repository
        self._use = use
        self._client = client
        self._base = base
        self._memory = memory
        self._clock = clock

    async def get(self, path: str, model: type[Model]) -> Model:
        reply = await self._ask("GET", self._url(path))
        return reply.read(model)

    async def find(
        self, path: str, model: type[Model], absent: Collection[int] = HIDDEN
    ) -> Model | None:
        """None where there is no such thing, or the token may not see it."""
        reply = await self._ask("GET", self._url(path), allowed=absent)
        return reply.read(model) if reply.status == 200 else None

    async def pages(self, path: str, model: type[Model]) -> list[Model]:
        """All of a list, page by page."""
        found, complete = await self.some(path, model, MAX_PAGES)
        if not complete:
            log.warning("github.list_cut", path=path, read=len(found))
        return found

    async def some(self, path: str, model: type[Model], most: int) -> tuple[list[Model], bool]:
        """As many pages of a list, and whether that is all of it."""
        url: str | None = self._url(f"{path}{'&' if '?' in path else '?'}per_page={PER_PAGE}")
        found: list[Model] = []
        for _ in range(most):
            reply = await self._ask("GET", url)
            found += reply.listed(model)
            url = reply.links.get("next")
            if url is None:
                return found, True
        return found, False

    async def send(
        self, method: str, path: str, body: Mapping[str, Any], allowed: Collection[int] = ()
    ) -> Reply:
        """What GitHub made of it; of refusals, those that are allowed are told, too."""
        return await self._ask(method, self._url(path), body, allowed)

    async def query(self, query: str, variables: Mapping[str, Any], model: type[Model]) -> Model:
        """By GraphQL, for what REST does not tell."""
        parts = urlsplit(self._base)
        folder = parts.path.removesuffix("/v3")
        url = f"{parts.scheme}://{parts.netloc}{folder}/graphql"
        reply = await self._ask("POST", url, {"query": query, "variables": dict(variables)})
        if reply.read(Failure).errors:
            raise ForgeError(f"GitHub did not answer a query: {reply.says}")
        return reply.read(model)

    def _url(self, path: str) -> str:
        return f"{self._base}/repos/{self.repository}{path}"

    async def _ask(
        self,
        method: str,
        url: str,
        body: Mapping[str, Any] | None = None,
        allowed: Collection[int] = (),
    ) -> Reply:
        at = url
        for _ in range(MAX_HOPS):
            # The token goes nowhere else, wherever an answer leads.
            if urlsplit(at)[:2] != urlsplit(self._base)[:2]:
                raise HookFailed(f'GitHub sends us to another place, "{visible(at, SAID)}".')
            reply, answer = await self._once(method, at, body)
            if answer.status_code not in MOVED:
                break
            # A repository that was renamed.
            at = urljoin(at, answer.headers.get("location", ""))
        else:
            raise ForgeError("GitHub sends us from one address to the next.")
        if reply.status == 304:
            return self._memory.reply(at)
        wait = self._limit_s(reply, answer.headers)
        if wait is not None:
            raise ForgeUnavailable(f"GitHub wants to be left alone: {reply.says}", wait)
        if not 200 <= reply.status < 300 and reply.status not in allowed:
            raise self._refusal(reply)
        if method == "GET" and reply.status == 200:
            self._memory.keep(at, answer.headers.get("etag"), reply)
        return reply

    async def _once(
        self, method: str, url: str, body: Mapping[str, Any] | None
    ) -> "tuple[Reply, httpx.Response]":
        import httpx

        tag = self._memory.tag(url) if method == "GET" else None
        headers = {"If-None-Match": tag} if tag else {}
        try:
            asked = self._client.stream(method, url, json=body, headers=headers)
            async with asyncio.timeout(LONGEST_S), asked as answer:
                text = bytearray()
                async for chunk in answer.aiter_bytes():
                    text += chunk
                    if len(text) > MAX_BYTES:
                        raise HookFailed(f"GitHub answers with more than {MAX_BYTES} bytes.")
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
            what = visible(str(error), SAID) or type(error).__name__
            host = urlsplit(url).netloc
            raise ForgeUnavailable(f"GitHub cannot be reached at {host}: {what}") from None
        value = _json(bytes(text), answer)
        return Reply(answer.status_code, value, _links(answer), len(text)), answer

    def _refusal(self, reply: Reply) -> Exception:
        says = reply.says
        match reply.status:
            case 401:
                return HookFailed(
                    f"GitHub does not take the token ({says}); set AM_GITHUB_TOKEN to one that is "
                    f"valid. {self._use.rights}."
                )
            case 403:
                return HookFailed(
                    f"GitHub does not allow this to the token: {says}. {self._use.rights}."
                )
            case 404:
                return HookFailed(
                    f'GitHub knows no "{self.repository}" with what was asked for, or hides it from'
                    f" the token; look at forge.repository and the token. {self._use.rights}."
                )
            case status if status >= 500:
                return ForgeUnavailable(f"GitHub is out of order (status {status}): {says}")
            case status:
                return HookFailed(f"GitHub refused it (status {status}): {says}")

    def _limit_s(self, reply: Reply, headers: Mapping[str, str]) -> float | None:
        """How long to wait; None where it is no matter of too many requests."""
        after = headers.get("retry-after", "")
        used_up = headers.get("x-ratelimit-remaining") == "0"
        asked = after.isdecimal() or used_up or "rate limit" in reply.says.lower()
        if reply.status not in (403, 429) or not asked:
            return None
        if after.isdecimal():
            return float(after)
        resets = headers.get("x-ratelimit-reset", "")
        if not used_up or not resets.isdecimal():
            return SECONDARY_S
        return max(0.0, float(resets) - self._now(headers)) + 1

    def _now(self, headers: Mapping[str, str]) -> float:
        """By GitHub's own clock, where it tells it."""
        try:
            return parsedate_to_datetime(headers.get("date", "")).timestamp()
        except ValueError:
            return self._clock.now().timestamp()


@asynccontextmanager
async def opened(
    base: str, repository: str, token: str, memory: Memory, clock: Clock, use: Use = OF_PULLS
) -> AsyncGenerator[Api]:
    # Imported late: it takes a tenth of a second, and commands do not need it.
    import httpx

    headers = {**HEADERS, "Authorization": f"Bearer {token}"}
    # What is trusted takes long to read, and only https needs it.
    verify = not base.startswith("http:")
    async with httpx.AsyncClient(headers=headers, timeout=TIMEOUT_S, verify=verify) as client:
        yield Api(client, base, repository, memory, clock, use)


def _json(text: bytes, answer: "httpx.Response") -> Any:
    try:
        return json.loads(text) if text else None
    except (ValueError, RecursionError):
        if answer.is_success:
            raise ForgeUnavailable("GitHub's answer cannot be read as JSON.") from None
        return None


def _links(answer: "httpx.Response") -> dict[str, str]:
    return {name: link["url"] for name, link in answer.links.items() if name and "url" in link}
