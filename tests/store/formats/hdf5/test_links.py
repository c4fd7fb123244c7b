"""All names of an HDF5 file work, whatever they are; what leads out of it is told and never followed."""

import h5py
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError, TensorNameError
from tensorwrapper.store import convert


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.h5"


def told(f):
    return {loss.name: loss.code for loss in f.losses}


def test_soft_and_hard_links_and_links_to_groups_are_names(path):
    with h5py.File(path, "w") as f:
        f["a/x"] = [1, 2]
        f["hard"] = f["a/x"]
        f["soft"] = h5py.SoftLink("/a/x")
        f["b/up"] = h5py.SoftLink("/a/./x")
        f["a/beside"] = h5py.SoftLink("x")
        f["group"] = h5py.SoftLink("/a")
        f["twice"] = f["a"]
        f["nowhere"] = h5py.SoftLink("/a/y")
        f["away"] = h5py.ExternalLink("b.h5", "/x")
    f = tw.open(path)
    assert list(f) == ["a/x"]
    for name in ("a/x", "hard", "soft", "b/up", "a/beside", "group/x", "group/beside", "twice/x"):
        assert name in f
        assert f[name].tolist() == [1, 2], name
        assert name == "a/x" or f.aliases[name] == "a/x", name
    assert told(f) == {"nowhere": "link", "away": "link"}
    assert "b.h5" in next(loss for loss in f.losses if loss.name == "away")
    with pytest.raises(TensorNameError, match=r"b\.h5"):
        f["away"]
    assert "away" not in f


def test_the_first_of_several_names_is_listed(path):
    with h5py.File(path, "w") as f:
        f["z"] = [1]
        f["y"] = f["z"]
        f["b/x"] = f["z"]
    f = tw.open(path)
    assert (list(f), f.aliases) == (["b/x"], {"y": "b/x", "z": "b/x"})


def test_second_names_of_records_are_those_of_their_fields(path):
    with h5py.File(path, "w") as f:
        f["g/r"] = np.array([(1, 2.5)], [("a", "i4"), ("b", "f8")])
        f["g/r.b"] = [7]
        f["z"], f["s"], f["h"] = f["g/r"], h5py.SoftLink("/g/r"), h5py.SoftLink("g")
        f["s.b"] = [8]
    f = tw.open(path)
    assert list(f) == ["g/r.a", "g/r.b~1", "g/r.b", "s.b"]
    assert f.aliases == {
        "z.a": "g/r.a", "z.b": "g/r.b~1", "s.a": "g/r.a",
        "h/r.a": "g/r.a", "h/r.b": "g/r.b", "h/r.b~1": "g/r.b~1",
    }  # fmt: skip
    assert (f["z.b"].tolist(), f["s.b"].tolist()) == ([2.5], [8])


def test_circles_end(path):
    with h5py.File(path, "w") as f:
        f["a/x"] = [1]
        f["a/self"] = f["a"]
        f["a/root"] = h5py.SoftLink("/")
        f["one"], f["two"] = h5py.SoftLink("/two"), h5py.SoftLink("/one")
    f = tw.open(path)
    assert list(f) == ["a/x"]
    assert f["a/self/self/root/a/root/a/self/x"].tolist() == [1]
    assert f.aliases == {"a/self/x": "a/x", "a/root/a/x": "a/x"}
    assert told(f) == {"one": "link", "two": "link"}
    assert "a/self/" + "self/" * 100 + "x" not in f


def test_links_through_a_way_out_are_not_followed(path, tmp_path):
    with h5py.File(tmp_path / "b.h5", "w") as f:
        f["g/x"] = [7]
    with h5py.File(path, "w") as f:
        f["x"] = [1]
        f["out"] = h5py.ExternalLink("b.h5", "/g")
        f["sly"] = h5py.SoftLink("/out/x")
    f = tw.open(path)
    assert list(f) == ["x"]
    assert told(f) == {"out": "link", "sly": "link"}


def test_types_that_a_file_has_by_name_hide_nothing(path):
    with h5py.File(path, "w") as f:
        f["mytype"] = np.dtype("i4")
        f["also"] = h5py.SoftLink("/mytype")
        f["x"] = np.arange(3, dtype="i4")
        f.create_dataset("y", (2,), dtype=f["mytype"])
    f = tw.open(path)
    assert list(f) == ["x", "y"]
    assert "mytype" not in told(f)
    assert ("mytype", "member") in [(own.name, own.code) for own in convert(path, f"{path}.npz").lost]
    assert f["x"].tolist() == [0, 1, 2]


