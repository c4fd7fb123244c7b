"""Symmetric tensors over packed elements that are already in memory."""

from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import unmasked_array
from tensorwrapper._hints import answered
from tensorwrapper.buffer import Symmetric
from tensorwrapper.buffer.lowlevel import (
    check_own_conjugates,
    check_symmetric_box,
    packed_layout,
    symmetry_for,
)
from tensorwrapper.errors import BufferSizeError, ConversionError
from tensorwrapper.shape import ShapeLike, SymmetryLike, as_shape, as_symmetry
from tensorwrapper.tensor._tensor import Tensor, make_tensor
from tensorwrapper.typing import IndexT_co as J
from tensorwrapper.typing import RankT

_S = TypeVar("_S", bound=np.generic)


@overload
def from_packed(values: "npt.NDArray[_S]", symmetry: SymmetryLike, shape: RankT) -> Tensor[_S, RankT]:
    """Return a symmetric tensor over packed elements; never a copy of an array."""


@overload
def from_packed(
    values: "npt.NDArray[_S]", symmetry: SymmetryLike, shape: "ShapeLike[J]"
) -> Tensor[_S, J]: ...
@overload
def from_packed(values: npt.ArrayLike, symmetry: SymmetryLike, shape: RankT) -> Tensor[Any, RankT]: ...
@overload
def from_packed(values: npt.ArrayLike, symmetry: SymmetryLike, shape: "ShapeLike[J]") -> Tensor[Any, J]: ...
def from_packed(values: npt.ArrayLike, symmetry: SymmetryLike, shape: ShapeLike) -> Tensor[Any]:
    """Return a symmetric tensor over packed elements; never a copy of an array.

    The elements at canonical indices follow one another in row-major order, as PySCF packs ``s2``, ``s4``
    and ``s8``. An antisymmetric matrix has no diagonal here; where others store its zeros, leave them out.

    Parameters
    ----------
    values
        The packed elements: a C-contiguous array of any extents, as PySCF's (pairs, pairs) of ``s4``.
    symmetry
        A symmetry, or its name or text: ``"s8"``.
    shape
        A box, whose extents are equal where the symmetry exchanges modes.

    Raises
    ------
    BufferSizeError
        If there is another number of values; the text says how many are needed.
    ExtentMismatchError, RankError
        If the shape does not fit the symmetry.
    ConversionError
        If the array has gaps, or the shape is not a box.
    DTypeError, SymmetryError
        If elements of this type cannot have the symmetry.
    SymmetryError
        If an element is not real that must equal its own conjugate, as those of a Hermitian diagonal; the
        text has its index. Set rounding errors there to 0 first.

    Examples
    --------
    >>> import numpy as np
    >>> import tensorwrapper as tw
    >>> t = tw.from_packed(np.array([1.0, 2.0, 3.0]), "s2", (2, 2))
    >>> t.tolist(), t[0, 1].item(), t.packed_values().nbytes
    ([[1.0, 2.0], [2.0, 3.0]], 2.0, 24)
    """
    space, array = as_shape(shape), unmasked_array(values)
    own = symmetry_for(as_symmetry(symmetry), array.dtype)
    extents = check_symmetric_box(own, space)
    count = own.count(extents)
    if array.size != count:
        raise BufferSizeError(
            f"a tensor of extents {extents} has {count} packed elements, not {array.size}; its symmetry is "
            f"{own}"
        )
    if not array.flags.c_contiguous:
        raise ConversionError("packed elements have no gaps: np.ascontiguousarray(values) copies them")
    buffer: Symmetric[Any] = Symmetric(cast("Any", array.reshape(-1)), own, extents)
    check_own_conjugates(buffer.values, own, extents)
    return make_tensor(packed_layout(space), buffer)


if not TYPE_CHECKING:
    from_packed = answered(from_packed)
