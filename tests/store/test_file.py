"""What is saved is there again: every kind of tensor, in one piece or many, in every mode."""

import pickle
import zlib

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import (
    DataFileError,
    LeakedResourceWarning,
    LocalProtocolError,
    TensorNameError,
)
from tests.support.store.files import assert_same, tensors_of_every_kind

EVERY = tensors_of_every_kind()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.tens"


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("piece_bytes", [2**30, 24])
@pytest.mark.parametrize("name", EVERY)
def test_every_kind_of_tensor_comes_back(path, name, piece_bytes):
    tw.save(path, {name: EVERY[name]}, piece_bytes=piece_bytes)
    with tw.open(path) as f:
        assert_same(f[name], EVERY[name])


@pytest.mark.parametrize("codec", ["zlib", "zstd", "blosc2"])
def test_compressed_elements_come_back(path, codec):
    tensors = EVERY | {"ramp": np.arange(100_000), "cut": np.arange(2000).reshape(100, 20)}
    tw.save(path, tensors, compress=codec, piece_bytes=8000)
    with tw.open(path) as f:
        for name, tensor in f.items():
            assert_same(tensor, tensors[name])
        assert f.describe("ramp").packing == codec
        assert f.describe("ramp").nbytes < 8 * 100_000 / 3
        assert f["ramp"][50_000:50_003].tolist() == [50_000, 50_001, 50_002]


def test_a_codec_that_is_none_is_refused(path):
    with pytest.raises(LocalProtocolError):
        tw.save(path, {}, compress="rar")


def test_all_of_them_in_one_file(path):
    tw.save(path, EVERY, metadata={"run": 3, "nested": {"x": [1, None]}})
    with tw.open(path) as f:
        assert list(f) == list(EVERY)
        assert f.metadata == {"run": 3, "nested": {"x": [1, None]}}
        for name, tensor in f.items():
            assert_same(tensor, EVERY[name])


def test_element_data_are_aligned_and_a_plain_reader_reads_the_body(path):
    tw.save(path, {"x": np.arange(5.0), "rows": tw.jagged([[1], [2, 3]])})
    raw = path.read_bytes()
    with tw.open(path) as f:
        for name in f:
            start = f.describe(name).start
            length = int.from_bytes(raw[start + 8 : start + 16], "little")
            frames = tw.wire.decode_frames(raw[start + 32 : start + 32 + length])
            message = tw.wire.decode(frames)
            assert start % 64 == 0
            assert_same(message.tensors[0], f[name])
            assert f[name].elements().ctypes.data % 64 == 0
            # A reader of the reference refuses a message whose last part is empty.
            assert len(frames[-1])


def test_the_index_is_a_message_like_any_other(path):
    tw.save(path, {"x": np.arange(5.0)})
    raw = path.read_bytes()
    start = int.from_bytes(raw[-16:-8], "little")
    table, names, numbers = tw.wire.decode(tw.wire.decode_frames(raw[start + 32 :])).tensors
    assert numbers.tolist() == [zlib.crc32(b"x")]

    assert bytes(names.elements()) == b"x"
    assert table.shape.extents == (2, 5)


def test_names_of_files_may_be_of_any_script(tmp_path):
    path = tmp_path / "\u00fc \u4f60\u597d.tens"
    tw.save(path, {"x": [1]})
    with tw.open(path) as f:
        assert f["x"].tolist() == [1]


def test_it_is_a_mapping(path):
    tw.save(path, {"b": [1], "a": [2]})
    with tw.open(path) as f:
        assert (len(f), sorted(f), "a" in f, "c" in f, 3 in f) == (2, ["a", "b"], True, False, False)
        assert f.get("c") is None
        assert {name: t.tolist() for name, t in f.items()} == {"a": [2], "b": [1]}
        assert f == f  # noqa: PLR0124
        assert hash(f) is not None
        with pytest.raises(KeyError, match="no tensor 'c'"):
            f["c"]


def test_appending_adds_to_what_is_there(path):
    with tw.open(path, "a", metadata={"run": 1}) as f:
        f["a"] = [1, 2]
        assert f["a"].tolist() == [1, 2]
    with tw.open(path, "a") as f:
        f.append("b", [3.5], metadata={"unit": "m"})
        f.flush()
        f["c"] = tw.jagged([[1], [2, 3]])
    with tw.open(path) as f:
        assert list(f) == ["a", "b", "c"]
        assert f.metadata == {"run": 1}
        assert f.tensor_metadata("b") == {"unit": "m"}
        assert f.tensor_metadata("a") == {}
        assert f["c"].tolist() == [[1], [2, 3]]


def test_metadata_of_a_later_writer_replaces_what_was_said(path):
    tw.save(path, {}, metadata={"run": 1})
    with tw.open(path, "a", metadata={"run": 2}):
        pass
    with tw.open(path) as f:
        assert f.metadata == {"run": 2}


def test_a_whole_save_replaces_the_old_file_at_once(path):
    tw.save(path, {"x": [1]})
    with tw.open(path) as old:
        tw.save(path, {"x": [2], "y": old["x"]})
        assert old["x"].tolist() == [1]
    with tw.open(path) as f:
        assert (f["x"].tolist(), f["y"].tolist()) == ([2], [1])


def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(path):
    tw.save(path, {"x": [1]})
    before = path.read_bytes()
    with pytest.raises(LocalProtocolError):
        tw.save(path, {"y": [2], "z": np.zeros(3, np.longdouble)})

    assert path.read_bytes() == before
    assert names_in(path.parent) == [path.name]


def test_a_writer_of_a_new_file_that_fails_leaves_nothing(path):
    with pytest.raises(ZeroDivisionError), tw.open(path, "w") as f:
        f["x"] = [1 / 0]

    assert names_in(path.parent) == []