def test_parts_of_rows_have_no_names_of_their_own(path):
    tw.save(path, {"r": tw.jagged([[1, 2], [3]])})
    with h5py.File(path, "a") as f:
        f["values"] = h5py.SoftLink("/r/values")
        f["rows"] = f["r"]
    f = tw.open(path)
    assert (list(f), f.aliases) == (["r"], {"rows": "r"})
    assert f["rows"].tolist() == [[1, 2], [3]]
    assert told(f) == {"values": "link"}


def test_many_names_cost_what_they_are(path):
    with h5py.File(path, "w") as f:
        for k in range(40):
            f[f"g/x{k}"] = [k]
        for k in range(40):
            f[f"g/again{k}"] = h5py.SoftLink("/g")
    found = tw.open(path, limits=tw.wire.Limits(tensors=100))
    assert len(found.aliases) == 100
    assert found["g/again3/again7/again9/x5"].tolist() == [5]


def test_what_is_converted_tells_its_other_names(path, tmp_path):
    with h5py.File(path, "w") as f:
        f["run/adc"], f["run.adc"], f["x"] = [1], [2], [3]
        f["y"] = f["x"]
    done = tw.store.convert(path, tmp_path / "a.tens")
    assert sorted(done.names) == ["run.adc", "run.adc~1", "x"]
    assert [(loss.name, loss.code) for loss in done.lost] == [("y", "link"), ("run/adc", "name")]
    with tw.open(tmp_path / "a.tens") as f:
        assert (f["run.adc"].tolist(), f["run.adc~1"].tolist()) == ([2], [1])
        assert f.tensor_metadata("run.adc~1") == {"name": "run/adc"}
        assert f.tensor_metadata("run.adc") == {}
    assert tw.store.convert(tmp_path / "a.tens", tmp_path / "b.h5").lost == ()
    back = tw.open(tmp_path / "b.h5")
    assert sorted(back) == ["run.adc", "run/adc", "x"]
    assert back["run/adc"].tolist() == [1]
    assert back.tensor_metadata("run/adc") == {}


def test_a_name_that_a_user_gave_stays_a_name_he_gave(tmp_path):
    with tw.open(tmp_path / "a.tens", "w") as f:
        f.append("x", [1], metadata={"name": "energy"})
    tw.store.convert(tmp_path / "a.tens", tmp_path / "b.h5")
    found = tw.open(tmp_path / "b.h5")
    assert (list(found), found.tensor_metadata("x")) == (["x"], {"name": "energy"})


def test_numbers_with_a_scale_are_what_is_stored_and_that_is_told(path):
    with h5py.File(path, "w") as f:
        f["x"] = np.array([1, 2], "i2")
        f["x"].attrs["scale_factor"], f["x"].attrs["add_offset"] = 0.1, 1
    f = tw.open(path)
    assert f["x"].tolist() == [1, 2]
    assert told(f) == {"x": "scaled"}


def packed_by(file, name, number):
    """Make a dataset of 4 integers, packed by a filter that need not be there."""
    plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plan.set_chunk((4,))
    plan.set_filter(number, h5py.h5z.FLAG_OPTIONAL, ())
    space = h5py.h5s.create_simple((4,))
    h5py.h5d.create(file.id, name.encode(), h5py.h5t.STD_I32LE, space, plan)


def test_rows_of_a_part_that_nobody_reads_are_told_by_its_code(path):
    tw.save(path, {"r": tw.jagged([[1], [2, 3, 4]]), "x": [1]})
    with h5py.File(path, "a") as f:
        del f["r/values"]
        packed_by(f, "r/values", 65000)
    f = tw.open(path)
    assert {name: f[name].tolist() for name in f} == {"r/offsets_1": [0, 1, 4], "x": [1]}
    assert told(f) == {"r": "codec", "r/values": "codec"}


def test_filters_that_are_not_installed_are_told_with_what_brings_them(path):
    with h5py.File(path, "w") as f:
        f["x"] = [1]
        packed_by(f, "blosc", 32001)
        packed_by(f, "nobody", 65000)
    f = tw.open(path)
    if h5py.h5z.filter_avail(32001):
        pytest.skip("the filter is installed here")
    assert f["x"].tolist() == [1]
    assert told(f) == {"blosc": "codec", "nobody": "codec"}
    assert "pip install hdf5plugin" in f.losses[0].help


