"""`python -m bench [QUESTION…]`: measures and prints. The exit code does not depend on goals."""

import sys
import time

from bench.questions import NAMES, measured
from bench.rows import show


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        print(f'There is no question "{unknown[0]}"; choose from {", ".join(NAMES)}.')
        return 2
    for name in names or NAMES:
        print(f"{name} …", file=sys.stderr, flush=True)
        begun = time.monotonic()
        rows, world = measured(name)
        show(f"{name}, {time.monotonic() - begun:.0f} s", rows, world)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
