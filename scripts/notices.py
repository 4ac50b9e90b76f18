"""What others wrote that the package needs or brings: `src/agents_manager/third-party-notices.txt`.

    python scripts/notices.py           says what is missing in it, as `make check` does
    python scripts/notices.py --write   makes it anew (make notices); needs web/node_modules

Packages of Python are those that the package and its extras ask for, in the versions of
requirements.lock; packages of npm are those that the web app is built from.
"""

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "src" / "agents_manager" / "third-party-notices.txt"
LOCK = ROOT / "requirements.lock"
WEB = ROOT / "web"
PACKAGE = "agents-manager"
NOT_SHIPPED = {"bench", "dev"}
TEXTS = re.compile(r"(licen[cs]e|copying|notice|copyright)", re.IGNORECASE)
LINE, THIN = "=" * 80, "-" * 80
HEAD = """\
Agents Manager is under the MIT licence. It needs these packages of Python, which are installed with
it or with one of its extras, and its web app is built from these packages of npm. Each is under
the licence named behind it, the text of which follows where the package brings one.
"""
HEADING = re.compile(r"^(\S+) (\S+) \((Python|npm)\): ", re.MULTILINE)


@dataclass(frozen=True, order=True)
class Notice:
    kind: str
    name: str
    version: str
    licence: str = ""
    text: str = ""


def main(arguments: list[str]) -> int:
    if arguments == ["--write"]:
        found = sorted([*of_python(), *of_npm(texts=True)])
        FILE.write_text(written(found), encoding="utf-8")
        return 0
    problems = list(outdated())
    print("\n".join(problems) or "Third-party notices are in order.")
    return 1 if problems else 0


def outdated() -> Iterator[str]:
    """A package that is for another system alone is listed where the file is made, if at all."""
    text = FILE.read_text(encoding="utf-8") if FILE.exists() else ""
    heads = "\n".join(part.partition(THIN)[0] for part in text.split(LINE))
    listed = {(m[3], m[1], m[2]) for m in HEADING.finditer(heads)}
    needed = {(n.kind, n.name, n.version) for n in (*of_python(), *of_npm(texts=False))}
    locked = set(re.findall(r"^([\w.-]+)(?:\[[^]]*\])?==([^\s;\\]+)", LOCK.read_text(), re.M))
    known = {("Python", canonicalize_name(name), version) for name, version in locked}
    for kind, name, version in sorted(needed - listed):
        yield f"{FILE.name} lacks {name} {version} ({kind}); run: make notices"
    for kind, name, version in sorted(listed - needed - known):
        yield f"{FILE.name} lists {name} {version} ({kind}), which is not used; run: make notices"


def written(found: list[Notice]) -> str:
    """Packages with the same text share it."""
    by_text: dict[str, list[Notice]] = {}
    for one in found:
        by_text.setdefault(one.text.replace("\r\n", "\n").strip(), []).append(one)
    parts = [HEAD]
    for text, ones in by_text.items():
        heads = [f"{one.name} {one.version} ({one.kind}): {one.licence}" for one in ones]
        said = text or "(The package brings no text.)"
        parts.append("\n".join(["", LINE, *heads, THIN, said, ""]))
    return "".join(parts)


def of_python() -> Iterator[Notice]:
    seen: set[str] = set()
    extras = set(metadata.metadata(PACKAGE).get_all("Provides-Extra") or ()) - NOT_SHIPPED
    open_ends = list(_asked(PACKAGE, extras))
    while open_ends:
        wanted = open_ends.pop()
        name = canonicalize_name(wanted.name)
        key = f"{name}[{','.join(sorted(wanted.extras))}]"
        if key in seen or name == PACKAGE:
            continue
        open_ends += _asked(name, wanted.extras)
        if not any(k.startswith(f"{name}[") for k in seen):
            yield _python(name)
        seen.add(key)


def _asked(name: str, extras: set[str]) -> Iterator[Requirement]:
    for line in metadata.requires(name) or ():
        wanted = Requirement(line)
        where = [{"extra": extra} for extra in ("", *extras)]
        if wanted.marker is None or any(wanted.marker.evaluate(one) for one in where):
            yield wanted


def _python(name: str) -> Notice:
    found = metadata.distribution(name)
    about: Message = found.metadata  # type: ignore[assignment]
    licence = about["License-Expression"] or _classified(about) or about["License"] or "not named"
    files = [f for f in found.files or () if ".dist-info" in str(f) and TEXTS.search(f.name)]
    text = "\n\n".join(
        Path(str(f.locate())).read_text(encoding="utf-8", errors="replace") for f in sorted(files)
    )
    return Notice("Python", name, found.version, licence.splitlines()[0].strip(), text)


def _classified(about: Message) -> str:
    named = [c for c in about.get_all("Classifier") or () if c.startswith("License ::")]
    return ", ".join(c.rpartition(" :: ")[2] for c in named)


def of_npm(*, texts: bool) -> Iterator[Notice]:
    packages = json.loads((WEB / "package-lock.json").read_text())["packages"]
    seen: set[tuple[str, str]] = set()
    for place, about in packages.items():
        name = place.rpartition("node_modules/")[2]
        if not name or about.get("dev") or about.get("optional") or about.get("peer"):
            continue
        if (name, about["version"]) not in seen:
            seen.add((name, about["version"]))
            text = _text(WEB / place) if texts else ""
            yield Notice("npm", name, about["version"], about.get("license", "not named"), text)


def _text(folder: Path) -> str:
    files = sorted(p for p in folder.glob("*") if p.is_file() and TEXTS.match(p.name))
    return "\n\n".join(file.read_text(encoding="utf-8", errors="replace") for file in files)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
