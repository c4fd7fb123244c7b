"""Whether two layouts share a place: against the places themselves, and against NumPy's shares_memory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Layout, Shape, Tiling
from tensorwrapper.errors import ConversionError, ExtentError, LayoutError
from tests.support.layout.strided import strided_layouts


@st.composite
def any_layouts(draw):
    """Layouts of every kind over places from 0 to about 100."""
    layout = draw(strided_layouts(most_rank=3, origins=False))
    rank, extents = layout.shape.rank, layout.shape.extents
    match draw(
        st.sampled_from(["strided", "gather", "rotate", "repeat", "tiles", "blocks", "rows", "swizzle"])
    ):
        case "gather" if rank and extents[0]:
            return layout.gather(0, draw(st.lists(st.integers(0, extents[0] - 1), max_size=6)))
        case "rotate" if rank:
            return layout.rotate(draw(st.lists(st.integers(0, 4), min_size=rank, max_size=rank)))
        case "repeat" if rank:
            return layout.repeat_each(rank - 1, draw(st.integers(0, 3)))
        case "tiles" if rank:
            return layout.as_tiled(Tiling(*[[1, n - 1] if n > 1 else [n] for n in extents]))
        case "blocks":
            tiling = Tiling(draw(st.lists(st.integers(0, 3), min_size=1, max_size=3)), [2, 1])
            return Layout.tiled(tiling, alignment=draw(st.integers(1, 4)), offset=draw(st.integers(0, 30)))
        case "rows":
            lengths = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
            return Layout(Shape.jagged(lengths), offset=draw(st.integers(0, 30)))
        case "swizzle":
            return Layout.parse("S<1,0,2> o 8 o (4,2):(4,1)")
        case _:
            return layout


def places(layout):
    return {*layout.to_numpy().ravel().tolist()}


@given(any_layouts(), any_layouts())
def test_overlaps_are_shared_places(one, other):
    shared = bool(places(one) & places(other))
    assert one.overlaps(other) == other.overlaps(one) == shared
    low, high = max(one.bounds()[0], other.bounds()[0]), min(one.bounds()[1], other.bounds()[1])
    assert one.may_overlap(other) == other.may_overlap(one) == (low <= high)
    assert one.may_overlap(other) >= shared
    assert one.overlaps(one) == (one.shape.size > 0)


def view(layout, memory):
    offset = layout.offset if layout.shape.size else 0
    return np.ndarray(layout.shape.extents, np.int8, memory, offset, layout.strides)


@given(strided_layouts(most_rank=4, most=12, reach=400), strided_layouts(most_rank=4, most=12, reach=400))
def test_numpy_agrees(one, other):
    memory = np.zeros(max(one.bounds()[1], other.bounds()[1]) + 1, np.int8)
    arrays = [
        np.ndarray(
            layout.shape.extents, np.int8, memory, layout.offset if layout.shape.size else 0, layout.strides
        )
        for layout in (one, other)
    ]
    assert one.overlaps(other) == np.shares_memory(*arrays)
    assert one.may_overlap(other) == np.may_share_memory(*arrays)


WIDE = Layout(Shape(10**9, 10**9))
BLOCKS = Layout.tiled(Tiling.make_uniform((10**6, 10**6), (1000, 1000)))
TILES = Layout(Shape(3000, 3000)).as_tiled(Tiling([1000, 2000], [3000]))
LONG = Layout(Shape(10**12), strides=(10**9 + 7,))
SHIFTED = Layout(Shape(10**12), strides=(10**9 + 9,), offset=1)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (WIDE[:, 0], WIDE[:, 1], False),
        (WIDE[::2], WIDE[1::2], False),
        (WIDE[:, ::2], WIDE[:, 1::2], False),
        (WIDE[:, ::2], WIDE[:, ::3], True),
        (WIDE[:, 1::2], WIDE[::-1, 0:10:2], False),
        (WIDE[: 10**8], WIDE[10**8 :], False),
        (WIDE[: 10**8 + 1], WIDE[10**8 :], True),
        (WIDE, WIDE.permute((1, 0)), True),
        (WIDE.repeat((3, 1)), WIDE[5:6], True),
        (WIDE.rotate((0, 1))[:, 1:], WIDE[:, -1], False),
        (WIDE.rotate((0, 1))[:, :5], WIDE[:, -1], True),
        # Progressions meet where the Chinese remainder theorem says, if that is inside both.
        (Layout(Shape(7), strides=(6,)), Layout(Shape(5), strides=(10,), offset=4), True),
        (Layout(Shape(3), strides=(6,)), Layout(Shape(2), strides=(10,), offset=14), False),
        (Layout(Shape(7), strides=(6,)), Layout(Shape(5), strides=(10,), offset=5), False),
        (
            Layout(Shape(10**12), strides=(10**9 + 7,)),
            Layout(Shape(10**12), strides=(10**9 + 9,), offset=1),
            True,
        ),
        (
            Layout(Shape(10**8), strides=(10**9 + 7,)),
            Layout(Shape(10**8), strides=(10**9 + 9,), offset=1),
            False,
        ),
        (Layout(Shape(2), strides=(2**80,)), Layout(Shape(2), strides=(2**80,), offset=2**80), True),
        (Layout(Shape(2), strides=(2**80,)), Layout(Shape(2), strides=(2**80,), offset=1), False),
        (Layout(Shape(0)), Layout(Shape(3)), False),
        (Layout(Shape()), Layout(Shape(3)), True),
        (Layout(Shape(), offset=3), Layout(Shape(3)), False),
        (
            Layout.tiled(Tiling.make_uniform((10**6, 10**6), (1000, 1000))),
            Layout(Shape(5), offset=10**12),
            False,
        ),
        (
            Layout.tiled(Tiling.make_uniform((10**6, 10**6), (1000, 1000))),
            Layout(Shape(5), offset=10**12 - 1),
            True,
        ),
        (Layout(Shape.jagged([10**6] * 10)), Layout(Shape(3), offset=10**7 - 1), True),
        (
            Layout(Shape(3000, 3000)).as_tiled(Tiling([1000, 2000], [3000])),
            Layout(Shape(9), offset=8_999_999),
            True,
        ),
    ],
)
def test_large_layouts_are_decided_without_looking(one, other, expected):
    assert one.overlaps(other, limit=2000) == other.overlaps(one, limit=2000) == expected


def test_a_gather_of_millions_is_compared_in_one_go():
    rows = Layout(Shape(4_000_000, 3)).gather(0, np.arange(3_999_998, -1, -2) ** 2 % 4_000_000 // 2 * 2)
    assert not rows.overlaps(Layout(Shape(4_000_000, 3))[1::2])
    assert rows.overlaps(Layout(Shape(4_000_000, 3))[4])


def hard(seed, modes):
    """A sum of subsets: what no rule decides."""
    draw = np.random.default_rng(seed)
    strides = [2 * int(step) for step in draw.integers(2**40, 2**41, modes)]
    return Layout(Shape(*[2] * modes), strides=strides)


def test_what_no_rule_decides_is_searched_up_to_a_limit():
    one = hard(1, 24)
    with pytest.raises(LayoutError, match="not decided within 500 steps"):
        one.overlaps(Layout(Shape(1), offset=sum(one.strides) // 4 * 2), limit=500)
    few = hard(3, 14)
    assert few.overlaps(Layout(Shape(1), offset=sum(few.strides[:7])), limit=2**15)
    assert not few.overlaps(Layout(Shape(1), offset=sum(few.strides[:7]) + 2), limit=2**15)
    # An odd sum of even numbers needs no search, and one end that both have no thought at all.
    assert not one.overlaps(Layout(Shape(1), offset=sum(one.strides) // 2 | 1), limit=0)
    assert one.overlaps(hard(2, 24), limit=0)


def test_the_limit_holds_for_what_is_looked_at():
    crossed = Layout.parse("S<1,0,2> o 0 o (4,64):(64,1)")[:, 1:]
    with pytest.raises(LayoutError, match="too large to look"):
        crossed.overlaps(Layout(Shape(3), strides=(2,)), limit=20)
    squares = Layout(Shape(30)).gather(0, np.arange(30) ** 2 % 30)
    cubes = Layout(Shape(90), offset=2).gather(0, np.arange(90) ** 3 % 90)
    with pytest.raises(LayoutError, match="takes 360 sums"):
        squares.overlaps(cubes, limit=20)


def test_a_limit_is_a_number_of_steps():
    with pytest.raises(ExtentError, match="negative"):
        WIDE.overlaps(WIDE, limit=-1)
    with pytest.raises(ConversionError, match="integer"):
        WIDE.overlaps(WIDE, limit=1.0)
