"""The offsets of all elements: fast for any extents, into new arrays and over given ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Layout, Shape, Tiling
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    ExtentMismatchError,
    ReadOnlyError,
    SizeOverflowError,
)
from tensorwrapper.layout.axes._tables import _LINE, _PLANE

# What is written in one piece, line by line, or in parts of a mode with a rest: one mode more or less.
LONG = [
    (),
    (_PLANE,),
    (_PLANE + 1,),
    (3 * _PLANE + 5,),
    (7, 20_011),
    (40_000, 3),
    (3, 5_000, 7),
    (2,) * 17,
    (5, _LINE - 1, 40),
    (_LINE, _LINE),
    (2, 1, 30_011, 1, 2),
]


def by_hand(layout):
    steps = zip(np.indices(layout.shape.extents, dtype=np.int64), layout.strides, strict=True)
    return sum((place * step for place, step in steps), start=np.int64(layout.offset))


@pytest.mark.parametrize("extents", LONG, ids=str)
@pytest.mark.parametrize("change", ["none", "turned", "reversed", "every second", "repeated"])
def test_offsets_of_long_boxes(extents, change):
    layout = Layout(Shape(*extents))
    if change == "turned":
        layout = Layout(Shape(*extents), order="F")
    elif change == "reversed":
        layout = layout.reverse()
    elif change == "every second":
        layout = Layout(Shape(*extents), strides=[2 * step for step in layout.strides], offset=-3)
    elif change == "repeated":
        layout = Layout(Shape(*extents), strides=[0, *layout.strides[1:]][: len(extents)])
    expected = by_hand(layout)
    assert np.array_equal(layout.to_numpy(), expected)
    out = np.full(extents, -1)
    assert layout.to_numpy(out=out) is out
    assert np.array_equal(out, expected)


@given(st.data())
def test_any_array_of_the_type_and_shape_is_written_over(data):
    extents = data.draw(st.lists(st.integers(0, 4), max_size=3))
    layout = Layout(Shape(*extents), order=data.draw(st.permutations(range(len(extents)))))
    if extents and data.draw(st.booleans()):
        layout = layout.rotate(
            data.draw(st.lists(st.integers(-3, 3), min_size=len(extents), max_size=len(extents)))
        )
    wide = np.full([2 * extent for extent in extents], -1)
    out = wide[(..., *[slice(None, None, data.draw(st.sampled_from((2, -2)))) for _ in extents])]
    assert out.shape == tuple(extents)
    assert layout.to_numpy(out=out) is out
    assert np.array_equal(out, layout.to_numpy())
    # Nothing beside it is touched.
    assert np.count_nonzero(wide != -1) == out.size


@pytest.mark.parametrize(
    "layout",
    [
        Layout(Shape(2, 3)).rotate((1, 1)),
        Layout(Shape(2, 3)).gather(1, [2, 0]),
        Layout.parse("((2,2),4):((1,8),2)"),
        Layout.parse("((2,2),4):((1,8),2)", order="colex"),
        Layout.tiled(Tiling([1, 2], [3, 1])),
        Layout(Shape(3, 4)).as_tiled(Tiling([1, 2], [3, 1])),
        Layout(Shape.jagged([2, 0, 3])),
        Layout(Shape.nested(Shape(2, 3), layers=(1, 1))),
        Layout(Shape()),
    ],
    ids=str,
)
def test_layouts_of_all_kinds_write_what_they_return(layout):
    expected = layout.to_numpy()
    out = np.full(expected.shape, -1)
    assert layout.to_numpy(out=out) is out
    assert np.array_equal(out, expected)


@pytest.mark.parametrize(
    ("out", "error", "text"),
    [
        ([[0, 0, 0], [0, 0, 0]], ConversionError, "out must be an array, not .*list"),
        (np.zeros((2, 3), dtype=np.int32), DTypeError, "int64, not int32"),
        (np.zeros((2, 3), dtype=">i8"), DTypeError, "int64, not >i8"),
        (np.zeros((3, 2), dtype=np.int64), ExtentMismatchError, r"shape \(2, 3\), but out has \(3, 2\)"),
        (np.zeros(6, dtype=np.int64), ExtentMismatchError, r"shape \(2, 3\), but out has \(6,\)"),
        (np.broadcast_to(np.int64(0), (2, 3)), ReadOnlyError, "read-only"),
    ],
)
def test_what_cannot_be_written_over_is_refused(out, error, text):
    for layout in (Layout(Shape(2, 3)), Layout(Shape(2, 3)).rotate((1, 1))):
        with pytest.raises(error, match=text):
            layout.to_numpy(out=out)


def test_offsets_of_a_jagged_layout_are_written_flat():
    layout = Layout(Shape.jagged([2, 0, 3]))
    with pytest.raises(ExtentMismatchError, match=r"shape \(5,\), but out has \(3,\)"):
        layout.to_numpy(out=np.zeros(3, dtype=np.int64))


def test_offsets_beyond_64_bits_are_refused_before_anything_is_made():
    for extents in ((2**62, 8), (2, 2)):
        with pytest.raises(SizeOverflowError, match="leave 64 bits"):
            Layout(Shape(*extents), strides=(2**63, 1)).to_numpy()
    out = np.full((2, 2), -1)
    with pytest.raises(SizeOverflowError, match="leave 64 bits"):
        Layout(Shape(2, 2), strides=(2**63, 1)).to_numpy(out=out)
    assert (out == -1).all()
