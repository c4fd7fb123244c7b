"""Symmetric tensors on the wire and in files: the packed elements travel, and labels that lie are refused."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import wire
from tensorwrapper.buffer import Symmetric
from tensorwrapper.errors import ConversionError, LocalProtocolError, RemoteProtocolError
from tensorwrapper.shape import Symmetry
from tensorwrapper.wire import Limits, decode
from tests.support.symmetry import extents_of, symmetric_data, symmetries
from tests.support.wire.sent_elements import sent
from tests.support.wire.spoilt_packings import DROP, Spoilt

S = Symmetry
S8 = S.parse("s8")
SWAP = [[1, 0], 1, False]
GOOD = Spoilt(
    "symmetric", [6], {"version": 1, "shape": [3, 3], "generators": [SWAP]}, bytes([1, 2, 3, 4, 5, 6])
)


def described(*tensors, **options):
    return decode(wire.encode(tensors, **options)).label_object["TENS"]["tensors"]


@given(symmetries(4), st.data())
def test_any_symmetric_tensor_comes_back(drawn, data):
    s = drawn[2]
    x = symmetric_data(s, extents_of(s, data), seed=31)
    t = tw.as_tensor(x).to_packed(s)
    (got,) = sent(t)
    np.testing.assert_array_equal(np.asarray(got.to_dense()), x)
    if not s.is_trivial:
        assert got.symmetry == s
        assert got.packed_values().tobytes() == t.packed_values().tobytes()


@pytest.mark.parametrize("dtype", ["i1", "f2", "f4", "c8", "m8[s]", ">f8", ">i4"])
def test_elements_of_any_type_come_back(dtype):
    values = np.array([1, 2, 3]).astype(dtype)
    (got,) = sent(tw.from_packed(values, "a2", (3, 3)))
    assert got.symmetry == S.parse("a2")
    assert got.packed_values().tolist() == values.tolist()
    assert got.is_readonly
    assert not got.packed_values().flags.writeable


def test_the_label_has_generators_and_the_part_the_packed_elements():
    values = np.arange(406.0)
    t = tw.from_packed(values, "s8", (7,) * 4)
    frames = wire.encode([t])
    assert np.shares_memory(np.frombuffer(frames[2]), values)
    (item,) = described(t)
    assert (item["packing"], item["shape"]) == ("symmetric", [406])
    assert item["symmetric"] == {
        "version": 1,
        "shape": [7, 7, 7, 7],
        "generators": [[[0, 1, 3, 2], 1, False], [[1, 0, 2, 3], 1, False], [[2, 3, 0, 1], 1, False]],
    }
    assert described(t, compress="zlib")[0]["packing"] == "symmetric"


def test_parts_travel_packed_where_they_have_a_symmetry():
    t = tw.from_packed(np.arange(406.0), "s8", (7,) * 4)
    parts = [t[3], t[:, :, :2, :2], t.permute(0, 2, 1, 3), t.translate_to((1, 1, 0, 0)), t.named(*"ijkl")]
    for part, got in zip(parts, sent(*parts), strict=True):
        assert got.symmetry == part.symmetry
        assert got.shape == part.shape
        assert got.array_equal(part)
    tiled = t.tiled(tw.Tiling(*[[3, 4]] * 4))
    others = [t[0, :, 1], t.diagonal(0, 1), tiled]
    for part, got in zip(others, sent(*others), strict=True):
        assert got.shape == part.shape
        assert got.tolist() == part.tolist()


A = tw.from_packed([1.0, 2.0, 3.0], "a2", (3, 3))
B = tw.from_packed(np.arange(9.0), S.antisymmetric(0, 1, rank=4) | S.antisymmetric(2, 3, rank=4), (3,) * 4)


@pytest.mark.parametrize(
    "zeros",
    [A[1:2, 1:2], A[1, 1], A[1:2, 1:2].copy(), B[:, :, 1, 1], B[0, 0], B[:, :, 1:2, 1:2]],
    ids=["element", "number", "copy", "columns", "rows", "box"],
)
def test_parts_that_the_symmetry_makes_zero_travel_as_zeros(zeros, tmp_path):
    assert zeros.symmetry.is_zero
    (got,) = sent(zeros)
    assert (got.shape, got.dtype) == (zeros.shape, zeros.dtype)
    assert np.array_equal(got, np.zeros(zeros.shape.extents))
    path = tmp_path / "zeros.tens"
    tw.save(path, {"zeros": zeros, "other": np.arange(3)})
    with tw.open(path) as file:
        assert file["other"].tolist() == [0, 1, 2]
        assert np.array_equal(file["zeros"], np.zeros(zeros.shape.extents))


def test_readers_that_know_boxes_alone_are_not_misled():
    t = tw.from_packed(np.arange(6.0), "s2", (3, 3))
    with pytest.raises(LocalProtocolError, match=r"strict.*symmetric"):
        wire.encode([t], compat="strict")
    frames = [bytes(frame) for frame in wire.encode([t, np.arange(3.0)])]
    label = json.loads(frames[0][8:])
    label["TENS"]["tensors"][0]["packing"] = "unheard-of"
    frames[0] = frames[0][:8] + json.dumps(label).encode()
    got = decode(frames).tensors
    assert got[1].tolist() == [0, 1, 2]
    with pytest.raises(RemoteProtocolError, match="unheard-of"):
        got[0]


def test_files_keep_the_packing_and_map_it(tmp_path):
    t = tw.from_packed(np.arange(406.0), "s8", (7,) * 4)
    path = tmp_path / "integrals.tens"
    tw.save(path, {"eri": t, "part": t[0]})
    with tw.open(path) as file:
        got = file["eri"]
        assert got.symmetry == S8
        assert got.buffer.filename == str(path)
        assert got[5, 1, 2, 2].item() == 141
        assert file["part"].symmetry == S.symmetric(1, 2, rank=3)
        assert got.array_equal(t)


def test_symmetric_tensors_do_not_grow(tmp_path):
    t = tw.from_packed(np.arange(6.0), "s2", (3, 3))
    path = tmp_path / "grown.tens"
    with tw.open(path, "a") as file:
        file["s"], file["d"] = t, np.zeros((1, 3))
        for name in ("s", "d", "new"):
            with pytest.raises(ConversionError, match=rf"extend '{name}'.*to_dense\(\)"):
                file.extend(name, t)
        file.extend("d", t.to_dense())
    with tw.open(path) as file:
        assert file["d"].shape.extents == (4, 3)


# Labels that lie.


def test_what_the_table_spoils_is_good():
    (got,) = decode(GOOD.frames()).tensors
    assert got.tolist() == [[1, 2, 4], [2, 3, 5], [4, 5, 6]]
    assert isinstance(got.buffer, Symmetric)
    (plain,) = decode(GOOD.frames(generators=[], shape=[9], parts={0: bytes(9)})).tensors
    assert plain.symmetry.is_trivial


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"generators": DROP}, "schema"),
        ({"generators": None}, "schema"),
        ({"generators": {}}, "schema"),
        ({"generators": [[[1, 0], 1]]}, "schema"),
        ({"generators": [[[1, 0], 0, False]]}, "schema"),
        ({"generators": [[[1, 0], True, False]]}, "schema"),
        ({"generators": [[[1, 0], 1, 0]]}, "schema"),
        ({"generators": [[[0, 0], 1, False]]}, "schema"),
        ({"generators": [[[1, 0, 2], 1, False]]}, "schema"),
        ({"generators": [[[1, 2], 1, False]]}, "limit"),
        ({"generators": [[[1, 0], 2, False]]}, "limit"),
        ({"generators": [[[1, 0], 10**30, False]]}, "limit"),
        ({"generators": [SWAP] * 17}, "limit"),
        ({"generators": [SWAP] * 10**5}, "limit"),
        ({"generators": [[[0, 1], -1, False]]}, "layout"),
        ({"generators": [SWAP, [[1, 0], -1, False]]}, "layout"),
        ({"generators": [[[1, 0], -1, False]]}, "size"),
        ({"generators": []}, "size"),
        ({"shape": [5]}, "size"),
        ({"shape": [7], "parts": {0: bytes(7)}}, "size"),
        ({"version": 2}, "unsupported"),
        ({"version": DROP}, "schema"),
        ({"packed": None}, "schema"),
        ({"packed": {"version": 1, "shape": [2, 3], "generators": [SWAP]}}, "layout"),
        ({"packed": {"version": 1, "shape": [3], "generators": [SWAP]}}, "schema"),
        ({"packed": {"version": 1, "shape": [1] * 9, "generators": []}}, "limit"),
        ({"packed": {"version": 1, "shape": [2**33, 2**33], "generators": [SWAP]}}, "size"),
        ({"packed": {"version": 1, "shape": [-3, -3], "generators": [SWAP]}}, "schema"),
        ({"packed": {"version": 1, "shape": "3, 3", "generators": [SWAP]}}, "schema"),
        ({"packed": {"version": 1, "generators": [SWAP]}}, "schema"),
        (
            {"packed": {"version": 1, "shape": [3, 3], "generators": [SWAP], "packing": "sparse"}},
            "unsupported",
        ),
    ],
)
def test_labels_that_lie_are_refused(changed, reason):
    assert GOOD.reason(**changed) == reason


def test_a_group_is_closed_within_limits_and_its_table_is_counted():
    cycle = [[*range(1, 8), 0], 1, False]
    swap = [[1, 0, *range(2, 8)], 1, False]
    conjugate = [[*range(8)], 1, True]
    large = {"version": 1, "shape": [1] * 8, "generators": [cycle, swap, conjugate]}
    assert GOOD.reason(packed=large, shape=[1], parts={0: b"1"}) == "limit"
    n = 2**15
    lying = {"version": 1, "shape": [n] * 4, "generators": [[[1, 0, 3, 2], 1, False]]}
    assert GOOD.reason(packed=lying) == "limit"
    few = {"version": 1, "shape": [4] * 4, "generators": [[[1, 0, 3, 2], 1, False]]}
    frames = GOOD.frames(packed=few, shape=[136], parts={0: bytes(136)})
    assert decode(frames).tensors[0].size == 256
    with pytest.raises(RemoteProtocolError, match="decompressed_bytes"):
        decode(frames, limits=Limits(decompressed_bytes=2000))


def test_a_label_with_any_byte_changed_is_refused_or_read():
    frames = GOOD.frames()
    label = frames[0]
    start = label.index(b'"generators"')
    for place in range(start, len(label)):
        for byte in (label[place] ^ 1, label[place] ^ 4, ord("9")):
            frames[0] = label[:place] + bytes([byte]) + label[place + 1 :]
            try:
                (got,) = decode(frames).tensors
            except RemoteProtocolError:
                continue
            assert got.size in (6, 9)
            got.tolist()
