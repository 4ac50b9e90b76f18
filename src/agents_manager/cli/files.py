"""What a command reads from a file or from standard input, bounded."""

import re
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import click

from agents_manager.errors import InvalidInput

if TYPE_CHECKING:
    from agents_manager.documents import Document

MAX_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 32
PIPED = "Standard input"
UNMARKED = "must_fix"
"""The severity of a comment that names none."""

_SEVERITY = r"\[(?P<severity>[A-Za-z_-]+)\]"
_FORMS = (
    re.compile(rf"(?P<file>\S.*?):(?P<line>\d+):\s*(?:{_SEVERITY}\s*)?(?P<comment>\S.*)"),
    re.compile(rf"(?P<line>\d+):\s*(?:{_SEVERITY}\s*)?(?P<comment>\S.*)"),
    re.compile(rf"(?P<file>[^\s\[].*?):\s*{_SEVERITY}\s*(?P<comment>\S.*)"),
    re.compile(rf"(?:{_SEVERITY}\s*)?(?P<comment>\S.*)"),
)
_JSON_LIST = re.compile(r"\s*\[\s*[{\]]")


def text(file: BinaryIO, most: int = MAX_BYTES) -> str:
    content = file.read(most + 1)
    if len(content) > most:
        raise InvalidInput(f"{_name(file)} is longer than {most} bytes.")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        where = f"line {line}, byte {error.start}"
        raise InvalidInput(f"{_name(file)} is not UTF-8 text ({where}).") from None


def one_of(given: str | None, file: BinaryIO | None) -> str | None:
    """A description that was given, or stands in a file."""
    if given is not None and file is not None:
        raise click.UsageError("Give --description or --description-file, not both.")
    return text(file) if file is not None else given


def name(file: BinaryIO) -> str:
    """What the file is called, without its folder; nothing for standard input."""
    return "" if _name(file) == PIPED else PurePath(str(file.name)).name


def document(file: BinaryIO) -> "Document":
    """JSON or YAML, by the file's name."""
    from agents_manager import documents

    content, name = text(file), str(file.name)
    if _name(file) != PIPED:
        return documents.parse(content, name)
    # Without an ending to go by: nobody's YAML begins like JSON.
    yaml = not content.lstrip().startswith(("{", "["))
    return documents.parse(content, PIPED, yaml=yaml)


def json_object(file: BinaryIO) -> dict[str, Any]:
    value = _json(text(file), _name(file))
    if not isinstance(value, dict):
        raise InvalidInput(f"{_name(file)} must hold a JSON object.")
    return cast("dict[str, Any]", value)


def comments(file: BinaryIO) -> list[Any]:
    """Comments of a review: a JSON list, or lines of `file:line: [severity] text`, where a
    document that is reviewed needs no file."""
    content = text(file)
    return _json(content, _name(file)) if _JSON_LIST.match(content) else comment_lines(content)


def comment_lines(content: str) -> list[Any]:
    """File, line and severity may be left out; indented lines go on with the one above."""
    found: list[dict[str, Any]] = []
    for line in content.splitlines():
        if not line.strip():
            continue
        if line[0].isspace() and found:
            found[-1]["comment"] += f"\n{line.strip()}"
            continue
        fields = next(m for m in (form.fullmatch(line.strip()) for form in _FORMS) if m).groupdict()
        found.append(
            {
                "file": fields.get("file"),
                "line": int(fields["line"]) if fields.get("line") else None,
                "severity": (fields["severity"] or UNMARKED).lower().replace("-", "_"),
                "comment": fields["comment"],
            }
        )
    return found


def _json(content: str, name: str) -> Any:
    from agents_manager.domain import strict_json

    try:
        return strict_json.loads(content, max_bytes=MAX_BYTES, max_depth=MAX_DEPTH)
    except ValueError as error:
        raise InvalidInput(f"{name} is not valid JSON: {error}.") from None


def _name(file: BinaryIO) -> str:
    name = getattr(file, "name", "-")
    return PIPED if name in ("-", "<stdin>", 0) else f'"{name}"'
