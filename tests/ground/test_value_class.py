"""Frozen classes with shared methods answer as those that attrs writes."""

import builtins
import copy
import inspect
import pickle
import weakref
from abc import ABC, abstractmethod
from typing import ClassVar

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


def _fresh():
    class Base(ABC):
        __slots__ = ()

        @property
        @abstractmethod
        def size(self): ...

        def text(self):
            return f"size {self.size}"

    @frozen
    class Line(Base):
        size: int
        step: int = attrs.field(default=1, converter=int)
        _marks: tuple[int, ...] = ()
        KIND: ClassVar[str] = "line"

        def text(self):
            return f"{super().text()}, step {self.step}"

    return Line


def test_nothing_is_compiled_for_a_class_until_it_is_used(monkeypatch):
    compiled = []
    monkeypatch.setattr(builtins, "compile", lambda *given, own=compile: compiled.append(1) or own(*given))

    line = _fresh()

    assert compiled == []
    assert str(inspect.signature(line)) == "(size: int, step=1, marks: tuple[int, ...] = ()) -> None"
    assert compiled != []


def test_a_class_does_all_that_one_of_attrs_does():
    line = _fresh()
    one = line(3, "4", marks=(1,))

    assert [field.name for field in attrs.fields(line)] == ["size", "step", "_marks"] == [*line.__slots__[:3]]
    assert one == line(3, 4, (1,)) != line(3)
    assert hash(one) == hash(line(3, 4, (1,)))
    assert repr(one) == "_fresh.<locals>.Line(size=3, step=4, marks=(1,))".rpartition(">.")[2]
    assert one.text() == "size 3, step 4"
    assert attrs.evolve(one, size=5) == line(5, 4, (1,))
    assert copy.copy(one) == one is not copy.copy(one)
    assert weakref.ref(one)() is one
    assert not hasattr(one, "__dict__")
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'size'"):
        line()
    match one:
        case line(size, step):
            assert (size, step) == (3, 4)


def test_a_base_with_fields_is_refused():
    with pytest.raises(TypeError, match="has a base with fields: frozen classes are final"):

        @frozen
        class Longer(_fresh()):
            more: int
