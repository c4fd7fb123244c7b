"""Search for troubles that lose or change elements: ``python -m tests.soak --minutes 30 [--seed 0]``.

Tensors of several kinds are sent by processes that are killed, stopped and begun anew at random, until the
time is up; then it tells what it did, and how much memory grew after the first tenth.
"""

import argparse
import json
import sys
import tempfile
import time

from tests.soak.transfers import Soak, resident


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    begin, seed, base = time.monotonic(), options.seed, 0
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(folder, seed)
        while (passed := time.monotonic() - begin) < 60 * options.minutes:
            soak.round(seed, troubles=soak.chance.randrange(6))
            seed += 1
            if not base and passed > 6 * options.minutes:
                base = resident()
    growth = resident() - base if base else 0
    print(json.dumps({**soak.counts, "next seed": seed, "bytes of growth": growth}))  # noqa: T201
    # Tensors differ in size: what is held of one is no leak.
    return int(growth > 64 * 2**20)


if __name__ == "__main__":
    sys.exit(main())
