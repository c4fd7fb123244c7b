"""Names for the types in signatures.

The index of an element is a tuple with one integer per mode. ``Shape``, ``Indices`` and ``Layout`` carry
the type of their indices, so a checker knows the rank wherever it can be known, as NumPy's arrays do.
``ShapeLike`` stands in ``tensorwrapper.shape``, beside the class that it names.
"""

from collections.abc import Mapping
from types import EllipsisType
from typing import TYPE_CHECKING, Literal, SupportsIndex, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    # The default of a type variable (PEP 696) is for checkers only: Python 3.11 has none.
    from typing_extensions import Buffer, TypeVar

    IndexT_co = TypeVar("IndexT_co", bound=tuple[int, ...], default=tuple[int, ...], covariant=True)
    ScalarT_co = TypeVar("ScalarT_co", bound=np.generic, default=np.generic, covariant=True)
    BufferLike: TypeAlias = Buffer
else:
    from typing import TypeVar

    IndexT_co = TypeVar("IndexT_co", bound=tuple[int, ...], covariant=True)
    ScalarT_co = TypeVar("ScalarT_co", bound=np.generic, covariant=True)
    BufferLike: TypeAlias = object

__all__ = [
    "Array",
    "BufferLike",
    "Extents",
    "Half",
    "Index",
    "IndexT_co",
    "IntArray",
    "Key",
    "KeyItem",
    "Kind",
    "NamedKey",
    "Order",
    "PositionalItem",
    "PositionalKey",
    "Raggedness",
    "ScalarT_co",
    "StringKind",
]

Index: TypeAlias = tuple[int, ...]
"""An absolute index: one integer per mode."""

Extents: TypeAlias = tuple[int, ...]
"""How many indices each mode has."""

Kind: TypeAlias = Literal["smooth", "jagged", "nested"]
"""What sort of set a shape is."""

Raggedness: TypeAlias = Literal["uniform", "gridded", "ragged"]
"""How far a shape is from a box; the tightest word holds.

``uniform``: no mode depends on another, in its extent or its origin. ``gridded``: a product of tilings, one
per mode of a grid; its rank is 2k, the first k modes depend on nothing, mode k + i on mode i alone.
``ragged``: anything else.
"""

Order: TypeAlias = Literal["C", "F"]
"""Which mode runs fastest: the last ("C") or the first ("F")."""

Half: TypeAlias = Literal["upper", "lower"]
"""Which half of a square a triangle is."""

StringKind: TypeAlias = Literal["utf8", "binary"]
"""What the elements of string data are: text, checked to be UTF-8, or bytes of any value."""

IntArray: TypeAlias = npt.NDArray[np.int64]
"""Vectorised answers: indices, ordinals, offsets, extents."""

Array: TypeAlias = npt.NDArray[np.generic]
"""A NumPy array of any element type."""

KeyItem: TypeAlias = SupportsIndex | slice | EllipsisType
"""What may stand for one mode between square brackets."""

Key: TypeAlias = KeyItem | tuple[KeyItem, ...]
"""What may stand between the square brackets of a shape."""

NamedKey: TypeAlias = Mapping[str, SupportsIndex | slice]
"""A key of a shape with named modes: indices and slices of some of them, by name."""

PositionalItem: TypeAlias = KeyItem | None
"""What may stand for one mode of a tensor or layout between square brackets; ``None`` adds a mode."""

PositionalKey: TypeAlias = PositionalItem | tuple[PositionalItem, ...]
"""What may stand between the square brackets of a tensor or a layout: NumPy's basic indexing."""
