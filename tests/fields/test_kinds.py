"""Records of every kind of field: sparse, tiled, nested, named, elsewhere in the index space, of strings."""

import copy
import pickle

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.shape import Shape

N = 4
ROWS = tw.jagged([[5, 1, 7], [], [2, 9], [4]])
MATRIX = np.arange(N * 6.0).reshape(N, 6)
FIELDS = {
    "number": tw.as_tensor(np.arange(N)),
    "rows": ROWS,
    "reversed rows": ROWS[::-1][::-1].copy()[:, ::-1],
    "deep": tw.jagged([[[1, 2], []], [[3]], [], [[4], [5, 6]]]),
    "cells": tw.from_buffer(np.arange(12), Shape.from_cells((N,), [(1, 2), (2, 2), (0, 2), (3, 2)])),
    "matrix": tw.as_tensor(MATRIX),
    "columns": tw.as_tensor(MATRIX)[:, ::2],
    "sparse": tw.sparse([(0, 1), (2, 3), (3, 0)], [1.5, 2.5, 3.5], (N, 6)),
    "tiled": tw.as_tensor(MATRIX).tiled(tw.Tiling([1] * N, [2, 4])),
    "text": tw.strings(["a", None, "c", "d"]),
    "texts": tw.strings([["a"], [], ["b", None], ["d"]]),
    "view": sel.as_view(ROWS),
    "joined": tw.concat([ROWS[:2], ROWS[2:]]),
    "generated": sel.iota((N,)),
    "repeated": tw.as_tensor([7]).broadcast((N,)),
    "nulls": tw.nullable(np.arange(N), [True, False, True, False]),
    "rows with nulls": tw.nullable(ROWS, ROWS > 2),
    "view of nulls": sel.as_view(tw.nullable(ROWS, ROWS > 2)),
    "bytes": tw.strings([b"a", b"b", b"", b"d"]),
    "time": tw.as_tensor(np.arange(N).astype("M8[s]")),
}
KEYS = [
    1,
    slice(None, None, -1),
    slice(1, 3),
    [2, 0, 0],
    [],
    np.array([True, False, True, True]),
    ...,
    (),
    None,
    -1,
]


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_a_field_is_selected_from_as_a_tensor(name, key):
    field = FIELDS[name]
    shape = (N,)
    for r in (
        tw.records({"f": field, "n": np.arange(N)}, shape=shape),
        tw.records({"n": np.arange(N), "f": field}, shape=shape),
    ):
        found, alone = r[key]["f"], field[key]

        assert found.shape == alone.shape
        assert found.tolist() == alone.tolist()
        assert type(found) is type(alone)
        assert found.dtype == alone.dtype
        assert getattr(found, "is_sparse", None) == getattr(alone, "is_sparse", None)


def test_all_kinds_of_fields_go_together():
    r = tw.records(FIELDS)

    assert r.shape == tw.Shape(N)
    assert r.names == tuple(FIELDS)
    assert r[[3, 1]].to_dict() == {name: own[[3, 1]].tolist() for name, own in FIELDS.items()}
    for made in (pickle.loads(pickle.dumps(r)), copy.deepcopy(r), r.compute()):
        assert made.array_equal(r)
    assert len(str(r).splitlines()) <= 20


def test_sparse_and_tiled_fields_have_boxes_beside_them():
    tiled = tw.as_tensor(MATRIX).tiled(tw.Tiling([2, 2], [2, 4]))

    assert tw.records({"t": tiled, "u": tiled + 1}).shape == tw.Shape(2, 2)
    assert tw.records({"t": tiled, "n": [1, 2]}).shape == tw.Shape(2)
    assert tw.records({"s": FIELDS["sparse"], "r": ROWS}).shape == tw.Shape(N)
    assert tw.records({"s": FIELDS["sparse"], "d": MATRIX}).shape == tw.Shape(N, 6)
    s = tw.records({"s": FIELDS["sparse"], "d": MATRIX})[1:, 2:]
    assert s["s"].is_sparse
    assert s["s"].to_dense().tolist() == FIELDS["sparse"].to_dense()[1:, 2:].tolist()


def test_names_of_modes_stay():
    t = tw.as_tensor(MATRIX).named("event", "wire")
    numbers = tw.as_tensor(np.arange(N)).named("event")
    r = tw.records({"t": t, "u": t + 1, "n": numbers}, shape=t.shape)

    assert r.shape == t.shape
    assert r[{"event": 1}].to_dict() == {"t": t[1].tolist(), "u": (t + 1)[1].tolist(), "n": 1}
    assert r[{"wire": slice(0, 2)}].shape == t[:, :2].shape
    assert r[[2, 0]].shape == t[[2, 0]].shape
    rows = ROWS.named("event", "hit")
    named = tw.records({"t": rows, "u": rows + 1})
    assert named.shape == rows.shape
    assert named[rows > 4].to_dict() == {"t": rows[rows > 4].tolist(), "u": (rows + 1)[rows > 4].tolist()}
    assert named[[2, 0]].shape == rows[[2, 0]].shape
    assert pickle.loads(pickle.dumps(named)).shape == rows.shape


def test_origins_stay_until_rows_are_selected():
    rows = ROWS.translate_to((10, 0))
    r = tw.records({"t": rows, "u": rows * 2, "n": tw.as_tensor(np.arange(N)).translate_to((10,))})

    assert r.shape == rows.shape
    assert r["t"].shape is r["u"].shape is r.shape
    assert r[1:].shape == rows[1:].shape
    assert r.sort_by("t")["t"].tolist() == [[1, 5, 7], [], [2, 9], [4]]
    assert r.flatten().to_dict()["n"] == [0, 0, 0, 2, 2, 3]


def test_layers_are_selected_from():
    shape = Shape.nested(tw.Shape(N, 6), layers=(1, 1))
    t = tw.from_buffer(np.arange(N * 6), shape)
    r = tw.records({"t": t, "u": t + 1})

    assert r.shape == shape
    for key in (1, slice(1, 3), [2, 0]):
        assert r[key]["t"].tolist() == t[key].tolist()
        assert r[key]["t"].shape == t[key].shape


def test_fields_write_to_what_was_given():
    numbers, rows = np.arange(N), ROWS.copy()
    r = tw.records({"n": numbers, "r": rows})

    r["n"][0] = 9
    r[1:]["r"][...] = 0

    assert numbers[0] == 9
    assert rows.tolist() == [[5, 1, 7], [], [0, 0], [0]]


@pytest.mark.parametrize("key", [[2, 0, 2], [True, False, True, True], ROWS > 4, slice(1, 3)], ids=str)
def test_nulls_are_selected_with_what_is_beside_them(key):
    nulls = tw.nullable(ROWS, ROWS > 2)
    r = tw.records({"n": nulls, "t": ROWS, "one": tw.nullable(ROWS, ROWS < 9), "run": np.arange(N)})

    found = r[key]

    assert found["n"].shape is found["t"].shape is found["one"].shape is found.shape
    assert found["n"].tolist() == nulls[key].tolist()
    assert found["n"].is_nullable
    assert found["one"].tolist() == r["one"][key].tolist()
    assert r.sort_by("n")["n"].tolist() == [[5, 7, None], [], [9, None], [4]]
    assert r[r["n"] > 4]["n"].tolist() == [[5, 7], [], [9], []]
    assert r.flatten().group_by("n")["n"].tolist() == [4, 5, 7, 9, None]
    assert tw.concat([r, r])[4:].compute().array_equal(r)
