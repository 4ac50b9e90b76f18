"""A strict reader of the text form of Prometheus (version 0.0.4): what that does not allow is
refused, and so is what a scraper would take and nobody means, such as one sample twice."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"')
_SAMPLE = re.compile(rf"({_NAME})(?:\{{(.*)\}})? (\S+)")
_VALUE = re.compile(r"[+-]?(\d+(\.\d+)?([eE][+-]?\d+)?|Inf|NaN)")
_ENDINGS = {"histogram": ("_bucket", "_sum", "_count"), "gauge": ("",), "counter": ("",)}
_ESCAPES = {r"\\": "\\", r"\"": '"', r"\n": "\n"}

Labels = frozenset[tuple[str, str]]


@dataclass
class Figure:
    kind: str
    meaning: str
    samples: dict[tuple[str, Labels], float] = field(
        default_factory=dict[tuple[str, Labels], float]
    )

    def value(self, ending: str = "", **labels: str) -> float:
        return self.samples[ending, frozenset(labels.items())]


def read(text: str) -> Mapping[str, Figure]:
    assert text.endswith("\n"), "the last line ends, too"
    figures: dict[str, Figure] = {}
    name, meaning = "", ""
    for line in text.removesuffix("\n").split("\n"):
        if line.startswith("# HELP "):
            name, _, meaning = line.removeprefix("# HELP ").partition(" ")
            assert name not in figures, f"{name} stands there twice"
        elif line.startswith("# TYPE "):
            typed, kind = line.removeprefix("# TYPE ").split(" ")
            assert typed == name, f"{typed} has no meaning"
            assert kind in _ENDINGS
            assert kind != "counter" or name.endswith("_total")
            figures[name] = Figure(kind, meaning)
        else:
            _take(line, name, figures[name])
    for name, figure in figures.items():
        assert figure.samples, f"{name} has no sample"
        if figure.kind == "histogram":
            _check_histogram(figure)
    return figures


def _take(line: str, name: str, figure: Figure) -> None:
    found = _SAMPLE.fullmatch(line)
    assert found, line
    ending = found[1].removeprefix(name)
    assert found[1].startswith(name), f"{found[1]} stands below {name}"
    assert ending in _ENDINGS[figure.kind], line
    assert _VALUE.fullmatch(found[3]), line
    labels = frozenset(_labels(found[2] or "").items())
    key = (ending, labels)
    assert key not in figure.samples, f"twice: {line}"
    figure.samples[key] = float(found[3])


def _labels(text: str) -> dict[str, str]:
    labels: dict[str, str] = {}
    at = 0
    while at < len(text):
        found = _LABEL.match(text, at)
        assert found, text
        assert found[1] not in labels
        labels[found[1]] = re.sub(r"\\.", lambda escape: _ESCAPES[escape[0]], found[2])
        at = found.end()
        assert at == len(text) or text[at] == ",", text
        at += 1
    return labels


def _check_histogram(figure: Figure) -> None:
    buckets: dict[Labels, list[tuple[float, float]]] = {}
    for (ending, labels), value in figure.samples.items():
        if ending == "_bucket":
            bound = dict(labels)["le"]
            buckets.setdefault(labels - {("le", bound)}, []).append((float(bound), value))
    for labels, found in buckets.items():
        assert [bound for bound, _ in found] == sorted(bound for bound, _ in found)
        assert [count for _, count in found] == sorted(count for _, count in found)
        assert found[-1] == (math.inf, figure.samples["_count", labels])
        assert ("_sum", labels) in figure.samples
