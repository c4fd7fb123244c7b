"""What a tensor can do, a view can do: the same operations, with the same parameters and elements."""

import inspect

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape, Tensor
from tensorwrapper import selection as sel
from tensorwrapper.selection import View

# What tensors have and views have not, and why.
REASONS = {
    **dict.fromkeys(
        ["layout", "buffer"], "a view has many memories, or none: `compute()` gives a tensor, which has one"
    ),
    "add_tiles": "it adds to present tiles in memory, which a view has of many tensors, or none",
    "__buffer__": "NumPy asks for a buffer before anything else, and most views have none: `as_memoryview()`",
}

OPERATORS = ["lt", "le", "gt", "ge", "eq", "ne", "neg", "pos", "abs", "invert", "divmod", "rdivmod"] + [
    f"{prefix}{name}"
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor")
    for prefix in ("", "r", "i")
]

X = np.arange(24).reshape(4, 6)


def few(t):
    """The sparse tensor, or a view of it put together, that stands for a tensor or a view."""
    sparse = tw.sparse([(0, 1), (2, 3)], [5, 7], Shape(4, 6))
    return sparse if isinstance(t, Tensor) else sel.concat([sparse[:1], sparse[1:]])


def words(t):
    """The strings that stand for a tensor or a view."""
    strings = tw.strings(["a", None, "bc"])
    return strings if isinstance(t, Tensor) else sel.concat([strings[:1], strings[1:]])


def tiles_of(t):
    return t.tiled(tw.Tiling([2, 2], [1, 5]))


def is_pieces(t):
    """Whether this lies in no one memory."""
    return isinstance(t, View) and t.expression.node.source is None


