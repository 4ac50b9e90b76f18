"""What is printed on a parcel."""

import hashlib
import hmac
import os
from pathlib import Path

from dotenv import dotenv_values

NAME = "PARCEL_SIGNING_KEY"
ENV_FILE = Path(__file__).parents[1] / ".env"


def signing_key() -> str:
    """Return the signing key from the environment or from `.env`."""
    return os.environ.get(NAME) or str(dotenv_values(ENV_FILE)[NAME])


def sign(address: str) -> str:
    """Return the signature that is printed on a label."""
    return hmac.new(signing_key().encode(), address.encode(), hashlib.sha256).hexdigest()
