"""Pull requests without a forge: they live in our own database, and are merged by git without a
work tree. Every call looks first, so that doing it again does nothing new."""

from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path

from agents_manager.domain import comment, names
from agents_manager.domain.comment import Comment
from agents_manager.domain.task import MergeMethod, Project, PullRequest, PullState, Task
from agents_manager.errors import HookFailed
from agents_manager.flow.ports import Clock, Conflicted, Ids, Merged, Store, Tx
from agents_manager.scm import commits, joining, landing, pull_text
from agents_manager.scm.git import Place, branch_tip, common_dir, contains, git, locked


class LocalForge:
    def __init__(self, store: Store, clock: Clock, ids: Ids) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids

    async def publish(
        self, project: Project, task: Task, branch: str, base: str, title: str, body: str
    ) -> PullRequest:
        place = Place(git_dir=await common_dir(Path(project.path)))
        head = await commits.tip_or_refuse(place, branch)
        subject, text = names.one_line(title), pull_text.bounded(body)
        new_id, now = self._ids.new(), self._clock.now()

        def put(tx: Tx) -> PullRequest:
            known = tx.pulls.find(project.id, branch, base)
            if known and (known.state is PullState.OPEN or _is_done(known, head)):
                if known.state is PullState.OPEN:
                    tx.pulls.update(known.id, now, head_sha=head, title=subject, body=text)
            else:
                tx.pulls.add(
                    PullRequest(
                        id=new_id,
                        project_id=project.id,
                        task_id=task.id,
                        number=tx.pulls.next_number(project.id),
                        title=subject,
                        body=text,
                        head_branch=branch,
                        base_branch=base,
                        head_sha=head,
                        state=PullState.OPEN,
                        merge_sha=None,
                        created_at=now,
                        updated_at=now,
                    )
                )
            found = tx.pulls.find(project.id, branch, base)
            assert found
            return found

        return await self._store.write(put)

    async def comments(self, project: Project, pull: PullRequest) -> list[Comment]:
        def read(tx: Tx) -> list[Comment]:
            log = tx.events.newest(pull.task_id, comment.CATEGORY, comment.MAX_HAPPENINGS)
            found = comment.of_log(log)
            return [c for c in found if c.pull == pull.number and c.review is None]

        return await self._store.read(read)

    async def merge(
        self, project: Project, pull: PullRequest, head_sha: str, method: MergeMethod
    ) -> Merged | Conflicted:
        repo, head = Path(project.path), commits.checked(head_sha)
        common = await common_dir(repo)
        mine = await self._store.read(lambda tx: tx.pulls.all_of_task(pull.task_id))
        known = next(one for one in mine if one.id == pull.id)
        async with locked(common):
            await landing.complete_unfinished(repo, common, known.base_branch)
            result = await _merge(repo, common, known, head, method)
        if isinstance(result, Merged):
            now, sha = self._clock.now(), result.sha
            fields = {"state": PullState.MERGED, "merge_sha": sha, "head_sha": head}
            await self._store.write(lambda tx: tx.pulls.update(pull.id, now, **fields))
            if method is not MergeMethod.MERGE:
                await landing.forget(common, known.id)
        return result


def _is_done(pull: PullRequest, head: str) -> bool:
    return pull.state is PullState.MERGED and pull.head_sha == head


async def _merge(
    repo: Path, common: Path, pull: PullRequest, head: str, method: MergeMethod
) -> Merged | Conflicted:
    place = Place(git_dir=common)
    base = await branch_tip(place, pull.base_branch)
    if base is None:
        raise HookFailed(f'There is no branch "{pull.base_branch}" in "{repo}" to merge into.')
    if await contains(place, base, head):
        return Merged(sha=await _brought_in_by(place, base, head))
    # As one commit or one by one, the base never holds the head itself.
    landed = pull.merge_sha if _is_done(pull, head) else await landing.landed(common, pull.id)
    if landed and await contains(place, base, landed):
        return Merged(sha=landed)
    if pull.state is PullState.CLOSED:
        raise HookFailed(f"Pull request #{pull.number} is closed.")
    tip = await branch_tip(place, pull.head_branch)
    if tip != head:
        raise HookFailed(
            f'"{pull.head_branch}" moved after the approval of {head}: it is at '
            f"{tip or 'no commit'} now. Review it again."
        )
    new = await joining.made(place, pull, base, head, method)
    if isinstance(new, Conflicted):
        return new
    async with _remembered(common, pull, new, method):
        await landing.land(repo, common, pull.base_branch, base, new)
    return Merged(sha=new)


def _remembered(
    common: Path, pull: PullRequest, new: str, method: MergeMethod
) -> AbstractAsyncContextManager[None]:
    merge = method is MergeMethod.MERGE
    return nullcontext() if merge else landing.known_as(common, pull.id, new)


async def _brought_in_by(place: Place, base: str, head: str) -> str:
    """The commit of the base's own line that first held the head; the head itself if it is one."""
    line = await git(
        place, "rev-list", "--first-parent", "--ancestry-path", "--reverse", f"{head}..{base}"
    )
    return line.line.split("\n")[0] or head
