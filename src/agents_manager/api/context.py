"""What a route asks for: the services, and who is asking."""

from typing import Annotated, cast

from fastapi import Depends
from starlette.requests import Request

from agents_manager.api.stream import Feed
from agents_manager.domain.task import Actor
from agents_manager.errors import NotAllowed
from agents_manager.flow import ports


def _services(request: Request) -> ports.Services:
    return cast("ports.Services", request.app.state.services)


def _feed(request: Request) -> Feed:
    return cast("Feed", request.app.state.feed)


def _actor(request: Request) -> Actor:
    return cast("Actor", request.state.actor)


def _admin(request: Request) -> Actor:
    actor = _actor(request)
    if not actor.admin:
        raise NotAllowed(f"{actor.name} may not do this; it needs a token with the role admin.")
    return actor


def _answer_key(request: Request) -> str | None:
    return cast("str | None", getattr(request.state, "answer_key", None))


Services = Annotated[ports.Services, Depends(_services)]
LiveFeed = Annotated[Feed, Depends(_feed)]
Caller = Annotated[Actor, Depends(_actor)]
Admin = Annotated[Actor, Depends(_admin)]
AnswerKey = Annotated[str | None, Depends(_answer_key)]
