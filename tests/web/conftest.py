"""A real `am serve` with the built app, and a real Chromium logged in to it.

The server and the browser are started once for each worker process; every test has a project of its
own, which its pages are narrowed to.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, sync_playwright

from agents_manager import webbuild
from tests import debian, repos
from tests.e2e.am_program import PATIENCE_S, PROGRAM, document, until
from tests.github_server import TOKEN

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
Script = Mapping[str, Any]
ALL = os.environ.get("AM_WEB_TESTS") == "all"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    here = [item for item in items if Path(__file__).parent in item.path.parents]
    left = [item for item in here if not ALL and not item.get_closest_marker("quick")]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if item not in left]


@dataclass
class Site:
    """A server of its own, and what its user can do from the outside."""

    folder: Path
    address: str = ""
    http: httpx.Client = field(default_factory=httpx.Client)
    _process: "subprocess.Popen[str] | None" = None

    @property
    def home(self) -> Path:
        return self.folder / "am-home"

    @property
    def env(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder / "user"),
            "USER": "ada",
            "LANG": "C.UTF-8",
            "AM_HOME": str(self.home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "AM_GITHUB_TOKEN": TOKEN,
        }

    def start(self, port: int = 0) -> None:
        self._process = subprocess.Popen(
            [PROGRAM, "serve", "--json", "--port", str(port)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.env,
            cwd=self.folder,
            text=True,
        )
        self.address = document(self._process)["address"]
        token = (self.home / "token").read_text().strip()
        self.http = httpx.Client(
            base_url=f"{self.address}/api/v1/",
            headers={"Authorization": f"Bearer {token}"},
            timeout=PATIENCE_S,
        )

    def stop(self) -> None:
        self.http.close()
        if self._process:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.communicate(timeout=PATIENCE_S)
            finally:
                self._process.kill()
                self._process.communicate()
            self._process = None

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def am(self, *args: str) -> Any:
        ran = subprocess.run(
            [PROGRAM, *args, "--json"],
            env=self.env,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    def get(self, path: str, **query: Any) -> Any:
        return _said(self.http.get(path, params=query))

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        return _said(self.http.post(path, json=body or {}))


def _said(answer: httpx.Response) -> Any:
    assert answer.is_success, answer.text
    return answer.json()


@dataclass(frozen=True)
class Work:
    """A project of one test, and the pages narrowed to it."""

    site: Site
    name: str
    repo: Path

    def url(self, path: str, **query: str) -> str:
        given = "&".join(f"{key}={value}" for key, value in {"project": self.name, **query}.items())
        return f"{self.site.address}/{path.lstrip('/')}?{given}"

    def task(
        self,
        title: str = "Add search",
        script: Script | None = None,
        *,
        start: bool = True,
        **fields: Any,
    ) -> str:
        """A task whose agent plays the script; its id."""
        said = fields.pop("description", "Let people find things.")
        if script is not None:
            said += f"\n\n```agent-script\n{yaml.safe_dump(dict(script), sort_keys=False)}```\n"
        task = self.site.post(
            "tasks", {"project": self.name, "title": title, "description": said, **fields}
        )
        if start:
            self.site.post(f"tasks/{task['id']}/start")
        return task["id"]

    def prompt(self, task: str) -> dict[str, Any]:
        """The question that the task comes to."""
        return until(lambda: next(iter(self.view(task)["prompts"]), None))

    def view(self, task: str) -> dict[str, Any]:
        return self.site.get(f"tasks/{task}")

    def status(self, task: str, wanted: str) -> None:
        until(lambda: self.view(task)["task"]["status"] == wanted)


@pytest.fixture(scope="session")
def ui() -> Path:
    """The app as it is built now."""
    place = webbuild.CHECKOUT
    if not webbuild.is_current(place):
        if webbuild.find_node() is None:
            debian.missing("The web app is not built, and there is no Node to build it: make web")
        webbuild.build(place)
    return place.ui


def make_site(folder: Path) -> Site:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "user").mkdir()
    repos.scripted_home(folder / "am-home")
    return Site(folder)


@pytest.fixture(scope="session")
def site(ui: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    made = make_site(tmp_path_factory.mktemp("site"))
    made.start()
    yield made
    made.stop()


@pytest.fixture
def own_site(ui: Path, tmp_path: Path) -> Iterator[Site]:
    """A server that the test may end and start again."""
    made = make_site(tmp_path / "site")
    made.start()
    yield made
    made.stop()


_numbers = iter(range(1, 1_000_000))


def make_work(site: Site, files: repos.Files | None = None) -> Work:
    name = f"shop{next(_numbers)}"
    repo = make_repo(site.folder / name, files)
    site.post("projects", {"path": str(repo), "name": name})
    return Work(site, name, repo)


def make_repo(repo: Path, files: repos.Files | None = None) -> Path:
    repo.mkdir()
    git = ["git", "-C", str(repo), "-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run(["git", "init", "-q", "-b", "main", str(repo)], check=True)
    repos.write(repo, files or {"README.md": "# Shop\n"})
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "First"], check=True)
    return repo


@pytest.fixture
def work(site: Site) -> Work:
    return make_work(site)


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    program = debian.have("chromium", lambda: shutil.which("chromium"))
    launched = playwright.chromium.launch(executable_path=program, args=FLAGS)
    yield launched
    launched.close()


def login(site: Site, context: BrowserContext) -> None:
    """As from the link that `am login` prints."""
    link = site.post("login-links")
    page = context.new_page()
    page.goto(link["url"])
    page.wait_for_url(lambda url: "/login" not in url)
    page.close()


@contextmanager
def visitor(
    browser: Browser, site: Site, size: Mapping[str, int] = DESKTOP, **options: Any
) -> Generator[BrowserContext]:
    """Somebody with a browser of their own, logged in."""
    context = browser.new_context(
        viewport={"width": size["width"], "height": size["height"]},
        reduced_motion="reduce",
        **options,
    )
    context.set_default_timeout(20_000)
    login(site, context)
    yield context
    context.close()


Faults = list[str]


def watched(page: Page, faults: Faults) -> Page:
    """Errors of the page and of its content security policy fail the test."""
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on(
        "console",
        lambda message: (
            faults.append(message.text)
            if message.type == "error" and "Failed to load resource" not in message.text
            else None
        ),
    )
    return page


@pytest.fixture
def visit(browser: Browser, site: Site) -> Iterator[Callable[..., Page]]:
    """Opens pages, each for another person: `visit()` on a desktop, `visit(PHONE)` on a phone."""
    faults: Faults = []
    open_now: list[Any] = []

    def new(size: Mapping[str, int] = DESKTOP, **options: Any) -> Page:
        held = visitor(browser, site, size, **options)
        context = held.__enter__()
        open_now.append(held)
        return watched(context.new_page(), faults)

    yield new
    for held in open_now:
        held.__exit__(*sys.exc_info())
    assert faults == []


@pytest.fixture
def page(visit: Callable[..., Page]) -> Page:
    return visit()


@pytest.fixture
def phone(visit: Callable[..., Page]) -> Page:
    return visit(PHONE, has_touch=True, is_mobile=True)
