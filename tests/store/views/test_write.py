"""Views that are saved as views: what their records say, and what is refused."""

import os
import weakref
from collections.abc import Mapping

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, ReadOnlyError, TensorNameError
from tensorwrapper.store import StoredSource


@pytest.fixture
def box():
    return np.arange(24.0).reshape(6, 4)


@pytest.fixture
def source(tmp_path, box):
    path = tmp_path / "a.tens"
    tw.save(path, {"x": box, "rows": tw.jagged([[1, 2], [], [3]]), "words": tw.strings(["a", "bc"])})
    return path


def kept(path, **views):
    tw.save(path, views, keep_views=True)
    with tw.open(path) as f:
        return {name: f[name] for name in f}


def test_a_view_of_files_is_stored_without_its_elements(tmp_path, source, box):
    with tw.open(source) as f:
        view = tw.concat([f["x"], f["x"]])[::3, ::-1]
    path = tmp_path / "v.tens"
    found = kept(path, v=view)["v"]
    assert isinstance(found, sel.View)
    assert np.array_equal(np.asarray(found), np.concatenate([box, box])[::3, ::-1])
    with tw.open(path) as f:
        (only,) = f.sources("v")
        assert (only.path, only.name, len(only.version)) == ("a.tens", "x", 16)
        assert f.describe("v").packing == "view"


def test_without_keep_views_elements_are_written(tmp_path, source):
    path = tmp_path / "v.tens"
    with tw.open(source) as f:
        tw.save(path, {"v": sel.as_view(f["x"])[1:]})
    with tw.open(path) as f:
        assert f.describe("v").packing == "dense"
        assert f.sources("v") == ()


@pytest.mark.parametrize(
    "make",
    [
        lambda f: tw.concat([f["rows"], f["rows"]])[1:, ::-1],
        lambda f: tw.concat([f["words"], f["words"]])[::-1],
        lambda f: tw.stack([f["x"], f["x"]]).permute((2, 0, 1)),
        lambda f: sel.as_view(f["x"]).astype("i4"),
        lambda f: sel.maximum(f["x"], f["x"][::-1]),
        lambda f: tw.concat([f["x"][1::2], f["x"][:, ::-1]]),
        lambda f: sel.as_view(f["x"][2]),
        lambda f: sel.pad(f["x"], [(1, 1), (0, 2)], fill_value=9),
        lambda f: sel.as_view(f["rows"][0]),
        lambda f: sel.as_view(f["rows"][1:]),
        lambda f: tw.concat([f["rows"][:2], f["rows"][1:2], f["rows"][3:]])[:, ::-1],
        lambda f: sel.as_view(f["x"]).gather(0, np.arange(600) % 6),
        lambda f: sel.as_view(f["x"]).named("a", "b").translate_to((3, 5)),
    ],
)
def test_what_is_read_is_what_was_saved_and_saved_again_has_the_same_bytes(tmp_path, source, make):
    with tw.open(source) as f:
        view = make(f)
    path, again = tmp_path / "v.tens", tmp_path / "w.tens"
    found = kept(path, v=view)["v"]
    assert found.shape == view.shape
    assert found.dtype == view.dtype
    assert found.tolist() == view.tolist()
    kept(again, v=found)
    assert path.read_bytes() == again.read_bytes()


def test_records_that_grew_are_sources(tmp_path):
    with tw.open(tmp_path / "a.tens", "a") as f:
        f.extend("x", [1, 2])
        f.extend("x", [3])
        f.extend("ev", {"t": tw.jagged([[1], []]), "n": [5, 6]})
    with tw.open(tmp_path / "a.tens") as f:
        found = kept(
            tmp_path / "v.tens", v=f["x"][::-1], t=sel.as_view(f["ev.t"])[:1], n=sel.as_view(f["ev.n"])
        )
    assert {name: own.tolist() for name, own in found.items()} == {"v": [3, 2, 1], "t": [[1]], "n": [5, 6]}


def test_tensors_of_the_same_file_are_sources_by_name(tmp_path):
    t = tw.as_tensor([1, 2, 3])
    found = kept(tmp_path / "v.tens", v=sel.as_view(t)[::-1], x=t)
    assert list(found) == ["x", "v"]
    assert found["v"].tolist() == [3, 2, 1]
    with tw.open(tmp_path / "v.tens", "a") as f:
        f.append("w", sel.as_view(f["x"])[1:], keep_view=True, metadata={"unit": "m"})
        f.append("u", tw.concat([f["v"], f["w"]]), keep_view=True)
    with tw.open(tmp_path / "v.tens") as f:
        assert f["w"].tolist() == [2, 3]
        assert f["u"].tolist() == [3, 2, 1, 2, 3]
        assert f.sources("w") == (StoredSource("", "x", ""),)
        assert f.tensor_metadata("w") == {"unit": "m"}


