"""A push service for tests, with a browser behind it. It checks what it is sent as the real ones
do, and whatever does not fit is kept in `faults`."""

import json
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from agents_manager.channels.push_message import decode, encode

CURVE = ec.SECP256R1()


def _point(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def _derived(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(algorithm=hashes.SHA256(), length=length, salt=salt, info=info).derive(secret)


@dataclass
class FakePush:
    """Serves while it is entered."""

    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(CURVE), init=False
    )
    secret: bytes = field(default=b"sixteen bytes ok", init=False)
    notices: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]], init=False)
    """What the browser read, in the order in which it came."""
    faults: list[str] = field(default_factory=list[str], init=False)
    status: int = field(default=201, init=False)
    retry_after: str | None = field(default=None, init=False)
    server_key: str | None = field(default=None, init=False)
    """Whose messages the browser takes; None: anybody's."""

    def __enter__(self) -> "FakePush":
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                try:
                    fake._take(self.path, dict(self.headers.items()), body)
                except Exception as error:  # noqa: BLE001 - told to the test, not to the log.
                    fake.faults.append(repr(error))
                self.send_response(fake.status)
                if fake.retry_after is not None:
                    self.send_header("Retry-After", fake.retry_after)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """Says nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._server.server_port}"

    @property
    def subscription(self) -> dict[str, str]:
        point, secret = encode(_point(self.key)), encode(self.secret)
        return {"endpoint": f"http://{self.host}/to/browser", "point": point, "secret": secret}

    @property
    def told(self) -> dict[str, Any]:
        """As a browser tells it."""
        said = self.subscription
        keys = {"p256dh": said["point"], "auth": said["secret"]}
        return {"endpoint": said["endpoint"], "keys": keys}

    def _take(self, path: str, headers: dict[str, str], body: bytes) -> None:
        assert path == "/to/browser", path
        assert headers["Content-Encoding"] == "aes128gcm"
        assert 0 < int(headers["TTL"]) <= 28 * 24 * 3600
        assert headers["Urgency"] in ("very-low", "low", "normal", "high")
        assert len(body) <= 4096, f"{len(body)} bytes"
        self._check_proof(headers["Authorization"])
        if self.status == 201:
            self.notices.append(json.loads(self._opened(body)))

    def _check_proof(self, header: str) -> None:
        scheme, _, rest = header.partition(" ")
        assert scheme == "vapid"
        parts = dict(part.strip().split("=", 1) for part in rest.split(","))
        point = decode(parts["k"])
        if self.server_key is not None:
            assert parts["k"] == self.server_key
        key = ec.EllipticCurvePublicKey.from_encoded_point(CURVE, point)
        claims = jwt.decode(
            parts["t"],
            key,
            algorithms=["ES256"],
            audience=f"http://{self.host}",
            options={"verify_exp": False},
        )
        left = datetime.fromtimestamp(claims["exp"], UTC) - datetime.now(UTC)
        assert timedelta(0) < left <= timedelta(hours=24), left
        assert claims["sub"].startswith(("mailto:", "https:"))

    def _opened(self, body: bytes) -> bytes:
        """As a browser does it (RFC 8291)."""
        salt, record, length = body[:16], int.from_bytes(body[16:20], "big"), body[20]
        sender, sealed = body[21 : 21 + length], body[21 + length :]
        assert length == 65
        assert len(sealed) <= record
        theirs = ec.EllipticCurvePublicKey.from_encoded_point(CURVE, sender)
        info = b"WebPush: info\0" + _point(self.key) + sender
        shared = _derived(self.key.exchange(ec.ECDH(), theirs), self.secret, info, 32)
        key = _derived(shared, salt, b"Content-Encoding: aes128gcm\0", 16)
        nonce = _derived(shared, salt, b"Content-Encoding: nonce\0", 12)
        words = AESGCM(key).decrypt(nonce, sealed, None)
        assert words[-1:] == b"\2", "the record is not the last"
        return words[:-1]
