"""YAML with nothing that JSON lacks, bounded while it is read: no anchors, aliases or tags, unique
keys, and `no` or `12:30` stay text."""

import re
from typing import Any, ClassVar, cast

import yaml

from agents_manager.domain import strict_json

MAX_NODES = 20_000
MAX_LINE = 10_000_000
"""Longer than any text: none is folded."""


class TooLargeForYaml(ValueError):
    """JSON is read so much faster that it may be larger."""


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers: ClassVar[Any] = {}

    def __init__(self, text: str, max_depth: int) -> None:
        super().__init__(text)
        self._room = max_depth
        self._nodes = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = cast("Any", self.peek_event())  # pyright: ignore[reportUnknownMemberType]
        place = f"(line {event.start_mark.line + 1})"
        self._nodes += 1
        if isinstance(event, yaml.AliasEvent) or event.anchor:
            raise ValueError(f"anchors and aliases are not read {place}")
        if event.tag:
            raise ValueError(f"tags are not read {place}")
        if self._nodes > MAX_NODES:
            raise TooLargeForYaml(f"more than {MAX_NODES} values are not read of YAML")
        if not isinstance(event, yaml.CollectionStartEvent):
            return super().compose_node(parent, index)
        if self._room == 0:
            raise ValueError(f"nested too deeply {place}")
        self._room -= 1
        node = super().compose_node(parent, index)
        self._room += 1
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        found = super().construct_mapping(node, deep=deep)
        if len(found) < len(node.value):
            line = node.start_mark.line + 1
            raise ValueError(f"a key stands there twice in the mapping of line {line}")
        return found


class _Texts(_Loader):
    """Knows text and nothing at all: `1.10` stays what was written."""

    yaml_implicit_resolvers: ClassVar[Any] = {}


def _resolve(loader: type[_Loader], tag: str, pattern: str, first: list[str]) -> None:
    loader.add_implicit_resolver(  # pyright: ignore[reportUnknownMemberType]
        f"tag:yaml.org,2002:{tag}", re.compile(pattern), first
    )


for _loader in (_Loader, _Texts):
    _resolve(_loader, "null", r"^(?:null|~|)$", ["n", "~", ""])
_resolve(_Loader, "bool", r"^(?:true|false)$", ["t", "f"])
_resolve(_Loader, "int", r"^-?(?:0|[1-9][0-9]{0,17})$", list("-0123456789"))
_resolve(_Loader, "float", r"^-?(?:0|[1-9][0-9]{0,17})\.[0-9]{1,17}$", list("-0123456789"))


def loads(text: str, *, max_bytes: int, max_depth: int, texts: bool = False) -> Any:
    """The value, or ValueError with a sentence that names the fault; with `texts`, numbers, true
    and false are text too."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > max_bytes:
        raise TooLargeForYaml(f"{size} bytes are over the limit of {max_bytes} for YAML")
    try:
        value: Any = (_Texts if texts else _Loader)(text, max_depth).get_single_data()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f" (line {mark.line + 1})" if mark else ""
        raise ValueError(f"{error.problem or error.context}{place}") from None
    except yaml.YAMLError as error:
        raise ValueError(str(error).partition("\n")[0]) from None
    strict_json.check_text(value)
    return value


class _Dumper(yaml.SafeDumper):
    pass


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    """In other styles, line ends that are none of Markdown's would be read as blanks."""
    style = '"' if len(text.splitlines()) > 1 else None
    return dumper.represent_scalar(  # pyright: ignore[reportUnknownMemberType]
        "tag:yaml.org,2002:str", text, style
    )


_Dumper.add_representer(str, _text)


def dumps(value: Any) -> str:
    """What `loads` reads again; each text is on one line."""
    text: str = yaml.dump(value, None, _Dumper, sort_keys=False, allow_unicode=True, width=MAX_LINE)
    return text.removesuffix("\n")


def lines(text: str, *, max_depth: int) -> dict[str, int]:
    """The line of every place (`transitions.0.from`), of JSON too; none when it cannot be told."""
    found: dict[str, int] = {}
    try:
        node: Any = _Loader(text, max_depth).get_single_node()
    except (ValueError, yaml.YAMLError):
        return found
    _note_lines(node, "", found)
    return found


def _note_lines(node: Any, above: str, found: dict[str, int]) -> None:
    if isinstance(node, yaml.MappingNode):
        children = [(key.value, key, value) for key, value in node.value]
    elif isinstance(node, yaml.SequenceNode):
        children = [(index, item, item) for index, item in enumerate(node.value)]
    else:
        return
    for name, mark, child in children:
        place = f"{above}{name}"
        found[place] = mark.start_mark.line + 1
        _note_lines(child, f"{place}.", found)
