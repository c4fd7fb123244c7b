"""Views that were stored: which sources they read, and when they refuse to."""

import gc
import shutil
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import (
    ChangedSourceWarning,
    DataFileError,
    TensorNameError,
    VersionChangedError,
)
from tensorwrapper.store import verify
from tensorwrapper.store.views import _open_sources
from tensorwrapper.store.views._read import StoredView


@pytest.fixture
def box():
    return np.arange(24.0).reshape(6, 4)


def stored(folder, box, *, under="."):
    """Make a file ``a.tens`` and a view of it in a folder below."""
    (folder / under).mkdir(exist_ok=True)
    tw.save(folder / "a.tens", {"x": box})
    with tw.open(folder / "a.tens") as f:
        tw.save(folder / under / "v.tens", {"v": sel.as_view(f["x"])[1:, ::-1]}, keep_views=True)
    return folder / under / "v.tens"


def test_sources_are_opened_when_elements_are_read(tmp_path, box):
    path = stored(tmp_path, box)
    (tmp_path / "a.tens").unlink()
    with tw.open(path) as f:
        view = f["v"]
        assert view.shape.extents == (5, 4)
        assert view.plan().bytes_read == 160
        assert f.sources("v")[0].path == "a.tens"
    with pytest.raises(DataFileError, match=r"a\.tens is not there"):
        view.compute()


def test_the_folder_may_move(tmp_path, box):
    (tmp_path / "here").mkdir()
    stored(tmp_path / "here", box)
    shutil.move(tmp_path / "here", tmp_path / "there")
    with tw.open(tmp_path / "there" / "v.tens") as f:
        assert np.array_equal(np.asarray(f["v"]), box[1:, ::-1])


def test_a_source_that_changed_is_refused_or_warned_of(tmp_path, box):
    path = stored(tmp_path, box)
    tw.save(tmp_path / "a.tens", {"x": box + 1})
    with tw.open(path) as f, pytest.raises(VersionChangedError, match=r"a\.tens: 'x' changed .* version"):
        f["v"].compute()
    with tw.open(path, check_versions=False) as f, pytest.warns(ChangedSourceWarning, match="'x' changed"):
        found = np.asarray(f["v"])
    assert np.array_equal(found, (box + 1)[1:, ::-1])
    tw.save(tmp_path / "a.tens", {"x": box[:3]})
    with tw.open(path, check_versions=False) as f, warnings.catch_warnings():
        warnings.simplefilter("ignore", ChangedSourceWarning)
        with pytest.raises(DataFileError, match="is now"):
            f["v"].compute()


def test_rows_that_were_added_are_a_change(tmp_path):
    with tw.open(tmp_path / "a.tens", "a") as f:
        f.extend("x", [1, 2])
    with tw.open(tmp_path / "a.tens") as f:
        tw.save(tmp_path / "v.tens", {"v": sel.as_view(f["x"])[::-1]}, keep_views=True)
    with tw.open(tmp_path / "a.tens", "a") as f:
        f["y"] = [5]
    with tw.open(tmp_path / "v.tens") as f:
        assert f["v"].tolist() == [2, 1]
    with tw.open(tmp_path / "a.tens", "a") as f:
        f.extend("x", [3])
    with tw.open(tmp_path / "v.tens") as f, pytest.raises(VersionChangedError):
        f["v"].compute()


def test_outside_of_the_folder_only_with_follow(tmp_path, box):
    path = stored(tmp_path, box, under="below")
    with tw.open(path) as f:
        assert f.sources("v")[0].path == "../a.tens"
        with pytest.raises(DataFileError, match="follow="):
            f["v"].compute()
    with tw.open(path, follow=tmp_path) as f:
        assert np.array_equal(np.asarray(f["v"]), box[1:, ::-1])


def test_a_link_out_of_the_folder_is_outside_of_it(tmp_path, box):
    (tmp_path / "in").mkdir()
    path = stored(tmp_path / "in", box)
    shutil.move(tmp_path / "in" / "a.tens", tmp_path / "a.tens")
    (tmp_path / "in" / "a.tens").symlink_to(tmp_path / "a.tens")
    with tw.open(path) as f, pytest.raises(DataFileError, match="follow="):
        f["v"].compute()
    with tw.open(path, follow=tmp_path) as f:
        assert np.array_equal(np.asarray(f["v"]), box[1:, ::-1])


def said_by_hand(path, name, *sources, text=None):
    """Write a file with a view of sources that no writer of ours would say."""
    from tensorwrapper.store.records._record import encode_view

    text = text or '{"dtype":"<f8","of":{"source":"0"},"range":{"end":[6,4],"start":[0,0]},"view":1}'
    with tw.open(path, "a") as f:
        f._writing().add_view(name, encode_view(name, text, sources, [], [], None))