def test_small_sources_travel_and_large_ones_are_refused(tmp_path):
    assert kept(tmp_path / "v.tens", v=sel.as_view([1, 2])[::-1])["v"].tolist() == [2, 1]
    large = sel.as_view(np.zeros(2**17 + 1))
    with pytest.raises(ConversionError, match=r"cannot store the view 'v': .*save the tensor first"):
        tw.save(tmp_path / "v.tens", {"v": large[::2]}, keep_views=True)
    many = [np.zeros(2**17) for _ in range(17)]
    with pytest.raises(ConversionError, match="A view can store"):
        tw.save(tmp_path / "v.tens", {"v": sel.stack(many)}, keep_views=True)
    assert kept(tmp_path / "v.tens", v=sel.stack(many[:16]))["v"].shape.extents == (16, 2**17)


def test_functions_and_tensors_of_other_kinds_of_file_are_refused(tmp_path, source):
    with tw.open(source) as f:
        computed = sel.compute((3,), lambda i: i, dtype="i8")
        with pytest.raises(ConversionError):
            tw.save(tmp_path / "v.tens", {"v": computed}, keep_views=True)
        with pytest.raises(ConversionError, match=r"use a \.tens file"):
            tw.save(tmp_path / "v.npz", {"v": sel.as_view(f["x"])}, keep_views=True)
        with pytest.raises(ConversionError, match="being replaced"):
            tw.save(source, {"v": sel.as_view(f["x"])[1:]}, keep_views=True)
        assert f["x"].shape.extents == (6, 4)


def test_a_source_that_was_replaced_since_it_was_opened_is_refused(tmp_path, source):
    with tw.open(source) as f:
        view = sel.as_view(f["x"])[1:]
    tw.save(source, {"x": np.zeros((6, 4))})
    with pytest.raises(ConversionError, match="was replaced"):
        tw.save(tmp_path / "v.tens", {"v": view}, keep_views=True)


def test_a_name_is_taken_once(tmp_path, source):
    path = tmp_path / "v.tens"
    with tw.open(source) as f:
        view = sel.as_view(f["x"])[1:]
    with tw.open(path, "a") as f:
        f.append("v", view, keep_view=True)
        for again in (view, [1]):
            with pytest.raises(TensorNameError):
                f.append("v", again, keep_view=True)
        with pytest.raises(ConversionError, match="cannot extend"):
            f.extend("v", [1])
    with tw.open(path, "a") as f:
        with pytest.raises(TensorNameError):
            f["v"] = [1]
        f["y"] = [2]
    with tw.open(path) as f:
        assert list(f) == ["y", "v"]
        assert "v" in f
        with pytest.raises(ReadOnlyError):
            f.append("w", view, keep_view=True)


def test_an_unfinished_file_is_scanned_for_views(tmp_path, source):
    path = tmp_path / "v.tens"
    with tw.open(source) as f:
        view = sel.as_view(f["x"])[1:]
    with tw.open(path, "a") as f:
        f.append("v", view, keep_view=True)
        cut = path.stat().st_size
    raw = path.read_bytes()[:cut]
    path.write_bytes(raw)
    with tw.open(path) as f:
        assert list(f) == ["v"]
        assert f["v"].shape.extents == (5, 4)
    with tw.open(path, "a") as f:
        f["y"] = [1]
    with tw.open(path) as f:
        assert list(f) == ["y", "v"]


def test_views_of_many_appends_are_in_the_indices(tmp_path, source):
    path = tmp_path / "v.tens"
    with tw.open(source) as f:
        view = sel.as_view(f["x"])
        for k in range(12):
            with tw.open(path, "a") as g:
                g.append(f"v{k}", view[k % 6], keep_view=True)
                if k % 5 == 0:
                    g[f"x{k}"] = [k]
    with tw.open(path) as g:
        assert list(g) == ["x0", "x5", "x10", *[f"v{k}" for k in range(12)]]
        assert g["v7"].tolist() == view[1].tolist()


def test_a_file_that_is_opened_twice_is_one_file(tmp_path, source):
    with tw.open(source) as f, tw.open(source, "a") as g:
        g.append("v", sel.as_view(f["x"])[::2], keep_view=True)
        assert g.sources("v") == (StoredSource("", "x", ""),)
    source.rename(tmp_path / "b.tens")
    with tw.open(tmp_path / "b.tens") as f:
        assert f["v"].shape.extents == (3, 4)


def test_relative_paths_and_links_of_folders(tmp_path, source, box, monkeypatch):
    (tmp_path / "link").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path / "link")
    with tw.open("a.tens") as f:
        monkeypatch.chdir("/")
        tw.save(tmp_path / "v.tens", {"v": sel.as_view(f["x"])[::2]}, keep_views=True)
    monkeypatch.chdir(tmp_path)
    with tw.open("v.tens") as f:
        monkeypatch.chdir("/")
        assert [own.path for own in f.sources("v")] == ["a.tens"]
        assert np.array_equal(np.asarray(f["v"]), box[::2])
    assert source.exists()


