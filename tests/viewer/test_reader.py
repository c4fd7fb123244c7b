"""The JavaScript reader has the names and values that Python has, of every kind of tensor."""

import importlib.util
import json

import ml_dtypes
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.store.records._format import VERSION
from tests.support.viewer import NODE, READER, call_by_node, read_by_node, told
from tests.viewer.test_mutated import made_sound, records

pytestmark = pytest.mark.skipif(NODE is None, reason="Node is not installed")

TILED = tw.as_tensor(np.arange(9.0).reshape(3, 3)).tiled(tw.Tiling([2, 1], [1, 2]))
HALVES = tw.Tiling([1, 2], [1, 2])
BIG = {"compress": "zlib"}
ROWS = [
    (np.arange(6, dtype="i4").reshape(2, 3), {}),
    (np.array(3.5), {}),
    (np.zeros((0, 3)), {}),
    (np.array([True, False]), {}),
    (np.array([-128, 127], "i1"), {}),
    (np.array([2**63 - 1, -(2**63)]), {}),
    (np.array([2**64 - 1], "u8"), {}),
    (np.array([2**53 + 1]), {}),
    (np.array([6e-8, 65504, np.nan, -0.0, np.inf], "f2"), {}),
    (np.array([0.1, 1e-45], "f4"), {}),
    (np.array([np.nan, -np.inf, 5e-324, -0.0]), {}),
    (np.array([1 + 2j]), {}),
    (np.array([1 + 2j], "c8"), {}),
    (np.array(["2020-01-01", "NaT"], "M8[D]"), {}),
    (np.array([1.5, -2], ml_dtypes.bfloat16), {}),
    (np.array([1.5, -2], ml_dtypes.float8_e4m3fn), {}),
    (tw.jagged([[1, 2, 3], [], [4]]), {}),
    (tw.jagged([[[1.5], [2.5, 3.5]], [], [[], [4.0]]]), {}),
    (tw.jagged([np.arange(4.0).reshape(2, 2), np.zeros((0, 3))]), {}),
    (tw.jagged([[], []], dtype="f4"), {}),
    (tw.jagged([[1, 2, 3], [7], [4, 5]])[1:], {}),
    (TILED, {}),
    (tw.from_buffer(np.arange(9.0), TILED.shape), {}),
    (TILED[1:], {}),
    (tw.from_buffer(np.arange(6.0), tw.Shape.triangular(3, "lower")), {}),
    (tw.from_buffer(np.arange(6), tw.Shape.triangular(3, "upper")), {}),
    (tw.from_buffer(np.arange(6, dtype="u1"), tw.Shape.nested(tw.Shape(2, 3), layers=(1, 1))), {}),
    (tw.from_buffer(np.arange(6.0), tw.Shape(2, 3, origin=(5, -7))), {}),
    (tw.sparse([(0, 1), (2, 3)], np.array([5, 7], "<i2"), tw.Shape(3, 4), fill_value=-1), {}),
    (tw.sparse([(1, 1)], np.array([5.0]), tw.Shape(2, 2)), {}),
    (tw.strings(["a", None, "日本", ""]), {}),
    (tw.strings([["x", "yy"], ["", "zzz"]]), {}),
    (tw.strings([b"\xff\x00", b"a"]), {}),
    (tw.strings([["a", "b"], [], ["ccc"]]), {}),
    (tw.strings(["\ufeffbom", "<b>"]), {}),
    (np.arange(200000, dtype="i4") // 1000, BIG),
    (tw.jagged([[1] * 300, [], [2] * 900]), BIG),
    (np.arange(5000) % 7 == 0, BIG),
    (np.arange(4000.0).reshape(400, 10), {"piece_bytes": 8000}),
    (np.arange(200000, dtype="u1"), {}),
    # What came to the format since: nulls, blocks, symmetry.
    (tw.as_tensor([5, None, 7, 8]), {}),
    (tw.jagged([[1, None], [], [3]]), {}),
    (tw.nullable(np.arange(3000), np.arange(3000) % 3 > 0), BIG),
    (
        tw.blocks(
            {(0, 0): np.array([[1, 2]], "u1"), (1, 1): np.array([[3], [4]], "u1")}, tw.Tiling([1, 2], [2, 1])
        ),
        {},
    ),
    (tw.from_packed(np.array([1, 2, 3], "<i2"), "s2", (2, 2)), {}),
    (tw.from_packed(np.arange(1.0, 4.0), "a2", (3, 3)), {}),
    (tw.from_packed([1 + 0j, 2j, 3], "h2", (2, 2)), {}),
    (tw.from_packed(np.arange(6.0), "s8", (2, 2, 2, 2)), {}),
    (
        tw.blocks({(1, 0): np.array([[2], [3]]), (1, 1): np.array([[4, 5], [5, 6]])}, HALVES, symmetry="s2"),
        {},
    ),
    (tw.blocks({(1, 0): np.array([[2.0], [3]])}, HALVES, symmetry="a2"), {}),
    (tw.blocks({(1, 0): np.array([[2j], [3 + 1j]])}, HALVES, symmetry="h2"), {}),
    # Pieces: of tiles, and of rows of which some get smaller by compression.
    (TILED, {"piece_bytes": 40}),
    (tw.jagged([[0] * 40, [0] * 40, [7, 9], [11]]), {"piece_bytes": 200, **BIG}),
    (np.array([1, -1], "m8[s]"), {}),
    (np.array(["1969-12-31T23:59:59.999", "2000-02-29T12:00:00.001"], "M8[ms]"), {}),
    (np.array(["1969-12", "2001-03", "-005-03"], "M8[M]"), {}),
    (np.array([-(10**5), 4 * 10**6, -719528, -719529, 0, 11016, 59], "M8[D]"), {}),
    (np.array([-(10**8), 10**8, 7], "M8[h]"), {}),
    (np.array([-(10**10), 10**11, 61], "M8[m]"), {}),
    (np.array([-(10**12), 10**12], "M8[s]"), {}),
    (np.array([-1, 2**62], "M8[ns]"), {}),
    (np.array([-5, 12345], "M8[Y]"), {}),
    (np.array([-5000, 5], "M8[W]"), {}),
    *[
        (np.arange(256, dtype="u1").view(kind), {})
        for kind in (
            ml_dtypes.float8_e5m2,
            ml_dtypes.float8_e4m3fnuz,
            ml_dtypes.float8_e5m2fnuz,
            ml_dtypes.float8_e4m3b11fnuz,
            ml_dtypes.float8_e3m4,
            ml_dtypes.float8_e4m3,
            ml_dtypes.float8_e8m0fnu,
        )
    ],
]


def expected(tensor):
    kind = tensor.dtype.kind
    if kind in "mM":
        texts = (
            np.datetime_as_string(tensor.elements())
            if kind == "M"
            else [f"{int(own)} {np.datetime_data(tensor.dtype)[0]}" for own in tensor.elements().astype("i8")]
        )
        return [None if text == "NaT" else str(text) for text in texts]
    if kind == "V":
        return told(np.asarray(tensor).astype("f4").tolist())
    return told(tensor.tolist())


def test_every_kind_of_tensor_has_the_values_of_python(tmp_path):
    paths = []
    for number, (tensor, options) in enumerate(ROWS):
        paths.append(tmp_path / f"{number}.tens")
        tw.save(paths[-1], {"x": tensor}, metadata={"n": number}, **options)
    for number, (path, answer) in enumerate(zip(paths, read_by_node(paths), strict=True)):
        assert answer.get("metadata") == {"n": number}, answer
        assert answer["how"] == "index"
        with tw.open(path) as file:
            assert answer["tensors"]["x"] == {"values": expected(tw.as_tensor(file["x"]))}, ROWS[number]


def test_all_in_one_file_with_records_and_extensions_and_without_an_index(tmp_path):
    path = tmp_path / "all.tens"
    with tw.open(path, "a") as file:
        for number, (tensor, _) in enumerate(ROWS):
            file[f"t{number}"] = tensor
        for k in range(3):
            file.extend("hits", tw.jagged([[k, k + 1], []]))
            file.extend("box", np.full((2, 3), k))
            file.extend("ev", {"t": tw.jagged([[k], []]), "run": [k, k + 10]})
            file.flush()
        raw = path.read_bytes()
    whole = path.read_bytes()
    bare = tmp_path / "bare.tens"
    bare.write_bytes(raw[: raw.rindex(b"\x89TENS")])
    paths = [path, bare]
    for answer, how in zip(read_by_node(paths), ("index", "scan"), strict=True):
        assert answer["how"] == how, answer
        with tw.open(path) as file:
            assert set(answer["tensors"]) == set(file)
            for name, tensor in file.items():
                assert answer["tensors"][name] == {"values": expected(tw.as_tensor(tensor.copy()))}, name
    assert len(whole) > len(bare.read_bytes())


def test_messages_are_decoded(tmp_path):
    tensors = [tensor for tensor, _ in ROWS]
    path = tmp_path / "message.bin"
    path.write_bytes(tw.wire.encode_frames(tw.wire.encode(tensors)))
    (answer,) = read_by_node([path], "message")
    for tensor, found in zip(tensors, answer["tensors"], strict=True):
        assert found == {"values": expected(tw.as_tensor(tensor))}


HOSTILE = [
    ({"dtype": "u", "word": 1, "shape": [10, 2**29, 0], "part": 0}, [b""]),
    (
        {
            "dtype": "u",
            "word": 1,
            "shape": [0],
            "part": 0,
            "packing": "jagged",
            "jagged": {"version": 1, "cell_rank": 2, "splits": [], "cells": 1},
        },
        [b"", np.array([2**26, 0] * 200, "<i8").tobytes()],
    ),
    (
        {
            "dtype": "u",
            "word": 1,
            "shape": [0],
            "part": 0,
            "packing": "jagged",
            "jagged": {"version": 1, "cell_rank": 2, "splits": [], "cells": 1},
        },
        [b"", np.array([2**36, 0], "<i8").tobytes()],
    ),
    (
        {
            "dtype": "u",
            "word": 1,
            "shape": [0],
            "part": 0,
            "packing": "tiled",
            "tiled": {"version": 1, "marks": [1, 2], "storage": "tiles"},
        },
        [b"", np.array([0, 2**36], "<i8").tobytes(), np.array([0, 0], "<i8").tobytes()],
    ),
    (
        {
            "dtype": "u",
            "word": 1,
            "shape": [1],
            "part": 0,
            "packing": "tiled",
            "tiled": {"version": 1, "marks": [1] * 20 + [2] * 12, "storage": "tiles"},
        },
        [b"x", np.array([0, 0, 1], "<i8").tobytes(), np.array([0, 1], "<i8").tobytes()],
    ),
    ({"dtype": "u", "word": 1, "shape": [1], "part": 0, "mode_names": 5}, [b"x"]),
    ({"dtype": "u", "word": 1, "shape": [1], "part": 0, "mode_names": "a"}, [b"x"]),
    ({"dtype": "u", "word": 1, "shape": [1], "part": 0, "origin": 5}, [b"x"]),
    ({"dtype": "u", "word": 1, "shape": [1], "part": 0, "layers": [2]}, [b"x"]),
    ({"dtype": "u", "word": 1, "shape": [1], "part": None}, [b"x"]),
    ({"dtype": "u", "word": 1, "shape": [1], "part": 0, "packing": {"a": 1}}, [b"x"]),
    ({"dtype": "u", "word": 1, "shape": [1], "part": {"a": 1}}, [b"x"]),
    ({"dtype": "u", "word": 1, "shape": [1], "part": 0.0}, [b"x"]),
    ({"dtype": "u", "word": 1.0, "shape": [1], "part": 0}, [b"x"]),
    ({"dtype": "u", "word": 1, "shape": [1], "part": 0, "origin": [2**62 + 1]}, [b"x"]),
    (
        {
            "dtype": "u",
            "word": 1,
            "shape": [],
            "part": 0,
            "packing": "triangular",
            "triangular": {"version": 1, "n": 1, "half": "lower", "diagonal": True},
        },
        [b"x"],
    ),
    *[
        (
            {
                "dtype": "i",
                "word": 1,
                "shape": [1],
                "part": 0,
                "packing": "symmetric",
                "symmetric": {"version": 1, "shape": [1, 1], "generators": [generator]},
            },
            [b"x"],
        )
        for generator in (
            [[1, 2**63], 1, False],
            [[1, 0], 2**63, False],
            [[{"a": 1}, 0], 1, False],
            [[[1], 0], 1, False],
        )
    ],
    *[
        (
            {
                "dtype": "u",
                "word": 1,
                "shape": [0],
                "part": 0,
                "packing": "jagged",
                "jagged": {"version": 1, "cell_rank": 1, "splits": [], "cells": 1, **wrong},
            },
            [b"", bytes(16)],
        )
        for wrong in (
            {"cell_rank": -(2**63)},
            {"version": {"a": 1}},
            {"absent": [0]},
            {"origins": 3},
            {"origins": [{"part": 1}, 0]},
        )
    ],
]


def test_hostile_messages_are_refused_without_a_hang(tmp_path):
    paths = []
    for number, (entry, parts) in enumerate(HOSTILE):
        label = json.dumps({"TENS": {"tensors": [entry]}}).encode()
        paths.append(tmp_path / f"{number}.bin")
        paths[-1].write_bytes(tw.wire.encode_frames([b"ZIO0TENS" + label, bytes(24), *parts]))
    for answer, (entry, _) in zip(read_by_node(paths, "message"), HOSTILE, strict=True):
        found = answer["tensors"][0] if "tensors" in answer else answer
        assert found["refused"] in ("limit", "schema", "size", "layout", "unsupported"), (entry, found)


def test_damaged_parts_are_refused_where_checksums_tell(tmp_path):
    frames = tw.wire.encode([np.arange(3, dtype="u1")], checksum="crc32")
    paths = [tmp_path / "sound.bin", tmp_path / "damaged.bin"]
    paths[0].write_bytes(tw.wire.encode_frames(frames))
    paths[1].write_bytes(tw.wire.encode_frames([*frames[:2], b"\0\1\3"]))
    sound, damaged = read_by_node(paths, "message")
    assert sound["tensors"] == [{"values": [0, 1, 2]}]
    assert damaged["refused"] == "integrity"


def test_a_large_index_that_is_damaged_is_none(tmp_path):
    path = tmp_path / "many.tens"
    with tw.open(path, "a") as file:
        for k in range(6000):
            file[f"tensor_number_{k}"] = np.array([k])
    raw = bytearray(path.read_bytes())
    place = raw.rindex(b"tensor_number_5tensor_number_6")
    raw[place] ^= 1
    path.write_bytes(raw)
    (answer,) = read_by_node([path])
    assert answer["how"] == "scan"
    assert answer["tensors"]["tensor_number_5"] == {"values": [5]}
    assert len(answer["tensors"]) == 6000


def test_the_versions_of_the_formats_are_those_that_python_writes():
    line = next(own for own in READER.read_text().splitlines() if own.startswith("export const FORMAT"))
    said = json.loads(
        line.partition("=")[2].strip(" ;").replace("file", '"file"').replace("message", '"message"')
    )
    assert said == {"file": VERSION, "message": 1}


def test_stored_views_are_told_as_what_they_are(tmp_path):
    for k in range(2):
        tw.save(tmp_path / f"run{k}.tens", {"x": np.full((3, 2), k)})
    runs = [tw.open(tmp_path / f"run{k}.tens") for k in range(2)]
    path = tmp_path / "all.tens"
    tw.save(path, {"x": tw.concat([run["x"] for run in runs]), "y": np.arange(3)}, keep_views=True)
    for run in runs:
        run.close()
    raw = path.read_bytes()
    bare = tmp_path / "bare.tens"
    bare.write_bytes(raw[: raw.rindex(b"\x89TENS")])
    for own in (path, bare):
        (answer,) = read_by_node([own])
        assert sorted(answer["tensors"]) == ["x", "y"]
        assert answer["tensors"]["y"] == {"values": [0, 1, 2]}
        assert answer["tensors"]["x"]["refused"] == "unsupported"
        assert "a stored view of 2 sources" in answer["tensors"]["x"]["text"]
        x, y = call_by_node(own, [("", "sources", "x"), ("", "sources", "y")])
        assert [source["file"] for source in x["values"]] == ["run0.tens", "run1.tens"]
        assert y["values"] is None


@pytest.mark.skipif(importlib.util.find_spec("xxhash") is None, reason="xxhash is not installed")
def test_the_checksum_of_long_records_is_verified(tmp_path):
    path = tmp_path / "long.tens"
    tensors = {
        f"t{n}": np.random.default_rng(n).integers(0, 256, n, "u1") for n in (17_000, 65_536, 3_000_001)
    }
    tw.save(path, tensors)
    raw = bytearray(path.read_bytes())
    assert raw.count(b"\x02\x00\x02\x00") >= 3
    assert [own["values"] for own in call_by_node(path, [("", "verify", name) for name in tensors])] == [
        True
    ] * 3
    for name, tensor in tensors.items():
        at = raw.index(tensor.tobytes()) + len(tensor) - 1
        raw[at] ^= 4
        path.write_bytes(raw)
        assert call_by_node(path, [("", "verify", name)])[0]["values"] is False
        raw[at] ^= 4


@pytest.mark.skipif(importlib.util.find_spec("xxhash") is None, reason="xxhash is not installed")
def test_xxh3_of_any_length_is_that_of_its_package(tmp_path):
    rng = np.random.default_rng(3)
    parts = [rng.integers(0, 256, n, "u1") for n in (*range(300), 1023, 1024, 1025, 4096, 5000, 100_001)]
    path = tmp_path / "message.bin"
    path.write_bytes(tw.wire.encode_frames(tw.wire.encode(parts, checksum="xxh3")))
    (answer,) = read_by_node([path], "message")
    assert answer["tensors"][0] == {"values": []}
    damaged = bytearray(path.read_bytes())
    damaged[-1] ^= 1
    path.write_bytes(damaged)
    assert read_by_node([path], "message")[0]["refused"] == "integrity"


def test_an_index_with_a_name_that_is_none_is_refused(tmp_path):
    path = tmp_path / "names.tens"
    tw.save(path, {"ab": [1]})
    sound = path.read_bytes()
    place, length = list(records(sound))[-1]
    at = sound.index(b"ab", place)
    for name in (b"a\x01", b"a/", b"..", b"\\a", b"\xc2\x85"):
        raw = bytearray(sound)
        raw[at : at + 2] = name
        made_sound(raw, place, length)
        path.write_bytes(raw)
        with pytest.raises(tw.errors.DataFileError, match="an invalid name"), tw.open(path):
            pass
        assert read_by_node([path])[0]["refused"] == "layout", name


def test_an_index_of_other_fields_is_none_and_one_that_extends_metadata_is_refused(tmp_path):
    path = tmp_path / "grown.tens"
    with tw.open(path, "a") as file:
        for k in range(2):
            file.extend("ev", {"t": tw.jagged([[k], []]), "run": [k, k + 10]})
    sound = path.read_bytes()
    place, length = list(records(sound))[-1]
    said = b'{"ev":["t","run"]}'
    at = sound.index(said, place)
    for other in (b'""', b"1.0", b'{"ev":["t",""]}', b'{"ev":["t","t"]}', b'{"ev":[]}', b'{"ev":7}'):
        raw = bytearray(sound)
        raw[at : at + len(said)] = other.ljust(len(said))
        made_sound(raw, place, length)
        path.write_bytes(raw)
        (answer,) = read_by_node([path])
        assert answer["how"] == "scan", other
        with tw.open(path) as file:
            assert sorted(answer["tensors"]) == sorted(file) == ["ev.run", "ev.t"]
    extends = np.array([-1, -1, 2], "<i8").tobytes()
    at = sound.rindex(extends)
    raw = bytearray(sound)
    raw[at : at + 8] = bytes(8)
    made_sound(raw, place, length)
    path.write_bytes(raw)
    with pytest.raises(tw.errors.DataFileError, match="an extension of metadata"), tw.open(path):
        pass
    assert read_by_node([path])[0]["refused"] == "layout"
