"""The type of elements that a caller names."""

from typing import Any, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import to_dtype
from tensorwrapper.buffer.lowlevel import check_dtype
from tensorwrapper.errors import DTypeError

__all__ = ["to_element_type"]


def to_element_type(dtype: npt.DTypeLike, text: str = "T") -> "np.dtype[Any]":
    """Return the type that is named, which tensors must be able to hold.

    NumPy's `StringDType` is that of text, without nulls or with None for one; where `text` is ``"TO"``,
    objects are allowed: they are bytes. Where it is empty, both are refused: numbers become no text.

    Raises
    ------
    DTypeError
        If it is not a type, or tensors have no such elements.
    """
    found = to_dtype(dtype)
    if found.kind not in text:
        check_dtype(found)
    if found.kind != "T":
        return found
    missing = getattr(found, "na_object", None)
    if missing is not None:
        raise DTypeError(f"{found!r}: a null is None here, and not {missing!r}")
    plain = not hasattr(found, "na_object")
    return cast("np.dtype[Any]", np.dtypes.StringDType() if plain else np.dtypes.StringDType(na_object=None))
