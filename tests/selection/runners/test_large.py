"""Views that are large enough to be computed in blocks, by runs, or by tables."""

import numpy as np
import pytest

from tensorwrapper import selection as sel

# ruff: noqa: ARG005 - the functions of the table take the same arguments

X = np.arange(150 * 160).reshape(150, 160)
RNG = np.random.default_rng(3)
ROWS, COLUMNS = RNG.integers(0, 150, 200), RNG.integers(0, 160, 170)

VIEWS = {
    "rotate": (lambda v: v.rotate((7, -20)), lambda x: np.roll(x, (7, -20), (0, 1))),
    "rotate and reverse": (
        lambda v: v.rotate((7, 20))[::-1, ::-1],
        lambda x: np.roll(x, (7, 20), (0, 1))[::-1, ::-1],
    ),
    "repeat": (lambda v: v.repeat((2, 3)), lambda x: np.tile(x, (2, 3))),
    "repeat many times": (lambda v: v[:30, :20].repeat((9, 9)), lambda x: np.tile(x[:30, :20], (9, 9))),
    "repeat each": (lambda v: v.repeat_each(1, 3), lambda x: np.repeat(x, 3, 1)),
    "rows of a table": (lambda v: v.gather(0, ROWS), lambda x: x[ROWS]),
    "columns of a table": (lambda v: v.gather(1, COLUMNS), lambda x: x[:, COLUMNS]),
    "columns of a part": (lambda v: v[:, 3:].gather(1, COLUMNS % 150), lambda x: x[:, 3:][:, COLUMNS % 150]),
    "columns of the transpose": (
        lambda v: v.permute((1, 0)).gather(1, ROWS),
        lambda x: x.T[:, ROWS],
    ),
    "few of many columns": (
        lambda v: v.gather(1, [5, 100, 7]).repeat_each(0, 30),
        lambda x: np.repeat(x[:, [5, 100, 7]], 30, 0),
    ),
    "runs of columns": (
        lambda v: v.gather(1, [*range(50, 130), *range(9, 60), *range(2, 9)]),
        lambda x: x[:, [*range(50, 130), *range(9, 60), *range(2, 9)]],
    ),
    "both": (lambda v: v.gather(1, COLUMNS).gather(0, ROWS), lambda x: x[np.ix_(ROWS, COLUMNS)]),
    **{
        f"pad {mode}": (
            lambda v, mode=mode: sel.pad(v, [(5, 170), (3, 1)], boundary=mode),
            lambda x, mode=mode: np.pad(x, [(5, 170), (3, 1)], mode=mode),
        )
        for mode in ("edge", "reflect", "symmetric", "wrap", "constant")
    },
    "minimum of rotated": (
        lambda v: sel.minimum(
            v.rotate((1, 1)), v.permute((1, 0))[:150, :150].pad([(0, 0), (0, 10)], boundary="edge")
        ),
        lambda x: np.minimum(np.roll(x, (1, 1), (0, 1)), np.pad(x.T[:150], [(0, 0), (0, 10)], mode="edge")),
    ),
    "where": (
        lambda v: sel.where(np.arange(160) % 3 == 0, v, v[::-1]),
        lambda x: np.where(np.arange(160) % 3 == 0, x, x[::-1]),
    ),
    "cast of joined": (
        lambda v: sel.concat([v, v[::-1]], mode=1).astype("f4"),
        lambda x: np.concatenate([x, x[::-1]], 1).astype("f4"),
    ),
    "joined, reshaped": (
        lambda v: sel.concat([v, v + 0 if isinstance(v, np.ndarray) else v]).reshape((480, 100))[3:, ::-1],
        lambda x: np.concatenate([x, x]).reshape((480, 100))[3:, ::-1],
    ),
    "joined, reshaped, permuted": (
        lambda v: sel.concat([v, v[::-1]]).reshape((40, 12, 100)).permute((1, 2, 0)),
        lambda x: np.concatenate([x, x[::-1]]).reshape((40, 12, 100)).transpose((1, 2, 0)),
    ),
    "many pieces": (
        lambda v: sel.concat([v[k : k + 3, ::-1] for k in range(0, 150, 3)])[2:149, 3:],
        lambda x: x[:, ::-1][2:149, 3:],
    ),
    "interleaved columns": (
        lambda v: sel.interleave([v[:, :80], v[:, 80:]], mode=1)[:, ::3],
        lambda x: np.stack([x[:, :80], x[:, 80:]], 2).reshape((150, 160))[:, ::3],
    ),
    "coordinates": (
        lambda v: sel.compute((300, 301), lambda i, j: i * 1000 + j, dtype="i8")[::-1, 5:],
        lambda x: (np.arange(300)[:, None] * 1000 + np.arange(301))[::-1, 5:],
    ),
    "coordinates reshaped": (
        lambda v: (
            sel.compute((300, 301), lambda i, j: i * 1000 + j, dtype="i8").reshape((301, 300)).permute((1, 0))
        ),
        lambda x: (np.arange(300)[:, None] * 1000 + np.arange(301)).reshape((301, 300)).T,
    ),
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", VIEWS)
def test_a_large_view_has_the_elements_that_numpy_finds(name, threads):
    view, ours = VIEWS[name]
    np.testing.assert_array_equal(np.asarray(view(sel.as_view(X)).compute(threads=threads)), ours(X))


@pytest.mark.parametrize("name", VIEWS)
def test_it_goes_into_memory_of_any_strides_and_type(name):
    view, ours = VIEWS[name]
    v, expected = view(sel.as_view(X)), ours(X)
    turned = np.zeros(expected.shape[::-1], v.dtype).T
    v.compute(turned)
    np.testing.assert_array_equal(turned, expected)
    apart = np.zeros((*expected.shape, 2), "f8")[..., 1]
    v.compute(apart)
    np.testing.assert_array_equal(apart, expected)


@pytest.mark.parametrize("name", VIEWS)
def test_its_blocks_make_it_up(name):
    view, ours = VIEWS[name]
    v = view(sel.as_view(X))
    found = np.zeros(v.shape.extents, v.dtype)
    for region, block in v.blocks(30_000):
        key = tuple(
            slice(a - o, a - o + n)
            for a, o, n in zip(region.origin, v.shape.origin, region.extents, strict=True)
        )
        found[key] = np.asarray(block)
    np.testing.assert_array_equal(found, ours(X))
