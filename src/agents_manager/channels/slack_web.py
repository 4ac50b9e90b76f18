"""Slack's methods, and what it and the way to it can answer in place of what was asked for, in our
words. No token stands in them."""

import logging
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from typing import Any, cast

from agents_manager.domain.names import visible
from agents_manager.errors import ChannelDown, ChannelRefused

TIMEOUT_S = 20
NO_LIBRARY = (
    'The library of Slack is not installed. Install it with: pip install "agents-manager[slack]"'
)
# The library writes addresses with tickets in them, and what people said, into its log.
SILENT = logging.Logger("slack", logging.CRITICAL + 1)

BOT_TOKEN = "AM_SLACK_BOT_TOKEN"  # noqa: S105 - the names of variables
APP_TOKEN = "AM_SLACK_APP_TOKEN"  # noqa: S105
WAYS = {
    BOT_TOKEN: "add it under OAuth & Permissions and install the app again,",
    APP_TOKEN: "generate another token with it under Basic Information, App-Level Tokens,",
}
BEGINS = {BOT_TOKEN: "xoxb-", APP_TOKEN: "xapp-"}

DOUBTFUL = frozenset({"internal_error", "fatal_error", "request_timeout"})
"""Slack says of these that something may have been done."""
PASSING = frozenset({*DOUBTFUL, "service_unavailable", "team_added_to_org", "accesslimited"})
UNKNOWN = frozenset({"invalid_auth", "not_authed", "not_allowed_token_type"})
OVER = frozenset({"account_inactive", "token_revoked", "token_expired", "org_login_required"})
PLACES = {
    "channel_not_found": "Slack knows no such place, or the app does not see it: look at the id,"
    " and write /invite @ with the app's name there",
    "not_in_channel": "the app is not a member: write /invite @ with the app's name there",
    "is_archived": "the channel is archived: name another one",
    "user_not_found": "Slack knows no such person: look at the member id in their profile",
    "users_not_found": "Slack knows no such person: look at the member id in their profile",
    "user_disabled": "the person's account is closed: name somebody else",
    "cannot_dm_bot": "that is a bot: name a person",
    "messages_tab_disabled": "the app takes no messages: switch on the messages tab under App Home",
    "restricted_action": "the workspace does not let apps write there: ask its administrator",
}


class Refusal(ChannelRefused):
    """With Slack's own name for it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def client(token: str, base_url: str) -> Any:
    """That tries nothing twice: what may have arrived is not sent again unmarked."""
    try:
        from slack_sdk.web.async_client import AsyncWebClient
    except ImportError:
        raise ChannelRefused(NO_LIBRARY) from None
    return AsyncWebClient(token, base_url, TIMEOUT_S, logger=SILENT, retry_handlers=[])


async def asked(
    web: Any, method: str, fields: Mapping[str, Any] | None = None, *, token: str = BOT_TOKEN
) -> Mapping[str, Any]:
    """What Slack answered; ChannelDown when it did not, ChannelRefused when it does not want to."""
    from slack_sdk.errors import SlackApiError

    try:
        with _reaching():
            answer = await web.api_call(method, json=dict(fields or {}))
    except SlackApiError as error:
        place = (fields or {}).get("channel") or (fields or {}).get("users") or ""
        raise _failure(error.response, token, str(place)) from None
    return cast("Mapping[str, Any]", answer.data)


def field(answer: Mapping[str, Any], *path: str) -> str:
    """A text that Slack always answers with."""
    at: Any = answer
    for name in path:
        at = cast("dict[str, Any]", at).get(name) if isinstance(at, dict) else None
    if not isinstance(at, str):
        what = ".".join(path)
        raise ChannelDown(f"Slack's answer cannot be read: it has no {what}.", unsure=True)
    return at


async def respond(hook: str, fields: dict[str, Any]) -> None:
    """At the address that came with a command."""
    from slack_sdk.webhook.async_client import AsyncWebhookClient

    with _reaching():
        web = AsyncWebhookClient(hook, TIMEOUT_S, logger=SILENT, retry_handlers=[])
        answer = await web.send_dict(fields)
    if answer.status_code != 200:
        raise ChannelDown(f"Slack does not take the answer (status {answer.status_code}).")


@contextmanager
def _reaching() -> Generator[None]:
    from aiohttp import ClientConnectorError, ClientError

    try:
        yield
    except (ClientError, OSError) as error:
        what = visible(str(error), 200) or type(error).__name__
        unsure = not isinstance(error, ClientConnectorError)
        raise ChannelDown(f"Slack cannot be reached: {what}", unsure=unsure) from None
    except (AttributeError, ValueError):
        # The library's own troubles with an answer that is not Slack's.
        raise ChannelDown("Slack's answer cannot be read.", unsure=True) from None


def _failure(answer: Any, token: str, place: str) -> Exception:
    """The answer is the library's, or, where it could not be read, the connection's."""
    status = getattr(answer, "status_code", None) or getattr(answer, "status", 0)
    data: Any = getattr(answer, "data", None)
    fields = cast("dict[str, Any]", data if isinstance(data, dict) else {})
    code = visible(str(fields.get("error", "")), 100)
    if status == 429 or code in ("ratelimited", "rate_limited"):
        return ChannelDown("Slack wants to be left alone for a while.", _wait_s(answer))
    if status >= 500 or code in PASSING or not code:
        named = f"status {status}{f', {code}' if code else ''}"
        unsure = code in DOUBTFUL if code else status != 503
        return ChannelDown(f"Slack is out of order ({named}).", unsure=unsure)
    return Refusal(code, _told(code, fields, token, place))


def _wait_s(answer: Any) -> float | None:
    after = str(answer.headers.get("Retry-After", ""))
    return float(after) if after.isdecimal() else None


def _told(code: str, fields: Mapping[str, Any], token: str, place: str) -> str:
    if code in UNKNOWN:
        return (
            f"Slack does not take the token ({code}); copy the one that begins with"
            f" {BEGINS[token]} from the app's page at api.slack.com/apps to {token}."
        )
    if code in OVER:
        return (
            f"The token is no longer valid ({code}); install the app in the workspace again and"
            f" copy its token to {token}."
        )
    if code == "missing_scope":
        needed = visible(str(fields.get("needed", "")), 200)
        return f'{token} lacks the scope "{needed}"; {WAYS[token]} at api.slack.com/apps.'
    if code in PLACES:
        return f'Nothing can be sent to "{visible(place, 100)}" in Slack: {PLACES[code]}.'
    return f"Slack refused it: {code}{_details(fields)}"


def _details(fields: Mapping[str, Any]) -> str:
    metadata: Any = fields.get("response_metadata")
    said: Any = (
        cast("dict[str, Any]", metadata).get("messages") if isinstance(metadata, dict) else []
    )
    words = [visible(str(one), 200) for one in cast("Iterable[Any]", said or [])][:3]
    return f" ({'; '.join(words)})." if words else "."
