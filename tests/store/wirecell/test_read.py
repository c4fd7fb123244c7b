"""Tensor files of Wire-Cell are read: against what Python's and NumPy's own readers say of the same bytes."""

import io
import json
import tarfile
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import tensorwrapper as tw
from tensorwrapper import store
from tensorwrapper.errors import DataFileError, TensorNameError
from tensorwrapper.selection import View
from tensorwrapper.wire import Limits
from tests.support.store.tensor_files import ENDS, TARS, archive_of, files_of, npy, read_sets

DTYPES = st.sampled_from(
    [f"{order}{kind}" for order in "<>" for kind in ("i2", "i4", "f4", "f8", "u8", "c8")] + ["?"]
)
ARRAYS = npst.arrays(DTYPES, npst.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text('aé"\\\n', max_size=5),
    lambda below: (
        st.lists(below, max_size=3) | st.dictionaries(st.text("abc", max_size=3), below, max_size=3)
    ),
    max_leaves=8,
)
SAID = st.dictionaries(st.sampled_from(["datatype", "ident", "masks", "tbin"]), JSON, max_size=3)
SETS = st.lists(
    st.tuples(
        st.integers(-3, 2**31),
        SAID | st.none(),
        st.lists(st.tuples(SAID | st.none(), ARRAYS | st.none()), max_size=4),
    ),
    max_size=3,
    unique_by=lambda own: own[0],
)


def opened(tmp_path, files, end=".tar", limits=None, **options):
    path = tmp_path / f"a{end}"
    path.write_bytes(archive_of(files, end, **options))
    return tw.open(path, limits=limits) if limits else tw.open(path)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sets=SETS, end=st.sampled_from(ENDS), deflated=st.booleans(), prefix=st.sampled_from(["", "apa1-"]))
def test_sets_are_those_of_an_independent_reader(tmp_path, sets, end, deflated, prefix):
    with opened(tmp_path, files_of(sets, prefix), end, deflated=deflated) as file:
        expected = read_sets(file.path, prefix)
        found = file.sets()
        assert list(found) == list(expected) == [ident for ident, _, _ in sets]
        for ident, own in found.items():
            assert own.metadata == (expected[ident]["said"] or {})
            tensors = [expected[ident]["tensors"][k] for k in sorted(expected[ident]["tensors"])]
            assert list(own.tensor_metadata) == [said or {} for said, _ in tensors]
            for tensor, (_, array) in zip(own.tensors, tensors, strict=True):
                if array is None:
                    assert tensor.array_equal(tw.no_elements())
                else:
                    assert tensor.dtype == array.dtype
                    np.testing.assert_array_equal(np.asarray(tensor), array)
        assert file.metadata == {f"{prefix}tensorset_{ident}": said or {} for ident, said, _ in sets}


ONE = [(5, {"run": 3}, [({"datapath": "a"}, None), ({"datapath": "b"}, np.arange(6.0).reshape(2, 3))])]