SHAPE = {"dtype": "<f8", "shape": {"extents": [6, 4], "kind": "smooth", "origin": [0, 0]}}


def test_views_that_lead_back_to_themselves_are_refused(tmp_path):
    said_by_hand(tmp_path / "a.tens", "v", {"file": "b.tens", "name": "w", "version": "0" * 16, **SHAPE})
    said_by_hand(tmp_path / "b.tens", "w", {"file": "a.tens", "name": "v", "version": "0" * 16, **SHAPE})
    said_by_hand(tmp_path / "c.tens", "v", {"own": "v"})
    with tw.open(tmp_path / "a.tens", check_versions=False) as f, warnings.catch_warnings():
        warnings.simplefilter("ignore", ChangedSourceWarning)
        with pytest.raises(DataFileError, match="refers to itself"):
            f["v"].compute()
    with tw.open(tmp_path / "c.tens") as f, pytest.raises(DataFileError, match="refers to itself"):
        f["v"]


def test_a_stored_view_is_a_source_up_to_sixteen_deep(tmp_path, box):
    tw.save(tmp_path / "0.tens", {"v": box})
    for k in range(1, 19):
        with tw.open(tmp_path / f"{k - 1}.tens") as f:
            version = f._as_source("v", ())[1]
        source = {"file": f"{k - 1}.tens", "name": "v", "version": version, **SHAPE}
        said_by_hand(tmp_path / f"{k}.tens", "v", source)
    with tw.open(tmp_path / "16.tens") as f:
        assert np.array_equal(np.asarray(f["v"]), box)
    with tw.open(tmp_path / "18.tens") as f, pytest.raises(DataFileError, match="16 others"):
        f["v"].compute()


@pytest.mark.parametrize(
    "source",
    [
        {"file": "/etc/passwd", "name": "x", "version": ""},
        {"file": "a\0b", "name": "x", "version": ""},
        {"file": "..\\a.tens", "name": "x", "version": ""},
        {"file": "", "name": "x", "version": ""},
        {"file": "a.tens", "name": 3, "version": ""},
        {"file": "a.tens", "name": "x"},
        {"file": "a.tens", "name": "x", "version": "", "mode": "w"},
        {"file": "a.tens", "name": "x", "version": "", "kind": "nonsense"},
        {"file": "a.tens", "name": "x", "version": "", "raw": 7},
        {"file": "a.tens", "name": "x", "version": "", "shape": {"kind": "smooth"}, "dtype": "<f8"},
        {"file": "a.tens", "name": "x", "version": "", **SHAPE, "dtype": "str"},
        {"file": "a.tens", "name": "x", "version": "", **SHAPE, "dtype": "<f4"},
        {"held": 0},
        {"held": -1},
        {"held": 0, "own": "x"},
        {"own": "nothing"},
        {"server": "tcp://127.0.0.1:1", "name": "x", "version": ""},
        {},
        "nonsense",
    ],
)
def test_what_a_stranger_says_of_sources_is_refused(tmp_path, source):
    said_by_hand(tmp_path / "v.tens", "v", source)
    with tw.open(tmp_path / "v.tens") as f:
        assert list(f) == ["v"]
        with pytest.raises(DataFileError):
            f["v"].compute()


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"view":9}', '{"view":5,"dtype":"<f8"}', "7" * 500, "[" * 500]
)
def test_what_a_stranger_says_of_a_view_is_refused(tmp_path, text):
    said_by_hand(tmp_path / "v.tens", "v", text=text)
    with tw.open(tmp_path / "v.tens") as f, pytest.raises(DataFileError):
        f["v"]


def test_files_that_are_open_are_few(tmp_path, monkeypatch):

    monkeypatch.setattr(_open_sources, "_OPEN", 3)
    parts = []
    for k in range(10):
        tw.save(tmp_path / f"{k}.tens", {"x": [k, k]})
        with tw.open(tmp_path / f"{k}.tens") as f:
            parts.append(f["x"])
    tw.save(tmp_path / "v.tens", {"v": tw.concat(parts)}, keep_views=True)
    with tw.open(tmp_path / "v.tens") as f:
        assert f["v"][::2].tolist() == list(range(10))
        assert len(f._start().files._files) == 3


