"""`Symmetric`: the elements of a symmetric box, of which each orbit is stored once."""

import math
from collections.abc import Callable
from typing import Any, ClassVar, Generic, cast, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import file_beneath, frozen_values
from tensorwrapper._integers import MAX_INT64
from tensorwrapper._memory import memory_for, new_memory
from tensorwrapper._value_class import value_class
from tensorwrapper.buffer._casts import convert_elements, equal_elements
from tensorwrapper.buffer._common import BufferCommon, Dense
from tensorwrapper.buffer._elements import check_dtype
from tensorwrapper.buffer.copies._copy import copy_elements
from tensorwrapper.buffer.copies._symmetric_copy import elements_at, unpack_box
from tensorwrapper.buffer.symmetric._parts import part_of, symmetry_of_part
from tensorwrapper.errors import (
    BufferSizeError,
    ConversionError,
    DTypeError,
    ReadOnlyError,
    SizeOverflowError,
    SymmetryError,
)
from tensorwrapper.layout import LayoutCommon
from tensorwrapper.shape import Symmetry
from tensorwrapper.shape.lowlevel import columns_of, fold_columns
from tensorwrapper.typing import Array, Extents, IntArray
from tensorwrapper.typing import ScalarT_co as S

_CHUNK = 1 << 18  # elements at a time


def symmetry_for(symmetry: Symmetry, dtype: "np.dtype[Any]") -> Symmetry:
    """Return the meaning of a symmetry for elements of a type: only complex numbers are conjugated.

    Raises
    ------
    DTypeError
        If elements are strings, or have no negatives and the symmetry has some.
    SymmetryError
        If only zeros have the symmetry.

    Examples
    --------
    >>> symmetry_for(Symmetry.parse("h2"), np.dtype("f8"))
    Symmetry.parse('s2')
    """
    check_dtype(dtype)
    own = symmetry if dtype.kind == "c" else symmetry.real
    if own.is_zero:
        raise SymmetryError(f"only zeros of type {dtype} have the symmetry {symmetry}")
    if dtype.kind not in "ifcmV" and own.positive != own:
        raise DTypeError(f"elements of type {dtype} have no negatives, which the symmetry {symmetry} needs")
    return own


