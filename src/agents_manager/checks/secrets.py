"""The search for secrets in what commits hold: keys and tokens by their known forms, and values
that look random behind a name that promises a secret. What is found is told by its place and kind,
never by a character of it.

The patterns have no open repetition within another and a bound on each, so that no text makes the
search slow."""

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents_manager.domain.names import visible
from agents_manager.flow.ports import Written

MAX_FINDINGS = 50
MAX_PATH = 200


@dataclass(frozen=True, slots=True)
class Finding:
    where: str
    what: str


_END = r"(?![A-Za-z0-9_-])"
_BEGIN = r"(?<![A-Za-z0-9_-])"


def _form(pattern: str) -> re.Pattern[str]:
    return re.compile(f"{_BEGIN}(?:{pattern}){_END}")


FORMS: Sequence[tuple[str, re.Pattern[str]]] = (
    ("private key", re.compile(r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----")),
    ("age secret key", _form(r"AGE-SECRET-KEY-1[A-Z0-9]{58}")),
    ("AWS access key", _form(r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}")),
    ("Anthropic key", _form(r"sk-ant-[a-z0-9]{3,10}-[A-Za-z0-9_-]{20,200}")),
    ("OpenAI key", _form(r"sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,250}|sk-[A-Za-z0-9]{48}")),
    ("OpenRouter key", _form(r"sk-or-v1-[0-9a-f]{64}")),
    ("GitHub token", _form(r"gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255}")),
    ("GitLab token", _form(r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|imt)-[A-Za-z0-9_.-]{20,100}")),
    ("Slack token", _form(r"xox[abeoprs]-[A-Za-z0-9-]{10,250}|xapp-\d-[A-Za-z0-9-]{10,250}")),
    ("Slack webhook", re.compile(r"hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9+/]{30,90}")),
    ("Discord webhook", re.compile(r"discord(?:app)?\.com/api/webhooks/\d{15,22}/[\w-]{40,90}")),
    ("Telegram bot token", _form(r"\d{8,11}:AA[A-Za-z0-9_-]{33}")),
    ("Stripe key", _form(r"(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{16,110}")),
    ("Stripe webhook secret", _form(r"whsec_[A-Za-z0-9+/]{32,64}")),
    ("Google API key", _form(r"AIza[A-Za-z0-9_-]{35}")),
    ("Google client secret", _form(r"GOCSPX-[A-Za-z0-9_-]{28}")),
    ("Google access token", _form(r"ya29\.[A-Za-z0-9_-]{30,250}")),
    ("Azure storage key", re.compile(r"(?i)AccountKey=[A-Za-z0-9+/]{80,90}={0,2}")),
    ("Azure client secret", _form(r"[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}")),
    ("npm token", _form(r"npm_[A-Za-z0-9]{36}")),
    ("PyPI token", _form(r"pypi-AgE[A-Za-z0-9_-]{50,250}")),
    ("RubyGems key", _form(r"rubygems_[0-9a-f]{48}")),
    ("crates.io token", _form(r"cio[A-Za-z0-9]{32}")),
    ("Docker token", _form(r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,60}")),
    ("Hugging Face token", _form(r"(?:hf|api_org)_[A-Za-z]{34}")),
    ("Groq key", _form(r"gsk_[A-Za-z0-9]{52}")),
    ("Replicate token", _form(r"r8_[A-Za-z0-9]{37}")),
    ("Perplexity key", _form(r"pplx-[A-Za-z0-9]{48}")),
    ("xAI key", _form(r"xai-[A-Za-z0-9_]{80}")),
    ("SendGrid key", _form(r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{39,50}")),
    ("Mailgun key", _form(r"key-[0-9a-f]{32}")),
    ("Twilio key", _form(r"SK[0-9a-f]{32}")),
    ("Shopify token", _form(r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}")),
    ("Square token", _form(r"(?:EAAA|sq0[a-z]{3}-)[A-Za-z0-9_-]{22,60}")),
    ("DigitalOcean token", _form(r"do[opr]_v1_[0-9a-f]{64}")),
    ("Databricks token", _form(r"dapi[0-9a-f]{32}(?:-\d)?")),
    ("Doppler token", _form(r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{40,60}")),
    ("Grafana token", _form(r"glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}|glc_[A-Za-z0-9+/]{32,400}")),
    ("Heroku key", _form(r"HRKU-[A-Za-z0-9_-]{36,60}")),
    ("Linear key", _form(r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}")),
    ("New Relic key", _form(r"NRAK-[A-Z0-9]{27}|NRJS-[0-9a-f]{19}|NRII-[A-Za-z0-9-]{32}")),
    ("Notion token", _form(r"ntn_[A-Za-z0-9]{40,60}|secret_[A-Za-z0-9]{43}")),
    ("Okta or Vault token", _form(r"hv[sbr]\.[A-Za-z0-9_-]{24,200}")),
    ("Planetscale token", _form(r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{32,64}")),
    ("Postman key", _form(r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}")),
    ("Pulumi token", _form(r"pul-[0-9a-f]{40}")),
    ("Sentry token", _form(r"sntry[us]_[A-Za-z0-9+/=_-]{40,300}")),
    ("Sonar token", _form(r"sq[apu]_[0-9a-f]{40}")),
    ("Terraform token", _form(r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}")),
    ("Tailscale key", _form(r"tskey-[a-z]{3,12}-[A-Za-z0-9]{8,30}-[A-Za-z0-9]{20,40}")),
    ("Atlassian token", _form(r"ATATT3[A-Za-z0-9_=-]{100,250}|ATCTT3[A-Za-z0-9_=-]{100,250}")),
    ("Facebook token", _form(r"EAA[A-Za-z0-9]{60,250}")),
    ("Fly.io token", _form(r"fo1_[A-Za-z0-9_-]{43}|fm[12][a-z]?_[A-Za-z0-9+/=_-]{100,400}")),
    ("1Password token", _form(r"ops_eyJ[A-Za-z0-9+/=_-]{100,2000}")),
    ("Cloudflare origin key", _form(r"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}")),
    (
        "JSON web token",
        _form(r"eyJ[A-Za-z0-9_-]{15,500}\.eyJ[A-Za-z0-9_-]{15,2000}\.[\w-]{20,700}"),
    ),
)
"""Of most the form alone is sure: a prefix and so many characters."""

ASSIGNED = re.compile(
    r"""(?ix)
    (?: api[_.-]?key | access[_.-]?key | private[_.-]?key | secret | token | passw(?:or)?d | passwd
      | credential | client[_.-]?key | auth[_.-]?key | encryption[_.-]?key )
    [a-z0-9_.-]{0,30} ["']? [ \t]{0,10} (?: => | := | = | : ) [ \t]{0,10} (["'`]?)
    ([^\s"'`<>{}()\[\],;\\]{10,200})
    """
)
URL = re.compile(
    r"[a-z][a-z0-9+.-]{1,20}://[^\s:/@\"'<>]{1,100}:([^\s:/@\"'<>]{6,200})@(?!localhost|127\.)"
)
HEADER = re.compile(
    r"(?i)authorization[\"']?[ \t]{0,5}[:=,][ \t]{0,5}[\"']?"
    r"(?:basic|bearer|token) ([A-Za-z0-9+/=._~-]{16,500})"
)
NETRC = re.compile(
    r"(?m)^machine [^\s]{1,100}[ \t\n]{1,5}login [^\s]{1,100}[ \t\n]{1,5}password ([^\s]{4,200})"
)

PLACEHOLDER = re.compile(
    r"(?i)example|change.?me|your.?|placeholder|dummy|fake|sample|redacted|insert|xxxx|\*\*\*|\.\.\.|"
    r"1234567|abcdef|^test|password|^secret|\$|%[(sd]|^env[.(]|process\.env|os\.environ|getenv|^null|"
    r"^none|^true|^false|^undefined"
)
MIN_ENTROPY = 3.3
MIN_PASSWORD_ENTROPY = 2.75
"""Bits for each character: what people write has less, what was drawn by lot has more."""


def search(written: Written) -> list[Finding]:
    """At most so many: one is enough to stop."""
    found: list[Finding] = []
    for sha, message in written.messages:
        for _, what in _in(message):
            found.append(Finding(f"commit {sha[:8]}, message", what))
    found += _in_patch(written.patch)
    if written.cut:
        found.append(Finding("the change", "longer than can be searched: look at it yourself"))
    return list(dict.fromkeys(found))[:MAX_FINDINGS]


def told(found: Sequence[Finding], base_sha: str) -> str:
    if not found:
        return ""
    lines = [f"{f.where}: {f.what}" for f in found]
    return "\n".join(
        [
            *lines,
            "",
            "What was found is not shown. Every commit counts, also where a later one took it",
            "back: make the commits anew without it, for instance by",
            f"`git reset --soft {base_sha}` and a new commit.",
        ]
    )


def _in_patch(patch: str) -> Iterator[Finding]:
    """In what was added, which is searched as one text: line by line takes many times as long."""
    starts: list[int] = []
    places: list[tuple[str, int]] = []
    text: list[str] = []
    size = 0
    for path, number, line in _added(patch):
        starts.append(size)
        places.append((path, number))
        text.append(f"{line}\n")
        size += len(line) + 1
    for at, what in _in("".join(text)):
        path, number = places[bisect_right(starts, at) - 1]
        yield Finding(f"{visible(path, MAX_PATH)}:{number}", what)


_HUNK = re.compile(r"(@@+)(?: -\d+(?:,\d+)?)+ \+(\d+)(?:,(\d+))? @@")


def _added(patch: str) -> Iterator[tuple[str, int, str]]:
    """Each added line with its file and number. A hunk says how many lines of the new file follow,
    so that an added line that looks like a header is not taken for one. Against several parents
    each has a column."""
    path, number, left, columns = "", 0, 0, 1
    for line in patch.split("\n"):
        mark = line[:columns]
        if left > 0 and "-" not in mark and not line.startswith("\\"):
            if "+" in mark:
                yield path, number, line[columns:]
            number, left = number + 1, left - 1
        elif left == 0 and line.startswith("+++ "):
            path = line[4:].removeprefix("b/")
        elif left == 0 and (hunk := _HUNK.match(line)):
            columns, number = len(hunk[1]) - 1, int(hunk[2])
            left = int(hunk[3]) if hunk[3] is not None else 1


def _in(text: str) -> Iterator[tuple[int, str]]:
    for what, pattern in FORMS:
        for match in pattern.finditer(text):
            if "EXAMPLE" not in match[0]:
                yield match.start(), what
    for what, pattern in (
        ("password in an address", URL),
        ("authorization header", HEADER),
        ("password of a .netrc", NETRC),
    ):
        for match in pattern.finditer(text):
            if not PLACEHOLDER.search(match[1]) and _entropy(match[1]) >= MIN_PASSWORD_ENTROPY:
                yield match.start(), what
    for match in ASSIGNED.finditer(text):
        if _looks_random(match[2], quoted=bool(match[1])):
            yield match.start(), "value that looks like a key or password"


def _looks_random(value: str, *, quoted: bool) -> bool:
    """Digits and letters mixed, and no repetition; code, such as a call or a path, is not meant."""
    if PLACEHOLDER.search(value) or value.startswith(("/", "./", "http")):
        return False
    if not quoted and not re.fullmatch(r"[A-Za-z0-9+/=_.~-]{16,200}", value):
        return False
    if not (re.search(r"\d", value) and re.search(r"[A-Za-z]", value)):
        return False
    return _entropy(value) >= MIN_ENTROPY


def _entropy(value: str) -> float:
    counts = Counter(value).values()
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts)
