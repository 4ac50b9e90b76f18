"""The app that people are told to make can do what the channel does."""

from pathlib import Path
from typing import Any

import yaml

from tests import slack_rules
from tests.docs import blocks

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "slack.md"
OF_THE_APP = "connections:write"
"""Of the other token."""


def manifest() -> dict[str, Any]:
    [block, *_] = (block for block in blocks.of(PAGE) if block.language == "yaml")
    return yaml.safe_load(block.text)


def test_the_manifest_has_what_is_needed_and_fits_slack() -> None:
    made = manifest()
    scopes = set(made["oauth_config"]["scopes"]["bot"])
    heard = {"message.im": "im:history", "message.channels": "channels:history"}
    heard["message.groups"] = "groups:history"
    assert scopes == {*slack_rules.SCOPES.values(), *heard.values(), "commands"} - {OF_THE_APP}
    settings, features = made["settings"], made["features"]
    assert set(settings["event_subscriptions"]["bot_events"]) == set(heard)
    assert settings["interactivity"]["is_enabled"]
    assert settings["socket_mode_enabled"]
    assert features["app_home"]["messages_tab_read_only_enabled"] is False
    [command] = features["slash_commands"]
    assert command["command"] == "/am"
    assert len(made["display_information"]["name"]) <= 35
    assert len(made["display_information"]["description"]) <= 140
    assert f"`{OF_THE_APP}`" in PAGE.read_text()
