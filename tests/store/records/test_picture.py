"""Tests of displays of files: tables, and bars as long as tensors have bytes."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.store.records._picture import MOST
from tests.support.pictures import Picture
from tests.support.store.served_files import served


@pytest.fixture
def path(tmp_path):
    return tmp_path / "f.tens"


def test_a_bar_is_as_long_as_its_tensor_has_bytes(path):
    tw.save(path, {"a": tw.zeros((1000,)), "b": tw.zeros((2000,)), "few": tw.jagged([[1], [2, 3]])})
    with tw.open(path) as file:
        found = Picture(file.to_svg())
        sizes = [file.describe(name).nbytes for name in file]
    bars = found.boxes("bar")

    assert [bar.width / bars[1].width for bar in bars] == pytest.approx(
        [size / sizes[1] for size in sizes], abs=0.01
    )
    assert [text for text in found.texts if text in ("a", "b", "few")] == ["a", "b", "few"]


def test_of_many_tensors_the_first_are_drawn(path):
    tw.save(path, {f"{k}" * 60: np.zeros(k) for k in range(MOST + 5)})
    with tw.open(path) as file:
        found = Picture(file.to_svg())

    assert len(found.boxes("bar")) == MOST
    assert "and 5 more tensors" in found.texts
    assert found.width < 1000


def test_a_file_without_tensors_and_a_closed_one_say_so(path):
    with tw.open(path, "w") as file:
        assert "no tensors" in Picture(file.to_svg()).texts
        assert "<svg" not in file._repr_html_()

    assert "no tensors" in Picture(file.to_svg()).texts
    assert "closed" in file._repr_html_()


def test_a_name_with_control_characters_is_escaped(tmp_path):
    np.savez(tmp_path / "f.npz", **{"\x1b[31mred": np.zeros(2)})
    with tw.open(tmp_path / "f.npz") as file:
        head, _, row = str(file).splitlines()

    assert head.endswith(" 1 tensor>")
    assert row.startswith(r"\x1b[31mred")


def test_the_text_of_a_file_is_a_table_of_at_most_20_lines(path):
    tw.save(path, {"hits": tw.jagged([[1, 2, 3], []]), "box": np.zeros((20, 30), "f4")})
    with tw.open(path) as file:
        head, titles, *rows = str(file).splitlines()
    assert head == repr(file).replace("closed", "2 tensors")
    assert titles.split() == ["name", "shape", "dtype", "bytes"]
    assert [row.split("  ")[0] for row in rows] == ["hits", "box"]
    assert "2 rows of 0 to 3" in rows[0]
    assert "20 x 30" in rows[1]
    assert str(file) == repr(file)

    tw.save(path, {f"t{k}": [k] for k in range(100)})
    with tw.open(path) as file:
        lines = str(file).splitlines()
        assert (len(lines), lines[-1]) == (20, "... and 83 more tensors")
        assert "and 83 more" in file._repr_html_()


def test_a_file_at_an_address_is_shown_by_names_without_a_request(path):
    tw.save(path, {"a": [1], "b": [2]})
    with served(path.read_bytes()) as server, tw.open(f"{server.url}/f.tens") as file:
        before = server.requests
        assert [line.split()[0] for line in str(file).splitlines()[1:]] == ["name", "a", "b"]
        assert "<td" in file._repr_html_()
        assert server.requests == before
