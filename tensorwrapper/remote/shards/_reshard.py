"""`ReshardPlan`: transfers between holders that change the partition of a tensor."""

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import frozen_array
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ConversionError, DTypeError, ExtentError, ExtentMismatchError
from tensorwrapper.remote.shards._sharding import Holder, HolderLike, Sharding
from tensorwrapper.typing import IntArray

if TYPE_CHECKING:
    from tensorwrapper.shape import Overlaps

_AT_ONCE: Final = 2**18
"""Number of pieces processed together, so that arrays stay in the CPU cache."""
_DENSE: Final = 2**20
"""Maximum number of holder pairs in a table; beyond, only pairs with transfers are stored."""
_EXACT: Final = 2**53
_OVERHEAD: Final = 1.05
"""Maximum relative overhead of labels and frames."""

_Pieces: TypeAlias = tuple[IntArray, IntArray, IntArray]
"""For each piece the old tile, the new tile, and its number of elements."""


@final
@frozen(eq=False, repr=False, getstate_setstate=False)
class ReshardPlan:
    """Transfers between holders, created by `reshard_plan`. Each element moves once to each new holder.

    Attributes
    ----------
    old, new
        The present sharding of the tensor, and the new one.
    holders
        All holders of both.
    senders, receivers, nbytes
        For each pair of holders with a transfer, the sender and the receiver, as numbers of `holders`, and
        the bytes of elements. A holder that is both keeps them.
    pieces
        Number of boxes moved from an old tile to a new tile, counted for each new holder.
    """

    old: Sharding
    new: Sharding
    holders: tuple[Holder, ...] = attrs.field(init=False)
    senders: IntArray = attrs.field(init=False)
    receivers: IntArray = attrs.field(init=False)
    nbytes: IntArray = attrs.field(init=False)
    pieces: int = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        _check(self.old, self.new)
        places = {own.address: own for own in (*self.old.holders, *self.new.holders)}
        holders = tuple(places.values())
        numbers = {address: k for k, address in enumerate(places)}
        old, new = _table(self.old, numbers), _table(self.new, numbers)
        overlaps = self.old.tiling.retile_plan(self.new.tiling).overlaps
        counted = _Counted(len(holders), exact=self.old.size < _EXACT)
        pieces = 0
        for old_tiles, new_tiles, sizes in _pieces(overlaps):
            had = self.old.tiles[old_tiles]
            for column in range(new.shape[1]):
                to = new[self.new.tiles[new_tiles], column]
                there = to >= 0
                own_had, own_to, own_sizes = (
                    (had, to, sizes) if there.all() else (had[there], to[there], sizes[there])
                )
                counted.add(_sender(old, own_had, own_to), own_to, own_sizes)
                pieces += len(own_sizes)
        senders, receivers, elements = counted.found()
        for name, value in (
            ("holders", holders),
            ("senders", frozen_array(senders)),
            ("receivers", frozen_array(receivers)),
            ("nbytes", frozen_array(elements * (self.old.dtype.itemsize + self.old.nullable))),
            ("pieces", pieces),
        ):
            object.__setattr__(self, name, value)

    def to_svg(self) -> str:
        """Return a picture of the bytes that each holder sends to each; the diagonal has those that stay."""
        from tensorwrapper.remote.shards._reshard_picture import draw_reshard  # noqa: PLC0415 - as it is drawn

        return draw_reshard(self).to_svg()

    def _repr_html_(self) -> str:
        """Return the HTML for notebooks: the transfers, and the picture."""
        from tensorwrapper.remote.shards._reshard_picture import reshard_html  # noqa: PLC0415 - as in to_svg

        return reshard_html(self)

    @property
    def total(self) -> int:
        """The bytes that the new holders have in the end."""
        return sum(self.nbytes.tolist())

    @property
    def moved(self) -> int:
        """The bytes that go from one holder to another."""
        return sum(self.nbytes[self.senders != self.receivers].tolist())

    @property
    def kept(self) -> int:
        """The bytes that stay where they are."""
        return self.total - self.moved

    def sent_by(self, holder: HolderLike) -> int:
        """Return how many bytes a holder sends to others."""
        number = self._number(holder)
        return sum(self.nbytes[(self.senders == number) & (self.receivers != number)].tolist())

    def received_by(self, holder: HolderLike) -> int:
        """Return how many bytes a holder receives of others."""
        number = self._number(holder)
        return sum(self.nbytes[(self.receivers == number) & (self.senders != number)].tolist())

    def seconds(self, bytes_per_second: float) -> float:
        """Return how long it takes at least, if each holder sends and receives at this rate at a time.

        The holder that sends or receives most decides; labels and frames are counted as a twentieth.

        Raises
        ------
        ExtentError
            If nothing moves at that rate.
        """
        if not bytes_per_second > 0:
            raise ExtentError(f"bytes_per_second must be positive, not {bytes_per_second}")
        away = self.senders != self.receivers
        most = [
            np.bincount(side[away], self.nbytes[away].astype(np.float64), len(self.holders)).max()
            for side in (self.senders, self.receivers)
        ]
        return float(max(most)) * _OVERHEAD / bytes_per_second

    def _number(self, holder: HolderLike) -> int:
        server = holder if isinstance(holder, Holder) else Holder(holder)
        addresses = [own.address for own in self.holders]
        if server.address not in addresses:
            raise ConversionError(f"{server.address} is not among the {len(addresses)} holders of this plan")
        return addresses.index(server.address)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ReshardPlan) and (self.old, self.new) == (other.old, other.new)

    def __hash__(self) -> int:
        return hash((self.old, self.new))

    def __repr__(self) -> str:
        return (
            f"<ReshardPlan of {self.pieces} pieces: {self.moved} of {self.total} bytes move between "
            f"{len(self.holders)} holders>"
        )

    def __reduce__(self) -> "tuple[Callable[..., ReshardPlan], tuple[Sharding, Sharding]]":
        return ReshardPlan, (self.old, self.new)


