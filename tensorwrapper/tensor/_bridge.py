"""The one way up from tensors: calls whose results live on floors above, which are loaded when asked.

They are loaded by name, so that no import points up.
"""

import importlib
from typing import Any, Final, Literal

__all__ = ["FOREIGN", "hand_over", "join_lazily", "padded", "read_foreign", "view_of"]

FOREIGN: Final = frozenset(("awkward", "pandas", "pyarrow", "torch"))
"""Libraries whose objects say more than an array of them would: nesting, nulls, types that NumPy lacks."""


def join_lazily(
    name: Literal["where", "concat", "stack"],
    *operands: Any,  # noqa: ANN401 - as NumPy gives them
    **options: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401 - a view
    """Return the view that chooses among operands, or joins them, for NumPy's function of that name."""
    return getattr(importlib.import_module("tensorwrapper.selection"), name)(*operands, **options)


def padded(tensor: Any, widths: Any, **options: Any) -> Any:  # noqa: ANN401 - as `Tensor.pad` says
    """Return the view that goes on beyond the ends of a tensor."""
    return importlib.import_module("tensorwrapper.selection").pad(tensor, widths, **options)


def view_of(tensor: Any) -> Any:  # noqa: ANN401 - a view
    """Return the view of a tensor."""
    return importlib.import_module("tensorwrapper.selection").as_view(tensor)


def read_foreign(value: Any, copy: bool | None) -> Any:  # noqa: ANN401, FBT001 - a tensor of what another library has
    """Return an object of one of the `FOREIGN` libraries as a tensor; None if it is like an array."""
    return importlib.import_module("tensorwrapper.interop").read_foreign(value, copy=copy)


def hand_over(call: str, tensor: Any, *given: Any, **options: Any) -> Any:  # noqa: ANN401 - of another library
    """Return what the call of this name makes of a tensor or view."""
    return getattr(importlib.import_module("tensorwrapper.interop"), call)(tensor, *given, **options)
