"""Copies of what agents print, in pieces: where a piece begins is part of its key, so that none is
there twice."""

from collections.abc import Sequence

from sqlalchemy import bindparam, delete, func, insert, select

from agents_manager.domain.ids import RunId, TaskId
from agents_manager.domain.run import LIVE
from agents_manager.flow.ports import LONGEST_PIECE, TurnFile
from agents_manager.store import schema
from agents_manager.store.statements import Session

_OUTPUT = schema.output.c
_RUN = schema.run.c
_OF_RUN = _OUTPUT.run_id == bindparam("b_run")
_OF_FILE = (_OF_RUN, _OUTPUT.turn == bindparam("b_turn"), _OUTPUT.file == bindparam("b_file"))
_END = _OUTPUT.start + func.length(_OUTPUT.bytes)
_ENDS = (
    select(_OUTPUT.turn, _OUTPUT.file, func.max(_END))
    .where(_OF_RUN)
    .group_by(_OUTPUT.turn, _OUTPUT.file)
)
_LAST = select(_END).where(*_OF_FILE).order_by(_OUTPUT.start.desc()).limit(1)
_ADD = insert(schema.output)
_AFTER = (
    select(_OUTPUT.start, _OUTPUT.bytes)
    .where(*_OF_FILE, _OUTPUT.start > bindparam("b_before"), bindparam("b_offset") < _END)
    .order_by(_OUTPUT.start)
    .limit(bindparam("b_most"))
)
_DROP_FILE = delete(schema.output).where(*_OF_FILE)
_DROP = delete(schema.output).where(_OF_RUN)
_SIZE = select(func.coalesce(func.sum(func.length(_OUTPUT.bytes)), 0)).where(_OF_RUN)
_MARKED = (
    select(_OUTPUT.run_id)
    .where(
        _OUTPUT.run_id == _RUN.id,
        _OUTPUT.turn == bindparam("b_turn"),
        _OUTPUT.file == bindparam("b_file"),
    )
    .exists()
)
_OF_HOST = _RUN.host == bindparam("b_host")
_LIVE = select(_RUN.id).where(_OF_HOST, _RUN.status.in_(LIVE)).order_by(_RUN.created_at)
_UNFINISHED = (
    select(_RUN.id)
    .where(
        _OF_HOST,
        _RUN.status.not_in(LIVE),
        _RUN.transcript_removed_at.is_(None),
        ~_MARKED,
    )
    .order_by(_RUN.created_at.desc())
    .limit(bindparam("b_most"))
)


_COPIED = (
    select(_RUN.id, _RUN.host)
    .where(
        _RUN.task_id == bindparam("b_task"),
        select(_OUTPUT.run_id).where(_OUTPUT.run_id == _RUN.id).exists(),
    )
    .order_by(_RUN.created_at)
)
_TASKS = select(_RUN.task_id).where(_RUN.id.in_(select(_OUTPUT.run_id))).distinct()
_REMOVED = select(_RUN.transcript_removed_at).where(_RUN.id == bindparam("b_run"))


class Outputs:
    def __init__(self, session: Session) -> None:
        self._session = session

    def ends(self, run_id: RunId) -> dict[TurnFile, int]:
        rows = self._session.all(_ENDS, {"b_run": run_id})
        return {(turn, file): end for turn, file, end in rows}

    def end(self, run_id: RunId, part: TurnFile) -> int:
        return self._session.scalar(_LAST, _which(run_id, part)) or 0

    def add(self, run_id: RunId, part: TurnFile, start: int, data: bytes) -> None:
        turn, file = part
        row = {"run_id": run_id, "turn": turn, "file": file, "start": start, "bytes": data}
        self._session.run(_ADD, row)

    def put(self, run_id: RunId, part: TurnFile, data: bytes) -> None:
        self._session.run(_DROP_FILE, _which(run_id, part))
        for start in range(0, max(len(data), 1), LONGEST_PIECE):
            self.add(run_id, part, start, data[start : start + LONGEST_PIECE])

    def after(self, run_id: RunId, part: TurnFile, offset: int, most: int) -> bytes:
        wanted = {**_which(run_id, part), "b_offset": offset, "b_most": most}
        wanted["b_before"] = offset - LONGEST_PIECE
        found = bytearray()
        for start, data in self._session.all(_AFTER, wanted):
            if start > offset + len(found):
                break  # What comes in between is not there.
            found += data[offset + len(found) - start :]
        return bytes(found)

    def live(self, host: str) -> list[RunId]:
        return [RunId(row[0]) for row in self._session.all(_LIVE, {"b_host": host})]

    def unfinished(self, host: str, mark: TurnFile, limit: int) -> list[RunId]:
        turn, file = mark
        wanted = {"b_host": host, "b_turn": turn, "b_file": file, "b_most": limit}
        return [RunId(row[0]) for row in self._session.all(_UNFINISHED, wanted)]

    def tasks(self) -> list[TaskId]:
        return [TaskId(task) for (task,) in self._session.all(_TASKS, {})]

    def of_task(self, task_id: TaskId) -> dict[RunId, str | None]:
        rows = self._session.all(_COPIED, {"b_task": task_id})
        return {RunId(run_id): host for run_id, host in rows}

    def removed(self, run_ids: Sequence[RunId]) -> dict[RunId, bool]:
        rows = {run_id: self._session.one(_REMOVED, {"b_run": run_id}) for run_id in run_ids}
        return {run_id: row[0] is not None for run_id, row in rows.items() if row is not None}

    def size(self, run_ids: Sequence[RunId]) -> int:
        return sum(self._session.scalar(_SIZE, {"b_run": run_id}) for run_id in run_ids)

    def drop(self, run_ids: Sequence[RunId]) -> None:
        for run_id in run_ids:
            self._session.run(_DROP, {"b_run": run_id})


def _which(run_id: RunId, part: TurnFile) -> dict[str, object]:
    turn, file = part
    return {"b_run": run_id, "b_turn": turn, "b_file": file}
