"""Settings as people read them."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from agents_manager.cli.render import Block, Line, Table, Tone, short, title
from agents_manager.domain.run import Run
from agents_manager.domain.run_settings import RunSetting
from agents_manager.domain.task import Project
from agents_manager.flow.ports import Setting

MAX_VALUE = 60


def page(
    home: str, database: str, project: Project | None, settings: Sequence[Setting]
) -> Iterator[Block]:
    yield title(f'Settings of "{project.name}"' if project else "Settings")
    yield Line()
    yield Line(f"Home      {home}")
    yield Line(f"Database  {database}")
    yield Line()
    yield Table(
        ("KEY", "VALUE", "FROM"),
        [(s.key, _value(s.value), _place(s)) for s in settings],
        cut=("VALUE",),
    )
    if project is None:
        yield Line()
        yield Line("For a project: am config show --project NAME", Tone.QUIET)


def of_run(run: Run, settings: Sequence[RunSetting]) -> Iterator[Block]:
    when = "was started with" if run.settings is not None else "would be started with now"
    yield title(f"What run {short(run.id)} of {run.agent or 'the default agent'} {when}")
    yield Line()
    yield Table(
        ("KEY", "VALUE", "FROM"),
        [(s.key, _value(s.value), s.layer) for s in settings],
        cut=("VALUE",),
    )


def _value(value: Any) -> str:
    """The beginning of a long one; with --json it is whole."""
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= MAX_VALUE else shown[: MAX_VALUE - 1] + "…"


def _place(setting: Setting) -> str:
    return f"{setting.file}:{setting.line}" if setting.file else setting.layer
