"""Which modes of boxes meet, by position and by name; NumPy and TensorStore are the oracles."""

import copy
import pickle

import numpy as np
import pytest
import tensorstore as ts
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import (
    ExtentMismatchError,
    JaggedModeError,
    LayerError,
    ModeNameError,
    OutOfBoundsError,
    RankError,
)
from tensorwrapper.shape import ModeAlignment, Shape, align_modes, broadcast_shapes

extents = st.lists(st.integers(0, 3), max_size=4).map(tuple)


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        (((2, 1, 1), (3,)), (2, 1, 3)),
        (((2, 10, 1), (1, 3)), (2, 10, 3)),
        (((8, 1, 6, 1), (7, 1, 5)), (8, 7, 6, 5)),
        (((), (3,)), (3,)),
        ((), ()),
        (((1,), (0,)), (0,)),
        (((5,), (5,), (1,)), (5,)),
    ],
)
def test_extents_by_position(shapes, expected):
    assert broadcast_shapes(*shapes) == Shape.smooth(expected)
    assert np.broadcast_shapes(*shapes) == expected


@given(st.lists(extents, max_size=4))
def test_positions_are_those_of_numpy(shapes):
    try:
        expected = np.broadcast_shapes(*shapes)
    except ValueError:
        with pytest.raises(ExtentMismatchError):
            broadcast_shapes(*shapes)
        return
    assert broadcast_shapes(*shapes).extents == expected


@given(st.lists(extents, max_size=3))
def test_what_is_stretched_lies_as_numpy_lays_it(shapes):
    arrays = [np.arange(np.prod(shape, dtype=int)).reshape(shape) for shape in shapes]
    try:
        expected = np.broadcast_arrays(*arrays)
    except ValueError:
        return
    plan = align_modes(*shapes)
    for number, (array, wanted) in enumerate(zip(arrays, expected, strict=True)):
        assert plan.stretch(number, tw.as_tensor(array)).tolist() == wanted.tolist()
        for index in plan.shape.indices():
            assert wanted[index] == array[plan.source_index(number, index)]


@pytest.mark.parametrize(
    ("shapes", "text"),
    [
        (
            [(2,), (0,)],
            "extent 0 of mode 0 of operand 1 does not broadcast to extent 2 of mode 0 of operand 0",
        ),
        ([(2, 3), (2, 4)], "extent 4 of mode 1 of operand 1 .* extent 3 of mode 1 of operand 0"),
        (
            [Shape(2, 3).named("x", "y"), Shape(4, 2).named("y", "x")],
            r"extent 4 of mode 0 \('y'\) of operand 1 .* extent 3 of mode 1 \('y'\) of operand 0",
        ),
    ],
)
def test_extents_that_do_not_meet(shapes, text):
    with pytest.raises(ExtentMismatchError, match=text):
        align_modes(*shapes)


def named(text):
    """``"x2 y3 _4"``: extents with names."""
    items = text.split()
    return Shape.smooth([int(i[1:]) for i in items]).named(*[None if i[0] == "_" else i[0] for i in items])


@pytest.mark.parametrize(
    ("shapes", "expected", "modes"),
    [
        # Names meet wherever they stand; those that others add come last.
        (["x2 y3", "y3 x2"], "x2 y3", ((0, 1), (1, 0))),
        (["x2", "y3 x2"], "x2 y3", ((0,), (1, 0))),
        (["x2 y1", "y3"], "x2 y3", ((0, 1), (1,))),
        (["x2", "y3", "z4 x1"], "x2 y3 z4", ((0,), (1,), (2, 0))),
        # Without names in a shape: by position, and names that meet agree.
        (["_2 _3", "y3"], "_2 y3", ((0, 1), (1,))),
        (["x2 y3", "_3"], "x2 y3", ((0, 1), (1,))),
        # Modes without a name meet among themselves, from the last one on, before the others.
        (["_2 x3", "x3 _2"], "_2 x3", ((0, 1), (1, 0))),
        (["_2 x3", "_4 x3 _2"], "_4 _2 x3", ((1, 2), (0, 2, 1))),
        (["x3", "_4 x3 _2"], "_4 _2 x3", ((2,), (0, 2, 1))),
        (["", "x3 y2"], "x3 y2", ((), (0, 1))),
    ],
)
def test_modes_by_name(shapes, expected, modes):
    plan = align_modes(*map(named, shapes))
    assert (plan.shape, plan.modes) == (named(expected), modes)


def test_names_that_meet_by_position_must_agree():
    with pytest.raises(ModeNameError, match=r"\('x'\) of operand 0 .* \('y'\) of operand 2"):
        align_modes(named("x2"), (2,), named("y2"))
    with pytest.raises(ModeNameError, match="both have the name 'x'"):
        align_modes((2, 2), named("x2"), named("x2 _2"))


# The common shape given: what TensorStore does where one store is written to another.


def tensorstore_writes(target, source):
    """Return what stands in a target of zeros after the source is written to it; None if that is refused."""

    def store(array, names):
        return ts.array(array)[ts.d[:].label[[name or "" for name in names]]] if names else ts.array(array)

    into = np.zeros(target.extents, dtype=np.int64)
    values = np.arange(1, source.size + 1).reshape(source.extents)
    try:
        store(into, target.names).write(store(values, source.names)).result()
    except ValueError:
        return None
    return into.tolist()


def we_write(target, source):
    values = np.arange(1, source.size + 1).reshape(source.extents)
    try:
        plan = align_modes(source, to=target)
    except ExtentMismatchError:
        return None
    return plan.stretch(0, tw.as_tensor(values)).tolist()


