"""Views without a source: constants, counts, functions of coordinates, random numbers."""

from collections.abc import Iterable
from typing import Any, SupportsIndex, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import MAX_INT64, to_count, to_int
from tensorwrapper.buffer.lowlevel import fit_number
from tensorwrapper.errors import ConversionError, ExtentMismatchError, JaggedModeError, SizeOverflowError
from tensorwrapper.layout import Layout
from tensorwrapper.selection._build import ViewLike, as_view
from tensorwrapper.selection._view import View
from tensorwrapper.selection.expressions._dtypes import to_element_type
from tensorwrapper.selection.expressions._expression import Expression, Node
from tensorwrapper.selection.expressions._generators import (
    Computing,
    CoordinateFunction,
    Counting,
    Diagonal,
    Filling,
    RandomField,
)
from tensorwrapper.selection.random._parameters import Distribution, check_parameters, check_seed
from tensorwrapper.selection.random._parameters import to_element_type as to_type_of
from tensorwrapper.shape import Shape, ShapeLike
from tensorwrapper.shape.lowlevel import mode_of, unnamed_shape

__all__ = [
    "Parameter",
    "bernoulli",
    "compute",
    "eye",
    "full",
    "integers",
    "iota",
    "linspace",
    "normal",
    "ones",
    "random",
    "uniform",
    "zeros",
]

Parameter: TypeAlias = "ViewLike | float"
"""A number, or a view that is broadcast against the shape: one number for each coordinate."""


def _to_box(shape: ShapeLike) -> Shape:
    given: Shape[Any] = unnamed_shape(shape)
    if given.kind != "smooth":
        raise JaggedModeError(f"elements are generated over a box, not over {given}: as_smooth() is its box")
    return given


def _view(shape: Shape[Any], node: Node) -> View[Any]:
    return View(Expression(node, Layout(shape)))


def full(shape: ShapeLike, fill_value: object, *, dtype: npt.DTypeLike | None = None) -> View[Any]:
    """Return a view in which every element is `fill_value`; nothing is stored.

    Parameters
    ----------
    shape
        A box; its origin is kept.
    fill_value
        A number or a string.
    dtype
        The type of the elements; that of the value if not given.

    Examples
    --------
    >>> from tensorwrapper import selection as sel
    >>> sel.full((2, 2), 7).compute().tolist()
    [[7, 7], [7, 7]]
    """
    box = _to_box(shape)
    element: np.dtype[Any] = _type_of(fill_value) if dtype is None else to_element_type(dtype, "TO")
    return _view(box, Filling(box, fit_number(fill_value, element, "fill_value")[()], element))


def _type_of(value: object) -> "np.dtype[Any]":
    if isinstance(value, str):
        return cast("np.dtype[Any]", np.dtypes.StringDType())
    return np.dtype(np.object_) if isinstance(value, bytes) else np.asarray(value).dtype


def zeros(shape: ShapeLike, *, dtype: npt.DTypeLike = np.float64) -> View[Any]:
    """Return a view in which every element is 0; nothing is stored."""
    return full(shape, 0, dtype=dtype)


def ones(shape: ShapeLike, *, dtype: npt.DTypeLike = np.float64) -> View[Any]:
    """Return a view in which every element is 1; nothing is stored."""
    return full(shape, 1, dtype=dtype)


def iota(
    shape: ShapeLike,
    mode: SupportsIndex = -1,
    *,
    start: complex = 0,
    step: complex = 1,
    dtype: npt.DTypeLike = np.int64,
) -> View[Any]:
    """Return a view that counts along a mode: ``start + step * index[mode]``, by absolute indices.

    Examples
    --------
    >>> from tensorwrapper import Shape, selection as sel
    >>> sel.iota(Shape(2, 3, origin=(0, 5)), 1).compute().tolist()
    [[5, 6, 7], [5, 6, 7]]
    """
    box = _to_box(shape)
    number = mode_of(mode, box.rank)
    element = to_element_type(dtype)
    steps = tuple([fit_number(step if m == number else 0, element, "step").item() for m in range(box.rank)])
    if element.kind in "iu" and box.size:
        # The ends are what does not fit first; complex numbers have none.
        origin, extent = box.origin[number], box.extents[number]
        for index in (origin, origin + extent - 1):
            fit_number(cast("int", start) + cast("int", step) * index, element, f"the element at {index}")
    return _view(box, Counting(box, fit_number(start, element, "start").item(), steps, element))


def linspace(
    start: complex, stop: complex, count: SupportsIndex, *, dtype: npt.DTypeLike = np.float64
) -> View[Any]:
    """Return a view of rank 1 of `count` numbers, evenly spaced from `start` to `stop`, both included.

    Number k is ``start + k * ((stop - start) / (count - 1))``.

    Examples
    --------
    >>> from tensorwrapper import selection as sel
    >>> sel.linspace(0, 1, 5)[::2].compute().tolist()
    [0.0, 0.5, 1.0]
    """
    number = to_count(count, "count")
    box = _to_box((number,))
    element = to_element_type(dtype)
    step = (stop - start) / (number - 1) if number > 1 else 0
    first = fit_number(start, element, "start").item()
    return _view(box, Counting(box, first, (element.type(step).item(),), element, "linspace"))


