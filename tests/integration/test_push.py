"""Notices in browsers: read by a browser's own keys, from a push service that checks them."""

from collections.abc import Generator
from pathlib import Path

import pytest

from agents_manager.channels.push import EVERYWHERE, Push
from agents_manager.domain.card import Card
from agents_manager.errors import ChannelDown, ChannelRefused, InvalidInput
from agents_manager.flow.ports import Subscription
from tests.push_player import Clock, Kept, contact, made
from tests.push_server import FakePush

CARD = Card(title="🤖 Agent needs input", body=("Which?",), link="https://m.example/tasks/t1")


@pytest.fixture
def service() -> Generator[FakePush]:
    with FakePush() as fake:
        yield fake
        assert fake.faults == []


async def test_a_browser_reads_what_is_sent_and_what_takes_its_place(
    tmp_path: Path, service: FakePush
) -> None:
    kept = Kept(one=Subscription(**service.subscription))
    push = made(tmp_path, kept)
    service.server_key = push.key()
    message = await push.send(EVERYWHERE, CARD)
    answered = Card(title="Answered", body=("ann: JWT",))
    await push.update(EVERYWHERE, message, answered)
    first, second = service.notices
    assert first == {"title": CARD.title, "body": "Which?", "url": CARD.link, "tag": message}
    assert (second["tag"], second["instead"], second["title"]) == (message, True, "Answered")


def test_the_key_stays_the_same_and_is_nobody_elses(tmp_path: Path) -> None:
    key = made(tmp_path, Kept()).key()
    assert made(tmp_path, Kept()).key() == key
    assert (tmp_path / "push.pem").stat().st_mode & 0o777 == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["push.pem"]


@pytest.mark.parametrize("status", [404, 410])
async def test_a_browser_that_is_gone_is_forgotten(
    tmp_path: Path, service: FakePush, status: int
) -> None:
    kept = Kept(one=Subscription(**service.subscription))
    service.status = status
    await made(tmp_path, kept).send(EVERYWHERE, CARD)
    assert kept == {}
    with pytest.raises(ChannelRefused, match="turn them on in the web app"):
        await made(tmp_path, kept).check()


async def test_one_that_is_down_does_not_have_the_others_told_twice(
    tmp_path: Path, service: FakePush
) -> None:
    with FakePush() as other:
        kept = Kept(
            one=Subscription(**service.subscription), two=Subscription(**other.subscription)
        )
        push = made(tmp_path, kept)
        other.status, other.retry_after = 503, "7"
        await push.send(EVERYWHERE, CARD)
        assert (len(service.notices), len(other.notices)) == (1, 0)
        service.status = 503
        with pytest.raises(ChannelDown):
            await push.send(EVERYWHERE, CARD)
        del kept["one"]
        with pytest.raises(ChannelDown, match="answered 503") as down:
            await push.send(EVERYWHERE, CARD)
        assert down.value.wait_s == 7
        other.status = 403
        with pytest.raises(ChannelRefused, match="answered 403"):
            await push.send(EVERYWHERE, CARD)


async def test_words_that_do_not_fit_are_a_pointer(tmp_path: Path, service: FakePush) -> None:
    push = made(tmp_path, Kept(one=Subscription(**service.subscription)))
    await push.send(EVERYWHERE, Card(title="T" * 500, body=("ü" * 5000,), link=CARD.link))
    notice = service.notices[0]
    assert "too long to be shown here" in notice["body"]
    assert notice["url"] == CARD.link


@pytest.mark.parametrize(
    ("endpoint", "fits"),
    [
        ("https://fcm.googleapis.com/fcm/send/abc", True),
        ("https://updates.push.services.mozilla.com/wpush/v2/abc", True),
        ("https://web.push.apple.com/abc", True),
        ("http://fcm.googleapis.com/abc", False),
        ("https://fcm.googleapis.com.evil.example/abc", False),
        ("https://evilfcm.googleapis.com/abc", False),
        ("https://fcm.googleapis.com@127.0.0.1/abc", False),
        ("https://fcm.googleapis.com:8443/abc", False),
        ("https://127.0.0.1/abc", False),
        ("https://169.254.169.254/latest/meta-data", False),
        ("file:///etc/passwd", False),
        ("", False),
    ],
)
def test_nothing_is_sent_but_to_the_services_of_browsers(
    tmp_path: Path, service: FakePush, endpoint: str, fits: bool
) -> None:
    kept, said = Kept(), service.subscription
    push = Push(tmp_path, Clock(), kept.all, kept.forget, contact)
    if fits:
        assert push.checked(endpoint, said["point"], said["secret"]).endpoint == endpoint
    else:
        with pytest.raises(InvalidInput, match="not the address of a push service"):
            push.checked(endpoint, said["point"], said["secret"])


@pytest.mark.parametrize(
    ("point", "secret", "said"),
    [("BA", None, "p256dh"), ("%%%", None, "p256dh"), (None, "c2hvcnQ", "auth"), (None, "é", "p2")],
)
def test_keys_that_are_none_are_refused(
    tmp_path: Path, service: FakePush, point: str | None, secret: str | None, said: str
) -> None:
    kept, good = Kept(), service.subscription
    push = Push(tmp_path, Clock(), kept.all, kept.forget, contact)
    with pytest.raises(InvalidInput, match=said):
        push.checked(
            "https://fcm.googleapis.com/x", point or good["point"], secret or good["secret"]
        )
