"""Copies of what agents print, in pieces, the same on both databases."""

import pytest
from sqlalchemy.exc import IntegrityError

from agents_manager.domain.ids import RunId, TaskId
from agents_manager.domain.run import RunStatus
from agents_manager.errors import StoreError
from agents_manager.flow.ports import LONGEST_PIECE, Tx
from agents_manager.store.database import Database
from tests.contract.store_values import NOW, a_run, furnish

RUN = RunId("run-1")
OUTPUT = (1, "output")
OVER = {"status": RunStatus.COMPLETED, "started_at": NOW, "ended_at": NOW}


def furnished(tx: Tx) -> None:
    furnish(tx)
    tx.runs.add(a_run(RUN, host="a", **OVER))


async def test_pieces_are_read_from_any_byte_on(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        furnished(tx)
        tx.outputs.add(RUN, OUTPUT, 0, b"one\n")
        tx.outputs.add(RUN, OUTPUT, 4, b"\x00\xff\n")
        tx.outputs.put(RUN, (2, "asked.md"), b"Go on.")

    await any_store.write(write)
    assert await any_store.read(lambda tx: tx.outputs.ends(RUN)) == {
        OUTPUT: 7,
        (2, "asked.md"): 6,
    }
    assert await any_store.read(lambda tx: tx.outputs.end(RUN, OUTPUT)) == 7
    assert await any_store.read(lambda tx: tx.outputs.end(RUN, (3, "output"))) == 0
    for offset, expected in ((0, b"one\n\x00\xff\n"), (2, b"e\n\x00\xff\n"), (5, b"\xff\n")):
        found = await any_store.read(lambda tx, o=offset: tx.outputs.after(RUN, OUTPUT, o, 10))
        assert found == expected
    assert await any_store.read(lambda tx: tx.outputs.after(RUN, OUTPUT, 0, 1)) == b"one\n"
    assert await any_store.read(lambda tx: tx.outputs.after(RUN, OUTPUT, 7, 10)) == b""


async def test_a_piece_is_there_once(any_store: Database) -> None:
    await any_store.write(furnished)
    await any_store.write(lambda tx: tx.outputs.add(RUN, OUTPUT, 0, b"one"))
    with pytest.raises((IntegrityError, StoreError)):
        await any_store.write(lambda tx: tx.outputs.add(RUN, OUTPUT, 0, b"two"))
    assert await any_store.read(lambda tx: tx.outputs.after(RUN, OUTPUT, 0, 10)) == b"one"


async def test_what_follows_a_gap_is_not_shown(any_store: Database) -> None:
    def write(tx: Tx) -> None:
        furnished(tx)
        tx.outputs.add(RUN, OUTPUT, 0, b"one")
        tx.outputs.add(RUN, OUTPUT, 9, b"later")

    await any_store.write(write)
    assert await any_store.read(lambda tx: tx.outputs.after(RUN, OUTPUT, 0, 10)) == b"one"


async def test_a_whole_file_takes_the_place_of_the_one_before(any_store: Database) -> None:
    checks, long = (1, "checks.json"), b"x" * (LONGEST_PIECE + 5)

    def write(tx: Tx) -> None:
        furnished(tx)
        tx.outputs.put(RUN, checks, long)
        tx.outputs.put(RUN, (0, "whole"), b"")

    await any_store.write(write)
    assert await any_store.read(lambda tx: tx.outputs.after(RUN, checks, 0, 10)) == long
    assert await any_store.read(lambda tx: tx.outputs.size([RUN])) == len(long)
    await any_store.write(lambda tx: tx.outputs.put(RUN, checks, b"[]"))
    assert await any_store.read(lambda tx: tx.outputs.after(RUN, checks, 0, 10)) == b"[]"
    assert await any_store.read(lambda tx: tx.outputs.ends(RUN)) == {checks: 2, (0, "whole"): 0}


async def test_what_a_machine_still_has_to_copy(any_store: Database) -> None:
    mark = (0, "whole")

    def write(tx: Tx) -> None:
        furnished(tx)
        tx.runs.add(a_run("run-2", host="b", **OVER))
        tx.runs.add(a_run("run-3", host="a", transcript_removed_at=NOW, **OVER))
        tx.runs.add(a_run("run-4", host="a", status=RunStatus.RUNNING, started_at=NOW))

    await any_store.write(write)
    assert await any_store.read(lambda tx: tx.outputs.live("a")) == ["run-4"]
    assert await any_store.read(lambda tx: tx.outputs.unfinished("a", mark, 10)) == [RUN]
    await any_store.write(lambda tx: tx.outputs.put(RUN, mark, b""))
    assert await any_store.read(lambda tx: tx.outputs.unfinished("a", mark, 10)) == []


async def test_copies_go_with_their_run(any_store: Database) -> None:
    await any_store.write(furnished)
    await any_store.write(lambda tx: tx.outputs.add(RUN, OUTPUT, 0, b"one"))
    await any_store.write(lambda tx: tx.outputs.drop([RUN]))
    assert await any_store.read(lambda tx: tx.outputs.ends(RUN)) == {}
    await any_store.write(lambda tx: tx.outputs.add(RUN, OUTPUT, 0, b"one"))
    await any_store.write(lambda tx: tx.tasks.delete(TaskId("task-1")))
    assert await any_store.read(lambda tx: tx.outputs.ends(RUN)) == {}
