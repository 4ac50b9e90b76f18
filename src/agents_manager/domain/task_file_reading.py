"""The Markdown file of a task, read: what it holds, or everything that is wrong with it by its
line."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from agents_manager.domain import fences, handoff_rules, handoff_text, strict_json
from agents_manager.domain.handoff_faults import MAX_TOLD
from agents_manager.domain.names import visible
from agents_manager.domain.task_file import METADATA, UNDER_CRITERION, WORDS, TaskFile
from agents_manager.domain.task_list import Entry, Listed
from agents_manager.errors import closest

MAX_BYTES = 4 * 1024 * 1024
"""More than a list may have: the longest that a task is allowed to say is read again."""
MAX_ID = 100
NEEDED = ("Metadata", "Objective", "Acceptance Criteria", "Context Provided")
SECTIONS = (*NEEDED, "Execution Log", "Handoff")
YAML = ("yaml", "yml", "json")
"""Kinds of the block of a handoff."""
_CONTEXT = ("Description", "Plan")
_SHOWN = 60

_TITLE = re.compile(r"# Task (?P<id>[^\s:]+): *(?P<title>.*)")
_FOOTER = re.compile(r"\*Task completed: (?P<when>.+)\*\s*")
_KEY = re.compile(r"[-*+] (?:\*\*)?(?P<key>[^:*]+?)(?:\*\*:|:\*\*|:)(?P<value>.*)")
_CRITERION = re.compile(r"[-*+] (?:\[[ xX]\] )?(?P<text>.*)")
_TICKS = re.compile("(?P<ticks>`{3,})(?P<kind>[^`]*)")


@dataclass(slots=True)
class _Faults:
    told: list[str] = field(default_factory=list[str])

    def add(self, line: int, what: str) -> None:
        self.told.append(f"line {line}: {what}")


@dataclass(slots=True)
class _Part:
    line: int
    """Of its heading."""
    first: int
    """Of its lines."""
    lines: list[str]

    def numbered(self) -> Iterator[tuple[int, str]]:
        return enumerate(self.lines, self.first)


_NOTHING = _Part(0, 1, [])


def looks(text: str) -> bool:
    """Whether a Markdown file is the file of a task and not a list of tasks."""
    lines = _lines(text)
    return _titled(lines) is not None and any(
        name in SECTIONS for name, _ in _headed(_Part(0, 1, lines), 2)
    )


def listed(text: str) -> Listed:
    """As the only entry of a list; the file itself stays with what is made of it."""
    file, faults = read(text)
    if file is None:
        return Listed(faults=faults)
    words = {name.lower(): file.metadata[name] for name in WORDS if name in file.metadata}
    entry = Entry(
        place="line 1",
        pipeline=file.metadata.get("Pipeline"),
        words={
            **words,
            "title": file.title,
            "description": file.description,
            "objective": file.objective,
            "tags": file.listed("Tags"),
            "acceptance_criteria": file.acceptance_criteria,
        },
        waits_for=file.listed("Depends on"),
        source=f"task {visible(file.id, MAX_ID)}",
        file=text,
        note=bool(file.note),
    )
    return Listed(entries=[entry], forgiving=True)


def read(text: str) -> tuple[TaskFile | None, list[str]]:
    try:
        strict_json.check_text(text)
    except ValueError as error:
        return None, [str(error)]
    faults = _Faults()
    lines = _lines(text)
    found = _titled(lines)
    if found is None:
        return None, ['line 1: it must begin with "# Task ID: Name"']
    completed = _footer(lines)
    parts = _sections(lines, faults)
    context = _context(parts.get("Context Provided", _NOTHING), faults)
    handoff, note = _handoff(parts.get("Handoff", _NOTHING), faults)
    if len(found["id"]) > MAX_ID:
        faults.add(1, f"the id has more than {MAX_ID} characters")
    file = TaskFile(
        id=found["id"],
        title=found["title"].strip(),
        metadata=_metadata(parts.get("Metadata", _NOTHING), faults),
        objective=_text(parts.get("Objective")),
        acceptance_criteria=_criteria(parts.get("Acceptance Criteria", _NOTHING), faults),
        description=context.get("Description", ""),
        plan=context.get("Plan"),
        log=_text(parts.get("Execution Log")),
        handoff=handoff,
        note=note,
        completed=completed,
    )
    return (None if faults.told else file), faults.told


# ----------------------------------------------------------------------------------- its parts


def _lines(text: str) -> list[str]:
    """Only line feeds end a line, so that every other sign stays in its text; where all lines of
    the file end as in Windows, that is no part of any text."""
    plain = text.removeprefix("\ufeff")
    if plain.partition("\n")[0].endswith("\r"):
        plain = plain.replace("\r\n", "\n")
    return plain.split("\n")


def _titled(lines: Sequence[str]) -> re.Match[str] | None:
    first = next((line for line in lines if line.strip()), "")
    return _TITLE.fullmatch(first)


def _footer(lines: list[str]) -> str | None:
    """Taken away from the lines."""
    while lines and not lines[-1].strip():
        lines.pop()
    found = _FOOTER.fullmatch(lines[-1]) if lines else None
    if found:
        lines.pop()
    return found["when"] if found else None


def _sections(lines: list[str], faults: _Faults) -> Mapping[str, _Part]:
    parts: dict[str, _Part] = {}
    for name, part in _headed(_Part(0, 1, lines), 2):
        if name not in SECTIONS:
            hint = closest(name, list(SECTIONS)) or f" There is: {', '.join(SECTIONS)}."
            what = f'there is no section "{visible(name, _SHOWN)}".{hint}'
            faults.add(part.line, f"{what} Headings inside of a text stand in a fence")
        elif name in parts:
            faults.add(part.line, f'the section "{name}" stands there twice')
        else:
            parts[name] = part
    missing = [name for name in NEEDED if name not in parts]
    if missing:
        faults.told.append(f"sections are missing: {', '.join(missing)}")
    return parts


def _headed(whole: _Part, level: int) -> Iterator[tuple[str, _Part]]:
    """Parts by their headings outside of code; what stands in front of the first is left out."""
    mark, fence = f"{'#' * level} ", None
    name, part = "", _Part(0, 1, [])
    for number, line in whole.numbered():
        fence, fenced = fences.state(fence, line)
        if fenced or not line.startswith(mark):
            part.lines.append(line)
            continue
        if name:
            yield name, _trimmed(part)
        name, part = line.removeprefix(mark).strip(), _Part(number, number + 1, [])
    if name:
        yield name, _trimmed(part)


def _trimmed(part: _Part) -> _Part:
    """Without blank lines around, and without the line that parts it from the next."""
    lines = part.lines
    end = _end(lines, len(lines))
    if end and lines[end - 1].rstrip() == "---":
        end = _end(lines, end - 1)
    begin = next((i for i in range(end) if lines[i].strip()), end)
    return _Part(part.line, part.first + begin, lines[begin:end])


def _end(lines: Sequence[str], end: int) -> int:
    while end and not lines[end - 1].strip():
        end -= 1
    return end


# ------------------------------------------------------------------------------------ its texts


def _text(part: _Part | None) -> str:
    if part is None:
        return ""
    found, beside = blocks(part.lines)
    if len(found) == 1 and not beside and found[0][0] == "markdown":
        return found[0][1]
    return "\n".join(part.lines)


def blocks(lines: Sequence[str]) -> tuple[list[tuple[str, str]], list[int]]:
    """Blocks in fences, each with its kind, and which lines hold words beside them."""
    found: list[tuple[str, list[str]]] = []
    beside: list[int] = []
    fence: str | None = None
    for index, line in enumerate(lines):
        before = fence
        fence, fenced = fences.state(fence, line)
        if fenced and before is None:
            opened = _TICKS.fullmatch(line)
            found.append((opened["kind"].strip().lower() if opened else "", []))
        elif fenced and fence is not None:
            found[-1][1].append(line)
        elif not fenced and line.strip():
            beside.append(index)
    if fence is not None:
        # A block without an end is no block: its words would lose the fence.
        return [], [0]
    return [(kind, "\n".join(inside)) for kind, inside in found], beside


def _metadata(part: _Part, faults: _Faults) -> dict[str, str]:
    known = {name.lower(): name for name in METADATA}
    found: dict[str, str] = {}
    for number, line in part.numbered():
        if not line.strip():
            continue
        pair = _KEY.fullmatch(line)
        if pair is None:
            faults.add(number, 'metadata is written as "- Name: value"')
            continue
        name = known.get(pair["key"].strip().lower().replace("_", " "))
        if name is None:
            given = visible(pair["key"], _SHOWN)
            hint = closest(given.capitalize(), METADATA) or f" There is: {', '.join(METADATA)}."
            faults.add(number, f'there is no metadata "{given}".{hint}')
        elif name in found:
            faults.add(number, f'the metadata "{name}" stands there twice')
        elif value := pair["value"].strip():
            found[name] = value
    return found


def _criteria(part: _Part, faults: _Faults) -> tuple[str, ...]:
    found: list[list[str]] = []
    for number, line in part.numbered():
        item = _CRITERION.fullmatch(line)
        if item:
            found.append([item["text"]])
        elif found:
            deep = line.startswith(UNDER_CRITERION)
            found[-1].append(line[len(UNDER_CRITERION) :] if deep else line.lstrip(" \t"))
        elif line.strip():
            faults.add(number, 'a criterion begins with "- [ ] "')
    return tuple("\n".join(lines).strip() for lines in found)


def _context(part: _Part, faults: _Faults) -> Mapping[str, str]:
    """By the names of its parts; without such headings all of it is the description."""
    first = part.lines[0] if part.lines else ""
    if first.strip() not in [f"### {name}" for name in _CONTEXT]:
        return {"Description": _text(part)}
    found: dict[str, str] = {}
    for name, inner in _headed(part, 3):
        if name not in _CONTEXT:
            faults.add(inner.line, f'beside {" and ".join(_CONTEXT)} there is no "{name[:_SHOWN]}"')
        elif name in found:
            faults.add(inner.line, f'"{name}" stands there twice')
        else:
            found[name] = _text(inner)
    return found


def _handoff(part: _Part, faults: _Faults) -> tuple[str, str]:
    """Its YAML, or a note in free words."""
    found, beside = blocks(part.lines)
    of_yaml = [text for kind, text in found if kind in YAML]
    bare = not found and any(line.startswith("outcome:") for line in part.lines)
    if not of_yaml and not bare:
        return "", _text(part)
    text = of_yaml[0] if of_yaml else _text(part)
    if len(found) > 1:
        faults.add(part.line, f"the handoff has {len(found)} blocks of code, one is right")
    elif found and beside:
        faults.add(
            part.first + beside[0], "the handoff is one block of YAML, without words beside it"
        )
    else:
        _hold(text, part.line, faults)
    return text, ""


def _hold(text: str, line: int, faults: _Faults) -> None:
    parsed = handoff_text.read(text)
    violations = parsed.violations or handoff_rules.check(parsed.value).violations
    for one in violations[:MAX_TOLD]:
        faults.add(line, f"Handoff: {one}")
