"""Views of random numbers: each is drawn by its index and the seed alone."""

# pyright: reportInvalidTypeVarUse=false
# Where no dtype is given, the type variable of the elements has its default.

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias, overload

import numpy as np
from numpy.typing import DTypeLike

from tensorwrapper._error_text import shortened
from tensorwrapper._hints import answered
from tensorwrapper._integers import MAX_INT64
from tensorwrapper.errors import ExtentMismatchError, SizeOverflowError
from tensorwrapper.selection._view import View
from tensorwrapper.selection.expressions._expression import Expression, unnamed_view
from tensorwrapper.selection.expressions._generators import RandomField
from tensorwrapper.selection.functions._build import ViewLike, as_view
from tensorwrapper.selection.functions._generate import box_of, generated
from tensorwrapper.selection.random._parameters import (
    Distribution,
    check_parameters,
    check_seed,
    to_element_type,
)
from tensorwrapper.shape import ShapeLike
from tensorwrapper.typing import DType, Integer, RankT
from tensorwrapper.typing import Float64T as F
from tensorwrapper.typing import IndexT_co as J
from tensorwrapper.typing import Int64T as I

__all__ = ["Parameter", "bernoulli", "integers", "normal", "random", "uniform"]

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
    element = to_element_type(distribution, dtype)
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
    random, uniform, integers = map(answered, (random, uniform, integers))
