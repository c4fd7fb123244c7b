"""`Sharding`: the partition of a tensor, and the holders of each part."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, SupportsIndex, TypeAlias, cast, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import frozen_array, splits_of
from tensorwrapper._integers import to_int, to_ints
from tensorwrapper._value_class import frozen, value_class
from tensorwrapper.buffer.lowlevel import fit_number
from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    LayerError,
    OutOfBoundsError,
    TensorNameError,
)
from tensorwrapper.remote.protocol._elements import dtype_of, dtype_text, fill_bytes, fill_of
from tensorwrapper.selection import View, as_view
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.typing import Index, IntArray

if TYPE_CHECKING:
    from tensorwrapper.selection import ViewLike

MAX_HOLDERS: Final = 2**16
MAX_TILES: Final = 2**24
_LONGEST: Final = 1024
_ADDRESS: Final = re.compile(r"(tcp|ipc)://[!-~]+")
_KEY: Final = 40


def _to_address(given: str) -> str:
    if not isinstance(cast("object", given), str) or len(given) > _LONGEST or not _ADDRESS.fullmatch(given):
        raise ConversionError(
            f"the address of a holder must be tcp://HOST:PORT or ipc://PATH, not {given!r:.80}"
        )
    return given


def _to_key(given: str) -> str:
    if not isinstance(cast("object", given), str) or len(given) not in {0, _KEY}:
        raise ConversionError(f"the public key of a holder must have {_KEY} characters, not {given!r:.80}")
    return given


@final
@frozen
class Holder:
    """A server that holds parts of tensors, with its required public key, if any.

    Examples
    --------
    >>> Holder("tcp://10.0.0.1:5555")
    Holder(address='tcp://10.0.0.1:5555', key='')
    """

    address: str = attrs.field(converter=_to_address)
    key: str = attrs.field(converter=_to_key, default="")


HolderLike: TypeAlias = Holder | str
"""A holder, or the address of one that has no key."""


@final
@value_class(eq=False, repr=False, getstate_setstate=False)
class Sharding:
    """Partition of a tensor into tiles, or runs of rows, with the holders of each.

    Parameters
    ----------
    tiling
        The tiles of a box, of any extents. For jagged rows it cuts their elements, one mode: each tile has
        the elements of a run of rows.
    dtype
        The type of the elements.
    holders
        The servers, or their addresses.
    tiles
        For each tile in row-major order the number of its placement. If not given, as many tiles
        as placements are one each, in order, and others are dealt in runs of about equal volume.
    placements
        For each placement the numbers of its holders, in the order in which they are tried; the others are
        replicas. If not given, each holder is one.
    rows
        Number of rows in each tile, for jagged rows.
    fill_value
        Value of all elements of a sparse box that are not stored; each tile is a sparse tensor with that
        fill.
    layers
        Number of modes of each layer of a nested tensor; the box, or the rows, of all elements are cut.
    nullable
        Whether numbers may be null. Tiles without nulls may be plain. For strings the dtype determines this.

    Raises
    ------
    ConversionError
        If a holder has no address, or is listed twice; if rows, or strings, are declared sparse; if a
        sparse tensor is declared nullable.
    ExtentError
        If there are not as many numbers as tiles.
    LayerError
        If layers have more or fewer modes than there are.
    OutOfBoundsError
        If there is no such holder or placement.

    Examples
    --------
    >>> from tensorwrapper import Tiling
    >>> s = Sharding(Tiling([5, 15, 10], [20]), "f4", ["tcp://a:5555", "tcp://b:5555"], [0, 1, 0])
    >>> s.shape, s.count, s.part_name("x", (1, 0)), [own.address for own in s.holders_of((1, 0))]
    (Shape(30, 20), 3, 'x/1.0', ['tcp://b:5555'])
    >>> rows = Sharding(Tiling([9, 4]), "i8", ["tcp://a:5555", "tcp://b:5555"], rows=[100, 3])
    >>> rows.kind, rows.row_count, rows.part_name("hits", 1)
    ('jagged', 103, 'hits/1')
    """

    tiling: Tiling
    dtype: "np.dtype[Any]" = attrs.field(converter=np.dtype)
    holders: tuple[Holder, ...]
    tiles: IntArray
    placements: tuple[tuple[int, ...], ...]
    rows: IntArray | None
    fill: bytes | None
    """The fill of a sparse tensor, as the bytes of one element, little-endian; None of any other."""
    layers: tuple[int, ...] | None
    nullable: bool

    def __init__(
        self,
        tiling: Tiling,
        dtype: npt.DTypeLike,
        holders: Iterable[HolderLike],
        tiles: npt.ArrayLike | None = None,
        *,
        placements: Iterable[Iterable[SupportsIndex]] | None = None,
        rows: npt.ArrayLike | None = None,
        fill_value: object = None,
        layers: Iterable[SupportsIndex] | None = None,
        nullable: bool = False,
    ) -> None:
        if not isinstance(cast("object", tiling), Tiling):
            raise ConversionError(f"a sharding needs a tiling, not {tiling!r:.80}")
        if any(tiling.origin):
            raise ExtentError(f"tiles are counted from 0 in every mode, not from {tiling.origin}")
        # Holders support only types of the protocol; their names mean the same on every machine.
        own_dtype = dtype_of(dtype_text(np.dtype(dtype)))
        servers = tuple([own if isinstance(own, Holder) else Holder(own) for own in holders])
        places = (
            tuple([(k,) for k in range(len(servers))])
            if placements is None
            else tuple([to_ints(own, "the holders of a placement") for own in placements])
        )
        _check_holders(servers, places)
        count = tiling.grid.size
        if count > MAX_TILES:
            raise ExtentError(f"a sharding has at most {MAX_TILES} tiles, not {count}")
        numbers = _dealt(tiling, len(places)) if tiles is None else _numbers(tiles, "tiles")
        if len(numbers) != count:
            raise ExtentError(f"{count} tiles need as many placements, not {len(numbers)}")
        if len(numbers) and not 0 <= int(numbers.min()) <= int(numbers.max()) < len(places):
            raise OutOfBoundsError(f"tiles are at the placements 0 to {len(places) - 1}, and at no other")
        own_rows = None if rows is None else _numbers(rows, "rows")
        if own_rows is not None and (tiling.rank != 1 or len(own_rows) != count or (own_rows < 0).any()):
            raise ExtentError("rows must be one non-negative count per tile of a 1-d tiling")
        if own_rows is not None:
            splits_of(own_rows)  # Their sum has 64 bits.
        if nullable and (fill_value is not None or own_dtype.kind == "T"):
            raise ConversionError("nullable= is only allowed for numbers that are not sparse")
        for name, value in (
            ("tiling", tiling),
            ("dtype", own_dtype),
            ("holders", servers),
            ("tiles", frozen_array(numbers)),
            ("placements", places),
            ("rows", None if own_rows is None else frozen_array(own_rows)),
            ("fill", None if fill_value is None else _fill_of(fill_value, own_dtype, rows is not None)),
            ("layers", None if layers is None else _layers_of(layers, tiling.rank + (rows is not None))),
            ("nullable", bool(nullable)),
        ):
            object.__setattr__(self, name, value)

    # Properties of the whole tensor.

    @property
    def kind(self) -> str:
        """``smooth``, ``jagged`` for rows, or ``nested`` where there are layers."""
        if self.layers is not None:
            return "nested"
        return "smooth" if self.rows is None else "jagged"

    @property
    def fill_value(self) -> Any:  # noqa: ANN401 - an element, of whatever type
        """Value of all elements of a sparse tensor that are not stored; None for any other tensor."""
        if self.fill is None:
            return None
        return fill_of(self.fill, self.dtype)[()]

    @property
    def shape(self) -> Shape[Any]:
        """The indices of all elements; of rows those of their elements, for their lengths lie elsewhere."""
        return Shape(*self.tiling.elements.extents)

    @property
    def count(self) -> int:
        """The number of tiles."""
        return self.tiling.grid.size

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.tiling.elements.size

    @property
    def nbytes(self) -> int:
        """The number of bytes that the elements take."""
        return self.size * self.dtype.itemsize

    @property
    def row_count(self) -> int:
        """The number of rows: of a box the extent of its first mode."""
        return self.shape.extent(0) if self.rows is None else int(self.rows.sum())

    @property
    def row_marks(self) -> IntArray:
        """Number of the first row of each tile, and the total; only for jagged rows."""
        if self.rows is None:
            raise ConversionError(f"{self!r} is a box, which is cut by its tiling")
        return splits_of(self.rows)

    # Holders.

    def number_of(self, tile: Index | SupportsIndex) -> int:
        """Return the number of a tile in row-major order.

        Raises
        ------
        OutOfBoundsError
            If there is no such tile.
        """
        index = tile if isinstance(tile, tuple) else (to_int(tile, "a tile"),)
        return self.tiling.grid.ordinal(index)

    def holders_of(self, tile: Index | SupportsIndex) -> tuple[Holder, ...]:
        """Return the holders of a tile, in the order in which they are tried.

        Raises
        ------
        OutOfBoundsError
            If there is no such tile.
        """
        own = self.placements[int(self.tiles[self.number_of(tile)])]
        return tuple([self.holders[k] for k in own])

    def tiles_of(self, holder: HolderLike) -> IntArray:
        """Return the numbers of the tiles that a holder has, replicas too, in order.

        Raises
        ------
        ConversionError
            If it is none of the holders.

        Examples
        --------
        >>> from tensorwrapper import Tiling
        >>> s = Sharding(Tiling([1, 2, 3], [3]), "i8", ["tcp://a:5555", "tcp://b:5555"], [0, 1, 0])
        >>> s.tiles_of("tcp://a:5555").tolist()
        [0, 2]
        """
        server = holder if isinstance(holder, Holder) else Holder(holder)
        addresses = [own.address for own in self.holders]
        if server.address not in addresses:
            raise ConversionError(f"{server.address} is not a holder of {self!r}")
        number = addresses.index(server.address)
        has = np.array([number in own for own in self.placements], dtype=bool)
        return np.flatnonzero(has[self.tiles])

    def part_name(self, name: str, tile: Index | SupportsIndex) -> str:
        """Return the name under which a tile of a tensor is served, such as ``x/1.0``; O(rank)."""
        index = tile if isinstance(tile, tuple) else self.tiling.grid.index(to_int(tile, "a tile"))
        return f"{name}/{'.'.join(map(str, index))}"

    def parts(self, name: str, tensor: "ViewLike", holder: HolderLike) -> dict[str, View[Any]]:
        """Return the parts that a holder is to serve: views of its tiles of a tensor, by name.

        Raises
        ------
        ConversionError
            If it is none of the holders. If the tensor has room for nulls, and `nullable` is false.
        ExtentError
            If the tensor has other elements or rows.

        Examples
        --------
        >>> import numpy as np
        >>> from tensorwrapper import Tiling
        >>> s = Sharding(Tiling([1, 2], [3]), "i8", ["tcp://a:5555", "tcp://b:5555"])
        >>> parts = s.parts("x", np.arange(9).reshape(3, 3), "tcp://a:5555")
        >>> {name: part.tolist() for name, part in parts.items()}
        {'x/0.0': [[0, 1, 2]]}
        """
        tiles = self.tiles_of(holder).tolist()
        view = as_view(tensor)
        if view.shape.has_layers != (self.layers is not None) or (
            self.layers is not None and view.shape.layers != self.layers
        ):
            raise ExtentError(f"{view!r} has other layers than {self!r}")
        if self.layers is not None:
            view = view.flatten()
        if view.is_nullable and view.dtype.kind != "T" and not self.nullable:
            raise ConversionError(f"{view!r} may have nulls; use a sharding with nullable=True")
        if view.shape.size != self.size or (self.rows is None and view.shape.extents != self.shape.extents):
            raise ExtentError(f"{view!r} has other elements than {self!r}")
        found: dict[str, View[Any]] = {}
        for tile in tiles:
            found[self.part_name(name, tile)] = view[self._key(tile)]
        return found

    def _key(self, tile: int) -> tuple[slice, ...]:
        if self.rows is None:
            return self.box_of(tile)
        marks = self.row_marks
        return (slice(int(marks[tile]), int(marks[tile + 1])),)

    def box_of(self, tile: SupportsIndex) -> tuple[slice, ...]:
        """Return which elements the tile of a number has, as a slice of each mode; O(rank).

        Raises
        ------
        OutOfBoundsError
            If there is no such tile.
        """
        index = self.tiling.grid.index(to_int(tile, "a tile"))
        return tuple([slice(int(m[k]), int(m[k + 1])) for m, k in zip(self.tiling.marks, index, strict=True)])

    def without_layers(self) -> "Sharding":
        """Return the same of the box, or the rows, of all elements; O(1)."""
        if self.layers is None:
            return self
        made = object.__new__(Sharding)
        for field in attrs.fields(cast("Any", Sharding)):
            value = None if field.name == "layers" else getattr(self, field.name)
            object.__setattr__(made, field.name, value)
        return made

    # Comparison and hashing.

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sharding) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash(self._fields())

    def _fields(self) -> tuple[Any, ...]:
        rows = None if self.rows is None else self.rows.tobytes()
        held = self.holders, self.tiles.tobytes(), self.placements
        return self.tiling, self.dtype, *held, rows, self.fill, self.layers, self.nullable

    def __repr__(self) -> str:
        of = f"{self.row_count} rows of " if self.rows is not None else ""
        of = f"sparse {of}" if self.fill is not None else f"nullable {of}" if self.nullable else of
        return (
            f"<Sharding of {of}{self.shape.extents} {self.dtype}: {self.count} tiles at "
            f"{len(self.holders)} holders>"
        )

    def __reduce__(self) -> "tuple[Callable[..., Sharding], tuple[Any, ...]]":
        more = self.rows, self.fill_value, self.layers, self.nullable
        return _again, (self.tiling, self.dtype, self.holders, self.tiles, self.placements, *more)


def _again(
    tiling: Tiling,
    dtype: "np.dtype[Any]",
    holders: Sequence[Holder],
    tiles: IntArray,
    placements: tuple[tuple[int, ...], ...],
    rows: IntArray | None,
    fill_value: object,
    layers: tuple[int, ...] | None,
    nullable: bool = False,  # noqa: FBT001, FBT002 - of a pickle
) -> Sharding:
    return Sharding(
        tiling,
        dtype,
        holders,
        tiles,
        placements=placements,
        rows=rows,
        fill_value=fill_value,
        layers=layers,
        nullable=nullable,
    )


def check_name(name: object) -> str:
    """Return a valid name of a tensor whose parts are served."""
    if not isinstance(name, str) or not 0 < len(name) <= _LONGEST or not name.isprintable():
        raise TensorNameError(f"the name of a tensor must have 1 to {_LONGEST} characters, not {name!r:.80}")
    return name


def _check_holders(holders: tuple[Holder, ...], placements: tuple[tuple[int, ...], ...]) -> None:
    if not 0 < len(holders) <= MAX_HOLDERS:
        raise ConversionError(f"a sharding has 1 to {MAX_HOLDERS} holders, not {len(holders)}")
    addresses = [own.address for own in holders]
    if len(set(addresses)) < len(addresses):
        twice = next(own for own in addresses if addresses.count(own) > 1)
        raise ConversionError(f"the holder {twice} is listed twice")
    for own in placements:
        if not own or len(set(own)) < len(own):
            raise ConversionError(f"a placement needs distinct holders, at least one, not {own}")
        if min(own) < 0 or max(own) >= len(holders):
            raise OutOfBoundsError(f"there are the holders 0 to {len(holders) - 1}, and not those of {own}")
    if not placements:
        raise ConversionError("a sharding needs at least one placement")


def _numbers(given: npt.ArrayLike, what: str) -> IntArray:
    array = np.asarray(given)
    if array.size and array.dtype.kind not in "iu":
        raise ConversionError(f"{what} must be integers, not {array.dtype}")
    return array.reshape(-1).astype(np.int64)


def _fill_of(value: object, dtype: "np.dtype[Any]", is_rows: bool) -> bytes:  # noqa: FBT001 - of one caller
    if is_rows or dtype.kind == "T":
        raise ConversionError("fill_value= is only allowed for boxes of numbers, not for rows or strings")
    return fill_bytes(fit_number(value, dtype, "fill_value"), dtype)


def _layers_of(layers: Iterable[SupportsIndex], rank: int) -> tuple[int, ...]:
    found = to_ints(layers, "layers")
    if not found or min(found) < 0 or sum(found) != rank:
        raise LayerError(f"layers have the {rank} modes that there are between them, which {found} do not")
    return found


def _dealt(tiling: Tiling, count: int) -> IntArray:
    """Return the number of the holder of each tile: one tile each, or runs of about equal volume."""
    volumes = np.asarray(tiling.volumes(), dtype=np.float64).reshape(-1)
    if len(volumes) == count or not len(volumes):
        return np.arange(len(volumes))
    middle = np.cumsum(volumes) - volumes / 2
    total = float(volumes.sum())
    found = middle * (count / total) if total else np.arange(len(volumes)) * (count / len(volumes))
    return np.minimum(found.astype(np.int64), count - 1)
