"""Index transforms: the layout behind any, and that of any chain of selections."""

import itertools
import json

import numpy as np
import pytest
import tensorstore as ts
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Layout, Shape
from tensorwrapper.errors import LayoutError, OutOfBoundsError, RankError, SizeOverflowError
from tensorwrapper.layout import IndexTransform


@st.composite
def bases(draw, *, most_rank=3):
    """A layout over a box that is not empty: in any order, with gaps, reversed, or with gathered rows."""
    rank = draw(st.integers(1, most_rank))
    extents = draw(st.lists(st.integers(1, 5), min_size=rank, max_size=rank))
    origin = draw(st.lists(st.integers(-4, 4), min_size=rank, max_size=rank))
    order = draw(st.permutations(range(rank)))
    flags = draw(st.lists(st.booleans(), min_size=rank, max_size=rank))
    shape = Shape(*extents, origin=origin)
    layout = Layout(shape, order=order, ascend=flags, offset=draw(st.integers(-9, 9)))
    wide = draw(st.integers(1, 2))
    strides = [step * wide for step in layout.strides]
    return Layout(shape, strides=strides, offset=layout.offset)


def change(draw, transform):
    """The transform after one random step of TensorStore's indexing."""
    domain = transform.domain
    rank = domain.rank
    if not rank:
        return transform
    d = draw(st.integers(0, rank - 1))
    low, high = domain[d].inclusive_min, domain[d].exclusive_max
    match draw(
        st.sampled_from(
            ["slice", "slice", "stride", "integer", "transpose", "diagonal", "outer", "shift", "new"]
        )
    ):
        case "slice":
            start = draw(st.integers(low, high))
            stop = draw(st.integers(start, high))
            return transform[ts.d[d][start : stop : draw(st.integers(1, 3))]]
        case "stride":
            # A step down starts at the last index.
            return (
                transform[ts.d[d][high - 1 : low - 1 : -draw(st.integers(1, 3))]] if high > low else transform
            )
        case "integer":
            return transform[ts.d[d][draw(st.integers(low, high - 1))]] if high > low else transform
        case "transpose":
            return transform.transpose(draw(st.permutations(range(rank))))
        case "diagonal":
            other = draw(st.integers(0, rank - 1))
            return transform if other == d else transform[ts.d[d, other].diagonal]
        case "outer":
            if high == low:
                return transform
            chosen = draw(st.lists(st.integers(low, high - 1), max_size=4))
            key = [slice(None)] * rank
            key[d] = np.array(chosen, dtype=np.int64)
            return transform.oindex[tuple(key)]
        case "shift":
            return transform.translate_by[draw(st.lists(st.integers(-5, 5), min_size=rank, max_size=rank))]
        case _:
            return transform[ts.newaxis].mark_bounds_implicit[False] if rank < 5 else transform


def identity(layout):
    shape = layout.shape
    return ts.IndexTransform(input_inclusive_min=list(shape.origin), input_shape=list(shape.extents))


def points(shape):
    return itertools.product(*[range(o, o + n) for o, n in zip(shape.origin, shape.extents, strict=True)])


@given(st.data(), bases())
def test_the_layout_behind_any_chain_of_selections(data, base):
    transform = identity(base)
    for _ in range(data.draw(st.integers(0, 5))):
        transform = change(data.draw, transform)
    document = transform.to_json()
    layout = Layout.from_tensorstore(document, base)
    domain = transform.domain
    assert layout.shape == Shape(*domain.shape, origin=domain.origin)
    for index in points(layout.shape):
        assert layout.offset_of(index) == base.offset_of(transform(index))
    assert Layout.from_tensorstore(json.dumps(document, separators=(",", ":")), base) == layout
    mine = IndexTransform.from_json(document)
    assert mine.to_dict() == document
    assert ts.IndexTransform(json=json.loads(mine.to_json())).to_json() == document
    if layout.shape.size:
        first = next(points(layout.shape))
        assert mine.index_of(first) == tuple(transform(first))


def select(draw, layout):
    """The layout after one random step of ours."""
    rank, extents = layout.shape.rank, layout.shape.extents
    d = draw(st.integers(0, rank - 1)) if rank else 0
    match draw(
        st.sampled_from(
            ["key", "key", "permute", "reverse", "gather", "diagonal", "slide", "unsqueeze", "rotate"]
        )
    ):
        case "key":
            keys = [slice(draw(st.integers(0, n)), None, draw(st.sampled_from([1, 2, -1]))) for n in extents]
            if rank and extents[d] and draw(st.booleans()):
                keys[d] = draw(st.integers(0, extents[d] - 1))
            return layout[tuple(keys)]
        case "permute":
            return layout.permute(draw(st.permutations(range(rank))))
        case "reverse":
            return layout.reverse(d) if rank else layout
        case "gather" if rank and extents[d]:
            return layout.gather(d, draw(st.lists(st.integers(0, extents[d] - 1), max_size=4)))
        case "diagonal" if rank > 1:
            return layout.diagonal(d, (d + 1) % rank)
        case "slide" if rank and extents[d] > 1 and layout.is_strided:
            return layout.sliding_window(d, 2)
        case "unsqueeze":
            return layout.unsqueeze(0).broadcast((2, *extents))
        case "rotate" if rank:
            return layout.rotate([draw(st.integers(0, 3)) for _ in range(rank)])
        case _:
            return layout


