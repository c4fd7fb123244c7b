"""What shapes cost: views are made in constant memory, values share, caches agree among threads."""

import gc
import pickle
import threading
import tracemalloc
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tensorwrapper.shape import Indices, Jagged, JaggedView, Shape, SmoothView, Tiling

pytestmark = pytest.mark.slow

ROWS = 10**7
KIB = 1024


@pytest.fixture(scope="module")
def big():
    return Shape.jagged(np.arange(ROWS) % 7)


@pytest.fixture(scope="module")
def wide():
    """Leaves of rank 2, one level deeper."""
    return Shape.from_cells((1000, 100), np.full((10**5, 2), (2, 3)))


def cost(make, times=1):
    """Bytes held by each result of `make`, and bytes held at most; the first call warms caches up."""
    make()
    gc.collect()
    tracemalloc.start()
    try:
        kept = [make() for _ in range(times)]
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(kept) == times
    return held / times, peak


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        (lambda s: s[1000:], JaggedView),
        (lambda s: s[5 : ROWS // 2], JaggedView),
        (lambda s: s[10:20][11:12], JaggedView),
        (lambda s: s.slice_outer(7, ROWS - 7), JaggedView),
        (lambda s: s.as_smooth(), SmoothView),
        (lambda s: s[12345], SmoothView),
        (lambda s: s.chip(ROWS - 1), SmoothView),
        (lambda s: s[...], JaggedView),
        (lambda s: s[1000:][2000:3000], JaggedView),
        (lambda s: s[1000:][2000], SmoothView),
        (lambda s: s[1000:2000].as_smooth(), SmoothView),
    ],
)
def test_parts_of_a_large_shape_take_under_a_kibibyte(big, part, kind):
    # Many of them: one alone would be charged for what the interpreter keeps for reuse.
    held, _ = cost(lambda: part(big), times=100)
    assert held < KIB
    assert cost(lambda: part(big))[1] < 4 * KIB
    assert type(part(big).implementation) is kind


def test_chips_of_deeper_shapes_take_under_a_kibibyte(wide):
    assert cost(lambda: wide[7], times=100)[0] < KIB
    assert cost(lambda: wide[7, 3], times=100)[0] < KIB
    assert type(wide[7].implementation) is type(wide[3:5].implementation) is JaggedView
    assert type(wide[7, 3].implementation) is SmoothView


