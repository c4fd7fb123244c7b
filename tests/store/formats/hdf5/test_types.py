"""What an HDF5 file says of a type counts: h5py's elements are ours, whichever way they are read."""

import h5py
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError
from tensorwrapper.store.formats.hdf5._types import are_labels
from tests.support.store.hdf5_types import (
    BFLOAT,
    E4M3,
    E5M2,
    F32,
    T,
    biased,
    integers,
    opaque,
    random_bytes,
    record,
    variants,
    words,
    written_bytes,
)

TRUTH = {"FALSE": 0, "TRUE": 1}
ROWS = {
    "truth of 4 bytes": (words(T.STD_I32LE, **TRUTH), "01000000 00000000 01000000", "bool", [1, 0, 1]),
    "truth of 2": (words(T.STD_I16BE, **TRUTH), "0001 0000 0001", "bool", [1, 0, 1]),
    "truth of 1": (words(T.STD_U8LE, **TRUTH), "01 00 01", "bool", [1, 0, 1]),
    "truth with a sign": (words(T.STD_I8LE, **TRUTH), "01 00 01", "bool", [1, 0, 1]),
    "colours": (words(T.STD_I16LE, RED=3, BLUE=-1), "0300 ffff", "i2", [3, -1]),
    "bfloat16": (BFLOAT, "403f a0c0 807f", "f4", [0.75, -5.0, np.inf]),
    "e5m2": (E5M2, "3c c0 7c", "f2", [1.0, -2.0, np.inf]),
    "e4m3": (E4M3, "38 c4 01", "f2", [1.0, -3.0, 0.001953125]),
    "another bias": (biased(F32, 126), "0000803f 000000c0", "f8", [2.0, -4.0]),
    "12 bits": (integers(T.STD_I16LE, 12), "ff0f 0108", "i2", [-1, -2047]),
    "bits above": (integers(T.STD_I16LE, 12), "fff7 01f8", "i2", [2047, -2047]),
    "bits below": (integers(T.STD_U16LE, 12, 4), "1000 f0ff", "u2", [1, 4095]),
    "24 bits of 32": (integers(T.STD_I32BE, 24), "00ffffff 00000005", ">i4", [-1, 5]),
    "40 bits of 64": (integers(T.STD_U64LE, 40, 8), "00010000 00000000", "u8", [1]),
    "big-endian": (T.STD_I16BE, "0102 fffe", ">i2", [258, -2]),
    "big-endian half": (T.IEEE_F16BE, "3c00 c000", ">f2", [1.0, -2.0]),
    "bit field": (T.STD_B32BE, "00000100", ">u4", [256]),
    "complex": (record(8, ("r", 0, F32), ("i", 4, F32)), "0000803f 00000040", "c8", [1 + 2j]),
    "complex with a gap": (
        record(12, ("r", 0, F32), ("i", 8, F32)),
        "0000803f 00000000 00000040",
        "c8",
        [1 + 2j],
    ),
    "complex turned": (record(8, ("r", 4, F32), ("i", 0, F32)), "0000803f 00000040", "c8", [2 + 1j]),
    "times": (opaque(b"NUMPY:<M8[s]"), "0100000000000000", "M8[s]", ["1970-01-01T00:00:01"]),
    "24 bits": (integers(T.STD_I32LE, 24, 0, 3), "faffff 090000", "i4", [-6, 9]),
}


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("row", ROWS)
def test_the_elements_are_those_that_the_type_in_the_file_says(tmp_path, row, chunked):
    kind, text, dtype, want = ROWS[row]
    path = written_bytes(
        tmp_path / "a.h5", {"x": kind}, lambda *_: bytes.fromhex(text.replace(" ", "")), chunked=chunked
    )
    f = tw.open(path)
    for _ in range(2):
        found = np.asarray(f["x"])
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, np.array(want, dtype))
    np.testing.assert_array_equal(np.asarray(f["x"][-1:]), np.array(want[-1:], dtype))


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("user_block", [0, 512])
def test_all_variants_of_a_type_are_as_h5py_reads_them_or_told(tmp_path, chunked, user_block):
    path = written_bytes(
        tmp_path / "a.h5",
        variants(),
        random_bytes(user_block + chunked),
        chunked=chunked,
        user_block=user_block,
    )
    right = {}
    with h5py.File(path) as theirs:
        for name, found in theirs.items():
            # As it is shown first: what is converted once may be shown otherwise.
            try:
                dtype = found.dtype
                own = found[()]
                if "8BE" in name and dtype.itemsize == 1:
                    # HDF5 2.0 does not clear unused bits of one big-endian byte, but does in two.
                    wide = np.empty(found.shape, f"{dtype.kind}2")
                    found.id.read(h5py.h5s.ALL, h5py.h5s.ALL, wide)
                    own = wide.astype(dtype)
                if dtype.names is None:
                    right[name] = dtype.base, own.tobytes()
                for field in dtype.names or ():
                    right[f"{name}.{field}"] = dtype[field], own[field].tobytes()
            except (TypeError, OSError):
                right[name] = None
    f = tw.open(path)
    told = {loss.name for loss in f.losses}
    assert told | set(f) == set(right)
    assert not told & set(f)
    for name in f:
        if right[name] is None:
            assert " bits" in name
            continue
        dtype, elements = right[name]
        assert (f[name].dtype, np.asarray(f[name]).tobytes()) == (dtype, elements), name
    assert {loss.code for loss in f.losses} == {"type"}


