"""What stands beside sparse tensors: tensors and views by one rule, and refused when a view is written."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, TensorWrapperError

ROWS = Shape.jagged([2, 1])
OPERANDS = {
    "sparse": tw.sparse([(0, 0)], [1.0], Shape(2, 2)),
    "other places": tw.sparse([(0, 1)], [3.0], Shape(2, 2)),
    "another fill": tw.sparse([(0, 1)], [3.0], Shape(2, 2), fill_value=2.0),
    "integers": tw.sparse([(0, 1)], [3], Shape(2, 2)),
    "a row": tw.sparse([(1,)], [5.0], Shape(2)),
    "rows": tw.sparse([(0, 0)], [6.0], ROWS),
    "rows of another fill": tw.sparse([(0, 0)], [6.0], ROWS, fill_value=2.0),
    "dense": tw.as_tensor([[1.0, 2.0], [3.0, 4.0]]),
    "dense rows": tw.jagged([[1.0, 2.0], [3.0]]),
    "an array": np.ones(2),
    "5": 5.0,
    "the fill": 0.0,
    "a number": tw.as_tensor(1.5),
    "a sparse number": tw.sparse([()], [7.0], Shape()),
    "an element": tw.sparse([(0, 1)], [1.25], Shape(2, 2), fill_value=2.0)[0, 1],
}
MASKS = {
    "sparse": OPERANDS["sparse"] > 0,
    "true as a rule": OPERANDS["another fill"] < 3,
    "dense": np.array([[True, False], [False, True]]),
    "an array": np.array([True, False]),
    "dense rows": OPERANDS["dense rows"] > 1,
    "rows": OPERANDS["rows"] > 1,
    "a row": OPERANDS["a row"] > 1,
}


def _found(call):
    """Return the shape, kind and elements of a result, or the error."""
    try:
        found = tw.as_tensor(call())
    except TensorWrapperError as error:
        return error
    fill = found.fill_value if found.is_sparse else None
    return found.shape, found.dtype, fill, found.elements().tolist()


def _compare(of_tensors, view):
    expected = _found(of_tensors)
    try:
        made = view()
    except TensorWrapperError:
        assert isinstance(expected, TensorWrapperError)
        return
    # What is written is computed.
    assert _found(made.compute) == expected


@pytest.mark.parametrize("first", OPERANDS)
@pytest.mark.parametrize(("name", "ufunc"), [("minimum", np.minimum), ("maximum", np.maximum)])
def test_an_extreme_that_is_written_is_that_of_tensors(first, name, ufunc):
    for second in OPERANDS.values():
        given = OPERANDS[first], second
        if all(isinstance(own, float | np.ndarray) for own in given):
            continue
        _compare(lambda own=given: ufunc(*own), lambda own=given: getattr(sel, name)(*own))


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("first", OPERANDS)
def test_a_choice_that_is_written_is_that_of_tensors(mask, first):
    for second in OPERANDS.values():
        given = MASKS[mask], OPERANDS[first], second
        if (
            all(isinstance(own, float | np.ndarray) for own in given)
            or OPERANDS["a number"] is given[1] is second
        ):
            continue  # nothing is chosen of a number and itself
        _compare(lambda own=given: np.where(*own), lambda own=given: sel.where(*own))


def test_tensors_choose_by_dense_masks_and_compute_fills():
    one, other, far = (OPERANDS[name] for name in ("sparse", "other places", "another fill"))
    for mask in (MASKS["dense"], MASKS["an array"], tw.as_tensor(MASKS["dense"])):
        found = np.where(mask, one, other)
        assert found.is_sparse
        expected = np.where(np.asarray(mask), np.asarray(one.to_dense()), np.asarray(other.to_dense()))
        assert found.to_dense().tolist() == expected.tolist()
        with pytest.raises(ConversionError, match=r"a dense mask makes .* of fills 0\.0 and 2\.0"):
            np.where(mask, one, far)
    assert np.where(MASKS["sparse"], one, far).fill_value == 2
    assert np.where(MASKS["true as a rule"], one, far).fill_value == 0


def test_rows_take_one_sparse_number_each():
    found = OPERANDS["rows"] + OPERANDS["a row"]
    assert found.is_sparse
    assert found.tolist() == [[6.0, 0.0], [5.0]]
    deep = tw.sparse([(1, 0, 1)], [7.0], Shape.jagged([[2, 1], [3]]))
    of_first = tw.sparse([(1,)], [5.0], Shape(2), fill_value=1.0)
    assert (deep * of_first).tolist() == [[[0.0, 0.0], [0.0]], [[0.0, 35.0, 0.0]]]
    assert (deep + of_first).tolist() == [[[1.0, 1.0], [1.0]], [[5.0, 12.0, 5.0]]]


def test_a_choice_of_sparse_times_makes_no_date_of_a_duration():
    dates = tw.sparse([(0,)], np.array(["2020-01-01"], "M8[D]"), Shape(2))
    durations = tw.sparse([(0,)], np.array([1], "m8[D]"), Shape(2))
    with pytest.raises(TensorWrapperError, match="no type in common"):
        np.where(tw.sparse([(1,)], [True], Shape(2)), dates, durations)


@pytest.mark.parametrize(
    "write",
    [
        lambda s, d: sel.concat([sel.as_view(s)[::-1], sel.minimum(d, d[::-1])]),
        lambda s, d: sel.stack([sel.minimum(s, s), sel.as_view(d).astype("f4")]),
        lambda s, d: sel.minimum(sel.concat([s, s])[:2], d),
        lambda s, _: sel.concat([sel.as_view(s) * 1.0, sel.full((1, 2), 3.0)]),
        lambda s, _: sel.concat([s, sel.maximum(s, 1.0)]),
        lambda s, _: sel.concat([sel.maximum(s, 1.0), s[:1]]),
        lambda s, _: sel.stack([s, sel.where(s > 0, s, 2.0)]),
        lambda s, _: sel.where(np.ones((2, 2), bool), sel.maximum(s, 1.0), s),
        lambda s, _: sel.pad(sel.maximum(s, 1.0), [(1, 0), (0, 0)]),
        lambda s, _: sel.maximum(s, 1.0).pad_rows(4),
        lambda s, _: sel.minimum(s, sel.concat([sel.full((1, 2), 1.0), sel.full((1, 2), 0.0)])),
    ],
)
def test_what_is_deeper_is_refused_when_it_is_written(write):
    with pytest.raises(ConversionError):
        write(OPERANDS["sparse"], OPERANDS["dense"])


def test_fills_are_compared_as_the_type_of_the_result():
    half = tw.sparse([(0, 1)], [1.5], (2, 2), fill_value=2.5)
    whole = tw.sparse([(0, 1)], [1], (2, 2), fill_value=2)
    assert sel.minimum(sel.as_view(half + 0j).astype("f8"), half).compute().fill_value == 2.5
    cast = sel.as_view(half).astype("i4")
    assert sel.minimum(cast.astype("f8"), whole).compute().fill_value == 2
    assert sel.concat([cast, whole]).compute().to_dense().tolist() == [[2, 1], [2, 2]] * 2
    with pytest.raises(ConversionError, match=r"fills 2\.5 and 2\.0"):
        sel.concat([half, whole])
    assert sel.minimum(half, whole).compute().fill_value == 2


def test_padding_of_sparse_tensors_is_their_fill():
    far = OPERANDS["another fill"]
    for given in (far, sel.as_view(far)):
        with pytest.raises(ConversionError, match=r"pad .* fills 2\.0 and 0\.0: `fill_value=s\.fill_value`"):
            given.pad([(1, 0), (0, 1)])
        padded = given.pad([(1, 0), (0, 1)], fill_value=given.fill_value)
        assert (padded.compute().nnz, padded.tolist()) == (1, [[2, 2, 2], [2, 3, 2], [2, 2, 2]])
        assert padded.compute().fill_value == padded[:1].compute().fill_value == 2
    with pytest.raises(ConversionError, match="pad_rows"):
        sel.pad_rows(OPERANDS["rows of another fill"], 3)
    rows = sel.pad_rows(OPERANDS["rows of another fill"], 3, fill_value=2)
    assert (rows.compute().nnz, rows.tolist()) == (1, [[6, 2, 2], [2, 2, 2]])


def test_what_shows_nothing_of_sparse_operands_is_sparse():
    mask = sel.pad(MASKS["sparse"], [(2, 0), (0, 0)], fill_value=False)
    view = sel.where(mask, 1.0, 2.0)
    assert view.compute().to_dense().tolist() == [[2, 2], [2, 2], [1, 2], [2, 2]]
    assert view[:2].is_sparse
    assert (view[:2].compute().nnz, view[:2].tolist()) == (0, [[2, 2], [2, 2]])


def test_what_sparse_rows_are_put_together_to_has_its_fill_when_it_is_written():
    rows, far = OPERANDS["rows"], OPERANDS["rows of another fill"]
    greatest = sel.maximum(rows, far)
    with pytest.raises(ConversionError, match=r"pad_rows makes .* fills 2\.0 and 0\.0"):
        greatest.pad_rows(3)
    with pytest.raises(ConversionError, match=r"concat makes .* fills 2\.0 and 0\.0"):
        sel.concat([greatest, rows])
    assert greatest.pad_rows(3, fill_value=2).compute().tolist() == [[6, 2, 2], [2, 2, 2]]


def test_an_element_that_is_repeated_is_as_sparse_as_its_tensor():
    one = tw.sparse([(0,)], [1.0], Shape(1)).repeat_each(0, 3)
    two = tw.sparse([(1,)], [3.0], Shape(3))
    mask = np.array([True, False, True])
    assert sel.where(mask, one, two).compute().to_dense().tolist() == [1, 3, 1]
    assert sel.where(mask, one, two).compute().fill_value == np.where(mask, one, two).fill_value == 0
