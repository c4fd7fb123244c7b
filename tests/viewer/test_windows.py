"""Rows and windows by the JavaScript reader: those of Python, and no more of the file than they need."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tests.support.viewer import NODE, call_by_node, told
from tests.viewer.test_reader import ROWS, expected

pytestmark = pytest.mark.skipif(NODE is None, reason="Node is not installed")

N = 300
GRID = np.arange(float(N * N)).reshape(N, N)
MARKS = [[50] * 6, [100] * 3]
TILES = tw.as_tensor(GRID).tiled(tw.Tiling(*MARKS))
CELLS = [np.full((k % 5, 7), float(k)) for k in range(20_000)]
PAIRS = [(i, j) for i in range(N) for j in range(0, N, 3)]


def large():
    """Return tensors of which a window is a small part, and how each is saved."""
    by_tile = tw.from_buffer(np.arange(float(N * N)), TILES.shape)
    blocks = {
        (i, j): np.full((50, 100), 10.0 * i + j) for i, j in itertools.product(range(6), range(3)) if i != j
    }
    orbits = {(2, 0): GRID[:100, :100], (1, 0): GRID[100:200, 7:107]}
    return {
        "box": (tw.as_tensor(GRID), {}),
        "zipped": (tw.as_tensor(GRID), {"compress": "zlib"}),
        "nulls": (tw.nullable(GRID, GRID % 3 > 0), {}),
        "tiles": (TILES, {}),
        "by_tile": (by_tile, {}),
        "blocks": (tw.blocks(blocks, tw.Tiling(*MARKS)), {}),
        "orbits": (tw.blocks(orbits, tw.Tiling([100] * 3, [100] * 3), symmetry="a2"), {}),
        "sparse": (tw.sparse(PAIRS, np.arange(1.0, len(PAIRS) + 1), tw.Shape(N, N)), {}),
        "turned": (tw.as_tensor(np.asfortranarray(GRID)), {}),
        "words": (tw.strings([[f"{i} {j}" for j in range(N)] for i in range(N)]), {}),
    }


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("windows") / "large.tens"
    with tw.open(path, "a") as file:
        for name, (tensor, options) in large().items():
            file.append(name, tensor, **options)
        file["lower"] = tw.from_buffer(np.arange(N * (N + 1) / 2), tw.Shape.triangular(N, "lower"))
        file["upper"] = tw.from_buffer(
            np.arange(N * (N - 1) / 2), tw.Shape.triangular(N, "upper", diagonal=False)
        )
        file["cells"] = tw.jagged(CELLS)
        file["deep"] = tw.jagged([[[k] * (k % 4)] * (k % 3) for k in range(3000)])
    return path


def boxes():
    """Return the boxes that the windows are of, by NumPy."""
    kinds = {name: tensor for name, (tensor, _) in large().items()}
    sparse = np.zeros((N, N))
    sparse[tuple(np.transpose(PAIRS))] = np.arange(1.0, len(PAIRS) + 1)
    return {
        **dict.fromkeys(("box", "zipped", "tiles", "turned"), GRID),
        **{
            name: np.block([list(map(np.array, line)) for line in kinds[name].tolist()])
            for name in ("by_tile", "blocks", "orbits")
        },
        "nulls": np.where(GRID % 3 > 0, GRID, None),
        "sparse": sparse,
        "words": np.array(kinds["words"].tolist(), object),
    }


def test_windows_have_the_values_of_the_box_and_read_little(path):
    rng = np.random.default_rng(5)
    calls, wanted = [], []
    for name, box in boxes().items():
        for _ in range(6):
            (a, b), (c, d) = (sorted(rng.integers(0, N + 1, 2).tolist()) for _ in range(2))
            calls.append((name, "window", [[a, b], [c, d]]))
            wanted.append(told(box[a:b, c:d].tolist()) if a < b else [])
        calls.append((name, "window", [[290, 400], [298, 300]]))
        wanted.append(told(box[290:, 298:].tolist()))
    for call, own, found in zip(calls, wanted, call_by_node(path, calls), strict=True):
        assert found.get("values") == own, (call, found.get("text"))


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("box", 3072),
        ("nulls", 6200),
        ("tiles", 3072),
        ("by_tile", 16_000),
        ("turned", 3072),
        ("blocks", 16_000),
        ("orbits", 170_000),
        ("sparse", 80_000),
        ("words", 9000),
        ("zipped", 60_000),
    ],
)
def test_a_window_reads_what_is_on_screen(path, name, most):
    _, found = call_by_node(
        path, [(name, "window", [[0, 1], [0, 1]]), (name, "window", [[120, 136], [90, 114]])]
    )
    assert found["bytes"] <= most
    assert found["requests"] <= {"box": 1, "tiles": 1, "by_tile": 1, "turned": 1, "sparse": 5}.get(name, 2)


def test_rows_that_are_not_alike_read_what_is_on_screen(path):
    with tw.open(path) as file:
        for name, most in [("lower", 40_000), ("upper", 40_000), ("cells", 120_000), ("deep", 30_000)]:
            whole = file[name].tolist()
            for first in (0, 140, len(whole) - 16):
                _, found = call_by_node(path, [(name, "rows", 0, 1), (name, "rows", first, first + 16)])
                assert found["values"] == told(whole[first : first + 16])
                assert found["bytes"] <= (most if name != "cells" or first < 4096 else 350_000)


def test_where_rows_begin_and_how_long_they_are(path):
    with tw.open(path) as file:
        for name in ("lower", "upper", "cells", "deep", "tiles"):
            rows = file[name][100:120].tolist() if name != "tiles" else file[name].tolist()
            first, end = (100, 120) if name != "tiles" else (0, 6)
            (starts, lengths) = call_by_node(
                path, [(name, "starts", first, end), (name, "lengths", {"sample": 10**6})]
            )
            counts = np.diff(starts["values"]).tolist()
            assert counts == [int(np.sum([np.size(x) for x in flat(row)])) for row in rows], name
            assert lengths["values"][first:end] == [len(row) for row in rows], name


def flat(row):
    return itertools.chain.from_iterable(map(flat, row)) if isinstance(row, list) else [row]


@given(st.data())
def test_rows_of_every_kind_are_slices_of_the_list(tmp_path_factory, data):
    tensors = [
        own for own, _ in ROWS if (own is not None and np.ndim(own) != 0) or not isinstance(own, np.ndarray)
    ]
    tensor = data.draw(st.sampled_from(tensors))
    whole = expected(tw.as_tensor(tensor))
    path = tmp_path_factory.mktemp("rows") / "x.tens"
    tw.save(path, {"x": tensor})
    bounds = st.integers(0, len(whole))
    pairs = [sorted(data.draw(st.tuples(bounds, bounds))) for _ in range(8)]
    for (first, end), found in zip(
        pairs, call_by_node(path, [("x", "rows", *own) for own in pairs]), strict=True
    ):
        assert found.get("values") == whole[first:end], found
