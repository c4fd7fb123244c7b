"""Objects of other libraries as tensors: which function reads what."""

from typing import Any

from tensorwrapper.interop._awkward import from_awkward
from tensorwrapper.interop._pandas import from_pandas
from tensorwrapper.interop._torch import from_torch
from tensorwrapper.tensor import Tensor, as_tensor

__all__ = ["read_foreign"]


def read_foreign(value: object, *, copy: bool | None = None) -> Tensor[Any] | None:
    """Return an object of Awkward Array, Arrow, pandas or PyTorch as a tensor; None if it is none of these.

    `as_tensor` asks this first, so that users need not.
    """
    given: Any = value
    match type(value).__module__.partition(".")[0], type(value).__name__:
        case "awkward", "Array":
            return from_awkward(given, copy=copy)
        case "pandas", "DataFrame":
            return from_pandas(given, copy=copy)
        case "pandas", _ if hasattr(value, "isna"):
            return from_pandas(given, copy=copy)
        case "pyarrow", "ChunkedArray":
            return as_tensor(given.combine_chunks(), copy=copy)
        case "torch", _ if hasattr(value, "is_nested"):
            return from_torch(given, copy=copy)
        case _:
            return None
