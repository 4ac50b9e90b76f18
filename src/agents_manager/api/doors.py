"""Under which addresses a server is reached: its own, and the public one of a proxy or a name."""

import re
import ssl
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from agents_manager.errors import InvalidInput

RESERVED = frozenset(
    {"api", "assets", "auth", "docs", "healthz", "mcp", "metrics", "openapi.json", "readyz"}
)
"""First folders of addresses that are not pages of the web app."""
_HOST = re.compile(r"([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:\d{1,5})?")
_BASE = re.compile(r"(/[A-Za-z0-9._~-]+)*")


@dataclass(frozen=True, slots=True)
class Public:
    """An address with TLS, and the folder under which a proxy shows the server there."""

    host: str
    base: str = ""

    @property
    def origin(self) -> str:
        return f"https://{self.host}"


@dataclass(frozen=True, slots=True)
class Certificate:
    file: Path
    key: Path

    def check(self) -> None:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        try:
            # Without the empty password, OpenSSL would ask for one at the terminal.
            context.load_cert_chain(self.file, self.key, password="")
        except OSError as error:
            why = error.reason if isinstance(error, ssl.SSLError) else error.strerror
            raise InvalidInput(
                f"The certificate {self.file} with the key {self.key} cannot be used ({why}); both "
                "are files in PEM form, the key without a password."
            ) from None


@dataclass(frozen=True, slots=True)
class Doors:
    own: tuple[str, ...]
    """What a client may call this server in its Host header, the bound name first."""
    tls: bool = False
    public: Public | None = None

    @property
    def address(self) -> str:
        return f"{self._scheme}://{self.own[0]}"

    @property
    def url(self) -> str:
        """What to give to people."""
        return self.public.origin + self.public.base if self.public else self.address

    @property
    def hosts(self) -> frozenset[str]:
        return frozenset([*self.own, *([self.public.host] if self.public else ())])

    @property
    def origins(self) -> frozenset[str]:
        own = [f"{self._scheme}://{host}" for host in self.own]
        return frozenset([*own, *([self.public.origin] if self.public else ())])

    def base(self, host: str) -> str:
        """Only under the public name there is a folder before ours."""
        return self.public.base if self.public and host.lower() == self.public.host else ""

    @property
    def _scheme(self) -> str:
        return "https" if self.tls else "http"


def doors(host: str, port: int, *, tls: bool = False, public: Public | None = None) -> Doors:
    name = host.strip("[]")
    bound = f"[{name}]" if ":" in name else name
    known = dict.fromkeys([bound.lower(), "127.0.0.1", "localhost", "[::1]"])
    numbered = [f"{each}:{port}" for each in known]
    return Doors(
        tuple(numbered + list(known) if port == (443 if tls else 80) else numbered), tls, public
    )


def public(url: str) -> Public:
    """The address given with --public-url."""
    refused = InvalidInput(
        f'"{url[:200]}" is no public address; write it as https://host or https://host/folder.'
    )
    try:
        parts = urlsplit(url)
    except ValueError:
        raise refused from None
    host, base = parts.netloc.lower(), parts.path.rstrip("/")
    plain = not (parts.query or parts.fragment)
    if parts.scheme != "https" or not plain or not _HOST.fullmatch(host):
        raise refused
    folders = base.split("/")[1:]
    if not _BASE.fullmatch(base) or {".", ".."} & set(folders):
        raise refused
    if folders and folders[0] in RESERVED:
        raise InvalidInput(
            f'"/{folders[0]}" is an address of the server itself; choose another folder for '
            "--public-url."
        )
    return Public(host.removesuffix(":443"), base)
