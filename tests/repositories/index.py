"""A package index on this machine, as some companies run one. It has packages of the environment
that runs the tests, so no test needs the internet for them."""

import base64
import hashlib
import io
import threading
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import distribution
from pathlib import Path

PACKAGES = ("idna", "iniconfig", "packaging", "pluggy", "pygments", "pytest")
"""What the example for uv depends on, directly and indirectly."""
LEFT_OUT = ("INSTALLER", "REQUESTED", "RECORD", "direct_url.json", ".pyc")


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Keeps the output of the tests clean."""


@contextmanager
def serving(folder: Path) -> Generator[str]:
    """Provides the address of an index in the folder, as UV_DEFAULT_INDEX takes it."""
    for package in PACKAGES:
        name, content = _wheel(package)
        page = folder / "simple" / package / "index.html"
        page.parent.mkdir(parents=True)
        page.write_text(f'<!DOCTYPE html><a href="{name}">{name}</a>')
        page.with_name(name).write_bytes(content)
    handler = partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/simple"
        server.shutdown()


def _wheel(name: str) -> tuple[str, bytes]:
    """Returns a wheel of an installed package of pure Python: its file name and its content."""
    installed = distribution(name)
    content = io.BytesIO()
    record: list[str] = []
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as wheel:
        for path in installed.files or ():
            if path.parts[0] == ".." or str(path).endswith(LEFT_OUT):
                continue
            data = Path(str(path.locate())).read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(data)}")
            wheel.writestr(str(path), data)
        metadata = next(p for p in installed.files or () if p.name == "METADATA").parent
        wheel.writestr(f"{metadata}/RECORD", "\n".join([*record, f"{metadata}/RECORD,,", ""]))
    return f"{name}-{installed.version}-py3-none-any.whl", content.getvalue()