# One use of each operation that both have.
USES = {
    "as_memoryview": lambda t: t.as_memoryview().tolist() if not is_pieces(t) else X.tolist(),
    "byte_lengths": lambda t: words(t).byte_lengths().tolist(),
    "cells": lambda t: str([(index, cell.tolist()) for index, cell in t.unflatten([1, 3]).cells()]),
    "coords": lambda t: few(t).coords().tolist(),
    "csr": lambda t: str([part.tolist() for part in few(t).csr()]),
    "density": lambda t: few(t).density,
    "fill_null": lambda t: words(t).fill_null("-").tolist(),
    "fill_value": lambda t: few(t).fill_value,
    "group_by_shape": lambda t: str(
        [(group.indices.tolist(), group.cells.tolist()) for group in tiles_of(t).group_by_shape()]
    ),
    "is_sparse": lambda t: [few(t).is_sparse, t.is_sparse],
    "keep_tiles": lambda t: tiles_of(t).keep_tiles([(0, 1)]).untiled().to_dense(),
    "packed_values": lambda t: tiles_of(t).packed_values().tolist(),
    "pattern": lambda t: str(tiles_of(t).pattern),
    "stored_pattern": lambda t: str(tiles_of(t).stored_pattern),
    "present_tiles": lambda t: str([(number, tile.tolist()) for number, tile in tiles_of(t).present_tiles()]),
    "retiled": lambda t: tiles_of(t).retiled(tw.Tiling([4], [3, 3])).packed_values().tolist(),
    "screened": lambda t: str(tiles_of(t).screened(20.0).pattern),
    "symmetry": lambda t: str(t.symmetry),
    "tile_norms": lambda t: tiles_of(t).tile_norms("max"),
    "to_packed": lambda t: (t[:2, :2] * 0).to_packed("s2").packed_values().tolist(),
    "with_tiles": lambda t: str(tiles_of(t).screened(20.0).with_tiles([(0, 1)]).pattern),
    "is_valid": lambda t: words(t).is_valid().tolist(),
    "nnz": lambda t: few(t).nnz,
    "null_count": lambda t: words(t).null_count,
    "reduce_tiles": lambda t: tiles_of(t).reduce_tiles(np.add).tolist(),
    "rows": lambda t: str([[row.tolist() for row in t.rows()], t.rows().reduce(np.add).tolist()]),
    "scatter": lambda t: tiles_of(t).select_tiles([(1, 0)]).scatter((4, 6), fill_value=-1),
    "select_tiles": lambda t: tiles_of(t).select_tiles([(1, 0), (0, 1)]),
    "stored": lambda t: str([part.tolist() for part in few(t).stored()]),
    "to_dense": lambda t: few(t).to_dense(),
    "to_layout": lambda t: t.to_layout(tw.Layout(Shape(4, 6), order="F")),
    "to_numpy_strings": lambda t: words(t).to_numpy_strings("T").tolist(),
    "to_pydata": lambda t: few(t).to_pydata().todense().tolist(),
    "to_scipy": lambda t: few(t).to_scipy().toarray().tolist(),
    "to_string_data": lambda t: len(words(t).to_string_data()),
    "to_tf_strings": lambda t: words(t)[:1].to_tf_strings().tobytes(),
    "values": lambda t: few(t).values().tolist(),
    "astype": lambda t: t.astype("f4"),
    "to_arrow": lambda t: t.to_arrow().to_pylist(),
    "to_dask": lambda t: t.to_dask(chunks=(3, -1)).compute(scheduler="sync").tolist(),
    "to_awkward": lambda t: t.to_awkward().to_list(),
    "to_pandas": lambda t: t.to_pandas().to_numpy().tolist(),
    "to_xarray": lambda t: t.to_xarray().to_numpy().tolist(),
    "translate_to": lambda t: t.translate_to((3, -4)),
    "as_duck": lambda t: np.asarray(t.as_duck()).tolist(),
    "array_equal": lambda t: t.array_equal(tw.as_tensor(X)),
    "broadcast": lambda t: t.broadcast((2, 4, 6)),
    "copy": lambda t: t.copy(),
    "diagonal": lambda t: t.diagonal(1, 0),
    "dtype": lambda t: t.dtype.num,
    "element": lambda t: t.unflatten([1, 3]).element((1,)),
    "elements": lambda t: t[::-1].elements(),
    "flatten": lambda t: t.flatten(),
    "gather": lambda t: t.gather(1, [5, 0, -1]),
    "local_index": lambda t: t.unflatten([1, 3]).local_index(1).elements(),
    "row_lengths": lambda t: t.unflatten([1, 3]).row_lengths().tolist(),
    "run_lengths": lambda t: t.unflatten(2, 1).run_lengths().tolist(),
    "tile": lambda t: t.tiled(tw.Tiling([2, 2], [1, 5])).tile((1, 1)),
    "tiling": lambda t: t.tiled(tw.Tiling([2, 2], [1, 5])).tiling.shape.size,
    "to_padded": lambda t: t.unflatten([1, 3]).to_padded(fill_value=-1),
    "item": lambda t: t[2, 3].item(),
    "is_nullable": lambda t: t.is_nullable,
    "drop_null": lambda t: t.drop_null(),
    "to_masked": lambda t: t.to_masked().sum(),
    "merge_modes": lambda t: t.merge_modes(0, 1),
    "named": lambda t: t.named("row", None),
    "nbytes": lambda t: t.nbytes,
    "oindex": lambda t: t.oindex[[3, 0], [5, 5, 1]],
    "pad": lambda t: t.pad([(1, 0), (0, 2)], fill_value=7),
    "pad_rows": lambda t: t.pad_rows(8, fill_value=5),
    "T": lambda t: t.T,
    "permute": lambda t: t.permute([1, 0]),
    "rank": lambda t: t.rank,
    "repeat": lambda t: t.repeat([2, 1]),
    "repeat_each": lambda t: t.repeat_each(1, 2),
    "reshape": lambda t: t.reshape((3, -1)),
    "reverse": lambda t: t.reverse(-1),
    "rotate": lambda t: t.rotate([1, -2]),
    "shape": lambda t: t.shape.extents,
    "size": lambda t: t.size,
    "sliding_window": lambda t: t.sliding_window(1, 4),
    "split_mode": lambda t: t.split_mode(1, (2, 3)),
    "squeeze": lambda t: t[1:2].squeeze(),
    "tiled": lambda t: t.tiled(tw.Tiling([2, 2], [3, 3])),
    "to_numpy": lambda t: t.to_numpy(),
    "tolist": lambda t: t.tolist(),
    "unflatten": lambda t: t.unflatten([1, 3]).flatten(),
    "untiled": lambda t: t.tiled(tw.Tiling([2, 2], [3, 3])).untiled(),
    "unsqueeze": lambda t: t.unsqueeze(-1),
    "vindex": lambda t: t.vindex[[3, 0], [5, 1]],
    "window": lambda t: t.window(Shape(2, 3, origin=(1, 2))),
    "__getitem__": lambda t: t[1:, ::-2],
    "a list": lambda t: t[[3, 0, 3]],
    "a mask": lambda t: t[X % 5 == 1],
    "__array__": lambda t: np.asarray(t, dtype="f8"),
    "__dlpack_device__": lambda t: t.__dlpack_device__(),
    "__bool__": lambda t: bool(t[0, 0]),
    "__complex__": lambda t: complex(t[0, 1]),
    "__contains__": lambda t: [7 in t, 77 in t],
    "__float__": lambda t: float(t[0, 1]),
    "__int__": lambda t: int(t[0, 1]),
    "__iter__": lambda t: [np.asarray(row).tolist() for row in t],
    "__len__": len,
}
WRITING = {
    "__dlpack__",
    "accumulate_into",
    "assign",
    "is_readonly",
    "__setitem__",
    "to_torch",
}  # have tests of their own


