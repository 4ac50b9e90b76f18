"""What people write in files: JSON or YAML, bounded before it is read. And what a project brings
along in its `.agents-manager`, read from the main checkout and anew when a file changed."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from agents_manager.domain import form_schema, plain_yaml, strict_json
from agents_manager.domain.outcome import Outcome
from agents_manager.domain.pipeline import OUTCOME_ALIASES, PromptType, located
from agents_manager.domain.registry import Registry
from agents_manager.domain.task import Project
from agents_manager.errors import InvalidConfig, InvalidInput
from agents_manager.flow.ports import PipelineFile
from agents_manager.settings import PROJECT_FOLDER, bounded_text

T = TypeVar("T")

MAX_BYTES = 4 * 1024 * 1024
"""Room for the largest pipeline: 1,000 statuses and 5,000 transitions, with long words."""
MAX_YAML_BYTES = 512 * 1024
"""It takes fifty times as long to read."""
MAX_DEPTH = 32
MAX_FILES = 100
YAML = (".yaml", ".yml")
_NAME = re.compile(r"[a-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Document:
    name: str
    value: Any
    lines: Callable[[], Mapping[str, int]]
    """The line of each place, found only when something is wrong there."""


def parse(text: str, name: str, *, yaml: bool | None = None) -> Document:
    """A document: YAML or JSON, by the ending of its file's name unless told."""
    is_yaml = name.lower().endswith(YAML) if yaml is None else yaml
    try:
        if is_yaml:
            value = plain_yaml.loads(text, max_bytes=MAX_YAML_BYTES, max_depth=MAX_DEPTH)
        else:
            value = strict_json.loads(text, max_bytes=MAX_BYTES, max_depth=MAX_DEPTH)
    except plain_yaml.TooLargeForYaml as error:
        raise InvalidInput(f"{name} cannot be read: {error}; write it as JSON.") from None
    except ValueError as error:
        raise InvalidInput(f"{name} cannot be read: {error}.") from None
    return Document(name, value, lambda: plain_yaml.lines(text, max_depth=MAX_DEPTH))


class ProjectFiles:
    def __init__(self, known: Registry) -> None:
        self._pipelines = _Cache(_pipeline)
        self._outcomes = _Cache(lambda path: _outcome(path, known))
        self._known: dict[Path, Outcome] = {}
        """What each file said when it could last be read."""

    def pipelines(self, project: Project) -> list[PipelineFile]:
        found: dict[str, PipelineFile] = {}
        for path in _files(project, "pipelines", (".json", *YAML)):
            file = self._pipelines.get(path)
            if file.name in found:
                both = f"{found[file.name].path.name} and {path.name} are called alike; remove one"
                file = _broken(path, both)
            found[file.name] = file
        return list(found.values())

    def outcomes(self, project: Project) -> tuple[Mapping[str, Outcome], tuple[str, ...]]:
        found: dict[str, Outcome] = {}
        errors: list[str] = []
        for path in _files(project, "outcomes", (".json",)):
            read = self._outcomes.get(path)
            if isinstance(read, Outcome):
                self._known[path] = read
            else:
                errors += read
            if path in self._known:
                found[path.stem] = self._known[path]
        return found, tuple(errors)


class _Cache(Generic[T]):
    """Reads a file again when its time or size changed."""

    def __init__(self, read: Callable[[Path], T]) -> None:
        self._read = read
        self._kept: dict[Path, tuple[tuple[int, int], T]] = {}

    def get(self, path: Path) -> T:
        try:
            stat = path.stat()
            stamp = (stat.st_mtime_ns, stat.st_size)
        except OSError:
            stamp = (0, 0)  # Gone since it was listed; reading it says so.
        kept = self._kept.get(path)
        if kept is None or kept[0] != stamp:
            kept = self._kept[path] = (stamp, self._read(path))
        return kept[1]


def _files(project: Project, folder: str, endings: tuple[str, ...]) -> list[Path]:
    place = Path(project.path) / PROJECT_FOLDER / folder
    try:
        found = sorted(p for p in place.iterdir() if p.suffix in endings and p.exists())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise InvalidConfig(f"{place} cannot be read: {error.strerror}.") from None
    if len(found) > MAX_FILES:
        raise InvalidConfig(f"{place} holds {len(found)} files; {MAX_FILES} are read at most.")
    return found


def _text(path: Path) -> str:
    try:
        return bounded_text(path, MAX_BYTES)
    except ValueError as error:
        raise InvalidInput(f"{path} {error}.") from None
    except FileNotFoundError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.") from None


def _pipeline(path: Path) -> PipelineFile:
    try:
        document = parse(_text(path), str(path))
    except InvalidInput as error:
        return _broken(path, error.message)
    value = document.value
    if not isinstance(value, dict):
        return _broken(path, "document: a pipeline is an object with statuses and transitions")
    fields = cast("dict[str, Any]", value)
    if fields.get("id") != path.stem:
        lines = document.lines()
        where = f"line {lines['id']}, id" if "id" in lines else "id"
        return _broken(path, f'{where}: the file\'s name says "{path.stem}", so that is its id')
    return PipelineFile(name=path.stem, path=path, document=fields, errors=(), lines=document.lines)


def _broken(path: Path, error: str) -> PipelineFile:
    return PipelineFile(
        name=path.stem, path=path, document=None, errors=(error,), lines=dict[str, int]
    )


def _outcome(path: Path, known: Registry) -> Outcome | list[str]:
    """The outcome, or what is wrong with its file."""
    try:
        document = parse(_text(path), str(path))
    except InvalidInput as error:
        return [error.message]
    if path.stem in known.outcomes or path.stem in OUTCOME_ALIASES:
        plugin = known.source("outcome", path.stem)
        whose = f"comes from the plugin {plugin}" if plugin else "is built in"
        return [f'{path}: the outcome "{path.stem}" {whose}; choose another name']
    if not _NAME.fullmatch(path.stem):
        return [f"{path}: an outcome is called by small letters, digits, _ and -"]
    problems = form_schema.outcome_problems(document.value)
    if problems:
        return [f"{path}, {problem}" for problem in located(problems, document.lines())]
    schema: dict[str, Any] = dict(document.value)
    answer = schema.pop("answer", None)
    return Outcome(
        name=path.stem,
        description=str(schema.get("description") or schema.get("title") or ""),
        payload_required=bool(schema.get("required")),
        prompt=PromptType.INFO_REQUEST if answer else None,
        schema=schema,
        answer=answer,
    )
