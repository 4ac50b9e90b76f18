"""Figures in the text form of Prometheus, held to a strict reader."""

import pytest

from agents_manager import meters
from agents_manager.meters import Times
from tests import prometheus

ODD = 'a "quoted" \\ thing\nof {two} lines, with = and ,'


def test_what_is_written_is_read_back() -> None:
    times = Times()
    for seconds in (0.0004, 0.001, 0.3, 60.0):
        times.note(seconds, "read")
    text = meters.text(
        [
            meters.gauge("am_age_seconds", f"Age of\n{ODD}", 1.5),
            meters.gauge("am_unknown", "Nobody knows.", None),
            meters.gauges("am_things", "Things.", ["kind", "of"], {(ODD, ""): 3, ("b", "c"): 0}),
            meters.histogram("am_seconds", "Times.", ["kind"], times),
        ]
    )
    found = prometheus.read(text)
    assert list(found) == ["am_age_seconds", "am_things", "am_seconds"]
    assert found["am_age_seconds"].value() == 1.5
    assert found["am_things"].value(kind=ODD, of="") == 3
    seconds = found["am_seconds"]
    assert seconds.value("_count", kind="read") == 4
    assert seconds.value("_bucket", kind="read", le="0.001") == 2
    assert seconds.value("_bucket", kind="read", le="10.0") == 3
    assert seconds.value("_sum", kind="read") == pytest.approx(60.3014)


@pytest.mark.parametrize(
    "broken",
    [
        "# HELP a A.\n# TYPE a gauge\na 1",
        "# HELP a A.\n# TYPE a gauge\n",
        "# HELP a A.\n# TYPE a gauge\na 1\na 2\n",
        '# HELP a A.\n# TYPE a gauge\na{b="c"d="e"} 1\n',
        '# HELP a A.\n# TYPE a gauge\na{b="\\x"} 1\n',
        "# HELP a A.\n# TYPE a gauge\na one\n",
        "# HELP a A.\n# TYPE a gauge\nb 1\n",
        "# HELP a A.\n# TYPE a counter\na 1\n",
        '# HELP a A.\n# TYPE a histogram\na_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\n'
        "a_sum 1\na_count 1\n",
    ],
)
def test_the_reader_is_strict(broken: str) -> None:
    with pytest.raises((AssertionError, KeyError)):
        prometheus.read(broken)
