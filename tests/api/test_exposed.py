"""Reached from elsewhere: by a certificate of its own, and behind a real proxy."""

import asyncio
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from agents_manager import bootstrap
from agents_manager.api import server
from agents_manager.api.doors import Certificate, Public, doors, public
from agents_manager.bootstrap import Program
from agents_manager.errors import InvalidInput
from tests.api.scenes import Scene, serving, told

NAME = "am.example"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    folder = tmp_path_factory.mktemp("tls")
    made = Certificate(folder / "cert.pem", folder / "key.pem")
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
        f"-subj /CN={NAME} -addext subjectAltName=DNS:{NAME},IP:127.0.0.1 "
        f"-keyout {made.key} -out {made.file}"
    )
    subprocess.run(command.split(), check=True, capture_output=True)
    return made


async def test_a_certificate_serves_every_address(
    program: Program, certificate: Certificate, token: str
) -> None:
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    async with asyncio.TaskGroup() as group:
        work = group.create_task(
            server.serve(
                program,
                "0.0.0.0",
                0,
                ready.set_result,
                mounts=bootstrap.mounts(program),
                public=Public(NAME),
                certificate=certificate,
            )
        )
        address = await ready
        assert address.startswith("https://0.0.0.0:")
        assert server.address_of(program.settings.home) == f"https://{NAME}"
        port = address.rpartition(":")[2]
        trust = ssl.create_default_context(cafile=str(certificate.file))
        url = f"https://127.0.0.1:{port}"
        async with httpx.AsyncClient(base_url=url, verify=trust, trust_env=False) as client:
            origin = {"Host": NAME, "Origin": f"https://{NAME}"}
            login = await client.post("/auth/login", json={"token": token}, headers=origin)
            assert "secure" in login.headers["set-cookie"].lower()
            told(await client.get("/healthz", headers={"Host": "evil.example"}), 421, "WrongHost")
            plain = {"Host": NAME, "Origin": f"http://{NAME}"}
            told(await client.post("/auth/login", headers=plain), 403, "NotAllowed")
        await _only_agents(program)
        work.cancel()
    assert program.services.reachable.url is None
    assert server.address_of(program.settings.home) is None


async def _only_agents(program: Program) -> None:
    """Agents do not know the certificate: they have a port of their own, and nothing else has."""
    inside = program.services.reachable.url
    assert inside
    assert inside.startswith("http://127.0.0.1:")
    async with httpx.AsyncClient(base_url=inside, trust_env=False) as agent:
        told(await agent.get("/healthz"), 404, "NotFound")
        told(await agent.get("/api/v1/me"), 404, "NotFound")
        told(await agent.get("/", headers={"Host": "evil.example"}), 421, "WrongHost")
        assert (await agent.post("/mcp/run/none", json={})).status_code in (401, 404)


async def test_a_certificate_that_cannot_be_used_is_named(
    program: Program, certificate: Certificate, tmp_path: Path
) -> None:
    locked = tmp_path / "locked.pem"
    command = f"openssl ec -in {certificate.key} -aes256 -passout pass:x -out {locked}"
    await asyncio.to_thread(subprocess.run, command.split(), check=True, capture_output=True)
    (tmp_path / "empty.pem").touch()
    for wrong in (
        Certificate(certificate.key, certificate.key),
        Certificate(certificate.file, certificate.file),
        Certificate(certificate.file, locked),
        Certificate(certificate.file, tmp_path / "missing.pem"),
        Certificate(tmp_path / "empty.pem", certificate.key),
    ):
        with pytest.raises(InvalidInput, match="cannot be used"):
            await server.serve(program, "127.0.0.1", 0, print, certificate=wrong)


async def test_every_address_needs_a_name(program: Program, certificate: Certificate) -> None:
    for host in ("0.0.0.0", "::"):
        with pytest.raises(InvalidInput, match="--public-url"):
            await server.serve(program, host, 0, print, certificate=certificate)
        with pytest.raises(InvalidInput, match="without TLS"):
            await server.serve(program, host, 0, print, public=Public(NAME))


@asynccontextmanager
async def proxy(target: int, *, strips: str = "", host: str = NAME) -> AsyncIterator[int]:
    """A reverse proxy that forgets about TLS: each connection is one request."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        kept = [one for one in lines if one.partition(":")[0].lower() not in ("host", "connection")]
        first = first.replace(f" {strips}", " ", 1) if strips else first
        upstream, up = await asyncio.open_connection("127.0.0.1", target)
        lines = [first, f"Host: {host}", "Connection: close", *kept]
        up.write("\r\n".join(lines).encode())
        async with asyncio.TaskGroup() as group:
            there = group.create_task(_copy(reader, up))
            await _copy(upstream, writer)
            there.cancel()
        for end in (up, writer):
            end.close()

    front = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with front:
        yield front.sockets[0].getsockname()[1]


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while chunk := await source.read(65536):
        target.write(chunk)
        await target.drain()


@pytest.mark.parametrize(
    ("strips", "passes_host"), [("", True), ("/am", True), ("", False), ("/am", False)]
)
async def test_behind_a_proxy_in_a_folder(
    program: Program, scene: Scene, token: str, strips: str, passes_host: bool
) -> None:
    await scene.task()
    async with serving(program, public=Public(NAME, "/am")) as own:
        port = own.base_url.port
        assert port
        host = NAME if passes_host else f"127.0.0.1:{port}"
        async with proxy(port, strips=strips, host=host) as front:
            url, headers = f"http://127.0.0.1:{front}", {"Origin": f"https://{NAME}"}
            async with httpx.AsyncClient(
                base_url=url, headers=headers, trust_env=False, timeout=30
            ) as web:
                login = await web.post("/am/auth/login", json={"token": token})
                cookie = login.headers["set-cookie"]
                assert "Secure" in cookie
                web.headers["Cookie"] = cookie.partition(";")[0]
                assert (await web.get("/am/api/v1/me")).json()["via"] == "web"
                link = await web.post("/am/api/v1/login-links")
                assert link.json()["url"].startswith(f"https://{NAME}/am/login#")
                elsewhere = {"Origin": "https://evil.example"}
                told(await web.post("/am/auth/logout", headers=elsewhere), 403, "NotAllowed")
                async with web.stream("GET", "/am/api/v1/events/stream?after=0") as stream:
                    chunks = stream.aiter_bytes()
                    assert b"data:" in await anext(chunks) + await anext(chunks)


@pytest.mark.parametrize(
    ("url", "host", "base"),
    [
        ("https://am.example", NAME, ""),
        ("https://AM.example/", NAME, ""),
        ("https://am.example:443", NAME, ""),
        ("https://am.example:8443/tools/am/", "am.example:8443", "/tools/am"),
        ("https://[fd00::1]/am", "[fd00::1]", "/am"),
    ],
)
def test_a_public_address(url: str, host: str, base: str) -> None:
    assert public(url) == Public(host, base)
    assert doors("127.0.0.1", 1, public=public(url)).url == f"https://{host}{base}"


@pytest.mark.parametrize(
    "url",
    [
        "http://am.example",
        "am.example",
        "https://",
        "https://user@am.example",
        "https://am.example/a?b",
        "https://am.example/a#b",
        "https://am.example/a/../b",
        "https://am.example/a//b",
        'https://am.example/"><script>',
        "https://am.example:port",
        "https://[fd00::1",
        "https://am.example/api",
        "https://am.example/assets/x",
    ],
)
def test_what_is_no_public_address(url: str) -> None:
    with pytest.raises(InvalidInput, match="public"):
        public(url)
