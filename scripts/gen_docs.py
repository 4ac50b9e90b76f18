"""Writes the reference pages that follow from the code: events, outcomes, guards, hooks, errors and
settings. `--check` writes nothing and fails when a page is not what it would write."""

import ast
import inspect
import json
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from agents_manager import built_in, config_models, errors, settings
from agents_manager.domain import effects, event, guards, outcome, payload
from agents_manager.domain.event.happening import Happening

PAGES = Path(__file__).resolve().parent.parent / "docs" / "reference"
MORE = "[Plugins](../how-to/plugins.md) add more."
NOTE = "Generated from the code by `scripts/gen_docs.py`. Do not edit."

# What the example of an event holds, by field or by event and field.
LOOP_BACKS = ("requested", "dispatched", "returned", "completed", "stopped")
EXAMPLES: dict[str, Any] = {
    "agent": "scripted",
    "base": "main",
    "branch": "agent/add-search-1a2b3c4d",
    "by": "ann",
    "checks": ["test"],
    "comment.added.file": "src/search.py",
    "comment.added.line": 12,
    "comment.added.pull": 7,
    "comment.added.text": "Use the helper.",
    "comment.resolved.resolved": True,
    "comments": [],
    "agent.connections_blocked.places": ["models.example.com:443"],
    "agent.connections_blocked.reasons": ["the name is not on the list"],
    "agent.retry_scheduled.number": 1,
    "agent.tool_use.name": "Bash",
    "agent.tool_use.ok": True,
    "agent.tool_use.summary": "pytest -q",
    "cost_usd": 0.12,
    "workspace.files_copied.paths": [".env"],
    "workspace.files_copied.refused": ["key.pem is tracked"],
    "workspace.torn_down.commands": ["docker compose down"],
    "workspace.torn_down.failed": None,
    "git.products_left_out.more": 0,
    "git.products_left_out.paths": ["__pycache__/", "web/node_modules/"],
    "git.work_left.heads": ["agent/add-search-1a2b3c4d at 5e6f7a8b"],
    "project.clone_failed.host": "rack-2",
    "project.clone_failed.reason": "It could not be cloned from /srv/shop.git: no such folder.",
    "race.begun.contenders": [{"agent": "claude"}, {"agent": "codex"}],
    "race.begun.judge": None,
    "race.compared.figures": [{"run": "1a2b3c4d5e6f"}, {"run": "2b3c4d5e6f7a"}],
    "race.judged.reasons": "It alone has tests.",
    "race.judged.run": "1a2b3c4d5e6f",
    "race.ordered.contenders": [{"agent": "claude"}, {"agent": "codex"}],
    "race.ordered.judge": {"agent": "claude", "model": "opus"},
    "race.picked.contender": {"agent": "codex"},
    "scope": "task",
    "subject": "1a2b3c4d5e6f",
    "limit_usd": 20,
    "spent_usd": 16.5,
    "usd": 5,
    "cost.budget_near.text": "The budget of this task is used to 82%: $16.50 spent, of $20.00.",
    "cost.budget_near.unknown": 0,
    "ended_with": "pr_ready",
    "times": 3,
    "decision": "approved",
    "due_at": "2026-11-15T12:00:30Z",
    "at": "2026-12-01T08:00:00Z",
    "period": "2026-12-01T08:00:00Z",
    "schedule": "Weekly update",
    "error": "no space left on device",
    "error_class": "crash",
    "files": ["search.html"],
    "from_version": 1,
    "head": "agent/add-search-1a2b3c4d",
    "head_sha": "1a2b3c4d5e6f",
    "file": ".gitignore",
    "git.fetch_failed.error": "git ls-remote took longer than 20 s and was stopped.",
    "commands": ["npm ci"],
    "completeness": 0.83,
    "handoff.saved.outcome": "completed",
    "handoff.disagrees.handoff": "failed",
    "handoff.disagrees.outcome": "pr_ready",
    "violations": [{"field": "gotchas.0.severity"}],
    "hook": "merge_pr",
    "issue": "acme/shop#12",
    "kept": None,
    "line": "/.agent-worktrees/",
    "marks": ["5e6f7a8b9c0d1e2f"],
    "merge_sha": "6f5e4d3c2b1a",
    "places": ["config.py:3: GitHub token"],
    "fields": ["title", "tags"],
    "fault": "It waits for a person, but nobody was asked.",
    "repair": "The question was asked again.",
    "disk.low.reason": "The disk of /home/ann/.agents-manager has 120 MB left.",
    "mode": "implement",
    "moves": 20,
    "names": ["Storage", "Search"],
    "phases": ["Storage", "Search"],
    "number": 7,
    "outcome": "pr_ready",
    "pipeline": "feature",
    "prompt_closed.status": "cancelled",
    "prompt_type": "info_request",
    "reason": 'The outcome "needs_info" needs a payload.',
    "paths": ["vendor/lib"],
    "workspace.orphaned.path": "/home/ann/.agents-manager/worktrees/shop/1a2b3c4d5e6f7a8b",
    "ref": "refs/agents-manager/snapshots/1a2b3c4d5e6f7a8b/7",
    "remote": "origin",
    "cost.usage_refused.reason": "input_tokens is -5.",
    "config.broken.kept": True,
    "config.broken.reason": "/shop/.agents-manager/config.json has errors. line 3, chekcs: there"
    ' is no key "chekcs". Did you mean "checks"?',
    "project": "shop",
    "reasons": ["There is no plan yet."],
    "prompt_undone.again": "5e6f7a8b9c0d1e2f",
    "response": {},
    "review_submitted.summary": "Well done!",
    "source": "planning",
    "status": "planning",
    "snapshot.restored.to": "rescued",
    "snapshot.saved.files": 3,
    "status.rolled_back.source": "merging",
    "status.rolled_back.to": "pr_review",
    "summary": "Which colour?",
    "text": "The search box is in use.",
    "task.closed_unmerged.commits": ["8d3f0c1e Add search"],
    "task.not_started.reason": 'It depends on "Add tags" (Cancelled), which was cancelled.',
    "task.start_waits.reason": 'It starts when "Add tags" (In progress) is finished.',
    "task.start_waits.tasks": ["Add tags"],
    "task.stranded.reason": "It waits for a person, but nobody was asked. By hand: Cancel.",
    "task.stranded.status": "needs_info",
    "title": "Add search",
    "agent.checks_undecided.verdict": {"outcome": "pr_ready"},
    "task.checks_decided.left_to_agent": [],
    "task.checks_decided.skipped": ["test"],
    "workspace.lfs_pointers.reason": "git-lfs is not installed",
    "workspace.rebuilt.reason": "an unfinished rebase",
    "workspace.submodules_missing.reason": "Check them out in the project.",
    "to": "planned",
    "to_version": 2,
    "trigger": "plan_complete",
    "tries": 3,
    "via": "web",
    **{f"loop_back.{name}.trigger": "LB1" for name in LOOP_BACKS},
    "source_agent": "test-agent",
    "source_stage": 6,
    "target_agent": "debugger",
    "target_stage": 5,
    "loop_back.requested.reason": "1 of 12 tests fail",
    "loop_back.requested.priority": "high",
    "loop_back.completed.note": "debugger ended with debug_report.",
    "loop_back.stopped.reason": "test-agent → debugger was gone 3 times; at most 3 are allowed.",
    "stage": 5,
    "role": "debugger",
    "stage.skipped.reason": "No builder needs debugging, and nobody requested it.",
    "stage.retried.agent": "plan-agent",
    "stage.retried.issue": "Feature F2 of the TaskSpec is in no batch.",
    "plan.serial.file": "app.py",
    "tests": ["test_later"],
    "batches": [1, 2],
    "part.left.branches": ["agent/add-search-1a2b3c4d--part-1-2"],
    "part.joined.branch": "agent/add-search-1a2b3c4d--part-1-2",
    "part.joined.sha": "1a2b3c4d5e6f",
    "part.conflicted.branch": "agent/add-search-1a2b3c4d--part-1-2",
    "into": "agent/add-search-1a2b3c4d",
    "builder.assigned.agent": "build-agent-2",
    "builder.assigned.batch": {"number": 2},
    "builder.assigned.trigger": None,
    "builder.assigned.files": ["app.py"],
    "build_agent": "build-agent-2",
    "files_targeted": ["app.py"],
    "final_status": "success",
    "builder.strayed.agent": "build-agent-2",
    "builder.strayed.files": ["setup.py"],
    "knowledge.learned.nodes": ["7a8b9c0d1e2f3a4b", "8b9c0d1e2f3a4b5c"],
    "knowledge.learned.again": ["9c0d1e2f3a4b5c6d"],
    "knowledge.decided.text": "Where are tokens kept? In cookies",
    "told": "There is no key for the payment service",
    "tasks": ["1a2b3c4d5e6f7a8b"],
    "blocker.resolved.note": "It is in the keyring",
    "work.discarded.role": "test-agent",
}


