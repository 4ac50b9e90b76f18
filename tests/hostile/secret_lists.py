"""Secrets as people leave them in files, and what only looks like one, drawn by lot.

The kinds are split by lot, too: one half may be looked at when the rules of the search are written
(`TUNED`), the other half is held out (`HELD_OUT`) and only measured. A value is drawn when it is
asked for, so that nobody's scanner finds one in this file."""

import base64
import hashlib
import json
import random
import string
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass

SPLIT = 20261116
"""Decides which kinds are held out."""
HELD_OUT_SEED = 88_001
TUNING_SEED = 4_242

UPPER, LOWER, DIGITS = string.ascii_uppercase, string.ascii_lowercase, string.digits
HEX, ALNUM = "0123456789abcdef", string.ascii_letters + string.digits
URL64, BASE64 = ALNUM + "_-", ALNUM + "+/"
Draw = Callable[[random.Random], str]


def of(alphabet: str, length: int, *, before: str = "", after: str = "") -> Draw:
    return lambda lot: before + "".join(lot.choices(alphabet, k=length)) + after


def then(*parts: Draw) -> Draw:
    return lambda lot: "".join(part(lot) for part in parts)


@dataclass(frozen=True)
class Secret:
    kind: str
    value: str
    text: str
    """The line or lines it stands in."""


