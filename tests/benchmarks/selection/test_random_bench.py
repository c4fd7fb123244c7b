"""10^7 random numbers by their ranks; the peer is NumPy's generator, which draws in one order only."""

import numpy as np
import pytest

from tensorwrapper.selection.random._values import draw

COUNT = 10**7
RANKS = np.arange(COUNT)
SHUFFLED = np.random.default_rng(1).permutation(COUNT)
PARAMETERS = {"uniform": [0, 1], "normal": [0, 1], "integers": [0, 100], "bernoulli": [0.5]}


@pytest.mark.parametrize("way", ["ranks in order", "ranks in any order", "NumPy, Philox", "NumPy, default"])
@pytest.mark.parametrize("distribution", PARAMETERS)
def test_numbers(benchmark, distribution, way):
    benchmark.group = f"10^7 {distribution} numbers"
    kind = {"integers": "int64", "bernoulli": "bool"}.get(distribution, "float64")
    out, parameters = np.empty(COUNT, kind), PARAMETERS[distribution]
    if way.startswith("ranks"):
        ranks = RANKS if way == "ranks in order" else SHUFFLED
        benchmark.pedantic(
            lambda: draw(distribution, 1, ranks, parameters, out=out), rounds=3, warmup_rounds=1
        )
        return
    peer = np.random.Generator(np.random.Philox(1)) if "Philox" in way else np.random.default_rng(1)
    run = {
        "uniform": lambda: peer.random(out=out),
        "normal": lambda: peer.standard_normal(out=out),
        "integers": lambda: peer.integers(0, 100, COUNT),
        "bernoulli": lambda: np.less(peer.random(COUNT), 0.5, out=out),
    }[distribution]
    benchmark.pedantic(run, rounds=3, warmup_rounds=1)
