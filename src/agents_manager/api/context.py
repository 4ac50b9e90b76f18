"""What a route asks for: the services, and who is asking."""

from typing import Annotated, cast

from fastapi import Depends
from starlette.requests import Request

from agents_manager.api.doors import Doors
from agents_manager.api.failures import Failures
from agents_manager.api.stream import Feed, Permit
from agents_manager.domain.task import Actor
from agents_manager.errors import NotAllowed
from agents_manager.flow import access, ports


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


def _key(request: Request) -> ports.Key:
    return cast("ports.Key", request.state.key)


def _doors(request: Request) -> Doors:
    return cast("Doors", request.app.state.doors)


def _failures(request: Request) -> Failures:
    return cast("Failures", request.app.state.failures)


def _permit(request: Request) -> Permit:
    key, s = _key(request), _services(request)

    async def holds() -> bool:
        return await access.known(s.store, s.clock, key.digest, (key.kind,)) is not None

    return holds


Services = Annotated[ports.Services, Depends(_services)]
LiveFeed = Annotated[Feed, Depends(_feed)]
Caller = Annotated[Actor, Depends(_actor)]
Admin = Annotated[Actor, Depends(_admin)]
AnswerKey = Annotated[str | None, Depends(_answer_key)]
OwnKey = Annotated[ports.Key, Depends(_key)]
Ways = Annotated[Doors, Depends(_doors)]
WrongTries = Annotated[Failures, Depends(_failures)]
StillKnown = Annotated[Permit, Depends(_permit)]
