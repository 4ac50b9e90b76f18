"""What the process is told that becomes the command."""

import os
import sys
from typing import Any

from agents_manager.sandbox.bubblewrap import EGRESS_PORT, MEGABYTE, Bounds, Cage

PROXIED = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
DIRECT = "localhost,127.0.0.1,::1"
JAVA = "JAVA_TOOL_OPTIONS"
JAVA_DIRECT = "localhost|127.*|[::1]"


def told(cage: Cage, umask: int, proxy: int = EGRESS_PORT) -> dict[str, Any]:
    return {
        "argv": list(cage.argv),
        "env": environment(cage, proxy),
        "cwd": str(cage.cwd),
        "umask": umask,
        "limits": limits(cage.bounds),
    }


def environment(cage: Cage, proxy: int = EGRESS_PORT) -> dict[str, str]:
    """Returns the variables of the command. The machine's own proxy cannot be reached from inside,
    so that variables that name it are dropped."""
    both = {*PROXIED, *(name.lower() for name in PROXIED), "NO_PROXY", "no_proxy"}
    env = {name: value for name, value in cage.env.items() if name not in both}
    if cage.talks:
        address = f"http://127.0.0.1:{proxy}"
        for name in PROXIED[:2]:
            env |= {name: address, name.lower(): address}
        # Yarn 2 and later ignores the variables that other programs read.
        env |= {f"YARN_{name}": address for name in PROXIED[:2]}
        env |= {"NO_PROXY": DIRECT, "no_proxy": DIRECT}
    env[JAVA] = " ".join(filter(None, [env.get(JAVA), *_java_options(cage, proxy)]))
    return env


def _java_options(cage: Cage, proxy: int) -> list[str]:
    """Java takes the home from the system's list of users, where it is a hidden folder, and reads
    no proxy variables. Maven passes on the proxy only if it is told to."""
    options = [f'-Duser.home="{home}"'] if (home := cage.env.get("HOME")) else []
    if cage.talks:
        for scheme in ("http", "https"):
            options += [f"-D{scheme}.proxyHost=127.0.0.1", f"-D{scheme}.proxyPort={proxy}"]
        options += [
            f"-Dhttp.nonProxyHosts={JAVA_DIRECT}",
            "-Daether.connector.http.useSystemProperties=true",
        ]
    return options


def limits(bounds: Bounds) -> dict[str, int]:
    wanted = {
        "RLIMIT_CORE": 0,
        "RLIMIT_NPROC": bounds.processes,
        "RLIMIT_NOFILE": bounds.open_files,
        "RLIMIT_CPU": bounds.cpu_s,
        "RLIMIT_FSIZE": bounds.file_mb and bounds.file_mb * MEGABYTE,
        "RLIMIT_AS": bounds.address_mb and bounds.address_mb * MEGABYTE,
    }
    return {name: value for name, value in wanted.items() if value is not None}


def in_memory(data: bytes) -> int:
    """A file without a name, open at its beginning."""
    fd = _nameless()
    with os.fdopen(os.dup(fd), "wb") as file:
        file.write(data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _nameless() -> int:
    if sys.platform == "linux":
        return os.memfd_create("agents-manager", os.MFD_CLOEXEC)
    import tempfile

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
