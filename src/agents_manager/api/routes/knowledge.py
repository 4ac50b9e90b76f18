"""What runs found out: finding it, caring for it, and taking it elsewhere."""

import json
from typing import Annotated, Any

from fastapi import APIRouter, Body, Query
from fastapi.responses import PlainTextResponse

from agents_manager.api import forms, pages
from agents_manager.api.context import Admin, Caller, Services
from agents_manager.flow import blockers
from agents_manager.flow.memory import care, exchange, looking
from agents_manager.flow.ports import Tx

router = APIRouter(tags=["knowledge"])


@router.get("/knowledge/nodes")
async def search_knowledge(
    s: Services, query: Annotated[forms.KnowledgeQuery, Query()]
) -> pages.FoundNodes:
    """What is known and fits all that is asked: words, tags, kinds, files and states; by words the
    best first, else the newest first. `next` is the cursor of the page that follows."""
    wanted = looking.Wanted(
        text=query.q,
        tags=query.tag,
        kinds=query.kind,
        files=query.file,
        states=query.state,
        task=query.task,
        project=query.project,
    )
    return pages.FoundNodes.of(
        await s.store.read(
            lambda tx: looking.search(tx, wanted, limit=query.limit, after=query.cursor)
        )
    )


@router.get("/knowledge/tags")
async def list_tags(s: Services, query: Annotated[forms.ProjectQuery, Query()]) -> pages.Tags:
    """Every tag, and how much that is known has it; the most frequent first."""
    found = await s.store.read(lambda tx: looking.tags(tx, query.project))
    items = [pages.TagCount(tag=tag, count=count) for tag, count in found.items()]
    return pages.Tags(items=items)


@router.get("/knowledge/nodes/{node_id}")
async def get_knowledge(s: Services, node_id: str) -> pages.NodeView:
    """One, with where it comes from and what it hangs together with."""
    return pages.NodeView.of(await s.store.read(lambda tx: looking.node(tx, node_id)))


@router.patch("/knowledge/nodes/{node_id}")
async def edit_knowledge(
    s: Services, actor: Caller, node_id: str, form: forms.NodeEdit
) -> pages.NodeView:
    """Changes its words, tags, severity or details; what is left out stays as it is. What was said
    before stays with those who said it."""
    given = form.model_dump(exclude_unset=True)

    def write(tx: Tx) -> looking.NodeView:
        return looking.node(tx, care.edit(tx, s, node_id, actor, **given).id)

    return pages.NodeView.of(await s.store.write(write))


@router.post("/knowledge/nodes/{node_id}/confirm")
async def confirm_knowledge(s: Services, actor: Caller, node_id: str) -> pages.NodeView:
    """Says that it holds now, also where its file has changed or another says otherwise."""

    def write(tx: Tx) -> looking.NodeView:
        return looking.node(tx, care.confirm(tx, s, node_id, actor).id)

    return pages.NodeView.of(await s.store.write(write))


@router.post("/knowledge/nodes/{node_id}/retire")
async def retire_knowledge(
    s: Services, actor: Caller, node_id: str, form: forms.Retire
) -> pages.NodeView:
    """Says that it holds no longer: agents are not told it any more. It stays on record."""

    def write(tx: Tx) -> looking.NodeView:
        return looking.node(tx, care.retire(tx, s, node_id, actor, form.reason).id)

    return pages.NodeView.of(await s.store.write(write))


@router.post("/knowledge/nodes/{node_id}/contradict")
async def contradict_knowledge(
    s: Services, actor: Caller, node_id: str, form: forms.Contradict
) -> pages.NodeView:
    """Says that another node says otherwise, until somebody says which of the two holds."""

    def write(tx: Tx) -> looking.NodeView:
        done = care.contradict(tx, s, node_id, actor, form.other, form.reason)
        return looking.node(tx, done.id)

    return pages.NodeView.of(await s.store.write(write))


