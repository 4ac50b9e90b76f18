"""The search for secrets in what commits hold: keys and tokens by their known forms, and values
that look random behind a name that promises a secret. What is found is told by its place and kind,
never by a character of it.

The patterns have no open repetition within another and a bound on each, so that no text makes the
search slow."""

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agents_manager.domain.names import visible
from agents_manager.flow.ports import Written
from agents_manager.redaction import MASK

MAX_FINDINGS = 50
MAX_PATH = 200
LONGEST_WORD = 1000
PRIVATE_KEY = "private key"
KNOWN = "a secret that this machine was given"
NO_TEXTS: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Finding:
    where: str
    what: str


@dataclass(frozen=True, slots=True)
class Rule:
    what: str
    needles: tuple[str, ...]
    """One of them stands where a secret begins; looking for them is what makes the search quick."""
    pattern: re.Pattern[str]
    """What follows, the secret itself as its only group where it is not the whole."""
    free: bool = False
    """Upper and lower case are the same to it."""
    entropy: float = 0.0
    """Bits for each character, at least: what was drawn by lot has more than what people write."""
    mixed: bool = False
    """It has digits and letters."""


_END = r"(?![A-Za-z0-9_-])"


def _form(what: str, form: str, *needles: str) -> Rule:
    """A secret of a known form: it begins with one of the needles and goes on so."""
    begin = "|".join(re.escape(needle) for needle in needles)
    return Rule(what, needles, re.compile(f"(?<![A-Za-z0-9_-])(?:{begin}){form}{_END}"))


_KEYS = ("api", "access", "private", "client", "auth", "encryption", "signing", "account")
_NAMES = (
    *("secret", "token", "passw", "credential"),
    *(f"{word}{mark}key" for word in _KEYS for mark in ("", "_", "-", ".")),
)

