"""`StoredBuffer`: elements of the sources of stored views, which are opened on access."""

# Fields of frozen classes implement properties of the base class.
# pyright: reportIncompatibleMethodOverride=false

from collections.abc import Callable
from typing import Any, Final, Generic, cast, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._value_class import frozen
from tensorwrapper.buffer import BufferCommon, Dense
from tensorwrapper.errors import DataFileError, ReadOnlyError
from tensorwrapper.selection import View, as_view
from tensorwrapper.selection.lowlevel import expression_of
from tensorwrapper.store.records._concatenated import Elements, read_by_part, read_run_by_part
from tensorwrapper.store.records._pieces import run_of
from tensorwrapper.store.views._open_sources import SourceScope
from tensorwrapper.store.views._sources import FileSource, Stored
from tensorwrapper.tensor import Tensor, from_buffer
from tensorwrapper.typing import Array, IntArray, ScalarT_co

_AT_HAND: Final = 256
"""Number of sources kept open."""


@final
@frozen(eq=False)
class _OfView:
    """The elements of a view, computed on access."""

    flat: "View[Any]"

    def read(self, addresses: IntArray) -> Array:
        return self.flat.gather(0, addresses.reshape(-1)).compute().elements().reshape(addresses.shape)

    def read_run(self, start: int, stop: int) -> Array:
        return self.flat[start:stop].compute().elements()


def same_elements(found: Any) -> "Tensor[Any] | View[Any]":  # noqa: ANN401 - what sources are opened to
    """Return the tensor of a view of a whole tensor; other views unchanged."""
    if isinstance(found, Tensor):
        return cast("Tensor[Any]", found)
    view = as_view(found)
    expression = expression_of(view)
    tensor = expression.node.tensor
    return view if tensor is None or expression.layout is not tensor.layout else tensor


@final
@frozen(eq=False)
class StoredBuffer(BufferCommon[ScalarT_co], Generic[ScalarT_co]):
    """Concatenated elements of tensors in other files or on servers; read-only.

    Reading an element opens its source, and compares the version.
    """

    source: Stored
    way: SourceScope
    dtype: "np.dtype[ScalarT_co]"
    ends: IntArray
    _opened: "dict[int, Elements]" = attrs.field(factory=dict[int, "Elements"], init=False, repr=False)

    @property
    def size(self) -> int:
        return int(self.ends[-1])

    @property
    def is_readonly(self) -> bool:
        return True

    @property
    def filename(self) -> str | None:
        source = self.source
        return source.path if isinstance(source, FileSource) else None

    def as_readonly(self) -> "StoredBuffer[ScalarT_co]":
        return self

    def read(self, addresses: IntArray) -> "npt.NDArray[ScalarT_co]":
        return read_by_part(self.ends, addresses, self.dtype, self._open)

    def read_run(self, start: int, stop: int) -> "npt.NDArray[ScalarT_co]":
        return read_run_by_part(self.ends, start, stop, self.dtype, self._open)

    def write(self, addresses: IntArray, values: Array) -> None:  # noqa: ARG002 - it refuses
        raise ReadOnlyError("sources of stored views are read-only; copy() returns a writable tensor")

    def _open(self, number: int) -> Elements:
        known = self._opened.get(number)
        if known is not None:
            return known
        member = self.source.member(number)
        found = same_elements(self.way.open(member))
        if found.dtype != self.dtype or not self.source.fits(number, found.shape):
            raise DataFileError(
                f"{self.way.path}: the source {member.name!r} of a view is now {found.shape} of {found.dtype}"
            )
        elements: Elements
        if isinstance(found, Tensor):
            elements = run_of(found)
        else:
            flat: View[Any] = found.reshape((found.shape.size,)) if found.shape.is_box else found
            while flat.rank > 1:
                flat = flat.flatten()
            elements = _OfView(flat)
        if len(self._opened) >= _AT_HAND:
            # If another thread clears the cache, only one more source is opened.
            self._opened.clear()
        self._opened[number] = elements
        return elements

    def __reduce__(self) -> "tuple[Callable[..., Dense[Any]], tuple[Array]]":
        # Other processes do not have these files open.
        return Dense, (self.read_run(0, self.size),)


def lazy_tensor(source: Stored, way: SourceScope) -> Tensor[Any]:
    """Return a lazy tensor over sources with known shape and dtype."""
    shape, dtype = source.shape, source.dtype
    if shape is None or dtype is None:
        raise DataFileError(f"{way.path}: a source of a view lacks its shape")
    return from_buffer(StoredBuffer(source, way, dtype, source.ends), shape)
