"""Settings as people read them."""

import json
from collections.abc import Iterator, Sequence

from agents_manager.cli.render import Block, Line, Table, Tone, title
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
        [(s.key, _value(s), _place(s)) for s in settings],
        cut=("VALUE",),
    )
    if project is None:
        yield Line()
        yield Line("For a project: am config show --project NAME", Tone.QUIET)


def _value(setting: Setting) -> str:
    """The beginning of a long one; with --json it is whole."""
    shown = json.dumps(setting.value, ensure_ascii=False)
    return shown if len(shown) <= MAX_VALUE else shown[: MAX_VALUE - 1] + "…"


def _place(setting: Setting) -> str:
    return f"{setting.file}:{setting.line}" if setting.file else setting.layer
