"""What an agent has to know about the state that its workspace was found in."""

from collections.abc import Mapping
from typing import Any

from agents_manager.domain.names import visible
from agents_manager.domain.run import Run
from agents_manager.flow.ports import Tx, WorkspaceRules

MAX_EVENTS = 50


def of_workspace(tx: Tx, run: Run, rules: WorkspaceRules) -> list[str]:
    told = [e for e in tx.events.newest(run.task_id, "git", MAX_EVENTS) if e.type in _NOTES]
    mine = [e for e in reversed(told) if e.data["run"] == run.id]
    shown = [e for e in mine if e.type != SNAPSHOT or rules.tell_leftovers]
    return [f"- {_NOTES[e.type](e.data)}" for e in shown]


def _conflicted(data: Mapping[str, Any]) -> str:
    files = visible(", ".join(data["files"]), 1000) or "some files"
    return (
        f"Your branch could not be rebased onto {data['base']}: both changed {files}. It was left "
        "as it was; expect that the merge needs these conflicts resolved."
    )


def _left_over(data: Mapping[str, Any]) -> str:
    ref = data["ref"]
    return (
        f"An earlier run left work that is on no branch. It was put aside as {ref}. See it with "
        f"`git show --stat {ref}`; take what is useful with `git restore --source {ref} -- PATH`."
    )


def _empty(data: Mapping[str, Any]) -> str:
    return f"These submodules are empty here: {visible(', '.join(data['paths']), 1000)}."


def _pointers(_: Mapping[str, Any]) -> str:
    return "Files kept in Git LFS are only pointers here. Do not change them."


SNAPSHOT = "snapshot.saved"
_NOTES = {
    "git.rebase_conflicted": _conflicted,
    SNAPSHOT: _left_over,
    "workspace.submodules_missing": _empty,
    "workspace.lfs_pointers": _pointers,
}
