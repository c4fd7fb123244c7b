"""Search for troubles that lose or change elements: ``python -m tests.soak --minutes 30 --only servers``.

`transfers`: tensors of several kinds are sent by processes that are killed, stopped and begun anew at random.
`servers`: 64 clients read all kinds of selections of a server for a minute, in every second round of one that
is killed and begun anew. Each goes on until the time is up; then it tells what it did, and how much memory
grew: after the first tenth, or after the first third of a round.
"""

import argparse
import json
import sys
import tempfile
import time

from tests.soak.serving import ServingSoak
from tests.soak.transfers import Soak, resident


def transfers(folder: str, seed: int, seconds: float) -> dict[str, int]:
    begin, base, soak = time.monotonic(), 0, Soak(folder, seed)
    while (passed := time.monotonic() - begin) < seconds:
        soak.round(seed, troubles=soak.chance.randrange(6))
        seed += 1
        if not base and passed > seconds / 10:
            base = resident()
    return {**soak.counts, "next seed": seed, "bytes of growth": resident() - base if base else 0}


def servers(folder: str, seed: int, seconds: float) -> dict[str, int]:
    begin = time.monotonic()
    with ServingSoak(folder, seed) as soak:
        while (left := seconds - (time.monotonic() - begin)) > 0:
            soak.round(seed, clients=64, seconds=max(int(min(left, 60)), 2), kills=(seed % 2) * 3)
            seed += 1
    return {**soak.counts, "next seed": seed, "bytes of growth": soak.growth}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=["transfers", "servers"])
    options = parser.parse_args()
    bad = False
    for what in (transfers, servers):
        if options.only in (None, what.__name__):
            with tempfile.TemporaryDirectory() as folder:
                found = what(folder, options.seed, 60 * options.minutes)
            print(json.dumps({"what": what.__name__, **found}), flush=True)  # noqa: T201
            # Tensors differ in size: what is held of one is no leak.
            bad |= found["bytes of growth"] > 64 * 2**20 or bool(found.get("wrong") or found.get("mixed"))
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
