"""Faults that were found from outside, each of which lost a null, made one, or gave a wrong number."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError, DTypeError

BOX = tw.nullable(np.arange(6.0).reshape(2, 3), [[True, False, True], [True, True, True]])
NAN = tw.nullable([[np.nan, 1.0, 3.0], [2.0, np.nan, 0.0]], [[True, True, False], [True, True, True]])

WITHOUT_NAN = {
    "sum": (lambda: np.nansum(BOX, axis=-1), [2.0, 12.0]),
    "max": (lambda: np.nanmax(BOX, axis=0), [3.0, 4.0, 5.0]),
    "mean": (lambda: np.nanmean(BOX, axis=0), [1.5, 4.0, 3.5]),
    "places": (lambda: np.nanargmin(BOX, axis=-1), [0, 0]),
    "places beside NaN": (lambda: np.nanargmax(NAN, axis=1), [1, 0]),
    "least beside NaN": (lambda: np.nanmin(NAN, axis=1), [1.0, 0.0]),
    "median": (lambda: np.nanmedian(NAN, axis=1), [1.0, 1.0]),
    "nothing": (lambda: np.nansum(tw.nullable(np.zeros((0, 3))), axis=-1), []),
    "masked": (lambda: np.nanmax(BOX, axis=1, where=BOX > 2, initial=-1), [-1.0, 5.0]),
    "mean of some": (lambda: np.mean(BOX, axis=0, where=BOX >= 0), [1.5, 4.0, 3.5]),
    "all elements": (lambda: np.sort(BOX, axis=None), [0.0, 2.0, 3.0, 4.0, 5.0, None]),
    "all summed up": (lambda: np.cumsum(BOX), [0.0, None, 2.0, 5.0, 9.0, 14.0]),
}


@pytest.mark.parametrize("name", WITHOUT_NAN)
def test_functions_of_boxes_go_along_their_axis(name):
    call, right = WITHOUT_NAN[name]
    assert call().tolist() == right


MOVED = {
    "take_along_axis": lambda t, k: np.take_along_axis(t, k, -1),
    "flip": lambda t, _: np.flip(t, 0),
    "transpose": lambda t, _: np.transpose(t),
    "vstack": lambda t, _: np.vstack([t, np.ones((1, 3))]),
    "reshape": lambda t, _: np.reshape(t, (3, 2)),
    "take": lambda t, _: np.take(t, [2, 0], axis=1),
    "roll": lambda t, _: np.roll(t, 1),
    "repeat": lambda t, _: np.repeat(t, 2, axis=0),
    "tile": lambda t, _: np.tile(t, 2),
    "ravel": lambda t, _: np.ravel(t),
}


@pytest.mark.parametrize("name", MOVED)
def test_functions_that_move_elements_move_nulls(name):
    order = np.argsort(BOX.fill_null(99), axis=-1)
    objects = np.array(BOX.tolist(), object)
    assert MOVED[name](BOX, order).tolist() == MOVED[name](objects, order).tolist()


@pytest.fixture
def arrays():
    pa, pd = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    return [pa.array([1.5, None]), pd.array([1.5, None], dtype="Float64")]


def test_nulls_of_other_libraries_are_operands_and_values(arrays):
    for given in arrays:
        t = tw.nullable(np.zeros(2))
        t[:] = given
        assert t.tolist() == [1.5, None]
        t[[1, 0]] = given
        assert t.tolist() == [None, 1.5]
        assert np.add(tw.nullable(np.ones(2)), tw.as_tensor(given)).tolist() == [2.5, None]
        plain = tw.as_tensor(np.ones(2))
        for write in (lambda t, x: t.assign(x), lambda t, x: t.__setitem__([0, 1], x)):
            with pytest.raises(ConversionError, match="null"):
                write(plain, given)
        with pytest.raises(ConversionError, match="null"):
            tw.concat([plain, plain])[:2] = given
        assert plain.tolist() == [1.0, 1.0]
    # An array of pandas answers operators itself.
    assert (tw.nullable(np.ones(2)) + arrays[0]).tolist() == [2.5, None]
    assert (tw.as_tensor([5, 6]) > arrays[0]).tolist() == [True, None]


def test_a_hidden_truth_value_is_none():
    with pytest.raises(DTypeError, match="mask"):
        tw.nullable([1.0, 2.0], np.ma.masked_array([True, True], [0, 1]))


def test_lists_of_nulls_take_on_the_type_that_is_known(tmp_path):
    assert tw.jagged([[None], []], dtype="f4").tolist() == [[None], []]
    t = tw.nullable(np.zeros(2, "u8"))
    t[:] = [None, 1]
    assert t.tolist() == [None, 1]
    with tw.open(tmp_path / "x.tens", "w") as file:
        file.extend("x", tw.nullable(tw.jagged([[1.0], []])))
        file.extend("x", [[None], []])
        assert file["x"].tolist() == [[1.0], [], [None], []]
    assert tw.jagged([tw.as_tensor([1, None]), [3]]).tolist() == [[1, None], [3]]


def test_a_null_in_a_mask_chooses_no_string():
    words = tw.strings(["a", None, "c"])
    mask = tw.as_tensor([True, None, False])
    assert tw.where(mask, words, words).tolist() == ["a", None, "c"]
    assert np.where(mask, words, "x").tolist() == ["a", None, "x"]


def test_big_endian_elements_go_out():
    ak = pytest.importorskip("awkward")
    t = tw.nullable(np.array([1, 2], ">i4"), [True, False])
    assert ak.to_list(t.to_awkward()) == [1, None]


def test_advice_for_rows_is_what_works():
    rows = tw.jagged([[1, None], [2]])
    with pytest.raises(ConversionError, match="fill_null") as refused:
        rows.to_padded()
    assert "to_masked" not in str(refused.value)
    assert rows.fill_null(0).to_padded().tolist() == [[1, 0], [2, 0]]
