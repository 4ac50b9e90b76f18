"""The agents that speak the Agent Client Protocol, and in what each differs from the others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from agents_manager.agents.environment import CLAUDE_HOSTS, CODEX_HOSTS
from agents_manager.agents.programs import Release


class Counts(StrEnum):
    """Where an agent says how many tokens a turn took."""

    ANSWER = "answer"
    """In the answer to the prompt, as the protocol has it."""
    QUOTA = "quota"
    """Beside that answer, as `_meta.quota`."""
    PIECES = "pieces"
    """Step by step, beside pieces of its messages."""
    NOWHERE = "nowhere"
    """Nowhere, or wrongly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    command: Sequence[str] = ()
    get: str = ""
    """The command that installs it; empty where neither npm nor PyPI has it."""
    tested: tuple[Release, Release] | None = None
    """None: not tried with the program itself."""
    env: Sequence[str] = ()
    """Variables of the server that are passed on."""
    always: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variables with the same value in every run."""
    reading_always: Mapping[str, str] = field(default_factory=dict[str, str])
    """The same for runs that neither write nor run commands."""
    model: Sequence[str] = ()
    """The arguments that name a model; without any the session is asked for it."""
    mode: str | None = None
    """The session mode in which it asks before it changes anything; None: the one it begins in."""
    reading: str | None = None
    """The same where a run only reads, if that is another."""
    sandboxed: str | None = None
    """The same in a sandbox of ours, for an agent that otherwise runs commands in one of its own:
    one cannot be made inside of the other."""
    files: bool = True
    """Whether it may read and write files through us."""
    hosts: Sequence[str] = ()
    """Where its model is, as far as that is not configured."""
    logins: Sequence[str] = ()
    """The files of its login, in the user's home."""
    settings: Sequence[str] = ()
    """Files of the user's that say how it works."""
    folder: tuple[str, str] | None = None
    """The variable that names the folder of these files, and the folder in the user's home where
    they are otherwise."""
    resumes: bool = True
    counts: Counts = Counts.ANSWER
    reports_cost: bool = False
    asks: bool = True
    """Whether it is known to ask before it writes, so that a mode that only reads holds."""
    stops: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    """Stop reasons that mean something else than in the protocol: the error and its class."""
    ends_clearly: bool = True
    """Whether a turn whose last response was cut off or blocked ends in another way than one that
    is complete."""
    failure: str | None = None
    """How a final message begins that is in truth an error."""
    reads_instructions: bool = False
    """Whether it reads AGENTS.md in the workspace, which nothing keeps it from."""
    session_meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The `_meta` of the requests that begin or resume a session."""
    system_settings: tuple[str, Mapping[str, Any]] | None = None
    """Settings that win over those of the workspace, and the variable that names their file."""


OPENAI = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL")
GOOGLE = (
    *("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"),
    *("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_GEMINI_BASE_URL"),
)


# No agent reads instructions, skills or settings in the workspace if it can be kept from it: an
# earlier run could have changed them there. The prompt holds those of the base commit.
PROFILES: Mapping[str, Profile] = {
    "gemini": Profile(
        command=("gemini", "--experimental-acp"),
        get="npm install -g @google/gemini-cli",
        tested=((0, 61), (0, 61)),
        env=GOOGLE,
        hosts=(
            *("generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com"),
            *("oauth2.googleapis.com", "aiplatform.googleapis.com"),
        ),
        logins=(".gemini/oauth_creds.json",),
        settings=(".gemini/settings.json", ".gemini/google_accounts.json"),
        # A folder that nobody trusted gets no tools that write, and nobody is there to be asked.
        always={"GEMINI_CLI_TRUST_WORKSPACE": "true"},
        model=("--model", "{model}"),
        mode="default",
        # It takes our "there is no such file" for an error, and cannot create one.
        files=False,
        # It lists its sessions, but finds none of them again.
        resumes=False,
        # It also ends a turn as complete when a response has no end or was blocked.
        ends_clearly=False,
        stops={"max_tokens": ("The conversation is too long for the model.", "context_too_long")},
        counts=Counts.QUOTA,
    ),
    "opencode": Profile(
        command=("opencode", "acp"),
        get="npm install -g opencode-ai",
        tested=((1, 18), (1, 18)),
        hosts=("opencode.ai", "models.opencode.ai", "models.dev", *CLAUDE_HOSTS, *CODEX_HOSTS),
        logins=(".local/share/opencode/auth.json",),
        settings=(".config/opencode/opencode.json", ".config/opencode/opencode.jsonc"),
        env=("OPENCODE_API_KEY", "OPENCODE_CONFIG", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"),
        # Without this it asks nobody for anything.
        always={
            "OPENCODE_PERMISSION": '{"edit":"ask","bash":"ask","webfetch":"allow"}',
            "OPENCODE_DISABLE_AUTOUPDATE": "true",
            "OPENCODE_DISABLE_PROJECT_CONFIG": "true",
            "OPENCODE_DISABLE_CLAUDE_CODE": "true",
            "OPENCODE_DISABLE_EXTERNAL_SKILLS": "true",
        },
        mode="build",
        # Refused something, it ends its turn without a word; denied it, it goes on.
        reading_always={"OPENCODE_PERMISSION": '{"edit":"deny","bash":"deny"}'},
        # It tells the tokens of the last step as those of the turn.
        counts=Counts.NOWHERE,
        reports_cost=True,
    ),
    "qwen": Profile(
        command=("qwen", "--acp"),
        get="npm install -g @qwen-code/qwen-code",
        tested=((0, 24), (0, 24)),
        env=(*OPENAI, "DASHSCOPE_API_KEY"),
        hosts=(
            *("portal.qwen.ai", "chat.qwen.ai", "api.openai.com"),
            *("dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com"),
        ),
        logins=(".qwen/oauth_creds.json",),
        settings=(".qwen/settings.json",),
        system_settings=("QWEN_CODE_SYSTEM_SETTINGS_PATH", {"context": {"fileName": "QWEN.md"}}),
        model=("--model", "{model}"),
        mode="default",
        counts=Counts.PIECES,
    ),
    "copilot": Profile(
        command=("copilot", "--acp"),
        get="npm install -g @github/copilot",
        tested=((1, 0), (1, 0)),
        env=(
            *("COPILOT_GITHUB_TOKEN", "COPILOT_MODEL"),
            *("COPILOT_PROVIDER_BASE_URL", "COPILOT_PROVIDER_API_KEY", "COPILOT_OFFLINE"),
        ),
        hosts=("api.github.com", "*.githubcopilot.com"),
        settings=(".copilot/config.json",),
        model=("--model", "{model}"),
        mode="https://agentclientprotocol.com/protocol/session-modes#agent",
        failure="Error: ",
        reads_instructions=True,
    ),
    "kimi": Profile(
        command=("kimi", "acp"),
        get="npm install -g @moonshot-ai/kimi-code",
        tested=((2, 1), (2, 1)),
        hosts=("api.kimi.com", "api.moonshot.ai", "api.moonshot.cn"),
        env=("KIMI_API_KEY", "KIMI_BASE_URL"),
        settings=(".kimi-code/config.toml",),
        folder=("KIMI_CODE_HOME", ".kimi-code"),
        reads_instructions=True,
        mode="default",
        counts=Counts.NOWHERE,
    ),
    "claude-acp": Profile(
        command=("claude-agent-acp",),
        get="npm install -g @agentclientprotocol/claude-agent-acp",
        tested=((0, 99), (0, 100)),
        env=(
            *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"),
            *("CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR"),
        ),
        always={"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"},
        mode="default",
        session_meta={"claudeCode": {"options": {"settingSources": []}}},
        hosts=CLAUDE_HOSTS,
        logins=(".claude/.credentials.json",),
        reports_cost=True,
    ),
    "codex-acp": Profile(
        command=("codex-acp",),
        get="npm install -g @agentclientprotocol/codex-acp",
        tested=((2, 6), (2, 6)),
        env=("CODEX_API_KEY", "OPENAI_API_KEY"),
        folder=("CODEX_HOME", ".codex"),
        always={
            "CODEX_CONFIG": '{"project_doc_max_bytes":0,"skills":{"include_instructions":false}}'
        },
        hosts=CODEX_HOSTS,
        logins=(".codex/auth.json",),
        settings=(".codex/config.toml",),
        # In its own mode a model decides what it may do.
        mode="workspace-write",
        reading="read-only",
        sandboxed="agent-full-access",
    ),
    "cursor": Profile(
        command=("cursor-agent", "acp"),
        env=("CURSOR_API_KEY",),
        reads_instructions=True,
        hosts=("*.cursor.sh",),
        asks=False,
    ),
    "goose": Profile(
        command=("goose", "acp"),
        hosts=(*CLAUDE_HOSTS, *CODEX_HOSTS),
        always={"CONTEXT_FILE_NAMES": "[]"},
        env=("GOOSE_PROVIDER", "GOOSE_MODEL", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"),
        asks=False,
    ),
}
ANY = Profile(asks=False)
"""An agent that nobody described."""