def api(cls):
    """Public names, and the special methods of containers, numbers and arrays."""
    names = {name for name, _ in inspect.getmembers_static(cls) if not name.startswith("_")}
    special = {
        "__array__",
        "__bool__",
        "__buffer__",
        "__complex__",
        "__contains__",
        "__dlpack__",
        "__float__",
    }
    special |= {"__dlpack_device__", "__getitem__", "__int__", "__iter__", "__len__", "__setitem__"}
    return names | {name for name in special if name in dir(cls)}


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_of_views_are_those_of_tensors(name):
    assert getattr(Tensor, f"__{name}__") is getattr(View, f"__{name}__")


def test_a_view_has_every_operation_of_a_tensor_or_a_reason():
    assert api(Tensor) - api(View) == set(REASONS)


def test_every_operation_that_both_have_is_compared():
    shared = api(Tensor) & api(View)
    assert shared - set(USES) == WRITING


@pytest.mark.parametrize("name", sorted(api(Tensor) & api(View)))
def test_operations_have_the_same_parameters(name):
    both = getattr(Tensor, name), getattr(View, name)
    if not all(map(callable, both)):
        assert isinstance(both[0], property) == isinstance(both[1], property)
        return
    one, other = [inspect.signature(function).parameters for function in both]
    same = [(p.name, p.kind, p.default is p.empty) for p in one.values()] == [
        (p.name, p.kind, p.default is p.empty) for p in other.values()
    ]
    assert same


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_operations_give_the_same_elements(use):
    tensor = tw.as_tensor(X)
    one, other = use(tensor), use(sel.as_view(tensor))
    assert type(other) is (View if isinstance(one, Tensor) and type(other) is not Tensor else type(one))
    if isinstance(one, Tensor):
        assert other.shape == one.shape
        assert other.dtype == one.dtype
        one, other = [np.asarray(t if t.shape.kind == "smooth" else t.elements()) for t in (one, other)]
    np.testing.assert_array_equal(other, one)


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_operations_on_pieces_give_the_same_elements(use):
    tensor = tw.as_tensor(X)
    view = sel.concat([tensor[:1], sel.full((1, 6), 0), tensor[2:]])
    view = sel.where([[False], [True], [False], [False]], X, view)
    one, other = use(tensor), use(view)
    if isinstance(one, Tensor):
        assert other.shape == one.shape
        one, other = [np.asarray(t if t.shape.kind == "smooth" else t.elements()) for t in (one, other)]
    np.testing.assert_array_equal(other, one)


def test_rows_of_a_jagged_tensor_have_the_same_elements():
    rows = tw.jagged([[1, 2, 3], [], [4, 5]])
    view = sel.as_view(rows)
    assert view.shape == rows.shape
    for key in (slice(1, None), slice(None, None, -1), 0, 2):
        assert view[key].shape == rows[key].shape
        assert view[key].compute().tolist() == rows[key].tolist()