def reshard_plan(old: Sharding, new: Sharding) -> ReshardPlan:
    """Return the transfers that change a tensor from one sharding to another, without executing them.

    Elements that a new holder already has, also as a replica, do not move; others come from the holder that
    is tried first. O(pieces) in array operations, in memory of a few MiB beside the two shardings.

    Raises
    ------
    ExtentMismatchError, DTypeError
        If the two are not of one tensor.
    ConversionError
        If they are sparse.

    Examples
    --------
    >>> from tensorwrapper import Tiling
    >>> a, b = "tcp://a:5555", "tcp://b:5555"
    >>> plan = reshard_plan(
    ...     Sharding(Tiling([2, 2], [4]), "f8", [a, b]), Sharding(Tiling([4], [3, 1]), "f8", [a, b])
    ... )
    >>> plan.total, plan.moved, plan.sent_by(a), plan.received_by(a)
    (128, 64, 16, 48)
    """
    return ReshardPlan(old, new)


def _check(old: Sharding, new: Sharding) -> None:
    if old.fill is not None or new.fill is not None:
        raise ConversionError(
            "cannot plan for sparse tensors, whose number of entries is only known to the holders"
        )
    if (
        old.layers != new.layers
        or old.kind != new.kind
        or old.shape != new.shape
        or old.row_count != new.row_count
    ):
        raise ExtentMismatchError(f"{old!r} and {new!r} do not describe the same tensor")
    if old.dtype != new.dtype:
        raise DTypeError(f"cannot reshard elements of {old.dtype} as {new.dtype}")
    if old.nullable != new.nullable:
        raise DTypeError("only one of the two shardings is nullable")


def _table(own: Sharding, numbers: dict[str, int]) -> IntArray:
    """Return for each placement the numbers of its holders among all; -1 where there are no more."""
    renamed = np.array([numbers[holder.address] for holder in own.holders])
    counts = np.array([len(place) for place in own.placements])
    flat = renamed[np.fromiter((k for place in own.placements for k in place), np.int64, int(counts.sum()))]
    table = np.full((len(counts), int(counts.max())), -1, dtype=np.int64)
    table[np.arange(table.shape[1]) < counts[:, None]] = flat
    return table