def test_what_is_proved_is_memory_and_nothing_else_is(tmp_path):
    path = written_bytes(tmp_path / "a.h5", variants(), random_bytes(3))
    f = tw.open(path)
    raw = {name for name in f if f.describe(name).packing == "dense"}
    assert {"I16LE", "I64BE", "F16BE", "U8LE", "FALSE (0, 1) of 1 0 1", "r i side by side of 8 0"} <= raw
    assert not {name for name in raw if " at " in name or "bias" in name or "gap" in name}
    assert all(isinstance(f[name], tw.Tensor) for name in raw)


def test_types_that_nobody_here_has_are_told_and_hide_nothing(tmp_path):
    kinds = {"time": T.UNIX_D32LE, "x": T.STD_I32LE, "wide": biased(T.IEEE_F64LE, 1022)}
    path = written_bytes(tmp_path / "a.h5", kinds, lambda _, kind: bytes(4 * kind.get_size()))
    f = tw.open(path)
    assert f["x"].tolist() == [0, 0, 0, 0]
    assert [(loss.name, loss.code) for loss in f.losses] == [("time", "type"), ("wide", "type")]


@pytest.mark.parametrize("how", [{}, {"chunks": (2,)}, {"chunks": (2,), "compression": "gzip"}])
def test_a_third_truth_value_is_refused_wherever_it_lies(tmp_path, how):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as f:
        f.create_dataset("x", data=np.array([0, 1, 2], np.uint8).view(bool), **how)
    found = tw.open(path)
    with pytest.raises(DataFileError, match=r"a\.h5.*'/?x'.* neither 0 nor 1"):
        np.asarray(found["x"])
    with pytest.raises(DataFileError, match="neither 0 nor 1"):
        np.asarray(found["x"].astype(np.int8))


@pytest.mark.parametrize(
    ("kind", "extents", "expected"),
    [
        (h5py.string_dtype(), (2,), True),
        (h5py.string_dtype("ascii"), (2,), True),
        (h5py.string_dtype(), (3,), False),
        (h5py.string_dtype(), (2, 1), False),
        (h5py.string_dtype(), (), False),
        (h5py.string_dtype(length=8), (2,), False),
        (np.dtype("i8"), (2,), False),
        (h5py.vlen_dtype(np.dtype("i4")), (2,), False),
        (h5py.opaque_dtype("M8[s]"), (2,), False),
    ],
)
def test_names_of_modes_are_one_text_of_any_length_for_each(kind, extents, expected):
    space = h5py.h5s.create_simple(extents) if extents else h5py.h5s.create(h5py.h5s.SCALAR)
    assert are_labels(h5py.h5t.py_create(kind, logical=True), space, 2) is expected
    assert not are_labels(h5py.h5t.py_create(kind, logical=True), h5py.h5s.create(h5py.h5s.NULL), 2)


