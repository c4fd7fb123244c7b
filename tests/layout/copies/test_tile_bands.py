"""Millions of tiles cost bands, and a plan of them says what it costs."""

import tracemalloc

from tensorwrapper import Layout, Tiling


def test_w5_a_plan_of_millions_of_tiles_says_what_it_costs():
    sizes = [1 + (k * k + k // 7) % 4 for k in range(6000)]
    source = Layout.tiled(Tiling(sizes, sizes))
    target = Layout.tiled(Tiling(sizes[::-1], sizes[::-1]), order="F")
    plan = source.copy_plan(target)
    alike, counts = plan.steps.kinds()
    assert plan.steps.count > 36_000_000
    assert alike.count < 10_000
    assert sum(map(len, counts)) < 200
    tracemalloc.start()
    assert f": strided, {plan.elements} elements in {plan.runs} runs of 1 to" in repr(plan)
    assert tracemalloc.get_traced_memory()[1] < 8_000_000
    tracemalloc.stop()
