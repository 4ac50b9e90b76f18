"""When a provider's limit ends, by the headers of its response."""

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from agents_manager.domain import limit_headers

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        pytest.param({"retry-after": "30"}, 30, id="seconds"),
        pytest.param({"retry-after": "1.5"}, 1.5, id="part of a second"),
        pytest.param({"retry-after": "Sun, 15 Nov 2026 13:00:00 GMT"}, 3600, id="date"),
        pytest.param(
            {
                "anthropic-ratelimit-requests-reset": "2026-11-15T12:01:00Z",
                "anthropic-ratelimit-requests-remaining": "0",
                "anthropic-ratelimit-tokens-reset": "2026-11-15T18:00:00Z",
                "anthropic-ratelimit-tokens-remaining": "5000",
            },
            60,
            id="only what is used up",
        ),
        pytest.param(
            {
                "anthropic-ratelimit-unified-reset": f"{NOW.timestamp() + 300:.0f}",
                "anthropic-ratelimit-unified-status": "rejected",
            },
            300,
            id="subscription",
        ),
        pytest.param(
            {
                "anthropic-ratelimit-unified-reset": f"{NOW.timestamp() + 300:.0f}",
                "anthropic-ratelimit-unified-status": "allowed",
            },
            None,
            id="subscription with room",
        ),
        pytest.param({"x-ratelimit-reset-requests": "1h6m0s"}, 3960, id="OpenAI"),
        pytest.param(
            {"x-ratelimit-reset-tokens": "500ms", "x-ratelimit-remaining-tokens": "7"},
            None,
            id="OpenAI with room",
        ),
        pytest.param(
            {
                "x-codex-primary-reset-at": f"{NOW.timestamp() + 900:.0f}",
                "x-codex-primary-used-percent": "100.0",
                "x-codex-secondary-reset-at": f"{NOW.timestamp() + 9_000:.0f}",
                "x-codex-secondary-used-percent": "40",
            },
            900,
            id="Codex",
        ),
        pytest.param({"retry-after": "soon"}, None, id="neither"),
        pytest.param({"retry-after": "9" * 40}, None, id="too many digits"),
        pytest.param({"retry-after": "999999999"}, None, id="too far"),
        pytest.param({"x-ratelimit-reset-requests": "tomorrow"}, None, id="no duration"),
        pytest.param({"anthropic-ratelimit-tokens-reset": "9" * 30}, None, id="no time"),
        pytest.param({}, None, id="none"),
    ],
)
def test_the_time_at_which_a_limit_ends(headers: Mapping[str, str], seconds: float | None) -> None:
    at = limit_headers.resets_at(headers, NOW)
    assert (at and (at - NOW).total_seconds()) == seconds