@pytest.mark.parametrize(
    "question",
    [
        lambda s: s.index(ROWS),
        lambda s: s.ordinal((ROWS - 1, 0)),
        lambda s: s.extent_at((ROWS // 2,)),
        lambda s: (ROWS // 2, 0) in s,
        lambda s: s.size,
        hash,
        lambda s: s.padding,
        lambda s: s.indices(),
        repr,
    ],
)
def test_questions_about_one_index_take_little(big, question):
    assert cost(lambda: question(big))[1] < 16 * KIB


@pytest.mark.parametrize("dtype", ["i1", "i8", ">i4", "u8"])
def test_rows_of_rank_one_cost_eight_bytes_each_and_nothing_while_they_are_made(dtype):
    lengths = (np.arange(10**6) % 7).astype(dtype)
    held, peak = cost(lambda: Shape.jagged(lengths))
    assert held < 8 * 10**6 + 16 * KIB
    assert peak < 8 * 10**6 + 256 * KIB


@pytest.mark.parametrize(
    "make",
    [
        lambda s: Shape.from_offsets(s.splits(1), copy=False, validate=False),
        lambda s: s.splits(1),
        lambda s: s[:1000].splits(1),
        lambda _: Shape.from_uniform(ROWS, 7),
        lambda _: Shape.from_uniform(ROWS, 7).lengths(1),
        lambda _: Shape(10**12, 3, 4).as_jagged(),
        lambda _: Shape(10**12, 3, 4).as_jagged().permute((0, 2, 1)),
        lambda _: Shape(10**12, 3, 4).as_jagged().leading(2),
    ],
)
def test_what_is_stored_already_or_once_for_all_takes_little(big, make):
    held, peak = cost(lambda: make(big), times=100)
    assert held < 2 * KIB
    assert peak < 256 * KIB
    assert cost(lambda: make(big))[1] < 8 * KIB


def test_validated_offsets_cost_their_copy():
    offsets = np.arange(10**6 + 1)
    assert cost(lambda: Shape.from_offsets(offsets))[1] < 8 * 10**6 + 256 * KIB
    assert cost(lambda: Shape.from_offsets(offsets, copy=False))[1] < 256 * KIB


@pytest.mark.slow
def test_equal_children_are_stored_once():
    child = Shape(2, 3, origin=(0, 5))
    many = [child] * 10**4
    for children in (many, [Shape(2, 3, origin=(0, 5)) for _ in many]):
        assert cost(lambda children=children: Shape.jagged(children))[0] < 4 * KIB
    table = np.tile([2, 3], (10**4, 1))
    for shape in (Shape.jagged(many), Shape.from_cells((10**4,), table)):
        for question in (
            lambda shape=shape: shape.size,
            lambda shape=shape: hash(shape),
            lambda shape=shape: shape.index(shape.size - 1),
            lambda shape=shape: shape.contains([(7, 1, 5)]),
            lambda shape=shape: shape.ordinals([(7, 1, 2)]) if shape.origin[2] == 0 else None,
            lambda shape=shape: shape.indices_at([17]),
            lambda shape=shape: shape[500:].copy(),
            lambda shape=shape: shape.translate_by((1, 2, 3)),
            lambda shape=shape: pickle.loads(pickle.dumps(shape)),
            lambda shape=shape: shape == shape[:].copy(),
        ):
            assert cost(question)[1] < 16 * KIB
        assert len(pickle.dumps(shape)) < KIB


def arrays_of(shape):
    return weakref.ref(shape.implementation.rows.columns)


@pytest.mark.parametrize("part", [lambda s: s[10:20], lambda s: s[10:20][12:13], lambda s: s[5]])
def test_a_view_keeps_its_parent_alive_and_its_copy_does_not(part):
    parent = Shape.jagged(np.arange(1000))
    alive = arrays_of(parent)
    view = part(parent)
    expected = pickle.dumps(list(view.indices()))
    del parent
    gc.collect()
    assert alive() is not None
    twin = view.copy()
    assert twin == view
    del view
    gc.collect()
    assert alive() is None
    assert pickle.dumps(list(twin.indices())) == expected


def test_the_box_of_a_shape_keeps_it_alive_and_its_copy_does_not():
    parent = Shape.jagged(np.arange(1000))
    alive, box = arrays_of(parent), parent.as_smooth()
    del parent
    gc.collect()
    assert alive() is not None
    box = box.copy()
    gc.collect()
    assert alive() is None
    assert box == Shape(1000, 999)


def test_the_copy_of_a_slice_of_a_tiling_keeps_no_marks_of_the_tiling_alive():
    sizes = [np.full(1000, 2), np.full(500, 3)]
    tiled = Shape.tiled(*sizes)
    for part in (tiled[10:20], Shape.nested(tiled[10:20, 5:], layers=(2, 2))):
        own = part.copy()
        assert own == part
        assert own.copy() is own
        for mine, theirs in zip(
            own.flatten().implementation.partitions, tiled.implementation.partitions, strict=True
        ):
            assert mine.count == theirs.count or not np.shares_memory(mine.marks, theirs.marks)
    assert tiled.copy() is tiled


def test_what_is_moved_or_pickled_or_selected_takes_its_own_rows_along():
    parent = Shape.jagged(np.arange(1000))
    alive = arrays_of(parent)
    values = [
        parent[10:20].translate_by((1, 0)),
        parent[10:20, 0:5],
        pickle.loads(pickle.dumps(parent[10:20])),
    ]
    memory = [weakref.ref(parent.implementation.rows.columns.leaf)]
    assert type(values[0].implementation) is type(values[1].implementation) is Jagged
    del parent
    gc.collect()
    assert alive() is None
    assert memory[0]() is None
    assert [v.extent(0) for v in values] == [10, 10, 10]


def test_a_pickled_view_takes_only_its_rows_along(big):
    assert len(pickle.dumps(big[500:510])) < KIB
    assert len(pickle.dumps(big[500:510].as_smooth())) < KIB
    assert len(pickle.dumps(big[500])) < KIB
    assert len(pickle.dumps(big[500:510].indices())) < KIB
    assert pickle.loads(pickle.dumps(big[500:510])) == big[500:510]


@pytest.mark.slow
def test_a_tiled_shape_costs_the_sum_of_its_tiles():
    sizes = np.full(2000, 3)
    held, peak = cost(lambda: Shape.tiled(sizes, sizes))
    assert held < 100_000
    assert peak < 200_000
    shape = Tiling(sizes, sizes).shape
    for question in (
        lambda: hash(shape),
        lambda: shape == Shape.tiled(sizes, sizes),
        lambda: shape.index(shape.size - 1),
        lambda: shape.ordinal((1999, 1999, 2, 2)),
        lambda: shape[5:1500, 7:],
        lambda: shape[1999, 1999],
        lambda: shape.permute((1, 0, 3, 2)),
        lambda: shape.translate_by((1, 1, 0, 0)),
        lambda: shape.extent_bounds(3),
        lambda: shape.as_smooth().extents,
        lambda: list(Indices(shape.implementation)[10**6 : 10**6 + 5]),
        lambda: shape.contains([[0, 0, 0, 0]]),
    ):
        assert cost(question)[1] < 100_000
    assert shape.implementation._rows is None


def test_the_first_index_of_a_long_shape_does_not_wait_for_the_last():
    assert cost(lambda: next(iter(Shape(10**9, 10**9).indices())))[1] < 16 * KIB
    batches = Shape(10**6, 10**6).indices().batches(100)
    assert cost(lambda: next(batches))[1] < 32 * KIB


def ask(shape):
    held = shape.implementation
    return hash(shape), held.bounding_box(), held.rows.columns.offsets[-1], held.rows.size


@pytest.mark.parametrize(
    "make",
    [
        lambda: Shape.from_cells((100, 100), np.arange(20000).reshape(10000, 2) % 7),
        lambda: Shape.from_cells((2,), [(2**40, 2**40), (3, 4)]),
        lambda: Shape.tiled(np.arange(100) % 5, np.arange(100) % 3),
        lambda: Shape.jagged(np.arange(10000) % 7)[10:9000],
    ],
)
def test_threads_that_ask_one_fresh_shape_agree(make):
    expected = ask(make())
    for _ in range(5):
        shape, start = make(), threading.Barrier(8)

        def work(shape=shape, start=start):
            start.wait()
            return ask(shape)

        with ThreadPoolExecutor(8) as pool:
            answers = [f.result() for f in [pool.submit(work) for _ in range(8)]]
        assert answers == [expected] * 8