# Vendors by what their keys look like. Those without a prefix of their own are known by the name of
# the variable alone.
KINDS: dict[str, Draw] = {
    "adafruit": of(ALNUM, 32, before="aio_"),
    "airtable": then(of(ALNUM, 14, before="pat"), of(HEX, 64, before=".")),
    "algolia": of(HEX, 32),
    "alibaba": of(ALNUM, 20, before="LTAI"),
    "anthropic": of(URL64, 93, before="sk-" + "ant-api03-", after="AA"),
    "artifactory": of(ALNUM, 69, before="AKCp"),
    "asana": of(HEX, 32),
    "atlassian": of(URL64, 186, before="ATA" + "TT3"),
    "aws_access_key": of(UPPER + "234567", 16, before="AK" + "IA"),
    "aws_secret": of(BASE64, 40),
    "azure_client": then(of(ALNUM, 3), of(DIGITS, 1), of(ALNUM + "-_.~", 33, before="Q~")),
    "azure_storage": of(BASE64, 86, before="AccountKey=", after="=="),
    "bitbucket": of(URL64, 32, before="ATBB"),
    "brevo": then(of(HEX, 64, before="xkeysib-"), of(ALNUM, 16, before="-")),
    "buildkite": of(HEX, 40, before="bkua_"),
    "circleci": then(of(ALNUM, 22, before="CCIPAT_"), of(HEX, 40, before="_")),
    "clickhouse": of(ALNUM, 38, before="4b1d"),
    "cloudflare": of(URL64, 40),
    "codecov": of(ALNUM, 32),
    "coinbase": of(URL64, 64),
    "confluent": of(ALNUM, 64),
    "contentful": of(URL64, 43),
    "databricks": of(HEX, 32, before="da" + "pi"),
    "datadog": of(HEX, 32),
    "digitalocean": of(HEX, 64, before="dop" + "_v1_"),
    "discord_bot": then(of(ALNUM, 24), of(URL64, 6, before="."), of(URL64, 27, before=".")),
    "docker": of(URL64, 27, before="dckr" + "_pat_"),
    "doppler": of(ALNUM, 43, before="dp" + ".pt."),
    "dropbox": of(URL64, 135, before="sl."),
    "duffel": of(URL64, 43, before="duffel_live_"),
    "dynatrace": then(of(UPPER + DIGITS, 24, before="dt0c01."), of(UPPER + DIGITS, 64, before=".")),
    "easypost": of(ALNUM, 54, before="EZAK"),
    "elastic": of(BASE64, 58, after="=="),
    "facebook": of(ALNUM, 120, before="EAACEdEose0cBA"),
    "fastly": of(URL64, 32),
    "figma": of(URL64, 40, before="figd_"),
    "flutterwave": of(HEX, 32, before="FLWSECK_TEST-", after="-X"),
    "fly": of(BASE64, 120, before="FlyV1 fm2_"),
    "frameio": of(URL64, 64, before="fio-u-"),
    "gcp_api": of(URL64, 35, before="AI" + "za"),
    "github": of(ALNUM, 36, before="gh" + "p_"),
    "github_fine": of(ALNUM + "_", 82, before="github" + "_pat_"),
    "gitlab": of(URL64, 20, before="gl" + "pat-"),
    "gocardless": of(URL64, 40, before="live_"),
    "grafana": then(of(ALNUM, 32, before="gl" + "sa_"), of(HEX, 8, before="_")),
    "groq": of(ALNUM, 52, before="gsk" + "_"),
    "harness": then(
        of(ALNUM, 22, before="pat."), of(HEX, 24, before="."), of(ALNUM, 20, before=".")
    ),
    "heroku": lambda lot: str(uuid.UUID(int=lot.getrandbits(128), version=4)),
    "hubspot": lambda lot: f"pat-na1-{uuid.UUID(int=lot.getrandbits(128), version=4)}",
    "huggingface": of(string.ascii_letters, 34, before="hf" + "_"),
    "infracost": of(ALNUM, 32, before="ico-"),
    "intercom": of(BASE64, 58, before="dG9r", after="="),
    "jwt": then(
        of(URL64, 33, before="ey" + "J"),
        of(URL64, 90, before=".ey" + "J"),
        of(URL64, 43, before="."),
    ),
    "kraken": of(BASE64, 86, after="=="),
    "kubernetes_bootstrap": then(of(LOWER + DIGITS, 6), of(LOWER + DIGITS, 16, before=".")),
    "launchdarkly": lambda lot: f"sdk-{uuid.UUID(int=lot.getrandbits(128), version=4)}",
    "linear": of(ALNUM, 40, before="lin" + "_api_"),
    "lob": of(HEX, 35, before="live_"),
    "mailchimp": of(HEX, 32, after="-us12"),
    "mailgun": of(HEX, 32, before="ke" + "y-"),
    "mapbox": then(of(ALNUM, 60, before="sk.ey" + "J1Ijoi"), of(URL64, 22, before=".")),
    "messagebird": of(LOWER + DIGITS, 25),
    "microsoft_webhook": lambda lot: (
        "https://acme.webhook.office.com/webhookb2/"
        f"{uuid.UUID(int=lot.getrandbits(128), version=4)}@"
        f"{uuid.UUID(int=lot.getrandbits(128), version=4)}/IncomingWebhook/"
        f"{of(HEX, 32)(lot)}/{uuid.UUID(int=lot.getrandbits(128), version=4)}"
    ),
    "mongodb_url": lambda lot: f"mongodb+srv://app:{of(ALNUM, 16)(lot)}@cluster0.abcde.mongodb.net",
    "netlify": of(ALNUM, 36, before="nfp_"),
    "newrelic": of(UPPER + DIGITS, 27, before="NR" + "AK-"),
    "notion": of(ALNUM, 46, before="nt" + "n_"),
    "npm": of(ALNUM, 36, before="np" + "m_"),
    "okta": of(URL64, 40, before="00"),
    "openai_project": of(URL64, 74, before="sk-" + "proj-"),
    "openai_old": then(of(ALNUM, 20, before="sk" + "-"), of(ALNUM, 20, before="T3BlbkFJ")),
    "openshift": of(URL64, 43, before="sha256~"),
    "openrouter": of(HEX, 64, before="sk-" + "or-v1-"),
    "paypal_braintree": then(
        of(LOWER + DIGITS, 16, before="access_token$production$"), of(HEX, 32, before="$")
    ),
    "plaid": lambda lot: f"access-production-{uuid.UUID(int=lot.getrandbits(128), version=4)}",
    "planetscale": of(URL64, 43, before="pscale" + "_tkn_"),
    "postgres_url": lambda lot: f"postgresql://svc_app:{of(ALNUM, 18)(lot)}@10.2.3.4:5432/shop",
    "postman": then(of(HEX, 24, before="PM" + "AK-"), of(HEX, 34, before="-")),
    "prefect": of(ALNUM, 36, before="pnu_"),
    "private_key": lambda lot: (
        "-----BEGIN "
        + "EC PRIVATE KEY-----\n"
        + of(BASE64, 64)(lot)
        + "\n-----END EC PRIVATE KEY-----"
    ),
    "pulumi": of(HEX, 40, before="pu" + "l-"),
    "pypi": of(URL64, 140, before="pypi" + "-AgEIcHlwaS5vcmc"),
    "rabbitmq_url": lambda lot: f"amqps://worker:{of(ALNUM, 20)(lot)}@mq.acme.io/vhost",
    "rapidapi": of(URL64, 50),
    "readme": of(LOWER + DIGITS, 70, before="rdme_"),
    "replicate": of(ALNUM, 37, before="r" + "8_"),
    "rubygems": of(HEX, 48, before="ruby" + "gems_"),
    "scaleway": lambda lot: str(uuid.UUID(int=lot.getrandbits(128), version=4)),
    "sendgrid": then(of(URL64, 22, before="S" + "G."), of(URL64, 43, before=".")),
    "sentry": of(BASE64, 120, before="sntr" + "ys_ey" + "J"),
    "shippo": of(HEX, 40, before="shippo_live_"),
    "shopify": of(HEX, 32, before="shp" + "at_"),
    "slack_bot": then(
        of(DIGITS, 12, before="xo" + "xb-"), of(DIGITS, 12, before="-"), of(ALNUM, 24, before="-")
    ),
    "slack_hook": lambda lot: (
        "https://hooks.slack"
        + f".com/services/T{of(UPPER + DIGITS, 8)(lot)}/B{of(UPPER + DIGITS, 8)(lot)}/"
        + of(ALNUM, 24)(lot)
    ),
    "snyk": lambda lot: str(uuid.UUID(int=lot.getrandbits(128), version=4)),
    "sonar": of(HEX, 40, before="sq" + "p_"),
    "square": of(URL64, 60, before="EA" + "AA"),
    "squarespace": lambda lot: str(uuid.UUID(int=lot.getrandbits(128), version=4)),
    "stripe": of(ALNUM, 99, before="sk" + "_live_51"),
    "supabase": of(HEX, 40, before="sbp_"),
    "tailscale": then(of(ALNUM, 12, before="tskey" + "-auth-k"), of(ALNUM, 32, before="-")),
    "telegram": then(of("123456789", 10), of(URL64, 33, before=":A" + "A")),
    "terraform": then(of(ALNUM, 14), of(URL64, 67, before=".atlas" + "v1.")),
    "twilio": of(HEX, 32, before="S" + "K"),
    "twitter_bearer": of(ALNUM + "%", 100, before="AAAAAAAAAAAAAAAAAAAAA"),
    "typeform": then(of(URL64, 44, before="tfp_"), of(URL64, 14, before="_")),
    "vault": of(URL64, 90, before="hv" + "s."),
    "vercel": of(ALNUM, 24),
    "wandb": of(HEX, 40),
    "xai": of(ALNUM, 80, before="xa" + "i-"),
    "yandex": of(URL64, 38, before="AQVN"),
    "zendesk": of(ALNUM, 40),
}
CONTEXTS: tuple[str, ...] = (
    "{NAME}_{WORD}={value}",
    'export {NAME}_{WORD}="{value}"',
    '{name}_{word} = "{value}"',
    '  "{name}{Word}": "{value}",',
    "{name}:\n  {word}: {value}",
    "const {name}{Word} = '{value}';",
    'variable "{name}_{word}" {{\n  default = "{value}"\n}}',
    'curl -H "Authorization: Bearer {value}" https://api.{name}.com/v1/me',
)
WORDS = ("api_key", "token", "secret", "access_token", "auth_token", "secret_key")
STANDING = ("https://", "mongodb", "postgres", "amqps", "-----BEGIN", "AccountKey=")
"""Kinds that say by themselves what they are, and stand in a line of their own."""


