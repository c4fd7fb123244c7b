"""Jagged and tiled descriptions that lie: each lie has its reason, and none makes an array of its size."""

import numpy as np
import pytest

from tensorwrapper.wire import Limits, decode
from tests.support.wire.spoilt_packings import CELLS, DROP, ROWS, TILED

# [[1, 2], [3]], [], [[4, 5, 6]]: part 1 splits rows, part 2 cells; part 3 has origins of mode 1.
# Three cells of rank 2: (1, 2), (0, 7), (2, 2).
# 3 x 4 elements, cut into (1, 2) x (4).


def test_what_the_tables_spoil_is_good():
    (rows,) = decode(ROWS.frames()).tensors
    assert rows.tolist() == [[[1, 2], [3]], [], [[4, 5, 6]]]
    assert [rows.shape.origin_at((k,)) for k in range(3)] == [5, 0, -5]
    (cells,) = decode(CELLS.frames()).tensors
    assert cells.tolist() == [[[0, 1]], [], [[2, 3], [4, 5]]]
    assert [cells.shape.chip(k).origin for k in range(3)] == [(0, 1), (0, 2), (0, 3)]
    (tiled,) = decode(TILED.frames()).tensors
    assert (tiled.untiled().shape.origin, tiled.tile((1, 0)).shape.extents) == ((5, -1), (2, 4))
    assert decode(TILED.frames(storage="box")).tensors[0].tolist() == tiled.tolist()
    (lying,) = decode(TILED.frames(storage="tiles", shape=[12])).tensors
    assert (lying.shape, lying.tolist()) == (tiled.shape, tiled.tolist())


@pytest.mark.parametrize(
    ("key", "values", "reason"),
    [
        ("cell_rank", [DROP, None, True, 1.0, "1", [1], 0, -1, -(10**30)], "schema"),
        ("cell_rank", [64, 10**30], "limit"),
        ("splits", [DROP, None, 1, "1", {}, [None], [True], [1.0], ["1"], [[1]]], "schema"),
        ("splits", [[-1], [4], [2**64], [10**30]], "layout"),
        ("splits", [[2], [0], [2, 1], [1, 2]], "size"),
        ("splits", [[1] * 63, [1] * 10_000], "limit"),
        ("cells", [DROP, None, True, 2.0, "2", [2]], "schema"),
        ("cells", [-1, 4, 2**63], "layout"),
        ("cells", [0, 1, 3], "size"),
        ("origins", [0, "0", {}, [], [0, 0], [0] * 4], "schema"),
        ("origins", [[0, None, 0], [0, True, 0], [0.0, 0, 0], [0, [], 0]], "schema"),
        ("origins", [[0, {}, 0], [0, {"part": None}, 0], [0, {"part": True}, 0]], "schema"),
        ("origins", [[0, {"part": 4}, 0], [0, {"part": -1}, 0]], "layout"),
        (
            "origins",
            [[{"part": 3}, 0, 0], [0, {"part": 2}, 0], [0, 0, {"part": 2}], [0, {"part": 1}, 0]],
            "size",
        ),
        ("origins", [[2**62 + 1, 0, 0], [0, -(2**62) - 1, 0], [0, 0, 2**64], [10**30, 0, 0]], "limit"),
    ],
)
def test_keys_of_jagged_tensors(key, values, reason):
    for value in values:
        assert ROWS.reason(**{key: value}) == reason, value


