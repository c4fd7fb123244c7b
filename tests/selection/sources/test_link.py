"""Packed at the holder, or as the box around it: the rows of the cost table, in nanoseconds a byte."""

import pytest

from tensorwrapper.errors import ExtentError
from tensorwrapper.selection import Link

# bandwidth, bytes of the box for each selected one, packing, packed, box, which is faster
ROWS = [
    (1.25e9, 8, 0.74e9, 2.15, 6.4, "packed"),
    (1.25e9, 2, 2.8e9, 1.16, 1.6, "packed"),
    (5e9, 2, 2.8e9, 0.56, 0.4, "box"),
]


@pytest.mark.parametrize(("bandwidth", "box", "packing", "packed", "boxed", "faster"), ROWS)
def test_the_faster_way_is_chosen(bandwidth, box, packing, packed, boxed, faster):
    link = Link(bandwidth=bandwidth, packing=packing)
    size = 1_000_000
    assert link.time(size, packed=True) * 1e9 / size == pytest.approx(packed, abs=0.006)
    assert link.time(size * box) * 1e9 / size == pytest.approx(boxed, abs=0.006)
    assert link.is_box_faster(size, size * box) == (faster == "box")


@pytest.mark.parametrize(("bandwidth", "packing"), [(1.25e9, 0.74e9), (5e9, 2.8e9), (1e8, 4e9)])
def test_a_box_is_faster_above_a_density_that_depends_on_both_rates_alone(bandwidth, packing):
    link = Link(bandwidth=bandwidth, packing=packing, latency=1e-3, overhead=1e-5)
    density = 1 / (1 + bandwidth / packing)
    size = 10_000_000
    assert link.is_box_faster(size, int(size / density * 0.99))
    assert not link.is_box_faster(size, int(size / density * 1.01))


def test_latency_and_messages_are_added():
    link = Link(bandwidth=1e9, packing=1e9, latency=0.5, overhead=0.25)
    assert link.time(10**9, messages=3) == 0.5 + 0.75 + 1


def test_a_cost_in_bytes_takes_as_long_as_the_selection():
    link = Link(bandwidth=5e9, packing=2.8e9)
    assert link.cost(1000, 1000, runs=7) == 1000
    assert link.cost(1000, 2000, runs=1) == 1000
    packed = link.cost(1_000_000, 2_000_000, runs=1000)
    assert link.time(packed) == pytest.approx(link.time(1_000_000, packed=True))
    assert packed > 2_000_000


@pytest.mark.parametrize("rates", [(0, 1), (1, 0), (-1, 1), (float("nan"), 1)])
def test_rates_are_greater_than_zero(rates):
    with pytest.raises(ExtentError, match="greater than 0"):
        Link(*rates)
