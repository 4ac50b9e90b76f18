"""Logging in and out, and the tokens that let somebody in."""

import asyncio
from importlib.metadata import version

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from agents_manager.api import auth, forms, pages, qr, schemas
from agents_manager.api.context import Admin, Caller, OwnKey, Services, Ways, WrongTries
from agents_manager.api.doors import Doors
from agents_manager.api.gate import COOKIE, WHERE, peer
from agents_manager.errors import InvalidInput, Unauthenticated
from agents_manager.flow import access
from agents_manager.flow.ports import Key

entrance = APIRouter(prefix="/auth", tags=["access"])
router = APIRouter(tags=["access"])


@entrance.post("/login", response_model=pages.Me)
async def log_in(
    s: Services, ways: Ways, wrong: WrongTries, form: forms.Login, request: Request
) -> Response:
    """Opens a session with a token, or with the code of a login link, which works once. The session
    is a cookie that no page can read; it ends after 30 days, or with its token."""
    if (form.token is None) == (form.code is None):
        raise InvalidInput('Give either "token" or "code".')
    made = await access.log_in(s, token=form.token, code=form.code, address=peer(request.scope))
    if made is None:
        await wrong.hold()
        raise Unauthenticated(
            f"This token is not known; {WHERE}."
            if form.token is not None
            else 'This link was used or is too old; "am login" makes a new one.'
        )
    response = JSONResponse((await _me(s, made.key)).model_dump(mode="json"))
    origin = request.headers.get("origin", "")
    response.set_cookie(
        COOKIE,
        made.secret,
        max_age=int(access.SESSION_LIFE.total_seconds()),
        path=_path(request, ways),
        secure=ways.tls or origin.lower().startswith("https://"),
        httponly=True,
        samesite="strict",
    )
    return response


@entrance.post("/logout", response_model=pages.Me)
async def log_out(
    s: Services, actor: Caller, ways: Ways, key: OwnKey, request: Request
) -> Response:
    """Ends the session."""
    await access.log_out(s, key, actor)
    response = JSONResponse((await _me(s, key)).model_dump(mode="json"))
    response.delete_cookie(COOKIE, path=_path(request, ways), httponly=True, samesite="strict")
    return response


@router.get("/me")
async def get_me(s: Services, key: OwnKey) -> pages.Me:
    """Who is asking."""
    return await _me(s, key)


@router.get("/push")
async def get_push(s: Services, key: OwnKey) -> pages.Push:
    """How a browser comes to be sent notices while no page is open."""
    now = s.clock.now()
    takers = await s.store.read(lambda tx: tx.access.subscriptions(now))
    return pages.Push(
        key=await asyncio.to_thread(lambda: s.browsers().key()), on=key.digest in takers
    )


@router.post("/push")
async def take_notices(s: Services, key: OwnKey, form: forms.Subscription) -> pages.Push:
    """Sends notices to this session's browser, until the session ends."""
    await access.take_notices(s, key, form.endpoint, form.keys.p256dh, form.keys.auth)
    return await get_push(s, key)


@router.delete("/push")
async def take_no_notices(s: Services, key: OwnKey) -> pages.Push:
    """Sends this session's browser no notices any more."""
    await access.take_no_notices(s, key)
    return await get_push(s, key)


@router.get("/tokens")
async def list_tokens(s: Services, _: Admin) -> pages.Tokens:
    """The owner's token, other tokens and the sessions of browsers; never what they are."""
    return pages.Tokens(items=[schemas.Token.of(key) for key in await access.tokens(s)])


@router.post("/tokens")
async def create_token(s: Services, actor: Admin, form: forms.NewToken) -> pages.TokenMade:
    """Makes a token, which is told this once."""
    made = await access.create(s, form.name, form.role, actor)
    return pages.TokenMade(token=made.secret, about=schemas.Token.of(made.key))


@router.delete("/tokens/{token_id}")
async def revoke_token(s: Services, actor: Admin, token_id: str) -> schemas.Token:
    """Revokes a token and ends its sessions, or ends one session."""
    return schemas.Token.of(await auth.revoke(s, token_id, actor))


@router.post("/login-links")
async def create_login_link(s: Services, actor: Admin, ways: Ways, key: OwnKey) -> pages.LoginLink:
    """A link that logs in on another device: once, within ten minutes. Also as a picture."""
    link = await auth.link(s, key, ways.url, actor)
    return pages.LoginLink(
        url=link.url, code=link.code, expires_at=link.expires_at, svg=qr.svg(link.url)
    )


async def _me(s: Services, key: Key) -> pages.Me:
    actor = access.actor_of(key)
    return pages.Me(
        name=key.name,
        role=key.role,
        via=actor.via or "",
        admin=actor.admin,
        version=version("agents-manager"),
        expires_at=key.expires_at,
        last_event=await s.store.read(lambda tx: tx.events.last_id()),
    )


def _path(request: Request, ways: Doors) -> str:
    return ways.base(request.headers.get("host", "")) or "/"
