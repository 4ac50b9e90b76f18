"""The board."""

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import TypeAdapter

from agents_manager.api import forms, pages
from agents_manager.api.context import Services
from agents_manager.domain.board import Board
from agents_manager.flow import board

router = APIRouter(tags=["board"])

_WRITTEN = TypeAdapter(Board)


@router.get("/board", response_model=pages.Board)
async def get_board(s: Services, query: Annotated[forms.BoardQuery, Query()]) -> Response:
    """Columns from the pipelines in use, and a card for every task that is not finished and for the
    200 finished ones that changed last."""
    found = await s.store.read(lambda tx: board.board(tx, s, query.project, only=query.task))
    # Written as it is: taking thousands of cards over into models would take longer than the rest.
    return Response(_WRITTEN.dump_json(found), media_type="application/json")
