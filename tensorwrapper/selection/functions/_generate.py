"""Views without a source: constants, counts, functions of coordinates."""

# pyright: reportInvalidTypeVarUse=false
# Where no dtype is given, the type variable of the elements has its default.

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias, TypedDict, Unpack, cast, overload

import numpy as np
from numpy.typing import DTypeLike

from tensorwrapper._arrays import shown_array
from tensorwrapper._error_text import brief, shortened
from tensorwrapper._hints import answered
from tensorwrapper._integers import MAX_INT64, to_count, to_int
from tensorwrapper.buffer.lowlevel import fit_number
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    ExtentMismatchError,
    LayerError,
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
from tensorwrapper.selection.facade._view_base import to_element_type
from tensorwrapper.selection.functions._build import ViewLike, as_view
from tensorwrapper.selection.random._parameters import (
    Distribution,
    check_parameters,
    check_seed,
    type_for,
)
from tensorwrapper.shape import Shape, ShapeLike, as_shape
from tensorwrapper.shape.lowlevel import mode_of, names_of, unnamed_shape
from tensorwrapper.typing import DType, Integer, Rank1, Rank2, RankT
from tensorwrapper.typing import Float64T as F
from tensorwrapper.typing import IndexT_co as J
from tensorwrapper.typing import Int64T as I
from tensorwrapper.typing import ScalarT_co as S


def box_of(shape: ShapeLike) -> Shape:
    """Return the box that elements are generated over, without names: of rows the one around them.

    Raises
    ------
    LayerError
        If the shape has layers.
    """
    given: Shape[Any] = unnamed_shape(shape)
    if given.has_layers:
        raise LayerError(f"elements are generated over shapes without layers, as {given}.flatten() is one")
    return given if given.is_box else given.as_smooth().copy()


def generated(box: Shape[Any], node: Node, shape: ShapeLike = ()) -> View[Any]:
    """Return the view of a node over a box, or of its rows that a shape has, with the names of the shape."""
    names = names_of(shape)
    view: View[Any] = View(Expression(node, wrap_layout(Layout(box).implementation, names)))
    given = as_shape(shape)
    return view if given.is_box else view.window(given)


@overload
def full(shape: RankT, fill_value: object, *, dtype: "DType[S]") -> View[S, RankT]:
    """Return a view in which every element is `fill_value`; nothing is stored."""


@overload
def full(shape: "ShapeLike[J]", fill_value: object, *, dtype: "DType[S]") -> View[S, J]: ...
@overload
def full(shape: RankT, fill_value: F) -> View[F, RankT]: ...
@overload
def full(shape: "ShapeLike[J]", fill_value: F) -> View[F, J]: ...
@overload
def full(shape: RankT, fill_value: object, *, dtype: DTypeLike | None = ...) -> View[Any, RankT]: ...
@overload
def full(shape: "ShapeLike[J]", fill_value: object, *, dtype: DTypeLike | None = ...) -> View[Any, J]: ...
def full(shape: ShapeLike, fill_value: object, *, dtype: DTypeLike | None = None) -> View[Any]:
    """Return a view in which every element is `fill_value`; nothing is stored.

    Parameters
    ----------
    shape
        Of any kind; its origins, names and layers are kept.
    fill_value
        A number or a string.
    dtype
        The type of the elements; that of the value if not given.

    Examples
    --------
    >>> from tensorwrapper import selection as sel
    >>> sel.full((2, 2), 7).compute().tolist()
    [[7, 7], [7, 7]]
    >>> sel.full(Shape.jagged([2, 0, 1]), 7).compute().tolist()
    [[7, 7], [], [7]]
    """
    given = as_shape(shape)
    if not given.is_box:
        # One element without modes, spread over all indices.
        return full((), fill_value, dtype=dtype).broadcast(given)
    box = box_of(given)
    element: np.dtype[Any] = _type_of(fill_value) if dtype is None else to_element_type(dtype, "TO")
    return generated(box, Filling(box, fit_number(fill_value, element, "fill_value")[()], element), shape)


