"""Keys in the positional dialect: what each entry selects, as NumPy's basic indexing does."""

import numpy as np
import pytest

from tensorwrapper.errors import IndexTypeError, OutOfBoundsError, RankError, StepError, TooManyIndicesError
from tensorwrapper.layout.boxes._keys import expand_positional, is_whole, parse_positional


@pytest.mark.parametrize(
    "key",
    [
        1,
        -1,
        slice(None),
        slice(5, 0, -2),
        slice(-2, None),
        slice(9, 99),
        (0, slice(1, 3)),
        (Ellipsis, 2),
        (None, 1, Ellipsis),
        (),
    ],
    ids=str,
)
def test_entries_select_what_numpy_selects(key):
    places = np.indices((4, 6))
    entries = parse_positional(key, (4, 6))
    lists = [
        [0]
        if entry is None
        else [entry]
        if isinstance(entry, int)
        else [entry[0] + entry[1] * k for k in range(entry[2])]
        for entry in entries
    ]
    modes = [own for own, entry in zip(lists, entries, strict=True) if entry is not None]
    extents = tuple(len(own) for own, entry in zip(lists, entries, strict=True) if not isinstance(entry, int))
    found = np.stack(np.meshgrid(*modes, indexing="ij")).reshape(2, *extents)

    assert np.array_equal(found, places[:, *key] if isinstance(key, tuple) else places[:, key])


@pytest.mark.parametrize(
    ("key", "error", "text"),
    [
        (4, OutOfBoundsError, "position 4 is outside mode 0"),
        ((0, 1, 2), TooManyIndicesError, "3 indices are too many for 2"),
        ((Ellipsis, Ellipsis), RankError, "one ellipsis"),
        (slice(None, None, 0), StepError, "is 0"),
        (slice("a", None), IndexTypeError, "not made of integers"),
        (True, IndexTypeError, "mode 0 must be an integer"),
        (1.5, IndexTypeError, "not 1.5"),
    ],
)
def test_what_is_no_key_is_refused_with_its_mode(key, error, text):
    with pytest.raises(error, match=text):
        parse_positional(key, (4, 6))


def test_a_slice_of_more_than_64_bits_is_counted():
    assert parse_positional(slice(None), (2**80,)) == [(0, 1, 2**80)]


def test_whole_modes_are_told_from_others():
    assert [is_whole(item) for item in expand_positional((0, None), 3)] == [False, False, True, True]
    assert not is_whole(slice(0, None))
