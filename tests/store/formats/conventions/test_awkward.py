"""Forms and buffers of Awkward Array are tensors; Awkward Array writes them, and says what is right."""

import json

import awkward as ak
import h5py
import numpy as np
import pytest
import zarr
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError, TensorWrapperError
from tensorwrapper.wire import Limits
from tests.support.store.groups import KINDS, add_array, changed, write_groups

ARRAYS = {
    "lists": ak.Array([[1], [], [2, 3]]),
    "lists in lists": ak.Array([[[1.5]], [], [[], [2.5, 3.5]]]),
    "options": ak.Array([[1, None], []]),
    "options at the top": ak.Array([None, 2, None]),
    "text": ak.Array(["ab", "", "ü"]),
    "bytes": ak.Array([b"ab", b"\xff"]),
    "lists of text": ak.Array([["ab"], [], ["", "c"]]),
    "text or nulls": ak.Array([["ab", None], [None], []]),
    "truth values": ak.Array([[True], [False, True]]),
    "regular lists": ak.to_regular(ak.Array([[1, 2], [3, 4]])),
    "extents of elements": ak.Array(np.arange(12.0).reshape(2, 3, 2)),
    "lists of regular lists": ak.Array([[[1, 2]], [], [[3, 4], [5, 6]]])[:],
    "no rows": ak.Array([[1]])[:0],
    "empty rows": ak.Array([[], []]),
    "masks of bytes": ak.mask(ak.Array([1.5, 2.5, 3.5]), [True, False, True]),
    "no nulls": ak.Array(ak.contents.UnmaskedArray(ak.contents.NumpyArray(np.arange(3)))),
    "masks of bits": ak.Array(
        ak.contents.BitMaskedArray(
            ak.index.IndexU8(np.array([0b101], "u1")), ak.contents.NumpyArray(np.arange(3)), True, 3, True
        )
    ),
    "a part of a list": ak.Array([[1, 2], [3], [4, 5, 6]])[1:],
    "lists that a gather left": ak.Array([[1, 2], [3], [4, 5, 6]])[[2, 0, 2]],
    "gathered lists in lists": ak.Array([[[1], [2, 3]], [], [[4, 5]]])[[2, 0, 1, 0]],
    "gathered regular lists": ak.Array(
        ak.contents.ListArray(
            ak.index.Index64(np.array([1, 0])),
            ak.index.Index64(np.array([2, 2])),
            ak.contents.RegularArray(ak.contents.NumpyArray(np.arange(4)), 2),
        )
    ),
}


def group_of(array, *, length=None, packed=False):
    """Return what a group has of an array: attributes, and buffers by their names."""
    form, count, buffers = ak.to_buffers(ak.to_packed(array) if packed else array)
    said = {"form": form.to_json(), "length": count if length is None else length}
    return said, {name: np.asarray(own) for name, own in buffers.items()}


def opened(folder, kind, array, **how):
    return tw.open(write_groups(folder, kind, {"g/a": group_of(array)}), **how)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_is_one_tensor(tmp_path, kind, name):
    file = opened(tmp_path, kind, ARRAYS[name])
    assert (list(file), file.losses) == (["g/a"], ())
    found = file["g/a"]
    assert found.tolist() == ARRAYS[name].to_list()
    assert file.describe("g/a").packing == "awkward"


@pytest.mark.parametrize("kind", KINDS)
def test_the_buffers_are_listed_when_they_are_wanted(tmp_path, kind):
    array = ARRAYS["lists in lists"]
    said, buffers = group_of(array)
    file = tw.open(write_groups(tmp_path, kind, {"a": (said, buffers)}), raw=True)
    assert {name: file[f"a/{name}"].tolist() for name in buffers} == {
        k: v.tolist() for k, v in buffers.items()
    }
    put = tw.open(file.path)["a"]
    assert put.size == file["a/node2-data"].size


@pytest.mark.parametrize("kind", KINDS)
def test_regular_lists_are_boxes(tmp_path, kind):
    found = opened(tmp_path, kind, ARRAYS["regular lists"])["g/a"]
    assert np.asarray(found).tolist() == [[1, 2], [3, 4]]
    assert found.shape == tw.Shape(2, 2)


