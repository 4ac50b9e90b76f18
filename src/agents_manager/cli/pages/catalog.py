"""Projects and pipelines as people read them."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agents_manager.cli.render import (
    Block,
    Line,
    Table,
    Tone,
    ago,
    counted,
    lines,
    one_line,
    short,
    title,
)
from agents_manager.domain.comment import Comment, State
from agents_manager.domain.document import documents
from agents_manager.domain.phase import Phase
from agents_manager.domain.pipeline import Pipeline, Transition
from agents_manager.domain.plugin import KINDS, Plugin
from agents_manager.domain.task import Artifact, ArtifactType, Project
from agents_manager.flow.agents import changes, trusted
from agents_manager.flow.migration import Migration
from agents_manager.flow.pipelines import Brought, Saved, Version, plain
from agents_manager.flow.places import HostPlace
from agents_manager.flow.ports import ProjectConfig, Snapshot

MAX_FILES = 5


def projects(found: Sequence[Project]) -> Iterator[Block]:
    if not found:
        yield Line("No project is registered. Register one: am project add PATH")
        return
    yield Table(
        ("NAME", "PATH", "BASE", "ADDED"),
        [(p.name, p.path, p.base_branch, ago(p.created_at)) for p in found],
    )


def project(
    found: Project, config: ProjectConfig, forge_trouble: str | None = None
) -> Iterator[Block]:
    named = config.forge.repository
    yield title(found.name)
    yield Line(f"{found.id} · added {ago(found.created_at)}", Tone.QUIET)
    yield Line()
    yield Line(f"Path      {found.path}")
    yield Line(f"Base      {config.base_branch or found.base_branch}")
    yield Line(f"Agent     {config.default_agent}")
    yield Line(f"Pipeline  {config.default_pipeline}")
    yield Line(f"Forge     {config.forge.type}{f' {named}' if named else ''}")
    if forge_trouble:
        yield Line(f"          {one_line(forge_trouble)}", Tone.URGENT)
    yield Line(f"Consent   {consent(found).text}")
    yield from commands(found, config)


def places(found: Project, lies: Sequence[HostPlace]) -> Iterator[Block]:
    """Where several machines share the database."""
    if found.remote:
        yield Line(f"Remote    {found.remote}")
    if lies:
        yield Line()
        yield title("Machines")
        yield Table(("HOST", "PATH"), [(one.name, one.path) for one in lies], indent=2)


def consent(found: Project) -> Line:
    if found.consented_at is not None:
        return Line("Where there is no sandbox, agents may work with the rights you have.")
    way = f"am project consent {found.name}"
    return Line(f"Agents may work in a sandbox only. To allow it where there is none: {way}")


def commands(found: Project, config: ProjectConfig) -> Iterator[Block]:
    checks = [
        (f"check {c.name}", c.severity, config.commands[f"checks.{c.name}"])
        for c in config.checks
        if c.own
    ]
    if not config.commands:
        yield Line("Commands  none")
        return
    yield Line()
    if trusted(found, config):
        yield title("Commands, trusted")
    else:
        hint = f"look at them, then: am project trust {found.name}"
        yield Line(f"Commands, not trusted ({hint})", Tone.URGENT)
        for change in changes(found, config):
            yield Line(f"  {change}", Tone.URGENT)
    agents = [(f"agent {name}", "", _program(said)) for name, said in config.own_agents.items()]
    setup = [("set-up", "error", command) for command in config.setup.commands]
    passed_on = [(f"variable {v.name}", "", v.described) for v in config.variables]
    rows = [*setup, *checks, *agents, *passed_on]
    yield Table(("NAME", "SEVERITY", "COMMAND"), rows, indent=2)


def _program(said: Mapping[str, Any]) -> str:
    """What a project's file says about an agent's program; what it leaves out stands elsewhere."""
    passed_on = [f"${name}" for name in said.get("env", ())]
    servers = [f"MCP server {name}" for name in said.get("mcpServers", said.get("mcp_servers", ()))]
    more = [*passed_on, *servers]
    return shlex.join(said.get("command", ())) + (f" ({', '.join(more)})" if more else "")


def pipelines(found: Sequence[Pipeline], brought: Sequence[Brought]) -> Iterator[Block]:
    own = {file.pipeline.id: file for file in brought if file.pipeline}
    rows = [
        (
            f"{own[p.id].name}@{own[p.id].project.name}" if p.id in own else p.id,
            str(p.version),
            p.name,
            str(len(p.statuses)),
        )
        for p in found
    ]
    yield Table(("ID", "VERSION", "NAME", "STATUSES"), rows)


def versions(found: Sequence[Version]) -> Iterator[Block]:
    yield Table(
        ("VERSION", "SAVED", "UNFINISHED TASKS"),
        [(str(v.version), ago(v.created_at), str(v.tasks)) for v in found],
    )


def saved(found: Saved) -> Iterator[Block]:
    name = f"{found.pipeline.id}, version {found.pipeline.version}"
    yield Line(f"Saved {name}." if found.new else f"Nothing new: {name} says the same.")
    for finding in found.warnings:
        yield Line(f"Warning: {finding.position}: {finding.message} {finding.fix}", Tone.URGENT)
    if found.behind:
        yield Line(f"{counted(found.behind, 'unfinished task')} on older versions. To migrate:")
        yield Line(f"  am pipeline migrate {found.pipeline.id}")


def migration(found: Migration) -> Iterator[Block]:
    version = f"version {found.pipeline.version}"
    if not found.steps:
        yield Line(f"No unfinished task is on an older version than {version}.")
        return
    yield Table(
        ("TASK", "TITLE", "VERSION", "FROM", "TO", "IN THE WAY"),
        [
            (
                short(step.task.id),
                step.task.title,
                str(step.task.pipeline_version),
                step.task.status,
                step.to or "UNMAPPED",
                step.problem or "",
            )
            for step in found.steps
        ],
    )
    tasks, ready = counted(len(found.steps), "task"), not any(x.problem for x in found.steps)
    if found.applied:
        yield Line(f"Migrated {tasks} to {version}.")
    elif ready:
        yield Line(f"Nothing was changed. --apply takes {tasks} to {version}.")
    else:
        yield Line("Nothing was changed, and nothing can be while something is in the way.")


def plugins(found: Sequence[Plugin]) -> Iterator[Block]:
    if not found:
        yield Line("No installed package registers a plugin.")
        return
    yield Table(
        ("PACKAGE", "VERSION", "ENTRY POINT", "KIND", "REGISTERS"),
        [
            (p.package, p.version, p.entry_point, kind, names)
            for p in found
            for kind, names in _registered(p)
        ],
    )


def _registered(plugin: Plugin) -> Iterator[tuple[str, str]]:
    if plugin.error:
        yield "NOT USED", ""
        return
    for kind in KINDS:
        names: Sequence[str] = getattr(plugin, kind)
        if names:
            yield kind, ", ".join(names)


def phases(found: Sequence[Phase]) -> Iterator[Block]:
    if not found:
        yield Line("The task has no phases; it was not split.")
        return
    yield Table(
        ("NUMBER", "NAME", "STATUS", "COMPLEXITY", "DESCRIPTION"),
        [
            (str(p.number), p.name, p.status.value, p.complexity, one_line(p.description))
            for p in found
        ],
    )


def comments(found: Sequence[Comment]) -> Iterator[Block]:
    if not found:
        yield Line("Nobody has commented on this task.")
        return
    for said in found:
        number = "" if said.number is None else f"{said.number}. "
        yield title(one_line(f"{number}{' · '.join(_about(said))}"))
        if said.outdated:
            yield from lines(said.quote, indent=5)
        yield from lines(said.text, indent=3, prose=True)
        for answer in said.answers:
            said_by = one_line(f"{answer.author} answered · {ago(answer.time)}")
            yield Line(f"   {said_by}", Tone.QUIET)
            yield from lines(answer.text, indent=5, prose=True)


def _about(said: Comment) -> Iterator[str]:
    yield said.author
    yield ago(said.time)
    if said.review:
        yield "in a review"
    if said.pull:
        yield f"pull request #{said.pull}"
    if said.severity:
        yield said.severity.replace("_", " ")
    if said.place:
        yield f"{said.place} (outdated)" if said.outdated else said.place
        if said.place != said.original_place:
            yield f"was {said.original_place}"
    yield "lines changed" if said.state is State.CHANGED else said.state.value


def artifacts(found: Sequence[Artifact]) -> Iterator[Block]:
    if not found:
        yield Line("Nothing yet: no agent has made anything for this task.")
        return
    versions = {d.artifact_id: d.version for d in documents(found)}
    yield Table(
        ("TYPE", "WHAT", "VERSION", "RUN", "WHEN"),
        [
            (
                a.type.value.replace("_", " "),
                a.label if a.type is not ArtifactType.COMMIT else f"{a.key[:8]} {a.label}",
                str(versions.get(a.id, "")),
                short(a.run_id or ""),
                ago(a.created_at),
            )
            for a in found
        ],
        cut=("WHAT",),
    )


def snapshots(found: Sequence[Snapshot]) -> Iterator[Block]:
    if not found:
        yield Line("No snapshots: nothing was left over.")
        return
    yield Table(
        ("TASK", "NUMBER", "TAKEN", "ON", "FILES"),
        [
            (short(s.key), str(s.number), ago(s.taken_at), (s.head or "")[:8], _files(s.files))
            for s in found
        ],
    )


def _files(names: Sequence[str]) -> str:
    shown = ", ".join(one_line(name) for name in names[:MAX_FILES])
    more = len(names) - MAX_FILES
    return (f"{shown} and {more} more" if more > 0 else shown) or "commits of no branch"


def pipeline(found: Pipeline) -> Iterator[Block]:
    yield title(found.name)
    yield Line(f"{plain(found.id)}, version {found.version}", Tone.QUIET)
    if found.description:
        yield Line(one_line(found.description))
    yield Line()
    yield title("Statuses")
    yield Table(
        ("ID", "LABEL", "CATEGORY", "ASKS"),
        [
            (s.id, s.title, s.category.value, s.prompt.type.value if s.prompt else "")
            for s in sorted(found.statuses, key=lambda s: s.position)
        ],
        indent=2,
    )
    yield Line()
    yield title("Transitions")
    yield Table(
        ("FROM", "WHEN", "TO", "IF", "THEN"),
        [_transition(t) for t in found.transitions],
        indent=2,
    )


def _transition(t: Transition) -> tuple[str, ...]:
    guards = ", ".join(g.name for g in t.guards)
    hooks = ", ".join(h.type for h in t.hooks)
    return t.source, t.trigger.outcome or t.trigger.type.value, t.to, guards, hooks