@router.get("/projects/{project_id}/knowledge/queue")
async def list_curation(s: Services, project_id: str) -> pages.CurationQueue:
    """What somebody should look at, and why: stale, contradicted, nearly the same as another, or
    often told and never of help."""
    found = await s.store.read(lambda tx: care.queue(tx, tx.projects.find(project_id)))
    return pages.CurationQueue(items=[pages.ToCurate.of(one) for one in found])


@router.get("/projects/{project_id}/knowledge/graph")
async def get_knowledge_graph(s: Services, project_id: str) -> pages.KnowledgeGraph:
    """What a drawing needs: up to 2,000 nodes, the newest first and without those that are retired,
    and the edges between them."""
    found = await s.store.read(lambda tx: looking.drawing(tx, project_id))
    return pages.KnowledgeGraph.of(found)


@router.get("/projects/{project_id}/knowledge/map")
async def get_context_map(
    s: Services, project_id: str, query: Annotated[forms.MapQuery, Query()]
) -> pages.ContextMap:
    """The context map: what was done to which file, by which task; by path, of each file the newest
    first. `next` is the cursor of the page that follows."""
    found, after = await s.store.read(
        lambda tx: looking.mapped(
            tx, project_id, under=query.under, limit=query.limit, after=query.cursor
        )
    )
    return pages.ContextMap(items=[pages.MappedFile.of(one) for one in found], next=after)


@router.get("/projects/{project_id}/knowledge/export")
async def export_knowledge(s: Services, project_id: str) -> dict[str, Any]:
    """All that is known of a project, as the document that the import takes."""
    return await s.store.read(lambda tx: exchange.export(tx, s, tx.projects.find(project_id)))


@router.post("/projects/{project_id}/knowledge/import")
async def import_knowledge(
    s: Services, actor: Admin, project_id: str, form: Annotated[dict[str, Any], Body()]
) -> pages.ImportedKnowledge:
    """Adds what an exported document holds and is not there yet, all of it or nothing; ids are kept
    unless another project has them. Each source says who brought it in."""
    project = await s.store.read(lambda tx: tx.projects.find(project_id))
    text = json.dumps(form)
    return pages.ImportedKnowledge.of(await exchange.import_(s, project, text, actor))


@router.get("/projects/{project_id}/knowledge/agents-md", response_class=PlainTextResponse)
async def get_agents_md(s: Services, project_id: str) -> PlainTextResponse:
    """What holds as a section for the project's AGENTS.md; what seems to hold a secret is left
    out. Nothing is written."""
    project = await s.store.read(lambda tx: tx.projects.find(project_id))
    return PlainTextResponse((await exchange.section(s, project)).text)


@router.get("/blockers")
async def list_blockers(
    s: Services, query: Annotated[forms.BlockersQuery, Query()]
) -> pages.Blockers:
    """What runs said to be in the way, with the tasks that it holds up; with `all`, also what is
    resolved."""
    found = await s.store.read(lambda tx: looking.blockers(tx, query.project, resolved=query.all))
    return pages.Blockers(items=[pages.BlockerView.of(one) for one in found])


@router.post("/blockers/{blocker_id}/resolve")
async def resolve_blocker(
    s: Services, actor: Caller, blocker_id: str, form: forms.Resolve | None = None
) -> pages.BlockerView:
    """Says that it is out of the way; the tasks that it held up can go on."""
    note = form.note if form else ""

    def write(tx: Tx) -> looking.Blocked:
        return looking.blocker(tx, blockers.resolve(tx, s, blocker_id, actor, note).id)

    return pages.BlockerView.of(await s.store.write(write))


@router.get("/tasks/{task_id}/knowledge")
async def explain_knowledge(s: Services, task_id: str) -> pages.Recalled:
    """What agents of the task were told of what is known, what the next one is told, and why just
    that."""
    return pages.Recalled.of(await looking.why(s, task_id))
