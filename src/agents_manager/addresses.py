"""Addresses of the network: which of them are open to everybody, and which a secret may be sent
to."""

import ipaddress
import socket
from contextlib import suppress

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def platform(value: str, *, such_as: str = "https://HOST") -> str:
    """The address of a platform without a slash at its end; ValueError where what is sent there
    could be read on the way."""
    # Imported late: the proxy of each sandbox has this module in memory, and does without.
    from urllib.parse import urlsplit

    parts = urlsplit(value)
    plain = parts.hostname and not (parts.query or parts.fragment or "@" in parts.netloc)
    near = parts.scheme == "http" and parts.hostname in LOOPBACK
    if not plain or not (parts.scheme == "https" or near):
        raise ValueError(f'"{value}" is no address; write it as {such_as}')
    return value.rstrip("/")


def is_number(host: str) -> bool:
    """Whether it stands for an address, in any of the ways in which one can be written."""
    with suppress(OSError):
        socket.inet_aton(host)
        return True
    with suppress(ValueError):
        ipaddress.ip_address(host)
        return True
    return False


def is_global(text: str) -> bool:
    """Whether an address is one of the open network, also what it carries inside."""
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        carried = address.ipv4_mapped or address.sixtofour
        if carried is None and address in ipaddress.ip_network("64:ff9b::/96"):
            carried = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if address.teredo is not None:
            return False
        if carried is not None:
            return is_global(str(carried))
    return address.is_global and not address.is_multicast
