"""Commands and calls that look at stored views: verify, inspect, compact and convert."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.cli import main
from tensorwrapper.errors import DataFileError
from tensorwrapper.store import compact, convert, verify


@pytest.fixture
def box():
    return np.arange(12.0).reshape(4, 3)


@pytest.fixture
def path(tmp_path, box):
    tw.save(tmp_path / "a.tens", {"x": box})
    with tw.open(tmp_path / "a.tens") as f:
        view = sel.as_view(f["x"])[::-1]
        tw.save(tmp_path / "v.tens", {"y": [1, 2], "v": view}, keep_views=True)
    return tmp_path / "v.tens"


def test_verify_looks_at_sources_if_it_is_asked_to(tmp_path, path):
    assert verify(path).ok
    assert verify(path, deep=True).ok
    assert verify(path).tensors == 2
    tw.save(tmp_path / "a.tens", {"x": [1]})
    assert verify(path).ok
    (problem,) = verify(path, deep=True).problems
    assert "'x' changed" in problem
    (tmp_path / "a.tens").unlink()
    (problem,) = verify(path, deep=True).problems
    assert "is not there" in problem


def test_verify_finds_a_damaged_view(path):
    raw = path.read_bytes()
    path.write_bytes(raw.replace(b'"sources":', b'"sourceS":'))
    found = verify(path)
    assert any("'v' cannot be read" in problem for problem in found.problems)
    with tw.open(path) as f:
        assert f["y"].tolist() == [1, 2]
        with pytest.raises(DataFileError, match="the view 'v'"):
            f["v"]


def test_compact_keeps_views(path, box):
    with tw.open(path, "a") as f:
        for k in range(20):
            f.extend("g", [k])
        f.append("w", sel.as_view(f["y"])[1:], keep_view=True)
    assert compact(path).saved > 0
    with tw.open(path) as f:
        assert list(f) == ["y", "g", "v", "w"]
        assert np.array_equal(np.asarray(f["v"]), box[::-1])
        assert f["w"].tolist() == [2]
    assert verify(path, deep=True).ok


def test_convert_computes_views_or_keeps_them(tmp_path, path, box):
    convert(path, tmp_path / "c.tens")
    with tw.open(tmp_path / "c.tens") as f:
        assert f.describe("v").packing == "dense"
        assert np.array_equal(np.asarray(f["v"]), box[::-1])
    (tmp_path / "below").mkdir()
    kept = tmp_path / "below" / "k.tens"
    convert(path, kept, keep_views=True)
    with tw.open(kept, follow=tmp_path) as f:
        assert f.describe("v").packing == "view"
        assert [own.path for own in f.sources("v")] == ["../a.tens"]
        assert np.array_equal(np.asarray(f["v"]), box[::-1])
    convert(path, tmp_path / "c.npz", keep_views=True)
    assert np.array_equal(np.load(tmp_path / "c.npz")["v"], box[::-1])


def test_the_command_line_tells_of_sources(tmp_path, path, capsys):
    assert main(["inspect", str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert "a.tens" in json.dumps(told)
    assert main(["inspect", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.split() == ["v", "a.tens", "found", "1"] for line in lines)
    (tmp_path / "a.tens").unlink()
    assert main(["inspect", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.split() == ["v", "a.tens", "missing", "1"] for line in lines)
    assert main(["verify", str(path)]) == 0
    assert main(["verify", str(path), "--deep"]) == 1
    assert main(["convert", str(path), str(tmp_path / "k.tens"), "--keep-views"]) == 0
    with tw.open(tmp_path / "k.tens") as f:
        assert f.describe("v").packing == "view"


def test_convert_leaves_out_a_view_whose_source_is_gone(tmp_path, path):
    (tmp_path / "a.tens").unlink()
    with pytest.raises(DataFileError, match="is not there"):
        convert(path, tmp_path / "c.tens")
    done = convert(path, tmp_path / "c.tens", strict=False)
    assert done.names == ("y",)
    assert [loss.name for loss in done.lost] == ["v"]


def test_inspect_tells_of_sources_that_are_opened_at_once(tmp_path, capsys):
    tw.save(tmp_path / "a.tens", {"s": tw.strings(["a", "b"])})
    with tw.open(tmp_path / "a.tens") as f:
        tw.save(tmp_path / "v.tens", {"v": sel.as_view(f["s"])[::-1], "y": [1]}, keep_views=True)
    tw.save(tmp_path / "a.tens", {"s": tw.strings(["a", "c"])})
    with tw.open(tmp_path / "v.tens") as f:
        assert "VersionChangedError" in f._repr_html_()
        assert f.check_sources("y") == ()
    assert main(["inspect", str(tmp_path / "v.tens")]) == 1
    assert "changed" in capsys.readouterr().out


def test_a_source_in_the_file_itself_stays_one_if_it_is_converted(tmp_path):
    path = tmp_path / "a.tens"
    with tw.open(path, "a") as f:
        f["x"] = np.arange(4)
        f.append("v", sel.as_view(f["x"])[::-1], keep_view=True)
        f["y"] = [7]
    (tmp_path / "below").mkdir()
    assert convert(path, tmp_path / "below" / "b.tens", keep_views=True).names == ("x", "y", "v")
    convert(path, tmp_path / "below" / "c.tens", keep_views=True, only="v")
    with tw.open(tmp_path / "below" / "c.tens") as f:
        assert [own.path for own in f.sources("v")] == ["../a.tens"]
    path.unlink()
    with tw.open(tmp_path / "below" / "b.tens") as f:
        assert [(own.path, own.name) for own in f.sources("v")] == [("", "x")]
        assert f["v"].tolist() == [3, 2, 1, 0]


def test_sources_are_relative_to_the_file_that_a_link_leads_to(tmp_path, path, box):
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "l.tens").symlink_to(path)
    with tw.open(tmp_path / "links" / "l.tens") as f:
        assert np.array_equal(np.asarray(f["v"]), box[::-1])
        assert [own.path for own in f.sources("v")] == ["a.tens"]


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_convert_leaves_out_a_view_whose_source_is_no_file(tmp_path, path, make):
    (tmp_path / "a.tens").unlink()
    make(tmp_path / "a.tens")
    done = convert(path, tmp_path / "c.npz", strict=False)
    assert done.names == ("y",)
    assert [own.name for own in done.lost] == ["v"]


def test_what_convert_says_of_a_source_outside_works(tmp_path, path, box):
    (tmp_path / "below").mkdir()
    convert(path, tmp_path / "below" / "k.tens", keep_views=True)
    with pytest.raises(DataFileError, match=r"use tw\.open with follow=, a folder above it, and tw\.save"):
        convert(tmp_path / "below" / "k.tens", tmp_path / "c.npz")
    with tw.open(tmp_path / "below" / "k.tens", follow=tmp_path) as f:
        tw.save(tmp_path / "c.npz", dict(f))
    assert np.array_equal(np.load(tmp_path / "c.npz")["v"], box[::-1])