@given(st.data(), bases())
def test_the_transform_of_any_chain_of_selections(data, base):
    layout = base
    for _ in range(data.draw(st.integers(0, 4))):
        layout = select(data.draw, layout)
    mine = layout.to_tensorstore(base)
    document = mine.to_dict()
    judge = ts.IndexTransform(json=document)
    assert judge.to_json() == document
    for index in points(layout.shape):
        assert mine.index_of(index) == tuple(judge(index))
        assert base.offset_of(judge(index)) == layout.offset_of(index)
    back = Layout.from_tensorstore(mine, base)
    assert np.array_equal(back.to_numpy(), layout.to_numpy())
    if layout.is_strided and layout.shape.size:
        assert (back == layout) == mine.lost.is_exact


@pytest.mark.parametrize(
    ("layout", "base", "error", "text"),
    [
        (
            Layout(Shape(3, 8)),
            Shape(4, 6),
            LayoutError,
            r"modes \(0, 1\) carry from mode 1",
        ),
        (Layout(Shape(24)).sliding_window(0, 3), Shape(4, 6), LayoutError, "carry from mode 1"),
        (Layout(Shape(2)), Layout(Shape(4), offset=5), OutOfBoundsError, "offset 0"),
        (Layout(Shape(2), strides=(2,)), Layout(Shape(4))[::3], OutOfBoundsError, "offset 2"),
        (Layout(Shape(2)), Layout(Shape(4, 3), strides=(1, 2)), LayoutError, "interleave"),
        (Layout(Shape(2)), Layout(Shape(4)).rotate([1]), LayoutError, "strided"),
        (Layout(Shape.jagged([1, 2])), Shape(3), LayoutError, "jagged"),
        (Layout(Shape(*[1] * 33)), Shape(1), RankError, "32 modes"),
        (Layout(Shape(1)), Shape(*[1] * 33), RankError, "32 modes"),
        (Layout(Shape(1, origin=(2**62,))), Shape(1), SizeOverflowError, "2\\*\\*62"),
        (
            Layout(Shape(2), strides=(2**70,)),
            Layout(Shape(2), strides=(2**70,)),
            SizeOverflowError,
            "64 bits",
        ),
    ],
)
def test_what_has_no_transform_is_refused(layout, base, error, text):
    with pytest.raises(error, match=text):
        layout.to_tensorstore(base)


def over(extents, *output, origin=None):
    return {"input_inclusive_min": origin or [0] * len(extents), "input_shape": extents, "output": [*output]}


@pytest.mark.parametrize(
    ("document", "error", "text"),
    [
        (over([2], {"offset": 4}, {"offset": 0}), OutOfBoundsError, "map 0 means indices from 4 to 4"),
        (over([2], {"offset": -1}, {"offset": 0}), OutOfBoundsError, "0 to 4"),
        (
            over([2], {"offset": 0}, {"input_dimension": 0, "offset": 5}),
            OutOfBoundsError,
            "map 1 .* from 5 to 6",
        ),
        (over([2], {"input_dimension": 0, "stride": 2**62}, {"offset": 0}), OutOfBoundsError, "map 0"),
        (over([2], {"index_array": [0, 4]}, {"offset": 0}), OutOfBoundsError, "from 0 to 4"),
        (over([2], {"index_array": [0, -1]}, {"offset": 0}), OutOfBoundsError, "from -1 to 0"),
        (over([2], {"index_array": [0, 2**62], "stride": 4}, {"offset": 0}), OutOfBoundsError, "map 0"),
        (over([2], {"offset": 0}), RankError, "1 output maps do not fit"),
        (over([2, 2], {"index_array": [[0, 1], [2, 2]]}, {"offset": 0}), LayoutError, "choose points"),
    ],
)
def test_a_transform_that_leads_out_or_chooses_points_is_refused(document, error, text):
    with pytest.raises(error, match=text):
        Layout.from_tensorstore(document, Shape(4, 6))


def test_arrays_over_a_base_too_wide_for_64_bits_are_refused():
    with pytest.raises(SizeOverflowError, match="64 bits"):
        Layout.from_tensorstore(over([2], {"index_array": [1, 0]}), Layout(Shape(2), strides=(2**70,)))
    wide = Layout.from_tensorstore(over([2], {"input_dimension": 0}), Layout(Shape(2), strides=(2**70,)))
    assert wide.offset_of((1,)) == 2**70


@pytest.mark.parametrize("seed", range(20))
def test_pointwise_selections_are_refused_or_right(seed):
    draw = np.random.default_rng(seed)
    transform = ts.IndexTransform(input_shape=[4, 6])
    rows, columns = draw.integers(0, 4, (2, 2)), draw.integers(0, 6, (2, 2))
    chosen = transform.vindex[rows, columns]
    expected = rows * 6 + columns
    try:
        layout = Layout.from_tensorstore(chosen.to_json(), Shape(4, 6))
    except LayoutError:
        assert expected[0, 0] + expected[1, 1] != expected[0, 1] + expected[1, 0]
        return
    assert np.array_equal(layout.to_numpy(), expected)
