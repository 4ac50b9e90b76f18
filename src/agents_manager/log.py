"""One log set-up. The event log is the product; these lines are for operators. Each carries what it
is about, under the same names everywhere: the request, or the effect with its task and run."""

import logging
import sys
from typing import Any

import structlog

from agents_manager.redaction import Redactor

LEVELS = ("debug", "info", "warning", "error", "critical")
FORMATS = ("text", "json")


_redactors: list[Redactor] = []


def redact_with(redactor: Redactor) -> None:
    """Redact what this knows in every line from now on. It replaces the redactor given before."""
    _redactors[:] = [redactor]


def _redacted(line: str) -> str:
    for redactor in _redactors:
        line = redactor.text(line)
    return line


def configure(*, json: bool, level: str = "info", redactor: Redactor) -> None:
    redact_with(redactor)

    def redact(_logger: object, _method: str, line: object) -> str:
        return _redacted(str(line))

    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    renderer = (
        structlog.processors.JSONRenderer()
        if json
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[*shared, renderer, redact],
        wrapper_class=structlog.make_filtering_bound_logger(
            logging.getLevelNamesMapping()[level.upper()]
        ),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    # Libraries write their lines in the same form.
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                renderer,
                redact,
            ],
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
        )
    )
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