RULES: Sequence[Rule] = (
    Rule(
        PRIVATE_KEY,
        ("-----BEGIN ",),
        re.compile(r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"),
    ),
    _form("age secret key", r"[A-Z0-9]{58}", "AGE-SECRET-KEY-1"),
    _form("AWS access key", r"[A-Z2-7]{16}", "AKIA", "ASIA", "ABIA", "ACCA"),
    _form("Anthropic key", r"[a-z0-9]{3,10}-[A-Za-z0-9_-]{20,200}", "sk-ant-"),
    _form("OpenAI key", r"[A-Za-z0-9_-]{20,250}", "sk-proj-", "sk-svcacct-", "sk-admin-"),
    _form("OpenAI key", r"[A-Za-z0-9]{48}", "sk-"),
    _form("OpenRouter key", r"[0-9a-f]{64}", "sk-or-v1-"),
    _form("GitHub token", r"[A-Za-z0-9]{36,255}", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    _form("GitHub token", r"[A-Za-z0-9_]{22,255}", "github_pat_"),
    _form("GitLab token", r"[A-Za-z0-9_.-]{20,100}", "glpat-", "gldt-", "glrt-", "glcbt-"),
    _form("GitLab token", r"[A-Za-z0-9_.-]{20,100}", "glptt-", "glft-", "glsoat-", "glagent-"),
    _form("Slack token", r"[abeoprs]-[A-Za-z0-9-]{10,250}", "xox"),
    _form("Slack token", r"\d-[A-Za-z0-9-]{10,250}", "xapp-"),
    _form("Slack webhook", r"/(?:services|workflows)/[A-Za-z0-9+/]{30,90}", "hooks.slack.com"),
    _form("Discord webhook", r"/\d{15,22}/[A-Za-z0-9_-]{40,90}", "discord.com/api/webhooks"),
    _form("Stripe key", r"(?:live|test|prod)_[A-Za-z0-9]{16,110}", "sk_", "rk_"),
    _form("Stripe webhook secret", r"[A-Za-z0-9+/]{32,64}", "whsec_"),
    _form("Google API key", r"[A-Za-z0-9_-]{35}", "AIza"),
    _form("Google client secret", r"[A-Za-z0-9_-]{28}", "GOCSPX-"),
    _form("Google access token", r"[A-Za-z0-9_-]{30,250}", "ya29."),
    _form("Azure storage key", r"[A-Za-z0-9+/]{80,90}={0,2}", "AccountKey="),
    _form("npm token", r"[A-Za-z0-9]{36}", "npm_"),
    _form("PyPI token", r"[A-Za-z0-9_-]{50,250}", "pypi-AgE"),
    _form("RubyGems key", r"[0-9a-f]{48}", "rubygems_"),
    _form("crates.io token", r"[A-Za-z0-9]{32}", "cio"),
    _form("Docker token", r"[A-Za-z0-9_-]{20,60}", "dckr_pat_", "dckr_oat_"),
    _form("Hugging Face token", r"[A-Za-z]{34}", "hf_", "api_org_"),
    _form("Groq key", r"[A-Za-z0-9]{52}", "gsk_"),
    _form("Replicate token", r"[A-Za-z0-9]{37}", "r8_"),
    _form("Perplexity key", r"[A-Za-z0-9]{48}", "pplx-"),
    _form("xAI key", r"[A-Za-z0-9_]{80}", "xai-"),
    _form("SendGrid key", r"[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{39,50}", "SG."),
    _form("Mailgun key", r"[0-9a-f]{32}", "key-"),
    _form("Twilio key", r"[0-9a-f]{32}", "SK"),
    _form("Shopify token", r"[0-9a-fA-F]{32}", "shpat_", "shpca_", "shppa_", "shpss_"),
    _form("Square token", r"[A-Za-z0-9_-]{22,60}", "EAAA", "sq0atp-", "sq0csp-"),
    _form("DigitalOcean token", r"[0-9a-f]{64}", "dop_v1_", "doo_v1_", "dor_v1_"),
    _form("Databricks token", r"[0-9a-f]{32}(?:-\d)?", "dapi"),
    _form("Doppler token", r"[A-Za-z0-9._-]{40,60}", "dp.pt.", "dp.st.", "dp.ct.", "dp.sa."),
    _form("Grafana token", r"[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}", "glsa_"),
    _form("Grafana token", r"[A-Za-z0-9+/]{32,400}", "glc_"),
    _form("Heroku key", r"[A-Za-z0-9_-]{36,60}", "HRKU-"),
    _form("Linear key", r"[A-Za-z0-9]{32,64}", "lin_api_", "lin_oauth_"),
    _form("New Relic key", r"[A-Za-z0-9-]{19,40}", "NRAK-", "NRJS-", "NRII-"),
    _form("Notion token", r"[A-Za-z0-9]{40,60}", "ntn_"),
    _form("Vault token", r"[A-Za-z0-9_-]{24,200}", "hvs.", "hvb.", "hvr."),
    _form("Planetscale token", r"[A-Za-z0-9_.-]{32,64}", "pscale_tkn_", "pscale_pw_"),
    _form("Postman key", r"[0-9a-f]{24}-[0-9a-f]{34}", "PMAK-"),
    _form("Pulumi token", r"[0-9a-f]{40}", "pul-"),
    _form("Sentry token", r"[A-Za-z0-9+/=_-]{40,300}", "sntrys_", "sntryu_"),
    _form("Sonar token", r"[0-9a-f]{40}", "sqp_", "squ_", "sqa_"),
    _form("Terraform token", r"[A-Za-z0-9_=-]{60,70}", "atlasv1."),
    _form("Tailscale key", r"[a-z]{3,12}-[A-Za-z0-9]{8,30}-[A-Za-z0-9]{20,40}", "tskey-"),
    _form("Atlassian token", r"[A-Za-z0-9_=-]{100,250}", "ATATT3", "ATCTT3"),
    _form("Adafruit key", r"[A-Za-z0-9]{28,32}", "aio_"),
    _form("Braintree token", r"[a-z0-9]{16}\$[0-9a-f]{32}", "access_token$production$"),
    _form("Dropbox token", r"[A-Za-z0-9_-]{120,200}", "sl."),
    _form("EasyPost key", r"[A-Za-z0-9]{54}", "EZAK", "EZTK"),
    _form("Figma token", r"[A-Za-z0-9_-]{40,60}", "figd_"),
    _form("Infracost key", r"[A-Za-z0-9]{32}", "ico-"),
    _form(
        "Microsoft webhook",
        r"/webhookb2/[0-9a-f@-]{70,80}/IncomingWebhook/[0-9a-f]{32}/[0-9a-f-]{36}",
        "webhook.office.com",
    ),
    Rule("Mailchimp key", ("-us",), re.compile(rf"(?<=[0-9a-f]{{32}})-us\d{{1,2}}{_END}")),
    _form("1Password token", r"[A-Za-z0-9+/=_-]{100,2000}", "ops_eyJ"),
    _form(
        "JSON web token",
        r"[A-Za-z0-9_-]{15,500}\.eyJ[A-Za-z0-9_-]{15,2000}\.[A-Za-z0-9_-]{20,700}",
        "eyJ",
    ),
    Rule("Telegram bot token", (":AA",), re.compile(rf"(?<=\d{{8}}):AA[A-Za-z0-9_-]{{33}}{_END}")),
    Rule(
        "password in an address",
        ("://",),
        re.compile(r"://[^\s:/@\"'<>]{1,100}:([^\s:/@\"'<>]{6,200})@(?!localhost|127\.)"),
        entropy=2.75,
    ),
    Rule(
        "authorization header",
        ("authorization",),
        re.compile(
            r"(?i)authorization[\"']?[ \t]{0,5}[:=,][ \t]{0,5}[\"']?"
            r"(?:basic|bearer|token) ([A-Za-z0-9+/=._~-]{16,500})"
        ),
        free=True,
        entropy=2.75,
    ),
    Rule(
        "password of a .netrc",
        ("machine ",),
        re.compile(r"machine \S{1,100}\s{1,5}login \S{1,100}\s{1,5}password (\S{6,200})"),
        entropy=2.5,
    ),
    Rule(
        "value that looks like a key or password",
        _NAMES,
        # Beside its name, or as the default or value of what has that name.
        re.compile(
            rf"""(?ix) (?: {"|".join(re.escape(name) for name in _NAMES)} ) [a-z0-9_.-]{{0,30}}
            ["']? (?: [ \t]{{0,10}} (?: => | := | = | : ) [ \t]{{0,10}}
                      (?: ["'`] ([^\s"'`<>{{}}()\[\],;\\]{{10,200}}) ["'`]
                        | ([A-Za-z0-9+/=_.~-]{{16,200}}) (?= [\s,;}}] | $ ) )
                    | [\s{{:,]{{1,40}} ["']? (?: default | value ) ["']?
                      [ \t]{{0,10}} [=:] [ \t]{{0,10}}
                      ["'] ([^\s"'`<>{{}}()\[\],;\\]{{10,200}}) ["'] )"""
        ),
        free=True,
        entropy=3.3,
        mixed=True,
    ),
)
"""Of most the form alone is sure: a prefix and so many characters. Of the last ones it is what
stands beside them."""

PLACEHOLDER = re.compile(
    r"(?i)example|change.?me|your.?|placeholder|dummy|fake|sample|redacted|insert|xxxx|\*\*\*|\.\.\.|"
    r"1234567|abcdef|^test|password|^secret|\$|%[(sd]|^env[.(]|process\.env|os\.environ|getenv|^null|"
    r"^none|^true|^false|^undefined|^\.?/|^https?:"
)


def search(
    written: Written, known: Sequence[str] = (), texts: Mapping[str, str] = NO_TEXTS
) -> list[Finding]:
    """At most so many: one is enough to stop. `known` are secrets that this program was given."""
    said = {f"commit {sha[:8]}, message": message for sha, message in written.messages}
    found = [
        Finding(where, what)
        for where, text in {**texts, **said}.items()
        for _, what in _in(text, known)
    ]
    found += _in_patch(written.patch, known)
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


def _in_patch(patch: str, known: Sequence[str]) -> Iterator[Finding]:
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
    for at, what in _in("".join(text), known):
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


def _in(text: str, known: Sequence[str]) -> Iterator[tuple[int, str]]:
    for needle in known:
        if (at := text.find(needle)) >= 0:
            yield at, KNOWN
    for rule, match in _matches(text):
        yield match.start(), rule.what


def _matches(text: str) -> Iterator[tuple[Rule, re.Match[str]]]:
    folded = text.lower()
    for rule in RULES:
        for needle in rule.needles:
            at = -1
            while (at := (folded if rule.free else text).find(needle, at + 1)) >= 0:
                match = rule.pattern.match(text, at)
                if match and _is_secret(match, rule):
                    yield rule, match


_WORD = re.compile(r"[A-Za-z0-9_+/=~-]*")
_KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,80}-----")


def masked(text: str) -> str:
    """The text without what looks like a secret, and without the rest of the words that it stands
    in. Of a private key all lines go, to the end of the text where it has no last one."""
    spans: list[tuple[int, int]] = []
    for rule, match in _matches(text):
        group = next((n for n, value in enumerate(match.groups(), 1) if value), 0)
        start, end = match.span(group)
        if rule.what == PRIVATE_KEY:
            last = _KEY_END.search(text, end)
            end = last.end() if last else len(text)
        before = _WORD.match(text[max(0, start - LONGEST_WORD) : start][::-1])
        after = _WORD.match(text, end, end + LONGEST_WORD)
        spans.append((start - len(before[0] if before else ""), after.end() if after else end))
    for start, end in reversed(_joined(spans)):
        text = f"{text[:start]}{MASK}{text[end:]}"
    return text


def _joined(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """In order, those that touch as one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _is_secret(match: re.Match[str], rule: Rule) -> bool:
    value = next((group for group in match.groups() if group), None)
    if value is None:
        return "EXAMPLE" not in match[0]
    mixed = _DIGIT.search(value) and _LETTER.search(value)
    if PLACEHOLDER.search(value) or (rule.mixed and not mixed):
        return False
    return _entropy(value) >= rule.entropy


_DIGIT, _LETTER = re.compile(r"\d"), re.compile(r"[A-Za-z]")


def _entropy(value: str) -> float:
    counts = Counter(value).values()
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts)
