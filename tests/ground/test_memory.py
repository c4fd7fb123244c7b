"""What memory holds: more is refused by name, before any of it is asked for."""

import tracemalloc

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper._memory import memory_for, memory_share
from tensorwrapper.errors import OutOfMemoryError, ParseError, SizeOverflowError
from tensorwrapper.shape import RowPartition, RowPartitions


def test_what_memory_does_not_hold_is_refused_by_name():
    with pytest.raises(SizeOverflowError, match="places, one by one"), memory_for(2**40, "places"):
        pytest.fail("the block must not run")
    with pytest.raises(SizeOverflowError, match="3 indices"), memory_for(3):
        raise MemoryError


def test_a_share_of_memory_is_known():
    assert 2**28 <= memory_share() <= 2**36


@pytest.mark.parametrize("rows", [2**33, 2**40, 2**62])
def test_rows_that_a_few_numbers_stand_for_are_not_asked_for(rows):
    """What a form of another library says of rows of one length takes no memory to say."""
    parts = RowPartitions(
        [RowPartition.from_uniform_row_length(0, rows), RowPartition.from_row_splits([0])], [0]
    )
    tracemalloc.start()
    with pytest.raises(SizeOverflowError, match="memory"):
        Shape.from_row_partitions(parts)
    assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()


def test_rows_of_a_text_for_which_there_is_no_memory_are_refused_by_name(monkeypatch):
    monkeypatch.setattr("tensorwrapper._arrays.np.empty", _no_memory)
    with pytest.raises(ParseError, match="1000000 rows, one by one"):
        Shape.from_json('{"kind":"jagged","extents":[1000000,1,3],"origin":[0,0,0],"outer_rank":2}')


def _no_memory(*_arguments, **_options):
    raise MemoryError


MANY = 2**40


@pytest.mark.parametrize(
    "make",
    [
        lambda: sel.full((MANY, 3), 0).copy(),
        lambda: sel.iota((MANY, 3), 0).compute(order="F"),
        lambda: np.asarray(sel.full((MANY,), 0)),
        lambda: sel.concat([sel.full((MANY,), 0), [1]]).compute(),
        lambda: sel.full((MANY,), 0).unflatten(4).compute(),
        lambda: tw.as_tensor([1.0]).broadcast((MANY,)).copy(),
        lambda: tw.as_tensor([1.0]).broadcast((MANY,)).astype("f4"),
        lambda: tw.zeros((MANY, 3)),
        lambda: tw.full((MANY,), 1),
        lambda: tw.zeros(tw.Shape.jagged(np.full(4, MANY // 4))),
        lambda: tw.as_tensor([1.0]).broadcast((MANY,)) + 1,
        lambda: tw.jagged([[1], [2]]).pad_rows(MANY),
        lambda: tw.sparse([(1,)], [1], (MANY,)).to_dense(),
    ],
)
def test_what_no_memory_holds_is_refused_by_name(make):
    with pytest.raises(OutOfMemoryError, match=r"extents \(.* bytes, more than memory holds") as caught:
        make()
    assert isinstance(caught.value, SizeOverflowError)
    assert isinstance(caught.value, MemoryError)


@pytest.mark.parametrize(
    "make", [lambda: sel.zeros((2**62,)), lambda: sel.concat([[1, 2], [3]]).broadcast((2**60, 3))]
)
def test_results_beyond_what_an_array_can_address_are_refused_by_name(make):
    with pytest.raises(OutOfMemoryError):
        make().compute()
