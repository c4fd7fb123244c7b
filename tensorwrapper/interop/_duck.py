"""A tensor or view with the interface of arrays: extents as a tuple, indices from zero."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast, final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.lowlevel import holds_strings
from tensorwrapper.errors import ConversionError
from tensorwrapper.interop._operand import TensorLike, part_or_view
from tensorwrapper.typing import Array, Extents, PositionalKey


def as_duck(value: TensorLike) -> "DuckArray":
    """Return the tensor or view as a duck array, which reads elements only on access; O(1).

    ``dask.array.from_array``, xarray and zarr accept it.

    Raises
    ------
    ConversionError
        If it is not a box, is sparse, or has strings.

    Examples
    --------
    >>> import numpy as np
    >>> import tensorwrapper as tw
    >>> duck = tw.as_tensor(np.arange(6).reshape(2, 3)).as_duck()
    >>> duck.shape, duck.ndim, np.asarray(duck[:, 1]).tolist()
    ((2, 3), 2, [1, 4])
    """
    value = part_or_view(value)
    shape = value.shape
    if holds_strings(value.dtype):
        raise ConversionError(
            f"arrays of numbers hold no {value.dtype}: to_arrow() has strings, and to_numpy_strings() those "
            "of a box as NumPy knows them"
        )
    if value.is_sparse:
        raise ConversionError(
            f"a sparse tensor of shape {shape!r} is not an array: to_dense() has all its elements"
        )
    if not shape.is_box:
        raise ConversionError(
            f"a tensor of shape {shape!r} is not an array: to_padded() fills its rows, cells() has its parts"
        )
    return DuckArray(value)


@final
@frozen(eq=False)
class DuckArray(np.lib.mixins.NDArrayOperatorsMixin):
    """Result of `as_duck`: ``value`` is the tensor or view."""

    value: TensorLike

    @property
    def shape(self) -> Extents:
        """The extents."""
        extents: Extents = self.value.shape.extents
        return extents

    @property
    def ndim(self) -> int:
        """The number of modes."""
        return self.value.rank

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The type of the elements."""
        return self.value.dtype

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.value.size

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self.value.size * self.value.dtype.itemsize

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, key: PositionalKey) -> "DuckArray":
        return DuckArray(self.value[key])

    def __array__(self, dtype: "np.dtype[Any] | None" = None, copy: bool | None = None) -> Array:  # noqa: FBT001
        return self.value.__array__(dtype, copy)

    def __array_function__(
        self,
        function: Callable[..., object],
        types: Iterable[type],
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
    ) -> object:
        """Read the elements, and call the NumPy function on them."""
        return function(*_read(list(args)), **{name: _read(value) for name, value in kwargs.items()})

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **options: object) -> object:
        return getattr(ufunc, method)(*_read(list(inputs)), **options)

    def __dask_tokenize__(self) -> object:
        return ("tensorwrapper.DuckArray", self.value)


def _read(value: Any) -> Any:  # noqa: ANN401 - arguments of NumPy's functions, in lists or not
    """Return arguments with duck arrays replaced by arrays."""
    if isinstance(value, DuckArray):
        return np.asarray(value)
    if isinstance(value, list | tuple):
        given = cast("list[object] | tuple[object, ...]", value)
        return type(given)([_read(item) for item in given])
    return value