@pytest.mark.parametrize("kind", KINDS)
def test_fields_of_records_are_tensors(tmp_path, kind):
    array = ak.Array([{"x": [1], "y": 2, "p": (1.5, {"q": "a"})}, {"x": [], "y": 3, "p": (2.5, {"q": ""})}])
    file = opened(tmp_path, kind, array)
    assert set(file) == {"g/a.x", "g/a.y", "g/a.p.0", "g/a.p.1.q"}
    assert {name: file[name].tolist() for name in file} == {
        "g/a.x": [[1], []],
        "g/a.y": [2, 3],
        "g/a.p.0": [1.5, 2.5],
        "g/a.p.1.q": ["a", ""],
    }
    assert file.losses == ()


@pytest.mark.parametrize("kind", KINDS)
def test_a_field_gives_way_to_an_array_of_its_name(tmp_path, kind):
    array = ak.Array([{"x": 1}])
    path = write_groups(tmp_path, kind, {"a": group_of(array), "": ({}, {"a.x": np.array([9])})})
    file = tw.open(path)
    assert {name: file[name].tolist() for name in file} == {"a.x": [9], "a.x~1": [1]}
    assert [(loss.name, loss.code) for loss in file.losses] == [("a.x", "name")]


@pytest.mark.parametrize("kind", KINDS)
def test_fields_of_one_name_are_told_apart(tmp_path, kind):
    said, buffers = group_of(ak.Array([{"x": 1, "y": 2}]))
    groups = {"a": (said | {"form": said["form"].replace('"y"', '"x"')}, buffers)}
    file = tw.open(write_groups(tmp_path, kind, groups))
    assert {name: file[name].tolist() for name in file} == {"a.x": [1], "a.x~1": [2]}
    assert [(loss.name, loss.code) for loss in file.losses] == [("a.x", "name")]


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_record_is_a_null_in_each_field(tmp_path, kind):
    array = ak.Array([{"x": 1, "s": "a"}, None, {"x": 3, "s": "b"}])
    file = opened(tmp_path, kind, array)
    assert file["g/a.x"].tolist() == array.x.to_list()
    assert file["g/a.s"].tolist() == array.s.to_list()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [[[1], None, [2, 3]], [[[1]], None, [[2], []]], [["a"], None, []]])
def test_missing_lists_are_refused_or_empty(tmp_path, kind, rows):
    path = opened(tmp_path, kind, ak.Array(rows)).path
    with pytest.raises(DataFileError, match="null_rows='empty'"):
        tw.open(path)["g/a"]
    assert tw.open(path, null_rows="empty")["g/a"].tolist() == [row or [] for row in rows]


@pytest.mark.parametrize("kind", KINDS)
def test_missing_regular_lists_are_refused_or_empty(tmp_path, kind):
    array = ak.mask(ak.to_regular(ak.Array([[1, 2], [3, 4]])), [False, True])
    path = opened(tmp_path, kind, array).path
    with pytest.raises(DataFileError, match="null_rows='empty'"):
        tw.open(path)["g/a"]
    assert tw.open(path, null_rows="empty")["g/a"].tolist() == [[], [3, 4]]


