"""Parameters of the distributions, checked before a number is drawn."""

import functools
import math
from collections.abc import Sequence
from typing import Any, Final, Literal, SupportsIndex, assert_never, cast, get_args

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tensorwrapper._integers import to_int
from tensorwrapper.errors import ConversionError, DistributionError, DTypeError, ExtentMismatchError

ALGORITHM: Final = "philox4x64-10"
"""The name of the generator, for the description of a random field."""

Distribution = Literal["uniform", "normal", "integers", "bernoulli"]

DISTRIBUTIONS: Final[tuple[Distribution, ...]] = get_args(Distribution)

Parameter = float | SupportsIndex | NDArray[np.generic]
"""A number, or an array of them that is broadcast against the ranks."""

Parameters = tuple[NDArray[np.generic], ...]
"""Checked parameters, in native order, of rank 0 for single numbers."""

_NAMES: Final[dict[Distribution, tuple[str, ...]]] = {
    "uniform": ("low", "high"),
    "normal": ("mean", "sigma"),
    "integers": ("low", "high"),
    "bernoulli": ("p",),
}
_MAX_NORMAL: Final = 9.0
"""No standard number exceeds 8.58: with room for nine none can become infinite."""

_KINDS: Final[dict[Distribution, tuple[str, str]]] = {
    "uniform": ("f", "float64"),
    "normal": ("f", "float64"),
    "integers": ("iu", "int64"),
    "bernoulli": ("b", "bool"),
}


def check_seed(seed: SupportsIndex) -> int:
    """Return `seed` as a Python integer from 0 to 2**64."""
    number = to_int(seed, "a seed")
    if not 0 <= number < 2**64:
        raise DistributionError(f"a seed must be from 0 to 2**64 - 1, but is {number}")
    return number


def type_for(distribution: Distribution, dtype: DTypeLike | None) -> np.dtype[np.generic]:
    """Return the dtype that numbers of `distribution` are to have; without one, the widest."""
    if distribution not in DISTRIBUTIONS:
        raise DistributionError(f"a distribution must be one of {DISTRIBUTIONS}, not {distribution!r}")
    kinds, default = _KINDS[distribution]
    try:
        given = np.dtype(default if dtype is None else dtype)
    except TypeError as error:
        raise DTypeError(f"{dtype!r} is not an element type") from error
    if given.kind not in kinds or (given.kind == "f" and given.itemsize not in {4, 8}):
        allowed = {"f": "float32 or float64", "iu": "any integer type", "b": "bool"}[kinds]
        raise DTypeError(f"elements of the distribution {distribution!r} are {allowed}, not {given}")
    return given


def _to_floats(value: Parameter, what: str, dtype: np.dtype[np.generic]) -> NDArray[np.floating[Any]]:
    """Return `value` as finite numbers of type `dtype`."""
    given = np.asarray(value if isinstance(value, np.ndarray | np.generic | int | float) else None)
    if given.dtype.kind not in "iuf":
        raise ConversionError(f"{what} must be a number or an array of numbers, not {value!r}")
    with np.errstate(over="ignore"):
        numbers = cast("NDArray[np.floating[Any]]", given.astype(dtype))
    _refuse(np.asarray(~np.isfinite(numbers)), f"{what} must be finite as {dtype.name}, but is {{}}", given)
    return numbers


def _refuse(bad: NDArray[np.bool_], text: str, *values: object) -> None:
    """Raise an error with the values at the first place that is marked as bad, if there is one."""
    if bad.any():
        place = int(np.argmax(bad))
        shown = (np.broadcast_to(np.asarray(value), bad.shape).flat[place] for value in values)
        raise DistributionError(text.format(*shown))


def _check_uniform(dtype: np.dtype[np.generic], low_given: Parameter, high_given: Parameter) -> Parameters:
    """Return low, high - low, and the last number below high."""
    low, high = _to_floats(low_given, "low", dtype), _to_floats(high_given, "high", dtype)
    wrong = f"low must be less than high as {dtype.name}, but they are {{}} and {{}}"
    _refuse(np.asarray(low >= high), wrong, low, high)
    with np.errstate(over="ignore"):
        width = np.asarray(high - low)
    wrong = f"high - low must be finite as {dtype.name}, but low is {{}} and high is {{}}"
    _refuse(np.asarray(~np.isfinite(width)), wrong, low, high)
    return low, width, np.asarray(np.nextafter(high, low))


