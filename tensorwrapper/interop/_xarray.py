"""Convert to xarray: names of modes are dims, origins are coordinates. `as_tensor` reads them."""

from typing import TYPE_CHECKING

import numpy as np

from tensorwrapper.interop._duck import as_duck
from tensorwrapper.interop._operand import TensorLike, check_unit, times_in_range
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import IntArray

if TYPE_CHECKING:
    import xarray as xr


def to_xarray(value: TensorLike) -> "xr.DataArray":
    """Return the tensor or view as a `DataArray`; a tensor's memory is shared, a view is not read. O(rank).

    Names of modes are its dims (``dim_0`` and so on where there is none). A mode that does not start at zero
    has its indices as coordinate. `as_tensor` and `as_view` restore both.

    Raises
    ------
    ConversionError
        If the tensor is not a box, is sparse, or has strings.
    DTypeError
        If it has times that xarray would cut to nanoseconds.
    SizeOverflowError
        If it has times beyond those that pandas counts in seconds.
    ModuleNotFoundError
        If xarray is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> import tensorwrapper as tw
    >>> t = tw.as_tensor(np.arange(6.0).reshape(2, 3)).named("plane", "wire")
    >>> array = t.window(t.shape[1:, 1:]).to_xarray()
    >>> array.coords["wire"].values.tolist(), tw.as_tensor(array).shape
    ([1, 2], Shape(1, 2, origin=(1, 1)).named('plane', 'wire'))
    """
    import xarray as xr  # noqa: PLC0415 - heavy, and not needed for the rest

    shape = value.shape
    duck = as_duck(value)
    check_unit(duck.dtype, "xarray")
    data = np.asarray(duck) if isinstance(duck.value, Tensor) else duck
    dims = [name or f"dim_{mode}" for mode, name in enumerate(shape.names)]
    coords: dict[str, IntArray] = {}
    for dim, first, extent in zip(dims, shape.origin, shape.extents, strict=True):
        if first:
            coords[dim] = np.arange(first, first + extent)
    with times_in_range(duck.dtype, "xarray"):
        return xr.DataArray(data, coords, dims)
