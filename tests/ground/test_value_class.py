"""Frozen classes with shared methods answer as those that attrs writes."""

import copy
import pickle

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper._value_class import frozen


def _lower(text):
    return text.lower()


class _Fields:
    a: object
    b: object = attrs.field(default=0, repr=str)
    c: str = attrs.field(default="", eq=_lower, repr=False)
    d: object = attrs.field(default=None, eq=False)
    e: object = attrs.field(init=False, hash=False)


class _One:
    a: object


class _None:
    pass


def _twins(fields):
    body = {**vars(fields)}
    for name in ("__dict__", "__weakref__"):
        body.pop(name, None)
    return frozen(type("Twin", (), body)), attrs.frozen(type("Twin", (), dict(body)))


# Before 24.1 attrs compared tuples of fields, in which a NaN is itself.
NANS = [float("nan")] if attrs.__version_info__ >= (24, 1) else []
NUMBERS = st.sampled_from([0, 1, 1.0, *NANS, "x", None, np.int64(1)])
ARGUMENTS = st.tuples(NUMBERS, NUMBERS, st.sampled_from(["", "q", "Q"]), NUMBERS)


@given(first=ARGUMENTS, second=ARGUMENTS)
def test_comparison_and_text_are_those_of_attrs(first, second):
    ours, theirs = _twins(_Fields)
    values = [ours(*first), ours(*second), theirs(*first), theirs(*second)]
    for value in values:
        object.__setattr__(value, "e", 7)
    mine, other, model, model_other = values

    assert (mine == other) == (model == model_other)
    assert (mine != other) == (model != model_other)
    assert (mine == mine) == (model == model)  # noqa: PLR0124 - a NaN is not itself
    assert repr(mine).rpartition(".")[2] == repr(model).rpartition(".")[2]
    if mine == other:
        assert hash(mine) == hash(other)


@pytest.mark.parametrize("fields", [_One, _None])
def test_few_fields(fields):
    ours, theirs = _twins(fields)
    arguments = range(len(attrs.fields(ours)))

    assert repr(ours(*arguments)) == repr(theirs(*arguments))
    assert ours(*arguments) == ours(*arguments)
    assert hash(ours(*arguments)) == hash(ours(*arguments))
    assert ours(*arguments) != theirs(*arguments)
    assert ours(*arguments) != 1


def test_what_no_init_has_set_is_shown_as_nothing():
    ours, theirs = _twins(_Fields)

    assert repr(ours(1)) == repr(theirs(1))
    assert "e=NOTHING" in repr(ours(1))


def test_what_a_class_writes_itself_stays():
    @frozen
    class Own:
        a: int

        def __eq__(self, other):
            return "equal"

        def __hash__(self):
            return 5

        def __repr__(self):
            return "own"

    assert (Own(1) == Own(2), hash(Own(1)), repr(Own(1))) == ("equal", 5, "own")


def test_equality_without_a_hash_has_none():
    @frozen
    class Unhashable:  # noqa: PLW1641
        a: int

        def __eq__(self, other):
            return True

    with pytest.raises(TypeError):
        hash(Unhashable(1))


def test_options():
    @frozen(eq=False, repr=False, kw_only=True)
    class Plain:
        a: int

    assert Plain(a=1) != Plain(a=1)
    assert repr(Plain(a=1)).startswith("<")
    with pytest.raises(TypeError):
        Plain(1)


@frozen
class Kept:
    a: int
    b: tuple[int, ...] = ()


def test_kept():
    value = Kept(1, (2, 3))

    assert pickle.loads(pickle.dumps(value)) == value
    assert copy.copy(value) == value == copy.deepcopy(value)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        value.a = 2
    assert not hasattr(value, "__dict__")
