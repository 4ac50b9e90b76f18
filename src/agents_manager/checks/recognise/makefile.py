"""make: the targets of a Makefile."""

import re
from dataclasses import dataclass, field

from agents_manager.checks.recognise.files import Folder
from agents_manager.checks.recognise.proposal import (
    Machine,
    MissingTool,
    Proposal,
    ProposedCheck,
    Source,
)

FILES = ("GNUmakefile", "makefile", "Makefile")
TESTS = ("test", "tests", "check")
_RULE = re.compile(r"(?P<targets>[^\t#:=\s][^#:=]*?)\s*:{1,2}(?![=:])(?P<rest>.*)")
_VARIABLE = re.compile(r"\s*(?:export\s+|override\s+|private\s+)?[\w.-]+\s*(?:[:?+!]|::)?=")


@dataclass(slots=True)
class _Rule:
    line: int
    prerequisites: list[str] = field(default_factory=list[str])
    recipe: list[str] = field(default_factory=list[str])


def propose(folder: Folder, machine: Machine) -> Proposal | None:
    file = folder.first(FILES)
    if file is None:
        return None
    rules = _rules(folder.text(file) or "")
    checks: list[ProposedCheck] = []
    test = next((name for name in TESTS if _does_something(rules, name, ())), None)
    for name, target in (("test", test), ("lint", "lint")):
        if target is not None and _does_something(rules, target, ()):
            source = Source(folder.full_path(file), rules[target].line)
            reason = next(iter(rules[target].recipe), "")
            checks.append(ProposedCheck(name, f"make {target}", source, reason))
    has_make = machine.has("make")
    return Proposal(
        ecosystem="make",
        folder=folder.path,
        source=Source(folder.full_path(file)),
        setup_inputs=(folder.full_path(file),),
        checks=tuple(checks),
        missing=() if has_make else (MissingTool("make", "Install it with your package manager."),),
        suggested=bool(checks),
    )


def _rules(text: str) -> dict[str, _Rule]:
    """Returns the explicit rules by their targets; a target of several rules has all of them."""
    rules: dict[str, _Rule] = {}
    open_rules: list[_Rule] = []
    lines = re.sub(r"\\\n", "  ", text).split("\n")
    number = 1
    originals = iter(_numbers(text))
    for line in lines:
        number = next(originals, number)
        if line.startswith("\t"):
            for rule in open_rules:
                rule.recipe += [command] if (command := line.strip().lstrip("@-+ ")) else []
            continue
        found = _RULE.fullmatch(line)
        if found is None or _VARIABLE.match(found["rest"]) or _VARIABLE.match(line):
            open_rules = open_rules if not line.strip() or line.startswith("#") else []
            continue
        prerequisites, _, inline = found["rest"].partition("#")[0].partition(";")
        targets = found["targets"].split()
        named = [name for name in targets if "%" not in name and not name.startswith(".")]
        open_rules = [rules.setdefault(name, _Rule(number)) for name in named]
        for rule in open_rules:
            rule.prerequisites += prerequisites.replace("|", " ").split()
            rule.recipe += [inline.strip()] if inline.strip() else []
    return rules


def _numbers(text: str) -> list[int]:
    """Returns the number of the first physical line of each logical line."""
    numbers: list[int] = []
    continued = False
    for number, line in enumerate(text.split("\n"), 1):
        if not continued:
            numbers.append(number)
        continued = line.endswith("\\")
    return numbers


def _does_something(rules: dict[str, _Rule], target: str, above: tuple[str, ...]) -> bool:
    """Whether a target runs a command, itself or by a prerequisite, and does not call itself."""
    rule = rules.get(target)
    if rule is None or target in above:
        return False
    again = re.compile(rf"(\$[({{]MAKE[)}}]|\bmake)\s+{re.escape(target)}(\s|$)")
    if any(again.match(command) for command in rule.recipe):
        return False
    if any(not re.fullmatch(r"echo\b[^;&|]*|:|true", command) for command in rule.recipe):
        return True
    return any(_does_something(rules, name, (*above, target)) for name in rule.prerequisites)
