"""Other files to which an HDF5 file leads are read below a folder that is named, and nowhere else."""

import pickle
from pathlib import Path

import h5py
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError, VersionChangedError

X = np.arange(6, dtype="i8")


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a file that has something to lead to, and another folder beside it."""
    inside = tmp_path / "in"
    (inside / "deep").mkdir(parents=True)
    (tmp_path / "out").mkdir()
    for place in (inside / "b.h5", inside / "deep" / "c.h5", tmp_path / "out" / "d.h5"):
        with h5py.File(place, "w") as f:
            f["x"] = X
            f["g/y"] = [1.5, 2.5]
            f["g/h/chunks"] = f.create_dataset("c", data=X, chunks=(2,))
            f["g/records"] = np.array([(1, 2.5)], [("a", "i2"), ("b", "f4")])
            f["g/words"] = ["ab", "c"]
            f["g"].attrs["by"] = "them"
            f["soft"] = h5py.SoftLink("/g")
    return inside


def written(folder, **links):
    with h5py.File(folder / "a.h5", "w") as f:
        f.create_dataset("own", data=[7], chunks=(1,))
        for name, (target, path) in links.items():
            f[name] = h5py.ExternalLink(str(target), path)
    return folder / "a.h5"


def losses(f):
    return [(loss.name, loss.code) for loss in f.losses]


def test_links_to_other_files_are_followed(folder):
    path = written(
        folder, one=("b.h5", "/x"), group=("b.h5", "/g"), all=("deep/c.h5", "/"), soft=("b.h5", "soft/y")
    )
    f = tw.open(path, follow=folder)
    assert f["one"].tolist() == X.tolist()
    assert f["group/y"].tolist() == f["soft"].tolist() == f["all/g/y"].tolist() == [1.5, 2.5]
    assert f["all/x"].tolist() == X.tolist()
    assert f["group/records.b"].tolist() == [2.5]
    assert f["group/words"].tolist() == ["ab", "c"]
    assert f.aliases["all/g/h/chunks"] == "all/c"
    assert f["group/h/chunks"].tolist() == f["all/soft/h/chunks"].tolist() == X.tolist()
    assert losses(f) == []
    # The first look at links opens and closes the file once more.
    assert f["own"].tolist() == [7]
    told = tw.open(path)
    assert list(told) == ["own"]
    assert losses(told) == [(name, "link") for name in ("all", "group", "one", "soft")]
    with h5py.File(path) as g:
        assert g["group/y"][:].tolist() == [1.5, 2.5]


def test_what_is_not_below_the_folder_is_told(folder):
    outside = folder.parent / "out"
    (folder / "link.h5").symlink_to(outside / "d.h5")
    (folder / "away").symlink_to(outside)
    targets = {
        "absolute": outside / "d.h5",
        "up": "../out/d.h5",
        "link": "link.h5",
        "away": "away/d.h5",
        "gone": "gone.h5",
        "nothing": "b.h5",
    }
    path = written(
        folder, **{name: (own, "/zzz" if name == "nothing" else "/x") for name, own in targets.items()}
    )
    f = tw.open(path, follow=folder)
    assert list(f) == ["own"]
    assert losses(f) == [(name, "link") for name in sorted(targets)]
    assert all(Path(targets[loss.name]).name in loss for loss in f.losses)


def test_files_that_lead_back_are_told(folder):
    with h5py.File(folder / "b.h5", "a") as f:
        f["back"] = h5py.ExternalLink("a.h5", "/")
        f["further"] = h5py.ExternalLink("deep/c.h5", "/x")
        f["out"] = h5py.ExternalLink("../out/d.h5", "/x")
    f = tw.open(written(folder, b=("b.h5", "/"), me=("a.h5", "/own")), follow=folder)
    assert f["b/further"].tolist() == X.tolist()
    assert losses(f) == [("b/back", "link"), ("b/out", "link"), ("me", "link")]


def test_a_damaged_file_hides_no_other(folder):
    (folder / "deep" / "c.h5").write_bytes(b"nothing")
    f = tw.open(written(folder, one=("b.h5", "/x"), two=("deep/c.h5", "/x")), follow=folder)
    assert list(f) == ["own", "one"]
    assert losses(f) == [("two", "damage")]


def virtual(folder, *sources, name="a.h5"):
    layout = h5py.VirtualLayout((len(sources), 6), "i8")
    for k, (target, source) in enumerate(sources):
        layout[k] = h5py.VirtualSource(str(target), source, shape=(6,))
    with h5py.File(folder / name, "a") as f:
        f["own"] = X + 1
        f["soft"] = h5py.SoftLink("/own")
        f.create_virtual_dataset("v", layout, fillvalue=-1)
        f["v"].dims[1].label = "time"
    return folder / name


def test_virtual_datasets_are_read(folder, monkeypatch):
    path = virtual(folder, ("b.h5", "x"), ("deep/c.h5", "/x"), (".", "own"))
    # HDF5 would look there, too.
    monkeypatch.chdir(folder.parent / "out")
    f = tw.open(path, follow=folder)
    with h5py.File(path) as g:
        right = g["v"][:]
    assert f["v"].tolist() == right.tolist() == [X.tolist(), X.tolist(), (X + 1).tolist()]
    assert (f["v"].shape.names, f["v"][1:, ::2].tolist()) == ((None, "time"), right[1:, ::2].tolist())
    assert (f.describe("v").packing, losses(f)) == ("virtual", [])
    assert losses(tw.open(path)) == [("v", "link")]
    assert tw.open(path, follow=folder)["v"].tolist() == right.tolist()


def test_virtual_datasets_that_lead_elsewhere_are_told(folder, monkeypatch):
    outside = folder.parent / "out"
    monkeypatch.chdir(outside)
    virtual(folder / "deep", ("../b.h5", "x"), name="v.h5")
    with h5py.File(folder / "deep" / "linked.h5", "w") as f:
        f["x"] = h5py.ExternalLink(str(outside / "d.h5"), "/x")
    for k, source in enumerate(
        [
            (outside / "d.h5", "x"),
            ("../out/d.h5", "x"),
            ("d.h5", "x"),
            ("b.h5", "zzz"),
            ("b.h5", "soft/y"),
            ("deep/v.h5", "v"),
            ("deep/linked.h5", "x"),
            (".", "soft"),
            (".", "v"),
        ]
    ):
        f = tw.open(virtual(folder, ("b.h5", "x"), source, name=f"a{k}.h5"), follow=folder)
        assert (list(f), losses(f)) == (["own"], [("v", "link")]), source


def test_datasets_in_raw_files_are_read(folder, monkeypatch):
    X[:2].astype("i4").tofile(folder / "raw")
    X[2:].astype("i4").tofile(folder / "deep" / "raw2")
    parts = [("raw", 0, 8), ("deep/raw2", 4, 8)]
    with h5py.File(folder / "a.h5", "w") as f:
        f.create_dataset("e", shape=(2, 2), dtype="i4", external=parts)
        f.create_dataset("out", shape=(2,), dtype="i4", external=[(str(folder / "raw"), 0, 8)])
        f.create_dataset("up", shape=(2,), dtype="i4", external=[("../in/raw", 0, 8)])
        f.create_dataset("text", shape=(2,), dtype="S4", external=[("raw", 0, 8)])
    with monkeypatch.context() as own:
        own.chdir(folder)
        with h5py.File("a.h5") as f:
            right = f["e"][:]
    monkeypatch.chdir(folder.parent / "out")
    f = tw.open(folder / "a.h5", follow=folder)
    assert list(f) == ["e"]
    assert f["e"].tolist() == right.tolist() == [[0, 1], [3, 4]]
    assert losses(f) == [("out", "link"), ("text", "type"), ("up", "link")]
    kept = f["e"]
    again = tw.open(folder / "a.h5", follow=folder)
    assert (again["e"][1].tolist(), kept.tolist()) == ([3, 4], right.tolist())
    assert losses(tw.open(folder / "a.h5")) == [(name, "link") for name in ("e", "out", "text", "up")]


def test_the_folder_may_be_above_the_file(folder):
    X.astype("i4").tofile(folder / "raw")
    with h5py.File(folder / "deep" / "a.h5", "w") as f:
        f.create_dataset("e", shape=(2,), dtype="i4", external=[("raw", 0, 8)])
        f["b"] = h5py.ExternalLink("b.h5", "/x")
    f = tw.open(folder / "deep" / "a.h5", follow=folder)
    assert (f["e"].tolist(), f["b"].tolist()) == ([0, 1], X.tolist())


def test_files_are_looked_at_again_when_they_are_read(folder):
    path = virtual(folder, ("b.h5", "x"))
    f = tw.open(path, follow=folder)
    (folder / "b.h5").unlink()
    (folder / "b.h5").symlink_to(folder.parent / "out" / "d.h5")
    with pytest.raises(DataFileError, match="not below"):
        f["v"]


@pytest.mark.parametrize("change", ["replaced", "removed"])
def test_elements_in_a_file_that_changed_are_refused(folder, change):
    path = virtual(folder, ("b.h5", "x"))
    with tw.open(path, follow=folder) as f:
        view = f["v"]
        sent = pickle.dumps(view)
        if change == "replaced":
            with h5py.File(folder / "new.h5", "w") as new:
                new["x"] = -X
            (folder / "new.h5").replace(folder / "b.h5")
        else:
            (folder / "b.h5").unlink()
        for read in (view.compute, lambda: pickle.loads(sent).compute()):
            with pytest.raises(VersionChangedError, match=r"b\.h5"):
                read()


def test_fields_of_linked_records_give_way_as_in_one_file(tmp_path):
    records = np.array([(1, 2.5)], [("p", "i2"), ("q", "f4")])
    path = tmp_path / "m.h5"
    with h5py.File(tmp_path / "o.h5", "w") as f:
        f["rec"], f["data"], f["in/c"] = records, [7], [8]
    with h5py.File(path, "w") as f:
        f["rec.p"] = [99]
        f["rec.q~1"] = [98]
        f.create_group("rec.q")
        f["rec"] = h5py.ExternalLink("o.h5", "/rec")
        f["other"] = np.array([(1, 2.5)], [("p", "i2"), ("x/c", "f4")])
        f["other.p"] = h5py.ExternalLink("o.h5", "/data")
        f["other.x"] = h5py.ExternalLink("o.h5", "/in")
        f["soft"] = h5py.SoftLink("/other")
        f["third"] = h5py.ExternalLink("o.h5", "/rec")
        f["third.p"] = h5py.ExternalLink("o.h5", "/data")
    f = tw.open(path, follow=tmp_path)
    right = {"rec.p": [99], "rec.p~1": [1], "rec.q~1": [98], "rec.q~2": [2.5]}
    right |= {"other.p": [7], "other.p~1": [1], "other.x/c": [8], "other.x/c~1": [2.5]}
    right |= {"third.p": [7], "third.p~1": [1], "third.q": [2.5]}
    assert {name: own.tolist() for name, own in f.items()} == right
    assert sorted(losses(f)) == [
        (name, "name") for name in ("other.p", "other.x/c", "rec.p", "rec.q", "third.p")
    ]
    assert f["soft.p"].tolist() == [1]
    assert f["soft.x/c"].tolist() == [2.5]
    alone = tw.open(path)
    assert (alone["other.p"].tolist(), [loss.code for loss in alone.losses]) == ([1], ["link"] * 5)


def test_soft_links_to_what_is_linked_work_and_are_not_told(folder):
    path = written(folder, one=("b.h5", "/x"), group=("b.h5", "/g"))
    with h5py.File(path, "r+") as f:
        f["to"], f["into"] = h5py.SoftLink("/one"), h5py.SoftLink("/group")
        f["inner"], f["nowhere"] = h5py.SoftLink("/group/y"), h5py.SoftLink("/group/zzz")
    f = tw.open(path, follow=folder)
    assert losses(f) == [("nowhere", "link")]
    assert f["to"].tolist() == X.tolist()
    assert f["inner"].tolist() == f["into/y"].tolist() == [1.5, 2.5]
    assert (f.aliases["to"], f.aliases["inner"]) == ("one", "group/y")
    assert {loss.name for loss in tw.open(path).losses} > {"to", "into", "inner", "nowhere"}
