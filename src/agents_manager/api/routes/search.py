"""Finding things by a few words."""

from typing import Annotated

from fastapi import APIRouter, Query

from agents_manager.api import forms, pages
from agents_manager.api.context import Services
from agents_manager.flow import search

router = APIRouter(tags=["search"])


@router.get("/search")
async def search_all(s: Services, query: Annotated[forms.SearchQuery, Query()]) -> pages.Hits:
    """Tasks and open questions by words, projects and pipelines by their names; tasks, runs and
    questions also by the beginning of their ids."""
    found = await s.store.read(lambda tx: search.search(tx, query.q, query.limit))
    return pages.Hits(items=[pages.Hit.of(hit) for hit in found])
