"""`python -m bench [QUESTION…]`: measures and prints; it judges nothing by its exit code."""

import os
import sys
import time

from bench.questions import NAMES, measured
from bench.rows import Row, show


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        print(f'There is no question "{unknown[0]}"; there are: {", ".join(NAMES)}.')
        return 2
    rows: list[Row] = []
    begun, (load, _, _) = time.monotonic(), os.getloadavg()
    for name in names or NAMES:
        print(f"{name} …", file=sys.stderr, flush=True)
        rows += measured(name)
    spent = time.monotonic() - begun
    show(f"{spent:.0f} s on {os.cpu_count()} cores, whose load was {load:.1f} before", rows)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
