"""Where forges tell us that something was done to a pull request."""

import re
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request

from agents_manager import environment
from agents_manager.api import pages
from agents_manager.api.context import Services
from agents_manager.domain import strict_json
from agents_manager.errors import InvalidInput, Unauthenticated
from agents_manager.flow import deliveries

router = APIRouter(prefix="/forges", tags=["forges"])

_DELIVERY = re.compile(r"[\x21-\x7e]{1,100}")


@router.post("/github/webhook", status_code=202)
async def take_github_webhook(
    s: Services,
    request: Request,
    x_hub_signature_256: Annotated[str, Header(max_length=200)] = "",
    x_github_delivery: Annotated[str, Header(max_length=200)] = "",
) -> pages.Noticed:
    """For the webhook of a repository on GitHub, with the content type application/json. It needs
    no token but a signature: the secret of the webhook is that of `AM_GITHUB_WEBHOOK_SECRET`. What
    it says is not believed; the pull request is looked at on GitHub."""
    secret, body = environment.github_webhook_secret(), request.state.body
    if secret is None:
        raise Unauthenticated("Webhooks of GitHub are off; set AM_GITHUB_WEBHOOK_SECRET.")
    if not deliveries.signed(body, secret, x_hub_signature_256):
        raise Unauthenticated("The signature X-Hub-Signature-256 does not fit.")
    if not _DELIVERY.fullmatch(x_github_delivery):
        raise InvalidInput("The header X-GitHub-Delivery is missing.")
    looked = await deliveries.taken(s, "github", x_github_delivery, _number(body))
    return pages.Noticed(pulls=looked)


def _number(body: bytes) -> int | None:
    """The pull request that it is about, if any."""
    if not body:
        raise InvalidInput("The body is empty.")
    told: Any = strict_json.loads(body.decode(), max_bytes=len(body) + 1, max_depth=32)
    match told:
        case {"pull_request": {"number": int(number)}} | {"issue": {"number": int(number)}}:
            return number
        case _:
            return None
