"""Prompt templates: texts with places to fill, written `{name}`. Each template has exactly the
places that are known for it, so that a mistyped one is found when it is loaded and not by an
agent."""

import re
from collections.abc import Mapping

from agents_manager.domain.race import JUDGE
from agents_manager.domain.stages.table import BY_ROLE
from agents_manager.errors import InvalidConfig, closest

MODES = ("plan", "implement", "review", "investigate", "design", *BY_ROLE)
PLACES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys((*MODES, JUDGE), ()),
    "reading": (),
    "outcome": ("form", "outcomes"),
    "outcome-block": (),
    "handoff": ("task",),
    "repair": ("reason", "form"),
    "repair-handoff": ("reason",),
    "fix": ("failed",),
    "request": ("agents",),
}
_PLACE = re.compile(r"\{([a-z_]+)\}")


def checked(texts: Mapping[str, str], folder: str) -> Mapping[str, str]:
    """The templates by name, or InvalidConfig with a line for each fault."""
    faults = [f"{folder}/{name}.md: is missing" for name in PLACES if name not in texts]
    for name, text in sorted(texts.items()):
        faults += [f"{folder}/{name}.md: {fault}" for fault in _faults(name, text)]
    if faults:
        raise InvalidConfig("The prompt templates are not sound.", faults)
    return texts


def filled(text: str, **values: str) -> str:
    """One pass, so that what is filled in is never looked through again."""
    return _PLACE.sub(lambda place: values[place[1]], text).strip()


def _faults(name: str, text: str) -> list[str]:
    if name not in PLACES:
        return [f"no prompt has a part of this name.{closest(name, list(PLACES))}"]
    known, found = PLACES[name], _PLACE.findall(text)
    unknown = [f"there is no {{{p}}}.{closest(p, known)}" for p in found if p not in known]
    return unknown + [f"{{{place}}} is missing" for place in known if place not in found]