def test_a_link_stays_a_link(path, tmp_path):
    tw.save(path, {"x": [1]})
    link = tmp_path / "link.tens"
    link.symlink_to(path)
    tw.save(link, {"x": [2]})

    assert link.is_symlink()
    with tw.open(path) as f:
        assert f["x"].tolist() == [2]


def test_permissions_are_those_of_any_new_file(path):
    tw.save(path, {"x": [1]})
    other = path.with_suffix(".other")
    other.write_bytes(b"")

    assert path.stat().st_mode == other.stat().st_mode


def test_a_closed_file_says_so_and_its_tensors_live_on(path):
    tw.save(path, {"x": [1, 2]})
    f = tw.open(path)
    x = f["x"]
    f.close()
    f.close()

    assert f.closed
    assert x.tolist() == [1, 2]
    assert repr(f).endswith("closed>")
    for use in (lambda: f["x"], lambda: f.metadata, lambda: f.describe("x"), f.flush):
        with pytest.raises(DataFileError, match="is closed"):
            use()


def test_a_file_that_is_dropped_open_is_told_of(path):
    tw.save(path, {"x": [1]})
    with pytest.warns(LeakedResourceWarning, match="was not closed"):
        tw.open(path)
    with pytest.warns(LeakedResourceWarning):
        tw.open(path, "w")

    assert names_in(path.parent) == [path.name]


def test_one_writer_at_a_time(path):
    with tw.open(path, "a") as f:
        with pytest.raises(DataFileError, match="another process"):
            tw.open(path, "a")
        f["x"] = [1]
    with tw.open(path, "a") as f:
        assert list(f) == ["x"]


@pytest.mark.parametrize("gone", [lambda p: p.unlink(), lambda p: tw.save(p, {"y": [2]})])
def test_a_file_that_is_replaced_under_its_writer_is_told_of(path, gone):
    with tw.open(path, "a") as f:
        f["x"] = [1]
    f = tw.open(path, "a")
    gone(path)
    f["z"] = [3]
    for finish in (f.flush, f.close):
        with pytest.raises(DataFileError, match="was replaced or removed"):
            finish()
    assert f.closed


@pytest.mark.parametrize("mode", ["a", "w"])
def test_a_relative_path_stays_when_the_folder_changes(path, monkeypatch, mode):
    monkeypatch.chdir(path.parent)
    f = tw.open(path.name, mode)
    monkeypatch.chdir("/")
    f["x"] = [1]
    f.flush()
    f.extend("y", [2])
    f.close()

    with tw.open(path) as f:
        assert (f["x"].tolist(), f["y"].tolist()) == ([1], [2])


def test_a_tensor_from_a_file_pickles(path):
    tw.save(path, {"x": np.arange(6).reshape(2, 3)})
    with tw.open(path) as f:
        assert pickle.loads(pickle.dumps(f["x"])).array_equal(f["x"])


@pytest.mark.parametrize(
    "name",
    [
        *(
            "",
            ".",
            "..",
            "../x",
            "/etc/x",
            "a/b",
            "a\\b",
            "a\0b",
            "a\nb",
            "\x7f",
            "\x9b",
            "\ud800",
            "x" * 256,
        ),
        *("\u00fc" * 128, "u\u0308", 3, None, b"x"),
    ],
)
def test_names_that_are_none(path, name):
    with tw.open(path, "a") as f:
        with pytest.raises(TensorNameError):
            f[name] = [1]
        assert len(f) == 0
        f["x" * 255] = [1]


def test_section_6_metadata_nests_and_tensors_are_compressed_one_by_one(tmp_path):
    deep = {"datatype": "pcdataset", "arrays": {"x": "p/x"}}
    zeros, path = np.zeros(5000), tmp_path / "x.tens"
    with tw.open(path, "w", compress="zlib") as f:
        f.append("packed", zeros)
        f.append("plain", zeros, compress=None)
        f.append("deep", [1], metadata=deep, metadata_depth=2)
        f.append("told", tw.no_elements(deep), metadata_depth=2)
        with pytest.raises(LocalProtocolError, match="metadata_depth"):
            f.append("more", [1], metadata={"a": {"b": [1]}}, metadata_depth=2)
        with pytest.raises(LocalProtocolError, match="must be one of"):
            f.append("more", [1], compress="gzip")
    with tw.open(path) as f:
        assert list(f) == ["packed", "plain", "deep", "told"]
        assert f.describe("packed").nbytes < 1000 < zeros.nbytes < f.describe("plain").nbytes
        assert f.tensor_metadata("deep") == f.tensor_metadata("told") == deep
        assert f["packed"].tolist() == f["plain"].tolist() == zeros.tolist()

    told = {"a": zeros, "b": zeros, "c": tw.no_elements(deep)}
    tw.save(path, told, compress={"b": "zlib", "a": None}, metadata_depth=2)
    with tw.open(path) as f:
        assert f.describe("b").nbytes < 1000 < zeros.nbytes < f.describe("a").nbytes
        assert f.tensor_metadata("c") == deep
    with pytest.raises(TensorNameError, match="'z'"):
        tw.save(path, told, compress={"z": "zlib"}, metadata_depth=2)


def test_the_lock_goes_although_ctrl_c_comes_while_a_file_is_closed(tmp_path, monkeypatch):
    def stop(_file):
        raise KeyboardInterrupt

    f = tw.open(tmp_path / "a.tens", "a")
    f["x"] = [1]
    with monkeypatch.context() as patch:
        patch.setattr("tensorwrapper.store._file.unlock", stop)
        with pytest.raises(KeyboardInterrupt):
            f.close()
    with tw.open(tmp_path / "a.tens", "a") as f:
        assert f["x"].tolist() == [1]
