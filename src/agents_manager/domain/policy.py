"""Files by which a repository tells agents, checks and continuous integration what to do. An agent
that changes one of them changes what others are allowed, so a person has to look."""

import unicodedata
from collections.abc import Iterable

_FOLDERS = frozenset(
    {
        *(".agents", ".agents-manager", ".claude", ".codex", ".gemini", ".opencode", ".qwen"),
        *(".kimi", ".cursor", ".windsurf", ".vscode", ".idea", ".zed", ".devcontainer"),
        *(".husky", ".githooks", ".circleci", ".buildkite"),
    }
)
_NAMES = frozenset(
    {
        *("agents.md", "claude.md", "gemini.md", "qwen.md", "copilot-instructions.md"),
        *(".mcp.json", ".cursorrules", ".windsurfrules", ".aider.conf.yml", ".envrc"),
        *(".pre-commit-config.yaml", "lefthook.yml", ".gitattributes", ".gitmodules", ".lfsconfig"),
        *(".gitlab-ci.yml", ".travis.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml"),
        *("jenkinsfile", "codeowners"),
    }
)
LOCKED = (
    *(".agents-manager", ".claude", ".codex", ".gemini", ".opencode", ".qwen", ".kimi"),
    *(".cursor", ".windsurf", ".vscode", ".idea", ".zed", ".devcontainer", ".husky", ".githooks"),
    *(".mcp.json", ".envrc", ".pre-commit-config.yaml", "lefthook.yml", ".aider.conf.yml"),
)
"""Those by which commands are run: at the top of a workspace they are kept as they are while an
agent works, where the sandbox can do it."""
_WITHIN = ((".github", "workflows"), (".github", "actions"))
_UNSEEN = ("Cf", "Mn")
"""Kinds of characters that some file systems pass over in names."""


def touched(paths: Iterable[str]) -> tuple[str, ...]:
    """Those of the paths that are such files, as they were given."""
    return tuple(sorted({path for path in paths if _decides(path)}))


def _decides(path: str) -> bool:
    *folders, name = _plain(path).split("/")
    inside = any(tuple(folders[: len(place)]) == place for place in _WITHIN)
    return inside or name in _NAMES or name in _FOLDERS or not _FOLDERS.isdisjoint(folders)


def _plain(path: str) -> str:
    """As a file system reads it that does not tell capitals, or passes over what is not seen."""
    shown = (
        c for c in unicodedata.normalize("NFKC", path) if unicodedata.category(c) not in _UNSEEN
    )
    return "".join(shown).casefold()