def _type_of(value: object) -> "np.dtype[Any]":
    if isinstance(value, str):
        return cast("np.dtype[Any]", np.dtypes.StringDType())
    return np.dtype(np.object_) if isinstance(value, bytes) else shown_array(value).dtype


@overload
def zeros(shape: RankT, *, dtype: "DType[F]" = ...) -> View[F, RankT]:
    """Return a view in which every element is 0; nothing is stored."""


@overload
def zeros(shape: "ShapeLike[J]", *, dtype: "DType[F]" = ...) -> View[F, J]: ...
@overload
def zeros(shape: RankT, *, dtype: DTypeLike) -> View[Any, RankT]: ...
@overload
def zeros(shape: "ShapeLike[J]", *, dtype: DTypeLike) -> View[Any, J]: ...
def zeros(shape: ShapeLike, *, dtype: DTypeLike = np.float64) -> View[Any]:
    """Return a view in which every element is 0; nothing is stored."""
    return full(shape, 0, dtype=dtype)


@overload
def ones(shape: RankT, *, dtype: "DType[F]" = ...) -> View[F, RankT]:
    """Return a view in which every element is 1; nothing is stored."""


@overload
def ones(shape: "ShapeLike[J]", *, dtype: "DType[F]" = ...) -> View[F, J]: ...
@overload
def ones(shape: RankT, *, dtype: DTypeLike) -> View[Any, RankT]: ...
@overload
def ones(shape: "ShapeLike[J]", *, dtype: DTypeLike) -> View[Any, J]: ...
def ones(shape: ShapeLike, *, dtype: DTypeLike = np.float64) -> View[Any]:
    """Return a view in which every element is 1; nothing is stored."""
    return full(shape, 1, dtype=dtype)


class Line(TypedDict, total=False):
    """First number and step along a mode."""

    start: complex
    step: complex


@overload
def iota(
    shape: RankT, mode: Integer = -1, *, dtype: "DType[I]" = ..., **line: Unpack[Line]
) -> View[I, RankT]:
    """Return a view that counts along a mode: ``start + step * index[mode]``, by absolute indices."""


@overload
def iota(
    shape: "ShapeLike[J]", mode: Integer = -1, *, dtype: "DType[I]" = ..., **line: Unpack[Line]
) -> View[I, J]: ...
@overload
def iota(shape: RankT, mode: Integer = -1, *, dtype: DTypeLike, **line: Unpack[Line]) -> View[Any, RankT]: ...
@overload
def iota(
    shape: "ShapeLike[J]", mode: Integer = -1, *, dtype: DTypeLike, **line: Unpack[Line]
) -> View[Any, J]: ...
def iota(
    shape: ShapeLike,
    mode: SupportsIndex = -1,
    *,
    start: complex = 0,
    step: complex = 1,
    dtype: DTypeLike = np.int64,
) -> View[Any]:
    """Return a view that counts along a mode: ``start + step * index[mode]``, by absolute indices.

    Raises
    ------
    SizeOverflowError
        If the type cannot hold one of the numbers.
    DTypeError
        If the elements are not numbers; those that are counted may be cast to durations.
    LayerError
        If the shape has layers.

    Examples
    --------
    >>> from tensorwrapper import Shape, selection as sel
    >>> sel.iota(Shape(2, 3, origin=(0, 5)), 1).compute().tolist()
    [[5, 6, 7], [5, 6, 7]]
    >>> sel.iota(Shape.jagged([2, 0, 3]), 1).compute().tolist()
    [[0, 1], [], [0, 1, 2]]
    """
    box = box_of(shape)
    number = mode_of(mode, box.rank)
    element = _counted_type(dtype, "iota")
    steps = tuple([fit_number(step if m == number else 0, element, "step").item() for m in range(box.rank)])
    first = fit_number(start, element, "start").item()
    if box.size:
        # The ends are the first values to overflow.
        origin, extent = box.origin[number], box.extents[number]
        for index in (origin, origin + extent - 1):
            _check_element(first, steps[number], index, element)
    return generated(box, Counting(box, first, steps, element), shape)


def _counted_type(dtype: DTypeLike, name: str) -> "np.dtype[Any]":
    """Return the type that is named, of which elements are counted: numbers."""
    element = to_element_type(dtype)
    if element.kind in "mM":
        raise DTypeError(f"{name} yields numbers, not {element}; use `sel.iota((3,)).astype('m8[s]')`")
    return element