def test_cells_without_any():
    keys = {"shape": [0], "splits": [], "origins": DROP}
    assert decode(ROWS.frames(**keys, cells=1, parts={0: b"", 1: [0]})).tensors[0].size == 0
    assert ROWS.reason(**keys, cells=1, parts={0: b"", 1: b""}) == "layout"
    assert decode(CELLS.frames(**keys, parts={0: b"", 1: b""})).tensors[0].size == 0


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({1: b""}, "layout"),
        ({1: [1, 2, 2, 3]}, "layout"),
        ({1: [-1, 2, 2, 3]}, "layout"),
        ({1: [0, 2, 1, 3]}, "layout"),
        ({1: [0, 2, 3, 2]}, "layout"),
        ({1: [0, 2, 2, -(2**63)]}, "layout"),
        ({1: [0, 2, 2, 4]}, "size"),
        ({1: [0, 2, 2, 2]}, "size"),
        ({1: [0, 2, 2, 2**63 - 1]}, "size"),
        ({1: [0]}, "size"),
        ({1: [0, 3]}, "size"),
        ({1: bytes(7)}, "size"),
        ({1: bytes(33)}, "size"),
        ({2: b""}, "size"),
        ({2: [0, 2, 3]}, "size"),
        ({2: [0, 2, 3, 6, 6]}, "size"),
        ({2: [1, 2, 3, 6]}, "layout"),
        ({2: [0, 3, 2, 6]}, "layout"),
        ({2: [0, 2, 3, 5]}, "size"),
        ({2: [0, 2, 3, 7]}, "size"),
        ({2: [0, 0, 0, 0]}, "size"),
        ({2: [0, 2, 3, 2**63 - 1]}, "size"),
        ({2: bytes(31)}, "size"),
        ({3: [0, 0]}, "size"),
        ({3: [0, 0, 0, 0]}, "size"),
        ({3: b"123"}, "size"),
        ({3: [0, 2**62 + 1, 0]}, "limit"),
        ({3: [0, 0, -(2**63)]}, "limit"),
        ({0: bytes(5)}, "size"),
        ({0: bytes(7)}, "size"),
    ],
)
def test_arrays_of_rows(parts, reason):
    assert ROWS.reason(parts=parts) == reason


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({1: [1, 2, 0, 7, 2]}, "size"),
        ({1: [1, 2, 0, 7, 2, 2, 0, 0]}, "size"),
        ({1: [1, 2, 0, 7]}, "size"),
        ({1: []}, "size"),
        ({1: [1, 2, 0, 7, 2, 3]}, "size"),
        ({1: [1, 2, 0, 7, 2, 1]}, "size"),
        ({1: [-1, -2, 0, 7, 2, 2]}, "limit"),
        ({1: [1, 2, 0, -1, 2, 2]}, "limit"),
        ({1: [1, 2, 0, 2**36 + 1, 2, 2]}, "limit"),
        ({1: [1, 2, 0, 2**63 - 1, 2, 2]}, "limit"),
        ({1: [1, 2, 2**36, 2**36, 2, 2]}, "size"),
        ({1: [2**32, 2**32, 1, 2, 2, 2]}, "size"),
        ({1: [2**36, 2**36, 2**36, 2**36, 2**36, 2**36]}, "size"),
        ({1: [2**31, 2**33, 1, 2, 2, 2]}, "size"),
        ({2: [0, 0]}, "size"),
    ],
)
def test_arrays_of_cells(parts, reason):
    assert CELLS.reason(parts=parts) == reason


def test_cells_of_a_high_rank_cannot_hide_an_overflow_behind_an_empty_one():
    # 2**36 to the 30th is infinite in floating point, and times 0 is no number; 2**32 squared is 0 in int64.
    empty, wrapping = [2**36] * 30 + [0], [2**32, 2**32] + [1] * 29
    keys = {"cell_rank": 31, "origins": DROP}
    assert CELLS.reason(shape=[0], parts={0: b"", 1: empty + wrapping}, **keys) == "size"
    assert CELLS.reason(shape=[0], parts={0: b"", 1: [2**36] * 31 + empty}, **keys) == "size"
    assert CELLS.reason(shape=[0], parts={0: b"", 1: empty * 2}, **keys) == "limit"
    hidden = [0, *empty[:-1]]
    (read,) = decode(CELLS.frames(shape=[0], parts={0: b"", 1: hidden * 2}, **keys)).tensors
    assert (read.size, read.rank) == (0, 32)


def test_the_origin_of_the_rows_is_one_number():
    assert ROWS.reason(parts={3: [5]}, origins=[{"part": 3}, 0, 0]) == "schema"


def test_extents_that_need_no_elements_are_legal():
    (read,) = decode(CELLS.frames(parts={1: [1, 2, 0, 2**36, 2, 2]})).tensors
    assert read.shape.chip(1).extents == (0, 2**36)
    (read,) = decode(ROWS.frames(origins=DROP)).tensors
    assert read.shape.origin_at((0,)) == 0
    (read,) = decode(ROWS.frames(origins=[2**62, -(2**62), 2**62])).tensors
    assert read.shape.origin_at((2**62, -(2**62))) == 2**62