def _sender(old: IntArray, had: IntArray, to: IntArray) -> IntArray:
    """Return the sender of each piece: the new holder if it has the piece, else the first holder."""
    found: IntArray = old[had, 0]
    for column in range(1, old.shape[1]):
        found = np.where(old[had, column] == to, to, found)
    return found


def _pieces(overlaps: "tuple[Overlaps, ...]") -> Iterator[_Pieces]:
    """Return all pieces, some of them at a time: of the last modes all, of the modes before them in runs."""
    first, inner = len(overlaps), 1
    while first and inner * len(overlaps[first - 1]) <= _AT_ONCE:
        first -= 1
        inner *= len(overlaps[first])
    old_steps = _steps([own.old_partition.count for own in overlaps])
    new_steps = _steps([own.new_partition.count for own in overlaps])
    last = _product(overlaps[first:], old_steps[first:], new_steps[first:], None)
    before = overlaps[:first]
    extents = [len(own) for own in before]
    count, step = math.prod(extents), max(_AT_ONCE // max(inner, 1), 1)
    for start in range(0, count if inner else 0, step):
        numbers = np.arange(start, min(start + step, count))
        places = np.unravel_index(numbers, extents) if extents else ()
        own = _product(before, old_steps[:first], new_steps[:first], places)
        yield (
            np.add.outer(own[0], last[0]).ravel(),
            np.add.outer(own[1], last[1]).ravel(),
            np.multiply.outer(own[2], last[2]).ravel(),
        )


def _product(
    overlaps: "tuple[Overlaps, ...]",
    old_steps: list[int],
    new_steps: list[int],
    places: tuple[npt.NDArray[np.intp], ...] | None,
) -> _Pieces:
    """Return tiles and sizes of pieces: at some places of the product of a few modes, or at all of them."""
    old = np.zeros(1, np.int64)
    new, sizes = old, np.ones(1, np.int64)
    for mode, own in enumerate(overlaps):
        if places is None:
            old = np.add.outer(old, own.old_tiles * old_steps[mode]).ravel()
            new = np.add.outer(new, own.new_tiles * new_steps[mode]).ravel()
            sizes = np.multiply.outer(sizes, own.extents).ravel()
        else:
            at = places[mode]
            old = old + own.old_tiles[at] * old_steps[mode]
            new = new + own.new_tiles[at] * new_steps[mode]
            sizes = sizes * own.extents[at]
    return old, new, sizes


def _steps(counts: list[int]) -> list[int]:
    """Return how far apart tiles that are neighbours in each mode are in row-major order."""
    return [math.prod(counts[mode + 1 :]) for mode in range(len(counts))]


@final
class _Counted:
    """Elements for each pair of sender and receiver."""

    __slots__ = ("_count", "_exact", "_parts", "_table")

    def __init__(self, count: int, *, exact: bool) -> None:
        self._count, self._exact = count, exact
        self._table: IntArray | None = np.zeros(count * count, np.int64) if count * count <= _DENSE else None
        nothing = np.empty(0, np.int64)
        self._parts: list[tuple[IntArray, IntArray]] = [(nothing, nothing)]

    def add(self, senders: IntArray, receivers: IntArray, sizes: IntArray) -> None:
        """Count some pieces."""
        pairs = senders * self._count + receivers
        if self._table is not None:
            self._table += self._sums(pairs, sizes, len(self._table))
            return
        found, back = np.unique(pairs, return_inverse=True)
        self._parts.append((found, self._sums(back, sizes, len(found))))

    def found(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return senders, receivers and elements of all pairs that have any."""
        if self._table is not None:
            pairs = np.flatnonzero(self._table)
            return pairs // self._count, pairs % self._count, self._table[pairs]
        pairs, back = np.unique(np.concatenate([own for own, _ in self._parts]), return_inverse=True)
        sums = self._sums(back, np.concatenate([own for _, own in self._parts]), len(pairs))
        return pairs // self._count, pairs % self._count, sums

    def _sums(self, places: npt.NDArray[Any], sizes: IntArray, length: int) -> IntArray:
        if self._exact:
            # Sums of doubles, which are whole numbers up to 2^53.
            return np.bincount(places, sizes, length).astype(np.int64)
        sums = np.zeros(length, np.int64)
        np.add.at(sums, places, sizes)
        return sums
