"""HDF5 files are opened by path; h5py writes them, and says what is right."""

import gc
import pickle
import shutil

import h5py
import numpy as np
import pytest
import zarr

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, DataFileError, TensorWrapperError, VersionChangedError
from tensorwrapper.wire import Limits
from tests.support.store.saved import BOXES


def written(folder, **arrays):
    path = folder / "a.h5"
    with h5py.File(path, "w") as f:
        for name, array in arrays.items():
            f.create_dataset(name.replace("__", "/"), **array if isinstance(array, dict) else {"data": array})
    return path


@pytest.mark.parametrize("name", [name for name, a in BOXES.items() if isinstance(a, np.ndarray)])
def test_what_h5py_wrote_is_read(tmp_path, name):
    array = BOXES[name]
    found = tw.open(written(tmp_path, group__inner__x=array))["group/inner/x"]
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(np.asarray(found), array)


@pytest.mark.parametrize("key", [np.s_[3], np.s_[::-7, 2:9], np.s_[[5, 1, 5], ::30], np.s_[2:2]])
@pytest.mark.parametrize("how", [{}, {"chunks": (7, 50)}, {"chunks": (7, 50), "compression": "gzip"}])
def test_parts_are_read_of_whatever_lies_as_it_lies(tmp_path, how, key):
    array = np.arange(2000.0).reshape(20, 100)
    found = tw.open(written(tmp_path, x={"data": array, **how}))["x"]
    np.testing.assert_array_equal(np.asarray(found[key]), array[key])


def test_what_lies_in_one_piece_is_memory(tmp_path):
    path = written(tmp_path, x=np.arange(12.0).reshape(3, 4))
    with tw.open(path) as f:
        first, second = f["x"], f["x"]
        assert f.describe("x").packing == "dense"
        assert f.describe("x").start == h5py.File(path)["x"].id.get_offset()
    assert isinstance(first, tw.Tensor)
    assert first.is_readonly
    assert np.shares_memory(first.elements(), second.elements())
    assert sel.as_view(first).plan().reads[0].source.owner.filename == str(path)


def test_of_chunks_those_are_read_that_are_needed(tmp_path):
    path = written(tmp_path, x={"data": np.arange(10_000.0).reshape(100, 100), "chunks": (10, 10)})
    f = tw.open(path)
    part = f["x"][5:7, 11]
    read = part.plan().reads[0]
    assert (part.plan().bytes_read, read.source.cost(read.selections[0])) == (16, 800)
    assert f.describe("x").packing == "chunked"
    assert "a.h5" in repr(part.plan().reads[0].source)
    assert part.tolist() == [511.0, 611.0]


def test_views_outlive_the_file_that_they_are_of(tmp_path):
    with tw.open(written(tmp_path, x={"data": np.arange(100.0), "chunks": (10,)})) as f:
        view = f["x"]
    del f
    gc.collect()
    assert view[42].item() == 42.0


def test_dimension_labels_are_names_where_they_can_be(tmp_path):
    path = written(tmp_path, x=np.zeros((2, 3, 4)))
    with h5py.File(path, "a") as f:
        f["x"].dims[0].label, f["x"].dims[1].label = "event", "no name"
    assert tw.open(path)["x"].shape.names == ("event", None, None)


@pytest.mark.parametrize("text", [["a", "ü", "", "long" * 99], [["a", "b"], ["c", "d"]]])
def test_strings_are_read(tmp_path, text):
    array = np.array(text, dtype=object)
    path = written(
        tmp_path, vlen={"data": array, "dtype": h5py.string_dtype()}, fixed=np.array([b"ab", b"c"], "S4")
    )
    f = tw.open(path)
    assert f["vlen"].tolist() == text
    assert f["fixed"].tolist() == ["ab", "c"]
    assert f.describe("vlen").packing == "strings"


