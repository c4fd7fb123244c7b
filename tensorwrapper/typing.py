"""Names for the types in signatures.

The index of an element is a tuple with one integer per mode. ``Shape``, ``Indices`` and ``Layout`` carry
the type of their indices, so a checker knows the rank wherever it can be known, as NumPy's arrays do.
``Shape[Rank2]`` is a shape of two modes; a bare ``Shape`` is one of unknown rank, which is accepted wherever
a rank is required. ``ShapeLike`` is in ``tensorwrapper.shape``, beside the class that it names.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Literal, Never, Protocol, SupportsIndex, TypeAlias, TypeVarTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    # The default of a type variable (PEP 696) is for checkers only: Python 3.11 has none.
    from typing_extensions import Buffer, TypeVar

    IndexT_co = TypeVar("IndexT_co", bound=tuple[Any, ...], default=tuple[Any, ...], covariant=True)
    ScalarT_co = TypeVar("ScalarT_co", bound=np.generic, default=Any, covariant=True)
    # For methods whose arguments have the rank of their object.
    IndexT = TypeVar("IndexT", bound=tuple[Any, ...])
    # The Python type of elements. In stubs of NumPy before 2.2 they have none: without a default, Never.
    ValueT = TypeVar("ValueT", default=Any)
    # For functions that return these elements without a dtype.
    Float64T = TypeVar("Float64T", bound=np.generic, default=np.float64)
    Int64T = TypeVar("Int64T", bound=np.generic, default=np.int64)
    BufferLike: TypeAlias = Buffer
else:
    from typing import TypeVar

    IndexT_co = TypeVar("IndexT_co", bound=tuple[Any, ...], covariant=True)
    ScalarT_co = TypeVar("ScalarT_co", bound=np.generic, covariant=True)
    IndexT = TypeVar("IndexT", bound=tuple[Any, ...])
    ValueT = TypeVar("ValueT")
    Float64T = TypeVar("Float64T", bound=np.generic)
    Int64T = TypeVar("Int64T", bound=np.generic)
    BufferLike: TypeAlias = object

_R_co = TypeVar("_R_co", covariant=True)
Modes = TypeVarTuple("Modes")
"""Any number of modes, in signatures of functions that add or drop one."""

__all__ = [
    "AnyRank",
    "Array",
    "ArrayKey",
    "ArrayKeyItem",
    "BufferLike",
    "DType",
    "DaskArray",
    "DaskClient",
    "ElementCasting",
    "Extents",
    "Fewer",
    "Float64T",
    "Half",
    "Index",
    "IndexT",
    "IndexT_co",
    "Int64T",
    "IntArray",
    "IntVector",
    "Integer",
    "IntegerAndSlice",
    "Integers2",
    "Integers3",
    "Integers4",
    "Integers5",
    "Integers6",
    "Key",
    "KeyItem",
    "KeyWithArray",
    "Kind",
    "LooseIndex",
    "Modes",
    "More",
    "NamedKey",
    "NullRows",
    "Order",
    "Origin",
    "PositionalItem",
    "PositionalKey",
    "Raggedness",
    "Rank0",
    "Rank1",
    "Rank2",
    "Rank3",
    "Rank4",
    "Rank5",
    "Rank6",
    "RankT",
    "ScalarT_co",
    "Slices",
    "StringKind",
    "SupportsArray",
    "UnknownRank",
    "ValueT",
    "WriteCasting",
]

Index: TypeAlias = tuple[int, ...]
"""An absolute index: one integer per mode."""

Integer: TypeAlias = SupportsIndex
"""An integer: Python's, NumPy's, an array of one."""

Integers2: TypeAlias = tuple[Integer, Integer]
"""Two integers, one for each mode."""

Integers3: TypeAlias = tuple[Integer, Integer, Integer]
"""Three integers, one for each mode."""

Integers4: TypeAlias = tuple[Integer, Integer, Integer, Integer]
"""Four integers, one for each mode."""

Integers5: TypeAlias = tuple[Integer, Integer, Integer, Integer, Integer]
"""Five integers, one for each mode."""

Integers6: TypeAlias = tuple[Integer, Integer, Integer, Integer, Integer, Integer]
"""Six integers, one for each mode."""

Origin: TypeAlias = Iterable[SupportsIndex] | None
"""First index of a shape: one integer per mode, or None for zeros."""

Extents: TypeAlias = tuple[int, ...]
"""Number of indices of each mode."""

AnyRank: TypeAlias = tuple[Any, ...]
"""An index of a rank that is not known; it goes wherever a rank is wanted."""

UnknownRank: TypeAlias = tuple[Never, Never, Never, Never, Never, Never, Never, Never, Never]
"""In signatures, the case that the rank is not known: no index is one, and only an `AnyRank` fits."""

Rank0: TypeAlias = tuple[()]
"""The index of a scalar."""

Rank1: TypeAlias = tuple[int]
"""An index of one mode."""

Rank2: TypeAlias = tuple[int, int]
"""An index of two modes: ``Shape[Rank2]`` is the shape of a matrix."""

Rank3: TypeAlias = tuple[int, int, int]
"""An index of three modes."""

Rank4: TypeAlias = tuple[int, int, int, int]
"""An index of four modes."""

Rank5: TypeAlias = tuple[int, int, int, int, int]
"""An index of five modes."""

Rank6: TypeAlias = tuple[int, int, int, int, int, int]
"""An index of six modes."""

RankT = TypeVar("RankT", Rank0, Rank1, Rank2, Rank3, Rank4, Rank5, Rank6)
"""The rank that a tuple of extents says which is written out."""


class Fewer(Protocol[_R_co]):
    """An object from which an integer key drops a mode; the parameter is the type of the result."""

    def __getitem__(self, key: int, /) -> _R_co:
        """Return the part under an index of the first mode."""
        ...


class More(Protocol[_R_co]):
    """An object to which the key ``None`` adds a mode; the parameter is the type of the result."""

    def __getitem__(self, key: None, /) -> _R_co:
        """Return the same with a mode of extent 1 before the first."""
        ...


class IntVector(Protocol):
    """Integers whose number no checker counts: a list or an array. A tuple is none, for it cannot change."""

    def __iter__(self) -> Iterator[SupportsIndex]:
        """Return an iterator over the integers."""
        ...

    # The accepted values vary from class to class, and only Any accepts them all.
    def __setitem__(self, key: Any, value: Any, /) -> None:  # noqa: ANN401
        """Write an element; tuples do not have this method."""
        ...


LooseIndex: TypeAlias = IntVector | tuple[np.integer[Any], ...]
"""An index whose entries no checker counts: a list, an array, or a tuple of NumPy's integers."""