@st.composite
def boxes_with_names(draw):
    rank = draw(st.integers(0, 3))
    sizes = draw(st.lists(st.sampled_from([1, 1, 2, 3]), min_size=rank, max_size=rank))
    names = draw(st.permutations(["x", "y", "z"]))[:rank]
    bare = draw(st.lists(st.booleans(), min_size=rank, max_size=rank))
    return Shape.smooth(sizes).named(*[None if b else n for b, n in zip(bare, names, strict=True)])


@given(boxes_with_names(), boxes_with_names())
def test_writes_meet_as_in_tensorstore(target, source):
    assert we_write(target, source) == tensorstore_writes(target, source)


@pytest.mark.parametrize(
    ("target", "source", "modes"),
    [
        ("x2 y3", "y3 x2", (1, 0)),
        ("x2 y3", "y3", (1,)),
        ("x2", "y1 x2", (None, 0)),
        ("_2", "_1 _2", (None, 0)),
        ("x2 y3", "y3 z1", (1, None)),
        ("x1 y3", "y3 x1", (1, 0)),
    ],
)
def test_modes_of_extent_1_are_dropped_where_nothing_meets_them(target, source, modes):
    plan = align_modes(named(source), to=named(target))
    assert plan.modes == (modes,)
    assert plan.shape == named(target)


@pytest.mark.parametrize(
    ("target", "source", "text"),
    [
        ("x2", "y3 x2", r"extent 3 of mode 0 \('y'\) of operand 0 meets no mode"),
        ("_1", "_3", "extent 3 of mode 0 of operand 0 .* extent 1 of mode 0 of the common shape"),
        ("x2 y3", "y2", r"extent 2 of mode 0 \('y'\) .* extent 3 of mode 1 \('y'\) of the common shape"),
    ],
)
def test_the_common_shape_is_not_stretched(target, source, text):
    with pytest.raises(ExtentMismatchError, match=text):
        align_modes(named(source), to=named(target))


# Origins.


def test_all_boxes_are_taken_to_start_where_the_first_one_does():
    a, b, c = Shape(3, 1, origin=(5, 7)), Shape(3, 4, origin=(0, 2)), Shape(4, origin=(9,))
    plan = align_modes(a, b, c)

    assert plan.shape == Shape(3, 4, origin=(5, 2))
    assert plan.shifts == ((0, 7), (-5, 0), (7,))
    assert plan.stretched == ((1,), (), ())
    assert plan.added == ((), (), (0,))
    assert [plan.source_index(k, (6, 3)) for k in range(3)] == [(6, 7), (1, 3), (10,)]
    assert align_modes(a, to=Shape(3, 4)).shape == Shape(3, 4)


@given(st.lists(extents, min_size=1, max_size=3), st.data())
def test_source_indices_lie_in_their_boxes(shapes, data):
    boxes = [Shape.smooth(e, origin=data.draw(st.tuples(*[st.integers(-3, 3)] * len(e)))) for e in shapes]
    try:
        plan = align_modes(*boxes)
    except ExtentMismatchError:
        return
    for number, box in enumerate(boxes):
        reached = {plan.source_index(number, index) for index in plan.shape.indices()}
        assert reached == (set(box.indices()) if plan.shape.size else set())


def test_an_index_outside_has_no_source():
    plan = align_modes((2, 3))
    with pytest.raises(OutOfBoundsError):
        plan.source_index(0, (2, 0))
    for number in (1, -1):
        with pytest.raises(RankError, match=f"no operand {number} among 1"):
            plan.source_index(number, (0, 0))


# Applied.


def test_a_layout_is_permuted_and_stretched_without_a_copy():
    array = np.arange(6.0).reshape(2, 3)
    plan = align_modes(named("z4 x2 y1"), named("y3 x2"))
    tensor = plan.stretch(1, tw.as_tensor(array.T))

    assert tensor.shape.extents == (4, 2, 3)
    assert np.shares_memory(tensor.to_numpy(), array)
    assert tensor.to_numpy().tolist() == [array.tolist()] * 4
    assert plan.stretch(1, tw.Layout(Shape(3, 2))).strides == (0, 1, 2)


def test_what_needs_no_stretching_stays_writeable():
    tensor = tw.as_tensor(np.zeros((2, 3)))
    plan = align_modes((2, 3), (3,))
    assert plan.stretch(0, tensor) is tensor


def test_only_what_was_aligned_is_stretched():
    plan = align_modes((2, 3), (3,))
    for value in (tw.Layout(Shape(3, 3)), tw.Layout(Shape.jagged([1, 2]))):
        with pytest.raises(ExtentMismatchError, match=r"aligned with the extents \(2, 3\)"):
            plan.stretch(0, value)


def test_boxes_without_layers_are_aligned():
    with pytest.raises(JaggedModeError, match="align"):
        align_modes(Shape.jagged([1]))
    with pytest.raises(LayerError, match="flatten"):
        align_modes(Shape.nested(Shape(1), layers=(1,)))


def test_an_alignment_is_a_value():
    plan, same = (align_modes(named("x2 y1"), named("y3")) for _ in range(2))
    assert plan == same
    assert hash(plan) == hash(same)
    assert plan != align_modes(named("x2 y1"), named("y1"))
    for twin in (pickle.loads(pickle.dumps(plan)), copy.deepcopy(plan)):
        assert type(twin) is ModeAlignment
        assert twin == plan
