"""Selectors from keys and back, and as values."""

import copy
import pickle

import numpy as np
import pytest
from dask.base import tokenize

from tensorwrapper.errors import ConversionError, RankError, StepError
from tensorwrapper.selection import NewMode, Selector

KEYS = [
    np.s_[1],
    np.s_[()],
    np.s_[...],
    np.s_[1, ..., ::-2],
    np.s_[None, :, 3:, :5, -1],
    np.s_[2:1:-1, None, None],
]


@pytest.mark.parametrize("key", KEYS)
def test_a_key_comes_back(key):
    assert Selector.from_key(key).to_key() == (key if isinstance(key, tuple) else (key,))


def test_a_list_is_no_key_of_positions():
    with pytest.raises(ConversionError, match="not \\[1, 2\\]"):
        Selector.from_key([1, 2])


def test_none_is_a_new_mode():
    assert Selector(None) == Selector(NewMode(1)) == Selector.parse("+")


def test_no_key_has_a_new_mode_of_several():
    with pytest.raises(ConversionError, match=r"no key has a new mode of extent 3, as \[0, \+3\] has"):
        Selector(0, NewMode(3)).to_key()


@pytest.mark.parametrize(
    "item", [True, np.True_, 1.0, "1", [0], np.array([0, 1]), slice(0.5), slice("a"), (1,)]
)
def test_other_items_are_refused(item):
    with pytest.raises(ConversionError):
        Selector(item)


def test_integers_become_pythons():
    selector = Selector(np.int16(3), slice(np.uint8(1), np.array(2), np.int64(1)), np.array(4))
    assert selector == Selector(3, slice(1, 2), 4)
    assert [type(part) for part in (selector.atoms[0], selector.atoms[1].start)] == [int, int]


def test_steps_of_zero_and_two_ellipses_in_keys():
    with pytest.raises(StepError, match="::0"):
        Selector(slice(None, None, 0))
    with pytest.raises(RankError, match="one ellipsis"):
        Selector(..., 1, ...)


def test_a_selector_is_a_value():
    selector = Selector.parse("1, 2:5:2, ..., +3")
    for back in (copy.copy(selector), copy.deepcopy(selector), pickle.loads(pickle.dumps(selector))):
        assert back == selector
        assert hash(back) == hash(selector)
        assert tokenize(back) == tokenize(selector)
    assert tokenize(selector) != tokenize(Selector.parse("1, 2:5:2, ..., +4"))
    assert selector != "[1, 2:5:2, ..., +3]"
    assert len({selector, Selector.parse(str(selector)), Selector()}) == 2
    with pytest.raises(AttributeError):
        selector.atoms = ()


def test_a_slice_is_not_a_tuple():
    assert Selector(slice(1, 2, 3)) != Selector(1, 2, 3)
