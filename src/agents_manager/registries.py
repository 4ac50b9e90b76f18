"""The package registries that pip, uv, npm, pnpm, Yarn, Bun, Cargo and Go of this machine are
configured for, as sandboxed commands need them: without credentials."""

import configparser
import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

VARIABLES = frozenset(
    {
        *("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_TRUSTED_HOST", "PIP_CERT"),
        *("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS"),
        *("UV_INSECURE_HOST", "UV_NATIVE_TLS", "UV_SYSTEM_CERTS"),
        *("NPM_CONFIG_REGISTRY", "npm_config_registry", "NPM_CONFIG_CAFILE", "npm_config_cafile"),
        *("YARN_NPM_REGISTRY_SERVER", "YARN_HTTPS_CA_FILE_PATH", "BUN_CONFIG_REGISTRY"),
        *("GOPROXY", "GONOPROXY", "GOPRIVATE", "GOSUMDB", "GONOSUMDB", "CARGO_HTTP_CAINFO"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
        *("NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO"),
    }
)
"""Variables that say where packages come from, and by which certificates servers are known."""
_CARGO_INDEX = re.compile(r"CARGO_REGISTRIES_[A-Z0-9_]+_INDEX")
_CREDENTIALS = re.compile(r"(://)[^/\s\"'@]*@")
_ADDRESS = re.compile(r"(https?)://(\[[0-9A-Fa-f:]+\]|[^/\s\"',|:?#\]]+)(?::(\d+))?")
_PATH = re.compile(r"(?:^|[=\s\"'])(/[^\s\"',]+)")
_PORTS = {"http": 80, "https": 443}
_FOLDER = os.O_RDONLY | os.O_DIRECTORY
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL

_PIP = ("index-url", "extra-index-url", "find-links", "trusted-host", "cert")
_NPM = re.compile(r"(@[^:\s]+:)?registry|cafile|strict-ssl")
_UV = ("index", "index-url", "extra-index-url", "find-links", "native-tls", "system-certs")
_UV_INDEX = ("name", "url", "default", "explicit", "format")
_YARN = ("npmRegistryServer", "httpsCaFilePath", "enableStrictSsl", "unsafeHttpWhitelist")
_CARGO: Mapping[str, tuple[str, ...]] = {
    "source": ("registry", "replace-with", "directory", "local-registry"),
    "registries": ("index",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Registries:
    """What the configuration of a machine says about package registries."""

    files: Mapping[str, str]
    """Settings files by their path in a home, without credentials."""
    addresses: tuple[str, ...]
    """`host:port` of every registry that is named."""
    reads: tuple[Path, ...]
    """The certificates and folders of packages that are named."""


def variables(env: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables about registries and certificates, without credentials."""
    return {
        name: _without_credentials(value)
        for name, value in env.items()
        if name in VARIABLES or _CARGO_INDEX.fullmatch(name)
    }


def from_machine(env: Mapping[str, str], home: Path) -> Registries:
    """Reads the variables and the settings files in the home. A file that cannot be read or parsed
    counts as absent: the tool itself reports it to its user."""
    files = {place: text for place, text in _files(home) if text}
    texts = [*variables(env).values(), *files.values()]
    paths = [Path(found) for text in texts for found in _PATH.findall(text)]
    return Registries(
        files=files,
        addresses=tuple(dict.fromkeys(place for text in texts for place in _addresses(text))),
        reads=tuple(dict.fromkeys(p for p in paths if p.exists() and not home.is_relative_to(p))),
    )


def write(found: Registries, home: Path) -> None:
    """Writes the settings files into another home unless something is there already. Commands may
    have changed that home, so no link in it is followed."""
    for place, text in found.files.items():
        *folders, name = place.split("/")
        with ExitStack() as opened, suppress(OSError):
            at = _open(opened, home, _FOLDER, None)
            for folder in folders:
                with suppress(FileExistsError):
                    os.mkdir(folder, 0o700, dir_fd=at)
                at = _open(opened, folder, _FOLDER, at)
            os.write(_open(opened, name, _NEW_FILE, at), text.encode())


def _open(opened: ExitStack, path: str | Path, flags: int, folder: int | None) -> int:
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)
    opened.callback(os.close, descriptor)
    return descriptor


def _files(home: Path) -> Iterator[tuple[str, str]]:
    for place, others, read in _READERS:
        source = next((home / p for p in (place, *others) if (home / p).is_file()), None)
        if source is None:
            continue
        try:
            yield place, _without_credentials(read(source.read_text(encoding="utf-8")))
        except (OSError, ValueError, configparser.Error):
            continue


def _without_credentials(text: str) -> str:
    return _CREDENTIALS.sub(r"\1", text)


def _addresses(text: str) -> Iterator[str]:
    for scheme, host, port in _ADDRESS.findall(text):
        yield f"{host.lower()}:{port or _PORTS[scheme]}"


def _pip(text: str) -> str:
    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(text)
    found: dict[str, str] = {}
    for section in ("global", "download", "install"):
        if parser.has_section(section):
            found |= {name: value for name, value in parser.items(section) if name in _PIP}
    lines = [f"{name} = {' '.join(value.split())}" for name, value in found.items()]
    return "\n".join(["[global]", *lines, ""]) if found else ""


def _npm(text: str) -> str:
    lines = (line.partition("=") for line in text.splitlines())
    kept = [f"{name.strip()}={value.strip()}" for name, _, value in lines if _is_npm(name, value)]
    return "\n".join([*kept, ""]) if kept else ""


def _is_npm(name: str, value: str) -> bool:
    """Whether a line is about registries. Variables in it are left to the user's own npm."""
    return bool(_NPM.fullmatch(name.strip())) and "${" not in value


def _uv(text: str) -> str:
    found = _chosen(tomllib.loads(text), _UV)
    indexes = found.get("index")
    if isinstance(indexes, list):
        found["index"] = [_chosen(each, _UV_INDEX) for each in cast("list[Any]", indexes)]
    return _toml_lines(found)


def _cargo(text: str) -> str:
    told = tomllib.loads(text)
    found = {
        table: {name: _chosen(one, keys) for name, one in told[table].items()}
        for table, keys in _CARGO.items()
        if isinstance(told.get(table), dict)
    }
    http = _chosen(told.get("http"), ("cainfo",))
    return _toml_lines({**found, **({"http": http} if http else {})})


def _yarn(text: str) -> str:
    # Imported late: most machines have no such file.
    import yaml

    told: Any = yaml.safe_load(text)
    found = _chosen(told, _YARN)
    scopes = _chosen(told, ("npmScopes",)).get("npmScopes")
    if isinstance(scopes, dict):
        named = cast("dict[str, Any]", scopes)
        found["npmScopes"] = {name: _chosen(one, _YARN[:1]) for name, one in named.items()}
    return json.dumps(found, indent=2) if found else ""


_READERS: tuple[tuple[str, tuple[str, ...], Callable[[str], str]], ...] = (
    (".config/pip/pip.conf", (".pip/pip.conf",), _pip),
    (".config/uv/uv.toml", (), _uv),
    (".npmrc", (), _npm),
    (".yarnrc.yml", (), _yarn),
    (".cargo/config.toml", (".cargo/config",), _cargo),
)
"""The place of each file, other places where it may be, and what keeps only its registries."""


def _chosen(table: object, keys: tuple[str, ...]) -> dict[str, Any]:
    known = cast("dict[str, Any]", table) if isinstance(table, dict) else {}
    return {name: known[name] for name in keys if name in known}


def _toml_lines(table: Mapping[str, Any]) -> str:
    return "".join(f"{name} = {_toml(value)}\n" for name, value in table.items() if value)


def _toml(value: object) -> str:
    if isinstance(value, dict):
        items = cast("dict[str, object]", value).items()
        return "{" + ", ".join(f"{json.dumps(k)} = {_toml(v)}" for k, v in items) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(each) for each in cast("list[object]", value)) + "]"
    return json.dumps(value)
