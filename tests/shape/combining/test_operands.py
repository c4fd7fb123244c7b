"""Which operands fit: brute force over all indices of small shapes says what must come out."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper
from tensorwrapper import Shape, Tiling
from tensorwrapper.errors import ExtentMismatchError, LayerError, ModeNameError
from tensorwrapper.shape.combining._operands import (
    UnplacedShape,
    check_same_rows,
    element_splits,
    fit_operands,
)

J = Shape.jagged
ROWS = [
    *[
        J(rows)
        for rows in ([2, 0, 1], [2, 0], [2, 0, 0], [0, 0], [2, 2], [1], [[2, 1], [], [1]], [[2, 1], [1]])
    ],
    J([], rank=2),
    J([2, 0, 1], origin=(5, 0)),
    J([0, 0], origin=(0, 3)),
    J([Shape(1, 2), Shape(2, 1)]),
    J([Shape(1, 2, origin=(3, 0)), Shape(2, 1, origin=(0, 4))]),
    Shape.triangular(2),
    Tiling([1, 2], [2, 1]).shape,
]
BOXES = [
    Shape(*own) for own in ((), (1,), (2,), (3,), (2, 2), (3, 1), (2, 1), (1, 1), (3, 0), (2, 0), (2, 1, 1))
]
PLACED = [Shape(3, origin=(5,)), Shape(2, 2, origin=(0, 3))]


def table(shape, modes):
    """Return the origin and the extent of every prefix of fewer than so many indices."""
    if modes == 0:
        return [((), shape.origin_at(()), shape.extent_at(()))] if shape.rank else []
    found = table(shape, modes - 1)
    if modes < shape.rank:
        prefixes = [
            (*p, n) for p, start, extent in found if len(p) == modes - 1 for n in range(start, start + extent)
        ]
        found = found + [(p, shape.origin_at(p), shape.extent_at(p)) for p in prefixes]
    return found


def extents_below(shape):
    """Return the extents of a shape at every prefix, counted from zero."""
    rows = table(shape, shape.rank)
    starts = {prefix: start for prefix, start, _ in rows}

    def at_zero(prefix):
        return tuple(index - starts[prefix[:mode]] for mode, index in enumerate(prefix))

    return {at_zero(prefix): extent for prefix, _, extent in rows}


def origins_below(shape):
    return {prefix: start for prefix, start, _ in table(shape, shape.rank)}


def fits(operand, reference, modes):
    """Tell whether an operand has the first modes of a reference, by all that both have at each prefix."""
    leading = reference if modes == reference.rank else reference.leading(modes)
    if isinstance(operand, tuple):
        operand, placed = Shape(*operand), False
    else:
        placed = True
    dropped = operand.rank - modes
    if dropped and (operand.rank != reference.rank or any(n != 1 for n in operand.extents[modes:])):
        return False
    if operand.is_box and not leading.is_box and any(not n for n in operand.extents[: modes - 1]):
        # Rows that are not there have no extents to compare.
        return extents_below(leading) == extents_below(Shape(*operand.extents[:modes]))
    own = operand if not dropped else Shape(*operand.extents[:modes], origin=operand.origin[:modes])
    if extents_below(own) != extents_below(leading):
        return False
    return not placed or origins_below(own) == origins_below(leading)


@given(
    reference=st.sampled_from(ROWS),
    operand=st.sampled_from([*ROWS, *BOXES, *PLACED, *[own.extents for own in BOXES]]),
)
def test_operands_have_all_modes_or_the_first(reference, operand):
    rank = len(operand) if isinstance(operand, tuple) else operand.rank
    if rank > reference.rank or (
        not isinstance(operand, tuple) and not operand.is_box and rank == reference.rank
    ):
        wanted = (
            [rank]
            if not isinstance(operand, tuple) and rank == reference.rank and fits(operand, reference, rank)
            else []
        )
    else:
        counts = [rank] if rank < reference.rank else range(rank, 0, -1)
        wanted = [modes for modes in counts if rank and fits(operand, reference, modes)]
    if not rank:
        wanted = [0]
    try:
        shape, modes = fit_operands([reference, operand], "add")
    except ExtentMismatchError:
        assert not wanted or rank > reference.rank
        return
    if not isinstance(operand, tuple) and rank > reference.rank:
        return  # The operand is the reference then.
    assert shape == reference
    assert modes[0] == reference.rank
    assert modes[1] == wanted[0]


@given(given=st.lists(st.sampled_from([own.extents for own in BOXES]), min_size=1, max_size=3))
def test_boxes_broadcast_as_numpy_does(given):
    try:
        wanted = np.broadcast_shapes(*given)
    except ValueError:
        with pytest.raises(ExtentMismatchError):
            fit_operands(given, "add")
    else:
        shape, modes = fit_operands(given, "add")
        assert (shape, modes) == (Shape(*wanted), None)


REFUSED = [
    (J([2, 0]), J([2, 0, 0])),
    (J([2, 0, 0]), J([2, 0])),
    (J([0, 0]), J([0, 0], origin=(0, 3))),
    (J([0, 0]), Shape(3, 0)),
    (J([[2], [0]]), J([[2], [0, 0]])),
    (J([2, 0, 3]), (1,)),
    (J([2, 0, 3]), Shape(1, 1)),
    (J([2, 0, 3]), J([1, 1, 1])),
    (Tiling([2], [0, 1]).shape, Tiling([2], [1, 0]).shape),
    (J([2, 1], origin=(5, 0)), Shape(2)),
]


@pytest.mark.parametrize(("one", "other"), REFUSED, ids=str)
def test_rows_that_only_hold_the_same_indices_are_refused(one, other):
    for operands in itertools.permutations([one, other]):
        with pytest.raises(ExtentMismatchError, match="add: "):
            fit_operands(list(operands), "add")


def test_names_and_layers_are_agreed_on():
    rows = J([2, 1])
    assert fit_operands([rows.named("a", None), rows.named(None, "b")], "add")[0] == rows.named("a", "b")
    nested = Shape.nested(rows, layers=(1, 1))
    assert fit_operands([rows, nested], "add") == (nested, [2, 2])
    with pytest.raises(ModeNameError, match="'a' in one operand and 'b' in another"):
        fit_operands([rows.named("a", None), rows.named("b", None)], "add")
    with pytest.raises(LayerError, match="flatten"):
        fit_operands([Shape.nested(Shape(2, 3), layers=(1, 1)), (4, 1, 1)], "add")


def test_rows_that_lie_nowhere_lie_where_others_do():
    there = J([2, 0, 1], origin=(5, 0))
    for operands in itertools.permutations([UnplacedShape(J([2, 0, 1])), there]):
        assert fit_operands(list(operands), "add") == (there, [2, 2])
    with pytest.raises(ExtentMismatchError, match="lies elsewhere"):
        fit_operands([J([2, 0, 1]), there], "add")


def test_equal_rows_are_told_by_extents_and_origins():
    check_same_rows(Shape.triangular(2), J([1, 2]), "stack")
    with pytest.raises(ExtentMismatchError, match="stack: "):
        check_same_rows(J([2]), J([2, 0]), "stack")


@given(shape=st.sampled_from([*ROWS, *BOXES]))
def test_splits_count_the_elements_under_each_prefix(shape):
    indices = list(shape.indices())
    for modes in range(1, shape.rank):
        prefixes = list(shape.leading(modes).indices())
        counts = [sum(index[:modes] == prefix for index in indices) for prefix in prefixes]
        assert element_splits(shape, modes).tolist() == [0, *np.cumsum(counts)]


def test_empty_cells_of_other_extents_are_said_to_be_that():
    one, other = (Shape.jagged([Shape(2, 1), Shape(0, extent)]) for extent in (3, 0))
    moved = Shape.jagged([Shape(2, 1), Shape(0, 3, origin=(1, 0))])
    for left, right, text in (
        (one, other, "empty cells of other extents"),
        (other.translate_to((4, 0, 0)), one, "empty cells of other extents"),
        (moved, one, "lies elsewhere"),
    ):
        with pytest.raises(ExtentMismatchError, match=text):
            fit_operands([left, right], "where")
    t, u = (tensorwrapper.zeros(own) for own in (one, other))
    assert (tensorwrapper.from_buffer(t.elements(), u.shape) + u).shape == u.shape


def test_a_refusal_lists_no_cells(monkeypatch):
    one, two = [tensorwrapper.from_buffer(np.ones(6), J(rows)) for rows in ([1, 2, 3], [3, 2, 1])]

    def listed(shape):
        raise AssertionError(shape)

    monkeypatch.setattr(type(one.shape), "cell_table", listed)
    with pytest.raises(ExtentMismatchError, match="nor that of its first modes"):
        one + two
