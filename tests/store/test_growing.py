"""Tensors that grow in a file: extended by parts they are the parts one after the other, of every kind."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.errors import (
    DataFileError,
    ReadOnlyError,
    TensorNameError,
)
from tensorwrapper.store import verify

EXAMPLES = max(settings().max_examples // 16, 2)  # of each kind


def numbers(rng, *extents):
    return rng.integers(0, 100, extents)


def rows(rng, n, rank=2):
    if rank == 1:
        return numbers(rng, n)
    return [rows(rng, int(rng.integers(0, 4)), rank - 1) for _ in range(n)]


def sparse(rng, n):
    mask = rng.random((n, 4)) < 0.4
    found = np.argwhere(mask)
    return tw.sparse(found, numbers(rng, len(found)) + 1.5, (n, 4), fill_value=1)


KINDS = {
    "numbers": numbers,
    "box": lambda rng, n: numbers(rng, n, 3, 2).astype("f4"),
    "no columns": lambda rng, n: numbers(rng, n, 0),
    "times": lambda rng, n: numbers(rng, n).astype("M8[s]"),
    "bools": lambda rng, n: numbers(rng, n, 2) > 50,
    "reversed": lambda rng, n: numbers(rng, n, 2)[::-1, ::-1],
    "Fortran": lambda rng, n: np.asfortranarray(numbers(rng, n, 3)),
    "origin": lambda rng, n: tw.from_buffer(numbers(rng, 2 * n).ravel(), Shape(n, 2, origin=(0, -5))),
    "names": lambda rng, n: tw.as_tensor(numbers(rng, n, 2)).named("row", "column"),
    "nested": lambda rng, n: tw.from_buffer(numbers(rng, n * 6), Shape.nested(Shape(n, 2, 3), layers=(2, 1))),
    "rows": lambda rng, n: (
        tw.jagged(rows(rng, n)) if n else tw.zeros(Shape.jagged(np.zeros(0, int)), dtype="i8")
    ),
    "deeper": lambda rng, n: deeper(rng, n, 3),
    "deepest": lambda rng, n: deeper(rng, n, 4),
    "cells": lambda rng, n: from_shape(rng, Shape.from_cells((n,), rng.integers(0, 3, (n, 2)))),
    "tiles": lambda rng, n: from_shape(rng, Shape.tiled(rng.integers(0, 3, n), [2, 0, 1])),
    "nested rows": lambda rng, n: from_shape(
        rng, Shape.nested(Shape.jagged(rng.integers(0, 3, n)), layers=(1, 1))
    ),
    "text": lambda rng, n: (
        tw.strings([["a" * k, "\u00fc"] for k in numbers(rng, n).tolist()])
        if n
        else tw.strings([["", ""]])[:0]
    ),
    "bytes": lambda rng, n: tw.strings([b"x" * k for k in numbers(rng, n).tolist()] or [b""])[: n or 0],
    "sparse": sparse,
}


def deeper(rng, n, rank):
    outer = rng.integers(0, 3, n)
    levels = [outer]
    for _ in range(rank - 2):
        levels.append(rng.integers(0, 3, int(levels[-1].sum())))
    return from_shape(rng, Shape.from_offsets(*[np.cumsum([0, *own]) for own in levels]))


def from_shape(rng, shape):
    return tw.from_buffer(numbers(rng, shape.size), shape)


def same(got, parts):
    wanted = tw.concat(parts)
    assert got.shape == wanted.shape
    assert got.dtype == wanted.dtype
    assert got.shape.names == wanted.shape.names
    assert got.tolist() == wanted.tolist()


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=EXAMPLES)
@given(
    counts=st.lists(st.integers(0, 4), min_size=2, max_size=6),
    seed=st.integers(0, 2**32),
    codec=st.sampled_from([None, None, "zlib"]),
    piece_bytes=st.sampled_from([2**30, 40]),
    reopened_after=st.integers(0, 5),
)
def test_extending_by_parts_is_the_concat_of_the_parts(
    kind, counts, seed, codec, piece_bytes, reopened_after
):
    rng = np.random.default_rng(seed)
    parts = [KINDS[kind](rng, n) for n in counts]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.tens"
        file = tw.open(path, "a", compress=codec, piece_bytes=piece_bytes)
        for number, part in enumerate(parts):
            file.extend("x", part)
            if number == reopened_after:
                same(file["x"], parts[: number + 1])
                file.close()
                file = tw.open(path, "a", compress=codec, piece_bytes=piece_bytes)
        file.close()
        assert verify(path).ok
        with tw.open(path) as f:
            got = f["x"]
            assert isinstance(got, tw.Tensor if sum(map(bool, counts[1:])) == 0 else sel.View)
            assert f.describe("x").shape == got.shape
            wanted = tw.concat(parts)
            k = int(rng.integers(0, len(got) + 1))
            slices = [np.s_[k:], np.s_[:k], np.s_[::-1]]
        # What was opened stays valid.
        for key in slices:
            assert got[key].tolist() == wanted[key].tolist()
        if k < len(got):
            assert got[k].tolist() == wanted[k].tolist()
            assert got[[k, 0, k]].tolist() == wanted[[k, 0, k]].tolist()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.tens"


def test_a_name_that_one_record_holds_is_a_tensor_and_a_view_from_then_on(path):
    with tw.open(path, "a") as f:
        assert f.extend("x", [[1, 2]]) is None
        assert isinstance(f["x"], tw.Tensor)
        f.extend("x", np.zeros((0, 2), int))
        assert isinstance(f["x"], tw.Tensor)
        f.extend("x", [[3, 4]])
        before = f["x"]
        assert isinstance(before, sel.View)
        f.extend("x", [[5, 6]])
        assert before.tolist() == [[1, 2], [3, 4]]
        assert f["x"].tolist() == [[1, 2], [3, 4], [5, 6]]
        assert (len(f), list(f), "x" in f) == (1, ["x"], True)
        assert {name: got.tolist() for name, got in f.items()} == {"x": [[1, 2], [3, 4], [5, 6]]}
        assert "View" in repr(f["x"])
        assert "3 x 2" in repr(f["x"])
        with pytest.raises(TensorNameError, match="'x' is taken"):
            f["x"] = [1]
    with tw.open(path) as f:
        entry = f.describe("x")
        assert (entry.pieces, entry.size, entry.dtype, entry.packing) == (3, 6, "int64", "dense")
        assert np.asarray(f["x"]).sum() == 21


def test_what_was_appended_and_cut_is_extended(path):
    with tw.open(path, "a", piece_bytes=16) as f:
        f.append("x", np.arange(10).reshape(5, 2), metadata={"unit": "kg"})
        f["between"] = [1]
    with tw.open(path, "a", piece_bytes=16) as f:
        f.extend("x", np.arange(10, 16).reshape(3, 2))
        assert f.tensor_metadata("x") == {"unit": "kg"}
        assert f.describe("x").pieces == 8
    with tw.open(path) as f:
        assert f["x"].tolist() == np.arange(16).reshape(8, 2).tolist()
    assert verify(path).ok


def test_a_file_that_is_written_anew_may_grow_as_well(path):
    with tw.open(path, "w") as f:
        for k in range(3):
            f.extend("x", [k])
        assert f["x"].tolist() == [0, 1, 2]
    with tw.open(path) as f:
        assert f["x"].tolist() == [0, 1, 2]
        with pytest.raises(ReadOnlyError):
            f.extend("x", [1])
    with pytest.raises(DataFileError, match="is closed"):
        f.extend("x", [1])


def test_views_and_what_else_is_a_tensor_are_rows(path):
    with tw.open(path, "a") as f:
        f.extend("x", np.zeros((1, 2)))
        f.extend("x", sel.concat([[[1.0, 2.0]], [[3.0, 4.0]]])[::-1])
        f.extend("x", f["x"])
        assert f["x"].tolist() == [[0, 0], [3, 4], [1, 2]] * 2


def test_a_reader_sees_what_was_there_and_a_second_one_more(path):
    with tw.open(path, "a") as f:
        f.extend("x", [1])
        f.extend("x", [2])
        f.flush()
        with tw.open(path) as first:
            f.extend("x", [3])
            with tw.open(path) as second:
                f.extend("x", [4])
                f.flush()
                assert first["x"].tolist() == [1, 2]
                assert second["x"].tolist() == [1, 2, 3]
            with tw.open(path) as third:
                assert third["x"].tolist() == [1, 2, 3, 4]
        with pytest.raises(DataFileError, match="being written"):
            tw.open(path, "a")


def test_names_that_are_none_are_refused(path):
    with tw.open(path, "a") as f:
        for name in ("", "a/b", 5):
            with pytest.raises(TensorNameError):
                f.extend(name, [1])


def test_interrupted_between_two_steps_it_goes_on_where_the_rows_end(path, monkeypatch):
    with tw.open(path, "a") as f:
        f.extend("x", [1])
        f.extend("x", [2])
        real = f._writer._append

        def interrupted(_, *arguments, **options):
            real(*arguments, **options)
            raise KeyboardInterrupt

        monkeypatch.setattr(type(f._writer), "_append", interrupted)
        with pytest.raises(KeyboardInterrupt):
            f.extend("x", [3])
        monkeypatch.undo()
        f.extend("x", [4])
    with tw.open(path) as f:
        assert f["x"].tolist() == [1, 2, 3, 4]
    assert verify(path).ok


def test_what_is_at_hand_does_not_keep_the_next_writer_out(path):
    for k in range(3):
        with tw.open(path, "a") as f:
            f.extend("x", [k])
            view = f["x"]
            assert view.tolist() == list(range(k + 1))


@pytest.mark.parametrize("make", [tw.as_tensor, lambda x: tw.sparse([(1,), (2,)], x[1:3], (4,))])
def test_the_order_of_bytes_in_memory_does_not_matter(make, tmp_path):
    path, rows = tmp_path / "x.tens", make(np.arange(4, dtype=">i4"))
    tw.save(path, {"x": rows})
    with tw.open(path, "a") as f:
        f.extend("x", rows)
        f.extend("x", make(np.arange(4, dtype="<i4")))
    with tw.open(path) as f:
        assert f["x"].tolist() == rows.tolist() * 3
