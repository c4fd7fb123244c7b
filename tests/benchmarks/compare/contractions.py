"""Contractions of tensors in tiles: beside a loop over products, dense matrices and SciPy's blocks."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tensorwrapper as tw
from tensorwrapper import BlockPattern, Tensor, Tiling
from tests.benchmarks.compare.measure import Row, library


def _operands(rng: np.random.Generator, *sizes: np.ndarray, share: float = 0.1) -> tuple[Tensor[Any], ...]:
    """Return two matrices in tiles that can be multiplied, of which some tiles are present."""
    found = []
    for pair in (sizes[:2], sizes[1:]):
        tiling = Tiling(*pair)
        pattern = BlockPattern.from_mask(tiling, rng.random(tiling.grid.extents) < share)
        found.append(tw.from_buffer(rng.standard_normal(pattern.elements), pattern))
    return tuple(found)


def _blocks(flat: np.ndarray, pattern: BlockPattern) -> list[np.ndarray]:
    starts = pattern.offsets().tolist()
    extents = pattern.tile_extents().tolist()
    return [flat[a:b].reshape(own) for a, b, own in zip(starts, starts[1:], extents, strict=False)]


def _loop(left: Tensor[Any], right: Tensor[Any]) -> Callable[[], object]:
    """Return what a user writes: a loop over the products of a plan, without an array for each."""
    plan = tw.contraction("ij,jk->ik", left, right)
    patterns = (plan.left, plan.right, plan.pattern)

    def run() -> object:
        flats = (left.packed_values(), right.packed_values(), np.empty(plan.pattern.elements))
        ones, others, tiles = (_blocks(flat, pattern) for flat, pattern in zip(flats, patterns, strict=True))
        last = -1
        spaces: dict[tuple[int, ...], np.ndarray] = {}
        for one, other, number in plan.triples().tolist():
            tile = tiles[number]
            if number != last:
                np.dot(ones[one], others[other], out=tile)
                last = number
                continue
            if tile.shape not in spaces:
                spaces[tile.shape] = np.empty(tile.shape)
            np.dot(ones[one], others[other], out=spaces[tile.shape])
            tile += spaces[tile.shape]
        return flats[2]

    return run


def _dense(left: Tensor[Any], right: Tensor[Any]) -> Callable[[], object]:
    one, other = (np.asarray(own.untiled().to_dense()) for own in (left, right))
    return lambda: one @ other


def _scipy(left: Tensor[Any], right: Tensor[Any]) -> "dict[str, Callable[[], object]]":
    sparse = library("scipy.sparse")
    if sparse is None:
        return {}
    found = []
    for own in (left, right):
        pattern = own.pattern
        rows, columns = pattern.tiles().T
        tile = pattern.tile_extents()[0].tolist()
        starts = np.searchsorted(rows, np.arange(pattern.grid.extents[0] + 1))
        blocks = own.packed_values().reshape(-1, *tile)
        found.append(sparse.bsr_array((blocks, columns, starts), shape=own.untiled().shape.extents))
    return {"SciPy BSR": lambda: found[0] @ found[1]}


def _elements(left: Tensor[Any], right: Tensor[Any]) -> "dict[str, Callable[[], object]]":
    """Return what knows elements and no tiles, and what knows dense arrays and chooses the way."""
    x, y = (np.asarray(own.untiled().to_dense()) for own in (left, right))
    found: dict[str, Callable[[], object]] = {}
    sparse, pydata, chooser = library("scipy.sparse"), library("sparse"), library("opt_einsum")
    if sparse is not None:
        rows, columns = sparse.csr_array(x), sparse.csr_array(y)
        found["SciPy CSR"] = lambda: rows @ columns
    if pydata is not None:
        ones, others = pydata.COO.from_numpy(x), pydata.COO.from_numpy(y)
        found["pydata COO"] = lambda: ones @ others
    if chooser is not None:
        found["opt_einsum, dense"] = lambda: chooser.contract("ij,jk->ik", x, y)
    return found


def matrices() -> Iterator[Row]:
    """Matrices of 60 x 60 tiles, a tenth of them present: of one size, of many, and tiny ones."""
    rng = np.random.default_rng(1)
    for name, sizes, chosen, times in (
        ("24", [np.full(60, 24)] * 3, ("loop", "dense", "BSR"), 1.2),
        ("10 to 38", [rng.integers(10, 39, 60) for _ in range(3)], ("dense",), 0.2),
        ("10 to 38, beside a loop", [rng.integers(10, 39, 60) for _ in range(3)], ("loop",), None),
        ("24, beside sparse elements", [np.full(60, 24)] * 3, ("CSR",), None),
        ("4", [np.full(60, 4)] * 3, ("loop",), 0.6),
        ("4, beside what is compiled", [np.full(60, 4)] * 3, ("dense", "BSR"), None),
        ("1, 3 and 5", [rng.choice([1, 3, 5], 60) for _ in range(3)], ("loop", "dense"), None),
    ):
        left, right = _operands(rng, *sizes)
        peers: dict[str, Callable[[], object]] = {}
        if "loop" in chosen:
            peers["a loop of np.dot"] = _loop(left, right)
        if "dense" in chosen:
            peers["dense"] = _dense(left, right)
        if "BSR" in chosen:
            peers |= _scipy(left, right)
        if "CSR" in chosen:
            peers |= _elements(left, right)
        yield Row(
            "BC",
            f"60 x 60 tiles of {name}",
            lambda left=left, right=right: tw.contract("ij,jk->ik", left, right),
            peers,
            times=times,
        )


def plans() -> Iterator[Row]:
    """Plan a product over grids of 10^4 x 10^4 tiles, with a million triples."""
    rng = np.random.default_rng(0)
    side = 10**4
    cut = Tiling(np.full(side, 4), np.full(side, 4))
    left, right = (
        BlockPattern.from_ordinals(cut, np.unique(rng.integers(0, side**2, 10**5))) for _ in range(2)
    )
    ones, others = left.tiles().tolist(), right.tiles().tolist()
    sparse = library("scipy.sparse")
    if sparse is not None:
        masks = [
            sparse.csr_array((np.ones(own.count, np.bool_), own.tiles().T), shape=(side, side))
            for own in (left, right)
        ]
        yield Row(
            "BC",
            "a plan of 10^6 triples beside its tiles",
            lambda: tw.contraction("ij,jk->ik", left, right),
            {"SciPy bool CSR": lambda: masks[0] @ masks[1]},
            once=True,
        )

    def by_loop() -> object:
        columns = defaultdict(list)
        for j, k in others:
            columns[j].append(k)
        return {(i, k) for i, j in ones for k in columns[j]}

    yield Row(
        "BC",
        "plan of 10^5 x 10^5 tiles, 10^6 triples",
        lambda: tw.contraction("ij,jk->ik", left, right),
        {"a Python loop, tiles alone": by_loop},
        times=0.2,
        once=True,
    )


ROWS = {"BC": lambda: [*matrices(), *plans()]}
