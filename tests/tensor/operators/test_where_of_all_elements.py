"""``where=`` and ``out=`` mean one thing: along rows, of all elements, of boxes, of masks with nulls."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import DTypeError, ExtentMismatchError, SizeOverflowError

FUNCTIONS = [np.sum, np.prod, np.mean, np.any, np.all, np.std, np.var, np.nansum, np.nanmean]
LENGTHS = st.lists(st.integers(0, 3), min_size=1, max_size=5)


def rows_of(values, lengths):
    return tw.as_tensor(np.asarray(values)).unflatten(lengths)


def same(found, wanted):
    np.testing.assert_allclose(np.asarray(found), wanted)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(LENGTHS, st.data())
def test_a_mask_marks_elements_of_its_own_rows(lengths, data):
    count = sum(lengths)
    values = np.arange(1.0, count + 1)
    flags = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)), bool)
    valid = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)), bool)
    of_rows = np.array(data.draw(st.lists(st.booleans(), min_size=len(lengths), max_size=len(lengths))), bool)
    rows = rows_of(values, lengths)
    masks = {
        "rows": (rows_of(flags, lengths), flags),
        "rows with nulls": (tw.nullable(rows_of(flags, lengths), rows_of(valid, lengths)), flags & valid),
        "one per row": (of_rows, np.repeat(of_rows, lengths)),
        "a tensor, one per row": (tw.as_tensor(of_rows), np.repeat(of_rows, lengths)),
        "a number": (True, np.ones(count, bool)),
    }
    function = data.draw(st.sampled_from(FUNCTIONS))
    for operand in (rows, sel.as_view(rows), tw.nullable(rows)):
        for mask, marked in masks.values():
            same(function(operand, where=mask), function(values[marked]))
            same(np.add.reduce(operand, axis=None, where=mask), values[marked].sum())


@given(LENGTHS, LENGTHS)
def test_masks_of_other_rows_are_refused(lengths, others):
    if lengths == others:
        return
    rows, mask = rows_of(np.ones(sum(lengths)), lengths), rows_of(np.ones(sum(others), bool), others)
    for function in FUNCTIONS:
        for axis in (None, -1):
            with pytest.raises(ExtentMismatchError):
                function(rows, axis=axis, where=mask)


@given(st.lists(st.sampled_from([True, False, None]), min_size=6, max_size=6))
def test_a_null_in_the_mask_of_a_box_marks_nothing(flags):
    values = np.arange(1.0, 7.0).reshape(2, 3)
    known = np.array([flag is True for flag in flags]).reshape(2, 3)
    mask = tw.nullable(known, np.array([flag is not None for flag in flags]).reshape(2, 3))
    for box in (tw.as_tensor(values), tw.nullable(values), tw.as_tensor(values.T.copy()).permute((1, 0))):
        for axis in (None, 0, 1, -1, (0, 1)):
            same(np.add.reduce(box, axis=axis, where=mask), np.add.reduce(values, axis=axis, where=known))
            same(np.sum(box, axis=axis, where=mask), np.sum(values, axis=axis, where=known))
    out = tw.as_tensor(values.copy())
    np.add(out, 10, out=out, where=mask)
    same(out, np.where(known, values + 10, values))


def test_out_is_written_wherever_it_lies():
    rows = tw.jagged([[1.0, 2.0], [], [3.0]])
    for out in (
        tw.as_tensor(np.zeros(6))[::2],
        tw.zeros((3,))[::-1],
        tw.as_tensor(np.zeros((3, 2))).permute((1, 0))[0],
        tw.zeros((3,)).gather(0, [2, 0, 1]),
        sel.as_view(tw.zeros((3,))),
        np.zeros(3),
    ):
        assert np.cumsum(rows, out=out) is out
        assert out.tolist() == [1.0, 3.0, 6.0]
    number = tw.zeros(())
    assert np.sum(rows, out=number) is number
    assert number.item() == 6.0


def test_out_is_of_the_shape_and_type_of_the_result():
    rows = tw.jagged([[1.0, 2.0], [], [3.0]])
    with pytest.raises(ExtentMismatchError, match="out="):
        np.cumsum(rows, out=tw.jagged([[0.0], [0.0, 0.0]]))
    with pytest.raises(DTypeError):
        np.sum(rows + 0.5, out=np.zeros((), "i4"))
    with pytest.raises(SizeOverflowError):
        np.sum(tw.jagged([[100], [100]]), out=np.zeros((), "i1"))