@pytest.mark.parametrize("kind", KINDS)
def test_nulls_alone_are_nulls(tmp_path, kind):
    found = opened(tmp_path, kind, ak.Array([None, None]))["g/a"]
    assert (found.tolist(), found.null_count) == ([None, None], 2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("array", [ak.Array([1, "a"]), ak.str.to_categorical(ak.Array(["a", "a"]))])
def test_unions_and_indices_are_told_and_their_buffers_listed(tmp_path, kind, array):
    file = opened(tmp_path, kind, array)
    assert [(loss.name, loss.code) for loss in file.losses] == [("g/a", "type")]
    assert len(file) == len(group_of(array)[1])


@pytest.mark.parametrize("kind", KINDS)
def test_one_field_that_is_no_tensor_hides_no_other(tmp_path, kind):
    array = ak.zip({"u": ak.Array([1, "a"]), "x": ak.Array([1, 2])}, depth_limit=1)
    file = opened(tmp_path, kind, array)
    assert (list(file), file["g/a.x"].tolist()) == (["g/a.x"], [1, 2])
    assert [(loss.name, loss.code) for loss in file.losses] == [("g/a.u", "type")]


@pytest.mark.parametrize("kind", KINDS)
def test_buffers_may_be_in_a_container(tmp_path, kind):
    said, buffers = group_of(ARRAYS["lists"])
    said["encoding-type"] = "awkward-array"
    inner = {f"container/{name}": own for name, own in buffers.items()}
    file = tw.open(write_groups(tmp_path, kind, {"a": (said, inner), "b": ({}, {"x": np.arange(2)})}))
    assert {name: file[name].tolist() for name in file} == {"a": [[1], [], [2, 3]], "b/x": [0, 1]}


@pytest.mark.parametrize("kind", KINDS)
def test_buffers_may_be_bytes(tmp_path, kind):
    array = ak.Array([[1.5, None], [], [2.5]])
    said, buffers = group_of(array)
    octets = {name: np.frombuffer(own.tobytes(), "u1") for name, own in buffers.items()}
    file = tw.open(write_groups(tmp_path, kind, {"a": (said, octets)}))
    assert file["a"].tolist() == array.to_list()


@pytest.mark.parametrize("kind", KINDS)
def test_an_array_may_be_a_file_by_itself(tmp_path, kind):
    file = tw.open(write_groups(tmp_path, kind, {"": group_of(ARRAYS["lists"])}))
    assert {name: file[name].tolist() for name in file} == {"array": [[1], [], [2, 3]]}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_read_when_they_are_computed(tmp_path, kind):
    array = ak.unflatten(ak.Array(np.arange(30_000.0)), np.full(3000, 10))
    said, buffers = group_of(array)
    path = tmp_path / "big.h5"
    if kind == "h5":
        with h5py.File(path, "w") as file:
            group = file.create_group("a")
            group.attrs.update(said)
            group["node0-offsets"] = buffers["node0-offsets"]
            group.create_dataset("node1-data", data=buffers["node1-data"], chunks=(1000,))
    else:
        path = write_groups(tmp_path, kind, {"a": (said, buffers)})
    found = tw.open(path)["a"]
    assert found[7:9].plan().bytes_read == 160
    assert found[7:9].tolist() == array[7:9].to_list()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "words", [{"form": "a circle", "length": 3}, {"form": "{}"}, {"form": '{"a": 1}', "length": 2}]
)
def test_attributes_of_others_are_no_form(tmp_path, kind, words):
    file = tw.open(write_groups(tmp_path, kind, {"a": (words, {"x": np.arange(2)})}))
    assert (list(file), file.losses) == (["a/x"], ())


