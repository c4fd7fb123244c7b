"""Masked arrays, and what gives them: a hidden element never becomes a number."""

from types import SimpleNamespace

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, DTypeError, IndexTypeError, TensorWrapperError


class Variable:
    """A variable of a file with a fill value: its slices and its array are masked arrays."""

    def __init__(self, mask):
        self.array = np.ma.array([1.0, -9.0, 3.0], mask=mask)
        self.shape, self.dtype, self.ndim = (3,), self.array.dtype, 1

    def __len__(self):
        return 3

    def __getitem__(self, key):
        return self.array[key]

    def __array__(self, dtype=None, copy=None):
        return self.array


def written(write):
    target = tw.zeros((3,))
    write(target)
    return target


WAYS = {
    "as_tensor": tw.as_tensor,
    "jagged": lambda given: tw.jagged([given]).flatten(),
    "key": lambda given: written(lambda t: t.__setitem__(slice(None), given)),
    "assign": lambda given: written(lambda t: t.assign(given)),
    "assign through a view": lambda given: written(lambda t: sel.as_view(t).assign(given)),
    "view": lambda given: sel.as_view(given).compute(),
    "operand": lambda given: np.add(tw.zeros((3,)), given),
    "concat": lambda given: tw.concat([given]).compute(),
    "sparse": lambda given: tw.sparse([(0,), (1,), (2,)], given, (3,)).to_dense(),
    "list": lambda given: tw.as_tensor([given, given])[0],
}


KEEP = ("as_tensor", "view", "concat", "operand")
"""What makes nulls of what is hidden."""


@pytest.mark.parametrize("name", WAYS)
def test_hidden_elements_are_nulls_or_refused(name):
    hidden = np.ma.array([1.0, -9.0, 3.0], mask=[False, True, False])
    with pytest.raises(ConversionError, match="mask"):
        WAYS[name](Variable([False, True, False]))
    if name in KEEP:
        assert WAYS[name](hidden).tolist() == [1.0, None, 3.0]
        return
    with pytest.raises(TensorWrapperError, match=r"mask|null"):
        WAYS[name](hidden)


def test_a_masked_argument_is_a_tensor_with_nulls_or_filled():
    hidden = np.ma.array([1.0, -9.0], mask=[False, True], fill_value=5)
    with pytest.raises(DTypeError, match=r"as_tensor\(x\) .* x.filled\(\)"):
        np.dot(tw.zeros((2,)), hidden)
    assert tw.as_tensor(hidden).tolist() == [1.0, None]
    assert float(np.dot(tw.full((2,), 1.0), hidden.filled())) == 6.0


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_variables_whose_mask_hides_nothing_are_read(way):
    assert way(Variable(False)).tolist() == [1.0, -9.0, 3.0]


HIDDEN = SimpleNamespace(
    pair=np.ma.array([0, 1], mask=[False, True]),
    table=np.ma.array([[0, 1], [1, 0]], mask=[[False, False], [False, True]]),
    flags=np.ma.array([True, True], mask=[False, True]),
)
SHOWN = SimpleNamespace(**{name: np.ma.array(own.data) for name, own in vars(HIDDEN).items()})
PAIR = tw.as_tensor([5, 6])
GRID = tw.as_tensor(np.arange(4).reshape(2, 2))
TILES = GRID.tiled(tw.Tiling([1, 1], [1, 1]))
ROWS = tw.jagged([[1, 2], [3]])


