"""Somebody who watches, and remembers all spans."""

from dataclasses import dataclass, field

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanContext

from agents_manager.redaction import Redactor
from agents_manager.telemetry.otel import OtelTraces


@dataclass
class Watcher:
    secrets: tuple[str, ...] = ()
    content: bool = False
    exporters: list[InMemorySpanExporter] = field(default_factory=list[InMemorySpanExporter])

    def traces(self) -> OtelTraces:
        """What one server tells; the next is told by another."""
        self.exporters.append(InMemorySpanExporter())
        processor = SimpleSpanProcessor(self.exporters[-1])
        return OtelTraces(processor, Redactor(self.secrets).text, content=self.content)

    def spans(self, *names: str) -> list[ReadableSpan]:
        """Those whose name begins with one of these words, in the order in which they ended."""
        found = [span for one in self.exporters for span in one.get_finished_spans()]
        return [s for s in found if not names or s.name.partition(" ")[0] in names]

    def one(self, name: str) -> ReadableSpan:
        (found,) = self.spans(name)
        return found


def attributes(span: ReadableSpan) -> dict[str, object]:
    return dict(span.attributes or {})


def ids(span: ReadableSpan) -> SpanContext:
    assert span.context is not None
    return span.context
