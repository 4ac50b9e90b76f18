"""The class of an error that an agent tells in words alone."""

import re

SIGNS = (
    ("auth", r"\b(401|403)\b|unauthori[sz]ed|authenticat|api key|log ?in\b|not logged in"),
    ("rate_limit", r"\b429\b|rate.?limit|too many requests"),
    ("quota", r"\b402\b|quota|credit|billing"),
    ("environment", r"\b404\b|model.{0,40}not (found|exist)|unknown model"),
)


def classified(words: str) -> str:
    for error_class, signs in SIGNS:
        if re.search(signs, words, re.IGNORECASE):
            return error_class
    return "crash"
