"""Checks what a reader of the documentation relies on: short README, links that lead somewhere,
a complete index of decisions, a changelog, generated pages that fit the code."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import gen_docs

ROOT = Path(__file__).resolve().parent.parent
DECISIONS = ROOT / "docs" / "decisions"
README_LINES = 150
SKIPPED_FOLDERS = {".agents", ".git", ".venv", ".venv-bench", "node_modules"}

CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]*`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(<?([^)\s>]+)")
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|#|/", re.IGNORECASE)


def main() -> int:
    problems = [*readme(), *links(), *decisions(), *changelog(), *gen_docs.outdated()]
    print("\n".join(problems) or "Documentation is in order.")
    return 1 if problems else 0


def readme() -> Iterator[str]:
    path = ROOT / "README.md"
    if not path.exists():
        yield "README.md is missing."
    elif (lines := len(path.read_text().splitlines())) >= README_LINES:
        yield f"README.md has {lines} lines; keep it under {README_LINES} and link to docs/."


def links() -> Iterator[str]:
    for page in sorted(ROOT.rglob("*.md")):
        if SKIPPED_FOLDERS.isdisjoint(page.relative_to(ROOT).parts):
            for target in LINK.findall(CODE.sub("", page.read_text())):
                if (
                    not ELSEWHERE.match(target)
                    and not (page.parent / target.split("#")[0]).exists()
                ):
                    yield f"{page.relative_to(ROOT)}: the link to {target} leads nowhere."


def decisions() -> Iterator[str]:
    index = (DECISIONS / "README.md").read_text()
    for record in sorted(DECISIONS.glob("[0-9]*.md")):
        if f"]({record.name})" not in index:
            yield f"docs/decisions/{record.name} is not listed in docs/decisions/README.md."


def changelog() -> Iterator[str]:
    path = ROOT / "CHANGELOG.md"
    if not path.exists() or "## Unreleased" not in path.read_text():
        yield 'CHANGELOG.md with a heading "## Unreleased" is missing.'


if __name__ == "__main__":
    sys.exit(main())