BROKEN = {
    "no buffer": ({}, {"without": ["node1-data"]}),
    "another type": ({}, {"node1-data": np.arange(3.0)}),
    "other modes": ({}, {"node0-offsets": np.zeros((4, 1), "i8")}),
    "a length below 0": ({"length": -1}, {}),
    "a length that is none": ({"length": "3"}, {}),
    "no class": ({"form": '{"class": "Odd"}'}, {}),
    "no JSON": ({"form": "{"}, {}),
    "deep": ({"form": "[" * 10_000}, {}),
    "a path": ({"form": '{"class":"NumpyArray","primitive":"int64","form_key":"../a/node1"}'}, {}),
    "no key": ({"form": '{"class":"NumpyArray","primitive":"int64"}'}, {}),
    "no type": ({"form": '{"class":"NumpyArray","primitive":"int63","form_key":"node1"}'}, {}),
    "objects": ({"form": '{"class":"NumpyArray","primitive":"O","form_key":"node1"}'}, {}),
    "no content": ({"form": '{"class":"RegularArray","size":1,"form_key":"node0"}'}, {}),
    "a size below 0": ({"form": '{"class":"RegularArray","size":-1,"content":{"class":"EmptyArray"}}'}, {}),
    "fields": ({"form": '{"class":"RecordArray","fields":["x"],"contents":[]}'}, {}),
    "no fields": ({"form": '{"class":"RecordArray","fields":[],"contents":[]}'}, {}),
    "extents": (
        {"form": '{"class":"NumpyArray","primitive":"int64","inner_shape":["a"],"form_key":"node1"}'},
        {},
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_form_is_told_and_its_buffers_listed(tmp_path, kind, name):
    words, arrays = BROKEN[name]
    said, buffers = group_of(ARRAYS["lists"])
    groups = {
        "a": (said | {"encoding-type": "awkward-array"} | words, buffers),
        "b": group_of(ARRAYS["lists"]),
    }
    groups = changed(groups, "a", **arrays)
    file = tw.open(write_groups(tmp_path, kind, groups))
    assert [(loss.name, loss.code) for loss in file.losses] == [("a", "convention")]
    assert set(file) == {"b", *[f"a/{own}" for own in groups["a"][1]]}
    assert file["b"].tolist() == [[1], [], [2, 3]]


REFUSED = {
    "lists": [
        ({}, {"node0-offsets": np.array([0, 2, 1, 3])}),
        ({}, {"node0-offsets": np.array([-1, 1, 1, 3])}),
        ({}, {"node0-offsets": np.array([0, 1, 1, 4])}),
        ({}, {"node0-offsets": np.array([0, 1, 1, 2**62])}),
        ({}, {"node0-offsets": np.array([0, 1])}),
        ({"length": 4}, {}),
        ({"length": 2**36}, {}),
    ],
    "options": [({}, {"node1-index": np.array([0, 7])}), ({}, {"node1-index": np.array([0])})],
    "text": [({}, {"node0-offsets": np.array([0, 2, 2, 9])})],
    "masks of bytes": [({"length": 4}, {})],
    "masks of bits": [({"length": 9}, {})],
    "gathered lists in lists": [({}, {"node0-stops": np.array([9, 2, 2, 2])})],
    "gathered regular lists": [
        ({}, {"node0-starts": np.array([2**62, 0]), "node0-stops": np.array([2**62 + 1, 2])})
    ],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "case"), [(n, k) for n, own in REFUSED.items() for k in range(len(own))])
def test_buffers_that_contradict_each_other_are_refused(tmp_path, kind, name, case):
    words, arrays = REFUSED[name][case]
    said, buffers = group_of(ARRAYS[name])
    assert set(arrays) <= set(buffers)
    path = write_groups(tmp_path, kind, {"a": (said | words, buffers | arrays)})
    with pytest.raises(DataFileError):
        np.asarray(tw.open(path)["a"].copy().tolist(), dtype=object)


@pytest.mark.parametrize("kind", KINDS)
def test_lists_that_share_elements_are_limited(tmp_path, kind):
    n = 2000
    array = ak.Array(
        ak.contents.ListArray(
            ak.index.Index64(np.zeros(n, "i8")),
            ak.index.Index64(np.full(n, n)),
            ak.contents.NumpyArray(np.arange(n)),
        )
    )
    path = write_groups(tmp_path, kind, {"a": group_of(array)})
    with pytest.raises(DataFileError, match="decompressed_bytes"):
        tw.open(path, limits=Limits(decompressed_bytes=2**20))["a"]


def nested(depth):
    leaf = st.integers(-9, 9) | st.none()
    for _ in range(depth):
        leaf = st.lists(leaf, max_size=3)
    return leaf


@settings(max_examples=40, deadline=None)
@given(data=st.data(), depth=st.integers(1, 3), seed=st.integers(0, 99))
def test_any_gather_of_any_lists_reads_as_awkward_array_says(data, depth, seed, tmp_path_factory):
    array = ak.Array(data.draw(nested(depth)))
    if len(array):
        array = array[np.random.default_rng(seed).integers(0, len(array), 4)]
    if "?" not in str(array.type) and "unknown" in str(array.type):
        return
    path = tmp_path_factory.mktemp("a") / "a.h5"
    said, buffers = group_of(array)
    with h5py.File(path, "w") as file:
        group = file.create_group("a")
        group.attrs.update(said)
        for name, own in buffers.items():
            add_array(group, name, own)
    opened_file = tw.open(path)
    try:
        found = opened_file["a"].tolist()
    except TensorWrapperError:
        assert ak.from_buffers(json.loads(said["form"]), said["length"], buffers).ndim is not None
        assert "unknown" in str(array.type)
        return
    assert found == array.to_list()


def test_a_broken_group_leaves_the_types_of_its_parts_as_they_are(tmp_path):
    said, buffers = group_of(ak.Array(np.array([2 + 1j, 4 + 3j])))
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        group = file.create_group("a")
        group.attrs.update(said | {"form": said["form"].replace("complex128", "complex64")})
        kind = h5py.h5t.create(h5py.h5t.COMPOUND, 16)
        kind.insert(b"r", 8, h5py.h5t.IEEE_F64LE)
        kind.insert(b"i", 0, h5py.h5t.IEEE_F64LE)
        space = h5py.h5s.create_simple((2,))
        made = h5py.h5d.create(group.id, b"node0-data", kind, space)
        made.write(h5py.h5s.ALL, h5py.h5s.ALL, buffers["node0-data"])
    file = tw.open(path)
    assert [loss.code for loss in file.losses] == ["convention"]
    assert {name: file[name].tolist() for name in file} == {"a/node0-data": [2 + 1j, 4 + 3j]}


def test_the_form_may_be_an_object_in_zarr(tmp_path):
    said, buffers = group_of(ARRAYS["lists"])
    path = write_groups(tmp_path, "zarr3", {"a": (said | {"form": json.loads(said["form"])}, buffers)})
    assert isinstance(zarr.open_group(str(path))["a"].attrs["form"], dict)
    assert tw.open(path)["a"].tolist() == [[1], [], [2, 3]]
