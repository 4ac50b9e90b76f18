"""What a process counts of itself, and the text form in which Prometheus reads figures."""

import threading
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

BOUNDS_S = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(slots=True)
class Taken:
    """How often something took how long: a number for each bound, and one for what took longer."""

    numbers: list[int]
    seconds: float = 0.0


class Times:
    """How long things took, by their labels. Noted on any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken: dict[tuple[str, ...], Taken] = {}

    def note(self, seconds: float, *labels: str) -> None:
        with self._lock:
            taken = self._taken.get(labels)
            if taken is None:
                taken = self._taken[labels] = Taken([0] * (len(BOUNDS_S) + 1))
            taken.numbers[bisect_left(BOUNDS_S, seconds)] += 1
            taken.seconds += seconds

    def told(self) -> dict[tuple[str, ...], Taken]:
        with self._lock:
            return {
                labels: Taken(list(taken.numbers), taken.seconds)
                for labels, taken in sorted(self._taken.items())
            }


@dataclass(frozen=True, slots=True)
class Sample:
    value: float
    labels: Mapping[str, str]
    ending: str = ""
    """What its name has beyond that of its family."""


@dataclass(frozen=True, slots=True)
class Family:
    """A figure with all its samples."""

    name: str
    kind: Literal["gauge", "counter", "histogram"]
    meaning: str
    samples: Sequence[Sample]


def gauge(name: str, meaning: str, value: float | None) -> Family:
    """What is not known has no sample; it is not 0."""
    return Family(name, "gauge", meaning, [] if value is None else [Sample(value, {})])


def gauges(
    name: str, meaning: str, labels: Sequence[str], values: Mapping[tuple[str, ...], float]
) -> Family:
    samples = [Sample(value, dict(zip(labels, key, strict=True))) for key, value in values.items()]
    return Family(name, "gauge", meaning, samples)


def histogram(name: str, meaning: str, labels: Sequence[str], times: Times) -> Family:
    samples: list[Sample] = []
    for key, taken in times.told().items():
        told, count = dict(zip(labels, key, strict=True)), 0
        for bound, number in zip((*map(str, BOUNDS_S), "+Inf"), taken.numbers, strict=True):
            count += number
            samples.append(Sample(count, {**told, "le": bound}, "_bucket"))
        samples += [Sample(taken.seconds, told, "_sum"), Sample(count, told, "_count")]
    return Family(name, "histogram", meaning, samples)


def text(families: Iterable[Family]) -> str:
    lines: list[str] = []
    for family in families:
        if family.samples:
            lines.append(f"# HELP {family.name} {_escaped(family.meaning)}")
            lines.append(f"# TYPE {family.name} {family.kind}")
            lines += [_line(family.name, sample) for sample in family.samples]
    return "".join(f"{line}\n" for line in lines)


def _line(name: str, sample: Sample) -> str:
    pairs = ",".join(
        f'{label}="{_escaped(value, quoted=True)}"' for label, value in sample.labels.items()
    )
    return f"{name}{sample.ending}{f'{{{pairs}}}' if pairs else ''} {sample.value}"


def _escaped(text: str, *, quoted: bool = False) -> str:
    told = text.replace("\\", "\\\\").replace("\n", "\\n")
    return told.replace('"', '\\"') if quoted else told