Kind: TypeAlias = Literal["smooth", "jagged", "nested"]
"""Kind of a shape."""

Raggedness: TypeAlias = Literal["uniform", "gridded", "ragged"]
"""Regularity of a shape; the tightest word holds.

``uniform``: no mode depends on another, in its extent or its origin. ``gridded``: a product of tilings, one
per mode of a grid; its rank is 2k, the first k modes depend on nothing, mode k + i on mode i alone.
``ragged``: anything else.
"""

WriteCasting: TypeAlias = Literal["same_kind", "unsafe"]
"""Casting of written values: within one kind and checked, or as NumPy casts."""

ElementCasting: TypeAlias = Literal["checked", "unsafe"]
"""Casting of elements to a requested type: refused where they do not fit, or as NumPy casts."""

DType: TypeAlias = type[ScalarT_co] | np.dtype[ScalarT_co]
"""A type of elements that checkers know: NumPy's class of it, or its dtype."""

Order: TypeAlias = Literal["C", "F"]
"""Fastest mode: the last ("C") or the first ("F")."""

Half: TypeAlias = Literal["upper", "lower"]
"""Half of a square, for a triangle."""

NullRows: TypeAlias = Literal["refuse", "empty"]
"""Treatment of a null in place of a row: an error, or an empty row."""

StringKind: TypeAlias = Literal["utf8", "binary"]
"""Kind of the elements of string data: text, checked to be UTF-8, or bytes of any value."""

IntArray: TypeAlias = npt.NDArray[np.int64]
"""Vectorised answers: indices, ordinals, offsets, extents."""

Array: TypeAlias = npt.NDArray[np.generic]
"""A NumPy array of any element type."""

KeyItem: TypeAlias = SupportsIndex | slice | EllipsisType
"""A key for one mode between square brackets."""

Slices: TypeAlias = slice | tuple[slice, ...]
"""Keys that keep every mode."""

IntegerAndSlice: TypeAlias = tuple[SupportsIndex, slice] | tuple[slice, SupportsIndex]
"""Keys that drop one of the first two modes."""

Key: TypeAlias = KeyItem | tuple[KeyItem, ...]
"""A key between the square brackets of a shape."""

NamedKey: TypeAlias = Mapping[str, SupportsIndex | slice]
"""A key of a shape with named modes: indices and slices of some of them, by name."""

PositionalItem: TypeAlias = KeyItem | None
"""A key for one mode of a tensor or layout between square brackets; ``None`` adds a mode."""

PositionalKey: TypeAlias = PositionalItem | tuple[PositionalItem, ...]
"""A key between the square brackets of a tensor or a layout: NumPy's basic indexing."""


class DaskArray(Protocol):
    """An array of Dask, whose own types are not complete; all of Dask takes it as the one it is."""

    @property
    def chunks(self) -> tuple[tuple[int, ...], ...]:
        """The extents of its chunks, by mode."""
        ...

    @property
    def shape(self) -> tuple[int, ...]:
        """Its extents."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its elements."""
        ...

    def compute(self) -> object:
        """Return its elements, as an array of NumPy."""
        ...


class DaskClient(Protocol):
    """A client of a cluster of Dask."""

    @property
    def asynchronous(self) -> bool:
        """True if its calls are awaited."""
        ...

    def scheduler_info(self) -> object:
        """Return information about the cluster."""
        ...


class SupportsArray(Protocol):
    """An array, or a tensor of positions or bools."""

    def __array__(self) -> Array: ...


ArrayKeyItem: TypeAlias = (
    PositionalItem | Sequence[SupportsIndex] | Sequence[Sequence[SupportsIndex]] | SupportsArray
)
"""A key for one mode of a tensor: of basic indexing, positions, or a mask."""

KeyWithArray: TypeAlias = Array | tuple[Array, ArrayKeyItem] | tuple[ArrayKeyItem, Array]
"""Keys with an array, which has `__index__`: checkers take it for an integer, whatever its rank."""

ArrayKey: TypeAlias = ArrayKeyItem | tuple[ArrayKeyItem, ...]
"""A key between the square brackets of a tensor."""
