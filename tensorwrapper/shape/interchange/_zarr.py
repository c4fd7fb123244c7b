"""Tilings as chunk grids of Zarr: the JSON of an array's metadata, with runs of equal chunks."""

from collections.abc import Iterable, Mapping
from typing import Final, Literal, SupportsIndex, TypeAlias, cast, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import Sizes
from tensorwrapper._integers import MAX_DIGITS, MAX_INT64, to_counts
from tensorwrapper._json import Json, dump_json, parse_json
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ConversionError, ExtentError, ParseError, RankError, SizeOverflowError
from tensorwrapper.shape.interchange._losses import LossReport, tiling_losses
from tensorwrapper.shape.rows._partition import Partition, int64_array
from tensorwrapper.typing import Extents, IntArray

GridKind: TypeAlias = Literal["rectilinear", "regular"]
"""The chunk grids of Zarr: sizes for each mode, or one size for all chunks of a mode."""

_MAX_ITEMS: Final = 10**8
_MAX_DEPTH: Final = 6


@final
@frozen
class ZarrGrid:
    """The chunk grid of a tiling as Zarr has it, and what it has no place for.

    Zarr knows no origin and no empty chunks. The tiles that have chunks are `kept_tiles`; chunk k of a mode
    is tile ``kept_tiles[mode][k]``.

    Examples
    --------
    >>> from tensorwrapper import Tiling
    >>> grid = Tiling([10, 0, 20, 20, 20], [50, 50]).zarr_grid()
    >>> grid.to_json()
    '{"configuration":{"chunk_shapes":[[10,[20,3]],[[50,2]]],"kind":"inline"},"name":"rectilinear"}'
    >>> [tiles.tolist() for tiles in grid.kept_tiles], str(grid.lost)
    ([[0, 2, 3, 4], [0, 1]], 'zarr leaves out: empty_tiles (tiles without elements)')
    """

    partitions: tuple[Partition, ...]
    """How each mode is cut."""
    kind: GridKind
    """The requested grid: one that could be regular is made so only on request."""

    def __attrs_post_init__(self) -> None:
        if self.kind not in ("rectilinear", "regular"):
            raise ConversionError(f"a chunk grid is rectilinear or regular, not {self.kind!r}")
        if self.kind == "regular":
            self._chunk_shape()

    @property
    def extents(self) -> Extents:
        """The shape that goes with it into the metadata of the array."""
        return tuple([p.extent for p in self.partitions])

    @property
    def kept_tiles(self) -> tuple[IntArray, ...]:
        """Tiles with elements, for each mode in order: these are the chunks."""
        return tuple([np.flatnonzero(p.sizes).astype(np.int64, copy=False) for p in self.partitions])

    @property
    def empty_tiles(self) -> tuple[IntArray, ...]:
        """Tiles without a chunk, for each mode; `Tiling.from_zarr` restores them."""
        return tuple([np.flatnonzero(p.sizes == 0).astype(np.int64, copy=False) for p in self.partitions])

    @property
    def lost(self) -> LossReport:
        """Properties that the JSON lacks."""
        return tiling_losses("zarr", self.partitions)

    def to_dict(self) -> dict[str, object]:
        """Return the value of ``chunk_grid`` in the metadata of an array; O(chunks)."""
        if self.kind == "regular":
            configuration: dict[str, Json] = {"chunk_shape": list(self._chunk_shape())}
        else:
            shapes: list[Json] = [_runs(p.sizes) for p in self.partitions]
            configuration = {"kind": "inline", "chunk_shapes": shapes}
        return {"name": self.kind, "configuration": configuration}

    def to_json(self) -> str:
        """Return the JSON text of `to_dict`, with sorted keys."""
        return dump_json(self.to_dict())

    def _chunk_shape(self) -> Extents:
        """Return the one size of the chunks of each mode, of which the last may be shorter."""
        found: list[int] = []
        for mode, partition in enumerate(self.partitions):
            sizes = partition.sizes
            sizes = sizes[sizes > 0]
            if len(sizes) and ((sizes[:-1] != sizes[0]).any() or sizes[-1] > sizes[0]):
                raise ExtentError(
                    f"a regular grid has chunks of one size, the last of which may be shorter, but mode "
                    f"{mode} has chunks of {int(sizes.min())} to {int(sizes.max())}"
                )
            # A mode without elements has no chunks, of any size.
            found.append(int(sizes[0]) if len(sizes) else 1)
        return tuple(found)


