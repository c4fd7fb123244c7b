"""What checkers know of views: the operations of tensors, with the same types. Checked, never run."""

from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

from tensorwrapper.selection import (
    Atom,
    Expression,
    Route,
    RouteGroup,
    View,
    as_view,
    concat,
    full,
    iota,
    minimum,
    pad,
    random,
    stack,
    where,
)
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.tensor import Tensor, as_tensor
from tensorwrapper.typing import Rank1, Rank2

doubles: npt.NDArray[np.float64] = np.zeros((2, 3))
t = as_tensor(doubles)
v = as_view(t)

# The element type comes from what is viewed and stays with every operation.

assert_type(v, View[np.float64])
assert_type(as_view(doubles), View[np.float64])
assert_type(as_view(v), View[np.float64])
assert_type(as_view([1, 2]), View[Any])


def of_both(tensor: Tensor[np.float64], view: View[np.float64]) -> None:
    """Ask a tensor and a view for the same."""
    assert_type(tensor.dtype, np.dtype[np.float64])
    assert_type(view.dtype, np.dtype[np.float64])
    assert_type(tensor.elements(), npt.NDArray[np.float64])
    assert_type(view.elements(), npt.NDArray[np.float64])
    assert_type(tensor.to_numpy(), npt.NDArray[np.float64])
    assert_type(view.to_numpy(), npt.NDArray[np.float64])
    assert_type(tensor.shape, Shape)
    assert_type(view.shape, Shape)
    assert_type(tensor.astype("f4"), Tensor[Any])
    assert_type(view.astype("f4"), View[Any])
    for one in (tensor, view):
        assert_type(one.size, int)
        assert_type(one.rank, int)
        assert_type(one.nbytes, int)
        assert_type(float(one), float)
        assert_type(1.0 in one, bool)


def of_views(view: View[np.float64]) -> None:
    """Select parts of a view."""
    assert_type(view[0], View[np.float64])
    assert_type(view[..., None, ::-1], View[np.float64])
    assert_type(view[[0, 1], :], View[np.float64])
    assert_type(view.oindex[[0], [1]], View[np.float64])
    assert_type(view.vindex[[0], [1]], View[np.float64])
    assert_type(view.window(Shape(1, 1)), View[np.float64])
    assert_type(view.permute((1, 0)), View[np.float64])
    assert_type(view.reverse(), View[np.float64])
    assert_type(view.rotate((1, 1)), View[np.float64])
    assert_type(view.repeat((1, 2)), View[np.float64])
    assert_type(view.repeat_each(0, 2), View[np.float64])
    assert_type(view.gather(0, [0]), View[np.float64])
    assert_type(view.broadcast((4, 2, 3)), View[np.float64])
    assert_type(view.squeeze(), View[np.float64])
    assert_type(view.unsqueeze(0), View[np.float64])
    assert_type(view.reshape((6,)), View[np.float64, Rank1])
    assert_type(view.sliding_window(0, 1), View[np.float64])
    assert_type(view.diagonal(), View[np.float64])
    assert_type(view.split_mode(0, (2, 1)), View[np.float64])
    assert_type(view.merge_modes(0, 1), View[np.float64])
    assert_type(view.tiled(Tiling([1, 1], [3])), View[np.float64])
    assert_type(view.pad([(1, 1), (0, 0)], boundary="edge"), View[np.float64])
    assert_type(view.optimize(), View[np.float64])
    assert_type(view.as_written(), View[np.float64])
    for row in view:
        assert_type(row, View[np.float64])


def of_routes(view: View[np.float64]) -> None:
    """Ask where elements come from, and what runs."""
    assert_type(view.route((0, 1)), Route)
    assert_type(view.route((0, 1)).index, tuple[int, ...])
    assert_type(view.route_many([[0, 1]]), tuple[RouteGroup, ...])
    assert_type(view.atoms, tuple[Atom, ...])
    assert_type(view.normal_form(), Expression)
    view.layout  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    view.pad([(1, 1)], boundary="mirror")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    view.route(1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


# What puts views together takes whatever `as_view` does.

assert_type(concat([t, v, doubles, [[1, 2, 3]]], mode=0), View[Any])
assert_type(stack([t, t], mode=-1), View[np.float64])
assert_type(pad(t, [(1, 1), (0, 0)], fill_value=2), View[np.float64])
assert_type(where([True], t, 0.0), View[Any])
assert_type(minimum(t, v, 3), View[np.float64])
assert_type(full((2,), 1), View[Any, Rank1])
assert_type(iota(Shape(2)), View[np.int64, Rank1])
assert_type(random((2, 3), seed=1), View[np.float64, Rank2])