def _check_element(start: complex, step: complex, index: int, element: "np.dtype[Any]") -> None:
    """Raise if the type cannot represent ``start + step * index``, or an intermediate result of it."""
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


@overload
def linspace(start: complex, stop: complex, count: Integer, *, dtype: "DType[F]" = ...) -> View[F, Rank1]:
    """Return a view of rank 1 of `count` numbers, evenly spaced from `start` to `stop`, both included."""


@overload
def linspace(start: complex, stop: complex, count: Integer, *, dtype: DTypeLike) -> View[Any, Rank1]: ...
def linspace(
    start: complex, stop: complex, count: SupportsIndex, *, dtype: DTypeLike = np.float64
) -> View[Any]:
    """Return a view of rank 1 of `count` numbers, evenly spaced from `start` to `stop`, both included.

    Number k is ``start + k * ((stop - start) / (count - 1))``.

    Raises
    ------
    SizeOverflowError
        If the type cannot hold one of the numbers, or of floats the step or the sum of all steps.
    DTypeError
        If the elements are integers, but an end or the step is not.

    Examples
    --------
    >>> from tensorwrapper import selection as sel
    >>> sel.linspace(0, 1, 5)[::2].compute().tolist()
    [0.0, 0.5, 1.0]
    """
    number = to_count(count, "count")
    box = box_of((number,))
    element = _counted_type(dtype, "linspace")
    first = fit_number(start, element, "start").item()
    step: complex = 0
    if number > 1:
        last = fit_number(stop, element, "stop").item()
        if element.kind in "biu":
            step = _whole_step(int(first), int(last), number, element)
        else:
            step = _step(start, stop, number, element)
            _check_element(first, step, number - 1, element)
    return generated(box, Counting(box, first, (step,), element, "linspace"))


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
    # Infinite arguments are allowed; integers are finite, also those beyond 64 bits.
    if np.isinf(step) and all(isinstance(n, int) or np.isfinite(n) for n in (first, last)):
        raise SizeOverflowError(f"the step from {start} to {stop} leaves the range of {element}")
    return cast("complex", fit_number(step, element, "the step").item())


@overload
def eye(
    rows: Integer, columns: Integer | None = None, *, diagonal: Integer = 0, dtype: "DType[F]" = ...
) -> View[F, Rank2]:
    """Return a matrix with ones where ``column - row`` is `diagonal`, and zeros elsewhere."""


@overload
def eye(
    rows: Integer, columns: Integer | None = None, *, diagonal: Integer = 0, dtype: DTypeLike
) -> View[Any, Rank2]: ...
def eye(
    rows: SupportsIndex,
    columns: SupportsIndex | None = None,
    *,
    diagonal: SupportsIndex = 0,
    dtype: DTypeLike = np.float64,
) -> View[Any]:
    """Return a matrix with ones where ``column - row`` is `diagonal`, and zeros elsewhere.

    Examples
    --------
    >>> from tensorwrapper import selection as sel
    >>> sel.eye(2, 3, diagonal=1, dtype="i8").compute().tolist()
    [[0, 1, 0], [0, 0, 1]]
    """
    box = box_of((to_count(rows, "rows"), to_count(rows if columns is None else columns, "columns")))
    return generated(box, Diagonal(box, to_int(diagonal, "a diagonal"), to_element_type(dtype)))


@overload
def compute(shape: RankT, function: CoordinateFunction, *, dtype: "DType[F]" = ...) -> View[F, RankT]:
    """Return a view whose elements a function computes from their absolute indices, part by part."""


