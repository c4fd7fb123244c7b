"""What NumPy raises while it computes, as errors of this package that are also the builtin it raised."""

from collections.abc import Generator
from contextlib import contextmanager

from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    ExtentError,
    OutOfBoundsError,
    SizeOverflowError,
    TensorWrapperError,
)

__all__ = ["refusals"]


@contextmanager
def refusals(name: str) -> Generator[None]:
    """Turn exceptions of NumPy into ours; FloatingPointError, which ``errstate`` asks for, passes."""
    try:
        yield
    except (TensorWrapperError, FloatingPointError):
        raise
    except IndexError as error:
        raise OutOfBoundsError(f"{name}: {error}") from error
    except OverflowError as error:
        raise SizeOverflowError(f"{name}: {error}") from error
    except TypeError as error:
        # A call with options that the method does not know is no matter of types.
        asked = "argument" in str(error) and "loop" not in str(error)
        raise (ConversionError if asked else DTypeError)(f"{name}: {error}") from error
    except ValueError as error:
        raise ExtentError(f"{name}: {error}") from error