def _runs(sizes: IntArray) -> Json:
    """Return sizes other than 0 as Zarr writes them: alone, or as a pair of size and count."""
    sizes = sizes[sizes > 0]
    if not len(sizes):
        return 1
    starts = np.flatnonzero(np.diff(sizes, prepend=sizes[0] - 1))
    counts = np.diff(starts, append=len(sizes))
    runs: list[Json] = sizes[starts].tolist()
    several = np.flatnonzero(counts > 1)
    pairs: list[Json] = np.stack((sizes[starts[several]], counts[several]), axis=1).tolist()
    for place, pair in zip(several.tolist(), pairs, strict=True):
        runs[place] = pair
    return runs


def partitions_of_zarr(
    document: str | bytes | Mapping[str, object],
    extents: Iterable[SupportsIndex],
    origin: tuple[int, ...] | None,
    empty_tiles: Iterable[npt.ArrayLike] | None,
    max_chunks: int,
) -> tuple[tuple[Partition, ...], GridKind]:
    """Return how a chunk grid cuts a box, and which kind of grid it is."""
    sizes = to_counts(extents, "extents")
    kind, entries = _entries(_loaded(document) if isinstance(document, str | bytes) else document)
    if len(entries) != len(sizes):
        raise RankError(f"the chunk grid has {len(entries)} modes, but there are {len(sizes)} extents")
    starts = (0,) * len(sizes) if origin is None else origin
    if len(starts) != len(sizes):
        raise RankError(f"the origin {starts} has {len(starts)} entries for {len(sizes)} modes")
    empty = [None] * len(sizes) if empty_tiles is None else list(empty_tiles)
    if len(empty) != len(sizes):
        raise RankError(f"there are empty tiles for {len(empty)} modes, not for {len(sizes)}")
    found: list[Partition] = []
    for mode, (entry, extent, start, none) in enumerate(zip(entries, sizes, starts, empty, strict=True)):
        chunks = _chunks(entry, extent, mode, max_chunks)
        if none is not None:
            chunks = _with_empty(chunks, int64_array(none, f"the empty tiles of mode {mode}"), mode)
        found.append(Partition.of_sizes(chunks, start, f"the chunks of mode {mode}"))
    return tuple(found), kind


def _loaded(text: str | bytes) -> Json:
    return parse_json(text, "the chunk grid", depth=_MAX_DEPTH, digits=MAX_DIGITS, items=_MAX_ITEMS)


def _entries(document: object) -> tuple[GridKind, list[object]]:
    """Return the kind of a chunk grid and its entry for each mode."""
    grid = _object(document, "the chunk grid", ("name", "configuration"))
    name = grid["name"]
    if name == "regular":
        fields = _object(grid["configuration"], "the configuration", ("chunk_shape",))
        return "regular", _list(fields["chunk_shape"], "chunk_shape")
    if name != "rectilinear":
        raise ConversionError(f"a chunk grid is rectilinear or regular, not {str(name)[:40]!r}")
    fields = _object(grid["configuration"], "the configuration", ("kind", "chunk_shapes"))
    if fields["kind"] != "inline":
        raise ConversionError(f"the sizes of chunks are read inline, not as {str(fields['kind'])[:40]!r}")
    return "rectilinear", _list(fields["chunk_shapes"], "chunk_shapes")


def _object(value: object, what: str, keys: tuple[str, ...]) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise ParseError(f"{what} is an object, not a {type(value).__name__}")
    fields = cast("Mapping[str, object]", value)
    if set(fields) != set(keys):
        given = ", ".join([str(key)[:40] for key in list(fields)[:8]])
        raise ParseError(f"{what} has the keys {', '.join(keys)}, not {given or 'none'}")
    return fields


