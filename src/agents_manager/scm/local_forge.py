"""Pull requests without a forge: they live in our own database, and are merged by git without a
work tree. Every call looks first, so that doing it again does nothing new."""

from pathlib import Path

from agents_manager.domain import comment, names
from agents_manager.domain.comment import Comment
from agents_manager.domain.task import Project, PullRequest, PullState, Task
from agents_manager.errors import GitError, HookFailed
from agents_manager.flow.ports import Clock, Conflicted, Ids, Merged, Store, Tx
from agents_manager.scm import commits, landing
from agents_manager.scm.git import (
    Output,
    Place,
    branch_tip,
    common_dir,
    contains,
    first_error,
    git,
    locked,
    signed,
)

BODY_LIMIT = 60_000
MESSAGE_LIMIT = 2000


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
        subject, text = names.one_line(title), _cut(body)
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
            return [c for c in comment.of_log(log) if c.pull == pull.number]

        return await self._store.read(read)

    async def merge(
        self, project: Project, pull: PullRequest, head_sha: str
    ) -> Merged | Conflicted:
        repo, head = Path(project.path), commits.checked(head_sha)
        common = await common_dir(repo)
        async with locked(common):
            await landing.complete_unfinished(repo, common, pull.base_branch)
            result = await _merge(repo, common, pull, head)
        if isinstance(result, Merged):
            now, sha = self._clock.now(), result.sha
            fields = {"state": PullState.MERGED, "merge_sha": sha, "head_sha": head}
            await self._store.write(lambda tx: tx.pulls.update(pull.id, now, **fields))
        return result


def _is_done(pull: PullRequest, head: str) -> bool:
    return pull.state is PullState.MERGED and pull.head_sha == head


def _cut(body: str) -> str:
    """At most 60 kB; half a character at the cut is dropped."""
    raw = body.encode(errors="replace")
    if len(raw) <= BODY_LIMIT:
        return raw.decode()
    note = "\n\n[The text was cut here.]"
    return raw[: BODY_LIMIT - len(note)].decode(errors="ignore") + note


async def _merge(repo: Path, common: Path, pull: PullRequest, head: str) -> Merged | Conflicted:
    place = Place(git_dir=common)
    base = await branch_tip(place, pull.base_branch)
    if base is None:
        raise HookFailed(f'There is no branch "{pull.base_branch}" in "{repo}" to merge into.')
    if await contains(place, base, head):
        return Merged(sha=await _brought_in_by(place, base, head))
    if pull.state is PullState.CLOSED:
        raise HookFailed(f"Pull request #{pull.number} is closed.")
    tip = await branch_tip(place, pull.head_branch)
    if tip != head:
        raise HookFailed(
            f'"{pull.head_branch}" moved after the approval of {head}: it is at '
            f"{tip or 'no commit'} now. Review it again."
        )
    made = await git(
        place, "merge-tree", "--write-tree", "-z", "--name-only", base, head, check=False
    )
    if made.code == 1:
        return _conflict(made)
    if made.code:
        needs = " (merging needs git 2.38 or newer)" if made.code == 129 else ""
        raise GitError(f"git merge-tree failed: {first_error(made)}{needs}")
    tree = made.items[0].decode()
    message = (
        f"Merge pull request #{pull.number}: {names.one_line(pull.title)}\n\n"
        f"Agents-Manager-Pull: {pull.id}\n"
    )
    commit = await git(
        await signed(place),
        *("commit-tree", tree, "-p", base, "-p", head, "-F", "-"),
        input=message.encode(errors="replace"),
    )
    await landing.land(repo, common, pull.base_branch, base, commit.line)
    return Merged(sha=commit.line)


async def _brought_in_by(place: Place, base: str, head: str) -> str:
    """The commit of the base's own line that first held the head; the head itself if it is one."""
    line = await git(
        place, "rev-list", "--first-parent", "--ancestry-path", "--reverse", f"{head}..{base}"
    )
    return line.line.split("\n")[0] or head


def _conflict(made: Output) -> Conflicted:
    """Reads the tree, the files, an empty entry, then records of paths, a kind and a message."""
    entries = made.items
    end = entries.index(b"", 1)
    files = tuple(dict.fromkeys(name.decode(errors="replace") for name in entries[1:end]))
    messages: list[str] = []
    rest = iter(entries[end + 1 :])
    for count in rest:
        for _ in range(int(count) + 1):
            next(rest)
        messages.append(next(rest).decode(errors="replace").strip())
    told = "\n".join(text for text in messages if text.startswith("CONFLICT"))
    return Conflicted(files=files, message=told[:MESSAGE_LIMIT] or "The branches conflict.")
