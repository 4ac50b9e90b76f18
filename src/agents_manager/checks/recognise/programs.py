"""Which programs checks can start on a machine, asked by a shell command that runs as a check."""

import posixpath
import re
from collections.abc import Iterable

from agents_manager.checks.recognise import cargo, go, gradle, makefile, maven
from agents_manager.checks.recognise.proposal import Machine, Version
from agents_manager.checks.recognise.python import facts
from agents_manager.checks.recognise.python.interpreter import INTERPRETERS

_BY_MANIFEST = (
    (("package.json",), ("node", "npm", "npx", "pnpm", "yarn", "bun")),
    (facts.MANIFESTS, (*INTERPRETERS, "uv", "poetry")),
    ((cargo.FILE,), ("cargo",)),
    ((go.FILE,), ("go",)),
    ((maven.FILE,), ("java", "mvn")),
    (gradle.FILES, ("java", "gradle")),
    (makefile.FILES, ("make",)),
)
"""The programs that a repository with one of these files may need."""
_ONLY_PRESENT = ("npx", "make", "mvn", "gradle", "java")
"""Programs whose version does not matter, and which take long to say it."""
_MARK = "am-program"
_NUMBER = re.compile(r"\d+(?:\.\d+)+")


def needed(paths: Iterable[str]) -> list[str]:
    """Returns the programs that recognisers may ask for in a repository with these files."""
    names = {posixpath.basename(path) for path in paths}
    python = any("requirements" in name for name in names)
    found = [
        program
        for manifests, programs in _BY_MANIFEST
        if not names.isdisjoint(manifests) or (python and manifests is facts.MANIFESTS)
        for program in programs
    ]
    return list(dict.fromkeys(found))


def probe(wanted: Iterable[str]) -> str:
    """Returns a shell command that prints which of the programs there are, for `parse`."""
    return "\n".join([*map(_line, wanted), "true"])


def _line(name: str) -> str:
    found = f"command -v {name} >/dev/null 2>&1"
    if name in _ONLY_PRESENT:
        return f'{found} && echo "{_MARK} {name} 0"'
    option = "version" if name == "go" else "--version"
    return (
        f"if {found}; then said=$({name} {option} 2>&1 </dev/null);"
        f' echo "{_MARK} {name} $?" $said; fi'
    )


def parse(output: str) -> Machine:
    """Returns the programs that the command of `probe` printed."""
    versions: dict[str, Version | None] = {}
    broken: dict[str, str] = {}
    for line in output.splitlines():
        words = line.split()
        if len(words) < 3 or words[0] != _MARK:
            continue
        name, code, said = words[1], words[2], " ".join(words[3:])
        if code != "0":
            broken[name] = said[:200]
            continue
        number = _NUMBER.search(said)
        versions[name] = tuple(map(int, number[0].split("."))) if number else None
    return Machine(versions, broken)