def test_a_field_has_a_name_that_no_link_has(path):
    with h5py.File(path, "w") as f:
        f["r"] = np.array([(1, 2), (3, 4)], [("a", "i4"), ("b", "i4")])
        f["other"] = [7]
        f["r.a"] = h5py.SoftLink("/other")
        f["r.b"] = h5py.SoftLink("/nowhere")
    f = tw.open(path)
    assert {name: f[name].tolist() for name in f} == {"r.a~1": [1, 3], "r.b~1": [2, 4], "other": [7]}
    assert f["r.a"].tolist() == [7]
    assert sorted([(loss.name, loss.code) for loss in f.losses]) == [
        ("r.a", "name"),
        ("r.b", "link"),
        ("r.b", "name"),
    ]


def test_names_and_links_that_are_no_text_hide_nothing(path):
    with h5py.File(path, "w") as f:
        f["x"] = [1]
        f["g/y"] = [2]
        f["g"][b"m\xfc"] = [3]
        f.id.links.create_soft(b"soft", b"/g/m\xfc")
        f["g"][b"\xff"] = h5py.SoftLink("/x")
    f = tw.open(path)
    assert {name: f[name].tolist() for name in f} == {"x": [1], "g/y": [2]}
    assert told(f) == {r"g/m\xfc": "name", r"g/\xff": "name", "soft": "link"}
    (named,) = [loss for loss in f.losses if loss.name.startswith("g/m")]
    assert named.help == r"h5py opens it: group[b'm\xfc']"
    with h5py.File(path) as opened:
        assert opened["g"][b"m\xfc"][...].tolist() == [3]
    assert tw.store.convert(path, path.with_suffix(".tens")).names == ("g.y", "x")


def test_a_group_that_is_damaged_hides_no_other(path):
    with h5py.File(path, "w", libver="latest") as f:
        for name in ("a/x", "b/x", "c/x"):
            f[name] = [1]
            f[name.partition("/")[0]].attrs["mark"] = np.bytes_(name)
    raw = bytearray(path.read_bytes())
    # In the header of the group, whose checksum does not fit then.
    raw[raw.index(b"b/x") - 1] ^= 1
    path.write_bytes(raw)
    f = tw.open(path)
    assert {name: f[name].tolist() for name in f} == {"a/x": [1], "c/x": [1]}
    assert told(f) == {"b": "damage"}


@pytest.mark.parametrize("signature", [b"HEAP", b"SNOD", b"TREE"])
def test_names_of_a_group_that_are_damaged_hide_no_other(path, signature):
    with h5py.File(path, "w", libver="earliest") as f:
        for name in ("a/x", "b/x", "c/x"):
            f[name] = [1]
    raw = bytearray(path.read_bytes())
    places = [k for k in range(len(raw)) if raw.startswith(signature, k)]
    hidden = []
    for place in places:
        # HDF5 shares what it knows of a file among all who opened it.
        spoilt = path.with_name(f"{place}.h5")
        spoilt.write_bytes(raw[:place] + b"????" + raw[place + 4 :])
        try:
            f = tw.open(spoilt)
        except DataFileError:
            # That of the root.
            hidden.append(3)
            continue
        hidden.append(3 - len(f))
        assert [loss.code for loss in f.losses] == ["damage"]
    assert sorted(hidden) == [1, 1, 1, 3]


def test_attributes_that_are_damaged_are_told_and_stop_no_conversion(path):
    with h5py.File(path, "w", libver="earliest") as f:
        for name in ("a", "b"):
            f[name] = [1]
            f[name].attrs[f"mark_of_{name}"] = 3
    raw = bytearray(path.read_bytes())
    # The version of the message, 8 bytes before the name.
    raw[raw.index(b"mark_of_b") - 8] = 77
    path.write_bytes(raw)
    done = tw.store.convert(path, path.with_suffix(".tens"), strict=False)
    codes = {loss.name: loss.code for loss in done.lost}
    assert (done.names, codes["a"], codes["b"]) == (("a",), "kind", "damage")


def test_a_field_whose_name_is_no_text_hides_no_other(path):
    want = np.array([(1, 2, 3), (4, 5, 6)], [("a", "<i4"), ("m", "<i4"), ("z", "<i4")])
    with h5py.File(path, "w") as f:
        kind = h5py.h5t.create(h5py.h5t.COMPOUND, 12)
        for place, name in ((0, b"a"), (4, b"m\xfc"), (8, b"z")):
            kind.insert(name, place, h5py.h5t.STD_I32LE)
        made = h5py.h5d.create(f.id, b"r", kind, h5py.h5s.create_simple((2,)))
        made.write(h5py.h5s.ALL, h5py.h5s.ALL, want, mtype=kind)
    f = tw.open(path)
    assert {name: f[name].tolist() for name in f} == {"r.a": [1, 4], "r.z": [3, 6]}
    assert told(f) == {r"r.m\xfc": "type"}