def main(arguments: list[str]) -> int:
    if arguments == ["--check"]:
        problems = list(outdated())
        print("\n".join(problems) or "The reference pages are up to date.")
        return 1 if problems else 0
    PAGES.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (PAGES / name).write_text(text, encoding="utf-8")
    return 0


def outdated() -> Iterator[str]:
    for name, text in pages().items():
        path = PAGES / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            yield f"docs/reference/{name} is out of date; run: .venv/bin/python scripts/gen_docs.py"


def pages() -> dict[str, str]:
    parts = {
        "Events": event_page(),
        "Outcomes": outcome_page(),
        "Guards": guard_page(),
        "Hooks": hook_page(),
        "Errors": error_page(),
        "Settings": setting_page(),
    }
    return {
        f"{title.lower()}.md": "\n\n".join([f"# {title}", NOTE, *map(wrapped, body)]) + "\n"
        for title, body in parts.items()
    }


def wrapped(part: str) -> str:
    return part if "\n" in part else textwrap.fill(part, 100, break_on_hyphens=False)


def table(head: str, rows: Iterable[Iterable[object]]) -> str:
    columns = head.split(" | ")
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in lines)


def code(*names: object) -> str:
    return ", ".join(f"`{name}`" for name in names)


# ----------------------------------------------------------------------------------------- events


