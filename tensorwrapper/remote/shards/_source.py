"""`ShardSource`: a tensor sharded over several servers as one source of views."""

import itertools
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Literal, NoReturn, TypeAlias, final

import attrs
import numpy as np

from tensorwrapper._value_class import evolve, frozen
from tensorwrapper.errors import ConversionError
from tensorwrapper.layout import Layout
from tensorwrapper.remote.client._source import RemoteSource
from tensorwrapper.remote.client._tensor import RemoteTensor
from tensorwrapper.remote.shards._shard_pool import LOST, Manner, ShardPool, Spread, pool_of
from tensorwrapper.remote.shards._sharding import Sharding
from tensorwrapper.remote.shards._split_selection import Piece, asked_nbytes, cuts_of
from tensorwrapper.selection import Ability, ReadHandle, Wanted
from tensorwrapper.shape import Shape
from tensorwrapper.typing import Array

Side: TypeAlias = Literal["values", "valid"]

_ABILITIES: Final[frozenset[Ability]] = frozenset(("runs", "threads"))
_CASTS: Final[frozenset[Ability]] = frozenset(("runs", "threads", "casts"))
_TILES: Final = 4
"""Tiles of one holder to request at a time."""
_NAMES: Final = 32
"""Number of tiles of one holder to look up at once, as a name may have a thousand bytes."""