@final
@value_class(eq=False, repr=False, getstate_setstate=False)
class Symmetric(BufferCommon[S], Generic[S]):
    """The elements of a box at its row-major addresses, of which each orbit of a symmetry is stored once.

    Reading folds an address into its packed place, O(1) per element for groups of neighbouring modes, and
    changes the sign or conjugates. The buffer is read-only: one write would change several elements. Its
    `values` are written to instead, and every tensor over the buffer sees that.

    Parameters
    ----------
    values
        The packed elements, a flat array; it is not copied.
    symmetry
        The symmetry of the box. Real elements drop its conjugations.
    extents
        The extents of the box.

    Raises
    ------
    BufferSizeError
        If there is another number of values than of packed elements.
    ExtentMismatchError, RankError
        If the extents do not fit the symmetry.
    DTypeError, SymmetryError
        If elements of this type cannot have the symmetry.
    SizeOverflowError
        If the box has more than 2**63 - 1 elements.

    Examples
    --------
    >>> import numpy as np
    >>> from tensorwrapper import Symmetry
    >>> from tensorwrapper.buffer import Symmetric
    >>> buffer = Symmetric(np.array([1.0, 2.0, 3.0]), Symmetry.parse("s2"), (2, 2))
    >>> buffer.size, buffer.read(np.arange(4)).tolist()
    (4, [1.0, 2.0, 2.0, 3.0])
    """

    stores_orbits: ClassVar[bool] = True

    values: "npt.NDArray[S]"
    """The packed elements: flat memory, which may be written to."""
    symmetry: Symmetry
    """The symmetry of the box."""
    extents: Extents
    """The extents of the box."""

    def __init__(self, values: "npt.NDArray[S]", symmetry: Symmetry, extents: Extents) -> None:
        own = symmetry_for(symmetry, values.dtype)
        count = own.count(extents)
        if math.prod(extents) > MAX_INT64:
            raise SizeOverflowError(f"a box of extents {extents} has more elements than 64 bits count")
        if values.shape != (count,) or not values.flags.c_contiguous:
            raise BufferSizeError(
                f"a tensor of extents {extents} with the symmetry {own} has {count} packed elements, in one "
                f"flat array without gaps, not {values.size} of extents {values.shape}"
            )
        _fill(self, values, own, extents)

    @property
    def dtype(self) -> "np.dtype[S]":
        """The type of the elements."""
        return self.values.dtype

    @property
    def size(self) -> int:
        """The number of elements of the box."""
        return math.prod(self.extents)

    @property
    def is_readonly(self) -> bool:
        """True: elements are written through `values`."""
        return True

    @property
    def filename(self) -> str | None:
        """The file in which the packed elements are, if they are in one."""
        return file_beneath(self.values)

    def as_readonly(self) -> "Symmetric[S]":
        """Return the same elements over memory that cannot be written to; no copy."""
        return make_symmetric(frozen_values(self.values), self.symmetry, self.extents)

    def why_readonly(self) -> str:
        return (
            "one stored element of a symmetric tensor represents several, so it is read-only: write through "
            "packed_values(), or to the copy that to_dense() makes"
        )

    def symmetry_of(self, layout: LayoutCommon) -> Symmetry | None:
        if self._is_whole(layout):
            return self.symmetry
        part = part_of(layout, self.extents)
        return None if part is None else symmetry_of_part(self.symmetry, part, layout)

    def packed_of(self, layout: LayoutCommon) -> "npt.NDArray[S] | None":
        return self.values if self._is_whole(layout) else None

    def _is_whole(self, layout: LayoutCommon) -> bool:
        """Return True if a layout is all of the box in its order, where exchanged modes have one origin."""
        shape = layout.shape
        if not shape.is_box or shape.has_layers or shape.extents != self.extents:
            return False
        if layout.offset or not layout.is_contiguous:
            return False
        # An integer would pin its mode.
        origins = [(start,) for start in shape.origin]
        return len(set(origins)) <= 1 or self.symmetry.select(*origins) == self.symmetry

    # Reading.

    def read(self, addresses: IntArray) -> "npt.NDArray[S]":
        return self._at(columns_of(addresses.reshape(-1), self.extents), addresses.shape)

    def _at(self, columns: tuple[IntArray, ...], shape: tuple[int, ...]) -> "npt.NDArray[S]":
        folded = fold_columns(self.symmetry, columns, self.extents)
        found = elements_at(self.values, folded)
        if found.size == math.prod(shape):
            return cast("npt.NDArray[S]", found.reshape(shape))
        return cast("npt.NDArray[S]", np.full(shape, found))  # of a box without modes

    def elements_of(self, layout: LayoutCommon) -> "npt.NDArray[S]":
        if self._is_all(layout):
            with memory_for(self.size, "elements of a symmetric tensor"):
                return cast(
                    "npt.NDArray[S]", unpack_box(self.values, self.symmetry, self.extents).reshape(-1)
                )
        part = part_of(layout, self.extents)
        if part is None:
            return super().elements_of(layout)
        shape = layout.shape
        columns = part.columns(shape.rank)
        result = new_memory(shape.flatten().extents, self.dtype)
        self._read_into(result, columns)
        return result.reshape(-1)

    def _is_all(self, layout: LayoutCommon) -> bool:
        return bool(not layout.offset and layout.is_contiguous and layout.shape.size == self.size)

    def _read_into(self, result: Array, columns: tuple[IntArray, ...]) -> None:
        """Write the elements at indices that broadcast, some of the first mode at a time."""
        if result.size <= _CHUNK:
            result[...] = self._at(columns, result.shape)
            return
        step = _CHUNK // math.prod(result.shape[1:])
        for start in range(0, len(result), max(step, 1)):
            part: Any = slice(start, start + step) if step else start
            first: Any = slice(None) if step else 0
            own = tuple([column[part if len(column) > 1 else first] for column in columns])
            self._read_into(result[part], own)

    def own_elements_of(self, layout: LayoutCommon) -> "npt.NDArray[S]":
        return self.elements_of(layout)

    def equals(
        self, layout: LayoutCommon, other: BufferCommon[Any], theirs: LayoutCommon, *, equal_nan: bool
    ) -> bool:
        if other.symmetry_of(theirs) == self.symmetry:
            mine, packed = self.packed_of(layout), other.packed_of(theirs)
            if mine is not None and packed is not None:
                return equal_elements(mine, packed, equal_nan=equal_nan)
        return super().equals(layout, other, theirs, equal_nan=equal_nan)

    def obstacle(self, layout: LayoutCommon) -> str:
        symmetry = self.symmetry_of(layout)
        if symmetry is None or symmetry.is_trivial:
            return super().obstacle(layout)
        return (
            "a symmetric tensor is not an array, as each orbit is stored once: to_dense() has all elements, "
            "packed_values() those that are stored"
        )

    def to_array(
        self,
        layout: LayoutCommon,
        dtype: "np.dtype[Any] | None" = None,
        copy: bool | None = None,  # noqa: FBT001
    ) -> Array:
        symmetry = self.symmetry_of(layout)
        if symmetry is None or symmetry.is_trivial:
            return super().to_array(layout, dtype, copy)
        # Only `to_dense` unpacks.
        raise ConversionError(self.obstacle(layout))

    # New buffers.

    def pack(self, layout: LayoutCommon, *, own: bool = True) -> BufferCommon[S]:
        values = self.packed_of(layout)
        if values is not None:
            return make_symmetric(copy_elements(values) if own else values, self.symmetry, self.extents)
        return self._packed_as(layout, self.symmetry_of(layout))

    def _packed_as(self, layout: LayoutCommon, symmetry: Symmetry | None) -> BufferCommon[S]:
        """Return the elements that a layout reaches as a buffer, packed unless that stores all of them."""
        if symmetry is None or symmetry.is_trivial:
            return Dense(cast("Any", self.own_elements_of(layout)))
        extents = layout.shape.flatten().extents
        places = layout.without_layers().offsets_of(_indices(layout, symmetry.ordinals(extents)))
        return make_symmetric(self.read(places), symmetry, extents)

    def convert(self, layout: LayoutCommon, dtype: "np.dtype[Any]", *, checked: bool) -> BufferCommon[Any]:
        symmetry = self.symmetry_of(layout)
        if symmetry is not None:
            symmetry = symmetry if dtype.kind == "c" else symmetry.real
            symmetry = symmetry if dtype.kind in "ifcmV" else symmetry.positive
        values = self.packed_of(layout) if symmetry == self.symmetry else None
        if values is not None:
            return make_symmetric(
                convert_elements(values, dtype, checked=checked), self.symmetry, self.extents
            )
        made = self._packed_as(layout, None if symmetry is None or symmetry.is_zero else symmetry)
        if isinstance(made, Symmetric):
            new = convert_elements(cast("Any", made).values, dtype, checked=checked)
            return make_symmetric(new, made.symmetry, made.extents)
        return Dense(cast("Any", convert_elements(cast("Any", made).flat, dtype, checked=checked)))

    def write(self, addresses: IntArray, values: Array) -> None:  # noqa: ARG002 - it refuses
        raise ReadOnlyError(self.why_readonly())

    def __repr__(self) -> str:
        return (
            f"<Symmetric buffer: {len(self.values)} of {self.size} elements of type {self.dtype}, "
            f"symmetry {self.symmetry}>"
        )

    def __reduce__(self) -> "tuple[Callable[..., Symmetric[Any]], tuple[Array, Symmetry, Extents]]":
        return make_symmetric, (self.values, self.symmetry, self.extents)


def _indices(layout: LayoutCommon, ordinals: IntArray) -> IntArray:
    return layout.without_layers().shape.indices_at(ordinals)


def make_symmetric(values: Array, symmetry: Symmetry, extents: Extents) -> Symmetric[Any]:
    """Return the buffer of parts that are known to fit; also of a symmetry that only zeros have."""
    buffer: Symmetric[Any] = object.__new__(Symmetric)
    _fill(buffer, values, symmetry, extents)
    return buffer


def _fill(buffer: Symmetric[Any], values: Array, symmetry: Symmetry, extents: Extents) -> None:
    for name, value in (("values", values), ("symmetry", symmetry), ("extents", extents)):
        object.__setattr__(buffer, name, value)
