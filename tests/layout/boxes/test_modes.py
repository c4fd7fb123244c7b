"""Operations on modes against NumPy on the table of offsets."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tensorwrapper import Layout, Shape
from tensorwrapper.errors import ExtentError, LayoutError, OutOfBoundsError, RankError, SizeOverflowError
from tensorwrapper.layout.axes._split import is_sum

extents = st.lists(st.integers(0, 4), min_size=1, max_size=3)


@st.composite
def grown(draw):
    """A layout that went through some operations, and the array of offsets that NumPy makes of them."""
    sizes = draw(extents)
    strides = draw(st.lists(st.integers(-6, 6), min_size=len(sizes), max_size=len(sizes)))
    layout = Layout(Shape.smooth(sizes), strides=strides, offset=draw(st.integers(0, 5)))
    model = layout.to_numpy()
    steps = zip(np.indices(sizes), strides, strict=True)
    assert np.array_equal(model, sum([axis * s for axis, s in steps]) + layout.offset)
    for _ in range(draw(st.integers(0, 4))):
        layout, model = draw(st.sampled_from(STEPS))(draw, layout, model)
        assume(model.size <= 500)
    return layout, model


def _rotate(draw, layout, model):
    shifts = draw(st.lists(st.integers(-4, 4), min_size=model.ndim, max_size=model.ndim))
    return layout.rotate(shifts), np.roll(
        model, shifts, tuple(range(model.ndim))
    ) if model.size and shifts else model


def _repeat(draw, layout, model):
    times = draw(st.lists(st.integers(0, 2), min_size=model.ndim, max_size=model.ndim))
    return layout.repeat(times), np.tile(model, times)


def _repeat_each(draw, layout, model):
    assume(model.ndim)
    mode, times = draw(st.integers(0, model.ndim - 1)), draw(st.integers(0, 3))
    return layout.repeat_each(mode, times), np.repeat(model, times, axis=mode)


def _gather(draw, layout, model):
    assume(model.ndim)
    mode = draw(st.integers(0, model.ndim - 1))
    extent = model.shape[mode]
    places = draw(st.lists(st.integers(-extent, extent - 1), max_size=5)) if extent else []
    return layout.gather(mode, places), np.take(model, np.array(places, dtype=int), axis=mode)


def _permute(draw, layout, model):
    order = draw(st.permutations(range(model.ndim)))
    return layout.permute(order), np.transpose(model, order)


def _reverse(draw, layout, model):
    assume(model.ndim)
    mode = draw(st.integers(0, model.ndim - 1))
    return layout.reverse(mode), np.flip(model, mode)


def _unsqueeze(draw, layout, model):
    mode = draw(st.integers(0, model.ndim))
    return layout.unsqueeze(mode), np.expand_dims(model, mode)


def _squeeze(draw, layout, model):
    del draw
    return layout.squeeze(), np.squeeze(model)


def _diagonal(draw, layout, model):
    assume(model.ndim > 1)
    first, second = draw(st.permutations(range(model.ndim)))[:2]
    return layout.diagonal(first, second), np.diagonal(model, 0, first, second)


def _slice(draw, layout, model):
    bound = st.none() | st.integers(-5, 5)
    step = st.none() | st.sampled_from([-2, -1, 1, 2, 3])
    key = tuple([slice(draw(bound), draw(bound), draw(step)) for _ in range(model.ndim)])
    return layout[key], model[key]


def _broadcast(draw, layout, model):
    lead = draw(st.integers(0, 2))
    sizes = [lead, *[n if n != 1 else draw(st.integers(0, 3)) for n in model.shape]]
    return layout.broadcast(sizes), np.broadcast_to(model, sizes)


STEPS = [
    _rotate,
    _repeat,
    _repeat_each,
    _gather,
    _permute,
    _reverse,
    _unsqueeze,
    _squeeze,
    _diagonal,
    _slice,
    _broadcast,
]


@given(grown())
def test_every_chain_of_operations_has_the_offsets_that_numpy_gives(case):
    layout, model = case

    assert layout.shape.extents == model.shape
    assert np.array_equal(layout.to_numpy(), model)
    assert layout.is_injective == (len(np.unique(model)) == model.size)
    if not model.size:
        assert layout.bounds() == (0, -1)
        return
    assert layout.bounds() == (model.min(), model.max())
    assert layout.offset == model.flat[0]
    assert layout.is_exhaustive == (layout.is_injective and model.max() - model.min() + 1 == model.size)


@given(grown())
def test_offsets_lead_back_to_their_indices(case):
    layout, model = case
    places = {}
    for index in np.ndindex(*model.shape):
        absolute = tuple(i + start for i, start in zip(index, layout.shape.origin, strict=True))
        places.setdefault(int(model[index]), []).append(absolute)
        assert layout.offset_of(absolute) == model[index]
    for offset, indices in places.items():
        assert layout.index_of(offset) == indices[0]
        assert layout.indices_of(offset) == indices
    wrong = int(model.max()) + 1 if model.size else 0
    with pytest.raises(OutOfBoundsError, match="no element"):
        layout.index_of(wrong)
    with pytest.raises(OutOfBoundsError, match="no element"):
        layout.indices_of(wrong)


@given(grown())
def test_many_offsets_lead_back_at_once_or_are_refused(case):
    layout, model = case
    wanted = np.unique(model)
    try:
        found = layout.indices_at(wanted)
    except LayoutError as error:
        assert "interleave" in str(error)  # noqa: PT017 - a refusal is one of two right answers
        return
    assert [layout.index_of(offset) for offset in wanted.tolist()] == list(map(tuple, found.tolist()))
    with pytest.raises(OutOfBoundsError, match="no element"):
        layout.indices_at([wanted.max() + 1 if wanted.size else 0])


@given(grown(), st.data())
def test_a_window_keeps_the_origin_and_the_offsets(case, data):
    layout, model = case
    shape = layout.shape
    bounds = [sorted(data.draw(st.tuples(st.integers(0, n), st.integers(0, n)))) for n in shape.extents]
    region = shape.slice(
        [o + a for o, (a, _) in zip(shape.origin, bounds, strict=True)],
        [o + b for o, (_, b) in zip(shape.origin, bounds, strict=True)],
    )
    part = layout.window(region)

    assert part.shape == region
    assert np.array_equal(part.to_numpy(), model[tuple([slice(a, b) for a, b in bounds])])


def _numpy_view(extents_, strides, new):
    """The strides that NumPy gives without a copy, in elements, or None."""
    steps = [8 * s for s in strides]
    base = np.zeros(1 + sum(abs(s) * (n - 1) for s, n in zip(strides, extents_, strict=True)))
    start = sum(-s * (n - 1) for s, n in zip(strides, extents_, strict=True) if s < 0)
    array = np.ndarray(extents_, base.dtype, base, 8 * start, steps)
    reshaped = array.reshape(new)
    return tuple(s // 8 for s in reshaped.strides) if np.shares_memory(reshaped, base) else None


@st.composite
def reshapes(draw):
    old = draw(st.lists(st.sampled_from([1, 1, 2, 3, 4, 6]), min_size=0, max_size=4))
    new, left = [], math.prod(old)
    while left > 1 or draw(st.booleans()):
        part = draw(st.sampled_from([d for d in range(1, left + 1) if left % d == 0]))
        new.append(part)
        left //= part
        if len(new) > 6:
            new.append(left)
            break
    strides = [draw(st.integers(-7, 7))]
    for extent in reversed(old[1:]):
        follows = strides[0] * extent
        strides.insert(0, draw(st.sampled_from([follows, follows, follows, draw(st.integers(-20, 20))])))
    return old, strides[: len(old)], new


@given(reshapes())
def test_a_reshape_is_a_view_exactly_where_it_is_one_in_numpy(case):
    old, strides, new = case
    layout = Layout(Shape.smooth(old), strides=strides)
    expected = _numpy_view(old, strides, new)
    if expected is None:
        first, second = layout.reshape_obstacle(new)
        assert first < second < len(old)
        with pytest.raises(LayoutError, match=rf"mode {first} .* mode {second} "):
            layout.reshape(new)
        return
    assert layout.reshape_obstacle(new) is None
    reshaped = layout.reshape(new)
    assert np.array_equal(reshaped.to_numpy(), layout.to_numpy().reshape(new))
    wide = [mode for mode, n in enumerate(new) if n > 1]
    assert [reshaped.strides[m] for m in wide] == [expected[m] for m in wide]


@pytest.mark.parametrize(
    ("shape", "strides", "new", "expected"),
    [
        ((3, 2, 2), (4, 2, 1), (6, 2), (2, 1)),
        ((3, 2, 2), (4, 2, 1), (3, 4), (4, 1)),
        ((3, 2, 2), (5, 2, 1), (3, 4), (5, 1)),
        ((4, 5, 8), (50, 10, 1), (20, 8), (10, 1)),
        ((4, 5, 8), (50, 10, 1), (20, 8, 1, 1), (10, 1)),
        ((4, 5, 8), (50, 10, 1), (1, 1, 20, 8), (10, 1)),
        ((845,), (1,), (169, 5), (5, 1)),
        ((10, 1, 18, 2), (36, 36, 2, 1), (10, 4, 9), (36, 9, 1)),
        ((13, 13, 5, 1), (1625, 125, 25, 1), (845, 1), (25,)),
        ((1,), (1,), (1, 1), ()),
    ],
)
def test_the_reshapes_of_padded_layouts(shape, strides, new, expected):
    reshaped = Layout(Shape(*shape), strides=strides).reshape(new)

    assert tuple(s for s, n in zip(reshaped.strides, new, strict=True) if n > 1) == expected


@given(st.lists(st.integers(1, 4), min_size=1, max_size=3), st.data())
def test_splitting_and_merging_modes_undo_each_other(sizes, data):
    layout = Layout(Shape.smooth(sizes))
    mode = data.draw(st.integers(0, len(sizes) - 1))
    extent = sizes[mode]
    inner = data.draw(st.sampled_from([d for d in range(1, extent + 1) if extent % d == 0]))
    split = layout.split_mode(mode, (extent // inner, inner))

    assert np.array_equal(
        split.to_numpy(), layout.to_numpy().reshape(*sizes[:mode], extent // inner, inner, *sizes[mode + 1 :])
    )
    assert np.array_equal(split.merge_modes(mode, mode + 1).to_numpy(), layout.to_numpy())


def test_a_repeated_mode_splits_into_repetition_and_whole():
    split = Layout(Shape(3)).repeat([2]).split_mode(0, (2, 3))

    assert split.strides == (0, 1)
    assert Layout(Shape(3)).repeat_each(0, 2).split_mode(0, (3, 2)).strides == (1, 0)


@pytest.mark.parametrize(
    ("operate", "error", "text"),
    [
        (lambda x: x.rotate([1]), RankError, "one entry per mode, 2"),
        (lambda x: x.repeat([1, -1]), ExtentError, "negative"),
        (lambda x: x.gather(0, [3]), OutOfBoundsError, r"position 3 is outside mode 0, .* extent 3"),
        (lambda x: x.gather(2, [0]), RankError, "mode 2"),
        (lambda x: x.gather(0, [[0]]), RankError, "one axis"),
        (lambda x: x.squeeze(0), ExtentError, "mode 0 has extent 3"),
        (lambda x: x.sliding_window(1, 5), ExtentError, "1 to 4, not 5"),
        (lambda x: x.sliding_window(1, 0), ExtentError, "1 to 4, not 0"),
        (lambda x: x.rotate([0, 1]).sliding_window(1, 2), LayoutError, "mode 1 has no single stride"),
        (lambda x: x.diagonal(0, 0), RankError, "two different modes"),
        (lambda x: x.split_mode(0, (2, 2)), ExtentError, r"extent 3 does not split into \(2, 2\)"),
        (lambda x: x.rotate([0, 1]).split_mode(1, (2, 2)), LayoutError, "mode 1"),
        (lambda x: x.permute((1, 0)).merge_modes(0, 1), LayoutError, r"modes 0 to 1, of extents \(4, 3\)"),
        (lambda x: x.merge_modes(1, 0), RankError, "from 1 to 0"),
        (lambda x: x.reshape((5,)), ExtentError, "12"),
        (lambda x: x.broadcast((2, 4)), LayoutError, "mode 0"),
        (lambda x: x.rotate([1, 1]).broadcast((2, 4)), LayoutError, "mode 0"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(operate, error, text):
    with pytest.raises(error, match=text):
        operate(Layout(Shape(3, 4)))


@pytest.mark.parametrize("turn", [(0, 0), (0, 1)])
def test_no_indices_of_an_empty_layout_have_no_offsets(turn):
    layout = Layout(Shape(0, 3)).rotate(turn)

    assert layout.offsets_of(np.empty((0, 2), dtype=np.int64)).tolist() == []
    assert layout.to_numpy().shape == (0, 3)


def test_a_base_beyond_64_bits_is_refused_and_not_wrapped():
    layout = Layout(Shape(0, 3), offset=2**70)

    with pytest.raises(SizeOverflowError, match="64 bits"):
        layout.offsets_of(np.empty((0, 2), dtype=np.int64))
    assert Layout(Shape(2), offset=2**70).rotate([1]).offset_of((0,)) == 2**70 + 1


@st.composite
def cycles(draw):
    """Layouts of one mode that was turned, repeated and held."""
    layout = Layout(Shape(draw(st.sampled_from([2, 3, 4, 6]))), strides=(draw(st.sampled_from([-2, 1, 3])),))
    for _ in range(draw(st.integers(1, 3))):
        layout = draw(
            st.sampled_from(
                [layout.rotate([2]), layout.repeat([2]), layout.repeat_each(0, 2), layout.reverse()]
            )
        )
    return layout


@settings(max_examples=300)
@given(cycles(), st.data())
def test_w4_a_long_mode_is_split_by_rule_as_a_short_one_by_looking(layout, data):
    extent = layout.shape.extent(0)
    inner = data.draw(st.sampled_from([n for n in range(1, extent + 1) if extent % n == 0]))
    counts = data.draw(st.sampled_from([(extent // inner, inner), (1, extent // inner, inner)]))
    (axis,) = layout.implementation.mode_maps("this")[1]
    if is_sum(axis, counts):
        assert layout.split_mode(0, counts).to_numpy().ravel().tolist() == layout.to_numpy().tolist()


def test_w4_modes_of_any_length_are_split_or_refused():
    long = Layout(Shape(2**40))
    tracemalloc.start()
    thrice = long.repeat([3]).split_mode(0, (3, 2**40))
    assert thrice.strides == (0, 1)
    held = long.repeat_each(0, 8).split_mode(0, (2**20, 2**20, 8))
    assert held.strides == (2**20, 1, 0)
    turned = long.rotate([2**20]).split_mode(0, (2**20, 2**20))
    assert turned.offset_of((0, 5)) == 2**40 - 2**20 + 5
    with pytest.raises(LayoutError, match="more than 1048576 positions it is decided by rule"):
        long.rotate([1]).split_mode(0, (2**20, 2**20))
    assert tracemalloc.get_traced_memory()[1] < 100_000
    tracemalloc.stop()