def eye(
    rows: SupportsIndex,
    columns: SupportsIndex | None = None,
    *,
    offset: SupportsIndex = 0,
    dtype: npt.DTypeLike = np.float64,
) -> View[Any]:
    """Return a matrix with ones where ``column - row`` is `offset`, and zeros elsewhere.

    Examples
    --------
    >>> from tensorwrapper import selection as sel
    >>> sel.eye(2, 3, offset=1, dtype="i8").compute().tolist()
    [[0, 1, 0], [0, 0, 1]]
    """
    box = _to_box((to_count(rows, "rows"), to_count(rows if columns is None else columns, "columns")))
    return _view(box, Diagonal(box, to_int(offset, "offset"), to_element_type(dtype)))


def compute(
    shape: ShapeLike, function: CoordinateFunction, *, dtype: npt.DTypeLike = np.float64
) -> View[Any]:
    """Return a view whose elements a function computes from their absolute indices, part by part.

    Parameters
    ----------
    shape
        A box; its origin counts.
    function
        Called with one int64 array per mode, which broadcast together; returns the elements there, or what
        broadcasts to them. The same index must always give the same element.
    dtype
        The type of the elements.

    Examples
    --------
    >>> from tensorwrapper import selection as sel
    >>> sel.compute((3, 3), lambda i, j: 10 * i + j, dtype="i8")[1:, ::-2].compute().tolist()
    [[12, 10], [22, 20]]
    """
    if not callable(cast("object", function)):
        raise ConversionError(f"elements are computed by a function of coordinates, not by {function!r}")
    box = _to_box(shape)
    return _view(box, Computing(box, function, to_element_type(dtype)))


def _random(
    shape: ShapeLike,
    distribution: Distribution,
    seed: SupportsIndex,
    parameters: Iterable[Parameter],
    dtype: npt.DTypeLike,
) -> View[Any]:
    box = _to_box(shape)
    given: list[Any] = []
    for parameter in parameters:
        if isinstance(parameter, bool | int | float | np.generic):
            given.append(parameter)
            continue
        view = as_view(parameter)
        try:
            given.append(view[...].broadcast(box.extents)._expression)
        except ValueError as error:
            raise ExtentMismatchError(
                f"a parameter of shape {view.shape} does not broadcast to {box.extents}: {error}"
            ) from error
    if box.size > MAX_INT64:
        raise SizeOverflowError(f"{box} has {box.size} places, more than random numbers are counted by")
    element = to_type_of(distribution, dtype)
    if not any(isinstance(parameter, Expression) for parameter in given):
        check_parameters(distribution, given, element)
    node = RandomField(box, distribution, check_seed(seed), tuple(given), element)
    return _view(box, node)


def random(shape: ShapeLike, *, seed: SupportsIndex, dtype: npt.DTypeLike = np.float64) -> View[Any]:
    """Return a view of random numbers, uniform in [0, 1), that depend on the seed and their index alone.

    Any slice, in any order, in one process or many, has the same numbers: each is drawn by a counter, the
    rank of its index in this shape. The algorithm is Philox 4x32-10.

    Examples
    --------
    >>> import numpy as np
    >>> from tensorwrapper import selection as sel
    >>> noise = sel.random((1000, 1000), seed=7)
    >>> np.array_equal(noise[10:20, ::-3].compute(), noise.compute()[10:20, ::-3])
    True
    """
    return uniform(shape, seed=seed, dtype=dtype)


def uniform(
    shape: ShapeLike,
    low: Parameter = 0.0,
    high: Parameter = 1.0,
    *,
    seed: SupportsIndex,
    dtype: npt.DTypeLike = np.float64,
) -> View[Any]:
    """Return a view of random numbers, uniform in [low, high); see `random`."""
    return _random(shape, "uniform", seed, (low, high), dtype)


def normal(
    shape: ShapeLike,
    mean: Parameter = 0.0,
    sigma: Parameter = 1.0,
    *,
    seed: SupportsIndex,
    dtype: npt.DTypeLike = np.float64,
) -> View[Any]:
    """Return a view of random numbers of the normal distribution; see `random`."""
    return _random(shape, "normal", seed, (mean, sigma), dtype)


def integers(
    shape: ShapeLike, low: Parameter, high: Parameter, *, seed: SupportsIndex, dtype: npt.DTypeLike = np.int64
) -> View[Any]:
    """Return a view of random integers, uniform in [low, high); see `random`."""
    return _random(shape, "integers", seed, (low, high), dtype)


def bernoulli(shape: ShapeLike, p: Parameter = 0.5, *, seed: SupportsIndex) -> View[Any]:
    """Return a view of random bools, each true with probability `p`; see `random`."""
    return _random(shape, "bernoulli", seed, (p,), np.bool_)