def test_views_stay_valid_when_the_file_is_closed_and_nothing_stays_open(tmp_path, box):
    path = stored(tmp_path, box)
    with tw.open(path) as f:
        view = f["v"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert view[0, 0].item() == 7.0
        del view, f


def test_pickles_have_the_elements(tmp_path, box):
    import pickle

    path = stored(tmp_path, box)
    with tw.open(path) as f:
        twin = pickle.loads(pickle.dumps(f["v"]))
    (tmp_path / "a.tens").unlink()
    assert np.array_equal(np.asarray(twin), box[1:, ::-1])


def test_files_of_sources_are_closed_with_the_last_view(tmp_path, box):
    path = stored(tmp_path, box)
    with tw.open(path) as f:
        view = f["v"]
        view.compute()
        files = f._start().files
    (source,) = files._files.values()
    assert not source.closed
    del view, f, files
    gc.collect()
    assert source.closed


def test_threads_read_one_view_at_the_same_time(tmp_path, box):
    path = stored(tmp_path, box)
    with tw.open(path) as f, ThreadPoolExecutor(8) as pool:
        view = f["v"]
        found = list(pool.map(lambda row: view[row].tolist(), [0, 1, 2, 3, 4] * 8))
    assert found == box[1:, ::-1].tolist() * 8


def test_names_that_are_none_are_refused(tmp_path, box):
    with tw.open(stored(tmp_path, box)) as f:
        for name in (3, [1], None, "nothing"):
            for call in (f.sources, f.check_sources, f.describe, f.__getitem__):
                with pytest.raises(TensorNameError):
                    call(name)


def test_tokens_of_equal_views_are_equal(tmp_path, box):
    tokenize = pytest.importorskip("dask.base").tokenize
    with tw.open(stored(tmp_path, box)) as f:
        assert tokenize(f["v"]) == tokenize(f["v"])
        assert tokenize(f["v"]) != tokenize(f["v"][1:])


THREE = '{"dtype":"<i8","of":{"source":"0"},"range":{"end":[3],"start":[0]},"view":1}'
ZERO = {"version": "0" * 16, "dtype": "<i8", "shape": {"extents": [3], "kind": "smooth", "origin": [0]}}


def test_sources_that_many_views_share_are_opened_once(tmp_path, monkeypatch):
    with tw.open(tmp_path / "a.tens", "w") as f:
        f["v14"] = f["w14"] = [1, 2, 3]
    parts = '[{"of":{"source":"0"}},{"of":{"source":"1"}}]'
    text = THREE.replace('"of":{"source":"0"}', f'"of":{{"minimum":{parts}}}')
    for k in reversed(range(14)):
        for name in "vw":
            own = [{"own": f"v{k + 1}"}, {"own": f"w{k + 1}"}]
            said_by_hand(tmp_path / "a.tens", f"{name}{k}", *own, text=text)
    opened = []
    of = StoredView.of
    monkeypatch.setattr(StoredView, "of", lambda *given: opened.append(1) or of(*given))
    with tw.open(tmp_path / "a.tens") as f:
        assert f["v0"].shape.extents == (3,)
        assert len(opened) <= 28
        opened.clear()
        assert [own.state for own in f.check_sources("v0")] == ["found"]
        assert len(opened) <= 60
    opened.clear()
    assert verify(tmp_path / "a.tens", deep=True).ok
    assert len(opened) <= 150


def test_a_source_that_is_said_often_is_read_once(tmp_path, monkeypatch):
    tw.save(tmp_path / "a.tens", {"x": [1, 2, 3]})
    said_by_hand(tmp_path / "a.tens", "v", *[{"own": "x"}] * 200, text=THREE)
    read = []
    monkeypatch.setattr("tensorwrapper.store._file._version_of", lambda found: read.append(found) or "0" * 16)
    with tw.open(tmp_path / "a.tens") as f:
        assert f["v"].tolist() == [1, 2, 3]
    assert len(read) == 1


def test_sources_that_the_text_does_not_name_are_not_opened(tmp_path):
    tw.save(tmp_path / "a.tens", {"x": [1, 2, 3]})
    said_by_hand(tmp_path / "a.tens", "v", {"own": "x"}, {"own": "nothing"}, text=THREE)
    with tw.open(tmp_path / "a.tens") as f:
        assert f["v"].tolist() == [1, 2, 3]


def test_sources_of_one_view_are_limited(tmp_path):
    tw.save(tmp_path / "a.tens", {"x": [1, 2, 3]})
    said_by_hand(tmp_path / "a.tens", "v", *[{"own": "x"}] * 65_537, text=THREE)
    with tw.open(tmp_path / "a.tens") as f, pytest.raises(DataFileError, match="65537 sources"):
        f["v"]


def test_a_deep_check_finds_circles_and_reads_sources_that_grew(tmp_path):
    said_by_hand(tmp_path / "a.tens", "v", {"file": "b.tens", "name": "w", **ZERO}, text=THREE)
    said_by_hand(tmp_path / "b.tens", "w", {"file": "a.tens", "name": "v", **ZERO}, text=THREE)
    with tw.open(tmp_path / "a.tens") as f:
        version = f._as_source("v", ())[1]
    said_by_hand(
        tmp_path / "c.tens", "v", {"file": "a.tens", "name": "v", **ZERO, "version": version}, text=THREE
    )
    said_by_hand(tmp_path / "c.tens", "w", {"own": "w"}, text=THREE)
    found = verify(tmp_path / "c.tens", deep=True).problems
    assert len(found) == 2
    assert any("refers to itself" in problem for problem in found)
    with tw.open(tmp_path / "d.tens", "a") as f:
        f.extend("x", [1, 2, 3])
        f.append("v", tw.concat([f["x"], f["x"]]), keep_view=True)
        f.extend("x", [4])
    assert verify(tmp_path / "d.tens", deep=True).problems == ()
    said_by_hand(tmp_path / "d.tens", "w", {"own": "x", "rows": 5}, text=THREE)
    (problem,) = verify(tmp_path / "d.tens", deep=True).problems
    assert "'w' cannot be read" in problem


def test_members_of_a_type_that_there_is_not_are_a_damage(tmp_path):
    from tensorwrapper.store.records._record import encode_view

    of = '"members":0,"files":["a.tens"],"table":0,"names":1,"dtype":"<q9","tail":[]'
    text = THREE.replace('"source":"0"', of).replace('"view":1', '"view":5')
    tables = [np.array([[3, 0, 0]]), np.frombuffer(b"x", np.uint8)]
    with tw.open(tmp_path / "v.tens", "a") as f:
        f._writing().add_view("v", encode_view("v", text, [], [], tables, None))
    with tw.open(tmp_path / "v.tens") as f:
        for look in (f.sources, f.check_sources, f.__getitem__):
            with pytest.raises(DataFileError, match="type"):
                look("v")
    assert "'v' cannot be read" in verify(tmp_path / "v.tens").problems[0]


GROWING = {
    "box": [1, 2, 3],
    "rows": tw.jagged([[1], [2, 3], []]),
    "text": tw.strings(["a", "b", "c"]),
    "nulls": tw.as_tensor([1, None, 3]),
    "rows of text": tw.strings([["a"], [], ["b", "c"]]),
    "from elsewhere": tw.as_tensor(np.arange(6).reshape(3, 2)).translate_to((5, 7)),
    "layers": tw.from_buffer(np.arange(12.0), tw.Shape.nested(tw.Shape(3, 2, 2), layers=(1, 2))),
}
OF_A_TENSOR = {
    "whole": lambda x: x,
    "all": lambda x: x[:],
    "turned": lambda x: x[::-1],
    "a part": lambda x: x[1:],
    "twice": lambda x: tw.concat([x, x])[1:],
}


@pytest.mark.parametrize("kind", GROWING)
def test_views_of_a_tensor_that_grows_have_its_rows_of_then(tmp_path, kind):
    with tw.open(tmp_path / "a.tens", "a") as file:
        file.extend("x", GROWING[kind])
        x = sel.as_view(file["x"])
        known = {}
        for name, of in OF_A_TENSOR.items():
            file.append(name, of(x), keep_view=True)
            known[name] = of(x).shape, of(x).tolist()
        file.extend("x", GROWING[kind])
        assert {name: (file[name].shape, file[name].tolist()) for name in known} == known
        file.append("later", file["a part"], keep_view=True)
        file.extend("x", GROWING[kind])
        known["later"] = known["a part"]
    tw.store.compact(tmp_path / "a.tens")
    with tw.open(tmp_path / "a.tens") as file, tw.open(tmp_path / "b.tens", "w") as other:
        for name, then in known.items():
            assert (file[name].shape, file[name].tolist()) == then
            other.append(name, file[name], keep_view=True)
            assert (other[name].shape, other[name].tolist()) == then
    assert tw.store.verify(tmp_path / "a.tens").problems == ()


@pytest.mark.parametrize("rows", [4, -1, True, "3", 1.0])
def test_rows_that_a_source_of_the_file_cannot_have_are_refused(tmp_path, rows):
    tw.save(tmp_path / "a.tens", {"x": [1, 2, 3]})
    said_by_hand(tmp_path / "a.tens", "v", {"own": "x", "rows": rows}, text=THREE)
    with tw.open(tmp_path / "a.tens") as file, pytest.raises(DataFileError, match="rows"):
        file["v"]
