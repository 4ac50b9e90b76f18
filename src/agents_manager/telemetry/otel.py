"""Spans for OpenTelemetry, sent by its SDK on a thread of its own. Their ids are made of our keys,
so that every server tells the same trace."""

import hashlib
from collections.abc import Callable
from datetime import datetime
from importlib.metadata import version
from threading import Thread

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

from agents_manager.flow.ports import Span

NAME = "agents-manager"
TIMEOUT_S = 5.0
END_S = 1.0


class OtelTraces:
    on = True

    def __init__(
        self, processor: SpanProcessor, redact: Callable[[str], str], *, content: bool
    ) -> None:
        self.content = content
        self._processor = processor
        self._redact = redact
        self._scope = InstrumentationScope(NAME, version(NAME))
        self._resource = Resource.create({"service.name": NAME, "service.version": version(NAME)})

    def tell(self, span: Span) -> None:
        status = Status(StatusCode.ERROR, span.error) if span.error else Status()
        attributes = {
            name: self._redact(value) if isinstance(value, str) else value
            for name, value in span.attributes.items()
        }
        self._processor.on_end(
            ReadableSpan(
                name=self._redact(span.name),
                context=_context(span.trace, span.key),
                parent=_context(span.trace, span.parent) if span.parent else None,
                resource=self._resource,
                attributes=attributes | ({"error.type": span.error} if span.error else {}),
                kind=SpanKind.CLIENT if span.client else SpanKind.INTERNAL,
                status=status,
                start_time=_nanoseconds(span.start),
                end_time=_nanoseconds(span.end),
                instrumentation_scope=self._scope,
            )
        )

    def close(self) -> None:
        """Sends what is left, if that can be done soon: nobody waits for a server that is gone."""
        ending = Thread(target=self._processor.shutdown, name="traces-end", daemon=True)
        ending.start()
        ending.join(END_S)


def build(endpoint: str | None, redact: Callable[[str], str], *, content: bool) -> OtelTraces:
    """To an address, or to that of the standard variables."""
    exporter = OTLPSpanExporter(endpoint=endpoint, timeout=TIMEOUT_S)
    return OtelTraces(BatchSpanProcessor(exporter), redact, content=content)


def trace_id(trace: str) -> int:
    return int.from_bytes(hashlib.sha256(trace.encode()).digest()[:16])


def span_id(key: str) -> int:
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8])


def _context(trace: str, key: str) -> SpanContext:
    flags = TraceFlags(TraceFlags.SAMPLED)
    return SpanContext(trace_id(trace), span_id(key), is_remote=False, trace_flags=flags)


def _nanoseconds(time: datetime) -> int:
    return int(time.timestamp() * 1_000_000) * 1000