@pytest.mark.parametrize("octets", [[b"\xff\xfe", b"ab"], [b"\xc3", b""], [b"\xed\xa0\x80"]])
def test_text_that_is_none_is_bytes_in_every_reader(tmp_path, octets):
    fixed, vlen = np.array(octets, "S4"), np.array(octets, object)
    path = written(tmp_path, s=fixed, v={"data": vlen, "dtype": h5py.string_dtype()}, ok=[1])
    np.savez(tmp_path / "a.npz", s=fixed)
    zarr.create_array(str(tmp_path / "a.zarr"), data=fixed, zarr_format=2)
    f = tw.open(path)
    found = [f["s"], f["v"], tw.open(tmp_path / "a.npz")["s"], tw.open(tmp_path / "a.zarr")["array"]]
    with h5py.File(path) as file:
        found += [tw.as_tensor(file["s"]), tw.as_tensor(file["v"])]
    for own in found:
        assert (own.tolist(), own.to_string_data().kind) == (octets, "binary")


def test_sequences_are_rows(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as f:
        kind = h5py.vlen_dtype(np.dtype("i4"))
        for name, extents in {"rows": (4,), "cells": (2, 2), "one": ()}.items():
            f.create_dataset(name, extents, kind)
        f["rows"][0], f["rows"][3] = [1, 2], [3]
        f["cells"][1, 0] = [5, 6, 7]
        f["one"][()] = np.array([8, 9], "i4")
    f = tw.open(path)
    assert f["rows"].shape == tw.Shape.jagged([2, 0, 0, 1])
    assert (f["rows"].dtype, f["rows"].tolist()) == (np.int32, [[1, 2], [], [], [3]])
    assert f["cells"].tolist() == [[[], []], [[5, 6, 7], []]]
    assert f["one"].tolist() == [8, 9]


def test_what_is_no_tensor_is_said(tmp_path):
    path = written(
        tmp_path,
        x=[1],
        null=h5py.Empty("f4"),
        record=np.zeros(3, [("a", "i4"), ("b", "f8")]),
        ref={"shape": (2,), "dtype": h5py.ref_dtype},
        away={"shape": (2,), "dtype": "f8", "external": [(str(tmp_path / "raw"), 0, 16)]},
    )
    with h5py.File(path, "a") as f:
        f.create_virtual_dataset("virtual", h5py.VirtualLayout((1,), "i8"))
        f["soft"], f["other"] = h5py.SoftLink("/x"), h5py.ExternalLink("b.h5", "/x")
    f = tw.open(path)
    assert list(f) == ["record.a", "record.b", "x"]
    for word in ["null", "ref", "away", "virtual"]:
        assert any(f"'{word}'" in loss for loss in f.losses), word
    assert [(loss.name, loss.code) for loss in f.losses] == [
        ("away", "link"),
        ("null", "empty"),
        ("ref", "objects"),
        ("virtual", "link"),
        ("other", "link"),
    ]


def test_extents_that_no_reader_takes_are_refused(tmp_path):
    path = written(tmp_path, x={"shape": (2**40, 4), "dtype": "f8", "chunks": (16, 4)})
    with pytest.raises(DataFileError, match="extent"):
        tw.open(path)["x"]
    ok = tw.open(path, limits=Limits(extent=2**41))["x"]
    assert ok[2**39 : 2**39 + 2, 0].tolist() == [0.0, 0.0]


def test_text_and_sequences_are_counted_before_they_are_all_read(tmp_path):
    path = written(tmp_path, s={"data": ["x" * 1000] * 2000, "dtype": h5py.string_dtype()})
    with pytest.raises(DataFileError, match="decompressed_bytes"):
        tw.open(path, limits=Limits(decompressed_bytes=10**6))["s"]


@pytest.mark.parametrize("size", [0, 5, 100, 1000, 3000])
def test_a_file_that_was_cut_is_refused(tmp_path, size):
    path = written(tmp_path, x={"data": np.arange(4000.0), "chunks": (100,)})
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(DataFileError):
        tw.open(path)["x"].compute()


@pytest.mark.parametrize("seed", range(40))
def test_bytes_that_changed_are_read_or_refused(tmp_path, seed):
    tw.save(
        tmp_path / "a.h5", {"rows": tw.jagged([[1], [2, 3]]), "x": np.arange(9), "s": tw.strings(["a", "b"])}
    )
    raw = bytearray((tmp_path / "a.h5").read_bytes())
    rng = np.random.default_rng(seed)
    for place in rng.integers(0, len(raw), 12):
        raw[place] = rng.integers(256)
    (tmp_path / "a.h5").write_bytes(raw)
    try:
        with tw.open(tmp_path / "a.h5") as f:
            for name in f:
                np.asarray(f[name].elements())
    except TensorWrapperError:
        pass


@pytest.mark.parametrize(
    ("ragged", "sizes"),
    [
        ('{"shape":[2,{"variable":[0]}]}', {"offsets_1": [0, 2, 9]}),
        ('{"shape":[2,{"variable":[0]}]}', {"offsets_1": [0, 4, 3]}),
        ('{"shape":[2,{"variable":[0]}]}', {"offsets_1": [1, 2, 3]}),
        ('{"shape":[2,{"variable":[0]}]}', {"sizes_1": [4, -1]}),
        ('{"shape":[2,{"variable":[0]}]}', {"sizes_1": [1, 1]}),
        ('{"shape":[2,{"variable":[0]},{"variable":[0,1]}]}', {"sizes_1": [1, 1], "sizes_2": [3]}),
    ],
)
def test_rows_whose_sizes_make_no_sense_are_refused(tmp_path, ragged, sizes):
    path = ragged_group(tmp_path, ragged, sizes)
    with pytest.raises(DataFileError, match=r"a\.h5: the ragged group 'r'") as caught:
        tw.open(path)["r"]
    loss = caught.value.args[0]
    assert (loss.code, loss.help) == ("convention", "raw=True lists its arrays")
    assert tw.open(path, raw=True)["r/values"].tolist() == [0, 1, 2]


def ragged_group(folder, said, sizes):
    path = folder / "a.h5"
    with h5py.File(path, "w") as f:
        f["r/values"] = np.arange(3.0)
        f["r"].attrs["ragged"] = said
        for name, array in sizes.items():
            f[f"r/{name}"] = array
    return path


ROWS = '{"shape":[2,{"variable":[0]}]}'


@pytest.mark.parametrize(
    ("ragged", "parts"),
    [
        (ROWS, {"sizes_1": [3.0, 0.0]}),
        (ROWS, {"sizes_1": [[1, 2]]}),
        (ROWS, {"sizes_1": [1, 2], "offsets_1": [0, 1, 3]}),
        (ROWS, {"sizes_1": [1, 1, 1]}),
        (ROWS, {"offsets_1": [0, 3]}),
        (ROWS, {"offsets_1": np.zeros(0, int)}),
        ('{"shape":[2,2,{"variable":[0,1]}]}', {"offsets_2": [0, 1, 3]}),
        ('{"shape":[3,{"variable":[0]}]}', {"sizes_1": [1, 2]}),
        (ROWS, {}),
        ('{"shape":[2,{"variable":[1]}]}', {"sizes_1": [1, 2]}),
        ('{"shape":[-2,{"variable":[0]}]}', {"sizes_1": [1, 2]}),
        ('{"shape":2}', {}),
        ("{", {}),
    ],
)
def test_a_group_that_is_no_rows_is_a_group_and_that_is_told(tmp_path, ragged, parts):
    with tw.open(ragged_group(tmp_path, ragged, parts)) as f:
        assert sorted(f) == sorted(["r/values", *[f"r/{name}" for name in parts]])
        assert f["r/values"].tolist() == [0, 1, 2]
        assert [(loss.name, loss.code) for loss in f.losses] == [("r", "convention")]


@pytest.mark.parametrize("said", ["yes", "", 3, np.zeros(30_000, "i2"), h5py.Empty("f4"), ["{", "{"]])
def test_a_group_that_a_stranger_calls_ragged_is_his(tmp_path, said):
    with tw.open(ragged_group(tmp_path, said, {"x": [1, 2]})) as f:
        assert (list(f), f.losses) == (["r/values", "r/x"], ())


@pytest.mark.parametrize(
    "kind", [h5py.string_dtype(), np.dtype("S3"), h5py.string_dtype("utf-8", 3)], ids=str
)
def test_rows_of_text_are_read(tmp_path, kind):
    with h5py.File(tmp_path / "a.h5", "w") as f:
        f.create_dataset("r/values", data=np.array([b"a", b"bb", b"ccc"], kind))
        f["r/sizes_1"] = [2, 0, 1]
        f["r"].attrs["ragged"] = '{"shape":[3,{"variable":[0]}]}'
    with tw.open(tmp_path / "a.h5") as f:
        assert (list(f), f.losses) == (["r"], ())
        assert f["r"].tolist() == [["a", "bb"], [], ["ccc"]]


def test_what_others_put_among_rows_is_listed(tmp_path):
    path = tmp_path / "a.h5"
    tw.save(path, {"r": tw.jagged([[1, 2], [3]])})
    with h5py.File(path, "a") as f:
        f["r/extra"], f["r/deeper/y"], f["r/gone"] = [7], [8], h5py.SoftLink("/nowhere")
    with tw.open(path) as f:
        assert list(f) == ["r", "r/deeper/y", "r/extra"]
        assert (f["r"].tolist(), f["r/extra"].tolist()) == ([[1, 2], [3]], [7])
        assert [(loss.name, loss.code) for loss in f.losses] == [("r/gone", "link")]
    assert tw.store.convert(path, tmp_path / "b.h5").names == ("r", "r/deeper/y", "r/extra")
    assert tw.open(tmp_path / "b.h5")["r"].tolist() == [[1, 2], [3]]


def test_other_kinds_of_mode_are_refused(tmp_path):
    with pytest.raises(ConversionError, match="save"):
        tw.open(tmp_path / "a.h5", "a")
    with pytest.raises(DataFileError):
        tw.open(tmp_path / "a.h5")


def test_views_of_chunks_and_rows_pickle_by_path(tmp_path):
    path = tmp_path / "a.h5"
    x, rows = np.arange(60.0).reshape(6, 10), tw.jagged([[1, 2], [], [3]])
    tw.save(path, {"g/x": x, "rows": rows}, chunks={"g/x": (2, 5)})
    f = tw.open(path)
    for name, wanted in (("g/x", x.tolist()), ("rows", rows.tolist())):
        assert pickle.loads(pickle.dumps(f[name]))[::-1].tolist() == wanted[::-1]
    with h5py.File(path) as file:
        read_only = pickle.dumps(tw.selection.as_view(file["g/x"])[1:])
    with h5py.File(tmp_path / "w.h5", "w") as file:
        file["g/x"] = x
        sent = pickle.dumps(tw.selection.as_view(file["g/x"])[1:])
    assert pickle.loads(sent).tolist() == pickle.loads(read_only).tolist() == x[1:].tolist()
    with h5py.File(tmp_path / "b.h5", "w") as file:
        file["g/x"] = x[:2]
    for own in (path, tmp_path / "w.h5"):
        own.unlink()
        shutil.copy(tmp_path / "b.h5", own)
    with pytest.raises(DataFileError, match="any more"):
        pickle.loads(sent)
    with pytest.raises(VersionChangedError, match="replaced"):
        pickle.loads(read_only)
    for own, lost in ((path, read_only), (tmp_path / "w.h5", sent)):
        own.unlink()
        with pytest.raises(DataFileError, match="cannot be opened"):
            pickle.loads(lost)


@pytest.mark.parametrize(
    "said",
    ["recorded on Monday", "{on Monday", b"\xff", "", 3, [1.5, 2.5], ["a", "b"], "[1]", h5py.Empty("f4")],
)
def test_metadata_of_strangers_are_theirs(tmp_path, said):
    with h5py.File(tmp_path / "a.h5", "w") as f:
        f["x"] = [1, 2]
        f.attrs["metadata"] = said
        f["x"].attrs["metadata"] = said
    with tw.open(tmp_path / "a.h5") as f:
        assert f["x"].tolist() == [1, 2]
        assert (f.metadata, f.tensor_metadata("x"), f.losses) == ({}, {}, ())


def test_damage_is_called_damage_and_hides_no_other(tmp_path):
    path = written(tmp_path, x={"data": np.arange(1000.0), "chunks": (100,), "compression": "gzip"}, y=[1])
    with h5py.File(path) as f:
        place = f["x"].id.get_chunk_info(0).byte_offset
    raw = bytearray(path.read_bytes())
    raw[place : place + 9] = bytes(9)
    path.write_bytes(raw)
    with pytest.raises(DataFileError, match="damaged") as told:
        tw.open(path)["x"].compute()
    assert not isinstance(told.value, OSError)
    with h5py.File(path) as f:
        for read in (tw.as_tensor, lambda own: sel.as_view(own).compute()):
            with pytest.raises(DataFileError, match="damaged"):
                read(f["x"])
    done = tw.store.convert(path, tmp_path / "b.tens", strict=False)
    assert (done.names, [loss.name for loss in done.lost]) == (("y",), ["x"])
    cut = tmp_path / "cut.h5"
    cut.write_bytes(raw[: len(raw) // 2])
    with pytest.raises(DataFileError, match="damaged") as told:
        tw.open(cut)
    assert not isinstance(told.value, OSError)


def test_types_that_numpy_has_not_are_refused_in_our_words(tmp_path):
    short = h5py.h5t.STD_I32LE.copy()
    short.set_precision(24)
    short.set_size(3)
    kinds = {"i24": short, "time": h5py.h5t.UNIX_D32LE, "bits": h5py.h5t.STD_B8BE}
    with h5py.File(tmp_path / "a.h5", "w") as f:
        for name, kind in kinds.items():
            h5py.h5d.create(f.id, name.encode(), kind, h5py.h5s.create_simple((2,)))
    with h5py.File(tmp_path / "a.h5") as f:
        for name in kinds:
            for read in (tw.as_tensor, lambda own: sel.as_view(own).compute()):
                with pytest.raises(TensorWrapperError, match=r"type|convert"):
                    read(f[name])
    assert tw.open(tmp_path / "a.h5")["i24"].tolist() == [0, 0]


@pytest.mark.parametrize("sets", [False, True])
def test_a_file_that_is_closed_can_be_written_to(tmp_path, sets):
    path = tmp_path / "a.h5"
    tw.save(path, {"x": np.arange(9), "rows": tw.jagged([[1], [2, 3]])}, chunks={"x": (3,)})
    with h5py.File(path, "a") as file:
        file["records"] = np.zeros(2, [("a", "i4")])
        file["x"].dims[0].label = "time"
        if sets:
            file["tensorsets/7/0"] = np.arange(3)
    # Without a look for what leads back to itself: nobody knows when there is one.
    gc.disable()
    try:
        with tw.open(path) as found:
            assert (found["x"][4].compute().tolist(), found["rows"].tolist()) == (4, [[1], [2, 3]])
            view, said = found["x"], (found.losses, dict(found.metadata))
            assert said == ((), found.metadata)
        with pytest.raises(OSError, match="open"):
            h5py.File(path, "a")
        del view
        with h5py.File(path, "a") as file:
            file["more"] = [1]
    finally:
        gc.enable()


@pytest.mark.parametrize("chunks", [None, (2,)])
@pytest.mark.parametrize("extents", [(3,), (3, 1), ()])
def test_text_in_records_and_in_arrays_is_text(tmp_path, chunks, extents):
    text = h5py.string_dtype()
    kinds = [
        ("n", "i4"),
        ("fixed", "S3"),
        ("any", text),
        ("utf", h5py.string_dtype("utf-8", 4)),
        ("two", "S2", (2,)),
    ]
    records = np.zeros(extents, [*kinds, ("in", [("x", "f4"), ("w", text)])])
    records["fixed"], records["any"], records["in"]["w"] = b"abc", "ü" * 5, "deep"
    records["utf"], records["two"] = "ü".encode(), [b"a", b"\xff"]
    how = {} if chunks is None or len(extents) != 1 else {"chunks": chunks}
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("r", data=records, **how)
        file.create_dataset("e", extents, np.dtype(("S3", (2,))), **how)
    want = {"r.fixed": "abc", "r.any": "ü" * 5, "r.in.w": "deep", "r.utf": "ü", "r.two": [b"a", b"\xff"]}
    with tw.open(tmp_path / "a.h5") as file:
        assert file.losses == ()
        assert list(file) == ["e", "r.n", "r.fixed", "r.any", "r.utf", "r.two", "r.in.x", "r.in.w"]
        for name, one in want.items():
            assert file[name].shape.extents == (*extents, *np.shape(one))
            assert (
                file[name].tolist()
                == np.broadcast_to(np.array(one, object), file[name].shape.extents).tolist()
            )
        assert file["e"].shape.extents == (*extents, 2)
    assert len(tw.store.convert(tmp_path / "a.h5", tmp_path / "b.tens").names) == 8


def test_text_beside_a_field_that_numpy_has_not_is_read(tmp_path):
    text = h5py.string_dtype()
    memory = np.dtype([("a", "S3"), ("b", text)])
    with h5py.File(tmp_path / "a.h5", "w") as file:
        kind = h5py.h5t.create(h5py.h5t.COMPOUND, 3 + 16 + 4)
        kind.insert(b"a", 0, h5py.h5t.py_create(np.dtype("S3")))
        kind.insert(b"b", 3, h5py.h5t.py_create(text, logical=True))
        kind.insert(b"when", 19, h5py.h5t.UNIX_D32LE)
        made = h5py.h5d.create(file.id, b"r", kind, h5py.h5s.create_simple((2,)))
        given = np.array([(b"x", "u"), (b"yz", "v")], memory)
        made.write(h5py.h5s.ALL, h5py.h5s.ALL, given, h5py.h5t.py_create(memory))
    with tw.open(tmp_path / "a.h5") as file:
        assert {name: file[name].tolist() for name in file} == {"r.a": ["x", "yz"], "r.b": ["u", "v"]}
        assert [(loss.name, loss.code) for loss in file.losses] == [("r.when", "type")]


@pytest.mark.parametrize("meant", [b"object", b"vlstring", b"vlunicode"])
def test_what_pytables_means_by_sequences_of_numbers_is_told(tmp_path, meant):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for name in ("odd", "plain"):
            file.create_dataset(name, (2,), h5py.vlen_dtype(np.uint8))[0] = [1, 2]
        file["odd"].attrs["PSEUDOATOM"] = np.bytes_(meant)
    with tw.open(tmp_path / "a.h5") as file:
        assert [(loss.name, loss.code) for loss in file.losses] == [("odd", "objects")]
        assert (list(file), file["plain"].tolist()) == (["plain"], [[1, 2], []])
    with tw.open(tmp_path / "a.h5", raw=True) as file:
        assert file.losses == ()
        assert file["odd"].tolist() == file["plain"].tolist() == [[1, 2], []]


def test_what_pytables_writes_is_read(tmp_path):
    tables = pytest.importorskip("tables")
    with tables.open_file(tmp_path / "a.h5", "w") as file:
        vectors = file.create_vlarray("/", "vectors", tables.Float64Atom(shape=(2,)))
        vectors.append([[1, 2]])
        vectors.append([[3, 4], [5, 6]])
        numbers = file.create_vlarray("/", "numbers", tables.Int32Atom())
        for row in ([1, 2], [], [3]):
            numbers.append(row)
        file.create_vlarray("/", "text", tables.VLStringAtom()).append(b"ab")
        file.create_vlarray("/", "object", tables.ObjectAtom()).append({"a": 1})
        table = file.create_table("/", "t", np.dtype([("x", "f8"), ("n", "i4", (2,))]))
        table.append([(0.5, (1, 2)), (1.5, (3, 4))])
    with tw.open(tmp_path / "a.h5") as file:
        assert {name: file[name].tolist() for name in file} == {
            "vectors": [[[1, 2]], [[3, 4], [5, 6]]],
            "numbers": [[1, 2], [], [3]],
            "t.x": [0.5, 1.5],
            "t.n": [[1, 2], [3, 4]],
        }
        assert {(loss.name, loss.code) for loss in file.losses} == {
            ("text", "objects"),
            ("object", "objects"),
        }
    with tw.open(tmp_path / "a.h5", raw=True) as file:
        assert (file["text"].tolist(), file.losses) == ([[97, 98]], ())


def test_what_netcdf_writes_with_types_of_users_is_read(tmp_path):
    netcdf = pytest.importorskip("netCDF4")
    with netcdf.Dataset(tmp_path / "a.nc", "w") as file:
        file.createDimension("x", 2)
        rows = file.createVariable("rows", file.createVLType(np.float64, "sequence"), ("x",))
        rows[0], rows[1] = np.array([1.5]), np.array([2.5, 3.5])
        words = file.createEnumType(np.uint8, "words", {"a": 1, "b": 2})
        file.createVariable("word", words, ("x",))[:] = [2, 1]
    with tw.open(tmp_path / "a.nc") as file:
        assert {name: file[name].tolist() for name in file} == {"rows": [[1.5], [2.5, 3.5]], "word": [2, 1]}
        assert (file.losses, file["word"].shape.names, file["word"].dtype) == ((), ("x",), np.uint8)


@pytest.mark.parametrize("extents", [(3,), (3, 1)])
@pytest.mark.parametrize(("base", "inner"), [("f8", (2,)), ("i2", (2, 3)), ("?", (1,))])
def test_sequences_of_arrays_are_rows_of_them(tmp_path, extents, base, inner):
    kind, lengths = np.dtype((base, inner)), [2, 0, 1]
    given = [
        np.ones((n, *inner), base) * (np.arange(n).reshape(-1, *[1] * len(inner)) % 2 == 0) for n in lengths
    ]
    # h5py writes no such sequences: HDF5 takes how many there are, and where they lie.
    lying = np.array([(len(row), row.ctypes.data) for row in given], "u8,u8").view("V16")
    sequences = h5py.h5t.vlen_create(h5py.h5t.py_create(kind, logical=True))
    with h5py.File(tmp_path / "a.h5", "w") as file:
        made = h5py.h5d.create(file.id, b"x", sequences, h5py.h5s.create_simple(extents))
        made.write(h5py.h5s.ALL, h5py.h5s.ALL, lying.reshape(extents), sequences)
    with h5py.File(tmp_path / "a.h5") as file:
        whole = tw.as_tensor(file["x"])
    with tw.open(tmp_path / "a.h5") as file:
        assert file.losses == ()
        found = file["x"]
    for own in (found, whole):
        assert own.dtype == np.dtype(base)
        rows = [row.tolist() for row in given]
        assert own.tolist() == (rows if len(extents) == 1 else [[row] for row in rows])