@overload
def compute(
    shape: "ShapeLike[J]", function: CoordinateFunction, *, dtype: "DType[F]" = ...
) -> View[F, J]: ...
@overload
def compute(shape: RankT, function: CoordinateFunction, *, dtype: DTypeLike) -> View[Any, RankT]: ...
@overload
def compute(shape: "ShapeLike[J]", function: CoordinateFunction, *, dtype: DTypeLike) -> View[Any, J]: ...
def compute(shape: ShapeLike, function: CoordinateFunction, *, dtype: DTypeLike = np.float64) -> View[Any]:
    """Return a view whose elements a function computes from their absolute indices, part by part.

    Parameters
    ----------
    shape
        Of any kind, without layers; its origins count.
    function
        Called with one int64 array per mode, which broadcast together; returns the elements there, or an
        array that broadcasts to them. The same index must always give the same element.
    dtype
        The type of the elements. Results of the function are cast within their kind when they are computed,
        and checked: `DTypeError` if the kinds differ, `SizeOverflowError` if the type cannot represent an
        element.

    Examples
    --------
    >>> from tensorwrapper import selection as sel
    >>> sel.compute((3, 3), lambda i, j: 10 * i + j, dtype="i8")[1:, ::-2].compute().tolist()
    [[12, 10], [22, 20]]
    """
    if not callable(cast("object", function)):
        raise ConversionError(f"elements are computed by a function of coordinates, not by {brief(function)}")
    box = box_of(shape)
    return generated(box, Computing(box, function, to_element_type(dtype)), shape)


Parameter: TypeAlias = "ViewLike | float"
"""A number, or a view that is broadcast against the shape: one number for each coordinate."""


def _random(
    shape: ShapeLike,
    distribution: Distribution,
    seed: SupportsIndex,
    parameters: Iterable[Parameter],
    dtype: DTypeLike,
) -> View[Any]:
    box = box_of(shape)
    given: list[Any] = []
    for parameter in parameters:
        if isinstance(parameter, bool | int | float | np.generic):
            given.append(parameter)
            continue
        view = as_view(parameter)
        if view.is_nullable:
            raise ConversionError(
                "parameters of random numbers must not be null: `t.fill_null(0)` has numbers"
            )
        try:
            given.append(unnamed_view(view[...].broadcast(box.extents)._expression))
        except ValueError as error:
            raise ExtentMismatchError(
                f"a parameter of shape {view.shape} does not broadcast to {box.extents}: "
                f"{shortened(str(error))}"
            ) from error
    if box.size > MAX_INT64:
        raise SizeOverflowError(
            f"{shortened(str(box))} has {shortened(str(box.size))} places, "
            "more than random numbers are counted by"
        )
    element = type_for(distribution, dtype)
    if not any(isinstance(parameter, Expression) for parameter in given):
        check_parameters(distribution, given, element)
    node = RandomField(box, distribution, check_seed(seed), tuple(given), element)
    return generated(box, node, shape)


@overload
def random(shape: RankT, *, seed: Integer, dtype: "DType[F]" = ...) -> View[F, RankT]:
    """Return a view of random numbers, uniform in [0, 1), that depend on the seed and their index alone."""


@overload
def random(shape: "ShapeLike[J]", *, seed: Integer, dtype: "DType[F]" = ...) -> View[F, J]: ...
@overload
def random(shape: RankT, *, seed: Integer, dtype: DTypeLike) -> View[Any, RankT]: ...
@overload
def random(shape: "ShapeLike[J]", *, seed: Integer, dtype: DTypeLike) -> View[Any, J]: ...
def random(shape: ShapeLike, *, seed: SupportsIndex, dtype: DTypeLike = np.float64) -> View[Any]:
    """Return a view of random numbers, uniform in [0, 1), that depend on the seed and their index alone.

    Any slice, in any order, in one process or many, has the same numbers: each is drawn by a counter, the
    rank of its index in this shape; of rows it is the rank in the box around them. The algorithm is Philox
    4x64-10.

    Examples
    --------
    >>> import numpy as np
    >>> from tensorwrapper import selection as sel
    >>> noise = sel.random((1000, 1000), seed=7)
    >>> np.array_equal(noise[10:20, ::-3].compute(), noise.compute()[10:20, ::-3])
    True
    """
    return uniform(shape, seed=seed, dtype=dtype)


@overload
def uniform(
    shape: RankT, low: Parameter = 0, high: Parameter = 1, *, seed: Integer, dtype: "DType[F]" = ...
) -> View[F, RankT]:
    """Return a view of random numbers, uniform in [low, high); see `random`."""


