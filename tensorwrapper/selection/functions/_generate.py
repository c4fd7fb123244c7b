"""Views without a source: constants, counts, functions of coordinates, random numbers."""

import math
from collections.abc import Iterable
from typing import Any, SupportsIndex, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import MAX_INT64, to_count, to_int
from tensorwrapper.buffer.lowlevel import fit_number
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    ExtentMismatchError,
    JaggedModeError,
    SizeOverflowError,
)
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import wrap_layout
from tensorwrapper.selection._view import View
from tensorwrapper.selection.expressions._expression import Expression, Node, unnamed_view
from tensorwrapper.selection.expressions._generators import (
    Computing,
    CoordinateFunction,
    Counting,
    Diagonal,
    Filling,
    RandomField,
)
from tensorwrapper.selection.facade._dtypes import to_element_type
from tensorwrapper.selection.functions._build import ViewLike, as_view
from tensorwrapper.selection.random._parameters import Distribution, check_parameters, check_seed
from tensorwrapper.selection.random._parameters import to_element_type as to_type_of
from tensorwrapper.shape import Shape, ShapeLike
from tensorwrapper.shape.lowlevel import mode_of, names_of, unnamed_shape

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
    if not given.is_box:
        raise JaggedModeError(f"elements are generated over a box, not over {given}: as_smooth() is its box")
    return given


def _view(box: Shape[Any], node: Node, shape: ShapeLike = ()) -> View[Any]:
    """Return the view of a node over a box, with the names of the shape that was given for it."""
    return View(Expression(node, wrap_layout(Layout(box).implementation, names_of(shape))))


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
    return _view(box, Filling(box, fit_number(fill_value, element, "fill_value")[()], element), shape)


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
    first = fit_number(start, element, "start").item()
    if box.size:
        # The ends are what does not fit first.
        origin, extent = box.origin[number], box.extents[number]
        for index in (origin, origin + extent - 1):
            _check_element(first, steps[number], index, element)
    return _view(box, Counting(box, first, steps, element), shape)


def _check_element(start: complex, step: complex, index: int, element: "np.dtype[Any]") -> None:
    """Raise if the type cannot hold ``start + step * index``, or what is computed on the way to it."""
    if element.kind in "biu":
        fit_number(start + step * index, element, f"the element at {index}")
    elif element.kind not in "mM" and np.isfinite([start, step]).all():
        with np.errstate(all="ignore"):
            # As `Counting` does it: in the type itself, of an index that becomes one of its numbers.
            place = np.array(float(index) if abs(index) < 1 << 1000 else math.inf).astype(element)
            total = np.array(start, element) + place * np.array(step, element)
        if not np.isfinite(total).all():
            raise SizeOverflowError(
                f"the element at {index}, {start} + {step} * {index}, leaves the range of {element}"
            )


def linspace(
    start: complex, stop: complex, count: SupportsIndex, *, dtype: npt.DTypeLike = np.float64
) -> View[Any]:
    """Return a view of rank 1 of `count` numbers, evenly spaced from `start` to `stop`, both included.

    Number k is ``start + k * ((stop - start) / (count - 1))``.

    Raises
    ------
    SizeOverflowError
        If the type cannot hold one of the numbers, or of floats the step or the sum of all steps.
    DTypeError
        If the elements are integers, and an end or the step is none.

    Examples
    --------
    >>> from tensorwrapper import selection as sel
    >>> sel.linspace(0, 1, 5)[::2].compute().tolist()
    [0.0, 0.5, 1.0]
    """
    number = to_count(count, "count")
    box = _to_box((number,))
    element = to_element_type(dtype)
    first = fit_number(start, element, "start").item()
    step: complex = 0
    if number > 1:
        last = fit_number(stop, element, "stop").item()
        if element.kind in "biu":
            step = _whole_step(int(first), int(last), number, element)
        else:
            step = _step(start, stop, number, element)
            _check_element(first, step, number - 1, element)
    return _view(box, Counting(box, first, (step,), element, "linspace"))


def _whole_step(start: int, stop: int, count: int, element: "np.dtype[Any]") -> int:
    """Return the step from one integer to the next, as a number of the type."""
    step, rest = divmod(stop - start, count - 1)
    if rest:
        raise DTypeError(
            f"{count} numbers from {start} to {stop} are {(stop - start) / (count - 1)} apart: no step "
            f"between elements of type {element}; floats have it, and astype() drops what they have more"
        )
    if element.kind == "b":
        return bool(fit_number(step, element, "the step").item())
    # Sums wrap round, and both ends fit: a step down between unsigned numbers is one up, too.
    least, most = int(np.iinfo(element).min), int(np.iinfo(element).max)
    return (step - least) % (most - least + 1) + least


def _step(start: complex, stop: complex, count: int, element: "np.dtype[Any]") -> complex:
    # Numbers of NumPy would be subtracted in a type that may be too narrow.
    first, last = [cast("complex", np.asarray(n).item()) for n in (start, stop)]
    try:
        step = (last - first) / (count - 1)
    except OverflowError:
        step = math.inf
    # What was infinite before is nothing new; integers are finite, also those beyond 64 bits.
    if np.isinf(step) and all(isinstance(n, int) or np.isfinite(n) for n in (first, last)):
        raise SizeOverflowError(f"the step from {start} to {stop} leaves the range of {element}")
    return cast("complex", fit_number(step, element, "the step").item())


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
        The type of the elements. What the function gives is cast within its kind when it is computed, and
        looked at: `DTypeError` if the kinds differ, `SizeOverflowError` if the type cannot hold an element.

    Examples
    --------
    >>> from tensorwrapper import selection as sel
    >>> sel.compute((3, 3), lambda i, j: 10 * i + j, dtype="i8")[1:, ::-2].compute().tolist()
    [[12, 10], [22, 20]]
    """
    if not callable(cast("object", function)):
        raise ConversionError(f"elements are computed by a function of coordinates, not by {function!r}")
    box = _to_box(shape)
    return _view(box, Computing(box, function, to_element_type(dtype)), shape)


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
            given.append(unnamed_view(view[...].broadcast(box.extents)._expression))
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
    return _view(box, node, shape)


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
