"""Addresses of the repositories that machines share: what may be kept of one, and when two are the
same. They are on record for everybody, so no password stays in one."""

import re

from agents_manager.errors import InvalidInput

LIMIT = 1000
_URL = re.compile(
    r"(?P<scheme>https|ssh|file)://(?:(?P<user>[^/@:]*)(?P<password>:[^/@]*)?@)?"
    r"(?P<where>(?!-)[^/@?#]*)(?P<path>/[^?#]*[^/?#][^?#]*)(?P<rest>[?#].*)?"
)
"""Only by ways that git is let go."""
_SCP = re.compile(
    r"(?:[A-Za-z0-9_][A-Za-z0-9._-]*@)?(?P<host>[A-Za-z0-9][A-Za-z0-9.-]*):(?!//)(?P<path>\S+)"
)


def public(url: str) -> str | None:
    """The address as others may read it; None where machines cannot share it."""
    if _fault(url) is not None:
        return None
    found = _URL.fullmatch(url)
    if found is None:
        return url
    # What stands there for https is as good as a password; for ssh it is the account's name.
    user = f"{found['user']}@" if found["user"] and found["scheme"] == "ssh" else ""
    return f"{found['scheme']}://{user}{found['where']}{found['path']}"


def checked(url: str) -> str:
    """One that somebody gives for all machines, or InvalidInput."""
    fault = _fault(url)
    if fault is None and public(url) != url:
        fault = "leave the password out; each machine uses what its git knows, or AM_GITHUB_TOKEN"
    if fault is not None:
        raise InvalidInput(f"This cannot be the address of a repository: {fault}.")
    return url


def same(one: str | None, other: str | None) -> bool:
    """Whether both lead to the same repository, by whatever way."""
    return one is not None and other is not None and _spot(one) == _spot(other)


def _fault(url: str) -> str | None:
    if not url or len(url) > LIMIT or not url.isprintable():
        return f"give 1 to {LIMIT} characters in one line"
    if url.startswith("/") or _URL.fullmatch(url) or _SCP.fullmatch(url):
        return None
    return "give https://…, ssh://…, user@host:path, or an absolute path that all machines have"


def _spot(url: str) -> tuple[str, str]:
    if found := _URL.fullmatch(url):
        host, path = found["where"].partition(":")[0].lower(), found["path"]
    elif not url.startswith("/") and (found := _SCP.fullmatch(url)):
        host, path = found["host"].lower(), found["path"]
    else:
        host, path = "", url
    return host, path.strip("/").removesuffix(".git")
