"""Whom the gateway asks, and what an agent behind it does not get."""

from collections.abc import Mapping

import pytest

from agents_manager.agents import environment, providers
from agents_manager.agents.codex import CodexAgent
from agents_manager.agents.config import CodexConfig
from agents_manager.errors import InvalidInput

KEY = "sk-real-0123456789abcdef"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("MINE", KEY)


def test_anthropic_as_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    found = providers.anthropic("claude-code")
    assert (found.url, dict(found.headers)) == ("https://api.anthropic.com", {"x-api-key": KEY})
    assert KEY not in repr(found)
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Team: blue\nAuthorization: no")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://models.example/a/")
    found = providers.anthropic("claude-code")
    assert found.url == "https://models.example/a"
    assert found.headers == {"authorization": "Bearer token", "x-team": "blue"}


@pytest.mark.parametrize(
    "url",
    [
        *("http://models.example", "ftp://127.0.0.1", "models.example", "http://127.0.0.1.evil"),
        *(
            "https://ann:secret@models.example",
            "https://models.example?a=b",
            "https://[",
            "https://",
        ),
    ],
)
def test_addresses_that_get_no_key(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
    with pytest.raises(InvalidInput, match="with https") as refused:
        providers.anthropic("claude-code")
    assert "secret" not in refused.value.message


@pytest.mark.parametrize(
    "settings",
    [
        {"model_providers.m": {"base_url": "https://m.example/v1", "env_key": "MINE"}},
        {"model_providers": {"m": {"base_url": "https://m.example/v1", "env_key": "MINE"}}},
        {"model_providers.m.base_url": "https://m.example/v1", "model_providers.m.env_key": "MINE"},
    ],
)
def test_the_provider_of_codex_however_it_is_written(settings: Mapping[str, object]) -> None:
    config = {"gateway": True, "settings": {"model_provider": "m", **settings}}
    found = CodexAgent("codex", CodexConfig.model_validate(config)).provider()
    assert found is not None
    assert (found.url, found.headers["authorization"]) == ("https://m.example/v1", f"Bearer {KEY}")


def test_the_key_is_left_out_whatever_it_is_called() -> None:
    env = {"PATH": "/bin", "MINE": KEY, "HEADERS": f"X: {KEY}"}
    assert providers.without(env, providers.anthropic("claude-code")) == {"PATH": "/bin"}


def test_no_proxy_comes_between() -> None:
    assert environment.near({"A": "b"}) == {"A": "b"}
    near = environment.near({"http_proxy": "http://p", "no_proxy": "x"})
    assert (near["no_proxy"], near["NO_PROXY"]) == ("x,127.0.0.1", "127.0.0.1")
