"""What a push service is sent: words that only the browser can read (RFC 8291, `aes128gcm`), and a
proof of who sends them (RFC 8292)."""

import base64
import os
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlsplit

import jwt
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

CURVE = ec.SECP256R1()
RECORD = 4096
"""Bytes of the one record that a message is."""
ROOM = RECORD - 86 - 17
"""What is left for words: the header takes 86, the tag and the mark of the last record 17."""
PROOF_LIFE = timedelta(hours=12)
"""Push services take at most a day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Browser:
    """Where a browser wants its messages, and the key that it reads them with."""

    endpoint: str
    point: bytes
    secret: bytes


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    """ValueError for what is no such text."""
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


def point_of(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def sealed(words: bytes, browser: Browser) -> bytes:
    """Under a key that is used once."""
    assert len(words) <= ROOM, len(words)
    own, salt = ec.generate_private_key(CURVE), os.urandom(16)
    theirs = ec.EllipticCurvePublicKey.from_encoded_point(CURVE, browser.point)
    point = point_of(own.public_key())
    info = b"WebPush: info\0" + browser.point + point
    shared = _derived(own.exchange(ec.ECDH(), theirs), browser.secret, info, 32)
    key = _derived(shared, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derived(shared, salt, b"Content-Encoding: nonce\0", 12)
    header = salt + RECORD.to_bytes(4, "big") + bytes([len(point)]) + point
    return header + AESGCM(key).encrypt(nonce, words + b"\2", None)


def proof(key: ec.EllipticCurvePrivateKey, endpoint: str, contact: str, now: datetime) -> str:
    """The header by which a push service knows the sender."""
    parts = urlsplit(endpoint)
    claims = {"aud": f"{parts.scheme}://{parts.netloc}", "exp": now + PROOF_LIFE, "sub": contact}
    token = jwt.encode(claims, key, algorithm="ES256")
    return f"vapid t={token}, k={encode(point_of(key.public_key()))}"


def _derived(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(algorithm=hashes.SHA256(), length=length, salt=salt, info=info).derive(secret)
