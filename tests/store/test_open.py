"""The two ways into a file: what they take, and what is no file."""

import os
import pathlib

import pytest

import tensorwrapper as tw
from tensorwrapper.errors import (
    ConversionError,
    DataFileError,
    ExtentError,
    LocalProtocolError,
    ReadOnlyError,
    TensorNameError,
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.tens"


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("kind", [str, pathlib.Path, lambda p: os.fsencode(p).decode()])
def test_paths_are_text_or_path_like(path, kind):
    tw.save(kind(path), {"x": [1]})
    with tw.open(kind(path)) as f:
        assert f.path == path


@pytest.mark.parametrize(
    ("mode", "options", "error"),
    [
        ("x", {}, ConversionError),
        ("rb", {}, ConversionError),
        ("r", {"metadata": {}}, ReadOnlyError),
        ("r", {}, DataFileError),
        ("w", {"metadata": {"x": float("nan")}}, LocalProtocolError),
        ("w", {"metadata": {1: 2}}, LocalProtocolError),
        ("w", {"metadata": [1]}, LocalProtocolError),
        ("w", {"piece_bytes": 1.5}, ConversionError),
    ],
)
def test_what_makes_no_sense_is_refused(path, mode, options, error):
    with pytest.raises(error):
        tw.open(path, mode, **options)

    assert names_in(path.parent) == []


@pytest.mark.parametrize("given", [3, None, [("x", [1])]])
def test_save_takes_a_mapping_and_a_path(path, given):
    with pytest.raises(ConversionError):
        tw.save(path, given)
    with pytest.raises(ConversionError):
        tw.save(given, {})
    with pytest.raises(DataFileError, match="NUL"):
        tw.save("a\0b", {})


def test_folders_are_no_files(tmp_path):
    for mode in ("r", "a", "w"):
        with pytest.raises(DataFileError, match="is a folder"):
            tw.open(tmp_path, mode)
    with pytest.raises(DataFileError, match="cannot open"):
        tw.save(tmp_path / "nowhere" / "x.tens", {})


def test_reading_is_the_default_and_writes_nothing(path):
    tw.save(path, {"x": [1]})
    before = path.read_bytes()
    with tw.open(path) as f:
        with pytest.raises(ReadOnlyError, match="mode 'a'"):
            f["y"] = [1]
        with pytest.raises(ReadOnlyError):
            f.flush()
        with pytest.raises(ReadOnlyError):
            f["x"][0] = 5

    assert path.read_bytes() == before


@pytest.mark.parametrize("piece_bytes", [0, -1])
def test_pieces_have_bytes(path, piece_bytes):
    with pytest.raises(ExtentError, match=f"piece_bytes must be at least 1, but is {piece_bytes}"):
        tw.save(path, {"x": [1]}, piece_bytes=piece_bytes)
    assert not path.exists()
    tw.save(path, {"x": [1, 2]}, piece_bytes=1)
    with pytest.raises(ExtentError, match=f"piece_bytes must be at least 1, but is {piece_bytes}"):
        tw.store.compact(path, piece_bytes=piece_bytes)
    with tw.open(path) as f:
        assert f["x"].tolist() == [1, 2]


class Twice(dict):
    """A mapping that gives its first item once more, as a faulty one may."""

    def items(self):
        return [*super().items(), *list(super().items())[:1]]


def test_a_mapping_that_repeats_a_name_is_refused_and_the_old_file_stays(tmp_path):
    path = tmp_path / "a.tens"
    tw.save(path, {"x": [1, 2]})
    with pytest.raises(TensorNameError, match="the name 'y' is given twice"):
        tw.save(path, Twice(y=[3], z=[4]))
    with tw.open(path) as file:
        assert {name: own.tolist() for name, own in file.items()} == {"x": [1, 2]}
    assert [own.name for own in tmp_path.iterdir()] == ["a.tens"]


def test_files_of_one_index_have_their_own_elements(tmp_path):
    paths = [tmp_path / f"{k}.tens" for k in range(3)]
    for k, path in enumerate(paths):
        tw.save(path, {"x": [k, k + 1]})
    opened = [tw.open(path) for path in paths]
    assert [f["x"].tolist() for f in opened] == [[0, 1], [1, 2], [2, 3]]
    for f in opened:
        f.close()


def test_the_elements_of_a_small_file_stay_as_they_were_and_a_shorter_file_is_seen(path):
    tw.save(path, {"x": [1.5, 2.5], "y": [3.5]})
    raw = path.read_bytes()
    with tw.open(path) as f:
        x = f["x"]
        with path.open("r+b") as stream:
            stream.write(bytes(len(raw)))
        assert x.tolist() == [1.5, 2.5]
        assert f["y"].tolist() == [3.5]
        os.truncate(path, 100)
        with pytest.raises(DataFileError, match="shrunk to 100 bytes"):
            f["x"]
    assert x.tolist() == [1.5, 2.5]