def event_page() -> Iterator[str]:
    columns = code(*event.Logged.__dataclass_fields__)
    yield (
        f"Whatever happens to a task is an entry of its append-only log: {columns}. `summary` is"
        " the sentence, `data` holds the fields."
    )
    categories: dict[str, list[type[Any]]] = {}
    for member in get_args(get_args(event.Event)[0]):
        categories.setdefault(member.category, []).append(member)
    for category, members in sorted(categories.items()):
        rows = [
            (code(kind(m)), m.level.value, code(*(set_apart(m))), example(m).sentence())
            for m in members
        ]
        yield f"## {category}\n\n" + table("Type | Level | Fields | For example", rows)


def kind(member: type[BaseModel]) -> str:
    return member.model_fields["type"].default


def set_apart(member: type[BaseModel]) -> list[str]:
    return [name for name in member.model_fields if name != "type"]


def example(member: type[Any]) -> Happening:
    by_type = {int: 2, bool: False}
    fields: dict[str, Any] = {}
    for name, field in member.model_fields.items():
        if field.is_required():
            plain = EXAMPLES.get(name, by_type.get(field.annotation, name))
            fields[name] = EXAMPLES.get(f"{kind(member)}.{name}", plain)
    return member.model_validate(fields)


# --------------------------------------------------------------------------------------- outcomes


def outcome_page() -> Iterator[str]:
    yield (
        "What an agent can end with. A payload is a JSON object of at most"
        f" {payload.MAX_BYTES // 1024} KiB and {payload.MAX_DEPTH} levels. Fields are read in"
        f" camelCase too; unknown ones are refused. {MORE}"
    )
    yield table("Outcome | Meaning | Payload | Opens", map(outcome_row, outcome.BUILT_IN))
    models = dict.fromkeys(o.payload for o in outcome.BUILT_IN if o.payload)
    shapes: dict[str, dict[str, Any]] = {}
    for model in models:
        schema = model.model_json_schema(by_alias=False)
        shapes |= {model.__name__: schema, **schema.get("$defs", {})}
    for name, shape in shapes.items():
        if "properties" in shape:
            required = shape.get("required", [])
            rows = [
                (code(field), "yes" if field in required else "", described(value, shapes))
                for field, value in shape["properties"].items()
            ]
            yield f"## {name}\n\n" + table("Field | Required | Value", rows)


