"""Jagged and tiled tensors: what was sent comes back, and who knows boxes alone still reads the boxes."""

import json

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling, wire
from tensorwrapper.buffer import count_copies
from tensorwrapper.errors import ExtentError
from tests.support.wire.sent_shapes import EXTENTS, ORIGINS, assert_same, described, filled, sent

DTYPES = ["?", "i1", "u2", "i8", "f2", "f4", "f8", "c8", "c16"]


DEEP = Shape.jagged([[[10], [20, 30]], [[10, 30], [], [10, 20, 30]], []], rank=4)
SHIFTED = [
    # Each depth has origins of its own, as many as it has nodes, and no two depths have the same number.
    Shape.jagged([Shape(2, origin=(5,)), Shape(3, origin=(-1,)), Shape(0, origin=(9,))]),
    Shape.jagged(
        [
            Shape.jagged(
                [Shape(1, origin=(k + 1,)), Shape(2, origin=(k,)), Shape(1, origin=(-k,))], origin=(k, 0)
            )
            for k in range(4)
        ]
    ),
    Shape.jagged(
        [
            Shape.jagged(
                [
                    Shape.jagged([Shape(1 + i + j, origin=(i - j,))] * (1 + (i + j) % 3), origin=(j, 0))
                    for j in range(2 + i % 2)
                ],
                origin=(10 * i, 0, 0),
            )
            for i in range(3)
        ]
    ),
    Shape.from_cells(
        (2, 2), [(1, 2), (3, 1), (0, 5), (2, 2)], origins=[(0, 1), (2, -3), (4, 4), (-(2**61), 0)]
    ),
    Shape.jagged([Shape(2, 1, origin=(1, 5)), Shape(1, 3, origin=(1, 7))]),
    Shape.jagged([3, 1, 2], origin=(7, -2)),
    Shape.tiled([2, 3], [4], origin=(5, 6, 1, 0)),
]
SHAPES = [
    Shape.jagged([3, 1, 2]),
    Shape.jagged([0, 3, 0, 0, 2, 0]),
    Shape.jagged([0, 0]),
    Shape.jagged([], rank=2),
    Shape.jagged([], rank=5),
    Shape.jagged([5]),
    Shape.jagged([[1, 2], [], [3]]),
    DEEP,
    Shape.jagged([Shape(2, 3), Shape(1, 1), Shape(4, 2)]),
    Shape.jagged([Shape(2, 0), Shape(0, 3), Shape(1, 1), Shape(0, 0)]),
    Shape.jagged([Shape(2, 3, 4), Shape(1, 0, 9), Shape(1, 1, 1)]),
    Shape.jagged([[Shape(1, 2), Shape(3, 1)], [], [Shape(2, 2)]]),
    Shape.from_cells((2, 3), [(1, 1), (2, 2), (3, 3), (0, 0), (1, 2), (2, 1)]),
    Shape.from_cells((0, 3), np.empty((0, 2), dtype=np.int64)),
    Shape.from_cells((1,), [(2, 3)]),
    Shape.from_uniform(4, 2),
    Shape.from_uniform(0, 2),
    Shape(3, 2, 4, origin=(1, 0, -5)).as_jagged(),
    Shape.from_offsets([1, 3, 4], [2, 4, 5, 5, 7, 9]),
    *SHIFTED,
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_jagged_tensors_come_back(shape):
    tensor = filled(shape)
    (got,) = sent(tensor)
    assert_same(got, tensor)


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_of_any_type_come_back(dtype):
    for shape in (Shape(2, 3), Shape.jagged([3, 0, 2]), Shape.tiled([1, 2], [2, 1])):
        (got,) = sent(filled(shape, dtype))
        assert_same(got, filled(shape, dtype))
    (got,) = sent(filled(Shape.jagged([3, 0, 2]), np.dtype(dtype).newbyteorder(">")))
    assert_same(got, filled(Shape.jagged([3, 0, 2]), dtype))


@pytest.mark.parametrize("shape", [s for s in SHAPES if s.extent(0)], ids=str)
def test_runs_of_rows_travel_alone(shape):
    tensor = filled(shape)
    count = shape.extent(0)
    for start in range(count):
        for stop in range(start, count + 1):
            rows = tensor[start:stop]
            assert_same(sent(rows)[0], rows)
        first = shape.origin_at(())
        window = tensor.window(shape.slice_outer(first + start, first + count))
        assert window.shape.origin_at(()) == first + start
        assert_same(sent(window)[0], window)
        assert_same(sent(tensor[start])[0], tensor[start])


def test_a_run_of_rows_takes_no_other_rows_with_it():
    tensor = filled(Shape.jagged([[k % 3] * (k % 4) for k in range(1000)]))
    frames = wire.encode([tensor[10:12]])
    assert sum(memoryview(frame).nbytes for frame in frames[2:]) < 200


def test_positions_of_boxes_come_back():
    grid = tw.as_tensor(np.arange(24).reshape(4, 6))
    for region in (
        Shape(2, 3, origin=(1, 2)),
        Shape(0, 3, origin=(4, 0)),
        Shape(4, 6),
        Shape(1, 1, origin=(3, 5)),
    ):
        window = grid.window(region)
        assert_same(sent(window)[0], window)
    far = tw.from_buffer(np.arange(4), Shape(2, 2, origin=(-(2**62), 2**62)))
    assert_same(sent(far)[0], far)
    assert_same(sent(grid.permute((1, 0)).reverse(0))[0], grid.permute((1, 0)).reverse(0))
    broadcast = tw.as_tensor(np.arange(3)).broadcast((2, 3))
    assert_same(sent(broadcast)[0], broadcast)


def test_index_arrays_come_after_all_elements():
    rows, box = filled(Shape.jagged([2, 1])), filled(Shape(2, 2))
    tiled = tw.as_tensor(np.arange(4.0)).tiled(Tiling([1, 3]))
    assert [d["part"] for d in described(rows, box, tiled)] == [0, 1, 2]
    first, second, third = described(rows, box, tiled)
    assert (first["packing"], first["shape"], first["jagged"]["cells"]) == ("jagged", [3], 3)
    assert "packing" not in second
    assert (third["packing"], third["shape"], third["tiled"]["marks"]) == ("tiled", [4], [4])
    parts = [2, 0, 1]
    got = wire.decode(wire.encode([rows, box, tiled], parts=parts)).tensors
    for ours, theirs in zip(got, (rows, box, tiled), strict=True):
        assert_same(ours, theirs)


def read_dense(frames):
    """What a peer does that has never heard of packings."""
    found = []
    for number, item in enumerate(json.loads(frames[0][8:])["TENS"]["tensors"]):
        if "packing" in item:
            continue
        dtype = np.dtype(f"<{item['dtype']}{item['word']}")
        frame = frames[2 + item.get("part", number)]
        found.append(np.frombuffer(frame, dtype).reshape(item["shape"]))
    return found


def test_a_peer_that_knows_only_boxes_reads_the_boxes_of_a_mixed_message():
    a, b = np.arange(6, dtype="<i2").reshape(2, 3), np.array(2.5)
    mixed = [
        filled(SHIFTED[2]),
        a,
        tw.as_tensor(a).tiled(Tiling([1, 1], [3])),
        b.astype(">f8"),
        filled(DEEP),
        a.T,
    ]
    frames = [bytes(frame) for frame in wire.encode(mixed, parts=[5, 3, 1, 0, 2, 4])]
    found = read_dense(frames)
    for got, want in zip(found, [a, b, a.T], strict=True):
        assert (got.shape, got.tolist()) == (want.shape, want.tolist())
    assert len(wire.decode(frames).tensors) == 6
    # And the elements of the others are where it would look for them, one after the other.
    assert wire.decode(frames).tensors[0].elements().tolist() == mixed[0].elements().tolist()


@st.composite
def jagged_shapes(draw, rank=None):
    rank = draw(st.integers(2, 5)) if rank is None else rank
    if draw(st.booleans()) or rank == 2:
        cell = draw(st.integers(1, rank - 1))
        outer = draw(st.lists(EXTENTS, min_size=rank - cell, max_size=rank - cell))
        n = int(np.prod(outer))
        table = st.lists(EXTENTS, min_size=cell, max_size=cell)
        starts = st.lists(ORIGINS, min_size=cell, max_size=cell)
        extents = np.array(draw(st.lists(table, min_size=n, max_size=n)), dtype=np.int64).reshape(n, cell)
        origins = np.array(draw(st.lists(starts, min_size=n, max_size=n)), dtype=np.int64).reshape(n, cell)
        return Shape.from_cells(tuple(outer), extents, origins=origins if draw(st.booleans()) else None)
    rows = draw(st.lists(jagged_shapes(rank - 1), max_size=4))
    move = draw(st.lists(ORIGINS, min_size=rank, max_size=rank))
    try:
        return Shape.jagged(rows, rank=rank, origin=move if draw(st.booleans()) else None)
    except ExtentError:
        # Cells with extents after an empty mode do not stack with rows that unroll that mode.
        reject()


@given(shape=jagged_shapes(), dtype=st.sampled_from(DTYPES), data=st.data())
def test_random_jagged_tensors_come_back(shape, dtype, data):
    tensor = filled(shape, dtype)
    assert_same(sent(tensor)[0], tensor)
    count = shape.extent(0)
    start = data.draw(st.integers(0, count))
    rows = tensor[start : data.draw(st.integers(start, count))]
    if rows.shape.kind == "jagged":
        assert_same(sent(rows)[0], rows)
    with count_copies() as count:
        wire.decode(wire.encode([tensor]))
    assert count.nbytes == 0
