"""What the stages of a task said, asked of each other and were given."""

from fastapi import APIRouter

from agents_manager.api import pages
from agents_manager.api.context import Services
from agents_manager.flow import contexts

router = APIRouter(prefix="/tasks/{task_id}/context", tags=["tasks"])


@router.get("")
async def show_context(s: Services, task_id: str) -> pages.StageContext:
    """The PipelineContext of a staged task, computed from what happened: the request, the outputs
    of the stages, loop-backs, retries and metadata; as a document and as Markdown. Beside it stands
    how far each stage is, with its runs, and what ran again for whom."""
    view = await s.store.read(lambda tx: contexts.of_task(tx, s, task_id))
    return pages.StageContext(
        context=view.context.model_dump(mode="json"),
        agent=view.agent,
        markdown=view.markdown,
        stages=[pages.StageSeen.of(one) for one in view.stages],
        loop_backs=[pages.LoopBackSeen.of(one) for one in view.loop_backs],
        retries=[pages.RetrySeen.of(one) for one in view.retries],
    )


@router.get("/{run_id}")
async def show_given(s: Services, task_id: str, run_id: str) -> pages.StageGiven:
    """What the agent of a run was given of what the others said, and how much that is."""
    return pages.StageGiven.of(
        await s.store.read(lambda tx: contexts.given(tx, s, task_id, run_id))
    )
