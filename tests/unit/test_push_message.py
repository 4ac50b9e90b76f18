"""A message as RFC 8291 has it: its own example, word for word."""

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from agents_manager.channels import push_message
from agents_manager.channels.push_message import Browser, decode

# Appendix A of RFC 8291.
WORDS = b"When I grow up, I want to be a watermelon"
POINT = decode(
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
)
SECRET = decode("BTBZMqHH6r4Tts7J_aSIgg")
SENDER = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
SALT = decode("DGv6ra1nlYgDCS1FRnbzlw")
SEALED = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAm"
    "S6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_"
    "Qulcy4a-fN"
)


def test_the_example_of_the_standard(monkeypatch: pytest.MonkeyPatch) -> None:
    number = int.from_bytes(decode(SENDER), "big")
    own = ec.derive_private_key(number, push_message.CURVE)
    monkeypatch.setattr(push_message.ec, "generate_private_key", lambda _curve: own)
    monkeypatch.setattr(push_message.os, "urandom", lambda _count: SALT)
    browser = Browser(endpoint="https://push.example", point=POINT, secret=SECRET)
    assert push_message.encode(push_message.sealed(WORDS, browser)) == SEALED
