"""Many tensors of files that are joined: one node, whose members are opened when they are read."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, DataFileError, SelectionError, VersionChangedError
from tensorwrapper.store.records._record import encode_view

TEXT = (
    '{"dtype":"<f8","of":{"dtype":"<f8","files":["a.tens"],"members":0,"names":1,"table":0,"tail":[2]},'
    '"range":{"end":[6,2],"start":[0,0]},"view":5}'
)


@pytest.fixture
def parts(tmp_path):
    """Twenty tensors in three files."""
    found = []
    for k in range(3):
        path = tmp_path / f"{k}.tens"
        rows = {f"m{i}": np.full((i % 4, 2), i) for i in range(k, 20, 3)}
        tw.save(path, rows)
        with tw.open(path) as f:
            found += [f[name] for name in f]
    return found


def test_members_are_one_node_and_say_what_is_joined(tmp_path, parts):
    path, again = tmp_path / "v.tens", tmp_path / "w.tens"
    tw.save(path, {"v": tw.concat(parts)[::-2]}, keep_views=True)
    with tw.open(path) as f:
        view = f["v"]
        assert '"members":0' in f._stored("v").text
        assert [(s.path, s.name) for s in f.sources("v")][:8] == [
            *[("0.tens", f"m{i}") for i in range(0, 20, 3)],
            ("1.tens", "m1"),
        ]
    whole = np.concatenate([np.asarray(own) for own in parts])[::-2]
    assert np.array_equal(np.asarray(view), whole)
    assert np.array_equal(np.asarray(view[3:5, 1]), whole[3:5, 1])
    tw.save(again, {"v": view}, keep_views=True)
    assert path.read_bytes() == again.read_bytes()


def test_one_row_opens_one_member(tmp_path, parts):
    tw.save(tmp_path / "v.tens", {"v": tw.concat(parts)}, keep_views=True)
    (tmp_path / "1.tens").unlink()
    tw.save(tmp_path / "2.tens", {f"m{i}": np.zeros((i % 4, 2)) for i in range(2, 20, 3)})
    with tw.open(tmp_path / "v.tens") as f:
        view = f["v"]
        assert [s.state for s in f.check_sources("v")] == ["found", "missing", "changed"]
        assert [s.members for s in f.check_sources("v")] == [7, 7, 6]
    first = sum(len(own) for own in parts[:7])
    assert view[first - 1].tolist() == parts[6][-1].tolist()
    with pytest.raises(DataFileError, match=r"1\.tens is not there"):
        view[first].compute()
    with pytest.raises(VersionChangedError):
        view[-1].compute()


def test_members_of_rows_have_their_lengths(tmp_path):
    rows = {f"r{i}": tw.jagged([[i] * (i % 3), [i]][: 1 + i % 2], dtype="i4") for i in range(30)}
    tw.save(tmp_path / "a.tens", rows)
    with tw.open(tmp_path / "a.tens") as f:
        view = tw.concat([f[name] for name in f])[::-1, :1]
        tw.save(tmp_path / "v.tens", {"v": view}, keep_views=True)
    with tw.open(tmp_path / "v.tens") as f:
        assert f["v"].shape == view.shape
        assert f["v"].tolist() == view.tolist()
        assert '"lengths":2' in f._stored("v").text


def test_a_few_are_sources_one_by_one(tmp_path, parts):
    tw.save(tmp_path / "v.tens", {"v": tw.concat(parts[:5])}, keep_views=True)
    with tw.open(tmp_path / "v.tens") as f:
        assert "members" not in f._stored("v").text
        assert f["v"].tolist() == tw.concat(parts[:5]).tolist()


def said(path, table, names=b"x\ny\nz", text=TEXT, *more):
    with tw.open(path, "w") as f:
        tables = [np.array(table, "<i8"), np.frombuffer(names, np.uint8), *more]
        f._writing().add_view("v", encode_view("v", text, [], [], tables, None))


GOOD = [[1, 0, 7], [2, 0, 7], [3, 0, -1]]


@pytest.mark.parametrize(
    ("table", "names", "text"),
    [
        ([[1, 0, 7], [-2, 0, 7], [7, 0, 0]], b"x\ny\nz", TEXT),
        ([[1, 0, 7], [2, 1, 7], [3, 0, 0]], b"x\ny\nz", TEXT),
        ([[1, 0, 7], [2, -1, 7], [3, 0, 0]], b"x\ny\nz", TEXT),
        ([[2**62, 0, 7], [2**62, 0, 7], [3, 0, 0]], b"x\ny\nz", TEXT),
        ([[1, 0, 7], [2, 0, 7], [4, 0, 0]], b"x\ny\nz", TEXT),
        ([[1, 0], [2, 0], [3, 0]], b"x\ny\nz", TEXT),
        (np.zeros((0, 3)), b"", TEXT),
        (GOOD, b"x\ny", TEXT),
        (GOOD, b"x\ny\nz\n", TEXT),
        (GOOD, b"x\ny\nz", TEXT.replace('"members":0', '"members":1')),
        (GOOD, b"x\ny\nz", TEXT.replace('"table":0', '"table":9')),
        (GOOD, b"x\ny\nz", TEXT.replace('"table":0', '"table":1')),
        (GOOD, b"x\ny\nz", TEXT.replace('"table":0', '"table":null')),
        (GOOD, b"x\ny\nz", TEXT.replace('"names":1', '"names":0')),
        (GOOD, b"x\ny\nz", TEXT.replace('["a.tens"]', '["/a.tens"]')),
        (GOOD, b"x\ny\nz", TEXT.replace('["a.tens"]', "[7]")),
        (GOOD, b"x\ny\nz", TEXT.replace('"tail":[2]', '"tail":[-2]')),
        (GOOD, b"x\ny\nz", TEXT.replace('"tail":[2]', '"tail":[2,4194304,4194304,4194304]')),
        (GOOD, b"x\ny\nz", TEXT.replace('"tail":[2]', '"lengths":0')),
        (GOOD, b"x\ny\nz", TEXT.replace('"dtype":"<f8","files"', '"dtype":"str","files"')),
        (GOOD, b"x\ny\nz", TEXT.replace('"dtype":"<f8","files"', '"dtype":7,"files"')),
        (GOOD, b"x\ny\nz", TEXT.replace('"tail":[2]', '"tail":[2],"more":1')),
        (GOOD, b"x\ny\nz", TEXT.replace('"view":5', '"view":2')),
    ],
)
def test_tables_that_cannot_be_right_are_refused(tmp_path, table, names, text):
    said(tmp_path / "v.tens", table, names, text)
    with tw.open(tmp_path / "v.tens") as f, pytest.raises(DataFileError):
        f["v"].compute()


def test_a_table_that_is_right_is_read(tmp_path):
    said(tmp_path / "v.tens", GOOD)
    tw.save(tmp_path / "a.tens", {name: np.zeros((k + 1, 2)) for k, name in enumerate("xyz")})
    with tw.open(tmp_path / "v.tens", check_versions=False) as f, pytest.warns(UserWarning, match="changed"):
        assert f["v"].compute().shape.extents == (6, 2)


def test_texts_with_members_are_read_from_files_alone():
    with pytest.raises(SelectionError, match="only a file has it"):
        sel.from_json(TEXT, sources={})


def test_rows_of_one_length_stay_rows(tmp_path):
    rows = {f"r{i}": tw.jagged([[i, i], [i, i + 1]]) for i in range(20)}
    tw.save(tmp_path / "a.tens", rows)
    with tw.open(tmp_path / "a.tens") as f:
        view = tw.concat([f[name] for name in f])
        boxes = tw.concat([f["r0"][::-1]] * 20)
        tw.save(tmp_path / "v.tens", {"v": view}, keep_views=True)
        with pytest.raises(ConversionError, match="a part of a tensor in a file"):
            tw.save(tmp_path / "w.tens", {"v": boxes}, keep_views=True)
    with tw.open(tmp_path / "v.tens") as f:
        assert f["v"].shape == view.shape
        assert f["v"].tolist() == view.tolist()