@pytest.mark.parametrize("end", ENDS)
def test_a_tensor_file_is_a_mapping_of_names(tmp_path, end):
    file = opened(tmp_path, files_of(ONE, "p-"), end)
    assert list(file) == ["p-tensor_5_0", "p-tensor_5_1"]
    assert file["p-tensor_5_1"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert file.tensor_metadata("p-tensor_5_0") == {"datapath": "a"}
    assert file.metadata == {"p-tensorset_5": {"run": 3}}
    entries = [file.describe(name) for name in file]
    assert [(entry.packing, entry.size) for entry in entries] == [("none", 0), ("dense", 6)]
    assert file.losses == ()
    assert file.sets()[5].tree["b"].tensor.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert repr(file.sets()).startswith("<1 tensor set of <ArrayFile ")
    with pytest.raises(KeyError):
        file.sets()[4]


@pytest.mark.parametrize("end", [".tar", ".zip", ".npz"])
def test_elements_are_views_of_the_mapped_file(tmp_path, end):
    array = np.arange(2**20, dtype="f8")
    files = files_of([(0, {}, [({}, array)])])
    path = tmp_path / f"a{end}"
    path.write_bytes(archive_of(files, end))
    tracemalloc.start()
    tensor = tw.open(path).sets()[0].tensors[0]
    assert tensor[5:7].tolist() == [5, 6]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20
    assert isinstance(tensor, tw.Tensor)
    assert tensor.is_readonly
    assert path.name in repr(tw.concat([tensor, tensor])[3:5].plan().reads[0].source)


def test_deflated_members_are_views(tmp_path):
    file = opened(tmp_path, files_of(ONE), ".zip", deflated=True)
    tensor = file.sets()[5].tensors[1]
    assert isinstance(tensor, View)
    assert tensor[1].tolist() == [3, 4, 5]


def test_arrays_may_come_before_what_is_said_and_sets_may_lack_words(tmp_path):
    files = [*files_of(ONE)[::-1], ("tensor_9_4_array.npy", npy(np.arange(2)))]
    found = opened(tmp_path, files).sets()
    assert found[5].tensors[1].size == 6
    assert (found[9].metadata, list(found[9].tensor_metadata)) == ({}, [{}])
    assert found[9].tensors[0].tolist() == [0, 1]


def test_prefixes_tell_sets_apart(tmp_path):
    file = opened(tmp_path, files_of(ONE, "a-") + files_of(ONE, "b-"))
    assert list(file.sets("b-")) == [5]
    with pytest.raises(DataFileError, match="several prefixes"):
        file.sets()
    with pytest.raises(TensorNameError, match="'c-'"):
        file.sets("c-")


def test_a_file_that_is_closed_gives_no_sets(tmp_path):
    file = opened(tmp_path, files_of(ONE))
    own = file.sets()[5]
    file.close()
    with pytest.raises(DataFileError, match="closed"):
        file.sets()
    with pytest.raises(DataFileError, match="closed"):
        own.tensors[1]


def test_npz_of_arrays_alone_is_what_it_was(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.arange(3), tensor_0_0=np.arange(2))
    with tw.open(tmp_path / "a.npz") as file:
        assert list(file) == ["x", "tensor_0_0"]
        assert dict(file.sets()) == {}


def test_what_is_no_member_of_a_set_is_said(tmp_path):
    others = [("readme.txt", b"x"), ("../tensor_0_0_array.npy", npy(np.arange(2))), ("dir/", b"")]
    for end in ENDS:
        file = opened(tmp_path, files_of(ONE) + others, end)
        assert len(file) == 2
        assert len(file.losses) == 3
        assert "'../tensor_0_0_array.npy'" in file.losses[1]


SMALL = Limits(parts=4, tensors=2, label_bytes=64, depth=3, label_items=10, decompressed_bytes=2**16)


@pytest.mark.parametrize("end", [".tar", ".tar.gz", ".zip", ".npz"])
@pytest.mark.parametrize(
    ("files", "named"),
    [
        ([(f"tensorset_{k}_metadata.json", b"{}") for k in range(5)], "parts"),
        ([(f"tensor_0_{k}_metadata.json", b"{}") for k in range(3)], "tensors"),
        ([("tensorset_0_metadata.json", b'"' + b"x" * 100 + b'"')], "label_bytes"),
        ([(f"tensor_0_{k}_metadata.json", b'{"a":"' + b"x" * 40 + b'"}') for k in range(2)], "label_bytes"),
    ],
)
def test_what_is_too_much_is_refused_when_it_is_opened(tmp_path, files, named, end):
    with pytest.raises(DataFileError, match=named):
        opened(tmp_path, files, end, SMALL)


@pytest.mark.parametrize("end", [".tar", ".zip"])
@pytest.mark.parametrize("twice", ["tensor_0_0_array.npy", "tensor_0_0_metadata.json"])
@pytest.mark.parametrize("times", [2, 3])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_comes_several_times_is_told_and_hides_no_other(tmp_path, twice, times, end):
    files = files_of([(0, {}, [({"a": 1}, np.arange(2)), ({"a": 2}, np.arange(3))])])
    again = [own for own in files if own[0] == twice]
    assert len(again) == 1
    file = opened(tmp_path, files + again * (times - 1), end)
    kept = {"tensor_0_0": [0, 1]} if twice.endswith("json") else {}
    assert {name: file[name].tolist() for name in file} == {**kept, "tensor_0_1": [0, 1, 2]}
    assert [(loss.name, loss.code) for loss in file.losses] == [("tensor_0_0", "name")]
    assert "damaged" not in file.losses[0]


@pytest.mark.parametrize("end", [".tar", ".zip"])
def test_an_array_of_a_type_that_is_not_known_is_told(tmp_path, end):
    odd = npy(np.arange(2)).replace(b"<i8", b"<x8")
    files = [("tensor_0_0_array.npy", odd), ("tensor_0_1_array.npy", npy(np.arange(3)))]
    file = opened(tmp_path, [*files, ("tensorset_0_metadata.json", b"{}")], end)
    assert {name: file[name].tolist() for name in file} == {"tensor_0_1": [0, 1, 2]}
    assert [(loss.name, loss.code) for loss in file.losses] == [("tensor_0_0", "type")]


def test_a_member_that_python_cannot_unpack_is_told(tmp_path):
    files = files_of([(0, {}, [({}, np.arange(2)), ({}, np.arange(3))])])
    raw = bytearray(archive_of(files, ".zip"))
    directory = raw.index(b"PK\x01\x02")
    # In the directory, 10 bytes into an entry: the way of packing.
    raw[raw.index(b"tensor_0_0_array.npy", directory) - 46 + 10] = 93
    (tmp_path / "a.zip").write_bytes(raw)
    file = tw.open(tmp_path / "a.zip")
    assert {name: file[name].tolist() for name in file} == {"tensor_0_1": [0, 1, 2]}
    assert [(loss.name, loss.code) for loss in file.losses] == [("tensor_0_0", "codec")]


@pytest.mark.parametrize("end", [".tar", ".zip"])
@pytest.mark.parametrize(
    ("said", "named"),
    [
        (b"[[[[1]]]]", "nests over 3"),
        (b"[1,2,3,4,5,6,7,8,9,10,11]", "over 10 values"),
        (b'{"a":1,"a":2}', "twice"),
        (b"{", "JSON"),
        (b"\xff", "UTF-8"),
        (b"[1]", "an object"),
        (b'{"a":NaN}', "NaN"),
    ],
)
def test_words_that_are_damaged_spoil_no_elements(tmp_path, said, named, end):
    files = [("tensor_0_0_metadata.json", said), ("tensor_0_0_array.npy", npy(np.arange(3)))]
    file = opened(tmp_path, files, end, SMALL)
    assert file["tensor_0_0"].tolist() == [0, 1, 2]
    with pytest.raises(DataFileError, match=named):
        file.tensor_metadata("tensor_0_0")
    assert [(loss.name, loss.code) for loss in file.losses] == [("tensor_0_0", "damage")]
    assert named in file.losses[0]
    own = file.sets()[0]
    assert (own.tensors[0].tolist(), own.tensor_metadata) == ([0, 1, 2], ({},))


@pytest.mark.parametrize("end", [".tar", ".zip"])
def test_words_that_are_damaged_hide_no_others(tmp_path, end):
    files = [
        *[(f"tensorset_{k}_metadata.json", said) for k, said in enumerate([b"{", b'{"run":3}'])],
        *[(f"tensor_0_{k}_metadata.json", said) for k, said in enumerate([b'{"datapath":"a"}', b"nope"])],
        *[(f"tensor_0_{k}_array.npy", npy(np.arange(3))) for k in range(2)],
    ]
    file = opened(tmp_path, files, end)
    assert file.metadata == {"tensorset_1": {"run": 3}}
    assert sorted([(loss.name, loss.code) for loss in file.losses]) == [
        ("tensor_0_1", "damage"),
        ("tensorset_0", "damage"),
    ]
    sets = file.sets()
    assert (sets[0].metadata, sets[1].metadata) == ({}, {"run": 3})
    assert sets[0].tensor_metadata == ({"datapath": "a"}, {})
    assert sets[0].tree["a"].tensor.tolist() == [0, 1, 2]
    with pytest.raises(DataFileError, match="JSON"):
        store.convert(file.path, tmp_path / "strict.tens")
    done = store.convert(file.path, tmp_path / "out.tens", strict=False)
    assert done.names == ("tensor_0_0", "tensor_0_1")
    assert [loss.name for loss in done.lost if loss.code == "damage"] == ["tensorset_0", "tensor_0_1"]


@pytest.mark.parametrize("end", [".tar", ".zip"])
@pytest.mark.parametrize(
    "array",
    [
        b"",
        b"x" * 100,
        npy(np.arange(3))[:-1],
    ],
)
def test_arrays_that_are_damaged_spoil_nothing_else(tmp_path, array, end):
    files = [("tensor_0_0_array.npy", array), ("tensor_0_1_array.npy", npy(np.arange(3)))]
    file = opened(tmp_path, [*files, ("tensorset_0_metadata.json", b"{}")], end)
    assert file["tensor_0_1"].tolist() == [0, 1, 2]
    with pytest.raises(DataFileError):
        file["tensor_0_0"]


def test_what_is_deflated_is_bounded(tmp_path):
    files = [("tensor_0_0_array.npy", npy(np.zeros(2**20))), ("tensorset_0_metadata.json", b"{}")]
    file = opened(tmp_path, files, ".zip", SMALL, deflated=True)
    assert file["tensor_0_0"][:5].tolist() == [0] * 5
    with pytest.raises(DataFileError, match="decompressed_bytes"):
        file["tensor_0_0"].compute()
    with pytest.raises(DataFileError, match="decompressed_bytes"):
        opened(tmp_path, files, ".tar.gz", SMALL)


@pytest.mark.parametrize("end", ENDS)
def test_what_is_no_archive_is_refused(tmp_path, end):
    path = tmp_path / f"a{end}"
    for data in (b"", b"x", b"x" * 2000, b"\x1f\x8b", b"PK\x05\x06"):
        path.write_bytes(data)
        with pytest.raises(DataFileError):
            tw.open(path)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        tw.open(path)


def test_an_empty_archive_has_no_sets(tmp_path):
    for end in (*TARS, ".zip"):
        assert dict(opened(tmp_path, [], end).sets()) == {}


def test_checksums_are_compared_when_a_zip_is_converted(tmp_path):
    data = bytearray(archive_of(files_of(ONE), ".zip"))
    place = data.rindex(np.float64(5).tobytes())
    data[place] ^= 1
    (tmp_path / "a.zip").write_bytes(data)
    assert tw.open(tmp_path / "a.zip")["tensor_5_1"].size == 6
    with pytest.raises(DataFileError, match="checksum"):
        store.convert(tmp_path / "a.zip", tmp_path / "a.tens")


def test_archives_of_other_tools_are_read(tmp_path):
    for name, data in files_of(ONE):
        (tmp_path / name).write_bytes(data)
    names = [name for name, _ in files_of(ONE)]
    with tarfile.open(tmp_path / "all.tgz", "w:gz") as archive:
        for name in names:
            archive.add(tmp_path / name, f"./{name}")
    with zipfile.ZipFile(tmp_path / "all.zip", "w", zipfile.ZIP_BZIP2) as archive:
        for name in names:
            archive.write(tmp_path / name, name)
    for end in ("tgz", "zip"):
        own = tw.open(tmp_path / f"all.{end}").sets()[5]
        assert own.metadata == {"run": 3}
        assert own.tree["b"].tensor[1].tolist() == [3, 4, 5]
    assert json.loads(files_of(ONE)[0][1]) == {"run": 3}


def test_a_member_that_is_no_file_is_told_by_the_name_of_its_tensor(tmp_path):
    kinds = {1: tarfile.LNKTYPE, 2: tarfile.SYMTYPE, 3: tarfile.DIRTYPE, 4: tarfile.FIFOTYPE}
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for name, data in (("tensorset_0_metadata.json", b"{}"), ("tensor_0_0_array.npy", npy(np.arange(3)))):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for index, kind in kinds.items():
            info = tarfile.TarInfo(f"tensor_0_{index}_array.npy")
            info.type, info.linkname = kind, "tensor_0_0_array.npy"
            archive.addfile(info)
            info = tarfile.TarInfo(f"tensor_0_{index}_metadata.json")
            info.size = 2
            archive.addfile(info, io.BytesIO(b"{}"))
    with tw.open(tmp_path / "a.tar") as file:
        assert [(name, file[name].tolist()) for name in file] == [
            ("tensor_0_0", [0, 1, 2]),
            ("tensor_0_1", [0, 1, 2]),
        ]
        told = [(loss.name, loss.code) for loss in file.losses]
        assert told == [("tensor_0_2", "link"), ("tensor_0_3", "member"), ("tensor_0_4", "member")]
        with pytest.raises(TensorNameError, match="is a link to 'tensor_0_0"):
            file["tensor_0_2"]
    done = store.convert(tmp_path / "a.tar", tmp_path / "b.tens", skip="tensor_0_2")
    assert [loss.name for loss in done.lost] == ["tensor_0_3", "tensor_0_4"]


@pytest.mark.parametrize("end", TARS)
def test_arrays_of_an_archive_without_sets_are_tensors_by_their_names(tmp_path, end):
    """As Wire-Cell's FrameFileSink writes frames."""
    arrays = {
        "frame_gauss0_0": np.ones((3, 4), "f4"),
        "channels_gauss0_0": np.arange(3),
        "sub/text": np.array(["a", "bc"]),
        "./records": np.zeros(2, [("a", "i2"), ("b", "f8", (2,))]),
        "twice": np.arange(2),
        "objects": np.array([None]),
    }
    files = [(f"{name}.npy", npy(array)) for name, array in arrays.items()]
    files += [
        ("twice.npy", npy(np.arange(2))),
        ("notes.txt", b"n"),
        ("odd.npy", b"no array"),
        ("x", npy(np.arange(2))),
    ]
    (tmp_path / f"a{end}").write_bytes(archive_of(files, end))
    with tw.open(tmp_path / f"a{end}") as file:
        names = ["channels_gauss0_0", "frame_gauss0_0", "records.a", "records.b", "sub/text", "x"]
        assert sorted(file) == names
        assert file["frame_gauss0_0"].tolist() == np.ones((3, 4)).tolist()
        assert (file["sub/text"].tolist(), file["records.b"].tolist()) == (["a", "bc"], [[0, 0], [0, 0]])
        assert (dict(file.sets()), dict(file.metadata)) == ({}, {})
        assert sorted([(loss.name, loss.code) for loss in file.losses]) == [
            ("notes.txt", "member"),
            ("objects", "objects"),
            ("odd.npy", "member"),
            ("twice", "name"),
        ]
    assert len(store.convert(tmp_path / f"a{end}", tmp_path / "out.npz", skip="sub/text").names) == 5
    with pytest.raises(DataFileError, match="tensors="):
        tw.open(tmp_path / f"a{end}", limits=Limits(tensors=2))
