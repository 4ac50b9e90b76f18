"""The documentation under /docs: open to everybody, whole, and nothing but its own files."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from agents_manager.api.faults import HEADERS, Edge
from agents_manager.api.manual.door import Docs
from tests.api.scenes import told
from tests.repos import write

FILES = {
    "README.md": "# Manual\n\n## Start\n\n- [First](first.md): begin\n- [Code](../src/x.py)\n\n"
    "## More\n\n- [How](how/to.md)\n- [Why](decisions/README.md)\n",
    "first.md": "# First\n\n<!-- for programs -->\n\n## Twice\n\nA.\n\n## Twice\n\n<b>bold</b>\n",
    "how/to.md": "# How\n\n[First](../first.md#twice-1), [all](../README.md), [us](https://a.example)."
    "\n\n```sh not run: why\nam serve # it\n```\n\n| a |\n|---|\n| `b` |\n\n![Seen](../p/a.png)\n",
    "decisions/README.md": "# Decisions\n\n[One](0001-one.md)\n",
    "decisions/0001-one.md": "# One\n\nNever twice again.\n",
    "p/a.png": "no picture\n",
    "secret.txt": "not for everybody\n",
}


@pytest.fixture
async def web(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    write(tmp_path / "docs", FILES)
    (tmp_path / "outside.md").write_text("# Outside\n")
    app = Edge(Docs(_nothing, tmp_path / "docs"))
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://127.0.0.1"
    ) as client:
        yield client


async def _nothing(*_: object) -> None:
    raise AssertionError("it was passed on")


async def test_everybody_reads_it_on_the_server(stranger: httpx.AsyncClient) -> None:
    page = await stranger.get("/docs/how-to/web")
    assert page.status_code == 200
    assert "<h1" in page.text
    for name, value in HEADERS.items():
        assert page.headers[name] == value
    assert (await stranger.get("/docs")).headers["location"] == "docs/"
    told(await stranger.post("/docs/how-to/web"), 401, "Unauthenticated")


async def test_links_lead_to_pages_from_whatever_folder(web: httpx.AsyncClient) -> None:
    how = (await web.get("/docs/how/to")).text
    assert 'href="../first#twice-1"' in how
    assert '<a href="../">all</a>' in how
    assert 'href="https://a.example"' in how
    assert 'src="../p/a.png" alt="Seen"' in how
    assert 'href="../site.css"' in how
    assert '<a href="../how/to" aria-current="page">How</a>' in how
    assert '<a href="../first" rel="prev">' in how
    assert '<span class="c1"># it</span>' in how
    assert "not run" not in how
    index = (await web.get("/docs/")).text
    assert "<span>Code</span>" in index, "what is not on the site is named and not linked"
    assert '<a href="decisions/">Why</a>' in index
    assert '<a href="0001-one">One</a>' in (await web.get("/docs/decisions/")).text


async def test_headings_have_anchors_and_html_is_not_obeyed(web: httpx.AsyncClient) -> None:
    page = (await web.get("/docs/first")).text
    assert '<h2 id="twice">' in page
    assert '<h2 id="twice-1">' in page
    assert "for programs" not in page
    assert "&lt;b&gt;bold&lt;/b&gt;" in page


async def test_search_finds_parts_of_pages(web: httpx.AsyncClient) -> None:
    found = (await web.get("/docs/search", params={"q": "TWICE a"})).text
    assert '<a href="./first#twice">First: Twice</a>' in found
    assert found.index("./first#twice") < found.index("./decisions/0001-one")
    evil = (await web.get("/docs/search", params={"q": "<script>"})).text
    assert "<script>" not in evil
    assert "No page has all of these words" in evil
    assert (await web.get("/docs/search")).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        *("gone", "how", "first.md", "secret.txt", "..%2foutside", "/etc/passwd", "%00"),
        "a/" * 2000,
    ],
)
async def test_nothing_else_is_there(web: httpx.AsyncClient, path: str) -> None:
    answer = await web.get(f"/docs/{path}")
    assert answer.status_code == 404
    assert "There is no such page" in answer.text


async def test_a_changed_page_is_shown_as_it_is_now(web: httpx.AsyncClient, tmp_path: Path) -> None:
    assert "Never" in (await web.get("/docs/decisions/0001-one")).text
    write(tmp_path / "docs", {"decisions/0001-one.md": "# Another\n"})
    assert "Another" in (await web.get("/docs/decisions/0001-one")).text
