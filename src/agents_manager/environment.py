"""The only reader of the environment. Without pydantic, which takes longer to import than a shell
may wait for a completion."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agents_manager.redaction import Redactor


KEYRING_SERVICE = "agents-manager"
TOLD = ("AM_DATABASE_URL", "AM_PLUGINS", "AM_LOG", "AM_LOG_FORMAT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What a machine is started as, where several share a database; what is left out is as its
    configuration says."""

    name: str | None = None
    labels: tuple[str, ...] = ()
    capacity: int | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """What one process needs to know before it can begin."""

    home: Path
    database_url: str | None
    plugins: tuple[str, ...] | None = None
    """The packages whose plugins are used; None for all that are installed."""
    place: Place = Place()

    @property
    def database(self) -> str | Path:
        return self.database_url or self.home / "agents-manager.db"

    @property
    def working_folder(self) -> Path:
        """The folder of workspaces and check copies: `home`, or, if its path has a hidden folder,
        another one without.

        Programs treat files below a hidden folder differently. Of the tests of Express, 55 fail
        there, because it does not serve such files.
        """
        return _visible(self.home)


def from_environment() -> Settings:
    home = Path(os.environ.get("AM_HOME") or Path.home() / ".agents-manager").expanduser()
    chosen = os.environ.get("AM_PLUGINS")
    names = (name.strip() for name in (chosen or "").split(","))
    named = None if chosen is None else tuple(name for name in names if name)
    return Settings(home.absolute(), os.environ.get("AM_DATABASE_URL") or None, named)


def _visible(path: Path) -> Path:
    """Return `path` if no part of it begins with a dot, and else a path next to its first hidden
    folder: `~/.agents-manager/demo` becomes `~/agents-manager-work/demo`."""
    parts = path.parts
    hidden = next((i for i, part in enumerate(parts) if part.startswith(".")), None)
    if hidden is None:
        return path
    name = f"{parts[hidden].lstrip('.')}-work"
    below = (
        part.replace(".", "_", 1) if part.startswith(".") else part for part in parts[hidden + 1 :]
    )
    return Path(*parts[:hidden], name, *below)


def config_folder() -> Path:
    """Where programs keep what their user sets."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config").absolute()


def of_service(home: Path) -> dict[str, str]:
    """What a server that the system starts has to know of how things are here; no secrets."""
    hidden = secret_names()
    folders = [f for f in os.environ.get("PATH", os.defpath).split(":") if f.startswith("/")]
    told = {name: os.environ[name] for name in TOLD if os.environ.get(name) and name not in hidden}
    return {"AM_HOME": str(home), "PATH": ":".join(dict.fromkeys(folders)), **told}


def without_product(env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables without those that lead to the product's own virtual environment.

    Agents, set-up and checks start with the result, so that `python` is the repository's or the
    machine's. Folders of the environment are removed from PATH and PYTHONPATH.
    """
    cleaned = dict(env)
    for name in ("VIRTUAL_ENV", "PYTHONHOME"):
        if name in env and _is_of_product(env[name]):
            del cleaned[name]
    for name in ("PATH", "PYTHONPATH"):
        if name in env:
            folders = [f for f in env[name].split(os.pathsep) if not _is_of_product(f)]
            cleaned[name] = os.pathsep.join(folders)
    if "PATH" in env and not cleaned["PATH"]:
        cleaned["PATH"] = os.defpath
    if "PYTHONPATH" in env and not cleaned["PYTHONPATH"]:
        del cleaned["PYTHONPATH"]
    return cleaned


def _is_of_product(folder: str) -> bool:
    """Whether the folder is in the product's virtual environment or holds its source code."""
    if not folder:
        return False
    real = Path(folder).resolve()
    if real == Path(__file__).resolve().parent.parent:
        return True
    return sys.prefix != sys.base_prefix and real.is_relative_to(Path(sys.prefix).resolve())


def secret_names() -> list[str]:
    """Of the variables of this process that hold a secret."""
    from agents_manager import redaction

    return [name for name, value in sorted(os.environ.items()) if redaction.is_secret(name, value)]


def log_level() -> str | None:
    return os.environ.get("AM_LOG") or None


def log_format() -> str | None:
    return os.environ.get("AM_LOG_FORMAT") or None


def sends_traces() -> bool:
    """Whether the standard variables of OpenTelemetry say where to."""
    names = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
    off = os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true"
    return not off and any(os.environ.get(name) for name in names)


def user_name() -> str:
    """How this machine's user is called in the record."""
    return os.environ.get("USER") or os.environ.get("LOGNAME") or "admin"


def redactor() -> "Redactor":
    """Of the secrets that are variables of this process."""
    # Imported late, for those who wait for a completion.
    from agents_manager import redaction

    return redaction.Redactor(redaction.secrets_of(os.environ))


def variable(name: str) -> str | None:
    """A variable that the settings of a project name."""
    return os.environ.get(name) or None


def from_keyring(entry: str) -> tuple[str | None, str]:
    """Read an entry of the service `agents-manager` from the operating system's keyring. Return it,
    or None and why there is none. May wait for a person to unlock the keyring."""
    import importlib

    try:
        keyring: Any = importlib.import_module("keyring")
    except ImportError:
        return None, "the Python package keyring is not installed. Install it beside this program."
    try:
        value = keyring.get_password(KEYRING_SERVICE, entry)
    except keyring.errors.KeyringError as error:
        return None, f"{error or type(error).__name__}. Use the server's environment instead."
    return value, f"it has no such entry. Add it: keyring set {KEYRING_SERVICE} {entry}"


def github_token() -> str | None:
    return os.environ.get("AM_GITHUB_TOKEN") or os.environ.get("GITHUB_TOKEN") or None


def github_webhook_secret() -> str | None:
    return os.environ.get("AM_GITHUB_WEBHOOK_SECRET") or None


def telegram_token() -> str | None:
    return os.environ.get("AM_TELEGRAM_TOKEN") or None


def telegram_webhook_secret() -> str | None:
    return os.environ.get("AM_TELEGRAM_WEBHOOK_SECRET") or None


def webhook_secret() -> str | None:
    return os.environ.get("AM_WEBHOOK_SECRET") or None


def slack_bot_token() -> str | None:
    return os.environ.get("AM_SLACK_BOT_TOKEN") or None


def slack_app_token() -> str | None:
    return os.environ.get("AM_SLACK_APP_TOKEN") or None


def slack_signing_secret() -> str | None:
    return os.environ.get("AM_SLACK_SIGNING_SECRET") or None
