"""Life with an elementwise ``==``: what is asked first, what has a truth, and what can be no key."""

import copy
import dataclasses
import datetime as dt
import pickle
import weakref
from unittest import mock

import attrs
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, DTypeError

KINDS = {
    "box": lambda: tw.as_tensor([0, 1, 2]),
    "rows": lambda: tw.jagged([[5, 1], [2]]),
    "view": lambda: sel.as_view(tw.as_tensor([0, 1, 2])),
    "sparse": lambda: tw.sparse([(1,)], [5.0], Shape(3)),
    "strings": lambda: tw.strings(["a", "b", "c"]),
}


@pytest.fixture(params=KINDS)
def t(request):
    return KINDS[request.param]()


OPERATED = {
    "dense": lambda: tw.as_tensor([1, 2]),
    "rows": lambda: tw.jagged([[1, 2], [3]]),
    "view": lambda: sel.concat([[1], [2]]),
    "rows of a view": lambda: tw.concat([tw.jagged([[1, 2]]), tw.jagged([[3]])]),
    "collection": lambda: tw.jagged([[1, 2], [3]]).to_dask(max_elements=2),
}


def test_the_other_side_may_compare_itself(t):
    assert t == mock.ANY
    assert t == mock.ANY
    assert not t != mock.ANY  # noqa: SIM202 - it is `!=` that is asked


def test_approximate_values_of_pytest_compare_themselves():
    assert np.asarray(tw.as_tensor([0.0, 1.0])).tolist() == pytest.approx([0, 1])


STRANGERS = [None, Shape(3), {1}, object(), int, dt.date(2020, 1, 1)]


@pytest.mark.parametrize("other", STRANGERS, ids=["none", "shape", "set", "object", "a class", "a date"])
@pytest.mark.parametrize("kind", OPERATED)
def test_strangers_are_refused_by_every_operator_of_every_kind_in_our_words(kind, other):
    t = OPERATED[kind]()
    for call in (lambda: t == other, lambda: t != other):
        with pytest.raises(ConversionError, match="compared and computed with numbers"):
            call()
    for call in (
        lambda: t < other,
        lambda: t >= other,
        lambda: t + other,
        lambda: other - t,
        lambda: t & other,
        lambda: divmod(t, other),
        lambda: other @ t,
    ):
        if isinstance(other, Shape):
            with pytest.raises(
                TypeError, match=r"unsupported .*`s\.|computed with"
            ):  # shapes say what they have instead
                call()
        else:
            with pytest.raises(ConversionError, match="compared and computed with numbers"):
                call()


class _Adds:
    """What knows its own way with tensors, and no array."""

    __array_ufunc__ = None

    def __radd__(self, other):
        return "added", other.shape

    def __gt__(self, other):
        return "greater than", other.shape


class _Array:
    def __array__(self, dtype=None, copy=None):
        return np.array([10, 20])


@pytest.mark.parametrize("kind", OPERATED)
def test_operators_ask_strangers_first_and_then_take_their_arrays(kind):
    t = OPERATED[kind]()
    assert t + _Adds() == ("added", t.shape)
    assert (t < _Adds()) == ("greater than", t.shape)
    with pytest.raises(ConversionError, match="compared and computed"):
        t - _Adds()
    expected = (t + np.array([10, 20])).tolist() if kind != "collection" else None
    found = [t + _Array(), _Array() + t]
    if expected is None:
        assert [own.compute(scheduler="sync").tolist() for own in found] == [[[11, 12], [23]]] * 2
    else:
        assert [own.tolist() for own in found] == [expected] * 2


def test_ufuncs_refuse_strangers_themselves():
    with pytest.raises(ConversionError):
        np.equal(tw.as_tensor([1]), None)


def test_the_truth_of_several_is_no_answer(t):
    for call in (
        lambda: bool(t == t),  # noqa: PLR0124
        lambda: any([t == t]),  # noqa: PLR0124
        lambda: [t] == [copy.copy(t)],
        lambda: (t, 1) == (copy.copy(t), 1),
        lambda: {"k": t} == {"k": copy.copy(t)},
        lambda: t in [copy.copy(t), 1],
        lambda: [1, copy.copy(t)].index(t),
        lambda: [t].remove(copy.copy(t)),
        lambda: [t].count(copy.copy(t)),
    ):
        with pytest.raises((ConversionError, DTypeError), match=r"truth of \d elements|with strings"):
            call()


def test_python_looks_at_identity_first(t):
    assert [t] == [t]
    assert t in [t, 1]
    assert [t].index(t) == 0


def test_nothing_elementwise_is_a_key(t):
    for call in (
        lambda: hash(t),
        lambda: {t: 1},
        lambda: {t},
        lambda: t in {1: 2},
        lambda: hash(weakref.ref(t)),
    ):
        with pytest.raises(TypeError, match="unhashable"):
            call()


def test_holders_compare_as_holders_of_arrays_do():
    t, u = tw.as_tensor([0, 1, 2]), tw.as_tensor([0, 1, 2])

    @dataclasses.dataclass
    class Plain:
        x: object

    @attrs.define
    class Held:
        x: object = attrs.field(eq=attrs.cmp_using(eq=lambda a, b: a.array_equal(b)))

    assert Plain(t) == Plain(t)
    with pytest.raises(ConversionError):
        assert Plain(t) == Plain(u)
    assert Held(t) == Held(u)
    assert Held(t) != Held(tw.as_tensor([0, 1, 3]))


def test_sums_start_at_zero():
    t = tw.jagged([[1, 2], [3]])

    assert sum([t, t]).tolist() == [[2, 4], [6]]


def test_copies_and_pickles_stay(t):
    assert copy.copy(t).shape == t.shape
    if isinstance(t, tw.Tensor):
        assert pickle.loads(pickle.dumps(t)).array_equal(t)
        assert weakref.ref(t)() is t


def test_what_answers_the_protocol_itself_has_its_turn():
    class Stranger:
        def __array_ufunc__(self, ufunc, method, *inputs, **options):
            return f"{ufunc.__name__} of a stranger"

    class Aloof:
        __array_ufunc__ = None

        def __radd__(self, other):
            return "kept to itself"

    t = tw.as_tensor([1, 2])

    assert t + Stranger() == "add of a stranger"
    assert Stranger.__array_ufunc__ is not None
    assert (t == Stranger()) == "equal of a stranger"
    assert np.add(t, Stranger()) == "add of a stranger"
    assert t + Aloof() == "kept to itself"


def test_names_of_text_and_numbers_do_not_meet():
    with pytest.raises(DTypeError):
        _ = tw.as_tensor([1.0]) == "a"
    with pytest.raises(DTypeError):
        _ = tw.strings(["a"]) == 1
    with pytest.raises(DTypeError):
        _ = tw.strings([b"a"]) == "a"
    assert (tw.strings([b"a", b"\xff"]) < b"b").tolist() == [True, False]
