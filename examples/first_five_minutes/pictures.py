"""Screenshots of the web app on the way, or none."""

from pathlib import Path
from typing import Any

import httpx

PICTURES = Path(__file__).resolve().parents[2] / "docs" / "pictures"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
SETTLED_MS = 2500


class NoCamera:
    def __init__(self, address: str, home: Path) -> None:
        pass

    def take(self, name: str, path: str) -> None:
        pass

    def close(self) -> None:
        pass


class Camera:
    def __init__(self, address: str, home: Path) -> None:
        from playwright.sync_api import sync_playwright

        headers = {"Authorization": f"Bearer {(home / 'token').read_text().strip()}"}
        http = httpx.Client(base_url=f"{address}/api/v1/", headers=headers, timeout=60)
        self._address = address
        self._playwright: Any = sync_playwright().start()
        self._browser = self._playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=FLAGS
        )
        self._page = self._browser.new_page(
            viewport={"width": 1280, "height": 800}, reduced_motion="reduce"
        )
        self._page.goto(http.post("login-links").json()["url"])
        self._page.wait_for_url(lambda url: "/login" not in url)

    def take(self, name: str, path: str) -> None:
        self._page.goto(f"{self._address}/{path}")
        self._page.wait_for_timeout(SETTLED_MS)
        self._page.screenshot(path=PICTURES / f"first-{name}.png")

    def close(self) -> None:
        self._browser.close()
        self._playwright.stop()