@final
@frozen(eq=False, repr=False)
class ShardSource:
    """A box, or the elements of all rows, in tiles on several holders, read in parallel.

    A tile is read from its first holder, or from a replica if that fails. A tile that has changed since it
    was looked up raises `VersionChangedError`.
    """

    pool: ShardPool
    name: str
    sharding: Sharding
    side: Side | None = None
    """Part of a nullable tensor to read: values or validity; None for the whole, read by `sides`."""

    @property
    def sides(self) -> "tuple[ShardSource, ShardSource] | None":
        """Sources of the values, with zeros for nulls, and of the validity; None if not nullable."""
        if self.side is not None or not self.sharding.nullable:
            return None
        return evolve(self, side="values"), evolve(self, side="valid")

    @property
    def shape(self) -> Shape[Any]:
        """The indices of all elements."""
        return self.sharding.shape

    @property
    def layout(self) -> "Layout[Any] | None":
        """The layers in which the box is seen; None if it has none."""
        layers = self.sharding.layers
        if layers is None or self.sharding.rows is not None:
            return None
        return Layout.nested(Layout(self.shape), layers=layers)

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The type of the elements."""
        return np.dtype(np.bool_) if self.side == "valid" else self.sharding.dtype

    @property
    def version(self) -> str:
        """Version of the source; empty, because each tile has a version, which reading compares."""
        return ""

    @property
    def abilities(self) -> "frozenset[Ability]":
        """Reads runs of elements, in any thread; holders cast numbers."""
        return _CASTS if self.dtype.kind in "biuf" else _ABILITIES

    def cost(self, selection: Wanted) -> int:
        """Return how many bytes a selection moves: elements, and the description for each tile."""
        asked = asked_nbytes(selection, self.sharding.tiling.marks) if selection.size else 0
        return selection.size * self.dtype.itemsize + asked

    def read(self, selections: Sequence[Wanted], out: Sequence[Array]) -> ReadHandle:
        """Read selections from all of their holders; elements are written as they arrive."""
        return _Reading(self, selections, out)

    def bytes_on_wire(self, selections: Sequence[Wanted], dtype: "np.dtype[Any] | None" = None) -> int:
        """Return how many bytes go both ways for a read from the present holders, as elements of a type.

        Raises
        ------
        ConversionError
            For strings, whose lengths are unknown before they are read.
        ShardsLostError
            If no holder has some of the tiles.
        """
        pieces = pieces_by_tile(self.sharding, selections)
        counts: dict[int, int] = {}

        def work(
            spread: Spread, address: str, tiles: Sequence[int]
        ) -> Iterator[tuple[int, Exception | None]]:
            for tile, own in itertools.chain.from_iterable(found_tiles(spread, address, tiles)):
                if isinstance(own, Exception):
                    yield tile, own
                    continue
                source = _source_of(self.sharding, own, self.side)
                counts[tile] = source.bytes_on_wire([piece.local for _, piece in pieces[tile]], dtype)
                yield tile, None

        for _ in Spread(self.pool, self.name, self.sharding, pieces, work).done():
            pass
        return sum(counts.values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShardSource) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((self.name, self.sharding))

    def _key(self) -> tuple[Any, ...]:
        return id(self.pool), self.name, self.sharding, self.side

    def __repr__(self) -> str:
        return f"shards({self.name!r}, {self.sharding!r})"

    def __reduce__(self) -> "tuple[Callable[..., ShardSource], tuple[Any, ...]]":
        if self.pool.has_keys:
            _refuse_keys(self)
        return _opened, (self.name, self.sharding, self.pool.manner, self.side)


def _refuse_keys(source: ShardSource) -> NoReturn:
    raise ConversionError(
        f"cannot pickle {source!r}, which is read with keys; use connect_shards() in the other process"
    )


def _opened(name: str, sharding: Sharding, manner: Manner, side: Side | None) -> ShardSource:
    """Return a source that came from another process."""
    return ShardSource(pool_of(manner), name, sharding, side)


def pieces_by_tile(sharding: Sharding, selections: Sequence[Wanted]) -> dict[int, list[tuple[int, Piece]]]:
    """Return the pieces of each tile, each with the number of its selection."""
    found: dict[int, list[tuple[int, Piece]]] = {}
    marks = sharding.tiling.marks
    for number, wanted in enumerate(selections):
        for piece in cuts_of(wanted, marks):
            found.setdefault(piece.tile, []).append((number, piece))
    return found


@final
class _Reading:
    """A read under way."""

    __slots__ = ("_finished", "_left", "_pieces", "_spread")

    def __init__(self, source: ShardSource, selections: Sequence[Wanted], out: Sequence[Array]) -> None:
        self._pieces = pieces_by_tile(source.sharding, selections)
        self._left = Counter([number for own in self._pieces.values() for number, _ in own])
        self._finished = deque([number for number in range(len(out)) if not self._left[number]])
        work = _Writing(self._pieces, out, source.side).work
        self._spread = Spread(source.pool, source.name, source.sharding, self._pieces, work)

    def completed(self) -> Iterator[int | None]:
        yield from self._finished
        for tile in self._spread.done():
            if tile is None:
                yield None
                continue
            for number, _ in self._pieces[tile]:
                self._left[number] -= 1
                if not self._left[number]:
                    yield number

    def cancel(self) -> None:
        self._spread.cancel()


@final
@frozen(eq=False)
class _Writing:
    """Reads pieces of tiles in the threads of holders, and writes them where they belong.

    It has no reference to its read, because a cycle would keep the client alive.
    """

    pieces: dict[int, list[tuple[int, Piece]]]
    out: Sequence[Array]
    side: Side | None

    def work(
        self, spread: Spread, address: str, tiles: Sequence[int]
    ) -> Iterator[tuple[int, Exception | None]]:
        for some in found_tiles(spread, address, tiles):
            yield from [(tile, own) for tile, own in some if isinstance(own, Exception)]
            found = [(tile, own) for tile, own in some if not isinstance(own, Exception)]
            for start in range(0, len(found), _TILES):
                yield from self._read(spread, found[start : start + _TILES])

    def _read(
        self, spread: Spread, found: Sequence[tuple[int, RemoteTensor]]
    ) -> Iterator[tuple[int, Exception | None]]:
        reads: list[tuple[int, ReadHandle, list[Array]]] = []
        try:
            for tile, tensor in found:
                own = self.pieces[tile]
                targets = [piece.target(self.out[number]) for number, piece in own]
                source = _source_of(spread.sharding, tensor, self.side)
                reads.append((tile, source.read([piece.local for _, piece in own], targets), targets))
            for tile, handle, targets in reads:
                try:
                    for _ in handle.completed():
                        spread.check()
                except LOST as error:
                    # Tiles were requested together, and others may exist even if one is missing.
                    if not spread.is_alone(error):
                        raise
                    yield tile, error
                    continue
                for (number, piece), target in zip(self.pieces[tile], targets, strict=True):
                    piece.settle(target, self.out[number])
                yield tile, None
        except BaseException:
            for _, handle, _ in reads:
                handle.cancel()
            raise


def found_tiles(
    spread: Spread, address: str, tiles: Sequence[int]
) -> Iterator[list[tuple[int, RemoteTensor | Exception]]]:
    """Return the tiles of a holder in batches, or the errors of missing tiles. Runs in its thread."""
    for start in range(0, len(tiles), _NAMES):
        some = tiles[start : start + _NAMES]
        spread.check()
        spread.look_up(address, some)
        found: list[tuple[int, RemoteTensor | Exception]] = []
        for tile in some:
            try:
                found.append((tile, spread.tensor(address, tile)))
            except LOST as error:
                if not spread.is_alone(error):
                    raise
                found.append((tile, error))
        yield found


@final
@frozen(eq=False)
class _AllValid:
    """The validity of a tile without nulls, and a read of it, for which no request is sent."""

    count: int = 0

    def read(self, selections: Sequence[Wanted], out: Sequence[Array]) -> ReadHandle:
        for target in out:
            target[...] = True
        return _AllValid(len(selections))

    def bytes_on_wire(self, selections: Sequence[Wanted], dtype: "np.dtype[Any] | None" = None) -> int:  # noqa: ARG002 - as of others
        return 0

    def completed(self) -> Iterator[int | None]:
        return iter(range(self.count))

    def cancel(self) -> None:
        """Do nothing, because the read is complete."""


def _source_of(sharding: Sharding, tensor: RemoteTensor, side: Side | None) -> RemoteSource | _AllValid:
    """Return a tile as a source: of rows that of their elements one after the other."""
    if tensor.is_nullable and tensor.dtype.kind != "T" and not sharding.nullable:
        raise ConversionError(f"{tensor!r} may have nulls; its sharding needs nullable=True")
    one_line = sharding.rows is not None
    source = tensor._source(Shape(tensor.size) if one_line else tensor.shape)
    source = attrs.evolve(source, is_whole=False) if one_line else source
    sides = source.sides
    if sides is None:
        return _AllValid() if side == "valid" else source
    return sides[1] if side == "valid" else sides[0]
