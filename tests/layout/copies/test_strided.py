"""Copies of one strided block: what they copy, as tables and as rows of bytes, and what they say it costs."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.layout.copies._strided import StridedCopy, strided_copy

MODES = st.lists(st.tuples(st.integers(0, 3), st.integers(-6, 6), st.integers(-6, 6)), max_size=4)


def places(extents, first, steps):
    """Return the places of a block in row-major order."""
    indices = itertools.product(*map(range, extents))
    return [first + sum(k * step for k, step in zip(index, steps, strict=True)) for index in indices]


def pairs(copy):
    """Return where each element comes from and goes, in no order."""
    source = places(copy.extents, copy.source, copy.source_strides)
    return sorted(zip(source, places(copy.extents, copy.target, copy.target_strides), strict=True))


@given(MODES, st.integers(-9, 9), st.integers(-9, 9))
def test_a_block_that_is_put_together_copies_the_same_elements(modes, source, target):
    extents, *steps = zip(*modes, strict=True) if modes else ((), (), ())
    plain = StridedCopy(extents, source, steps[0], target, steps[1])
    joined = strided_copy(modes, source, target)

    assert pairs(joined) == pairs(plain)
    assert joined.size == plain.size == len(pairs(plain))
    assert joined.moves_nothing() is all(a == b for a, b in pairs(plain))


@given(MODES)
def test_tables_and_bytes_say_the_same_block(modes):
    copy = strided_copy(modes, 5, 7)
    said = [
        (a, b)
        for table in copy.tables()
        for a, b in zip(
            places(table.extents[0].tolist(), int(table.source[0]), table.source_strides[0].tolist()),
            places(table.extents[0].tolist(), int(table.target[0]), table.target_strides[0].tolist()),
            strict=True,
        )
    ]
    extents, source, source_steps, target, target_steps = copy.in_bytes(8)
    as_bytes = zip(places(extents, source, source_steps), places(extents, target, target_steps), strict=True)

    assert sorted(said) == pairs(copy)
    assert sorted(as_bytes) == [(8 * a, 8 * b) for a, b in pairs(copy)]


def test_runs_are_counted():
    whole, rows, nothing = (
        strided_copy([(4, 6, 6), (6, 1, 1)], 0, 0),
        strided_copy([(4, 8, 6), (6, 1, 1)], 0, 0),
        strided_copy([(0, 1, 1)], 0, 0),
    )

    assert [copy.run_length for copy in (whole, rows)] == [24, 6]
    assert [copy.cost().runs for copy in (whole, rows, nothing)] == [1, 4, 0]
    assert list(nothing.tables()) == []
    assert np.size(next(iter(rows.tables())).extents) == 2
