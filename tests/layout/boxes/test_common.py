"""What every layout asks of offsets: integers, of one rank each, within 64 bits together."""

import numpy as np
import pytest

from tensorwrapper import Layout, Shape, Tiling
from tensorwrapper.errors import ConversionError, OutOfBoundsError, SizeOverflowError

ROW = Layout(Shape(2, 3))


def test_offsets_form_a_rectangle_of_integers() -> None:
    for layout in (ROW, ROW.rotate([1, 0]), Layout(Shape(0, 3)), Layout(Shape.jagged([3, 1]))):
        for wrong in ([[0], [1, 2]], [1.0], ["a"], [True], None):
            with pytest.raises(ConversionError, match="offsets must"):
                layout.indices_at(wrong)


FAR = 10**30


@pytest.mark.parametrize(
    "layout",
    [
        Layout(Shape(2), strides=(2**63,)),
        Layout(Shape(2), strides=(2**63,)).as_tiled(Tiling([1, 1])),
        Layout.tiled(Tiling([1, 1]), offset=2**63),
        Layout(Shape.jagged([1, 1]), offset=2**63),
    ],
    ids=["strided", "tiled view", "tile-major", "packed"],
)
def test_offsets_beyond_64_bits_are_refused_together_and_found_one_by_one(layout: Layout) -> None:
    far = layout.bounds()[1]
    assert layout.offset_of(layout.index_of(far)) == far
    with pytest.raises(SizeOverflowError, match="64 bits"):
        layout.indices_at(np.array([far], dtype=np.uint64))
    with pytest.raises(SizeOverflowError, match="64 bits"):
        layout.to_numpy()
    with pytest.raises(SizeOverflowError, match="64 bits"):
        layout.offsets_of([layout.index_of(far)])


def test_indices_into_a_box_without_elements_are_refused_before_steps_are_taken() -> None:
    empty = Layout(Shape(5, 3), strides=(FAR, 1)).repeat([3, 0])
    with pytest.raises(OutOfBoundsError, match=r"index \(4, 0\) is not in"):
        empty.offsets_of([(4, 0)])


@pytest.mark.parametrize(
    "layout",
    [
        Layout(Shape(2), strides=(2**63,), offset=-(2**62)),
        Layout(Shape(2, 3), strides=(2**63, 1), offset=-(2**62)).gather(1, [0, 2, 1]),
    ],
    ids=["strided", "with a table"],
)
def test_offsets_further_apart_than_64_bits_count_are_refused_together(layout: Layout) -> None:
    assert layout.bounds()[0] == -(2**62)
    for ask in (layout.to_numpy, lambda: layout.offsets_of([layout.shape.indices()[0]])):
        with pytest.raises(SizeOverflowError, match="64 bits"):
            ask()