def outcome_row(one: outcome.Outcome) -> Iterator[str]:
    yield code(one.name) + (f" (also {code(*one.aliases)})" if one.aliases else "")
    yield one.description
    if one.payload is None:
        yield "none"
    else:
        optional = "" if one.payload_required else ", optional"
        yield linked(one.payload.__name__) + optional
    yield code(one.prompt.value) if one.prompt else ""


def linked(name: str) -> str:
    return f"[{name}](#{name.lower()})"


def described(value: dict[str, Any], shapes: dict[str, dict[str, Any]]) -> str:
    """A JSON Schema in words."""
    if "anyOf" in value:
        return " or ".join(described(v, shapes) for v in value["anyOf"] if v.get("type") != "null")
    if "$ref" in value:
        name = value["$ref"].rsplit("/", 1)[-1]
        words = shapes[name].get("enum")
        return f"one of {code(*words)}" if words else linked(name)
    if value["type"] == "array":
        low, high = value.get("minItems", 0), value.get("maxItems")
        number = f", {low} to {high}" if high else ""
        return f"list of {described(value['items'], shapes)}{number}"
    above = value.get("minimum", value.get("exclusiveMinimum", -1) + 1)
    return value["type"] + (f", at least {above}" if above else "")


# -------------------------------------------------------------------------------- guards and hooks


def guard_page() -> Iterator[str]:
    yield (
        "Conditions on a transition, as `guards` of a pipeline:"
        ' `{"type": "has_pr", "params": {}, "not": true}`. Each answers with a reason; `not` turns'
        f" the answer round. {MORE}"
    )
    rows = [(code(name), inspect.getdoc(guard)) for name, guard in guards.BUILT_IN.items()]
    yield table("Guard | Passes when", rows)
    for name, model in guards.GUARD_PARAMS.items():
        yield f"## Parameters of {name}\n\n" + fields_table("Parameter", model)


def hook_page() -> Iterator[str]:
    yield (
        "What is done when a transition fires, as `hooks` of a pipeline:"
        ' `{"type": "notify", "params": {"title": "Done"}, "policy": "best_effort"}`.'
        " They are performed after the move, in order. When a `required` one has finally failed,"
        " the task goes back to where it came from; a failed `best_effort` or `fire_and_forget` one"
        f" is an event and nothing more. {MORE}"
    )
    rows = [
        (code(name), code(policy.value), effects.HOOK_MEANINGS[name])
        for name, policy in effects.HOOK_POLICIES.items()
    ]
    yield table("Hook | Policy, if none is given | What it does", rows)


# ----------------------------------------------------------------------------------------- errors


def error_page() -> Iterator[str]:
    yield (
        'Over HTTP an error is `{"error": "<name>", "message": "…", "details": ["…"]}`; the command'
        " line prints message and details. What can be tried again as it is, is marked."
    )
    classes = [
        one
        for one in vars(errors).values()
        if inspect.isclass(one) and issubclass(one, errors.AgentsManagerError)
    ]
    rows = [
        (
            code(one.__name__),
            code(one.__base__.__name__) if one.__base__ in classes else "",
            one.http_status,
            "yes" if one.retryable else "",
            inspect.getdoc(one),
        )
        for one in classes
    ]
    yield table("Error | Kind of | HTTP | Try again | Message, if there is no better one", rows)


# --------------------------------------------------------------------------------------- settings


