"""What is waited for, and what is not."""

import errno
from datetime import timedelta

import pytest

from agents_manager.errors import ForgeUnavailable, StoreError, StoreUnavailable
from agents_manager.flow import hooks, patience
from tests.contract.store_values import NOW, an_effect


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "FIRST_PAUSE_S", 0.0)


@pytest.mark.parametrize("passes", [StoreUnavailable(), OSError(errno.ENOSPC, "No space")])
async def test_what_passes_is_waited_for(passes: Exception) -> None:
    raised = [passes] * 7

    async def do() -> str:
        if raised:
            raise raised.pop()
        return "done"

    assert await patience.through(do) == "done"


@pytest.mark.parametrize("stays", [StoreError(), OSError(errno.EACCES, "Denied"), ValueError()])
async def test_what_does_not_pass_is_told(stays: Exception) -> None:
    async def do() -> None:
        raise stays

    with pytest.raises(type(stays)):
        await patience.through(do)


def test_an_effect_that_fails_on_a_full_disk_is_tried_for_a_day() -> None:
    row = an_effect(attempt=9, created_at=NOW)
    later = NOW + timedelta(hours=1)
    assert hooks._pause_s(row, later, None, short=False) is None
    assert hooks._pause_s(row, later, None, short=True) == 256
    assert hooks._pause_s(row, NOW + timedelta(hours=25), None, short=True) is None
    assert hooks._pause_s(row, later, ForgeUnavailable(wait_s=7.0), short=True) == 7
