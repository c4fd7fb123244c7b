"""Layouts with numbers beyond 64 bits answer in Python integers, or refuse before anything wraps."""

import itertools

import numpy as np
import pytest

from tensorwrapper import Layout, Shape, Tiling
from tensorwrapper.errors import LayoutError, OutOfBoundsError, SizeOverflowError
from tensorwrapper.layout.axes._axis import Cycle, Table

FAR = 10**30


def test_a_stride_that_is_never_taken_may_be_of_any_size_among_tables() -> None:
    part = Layout(Shape(1, 4), strides=(FAR, 1)).gather(1, [2, 0, 3])
    assert part.to_numpy().tolist() == [[2, 0, 3]]
    assert part.offsets_of([(0, 1)]).tolist() == [0]
    assert part.indices_at([3]).tolist() == [[0, 2]]


def test_the_alignment_of_hints_is_never_negative() -> None:
    hints = Layout(Shape(1, 1), strides=(7, FAR), offset=-FAR).hints()
    assert hints.whole.alignment == FAR


def test_steps_between_tiles_without_elements_may_be_of_any_size() -> None:
    empty = Layout(Shape(0, 4), strides=(1, FAR)).as_tiled(Tiling([0], [1, 3]))
    assert empty.simplify().to_numpy().size == 0
    with pytest.raises(OutOfBoundsError):
        empty.indices_at([0])


def test_padded_rows_beyond_64_bits_are_refused_when_they_are_made() -> None:
    with pytest.raises(SizeOverflowError, match="64 bits"):
        Layout.padded(Shape.jagged([2, 3]), offset=2**63)


def test_overlaps_that_leave_64_bits_are_not_decided_rather_than_wrong() -> None:
    wide = Layout(Shape(4, 2, 2, 2), strides=(-(2**61), -(2**20), FAR, 1 - 2**62), offset=2**62)
    table = Layout(Shape(3, 2), strides=(1, FAR)).gather(0, [2, 0, 2, 1])
    with pytest.raises(LayoutError, match="leave 64 bits"):
        wide.overlaps(table)


def test_hints_of_a_tiled_view_with_a_stride_that_is_never_taken() -> None:
    view = Layout(Shape(1, 4), strides=(FAR, 1)).as_tiled(Tiling([1], [2, 2]))
    assert view.hints().whole.is_one_run


@pytest.mark.parametrize(("extent", "turn"), [(3, 2), (5, 2)], ids=["some places", "all places"])
def test_cycles_of_steps_beyond_64_bits_answer_in_python_integers(extent: int, turn: int) -> None:
    ring = Cycle(extent, 1, turn, 5, 1, FAR)
    places = sorted({(1 + turn * j) % 5 * FAR for j in range(extent)})
    assert list(ring.distinct()) == places
    assert ring.gap() == min(b - a for a, b in itertools.pairwise(places))
    part = Layout(Shape(4, 3), strides=(-FAR, 2**63)).rotate([-6, -5]).window(Shape(3, 2))
    assert part.is_injective
    assert part.index_of(part.offset_of((2, 1))) == (2, 1)


def test_the_gap_between_offsets_far_apart_does_not_wrap() -> None:
    assert Table(np.array([2**62, -(2**62) - 5, 1 - 2**63])).gap() == 2**62 - 6
    assert Table(np.array([1 - 2**63, 5, 2**63 - 1])).gap() == 2**63 - 6


def test_runs_of_a_plan_over_steps_beyond_64_bits_are_refused() -> None:
    wide = Layout(Shape(4, 2), strides=(2**20, -(2**63)), offset=2**62)
    plan = wide.copy_plan(Layout(Shape(4, 2)))
    assert plan.runs == 8
    with pytest.raises(SizeOverflowError, match="64 bits"):
        list(plan.run_batches())