@overload
def uniform(
    shape: "ShapeLike[J]", low: Parameter = 0, high: Parameter = 1, *, seed: Integer, dtype: "DType[F]" = ...
) -> View[F, J]: ...
@overload
def uniform(
    shape: RankT, low: Parameter = 0, high: Parameter = 1, *, seed: Integer, dtype: DTypeLike
) -> View[Any, RankT]: ...
@overload
def uniform(
    shape: "ShapeLike[J]", low: Parameter = 0, high: Parameter = 1, *, seed: Integer, dtype: DTypeLike
) -> View[Any, J]: ...
def uniform(
    shape: ShapeLike,
    low: Parameter = 0.0,
    high: Parameter = 1.0,
    *,
    seed: SupportsIndex,
    dtype: DTypeLike = np.float64,
) -> View[Any]:
    """Return a view of random numbers, uniform in [low, high); see `random`."""
    return _random(shape, "uniform", seed, (low, high), dtype)


@overload
def normal(
    shape: RankT, mean: Parameter = 0, sigma: Parameter = 1, *, seed: Integer, dtype: "DType[F]" = ...
) -> View[F, RankT]:
    """Return a view of random numbers of the normal distribution; see `random`."""


@overload
def normal(
    shape: "ShapeLike[J]",
    mean: Parameter = 0,
    sigma: Parameter = 1,
    *,
    seed: Integer,
    dtype: "DType[F]" = ...,
) -> View[F, J]: ...
@overload
def normal(
    shape: RankT, mean: Parameter = 0, sigma: Parameter = 1, *, seed: Integer, dtype: DTypeLike
) -> View[Any, RankT]: ...
@overload
def normal(
    shape: "ShapeLike[J]", mean: Parameter = 0, sigma: Parameter = 1, *, seed: Integer, dtype: DTypeLike
) -> View[Any, J]: ...
def normal(
    shape: ShapeLike,
    mean: Parameter = 0.0,
    sigma: Parameter = 1.0,
    *,
    seed: SupportsIndex,
    dtype: DTypeLike = np.float64,
) -> View[Any]:
    """Return a view of random numbers of the normal distribution; see `random`."""
    return _random(shape, "normal", seed, (mean, sigma), dtype)


@overload
def integers(
    shape: RankT, low: Parameter, high: Parameter, *, seed: Integer, dtype: "DType[I]" = ...
) -> View[I, RankT]:
    """Return a view of random integers, uniform in [low, high); see `random`."""


@overload
def integers(
    shape: "ShapeLike[J]", low: Parameter, high: Parameter, *, seed: Integer, dtype: "DType[I]" = ...
) -> View[I, J]: ...
@overload
def integers(
    shape: RankT, low: Parameter, high: Parameter, *, seed: Integer, dtype: DTypeLike
) -> View[Any, RankT]: ...
@overload
def integers(
    shape: "ShapeLike[J]", low: Parameter, high: Parameter, *, seed: Integer, dtype: DTypeLike
) -> View[Any, J]: ...
def integers(
    shape: ShapeLike, low: Parameter, high: Parameter, *, seed: SupportsIndex, dtype: DTypeLike = np.int64
) -> View[Any]:
    """Return a view of random integers, uniform in [low, high); see `random`."""
    return _random(shape, "integers", seed, (low, high), dtype)


@overload
def bernoulli(shape: RankT, p: Parameter = 0.5, *, seed: Integer) -> View[np.bool_, RankT]:
    """Return a view of random bools, each true with probability `p`; see `random`."""


@overload
def bernoulli(shape: "ShapeLike[J]", p: Parameter = 0.5, *, seed: Integer) -> View[np.bool_, J]: ...
def bernoulli(shape: ShapeLike, p: Parameter = 0.5, *, seed: SupportsIndex) -> View[Any]:
    """Return a view of random bools, each true with probability `p`; see `random`."""
    return _random(shape, "bernoulli", seed, (p,), np.bool_)


if not TYPE_CHECKING:
    full, zeros, ones, linspace, eye = map(answered, (full, zeros, ones, linspace, eye))
    random, uniform, integers = map(answered, (random, uniform, integers))