KEYS = {
    "tensor": lambda given: PAIR[given.pair],
    "mask": lambda given: PAIR[given.flags],
    "rows": lambda given: ROWS[given.flags],
    "positions of rows": lambda given: ROWS[given.pair],
    "list of arrays": lambda given: PAIR[[given.pair]],
    "points": lambda given: GRID.vindex[given.pair, given.pair],
    "outer": lambda given: GRID.oindex[given.pair, given.pair],
    "gather": lambda given: GRID.gather(0, given.pair),
    "view": lambda given: sel.as_view(GRID)[given.pair],
    "points of a view": lambda given: sel.as_view(GRID).vindex[given.pair, given.pair],
    "outer of a view": lambda given: sel.as_view(GRID).oindex[given.pair],
    "gather of a view": lambda given: sel.as_view(GRID).gather(0, given.pair),
    "written": lambda given: PAIR.copy().__setitem__(given.pair, 7),
    "written by a mask": lambda given: PAIR.copy().__setitem__(given.flags, 7),
    "layout": lambda given: GRID.layout.gather(0, given.pair),
    "offsets": lambda given: GRID.layout.offsets_of(given.table),
    "ordinals": lambda given: GRID.shape.ordinals(given.table),
    "indices": lambda given: GRID.shape.indices_at(given.pair),
    "mask of a shape": lambda given: tw.Mask(tw.Shape(2), given.flags),
    "points of a shape": lambda given: tw.Mask.of_points(tw.Shape(2, 2), given.table),
    "ordinals of a shape": lambda given: tw.Mask.of_ordinals(tw.Shape(4), given.pair),
    "tiles": lambda given: TILES.select_tiles(given.table),
    "mask of tiles": lambda given: TILES.select_tiles(given.table.astype(np.bool_)),
    "predicate of tiles": lambda given: TILES.select_tiles(lambda i, j: given.table == i + j),
    "coordinates": lambda given: tw.sparse(given.table, [1, 2], (2, 2)),
    "unflatten": lambda given: tw.as_tensor([1]).unflatten(given.pair),
    "unflatten of a view": lambda given: sel.as_view(tw.as_tensor([1])).unflatten(given.pair),
    "row lengths": lambda given: tw.Shape.jagged(given.pair),
    "extents of cells": lambda given: tw.Shape.from_cells((2,), given.table),
    "tile sizes": lambda given: tw.Tiling(given.pair),
    "marks": lambda given: tw.Tiling.from_marks(given.pair),
    "np.take": lambda given: np.take(PAIR, given.pair),
    "np.repeat": lambda given: np.repeat(PAIR, given.pair),
    "reduceat": lambda given: np.add.reduceat(PAIR, given.pair),
    "at": lambda given: np.add.at(PAIR.copy(), given.pair, 1),
}


@pytest.mark.parametrize("way", KEYS.values(), ids=KEYS)
def test_hidden_numbers_are_no_keys_and_no_counts(way):
    with pytest.raises((ConversionError, DTypeError), match="mask"):
        way(HIDDEN)


@pytest.mark.parametrize("way", KEYS.values(), ids=KEYS)
def test_keys_and_counts_whose_mask_hides_nothing_are_read(way):
    way(SHOWN)


FUNCTIONS = {
    "full": lambda hide: tw.full((2,), lambda _: hide([1.0, 2.0])),
    "compute": lambda hide: sel.compute((2,), hide, dtype="i8").compute(),
    "reduce_tiles": lambda hide: TILES.reduce_tiles(lambda tiles, axis: hide(tiles.sum(axis))),
    "reduce_tiles of a view": lambda hide: sel.as_view(TILES).reduce_tiles(lambda t, axis: hide(t.sum(axis))),
}
OUTS = {
    "ufunc": lambda out: np.add(PAIR, 1, out=out),
    "reduction": lambda out: np.add.reduce(GRID, axis=0, out=out),
    "accumulation": lambda out: np.add.accumulate(PAIR, out=out),
}


@pytest.mark.parametrize("way", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_function_gives_no_hidden_elements(way):
    with pytest.raises(ConversionError, match="mask"):
        way(lambda numbers: np.ma.array(numbers, mask=True))
    way(np.ma.array)


@pytest.mark.parametrize("way", OUTS.values(), ids=OUTS)
def test_no_result_is_written_under_a_mask(way):
    target = np.ma.array([0, 0], mask=[False, True])
    with pytest.raises(DTypeError, match="mask"):
        way(target)
    assert target.data.tolist() == [0, 0]
    way(np.ma.array([0, 0]))


def test_rows_of_a_server_have_no_hidden_keys():
    with tw.serve({"rows": ROWS}) as server, tw.connect(server.address) as remote:
        for key in (HIDDEN.pair, HIDDEN.flags):
            with pytest.raises(IndexTypeError, match="mask"):
                remote["rows"][key]
        assert remote["rows"][SHOWN.pair].compute().tolist() == ROWS.tolist()
