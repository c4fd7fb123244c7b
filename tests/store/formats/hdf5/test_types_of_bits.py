"""Integers of which some bits are not used: the values are those that the type in the file gives."""

import h5py
import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import tensorwrapper as tw

SIZES = {
    1: h5py.h5t.STD_I8LE,
    2: h5py.h5t.STD_I16LE,
    4: h5py.h5t.STD_I32LE,
    8: h5py.h5t.STD_I64LE,
}


def integers(size, precision, offset, *, big, signed):
    kind = SIZES[size].copy()
    kind.set_order(h5py.h5t.ORDER_BE if big else h5py.h5t.ORDER_LE)
    kind.set_precision(precision)
    kind.set_offset(offset)
    kind.set_sign(h5py.h5t.SGN_2 if signed else h5py.h5t.SGN_NONE)
    return kind


def value_of(raw, precision, offset, *, big, signed):
    number = int.from_bytes(raw, "big" if big else "little") >> offset & (1 << precision) - 1
    return number - (1 << precision) if signed and number >> (precision - 1) else number


@st.composite
def kinds(draw):
    size = draw(st.sampled_from(sorted(SIZES)))
    precision = draw(st.integers(1, 8 * size))
    offset = draw(st.integers(0, 8 * size - precision))
    return size, precision, offset, draw(st.booleans()), draw(st.booleans())


@given(kinds(), st.binary(min_size=24, max_size=24))
@settings(max_examples=80, deadline=None)
def test_unused_bits_say_nothing(tmp_path_factory, kind, raw):
    size, precision, offset, big, signed = kind
    own = integers(size, precision, offset, big=big, signed=signed)
    path = tmp_path_factory.mktemp("bits") / "a.h5"
    count = len(raw) // size
    with h5py.File(path, "w") as file:
        try:
            data = h5py.h5d.create(file.id, b"x", own, h5py.h5s.create_simple((count,)))
        except ValueError:
            reject()  # HDF5 2.0 does not write integers that need half of their bytes.
        data.write(h5py.h5s.ALL, h5py.h5s.ALL, np.frombuffer(raw, "u1"), own)
    wanted = [
        value_of(raw[k * size : (k + 1) * size], precision, offset, big=big, signed=signed)
        for k in range(count)
    ]
    for source in (path, path.read_bytes()):
        with tw.open(source) as file:
            assert np.asarray(file["x"]).tolist() == wanted


def test_a_field_of_which_hdf5_would_give_wrong_numbers_is_told(tmp_path):
    """HDF5 2.0 does not clear the unused bits of one big-endian byte."""
    record = h5py.h5t.create(h5py.h5t.COMPOUND, 5)
    record.insert(b"few", 0, integers(1, 4, 0, big=True, signed=False))
    record.insert(b"all", 1, h5py.h5t.STD_I32LE)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        h5py.h5d.create(file.id, b"x", record, h5py.h5s.create_simple((2,)))
    with tw.open(tmp_path / "a.h5") as file:
        assert np.asarray(file["x.all"]).tolist() == [0, 0]
        (loss,) = file.losses
        assert (loss.name, loss.code) == ("x.few", "type")
        with pytest.raises(tw.errors.TensorNameError):
            file["x.few"]
