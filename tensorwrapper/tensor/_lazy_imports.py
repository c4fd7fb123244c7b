"""Calls from tensors into higher layers, which are imported on use.

They are loaded by name, so that no import points up.
"""

import importlib
from typing import Any, Final, Literal, cast

from tensorwrapper._lazy import naming_extras
from tensorwrapper.errors import StringDataError, TensorWrapperError
from tensorwrapper.typing import NullRows

FOREIGN: Final = {
    "awkward": "from_awkward",
    "h5py": "from_lazy",
    "pandas": "from_pandas",
    "polars": "from_arrow",
    "pyarrow": "from_arrow",
    "tensorstore": "from_lazy",
    "torch": "from_torch",
    "zarr": "from_lazy",
}
"""Libraries whose objects say more than an array of them would (nesting, nulls, names, types that NumPy
lacks), and which call of ``tensorwrapper.interop`` reads them."""

_HAS_NULLS: Final = ("from_arrow", "from_awkward", "from_pandas")
"""Calls that support nulls."""


_WITH_NULLS: Final = frozenset(("awkward", "pandas", "polars", "pyarrow"))
"""Libraries whose arrays may have nulls."""


def join_lazily(
    name: Literal["where", "concat", "stack"],
    *operands: Any,  # noqa: ANN401 - as NumPy gives them
    **options: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401 - a view
    """Return the view that chooses among operands, or joins them, for NumPy's function of that name."""
    return getattr(importlib.import_module("tensorwrapper.selection"), name)(*operands, **options)


def padded(tensor: Any, widths: Any, **options: Any) -> Any:  # noqa: ANN401 - as `Tensor.pad` says
    """Return the padded view of a tensor."""
    return importlib.import_module("tensorwrapper.selection").pad(tensor, widths, **options)


def view_of(tensor: Any) -> Any:  # noqa: ANN401 - a view
    """Return the view of a tensor."""
    return importlib.import_module("tensorwrapper.selection").as_view(tensor)


def read_foreign(value: object, copy: bool | None, null_rows: NullRows) -> Any:  # noqa: ANN401, FBT001 - a tensor of what another library has
    """Return an object of a `FOREIGN` library as a tensor; None for other objects."""
    call = FOREIGN.get(type(value).__module__.partition(".")[0])
    # Names for extents (``torch.Size``) are the tuples that they are.
    if call is None or isinstance(value, tuple):
        return None
    more = {"null_rows": null_rows} if call in _HAS_NULLS else {}
    return getattr(importlib.import_module("tensorwrapper.interop"), call)(value, copy=copy, **more)


def may_have_nulls(value: object) -> bool:
    """Return True for arrays of a library that knows nulls."""
    return type(value).__module__.partition(".")[0] in _WITH_NULLS


def with_its_nulls(value: Any) -> Any:  # noqa: ANN401 - whatever it is
    """Return the tensor of another library's array with nulls; other values unchanged.

    NumPy would convert nulls to NaN or None.
    """
    if not may_have_nulls(value):
        return value
    try:
        found = read_foreign(value, None, "refuse")
    except TensorWrapperError:
        return value
    return found if found is not None and found.is_nullable else value


def nullable_of(items: object) -> Any:  # noqa: ANN401 - a tensor
    """Return a list with None, or a masked array, as a nullable tensor; a list of nulls alone is refused."""
    creation = importlib.import_module("tensorwrapper.tensor")
    try:
        found = creation.strings(items)
    except StringDataError:
        raise  # of text that is not Unicode
    except TensorWrapperError:
        return creation.as_tensor(items)
    is_typed = found.null_count < found.size or has_tensor(items)
    return found if is_typed else creation.as_tensor(items)


def has_tensor(items: object) -> bool:
    """Return True if there is a tensor or view in lists; its nulls have a type."""
    if isinstance(items, list | tuple):
        return any(map(has_tensor, cast("list[object]", items)))
    return hasattr(type(items), "_as_operand")


def hand_over(call: str, tensor: Any, *given: Any, **options: Any) -> Any:  # noqa: ANN401 - of another library
    """Return the result of the call of this name for a tensor or view."""
    with naming_extras():
        return getattr(importlib.import_module("tensorwrapper.interop"), call)(tensor, *given, **options)