def _check_normal(dtype: np.dtype[np.generic], mean_given: Parameter, sigma_given: Parameter) -> Parameters:
    """Return mean and sigma, of 64 bits for any `dtype`."""
    wide = np.dtype(np.float64)
    mean, sigma = _to_floats(mean_given, "mean", wide), _to_floats(sigma_given, "sigma", wide)
    _refuse(np.asarray(sigma < 0), "sigma must not be negative, but is {}", sigma)
    limit = float(np.finfo(np.float32 if dtype.itemsize == 4 else np.float64).max)
    far = np.abs(mean) / limit + sigma / limit * _MAX_NORMAL >= 1.0
    wrong = f"mean + 9 sigma must be finite as {dtype.name}, but mean is {{}} and sigma is {{}}"
    _refuse(np.asarray(far), wrong, mean, sigma)
    return mean, sigma


def _to_integers(value: Parameter, what: str) -> int | NDArray[np.integer[Any]]:
    if not isinstance(value, np.ndarray) or not value.ndim:
        # The checkers let a float pass for an integer; to_int does not.
        return to_int(cast("SupportsIndex", value), what)
    given = cast("NDArray[np.integer[Any]]", value)
    if given.dtype.kind not in "iu":
        raise ConversionError(f"{what} must be integers, not elements of type {given.dtype}")
    return given


def _modulo(value: int | NDArray[np.integer[Any]]) -> NDArray[np.uint64]:
    """Return `value` modulo 2**64."""
    return np.asarray(value % 2**64, np.uint64) if isinstance(value, int) else value.astype(np.uint64)


def _check_integers(dtype: np.dtype[np.generic], low_given: Parameter, high_given: Parameter) -> Parameters:
    """Return low and high - low, both modulo 2**64."""
    low, high = _to_integers(low_given, "low"), _to_integers(high_given, "high")
    bad = np.asarray(np.greater_equal(low, high), np.bool_)
    _refuse(bad, "low must be less than high, but they are {} and {}", low, high)
    info = np.iinfo(dtype.str)
    wrong = f"integers from low to high must fit into {dtype.name}, but low is {{}} and high is {{}}"
    outside = np.asarray(np.less(low, int(info.min)), np.bool_) | np.asarray(
        np.greater(high, int(info.max) + 1), np.bool_
    )
    _refuse(outside, wrong, low, high)
    return _modulo(low), _modulo(high) - _modulo(low)


def _check_bernoulli(p_given: Parameter) -> Parameters:
    p = _to_floats(p_given, "p", np.dtype(np.float64))
    _refuse(np.asarray((p < 0) | (p > 1)), "p must be from 0 to 1, but is {}", p)
    return (p,)


def check_parameters(
    distribution: Distribution, parameters: Sequence[Parameter], dtype: np.dtype[np.generic]
) -> Parameters:
    """Return the parameters of a distribution, or raise an error with the parameter and its value.

    Examples
    --------
    >>> check_parameters("normal", [0, -1], np.dtype("float64"))
    Traceback (most recent call last):
    ...
    tensorwrapper.errors.DistributionError: sigma must not be negative, but is -1.0
    """
    if all(_is_plain(value) for value in parameters):
        return _check_plain(distribution, dtype, *cast("Sequence[float]", parameters))
    return _check_any(distribution, parameters, dtype)


def _is_plain(value: Parameter) -> bool:
    """Return whether a parameter is a number of Python that equals no other: zeros of two signs do."""
    return type(value) is int or (type(value) is float and (value != 0 or math.copysign(1, value) > 0))


@functools.lru_cache(maxsize=64, typed=True)
def _check_plain(distribution: Distribution, dtype: np.dtype[np.generic], *parameters: float) -> Parameters:
    """Return the same for numbers, cached for the blocks of a view."""
    return _check_any(distribution, parameters, dtype)


def _check_any(
    distribution: Distribution, parameters: Sequence[Parameter], dtype: np.dtype[np.generic]
) -> Parameters:
    names = _NAMES[distribution]
    if len(parameters) != len(names):
        raise DistributionError(
            f"the distribution {distribution!r} has {names}, not {len(parameters)} parameters"
        )
    shapes = [
        cast("NDArray[np.generic]", value).shape for value in parameters if isinstance(value, np.ndarray)
    ]
    try:
        np.broadcast_shapes(*shapes)
    except ValueError as error:
        raise ExtentMismatchError(f"parameters of shapes {shapes} do not fit one another") from error
    native = dtype.newbyteorder("=")
    match distribution:
        case "uniform":
            return _check_uniform(native, *parameters)
        case "normal":
            return _check_normal(native, *parameters)
        case "integers":
            return _check_integers(native, *parameters)
        case "bernoulli":
            return _check_bernoulli(*parameters)
        case _:
            assert_never(distribution)
