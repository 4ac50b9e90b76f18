"""The model servers that users name in the settings files of their agents."""

import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

MAX_BYTES = 1024 * 1024
COMMENTS = ("//", "#")
_ADDRESS = re.compile(
    r"""\b\w*(?:base_?url|api_?base)["']?\s*[:=]\s*["'](https?://[^"'\s]+)["']""", re.IGNORECASE
)


def model_servers(files: Iterable[Path]) -> list[str]:
    """Return the addresses of model servers in files of JSON, JSON with comments, or TOML. Files
    that cannot be read name none."""
    found: list[str] = []
    for file in files:
        with suppress(OSError), file.open("rb") as opened:
            text = opened.read(MAX_BYTES).decode(errors="replace")
            lines = (line for line in text.splitlines() if not line.lstrip().startswith(COMMENTS))
            found += [url for line in lines for url in _ADDRESS.findall(line) if _is_valid(url)]
    return list(dict.fromkeys(found))


def _is_valid(url: str) -> bool:
    try:
        return bool(urlsplit(url).hostname) and urlsplit(url).port != 0
    except ValueError:
        return False