def test_sequences_whose_bytes_h5py_does_not_swap_are_told(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as f:
        for name, kind in {"big": h5py.h5t.STD_I32BE, "little": h5py.h5t.STD_I32LE}.items():
            space = h5py.h5s.create_simple((2,))
            own = h5py.h5d.create(f.id, name.encode(), h5py.h5t.vlen_create(kind), space)
            h5py.Dataset(own)[0] = np.array([1, 2], "i4")

    with tw.open(tmp_path / "a.h5") as f:
        assert list(f) == ["little"]
        assert f["little"].tolist() == [[1, 2], []]
        assert [(loss.name, loss.code) for loss in f.losses] == [("big", "type")]


@pytest.mark.parametrize("extents", [(), (3,), (2, 3)])
def test_one_odd_field_hides_no_other(tmp_path, extents):
    deep = record(12, ("c", 0, T.STD_I16BE), ("t", 4, T.UNIX_D32LE))
    kind = record(40, ("a", 0, T.STD_I32BE), ("b", 8, T.IEEE_F64LE), ("t", 16, T.UNIX_D32LE), ("d", 24, deep))
    own = np.dtype([("a", "i4"), ("b", "f8"), ("d", [("c", "i2")])])
    given = np.zeros(extents, own)
    given["a"], given["b"] = np.arange(given.size).reshape(extents), 0.5
    given["d"]["c"] = given["a"] + 300
    with h5py.File(tmp_path / "a.h5", "w") as f:
        space = h5py.h5s.create_simple(extents) if extents else h5py.h5s.create(h5py.h5s.SCALAR)
        found = h5py.h5d.create(f.id, b"r", kind, space)
        found.write(h5py.h5s.ALL, h5py.h5s.ALL, given, T.py_create(own))

    with tw.open(tmp_path / "a.h5") as f:
        expected = {"r.a": given["a"], "r.b": given["b"], "r.d.c": given["d"]["c"]}
        assert {name: np.asarray(f[name]).tolist() for name in f} == {
            name: array.tolist() for name, array in expected.items()
        }
        if extents:
            assert np.asarray(f["r.a"][..., ::-2]).tolist() == given["a"][..., ::-2].tolist()
        assert {loss.name: loss.code for loss in f.losses} == {"r.t": "type", "r.d.t": "type"}


@pytest.mark.parametrize("block", [0, 512, 1024])
def test_what_was_never_written_is_what_it_is_filled_with_also_behind_a_user_block(tmp_path, block):
    # HDF5 says "nowhere" as a place in the file there: its word for that, and the bytes of the user block.
    with h5py.File(tmp_path / "late.h5", "w", userblock_size=block) as f:
        f.create_dataset("x", (3, 2), "<i4", fillvalue=7)
        f.create_dataset("t", (2,), "?")
        f.create_dataset("none", (0,), "f8")
        f.create_dataset("r", (2,), np.dtype([("a", "<f8")]))
        f["there"] = [1.5, 2.5]
    for source in (tmp_path / "late.h5", (tmp_path / "late.h5").read_bytes()):
        f = tw.open(source)
        assert {name: f[name].tolist() for name in f} == {
            "none": [],
            "r.a": [0.0, 0.0],
            "t": [False, False],
            "there": [1.5, 2.5],
            "x": [[7, 7]] * 3,
        }


@pytest.mark.parametrize("extents", [(), (3,)])
def test_fields_that_are_wider_in_memory_move_no_others(tmp_path, extents):
    """h5py's own type of such records has fields that overlap."""
    deep = record(7, ("c", 0, BFLOAT), ("d", 2, T.STD_I32BE), ("e", 6, E5M2))
    kind = record(15, ("a", 0, biased(F32, 126)), ("b", 4, T.STD_I32LE), ("deep", 8, deep))
    raw = bytes.fromhex("0000803f 07000000 403f 00000009 3c")
    size = int(np.prod(extents))
    path = written_bytes(tmp_path / "a.h5", {"r": kind}, lambda _, __: raw * size, extents=extents)
    expected = {
        "r.a": ("f8", 2.0),
        "r.b": ("i4", 7),
        "r.deep.c": ("f4", 0.75),
        "r.deep.d": (">i4", 9),
        "r.deep.e": ("f2", 1.0),
    }
    for source in (path, path.read_bytes()):
        with tw.open(source) as f:
            assert set(f) == set(expected)
            assert f.losses == ()
            for name, (dtype, value) in expected.items():
                found = np.asarray(f[name])
                assert (found.dtype, found.tolist()) == (dtype, np.full(extents, value).tolist()), name


@pytest.mark.parametrize("chunked", [False, True])
def test_what_hdf5_does_not_convert_is_told_in_records_and_arrays(tmp_path, chunked):
    """It has no way from a bit field of one big-endian byte, and none is tried."""
    kinds = {
        "alone": T.STD_B8BE,
        "array": T.array_create(T.STD_B8BE, (2,)),
        "r": record(9, ("bits", 0, T.STD_B8BE), ("x", 1, T.STD_I64LE)),
        "e": words(integers(T.STD_I8BE, 5), A=1),
    }
    path = written_bytes(
        tmp_path / "a.h5", kinds, lambda _, kind: bytes(4 * kind.get_size()), chunked=chunked
    )
    with tw.open(path) as f:
        assert {name: np.asarray(f[name]).tolist() for name in f} == {"r.x": [0] * 4}
        assert [(loss.name, loss.code) for loss in f.losses] == [
            ("alone", "type"),
            ("array", "type"),
            ("e", "type"),
            ("r.bits", "type"),
        ]


@pytest.mark.parametrize("base", [T.STD_U8LE, T.STD_I16LE, T.STD_I64BE])
def test_one_truth_value_alone_is_checked_as_many_are(tmp_path, base):
    kind = words(base, **TRUTH)
    raw = (5).to_bytes(kind.get_size(), "big" if base == T.STD_I64BE else "little")
    kinds = {"x": kind, "r": record(kind.get_size(), ("b", 0, kind))}
    path = written_bytes(tmp_path / "a.h5", kinds, lambda _, __: raw, extents=())
    for source in (path, path.read_bytes()):
        f = tw.open(source)
        for name in ("x", "r.b"):
            with pytest.raises(DataFileError, match="neither 0 nor 1"):
                np.asarray(f[name])
