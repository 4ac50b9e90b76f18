"""YAML with nothing that JSON lacks, bounded before it is built: no anchors, aliases or tags,
unique keys, and `no` or `12:30` stay text."""

import re
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, cast

import yaml

from agents_manager.domain import strict_json


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers: ClassVar[Any] = {}

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        found = super().construct_mapping(node, deep=deep)
        if len(found) < len(node.value):
            raise ValueError(f"a key stands there twice in the mapping of {_line(node)}")
        return found


def _resolve(tag: str, pattern: str, first: list[str]) -> None:
    _Loader.add_implicit_resolver(  # pyright: ignore[reportUnknownMemberType]
        f"tag:yaml.org,2002:{tag}", re.compile(pattern), first
    )


_resolve("null", r"^(?:null|~|)$", ["n", "~", ""])
_resolve("bool", r"^(?:true|false)$", ["t", "f"])
_resolve("int", r"^-?(?:0|[1-9][0-9]{0,17})$", list("-0123456789"))
_resolve("float", r"^-?(?:0|[1-9][0-9]{0,17})\.[0-9]{1,17}$", list("-0123456789"))


def loads(text: str, *, max_bytes: int, max_depth: int) -> Any:
    """The value, or ValueError with a sentence that names the fault."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > max_bytes:
        raise ValueError(f"{size} bytes are over the limit of {max_bytes}")
    try:
        _check_events(text, max_depth)
        value = yaml.load(text, Loader=_Loader)  # noqa: S506 - a safe loader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f" (line {mark.line + 1})" if mark else ""
        raise ValueError(f"{error.problem or error.context}{place}") from None
    except yaml.YAMLError as error:
        raise ValueError(str(error).partition("\n")[0]) from None
    strict_json.check_text(value)
    return value


def _check_events(text: str, max_depth: int) -> None:
    depth = 0
    parse = cast("Callable[..., Iterator[yaml.Event]]", yaml.parse)  # pyright: ignore[reportUnknownMemberType]
    for event in parse(text, Loader=_Loader):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise ValueError(f"anchors and aliases are not read ({_line(event)})")
        if getattr(event, "tag", None):
            raise ValueError(f"tags are not read ({_line(event)})")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > max_depth:
            raise ValueError(f"nested deeper than {max_depth} levels")


def _line(thing: Any) -> str:
    return f"line {thing.start_mark.line + 1}"
