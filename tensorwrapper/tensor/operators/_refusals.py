"""Exceptions of NumPy's computations, as errors that also derive from the original class."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from tensorwrapper._arguments import also
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    ExtentError,
    OutOfBoundsError,
    RankError,
    SizeOverflowError,
    TensorWrapperError,
)


@contextmanager
def refusals(name: str) -> Generator[None]:
    """Convert exceptions of NumPy to errors of this package.

    Exceptions that callers catch by name pass: FloatingPointError (``errstate``), LinAlgError.
    """
    try:
        yield
    except (TensorWrapperError, FloatingPointError, np.linalg.LinAlgError):
        raise
    except np.exceptions.AxisError as error:
        raise also(RankError(f"{name}: {error}"), np.exceptions.AxisError) from error
    except IndexError as error:
        raise OutOfBoundsError(f"{name}: {error}") from error
    except OverflowError as error:
        raise SizeOverflowError(f"{name}: {error}") from error
    except TypeError as error:
        # A call with options that the method does not know is not a matter of types.
        text = str(error)
        if "loop" in text or "could not be safely coerced" in text:
            raise DTypeError(
                f"{name}: NumPy does not compute this for elements of these types{_types(error)}: {_CAST}"
            ) from error
        raise (ConversionError if "argument" in text else DTypeError)(
            f"{name}: {_once(text, name)}"
        ) from error
    except ValueError as error:
        text = _once(str(error), name)
        if "negative integer powers" in text:
            power = DTypeError(f"{name}: integers to negative powers are not integers: {_POWER}")
            raise also(power, ValueError) from error
        if name == "matmul":
            text = f"{_MATMUL}: {text}"
        raise ExtentError(f"{name}: {text}") from error


_CAST: Final = (
    "`t.astype('i8')` converts them, and `np.strings.add(st, st)` and similar functions compute on texts"
)
_POWER: Final = "`t.astype('f8') ** -1` has fractions"
_MATMUL: Final = "`t @ t.permute(1, 0)` multiplies matrices, `t * 2` each element"


def _types(error: TypeError) -> str:
    """Return the types that an error of a ufunc is about, where it says."""
    dtypes: tuple[Any, ...] = getattr(error, "dtypes", ())
    kinds = [kind.__name__.lstrip("_") if isinstance(kind, type) else str(kind) for kind in dtypes if kind]
    return f" ({', '.join(kinds)})" if kinds else ""


def _once(text: str, name: str) -> str:
    return text.removeprefix(f"{name}: ")