def _list(value: object, what: str) -> list[object]:
    if not isinstance(value, list | tuple):
        raise ParseError(f"{what} is a list, not a {type(value).__name__}")
    return list(cast("Iterable[object]", value))


def _chunks(entry: object, extent: int, mode: int, most: int) -> IntArray:
    """Return the sizes of the chunks of a mode, cut to its extent: a grid may go on beyond it."""
    what = f"the chunks of mode {mode}"
    if extent > MAX_INT64:
        raise SizeOverflowError(f"the extent {extent} of mode {mode} does not fit into 64 bits")
    values, counts = _runs_of(entry, extent, what)
    if not extent:
        return np.empty(0, dtype=np.int64)
    # Values beyond the extent do not matter; with this limit products are at most twice the extent.
    values = np.minimum(values, extent)
    counts = np.minimum(counts, -(-extent // values))
    if 2 * extent * len(values) > MAX_INT64:
        ends: Sizes = np.cumsum(values.astype(np.object_) * counts.astype(np.object_))
    else:
        ends = np.cumsum(values * counts)
    covered = int(ends[-1]) if len(ends) else 0
    if covered < extent:
        raise ExtentError(f"{what} add up to {covered}, but its extent is {extent}")
    last = int(ends.searchsorted(extent))
    before = int(ends[last - 1]) if last else 0
    rest = -(-(extent - before) // int(values[last]))
    total = sum(counts[:last].tolist()) + rest
    if total > max(most, len(values)):
        raise SizeOverflowError(f"{what} are {total}, but at most {most} are read (max_chunks)")
    counts[last] = rest
    sizes: IntArray = np.repeat(values[: last + 1], counts[: last + 1])
    sizes[-1] -= before + rest * int(values[last]) - extent
    return sizes


def _runs_of(entry: object, extent: int, what: str) -> tuple[IntArray, IntArray]:
    """Return sizes and how often each of them comes."""
    if not isinstance(entry, list | tuple):
        entry = [[_positive(entry, what), max(extent, 1)]]
    items = list(cast("Iterable[object]", entry))
    # Most sizes of an irregular grid are single numbers, so only pairs are checked one by one.
    others = [place for place, kind in enumerate(map(type, items)) if kind is not int]
    several = [_pair(items[place], what) for place in others]
    for place, (value, _) in zip(others, several, strict=True):
        items[place] = value
    values, counts = _int64(cast("list[int]", items), what), np.ones(len(items), dtype=np.int64)
    counts[others] = _int64([count for _, count in several], what)
    if len(values) and int(values.min()) < 1:
        _positive(int(values.min()), what)
    return values, counts


def _int64(numbers: list[int], what: str) -> IntArray:
    try:
        return np.array(numbers, dtype=np.int64)
    except OverflowError as error:
        raise SizeOverflowError(f"{what} must fit into 64 bits") from error


def _pair(item: object, what: str) -> tuple[int, int]:
    if isinstance(item, list | tuple):
        pair = list(cast("Iterable[object]", item))
        if len(pair) != 2:
            raise ParseError(f"{what} are sizes, or pairs of a size and a count, not {str(pair)[:40]}")
        return _positive(pair[0], what), _positive(pair[1], what)
    return _positive(item, what), 1


def _positive(value: object, what: str) -> int:
    if type(value) is not int or value < 1:
        raise ParseError(f"{what} are integers of at least 1, not {str(value)[:40]!r}")
    return value


def _with_empty(chunks: IntArray, empty: IntArray, mode: int) -> IntArray:
    """Return the sizes of all tiles, of which `empty` have no chunk."""
    count = len(chunks) + len(empty)
    if len(empty) and not 0 <= int(empty.min()) <= int(empty.max()) < count:
        raise ExtentError(f"an empty tile of mode {mode} is outside [0, {count}), the tiles that there are")
    kept = np.ones(count, dtype=np.bool_)
    kept[empty] = False
    if int(np.count_nonzero(kept)) != len(chunks):
        raise ExtentError(f"the empty tiles of mode {mode} are not all different")
    sizes = np.zeros(count, dtype=np.int64)
    sizes[kept] = chunks
    return sizes
