"""A new file takes the place of an old one when the block ends well, and leaves nothing when it does not."""

from pathlib import Path

import pytest

from tensorwrapper.errors import DataFileError
from tensorwrapper.store.system._replace import beside, exchange, replacing


def test_a_block_that_ends_well_replaces_the_file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o640)
    with replacing(path) as stream:
        stream.write(b"new")
        assert path.read_bytes() == b"old"

    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_block_that_does_not_leaves_what_was_there(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), replacing(path) as stream:
        stream.write(b"new %d" % (1 // 0))

    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_no_file_is_not_replaced(tmp_path):
    with (
        pytest.raises(DataFileError, match=r"is not a regular file|is a folder|directory"),
        replacing(tmp_path),
    ):
        pass


def test_names_that_nobody_has_are_short_and_differ(tmp_path):
    names = {Path(beside(tmp_path / ("x" * 255))).name for _ in range(9)}

    assert len(names) == 9
    assert max(map(len, names)) < 100


def test_two_folders_change_places(tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "name").write_text(name)
    done = exchange(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "a" / "name").read_text() == ("b" if done else "a")
    assert (tmp_path / "b" / "name").read_text() == ("a" if done else "b")
    if done:
        with pytest.raises(FileNotFoundError):
            exchange(tmp_path / "a", tmp_path / "none")