def setting_page() -> Iterator[str]:
    yield (
        "Two JSON files, the later wins key by key: `config.json` in the data directory, then"
        f" `{settings.PROJECT_FOLDER}/config.json` in the project. Unknown keys are errors."
        " [How the layers work](../concepts/configuration.md)."
        f" `{settings.PROJECT_FOLDER}/instructions.md` of a project is put into every prompt."
    )
    yield table(
        "Environment | Meaning",
        [
            (code("AM_HOME"), "The data directory; `~/.agents-manager` where left out."),
            (code("AM_DATABASE_URL"), "A Postgres database; a file in the data directory else."),
            (
                code("AM_PLUGINS"),
                "The packages whose plugins are used, separated by commas; all where left out.",
            ),
            (
                code("AM_LOG"),
                "From which level on `am serve` and `am worker` write their log: `debug`, `info`,"
                " `warning` (where left out) or `error`.",
            ),
            (
                code("AM_LOG_FORMAT"),
                "`text` or `json`; where left out, text on a terminal and JSON elsewhere.",
            ),
            (
                code("OTEL_EXPORTER_OTLP_ENDPOINT"),
                "Where [traces](../how-to/traces.md) are sent; nowhere where left out.",
            ),
            (
                "`AM_TELEGRAM_TOKEN`, `AM_SLACK_BOT_TOKEN`, `AM_SLACK_APP_TOKEN`, …",
                "The secrets of [channels](../concepts/channels.md); never in a file.",
            ),
        ],
    )
    config = config_models.of(built_in.adapters())
    yield "## config.json\n\n" + fields_table("Key", config)
    for name, field in config.model_fields.items():
        key = field.alias or name
        for model in nested(field.annotation):
            named = get_origin(field.annotation) is Mapping
            place = f"{key}.<name>" if named else key
            yield f"## {code(place)}{driven_by(model)}\n\n" + fields_table("Key", model)
            yield from below(place, model)


def below(place: str, model: type[BaseModel]) -> Iterator[str]:
    """A table for each kind of object that stands in one; those of the same kind have one."""
    named: dict[type[BaseModel], list[str]] = {}
    for name, field in model.model_fields.items():
        for inner in nested(field.annotation):
            key = field.alias or name
            each = f"{key}.<id>" if get_origin(field.annotation) is Mapping else key
            named.setdefault(inner, []).append(f"{place}.{each}")
    for inner, places in named.items():
        title = code(places[0]) if len(places) == 1 else code(f"{place}.<name>")
        yield f"## {title}\n\n" + fields_table("Key", inner)
        yield from below(places[0], inner)


def driven_by(model: type[BaseModel]) -> str:
    adapter = model.model_fields.get("adapter")
    return f" with the adapter {code(adapter.default)}" if adapter else ""


def nested(annotation: Any) -> Iterator[type[BaseModel]]:
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from nested(part)


def fields_table(head: str, model: type[BaseModel]) -> str:
    told = meanings(model)
    rows = [
        (code(field.alias or name), default(field), told[name])
        for name, field in model.model_fields.items()
    ]
    return table(f"{head} | Default | Meaning", rows)


def default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if isinstance(value, config_models.RetryConfig):
        return code(value.model_dump_json(by_alias=True, exclude_defaults=True))
    if value is None or isinstance(value, BaseModel):
        return ""
    return code(json.dumps(value))


def meanings(model: type[BaseModel]) -> dict[str, str]:
    """The string under each field, also of the fields that are inherited."""
    said = {name: field.description for name, field in model.model_fields.items()}
    told = {name: " ".join(words.split()) for name, words in said.items() if words}
    for one in reversed(model.__mro__):
        of_ours = one.__module__.startswith("agents_manager")
        if of_ours and hasattr(sys.modules[one.__module__], one.__name__):
            [definition] = ast.parse(textwrap.dedent(inspect.getsource(one))).body
            assert isinstance(definition, ast.ClassDef)
            for field, text in pairwise(definition.body):
                match field, text:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(
                        value=ast.Constant(value=str(words))
                    ):
                        told[name] = " ".join(words.split())
                    case _:
                        pass
    for name in model.model_fields.keys() - told.keys():
        raise SystemExit(f"{model.__name__}.{name} has no string beneath it that says its meaning.")
    return told


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
