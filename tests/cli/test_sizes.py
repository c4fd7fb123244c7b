"""A store that is a folder has the bytes of its files; commands know it as they know files."""

import json

import numpy as np

import tensorwrapper as tw
from tensorwrapper.cli import main
from tensorwrapper.cli._sizes import size_of


def test_a_folder_has_the_bytes_of_its_files(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a").write_bytes(b"123")
    (tmp_path / "b").write_bytes(b"4567")
    (tmp_path / "link").symlink_to(tmp_path / "b")
    assert size_of(tmp_path / "b") == 4
    assert 7 <= size_of(tmp_path) < 7 + 4096


def test_commands_know_stores(tmp_path, capsys):
    tw.save(tmp_path / "a.tens", {"x": np.arange(1000.0), "r": tw.jagged([[1], [2, 3]])})
    assert main(["convert", str(tmp_path / "a.tens"), str(tmp_path / "a.zarr")]) == 0
    capsys.readouterr()
    assert main(["inspect", "--json", str(tmp_path / "a.zarr")]) == 0
    found = json.loads(capsys.readouterr().out)
    text = json.dumps(found)
    assert '"regular"' in text
    assert '"jagged"' in text