@pytest.mark.parametrize("shape", [[], [2, 3], [6, 1]])
def test_the_shape_of_a_jagged_tensor_is_its_number_of_elements(shape):
    parts = {0: bytes(int(np.prod(shape)))}
    assert ROWS.reason(shape=shape, parts=parts) == "schema"


def test_the_rank_of_a_jagged_tensor_is_limited():
    assert ROWS.reason(limits=Limits(rank=2)) == "limit"
    assert CELLS.reason(limits=Limits(rank=2)) == "limit"
    assert CELLS.reason(cell_rank=63, splits=[1]) == "limit"
    assert decode(ROWS.frames(), limits=Limits(rank=3)).tensors[0].rank == 3
    # Row 1 of 3 is empty, so repeating the first array is a shape, if a strange one.
    assert decode(ROWS.frames(splits=[1] * 62, origins=DROP)).tensors[0].rank == 64


@pytest.mark.parametrize(
    ("key", "values", "reason"),
    [
        ("marks", [DROP, None, 1, "1", {}, [], [None, 2], [True, 2], [1.0, 2], [[1], 2]], "schema"),
        ("marks", [[-1, 2], [1, 3], [1, 2**64]], "layout"),
        ("marks", [[1] * 33, [1] * 100_000], "limit"),
        ("marks", [[1], [2, 1], [1, 1], [1, 2, 2]], "size"),
        ("first", [0, "0", {}, [0], [0, 0, 0], [0, None], [True, 0], [0.0, 0]], "schema"),
        ("first", [[2**62 + 1, 0], [0, -(2**62) - 1], [10**30, 0]], "limit"),
        ("storage", ["", "rows", "Box", 1, True, [], {}], "unsupported"),
        ("storage", ["tiles"], "size"),
    ],
)
def test_keys_of_tiled_tensors(key, values, reason):
    for value in values:
        changed = {"first": DROP, key: value} if key == "marks" else {key: value}
        assert TILED.reason(**changed) == reason, value


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({1: b""}, "layout"),
        ({1: bytes(23)}, "size"),
        ({1: [5, 6, 5]}, "layout"),
        ({1: [6, 5, 8]}, "layout"),
        ({1: [2**63 - 1, -(2**63)]}, "layout"),
        ({1: [5]}, "size"),
        ({1: [5, 6]}, "size"),
        ({1: [5, 6, 9]}, "size"),
        ({1: [5, 6, 7]}, "size"),
        ({1: [0, 2**36 + 1]}, "limit"),
        ({1: [-(2**63), 2**63 - 1]}, "limit"),
        ({1: [2**62 - 1, 2**62 + 2]}, "limit"),
        ({1: [-(2**62) - 1, -(2**62) + 2]}, "limit"),
        ({2: [0, 2**36]}, "size"),
        ({0: bytes(11)}, "size"),
        ({0: bytes(13)}, "size"),
    ],
)
def test_arrays_of_tiles(parts, reason):
    assert TILED.reason(parts=parts) == reason


def test_the_shape_of_a_tiled_tensor_is_what_its_marks_span():
    for shape in ([12], [4, 3], [3, 4, 1], [1, 12], [2, 6]):
        assert TILED.reason(shape=shape) == "size"
    for shape in ([3, 4], [12, 1], [6, 2]):
        assert TILED.reason(shape=shape, storage="tiles") == "size"
    big = {"parts": {0: b"", 1: [0, 2**36], 2: [0, 2**36]}, "shape": [0]}
    assert TILED.reason(**big) == TILED.reason(**big, storage="tiles") == "size"


def test_the_rank_of_a_tiled_tensor_is_limited():
    assert TILED.reason(limits=Limits(rank=3)) == "limit"
    assert decode(TILED.frames(), limits=Limits(rank=4)).tensors[0].rank == 4


def test_empty_tiles_are_legal_in_any_number():
    keys = {"shape": [0, 4], "parts": {0: b"", 1: [5] * 1001}}
    for storage, shape in (("box", [0, 4]), ("tiles", [0])):
        (read,) = decode(TILED.frames(**{**keys, "shape": shape}, storage=storage)).tensors
        assert (read.size, read.shape.extents[:2]) == (0, (1000, 1))