@pytest.mark.parametrize(
    "given",
    [
        tw.as_tensor([1, None, 3]),
        tw.as_tensor(np.arange(16.0).reshape(4, 4)).tiled(tw.Tiling([2, 2], [2, 2])),
        np.array(["2020-01-01", "2021-01-01"], "M8[D]"),
        np.array([1 + 2j, 3]),
        np.array([True, False]),
        np.zeros((0, 3)),
        np.array([1, 2], ">i2"),
        tw.strings(["a", None, "b"]),
        tw.blocks({(0, 1): [[1.0, 2.0]]}, tw.Tiling([1, 2], [2, 2])),
    ],
    ids=["nullable", "tiles", "times", "complex", "truth", "empty", "turned", "text", "blocks"],
)
def test_elements_of_every_kind_are_sources(tmp_path, given):
    path = tmp_path / "v.tens"
    tw.save(tmp_path / "a.tens", {"x": given})
    with tw.open(tmp_path / "a.tens") as f:
        whole = sel.as_view(f["x"])
    for view in (whole, whole[::-1], tw.concat([whole, whole]), tw.concat([whole] * 20)):
        found = kept(path, v=view)["v"]
        assert (found.shape, found.dtype) == (view.shape, view.dtype)
        assert found.tolist() == view.tolist()
        kept(tmp_path / "w.tens", v=found)
        assert path.read_bytes() == (tmp_path / "w.tens").read_bytes()
        with tw.open(path) as f:
            assert {own.path for own in f.sources("v")} == {"a.tens"}


class Made(dict):
    """A mapping that makes each value when it is asked for."""

    def __getitem__(self, name):
        return super().__getitem__(name)()

    def items(self):
        return ((name, self[name]) for name in self)


def test_tensors_that_are_made_on_access_are_not_taken_for_one_another(tmp_path):
    made = {f"t{k}": lambda: tw.as_tensor(np.zeros(3)) for k in range(20)}
    made["v"] = lambda: sel.as_view(tw.as_tensor(np.full(3, 5.0)))[::-1]
    tw.save(tmp_path / "v.tens", Made(made), keep_views=True)
    with tw.open(tmp_path / "v.tens") as f:
        assert f.describe("v").packing == "view"
        assert f["v"].tolist() == [5, 5, 5]


REFUSED = {
    "large tables": lambda x: sel.as_view(x).gather(0, np.random.default_rng(0).integers(0, 6, 2**23 + 9)),
    "many rounds": lambda x: sel.as_view(x).repeat_each(0, 10**9),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_view_that_no_reader_takes_is_not_written(tmp_path, source, name):
    with tw.open(source) as f, tw.open(tmp_path / "v.tens", "a") as g:
        with pytest.raises(ConversionError, match="cannot store the view 'v'"):
            g.append("v", REFUSED[name](f["x"]), keep_view=True)
        g["v"] = [1]
    with tw.open(tmp_path / "v.tens") as g:
        assert g["v"].tolist() == [1]


@pytest.mark.skipif(os.name != "posix", reason="names of files are POSIX's")
@pytest.mark.parametrize("name", ["a\\b.tens", "a\udcff.tens"])
def test_a_file_whose_name_no_reader_takes_is_no_source(tmp_path, name):
    tw.save(tmp_path / name, {"x": [1, 2, 3]})
    with tw.open(tmp_path / name) as f, pytest.raises(ConversionError, match="cannot store"):
        tw.save(tmp_path / "v.tens", {"v": sel.as_view(f["x"])[::-1]}, keep_views=True)


def test_a_name_that_is_too_long_for_a_reader_is_no_source(tmp_path):
    np.savez(tmp_path / "a.npz", **{"k" * 5000: np.arange(4)})
    view = sel.as_view(tw.open(tmp_path / "a.npz")["k" * 5000])[::-1]
    with pytest.raises(ConversionError, match="cannot store"):
        tw.save(tmp_path / "v.tens", {"v": view}, keep_views=True)


class _Made(Mapping):
    """Tensors that are made when they are asked for, and a view that is asked for last."""

    def __init__(self):
        self.given = []
        self.alive = None

    def __getitem__(self, name):
        if name == "v":
            # Another tensor may have the identity of one that is gone.
            self.alive = [one() is not None for one in self.given]
            return sel.as_view(tw.as_tensor([7.0, 8.0]))[::-1]
        tensor = tw.as_tensor([float(name[1:])] * 3)
        self.given.append(weakref.ref(tensor))
        return tensor

    def __iter__(self):
        return iter(["t0", "t1", "t2", "v"])

    def __len__(self):
        return 4


def test_tensors_that_were_written_live_until_the_views_are_written(tmp_path):
    made = _Made()
    tw.save(tmp_path / "a.tens", made, keep_views=True)
    # Three that were written, after as many that were only looked at.
    assert made.alive[-3:] == [True] * 3
    with tw.open(tmp_path / "a.tens") as file:
        assert file["v"].tolist() == [8.0, 7.0]
