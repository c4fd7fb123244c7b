"""Types of views put together: those that NumPy's functions of the same name give, and no others."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import DTypeError, TensorWrapperError

TYPES = [
    "?",
    "i1",
    "u1",
    "i2",
    "u4",
    "i8",
    "u8",
    "f2",
    "f4",
    "f8",
    "g",
    "c8",
    "m8[s]",
    "m8[ms]",
    "M8[s]",
    "M8[D]",
    ">i2",
    ">f8",
    ">M8[s]",
]
MASK = np.array([True, False])
FUNCTIONS = {
    "concat": (lambda x, y: np.concatenate([x, y]), lambda x, y: tw.concat([x, y])),
    "stack": (lambda x, y: np.stack([x, y]), lambda x, y: tw.stack([x, y])),
    "minimum": (np.minimum, sel.minimum),
    "maximum": (np.maximum, sel.maximum),
    "where": (lambda x, y: np.where(MASK, x, y), lambda x, y: tw.where(MASK, x, y)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("one", TYPES)
def test_types_are_promoted_as_numpy_does(name, one):
    reference, view = FUNCTIONS[name]
    for other in TYPES:
        x, y = (np.ones(2, "i1").astype(dtype) for dtype in (one, other))
        try:
            expected = reference(x, y).dtype
        except TypeError:
            expected = None
        if name == "where" and {x.dtype.kind, y.dtype.kind} == {"m", "M"}:
            expected = None  # NumPy makes a date of the duration.
        for made in (view, lambda x, y: reference(tw.as_tensor(x), tw.as_tensor(y))):
            if expected is None:
                with pytest.raises(DTypeError):
                    made(x, y)
            else:
                assert made(x, y).dtype == expected, other


@pytest.mark.parametrize("name", ["int2", "int4", "uint2", "uint4", "bfloat16", "float8_e5m2"])
@pytest.mark.parametrize("kind", ["minimum", "maximum"])
def test_the_least_of_small_types_is_of_their_type(kind, name):
    """NumPy makes bytes of integers that are narrower, so the view was made and could not be computed."""
    dtype = np.dtype(getattr(pytest.importorskip("ml_dtypes"), name))
    pairs = [np.array([1, 0, 1, 0], dtype), np.array([0, 0, 1, 1], dtype)]
    wanted = getattr(np, kind)(*[own.astype("f8") for own in pairs]).tolist()
    rows = [tw.jagged([own[:1], own[1:]]) for own in pairs]
    view = getattr(sel, kind)(*pairs)
    assert view.dtype == view.compute().dtype == getattr(sel, kind)(*rows).compute().dtype == dtype
    assert view.tolist() == wanted
    assert view.vindex[[3, 1]].tolist() == [wanted[3], wanted[1]]
    assert getattr(sel, kind)(*[np.tile(own, 1 << 16) for own in pairs])[-4:].tolist() == wanted


@pytest.mark.parametrize("name", ["int4", "bfloat16", "float8_e5m2", "float4_e2m1fn"])
@pytest.mark.parametrize("kind", ["minimum", "maximum"])
def test_small_types_beside_others_meet_where_numpy_compares_them(kind, name):
    """`np.result_type` has no type for a bfloat16 and an integer; the ufunc compares them as floats."""
    dtype = np.dtype(getattr(pytest.importorskip("ml_dtypes"), name))
    small = np.array([1, 0, 1], dtype)
    with np.errstate(over="ignore"):
        for other in [*[np.array([0, 1, 1]).astype(own) for own in "?bBhHiqefd"], 1, 0.5]:
            expected = getattr(np, kind)(small, other)
            for operands in ((small, other), (other, small)):
                found = getattr(sel, kind)(*operands)
                assert found.dtype == expected.dtype, other
                assert np.array_equal(found.compute(), expected), other


MIXED = [[1, "a"], [True, "a"], ["a", np.nan], ["a", b"b"], [["a"], [1]], ["a", None, 2]]


@pytest.mark.parametrize("items", MIXED, ids=str)
def test_lists_of_text_and_other_elements_are_refused_everywhere(items):
    """NumPy makes text of numbers, and of NaN."""
    words = tw.strings(["q", "r", "s"][: len(items)])
    for make in (
        lambda: tw.as_tensor(items),
        lambda: sel.as_view(items),
        lambda: tw.strings(items),
        lambda: tw.records({"x": items}),
        lambda: tw.concat([words, items]),
        lambda: tw.stack([words, items]),
        lambda: tw.where(words == "q", words, items),
        lambda: np.concatenate([words, items]),
        lambda: words == items,
    ):
        with pytest.raises(TensorWrapperError):
            make()


def test_lists_of_text_with_none_are_joined():
    words = tw.strings(["q"])
    for join in (tw.concat, np.concatenate):
        for first in (words, sel.as_view(words)):
            assert join([first, ["a", None]]).tolist() == ["q", "a", None]
    assert tw.concat([words, np.array(["a"]), [np.str_("b")]]).tolist() == ["q", "a", "b"]


def test_nulls_alone_have_no_type_anywhere():
    t = tw.as_tensor([1, None])
    for make in (
        lambda: tw.as_tensor([None, None]),
        lambda: sel.as_view([None, None]),
        lambda: tw.records({"x": [None, None]}),
        lambda: tw.concat([t, [None, None]]),
        lambda: tw.where([True, False], t, [None, None]),
        lambda: np.where([True, False], t, [None, None]),
        lambda: np.add(t, [None, None]),
        lambda: np.concatenate([t, [None, None]]),
    ):
        with pytest.raises(DTypeError, match="nulls alone have no type"):
            make()


def test_nat_without_a_unit_takes_that_of_the_others():
    t = tw.as_tensor(np.array(["2020-01-01", "2021-01-01"], "M8[D]"))
    nat = np.datetime64("NaT")
    for of in (lambda own: own, sel.as_view):
        found = np.where(of(t) > t[0], of(t), nat)
        assert (found.dtype, found.tolist()) == (t.dtype, [None, t[1].tolist()])
    for odd in (lambda: tw.where([True], nat, nat), lambda: tw.where(t > t[0], t, np.timedelta64("NaT"))):
        with pytest.raises(DTypeError):
            odd()
