"""Reductions of symmetric tensors, against those of all their elements."""

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, RankError
from tensorwrapper.shape import Symmetry
from tensorwrapper.tensor.operators import _orbit_reductions
from tests.support.symmetry import extents_of, symmetric_data, symmetries, water_integrals

FUNCTIONS = [np.sum, np.max, np.min, np.mean, np.prod, np.any, np.all, np.count_nonzero, np.linalg.norm]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(symmetries(4), st.sampled_from(FUNCTIONS), st.sampled_from(["f8", "i8", "c16", "i1"]), st.data())
def test_reductions_equal_those_of_all_elements(drawn, function, dtype, data):
    s = drawn[2]
    dtype = "c16" if s.real.is_zero else dtype
    x = symmetric_data(s, extents_of(s, data, 3), data.draw(st.integers(0, 99)), np.dtype(dtype).type, most=2)
    t = tw.as_tensor(x).to_packed(s)
    if x.ndim and data.draw(st.booleans()) and x.shape[0]:
        t, x = t[: x.shape[0] - 1], x[: x.shape[0] - 1]
    axis = None
    if data.draw(st.booleans()) and x.ndim:
        modes = data.draw(st.sets(st.integers(0, x.ndim - 1), min_size=1, max_size=x.ndim))
        axis = tuple(sorted(modes))
    if function is np.linalg.norm:
        found = function(t, axis=None if axis is None else axis[:1])
        expected = np.sqrt(np.sum(np.abs(x.astype(complex)) ** 2, axis=None if axis is None else axis[:1]))
        np.testing.assert_allclose(np.asarray(found), expected)
        return
    keep = data.draw(st.booleans())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_orbit_reductions, "_PART", data.draw(st.sampled_from([2, 1 << 22])))
        try:
            expected = function(x, axis=axis, keepdims=keep)
        except ValueError:
            with pytest.raises(ValueError, match=r"identity|nothing"):
                function(t, axis=axis, keepdims=keep)
            return
        found = np.asarray(function(t, axis=axis, keepdims=keep))
    assert found.dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("odd", [np.inf, np.nan])
def test_elements_that_are_not_finite(odd):
    x = np.array([[0.0, odd, 1.0], [-odd, 0.0, 2.0], [-1.0, -2.0, 0.0]])
    t = tw.as_tensor(x).to_packed("a2")
    for function in (np.sum, np.max, np.min, np.mean, np.linalg.norm):
        np.testing.assert_array_equal(function(t), function(x))
        np.testing.assert_array_equal(function(t, axis=0), function(x, axis=0))


def test_water():
    t = tw.from_packed(water_integrals(), "s8", (7,) * 4)
    assert np.sum(t) == pytest.approx(105.2058636756)
    assert np.sum(t.packed_values()) == pytest.approx(38.9851317348)
    assert np.linalg.norm(t) == pytest.approx(8.1571456564)
    np.testing.assert_allclose(np.sum(t, axis=(2, 3)), np.asarray(t.to_dense()).sum(axis=(2, 3)))


def test_options():
    x = symmetric_data(Symmetry.parse("s2"), (3, 3), 1, np.int8)
    t = tw.as_tensor(x).to_packed("s2")
    assert np.sum(t).dtype == np.sum(x).dtype
    assert np.add.reduce(t, axis=None, dtype=np.int8).item() == np.add.reduce(x, axis=None, dtype=np.int8)
    assert np.sum(t, initial=5).item() == x.sum() + 5
    assert np.max(t, axis=1, initial=4).tolist() == np.max(x, axis=1, initial=4).tolist()
    assert np.subtract.reduce(t, axis=0).tolist() == np.subtract.reduce(x, axis=0).tolist()
    assert np.subtract.reduce(t.permute(1, 0), axis=1).tolist() == np.subtract.reduce(x.T, axis=1).tolist()
    out = np.zeros(3)
    assert np.sum(t, axis=0, out=out) is out
    assert out.tolist() == x.sum(axis=0).tolist()
    times = tw.from_packed(np.array([1, 2, 3], "m8[s]"), "s2", (2, 2))
    assert np.sum(times) == np.timedelta64(8, "s")
    assert np.sum(times, axis=1).tolist() == [timedelta(seconds=3), timedelta(seconds=5)]


def test_origins_and_names_stay():
    t = tw.as_tensor(np.eye(3)).to_packed("s2").translate_to((2, 2))
    assert np.sum(t, axis=0).shape == tw.Shape(3, origin=(2,))
    assert np.add.reduce(t, axis=0, keepdims=True).shape == tw.Shape(1, 3, origin=(0, 2))


def test_refusals():
    t = tw.as_tensor(np.eye(3)).to_packed("s2")
    with pytest.raises(ConversionError, match=r"where=.*to_dense"):
        np.sum(t, where=np.eye(3) > 0)
    with pytest.raises(ConversionError, match=r"ord=1"):
        np.linalg.norm(t, ord=1)
    with pytest.raises(RankError):
        np.sum(t, axis=2)
    with pytest.raises(ConversionError, match=r"np.std .*axis=.*to_dense"):
        np.std(t, axis=0)


@pytest.mark.parametrize(
    "function",
    [
        np.sum,
        np.max,
        np.min,
        np.prod,
        np.any,
        np.all,
        np.mean,
        np.count_nonzero,
        np.std,
        np.median,
        np.linalg.norm,
    ],
)
def test_views_of_symmetric_tensors_are_reduced_as_these(function):
    table = np.array([[1.0, 2, 4], [2, 3, 5], [4, 5, 6]])
    packed = tw.as_tensor(table).to_packed("s2")
    for view in (sel.as_view(packed), packed.permute((1, 0)), sel.as_view(packed)[...]):
        assert np.isclose(float(function(view)), float(function(table)))
    assert np.sum(sel.as_view(packed), axis=0).tolist() == table.sum(axis=0).tolist()
    assert float(function(sel.as_view(packed)[::-1])) == float(function(packed[::-1]))
