"""Stored elements and written ones become one, against a dictionary."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.buffer import _sparse_merge
from tensorwrapper.buffer._sparse_merge import check_addresses, is_fill, merge, nearest, rises, to_fill
from tensorwrapper.errors import BufferSizeError, ConversionError

ADDRESSES = st.lists(st.integers(0, 12), unique=True, max_size=8)


@given(ADDRESSES.map(sorted), ADDRESSES, st.integers(0, 2), st.data())
def test_a_write_replaces_adds_and_removes(stored, written, fill, data):
    before = {address: address % 3 + 5 for address in stored}
    values = [data.draw(st.integers(0, 3)) for _ in written]
    after = {k: v for k, v in (before | dict(zip(written, values, strict=True))).items() if v != fill}
    old = np.array(stored, dtype=np.int64), np.array([*before.values()], dtype=np.int64)
    given_ = np.array(written, dtype=np.int64), np.array(values, dtype=np.int64)

    addresses, elements = merge(old, *given_, to_fill(np.int64(fill)))

    assert dict(zip(addresses.tolist(), elements.tolist(), strict=True)) == {
        k: v for k, v in after.items() if v != fill or k not in written
    }
    assert rises(addresses)
    assert not addresses.flags.writeable
    assert not elements.flags.writeable
    if written:
        for array in given_:
            assert not np.shares_memory(addresses, array)
            assert not np.shares_memory(elements, array)


@given(ADDRESSES.map(sorted).filter(bool), ADDRESSES, st.booleans())
def test_what_is_stored_is_found_however_many_are_sought(stored, wanted, many):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_sparse_merge, "_MANY", 0 if many else 99)
        near = nearest(np.array(stored), np.array(wanted, dtype=np.int64))

    assert [stored[k] == address for k, address in zip(near.tolist(), wanted, strict=True)] == [
        address in stored for address in wanted
    ]


@pytest.mark.parametrize("dtype", ["f4", "c8", "i2", "M8[s]"])
def test_the_fill_is_equal_or_not_a_number_as_well(dtype):
    if dtype == "M8[s]":
        fills = np.array(["NaT", "2001-01-01"], dtype)
    elif dtype == "i2":
        fills = np.array([0, 3], dtype)
    else:
        fills = np.array([np.nan, -0.0, 1], dtype)
    for k, fill in enumerate(fills):
        assert is_fill(fills, to_fill(fill)).tolist() == [k == other for other in range(len(fills))]
    if dtype == "f4":
        assert is_fill(np.array([0.0, -0.0], "f4"), to_fill(np.float32(0))).all()


def test_half_of_a_complex_number_may_be_none():
    fill = to_fill(np.complex128(complex(np.nan, 1)))
    values = np.array([complex(np.nan, 1), complex(np.nan, 2), complex(1, np.nan), 1j])

    assert is_fill(values, fill).tolist() == [True, False, False, False]


@pytest.mark.parametrize(
    ("addresses", "values", "error", "text"),
    [
        ([[0]], [[1]], BufferSizeError, "flat and equally many"),
        ([0, 1], [1], BufferSizeError, r"not of \(2,\) and \(1,\)"),
        ([0, 5], [1, 2], BufferSizeError, "address 5 is not from 0 to 4"),
        ([-1], [1], BufferSizeError, "address -1 is not"),
        ([3, 1, 3], [1, 2, 3], ConversionError, "address 3 is given more than once"),
    ],
)
def test_addresses_that_are_none_are_refused(addresses, values, error, text):
    with pytest.raises(error, match=text):
        check_addresses(np.array(addresses), np.array(values), 5)
    assert check_addresses(np.array([4, 0]), np.array([1, 2]), 5).tolist() == [4, 0]
