"""Names that leave the program: branches and the first lines of commits. Titles come from anybody,
so what git or a reader could take for something else is refused or removed here."""

import re
import unicodedata

from agents_manager.errors import InvalidInput

BRANCH_LIMIT = 200
LINE_LIMIT = 200

FORBIDDEN_IN_BRANCH = frozenset("~^:?*[\\")
PSEUDO_REF = re.compile(r"@|[A-Z_]*HEAD|[0-9a-fA-F]{40,64}")
"""Names that git reads as something other than a branch."""


def slug(title: str, max: int = 40) -> str:
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:max].rstrip("-") or "task"


def task_branch(prefix: str, title: str, task_id: str) -> str:
    return check_branch(f"{prefix}{slug(title)}-{task_id[:8]}")


def phase_branch(task_branch: str, number: int, name: str) -> str:
    """Beside the task's branch, not below it: git cannot hold both `a/b` and `a/b/c`."""
    return check_branch(f"{task_branch}--{number}-{slug(name)}")


def whole_of(branch: str) -> str:
    """The task's branch, given it or that of one of its phases."""
    return re.sub(r"--\d+-[a-z0-9-]+$", "", branch)


def part_branch(branch: str, part: str) -> str:
    """Where a part of the work is done, beside the branch that it goes to."""
    return check_branch(f"{branch}--part-{part}")


def workspace_key(task_id: str, part: str) -> str:
    """What a workspace is called: by its task, and the part of the work that is done there."""
    return f"{task_id}.{part}" if part else task_id


def task_of(key: str) -> str:
    return key.partition(".")[0]


def check_branch(name: str) -> str:
    """The name itself, or InvalidInput. Stricter than `git check-ref-format`, which accepts
    `--upload-pack=x`, `HEAD`, forty hex digits and invisible characters."""
    fault = _branch_fault(name)
    if fault:
        raise InvalidInput(f'"{one_line(name)}" cannot be a branch name: {fault}.')
    return name


def _branch_fault(name: str) -> str | None:
    parts = name.split("/")
    faults = {
        "it is empty": not name,
        f"it is longer than {BRANCH_LIMIT} characters": len(name) > BRANCH_LIMIT,
        "git would take it for something else": bool(PSEUDO_REF.fullmatch(name))
        or parts[0] == "refs",
        "it holds blanks, control or invisible characters": any(_hidden(c) for c in name),
        "it holds one of ~ ^ : ? * [ \\": not FORBIDDEN_IN_BRANCH.isdisjoint(name),
        'it holds ".." or "@{"': ".." in name or "@{" in name,
        "a part of it is empty": "" in parts,
        'a part of it starts with "-" or "."': any(part.startswith(("-", ".")) for part in parts),
        'a part of it ends with "." or ".lock"': any(
            part.endswith((".", ".lock")) for part in parts
        ),
    }
    return next((fault for fault, found in faults.items() if found), None)


def one_line(title: str) -> str:
    """A title as a commit's first line: no line break, so no trailer, and nothing invisible."""
    return visible(title, LINE_LIMIT) or "untitled"


def visible(text: str, limit: int) -> str:
    """Somebody else's words on one line: nothing hidden, nothing a terminal would obey."""
    plain = text if text.isprintable() else "".join(" " if _hidden(c) else c for c in text)
    shown = " ".join(plain.split())
    return shown if len(shown) <= limit else shown[: limit - 1].rstrip() + "…"


def visible_lines(text: str) -> str:
    """The same, line by line."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    shown = ("".join(" " if _hidden(c) else c for c in line).rstrip() for line in lines)
    return "\n".join(shown).strip("\n")


def _hidden(character: str) -> bool:
    """Control, format (bidi, zero width), surrogate, unassigned, and every kind of blank."""
    return unicodedata.category(character)[0] in "CZ"
