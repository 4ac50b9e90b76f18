"""The web app's files: open, cached by their names, and nothing but these."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from agents_manager.api.app import build
from agents_manager.api.doors import Doors, Public, doors
from agents_manager.api.stream import Feed
from agents_manager.bootstrap import Program
from tests.api.scenes import PORT, Scene, serving, told

HTML = {"Accept": "text/html,application/xhtml+xml"}
INDEX = '<!doctype html><base href="/"><script src="assets/app-1a2b.js"></script>'
SCRIPT = "console.log(1)\n" * 200
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; worker-src 'self' blob:; "
    "manifest-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
)
OWN = doors("127.0.0.1", PORT)


@pytest.fixture
def ui(tmp_path: Path) -> Path:
    folder = tmp_path / "_ui"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text(INDEX)
    (folder / "assets" / "app-1a2b.js").write_text(SCRIPT)
    (folder / "icon.svg").write_text("<svg/>")
    (folder / "fingerprint.txt").write_text("abc")
    (tmp_path / "secret.txt").write_text("not for everybody")
    (folder / "linked.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "assets" / "linked.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "assets" / "folder").symlink_to(tmp_path)
    return folder


async def client(
    program: Program, ui: Path, ways: Doors = OWN, host: str = f"http://127.0.0.1:{PORT}"
) -> httpx.AsyncClient:
    app = build(program.services, Feed(program.services.store, program.database.watch), ways, ui=ui)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=host)


@pytest.fixture
async def web(program: Program, ui: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with await client(program, ui) as web:
        yield web


async def test_pages_are_open_and_cached_by_their_names(web: httpx.AsyncClient) -> None:
    for path in ("/", "/index.html"):
        page = await web.get(path)
        assert (page.status_code, page.text) == (200, INDEX)
        assert page.headers["cache-control"] == "no-cache"
        assert page.headers["content-type"] == "text/html; charset=utf-8"
    script = await web.get("/assets/app-1a2b.js")
    assert script.text == SCRIPT
    assert script.headers["content-type"] == "text/javascript; charset=utf-8"
    assert script.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert script.headers["content-encoding"] == "gzip"
    icon = await web.get("/icon.svg")
    assert icon.headers["content-type"] == "image/svg+xml"
    assert icon.headers["cache-control"] == "no-cache"
    assert (await web.head("/")).status_code == 200


async def test_an_address_of_the_app_is_its_page(web: httpx.AsyncClient, token: str) -> None:
    for path in ("/login", "/tasks/3f2a", "/a.b/c", "/fingerprint.txt"):
        assert (await web.get(path, headers=HTML)).text == INDEX
        told(await web.get(path), 401, "Unauthenticated")
        told(await web.post(path, headers=HTML), 401, "Unauthenticated")
    told(await web.get("/assets/gone.js", headers=HTML), 404, "NotFound")
    for path in ("/api/v1/gone", "/api", "/auth/gone", "//api/v1/gone"):
        told(await web.get(_url(path), headers=HTML), 401, "Unauthenticated")
        known = {**HTML, "Authorization": f"Bearer {token}"}
        told(await web.get(_url(path), headers=known), 404, "NotFound")


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../../secret.txt",
        "/assets/..%2f..%2fsecret.txt",
        "/assets/%2e%2e/%2e%2e/secret.txt",
        "/assets%2f..%2f..%2fsecret.txt",
        "/assets/..\\..\\secret.txt",
        "/assets/linked.txt",
        "/assets/folder/secret.txt",
        "/assets/%00secret.txt",
        "/assets//etc/passwd",
        "/assets/",
        f"/assets/{'a' * 20_000}",
    ],
)
async def test_no_path_leads_elsewhere(web: httpx.AsyncClient, path: str) -> None:
    told(await web.get(_url(path), headers=HTML), 404, "NotFound")


@pytest.mark.parametrize("path", ["/../secret.txt", "/..%2fsecret.txt", "/linked.txt"])
async def test_no_page_is_another_file(web: httpx.AsyncClient, path: str) -> None:
    assert (await web.get(_url(path), headers=HTML)).text == INDEX


def _url(path: str) -> httpx.URL:
    """As it is; the client would resolve dots itself."""
    url = httpx.URL(f"http://127.0.0.1:{PORT}/")
    url._uri_reference = url._uri_reference._replace(path=path)  # pyright: ignore[reportPrivateUsage]
    return url


async def test_every_answer_is_strict(web: httpx.AsyncClient, token: str) -> None:
    known = {"Authorization": f"Bearer {token}"}
    answers = [
        await web.get("/"),
        await web.get("/assets/app-1a2b.js"),
        await web.get("/assets/gone.js"),
        await web.get("/healthz"),
        await web.get("/api/v1/tasks"),
        await web.get("/api/v1/tasks", headers=known),
        await web.get("/", headers={"Host": "evil.example"}),
    ]
    for answer in answers:
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"


async def test_long_answers_are_compressed_and_streams_are_not(
    program: Program, scene: Scene
) -> None:
    for number in range(5):
        await scene.task(f"Task {number}")
    async with serving(program) as api:
        listed = await api.get("/api/v1/tasks")
        assert listed.headers["content-encoding"] == "gzip"
        assert len(listed.json()["items"]) == 5
        assert "content-encoding" not in (await api.get("/healthz")).headers
        async with api.stream("GET", "/api/v1/events/stream?after=0") as stream:
            assert "content-encoding" not in stream.headers
            first = await anext(stream.aiter_raw())
            assert first == b": open\n\n"


async def test_without_the_built_app_the_page_names_the_command(
    program: Program, tmp_path: Path, ui: Path
) -> None:
    async with await client(program, tmp_path / "nothing") as web:
        for path in ("/", "/tasks/1"):
            page = await web.get(path, headers=HTML)
            assert page.status_code == 503
            assert "<pre>" in page.text
            assert "is not built" in page.text
        told(await web.get("/assets/app-1a2b.js"), 404, "NotFound")
        await asyncio.to_thread(ui.rename, tmp_path / "nothing")
        assert (await web.get("/")).text == INDEX, "it is found once it is built"


async def test_the_page_knows_the_folder_of_its_proxy(program: Program, ui: Path) -> None:
    ways = doors("127.0.0.1", PORT, public=Public("am.example", "/a~b"))
    async with await client(program, ui, ways, "http://am.example") as web:
        for path in ("/", "/a~b", "/a~b/", "/a~b/tasks/1", "/tasks/1"):
            page = await web.get(path, headers=HTML)
            assert '<base href="/a~b/">' in page.text
        for path in ("/assets/app-1a2b.js", "/a~b/assets/app-1a2b.js"):
            assert (await web.get(path)).text == SCRIPT
        told(await web.get("/a~b/api/v1/tasks"), 401, "Unauthenticated")
        local = {**HTML, "Host": f"127.0.0.1:{PORT}"}
        assert '<base href="/">' in (await web.get("/", headers=local)).text


async def test_a_folder_is_escaped(program: Program, ui: Path) -> None:
    ways = doors("127.0.0.1", PORT, public=Public("am.example", '/"><script>'))
    async with await client(program, ui, ways, "http://am.example") as web:
        assert '<base href="/&quot;&gt;&lt;script&gt;/">' in (await web.get("/")).text
