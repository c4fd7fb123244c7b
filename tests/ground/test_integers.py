"""Integers as users give them: whatever has an index, and neither bool nor float."""

import numpy as np
import pytest

from tensorwrapper._integers import (
    MAX_DIGITS,
    number_text,
    one_sequence,
    to_count,
    to_counts,
    to_int,
    to_ints,
    to_threads,
)
from tensorwrapper.errors import ConversionError, ExtentError, SizeOverflowError


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3), np.array(3)])
def test_what_has_an_index_is_a_python_integer(value):
    assert type(to_int(value, "n")) is int
    assert to_ints([value, 4], "n") == (3, 4)


@pytest.mark.parametrize("value", [True, np.True_, 3.0, "3", None, np.array([3, 4])])
def test_nothing_else_is_one(value):
    with pytest.raises(ConversionError, match="n must be an integer"):
        to_int(value, "n")


@pytest.mark.parametrize("values", ["34", b"34", {3: 4}, {3, 4}, 3])
def test_integers_come_in_order(values):
    with pytest.raises(ConversionError, match="n must be"):
        to_ints(values, "n")


@pytest.mark.parametrize("value", [True, 1.5, "3"])
def test_of_several_one_entry_is_refused(value):
    with pytest.raises(ConversionError, match=r"^an entry of a permutation must be an integer, not"):
        to_ints(iter([0, value]), "a permutation")


def test_counts_are_not_negative():
    with pytest.raises(ExtentError, match="is -1"):
        to_count(-1, "n")
    with pytest.raises(ExtentError, match="-1 for mode 1"):
        to_counts((0, -1), "n")


def test_several_are_given_loose_or_as_one_sequence():
    entries = [one_sequence(given) for given in ((1, 0), ((1, 0),), (range(2),), (np.array([1, 0]),))]

    assert [list(own) for own in entries] == [[1, 0], [1, 0], [0, 1], [1, 0]]
    assert one_sequence(("mode",)) == ("mode",)
    assert one_sequence((np.array(1),)) == (np.array(1),)


def test_numbers_that_no_python_reads_are_not_written():
    long = 10**MAX_DIGITS

    assert number_text(long - 1, full=True) == "9" * MAX_DIGITS
    assert number_text(-long, full=False) == "..."
    with pytest.raises(SizeOverflowError, match="more than 640 digits"):
        number_text(long, full=True)


def test_threads_are_at_least_one_and_not_too_many():
    assert (to_threads(1), to_threads(10**9)) == (1, 64)
    with pytest.raises(ExtentError, match="at least 1"):
        to_threads(0)
