"""Pull requests without a forge: they live in our own database, and are merged by git without a
work tree. Every call looks first, so that doing it again does nothing new."""

from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

from agents_manager.domain import comment, names
from agents_manager.domain.comment import Comment
from agents_manager.domain.task import MergeMethod, Project, PullRequest, PullState, Task
from agents_manager.errors import HookFailed
from agents_manager.flow.ports import Clock, Conflicted, Ids, Merged, Store, Tx
from agents_manager.scm import commits, joining, landing, pull_text, remotes, shared_merge
from agents_manager.scm.credentials import Keys
from agents_manager.scm.git import Place, common_dir, locked
from agents_manager.scm.remotes import Remote
from agents_manager.scm.shared_merge import Order


class LocalForge:
    def __init__(self, store: Store, clock: Clock, ids: Ids, keys: Keys | None = None) -> None:
        """`keys`: of the remotes, where several machines share them."""
        self._store = store
        self._clock = clock
        self._ids = ids
        self._keys = keys

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
            remote = await self._shared(project, common)
            if remote is None:
                result = await _merge(repo, common, known, head, method)
            else:
                await landing.complete_unfinished(repo, common, known.base_branch)
                result = await shared_merge.merge(
                    remote,
                    Order(
                        repo=repo,
                        store=Place(git_dir=common),
                        pull=known,
                        head=head,
                        method=method,
                        note=lambda sha: self._note(known, sha),
                    ),
                )
        if isinstance(result, Merged):
            now, sha = self._clock.now(), result.sha
            fields = {"state": PullState.MERGED, "merge_sha": sha, "head_sha": head}
            await self._store.write(lambda tx: tx.pulls.update(pull.id, now, **fields))
            if method is not MergeMethod.MERGE:
                await landing.forget(common, known.id)
        return result

    async def _shared(self, project: Project, common: Path) -> Remote | None:
        """The remote that machines pass work on by; None where there is one machine alone."""
        if self._keys is None or project.remote is None:
            return None
        return await remotes.of(Place(git_dir=common), await self._keys(Path(project.path)))

    async def _note(self, pull: PullRequest, sha: str) -> None:
        now = self._clock.now()
        await self._store.write(lambda tx: tx.pulls.update(pull.id, now, merge_sha=sha))


def _is_done(pull: PullRequest, head: str) -> bool:
    return pull.state is PullState.MERGED and pull.head_sha == head


async def _merge(
    repo: Path, common: Path, pull: PullRequest, head: str, method: MergeMethod
) -> Merged | Conflicted:
    place = Place(git_dir=common)
    ends = (pull.base_branch, pull.head_branch)
    stands = await landing.known(place, *ends, pull.id)
    if stands.unfinished:
        await landing.complete_unfinished(repo, common, pull.base_branch)
        stands = await landing.known(place, *ends, pull.id)
    base = stands.base
    if base is None:
        raise HookFailed(f'There is no branch "{pull.base_branch}" in "{repo}" to merge into.')
    noted = pull.merge_sha if _is_done(pull, head) else stands.landed
    done = await shared_merge.merged_as(place, replace(pull, merge_sha=noted), base, head)
    if done is not None:
        return Merged(sha=done)
    shared_merge.check_open(pull, head, stands.head)
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
