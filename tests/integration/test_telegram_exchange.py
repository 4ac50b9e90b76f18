"""Telegram with everything behind it but the engine: log, postman, desk and rows."""

import asyncio
from pathlib import Path

import httpx
import pytest

from agents_manager import bootstrap
from agents_manager.channels.config import TelegramConfig
from agents_manager.channels.telegram import Telegram, build
from agents_manager.errors import InvalidConfig
from agents_manager.flow.channels import router
from agents_manager.flow.channels.desk import FrontDesk
from agents_manager.flow.channels.postman import Postman
from agents_manager.settings import Settings
from tests.api.scenes import serving as served
from tests.api.scenes import told
from tests.asking import Clock, seated
from tests.channel_players import ANN, STRANGER
from tests.repos import scripted_home
from tests.telegram_player import TelegramPlayer, listening
from tests.telegram_server import TOKEN, serving

QUESTIONS = {
    "questions": [
        {"id": "q1", "question": "Which *colour*?", "options": ["Red", "Blue"]},
        {"id": "q2", "question": "Why?"},
    ]
}


async def test_a_question_is_answered_step_by_step_and_loses_its_buttons(
    tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AM_TELEGRAM_TOKEN", TOKEN)
    with serving() as platform:
        platform.start(int(ANN))
        people = {ANN: {"name": "ann"}}
        said = {"enabled": True, "people": people, "baseUrl": platform.address}
        scripted_home(tmp_path / "home", notifications={"telegram": said})
        async with seated(tmp_path / "home", repo, str(tmp_path), Clock()) as table:
            s, channel = table.s, table.s.channels["telegram"]()
            assert isinstance(channel, Telegram)
            postman, player = Postman(s, channel, None), TelegramPlayer(channel, platform)
            await s.store.write(lambda tx: router.route(tx, s))
            prompt = await table.asking(payload=QUESTIONS)
            await s.store.write(lambda tx: router.route(tx, s))
            async with listening(channel, FrontDesk(s)):
                assert await postman.step()
                [row] = await s.store.read(lambda tx: tx.deliveries.latest("telegram", 10))
                message = str(row.message)
                await player.press(message, "Blue", person=STRANGER)
                await player.press(message, "Blue")
                assert "Question 2 of 2: Why?" in (await player.shown(message)).text
                await player.press(message, "Custom answer…")
                await player.give("So <b>there</b>")
            answered = await table.prompt(prompt.id)
            assert answered.response is not None
            given = [a["option"] or a["text"] for a in answered.response["answers"]]
            assert given == ["Blue", "So <b>there</b>"]
            assert (answered.responded_by, answered.responded_via) == ("ann", "telegram")
            assert await postman.step()
            over = await player.shown(message)
            assert "✓ ann answered via telegram: Blue; So <b>there</b>" in over.text
            assert over.buttons == ()
            [stranger] = await s.store.read(lambda tx: tx.deliveries.strangers("telegram"))
            assert stranger.person == STRANGER
    assert platform.faults == []


def test_what_telegram_lacks_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = TelegramConfig(webhook_url="https://manager.example/hooks/telegram").rules()
    monkeypatch.delenv("AM_TELEGRAM_TOKEN", raising=False)
    monkeypatch.delenv("AM_TELEGRAM_WEBHOOK_SECRET", raising=False)
    with pytest.raises(InvalidConfig, match="set AM_TELEGRAM_TOKEN"):
        build(lambda: rules)
    monkeypatch.setenv("AM_TELEGRAM_TOKEN", TOKEN)
    with pytest.raises(InvalidConfig, match="needs AM_TELEGRAM_WEBHOOK_SECRET"):
        build(lambda: rules)


async def test_the_door_is_closed_without_its_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AM_TELEGRAM_TOKEN", TOKEN)
    monkeypatch.setenv("AM_TELEGRAM_WEBHOOK_SECRET", "a-secret-of-telegram")
    address = "https://manager.example/hooks/telegram"
    said = {"enabled": True, "webhookUrl": address}
    home = scripted_home(tmp_path / "home", notifications={"telegram": said})
    async with bootstrap.client(Settings(home, None)) as program, served(program) as client:
        update = {"update_id": 1}
        shut = await client.post("/hooks/telegram", json=update)
        assert shut.status_code == 401
        header = {"X-Telegram-Bot-Api-Secret-Token": "a-secret-of-telegram"}
        deaf = await client.post("/hooks/telegram", json=update, headers=header)
        assert deaf.status_code == 503
        (home / "config.json").write_text("{}")
        await asyncio.sleep(0)
        told(await _post(client, header), 403, "NotAllowed")


async def _post(client: httpx.AsyncClient, header: dict[str, str]) -> httpx.Response:
    return await client.post("/hooks/telegram", json={"update_id": 1}, headers=header)
