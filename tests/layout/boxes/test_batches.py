"""Many indices to offsets and back: in batches whose edges must not show."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Layout, Shape
from tensorwrapper.errors import LayoutError, OutOfBoundsError, SizeOverflowError
from tensorwrapper.layout.boxes._batches import _BATCH

MOST = 2**63 - 1
LONG = Shape(3, 50_000, origin=(-1, 7))  # more rows than go into one batch


@st.composite
def nested_steps(draw):
    """A layout of which each mode steps over all that the finer ones reach, perhaps with gaps."""
    extents, strides, reach = [], [], 0
    for _ in range(draw(st.integers(0, 4))):
        extent = draw(st.integers(1, 4))
        stride = reach + draw(st.integers(1, 4)) if draw(st.integers(0, 4)) else 0
        extents.append(extent)
        strides.append(stride * draw(st.sampled_from((1, -1))))
        reach += abs(stride) * (extent - 1)
    order = draw(st.permutations(range(len(extents))))
    origin = draw(st.lists(st.integers(-9, 9), min_size=len(extents), max_size=len(extents)))
    shape = Shape(*[extents[mode] for mode in order], origin=origin)
    return Layout(shape, strides=[strides[mode] for mode in order], offset=draw(st.integers(-20, 20)))


@given(nested_steps())
def test_each_offset_leads_to_its_first_index_and_all_others_are_refused(layout):
    first: dict[int, tuple[int, ...]] = {}
    for index in layout.shape.indices():
        first.setdefault(layout.offset_of(index), index)
    offsets = np.array(list(first))
    assert list(map(tuple, layout.indices_at(offsets).tolist())) == list(first.values())
    least, greatest = layout.bounds()
    for offset in set(range(least - 2, greatest + 3)) - set(first):
        with pytest.raises(OutOfBoundsError, match=f"at offset {offset}$"):
            layout.indices_at([min(first), offset, max(first), offset - 1])


@pytest.mark.parametrize(
    "layout",
    [
        Layout(LONG),
        Layout(LONG, order="F"),
        Layout(LONG, strides=(-200_000, 3), offset=11),
        Layout(LONG).reverse(1),
        Layout(LONG).rotate((1, 77)),
        Layout(LONG).gather(0, [2, 0, 1]),
        Layout(Shape(150_000), strides=(1,)),
    ],
    ids=str,
)
def test_there_and_back_in_many_batches(layout):
    indices = layout.shape.indices().to_numpy()
    assert len(indices) > 3 * _BATCH
    offsets = layout.offsets_of(indices)
    assert np.array_equal(offsets, layout.to_numpy().reshape(-1))
    assert np.array_equal(layout.indices_at(offsets), indices)
    # Any leading axes, any strides, and other types of integers.
    grid = offsets.reshape(2, -1)[:, ::-1]
    assert np.array_equal(layout.indices_at(grid), indices.reshape(2, -1, layout.shape.rank)[:, ::-1])
    columns = np.asfortranarray(indices.astype(np.int32))[::-1]
    assert np.array_equal(layout.offsets_of(columns), offsets[::-1])


@pytest.mark.parametrize("place", [0, 1, _BATCH - 1, _BATCH, 3 * _BATCH + 5, 149_999])
@pytest.mark.parametrize("layout", [Layout(LONG), Layout(LONG).rotate((1, 0))], ids=str)
def test_errors_name_the_first_wrong_row(layout, place):
    indices = layout.shape.indices().to_numpy()
    offsets = layout.offsets_of(indices)
    indices[place:] = (5, 6)
    indices[place] = (1, 50_007)
    with pytest.raises(OutOfBoundsError, match=r"index \(1, 50007\) is not in"):
        layout.offsets_of(indices)
    offsets[place:] = -7
    offsets[place] = 150_000
    with pytest.raises(OutOfBoundsError, match=r"no element of .* lies at offset 150000$"):
        layout.indices_at(offsets)


@pytest.mark.parametrize("place", [0, _BATCH + 3])
def test_an_offset_in_a_gap_is_wrong(place):
    layout = Layout(Shape(400, 400), strides=(1000, 2))
    offsets = layout.to_numpy().reshape(-1)
    for wrong in (1, 800, 999, 1799):
        offsets[place] = wrong
        with pytest.raises(OutOfBoundsError, match=f"at offset {wrong}$"):
            layout.indices_at(offsets)


def test_differences_beyond_64_bits_do_not_wrap_to_what_looks_inside():
    wide = Layout(Shape(2, 3), strides=(MOST - 5, 1), offset=-5)
    corners = [-5, -4, -3, MOST - 10, MOST - 9, MOST - 8]
    assert wide.indices_at(corners).tolist() == wide.shape.indices().to_numpy().tolist()
    both = Layout(Shape(2), strides=(2 * MOST,), offset=-MOST)
    assert both.indices_at([MOST, -MOST]).tolist() == [[1], [0]]
    for wrong in (-MOST - 1, 0, MOST - 1):
        with pytest.raises(OutOfBoundsError, match=f"at offset {wrong}$"):
            both.indices_at([MOST, wrong])
    high = Layout(Shape(3, origin=(MOST - 2,)))
    assert high.offsets_of([[MOST - 2], [MOST]]).tolist() == [0, 2]
    with pytest.raises(OutOfBoundsError, match=rf"\({-MOST}, *\)"):
        high.offsets_of([[MOST], [-MOST]])


def test_indices_beyond_64_bits_are_refused():
    layout = Layout(Shape(3, origin=(2**63 - 1,)))
    assert layout.index_of(2) == (2**63 + 1,)
    with pytest.raises(SizeOverflowError, match="indices beyond 64 bits; use index_of"):
        layout.indices_at([0])
    low = Layout(Shape(9, origin=(-(2**63) - 3,)))
    assert low.offset_of((-(2**63),)) == 3
    with pytest.raises(SizeOverflowError, match="indices beyond 64 bits; use offset_of"):
        low.offsets_of([[-(2**63)]])
    lowest = Layout(Shape(9, origin=(-(2**63),)))
    assert lowest.offsets_of([[-(2**63)], [-(2**63) + 8]]).tolist() == [0, 8]


def test_a_stride_that_is_never_taken_may_be_of_any_size():
    layout = Layout(Shape(1, 3), strides=(2**70, 1))
    assert layout.offsets_of([[0, 2], [0, 0]]).tolist() == [2, 0]
    assert layout.indices_at([2, 1]).tolist() == [[0, 2], [0, 1]]
    assert layout.to_numpy().tolist() == [[0, 1, 2]]


def test_modes_that_step_into_one_another_do_not_split():
    with pytest.raises(LayoutError, match="interleave"):
        Layout(Shape(3, 3), strides=(2, 1)).indices_at([0])