def kinds(*, held_out: bool) -> list[str]:
    lot = random.Random(SPLIT)
    names = sorted(KINDS)
    lot.shuffle(names)
    half = len(names) // 2
    return sorted(names[:half] if held_out else names[half:])


def secrets(*, held_out: bool, of_each: int = 5) -> Iterator[Secret]:
    lot = random.Random(HELD_OUT_SEED if held_out else TUNING_SEED)
    for kind in kinds(held_out=held_out):
        for _ in range(of_each):
            value = KINDS[kind](lot)
            yield Secret(kind, value, _placed(kind, value, lot))


def _placed(kind: str, value: str, lot: random.Random) -> str:
    if value.startswith(STANDING):
        return lot.choice(["{}", "url: {}", 'connect("{}")']).format(value)
    name = kind.partition("_")[0]
    word = lot.choice(WORDS)
    return lot.choice(CONTEXTS).format(
        name=name,
        NAME=name.upper(),
        word=word,
        WORD=word.upper(),
        Word="".join(part.title() for part in word.split("_")),
        value=value,
    )


# What is in every repository and is none.
PLAIN = ("users", "orders", "billing", "search", "gateway", "profile", "invoice", "session")
ALIKE: dict[str, Callable[[random.Random], str]] = {
    "commit": lambda lot: f"commit {of(HEX, 40)(lot)}",
    "sha256 of an image": lambda lot: f"FROM python:3.12@sha256:{of(HEX, 64)(lot)}",
    "lock of npm": lambda lot: f'"integrity": "sha512-{of(BASE64, 86)(lot)}=="',
    "lock of pip": lambda lot: f"    --hash=sha256:{of(HEX, 64)(lot)}",
    "sum of go": lambda lot: (
        f"github.com/pkg/errors v0.9.{lot.randrange(9)} h1:{of(BASE64, 43)(lot)}="
    ),
    "identifier": lambda lot: f"id: {uuid.UUID(int=lot.getrandbits(128), version=4)}",
    "variable of the environment": lambda lot: (
        f'{lot.choice(PLAIN)}_token = os.environ["{lot.choice(PLAIN).upper()}_TOKEN"]'
    ),
    "reference in a workflow": lambda lot: (
        f"  api_key: ${{{{ secrets.{lot.choice(PLAIN).upper()}_API_KEY }}}}"
    ),
    "reference in a shell": lambda lot: f'PASSWORD="${{{lot.choice(PLAIN).upper()}_PASSWORD:?}}"',
    "placeholder": lambda lot: (
        f"{lot.choice(PLAIN).upper()}_API_KEY="
        + lot.choice(["your-api-key-here", "<your key>", "changeme-1234", "xxxxxxxxxxxxxxxxxxxx"])
    ),
    "call": lambda lot: f"token = create_{lot.choice(PLAIN)}_token(user, {lot.randrange(9000)})",
    "name of a secret": lambda lot: f"  secretName: {lot.choice(PLAIN)}-tls-{lot.randrange(90)}",
    "key of a secret": lambda lot: (
        f"  secretKeyRef: {{name: {lot.choice(PLAIN)}, key: db-password}}"
    ),
    "address of a secret": lambda lot: (
        f"arn:aws:secretsmanager:eu-west-1:{of(DIGITS, 12)(lot)}:secret:{lot.choice(PLAIN)}"
        f"-{of(ALNUM, 6)(lot)}"
    ),
    "public key": lambda lot: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{of(BASE64, 43)(lot)} ada@x",
    "certificate": lambda lot: f"-----BEGIN CERTIFICATE-----\nMII{of(BASE64, 61)(lot)}",
    "picture": lambda lot: (
        "url(data:image/png;base64,iVBORw0KGgo" + base64.b64encode(lot.randbytes(60)).decode() + ")"
    ),
    "type": lambda lot: f"    {lot.choice(PLAIN)}_token: str | None = None",
    "counter": lambda lot: f"max_tokens: {lot.randrange(100, 9000)}",
    "message": lambda lot: (
        f'"password_{lot.choice(PLAIN)}": "The password must have {lot.randrange(8, 20)} signs."'
    ),
    "path": lambda lot: (
        f'private_key_path = "/etc/{lot.choice(PLAIN)}/server-{lot.randrange(99)}.pem"'
    ),
    "cache": lambda lot: f'cacheKey = "{lot.choice(PLAIN)}:{lot.randrange(9999)}:profile:v2"',
    "address without a password": lambda lot: (
        f"https://api.acme.io/{lot.choice(PLAIN)}/{of(HEX, 24)(lot)}?page={lot.randrange(9)}"
    ),
    "local database": lambda lot: f"postgres://dev:dev{lot.randrange(99)}@localhost:5432/shop",
    "colour": lambda lot: f"  --accent: #{of(HEX, 6)(lot)};",
    "hashed file": lambda lot: f'<script src="/assets/index-{of(URL64, 8)(lot)}.js"></script>',
    "digest": lambda lot: f"ETag: {hashlib.md5(lot.randbytes(4)).hexdigest()}",
    "selector": lambda lot: f".token-{lot.choice(PLAIN)}-{lot.randrange(99)} {{ color: red }}",
    "test": lambda lot: f'assert token == "test-token-{lot.randrange(99)}"',
    "document": lambda lot: json.dumps({"tokenType": "bearer", "expires_in": lot.randrange(9999)}),
    "import": lambda lot: (
        f"from .secret_{lot.choice(PLAIN)} import load_secret_{lot.choice(PLAIN)}"
    ),
    "constant": lambda lot: f'SECRET_NAME = "{lot.choice(PLAIN)}/production/database"',
    "translation": lambda lot: f"password.reset.{lot.choice(PLAIN)}=Passwort zur{chr(252)}cksetzen",
    "serial": lambda lot: f"serial: {of(DIGITS, 20)(lot)}",
}


def look_alikes(*, held_out: bool, of_each: int = 32) -> Iterator[tuple[str, str]]:
    lot = random.Random((HELD_OUT_SEED if held_out else TUNING_SEED) + 1)
    for kind, draw in ALIKE.items():
        for _ in range(of_each):
            yield kind, draw(lot)
