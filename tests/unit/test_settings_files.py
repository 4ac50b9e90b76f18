"""The model servers that users name in the settings of their agents."""

from pathlib import Path

from agents_manager.agents.settings_files import model_servers

SETTINGS = """{
  // "baseURL": "http://127.0.0.1:1/old",
  "provider": {"local": {"options": {"baseURL": "http://127.0.0.1:8080/v1"}}},
  "env": {"OPENAI_BASE_URL": "https://models.example.com/v1", "name": "http://not.example.com"},
  "api_base": "http://localhost:99999/", "baseUrl": "{env:MODELS}"
}"""
TOML = "[providers.mine]\nbase_url = 'http://10.0.0.5:9000'\n# base_url = 'http://10.0.0.6'\n"


def test_addresses_are_found_in_json_with_comments_and_in_toml(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text(SETTINGS)
    (tmp_path / "config.toml").write_text(TOML)
    files = [tmp_path / name for name in ("settings.json", "config.toml", "absent")]
    assert model_servers(files) == [
        "http://127.0.0.1:8080/v1",
        "https://models.example.com/v1",
        "http://10.0.0.5:9000",
    ]
