"""The one way up from tensors: calls whose results live on floors above, which are loaded when asked.

They are loaded by name, so that no import points up.
"""

import importlib
from typing import Any, Literal

__all__ = ["join_lazily", "padded", "view_of"]


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
