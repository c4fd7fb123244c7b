"""The class of block patterns, and how one is made."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Generic, SupportsFloat, SupportsIndex, TypeVar, cast, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import (
    ArrayState,
    array_of_state,
    array_state,
    digest_of,
    frozen_array,
    has_type,
    same_values,
    shown_array,
)
from tensorwrapper._error_text import brief
from tensorwrapper._hints import hint, hints_of
from tensorwrapper._memory import memory_for
from tensorwrapper._value_class import token_of, value_class
from tensorwrapper.errors import ConversionError, RankError
from tensorwrapper.shape.boxes._common import integer_array, to_ordinal_array
from tensorwrapper.shape.patterns._charges import ChargeGroup, ordinals_of_charges
from tensorwrapper.shape.patterns._exchange import PatternExchange
from tensorwrapper.shape.patterns._making import (
    Per,
    mask_of_predicate,
    ordinals_of_blocks,
    ordinals_of_norms,
)
from tensorwrapper.shape.patterns._ordinals import SlotIndex, common
from tensorwrapper.shape.patterns._queries import check_grid, distinct_ordinals, ordinals_of_tiles
from tensorwrapper.shape.tilings._tiling import Tiling
from tensorwrapper.typing import Extents, Index, IndexT_co, IntArray, Rank2

_CACHES = ("_view", "_splits", "_index", "_hash")

_I = TypeVar("_I", bound=Index)


@final
@value_class(eq=False, repr=False, getstate_setstate=False)
class BlockPattern(PatternExchange[IndexT_co], Generic[IndexT_co]):
    """The present tiles of a tiling: a frozen set of tile numbers, without elements.

    Python's set operators, ``len``, ``in`` and iteration work, in row-major order of the grid. Both sides of
    an operator need equal tilings. Empty tiles may be present. A pattern is hashable and picklable, and
    stores 8 bytes per present tile, nothing per absent one.

    Parameters
    ----------
    tiling
        How the box is cut; its grid has less than 2^63 tiles.
    tiles
        The numbers of the present tiles in any order, one integer per mode; all tiles if not given.

    Raises
    ------
    ConversionError
        If a number is not an integer, or a tile comes twice.
    OutOfBoundsError
        If the grid has no such tile.
    RankError
        If a tile has another number of modes.
    SizeOverflowError
        If the grid has 2^63 tiles or more, or all of them are more than memory holds.

    Examples
    --------
    >>> from tensorwrapper import BlockPattern, Tiling
    >>> pattern = BlockPattern(Tiling([1, 2, 3], [2, 4]), [(2, 0), (0, 0), (1, 1), (2, 1)])
    >>> pattern.count, pattern.elements, (1, 1) in pattern, list(pattern)[:2]
    (4, 28, True, [(0, 0), (1, 1)])
    """

    tiling: Tiling[IndexT_co]
    """How the box is cut."""
    _ordinals: IntArray
    _extents: Extents
    _view: "memoryview[int] | None"
    _splits: IntArray | None
    _index: SlotIndex | None
    _asked: int
    _hash: int | None

    def __init__(
        self, tiling: Tiling[IndexT_co], tiles: npt.ArrayLike | Iterable[Index] | None = None
    ) -> None:
        extents = check_grid(tiling)
        if tiles is None:
            size = math.prod(extents)
            with memory_for(size, "tiles"):
                ordinals = np.arange(size, dtype=np.int64)
        else:
            ordinals = distinct_ordinals(_read_tiles(tiles, extents), extents)
        _fill(self, tiling, ordinals, extents)

    @classmethod
    def from_mask(cls, tiling: "Tiling[_I]", mask: npt.ArrayLike) -> "BlockPattern[_I]":
        """Return the pattern of the tiles for which a mask over the grid is true; O(grid).

        Parameters
        ----------
        tiling
            How the box is cut.
        mask
            A bool, or 0 or 1, for each tile: one axis per mode.

        Raises
        ------
        ConversionError
            If it has other elements.
        RankError
            If it has other extents than the grid.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> list(BlockPattern.from_mask(Tiling([1, 2, 3], [2, 4]), [[0, 0], [1, 1], [0, 1]]))
        [(1, 0), (1, 1), (2, 1)]
        """
        extents = check_grid(tiling)
        flags = shown_array(mask)
        truths = flags.dtype.kind == "b" or not flags.size
        if not truths and (flags.dtype.kind not in "iu" or not ((flags == 0) | (flags == 1)).all()):
            raise ConversionError(f"a mask over tiles has bools, or integers 0 and 1, not {brief(mask)}")
        if flags.shape != extents:
            raise RankError(f"a mask over the tiles has extents {extents}, not {flags.shape}")
        return make_block_pattern(tiling, np.flatnonzero(flags))

    @classmethod
    def from_ordinals(cls, tiling: "Tiling[_I]", ordinals: npt.ArrayLike) -> "BlockPattern[_I]":
        """Return the pattern of the tiles with these ordinals in row-major order of the grid, in any order.

        O(n) if they ascend, else O(n log n).

        Raises
        ------
        ConversionError
            If one is not an integer, or comes twice.
        OutOfBoundsError
            If the grid has no such tile.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> list(BlockPattern.from_ordinals(Tiling([1, 2, 3], [2, 4]), [5, 0]))
        [(0, 0), (2, 1)]
        """
        extents = check_grid(tiling)
        numbers = to_ordinal_array(ordinals).reshape(-1)
        found = distinct_ordinals(numbers, extents)
        # Ordinals that ascend may be memory of the caller.
        return make_block_pattern(tiling, found.copy() if found is numbers else found)

    @classmethod
    def from_predicate(
        cls, tiling: "Tiling[_I]", predicate: Callable[..., npt.ArrayLike]
    ) -> "BlockPattern[_I]":
        """Return the pattern of the tiles for which a function is true; O(grid).

        Parameters
        ----------
        tiling
            How the box is cut.
        predicate
            It is called once, with one int64 array of tile numbers per mode, which broadcast to the grid, and
            returns bools.

        Raises
        ------
        ConversionError
            If it returns no bools.
        RankError
            If these do not broadcast to the grid.
        SizeOverflowError
            If the grid has more tiles than memory holds.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> list(BlockPattern.from_predicate(Tiling([1, 2], [3, 4]), lambda i, j: i >= j))
        [(0, 0), (1, 0), (1, 1)]
        """
        extents = check_grid(tiling)
        with memory_for(math.prod(extents), "tiles"):
            mask = mask_of_predicate(predicate, (0,) * len(extents), extents)
            return make_block_pattern(tiling, np.flatnonzero(mask))

    @classmethod
    def from_norms(
        cls, tiling: "Tiling[_I]", norms: npt.ArrayLike, threshold: SupportsFloat, per: Per = "tile"
    ) -> "BlockPattern[_I]":
        """Return the pattern of the tiles whose norm is not below a threshold; O(grid).

        A norm that is NaN is not below, so such a tile is present.

        Parameters
        ----------
        tiling
            How the box is cut.
        norms
            A real number for each tile: one axis per mode.
        threshold
            0 or more.
        per
            ``"element"`` divides each norm by the number of elements of its tile first, as TiledArray does.

        Raises
        ------
        PatternError
            If the threshold is below 0, or NaN.
        RankError
            If the norms have other extents than the grid.
        ConversionError
            If they are not real numbers.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> list(BlockPattern.from_norms(Tiling([1, 2], [2]), [[0.5], [1e-9]], 1e-6))
        [(0, 0)]
        """
        check_grid(tiling)
        return make_block_pattern(tiling, ordinals_of_norms(tiling.partitions, norms, threshold, per))

    @classmethod
    def from_charges(
        cls,
        tiling: "Tiling[_I]",
        charges: Sequence[npt.ArrayLike],
        signs: Iterable[SupportsIndex] | None = None,
        total: npt.ArrayLike = 0,
        modulus: SupportsIndex | Sequence[SupportsIndex | None] | None = None,
        *,
        group: ChargeGroup = "sum",
    ) -> "BlockPattern[_I]":
        """Return the pattern of the tiles whose charges add up to a total: those that a symmetry allows.

        O(result + the tiles of each half of the modes).

        Parameters
        ----------
        tiling
            How the box is cut.
        charges
            Per mode: one integer for each tile, or one row of integers where there are several charges.
        signs
            Per mode 1 or -1, which its charges are multiplied by; 1 for all if not given.
        total
            What the charges add up to: an integer, or one for each charge.
        modulus
            Charges that differ by a multiple of it are one: an integer, or one for each charge. Without it,
            or with ``None`` for a charge, they add up as integers, as for U(1).
        group
            ``"xor"`` adds charges up bit by bit without carry. That is the product table of the irreps of
            D2h and its subgroups, numbered from 0 as most programs of quantum chemistry do.

        Raises
        ------
        ExtentMismatchError
            If there are not as many charges as tiles, or not as many totals or moduli as charges.
        PatternError
            If a sign differs from 1 and -1, a modulus is below 1, or `group` is ``"xor"`` and they are given.
        RankError
            If there are not as many charges or signs as modes.
        SizeOverflowError
            If a sum may not fit into 64 bits, or the result is more than memory holds.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> cut = Tiling([2, 3, 2], [2, 3, 2])
        >>> list(BlockPattern.from_charges(cut, [[0, 1, 2], [0, 1, 2]], signs=(1, -1), total=1))
        [(1, 0), (2, 1)]
        """
        extents = check_grid(tiling)
        found = ordinals_of_charges(extents, charges, signs, total, modulus, group)
        return make_block_pattern(tiling, found)

    @classmethod
    def from_scipy(cls, matrix: object) -> "BlockPattern[Rank2]":
        """Return the pattern of the stored blocks of a BSR array of SciPy, also those of zeros.

        Blocks may be stored in any order, and more than once. O(blocks log blocks).

        Raises
        ------
        ConversionError
            If it is not a BSR array.
        OutOfBoundsError
            If it stores a block outside.

        Examples
        --------
        >>> from scipy.sparse import bsr_array
        >>> from tensorwrapper import BlockPattern
        >>> BlockPattern.from_scipy(bsr_array([[0, 0, 1], [0, 0, 0]], blocksize=(2, 1)))
        BlockPattern(Tiling([2], [1, 1, 1]), [(0, 2)])
        """
        sizes, found = ordinals_of_blocks(matrix)
        return make_block_pattern(Tiling(sizes[0], sizes[1]), found)

    @classmethod
    def _make(cls, tiling: "Tiling[_I]", ordinals: IntArray) -> "BlockPattern[_I]":
        return make_block_pattern(tiling, ordinals)

    def _with(self, ordinals: IntArray) -> "BlockPattern[IndexT_co]":
        return make_block_pattern(self.tiling, ordinals)

    # Python's own.

    if not TYPE_CHECKING:

        def __array__(self, *_: object, **__: object) -> None:
            # NumPy would make an array of one object.
            raise ConversionError(hints_of("BlockPattern")["*"])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BlockPattern):
            return NotImplemented
        theirs = cast("BlockPattern[Any]", other)  # type: ignore[redundant-cast]
        return self.tiling == theirs.tiling and same_values(self._ordinals, theirs._ordinals)

    def __hash__(self) -> int:
        number = self._hash
        if number is None:
            number = hash((self.tiling, self._ordinals.tobytes()))
            object.__setattr__(self, "_hash", number)
        return number

    def __dask_tokenize__(self) -> object:
        return token_of("tensorwrapper.BlockPattern", self.tiling, digest_of(self._ordinals))

    def __reduce__(self) -> "tuple[Callable[..., BlockPattern[Any]], tuple[Tiling[Any], ArrayState]]":
        return _restore, (self.tiling, array_state(self._ordinals))


hint(BlockPattern, "BlockPattern")


def make_block_pattern(tiling: "Tiling[_I]", ordinals: IntArray) -> "BlockPattern[_I]":
    """Return the pattern of the tiles with these ordinals, which ascend and are kept as they are."""
    made: Any = object.__new__(BlockPattern)
    _fill(made, tiling, ordinals, check_grid(tiling))
    pattern: BlockPattern[_I] = made
    return pattern


def has_tiles(pattern: "BlockPattern[Any]", other: "BlockPattern[Any]") -> npt.NDArray[np.bool_]:
    """Return for each tile of a pattern whether another one, of a grid of the same extents, has it too."""
    return common(pattern.ordinals(), other.ordinals(), math.prod(pattern.grid.extents))


def _fill(pattern: "BlockPattern[Any]", tiling: "Tiling[Any]", ordinals: IntArray, extents: Extents) -> None:
    own = (("tiling", tiling), ("_ordinals", frozen_array(ordinals)), ("_extents", extents))
    for name, value in (*own, ("_asked", 0), *dict.fromkeys(_CACHES).items()):
        object.__setattr__(pattern, name, value)


def _restore(tiling: "Tiling[Any]", state: ArrayState) -> "BlockPattern[Any]":
    return make_block_pattern(tiling, array_of_state(state, 0))


def _read_tiles(tiles: object, extents: Extents) -> IntArray:
    if isinstance(tiles, BlockPattern):
        return ordinals_of_tiles(cast("BlockPattern[Any]", tiles).tiles(), extents)  # type: ignore[redundant-cast]
    given: Any = tiles if _is_table(tiles) else _listed(tiles)
    if getattr(given, "dtype", None) == np.bool_:
        raise ConversionError("tiles are numbers, one per mode; BlockPattern.from_mask takes bools")
    table = integer_array(given, "tiles")
    if not table.size and table.ndim == 1 and not has_type(given):
        # A list of no tiles does not say how many modes they have.
        return np.zeros(0, dtype=np.int64)
    if table.ndim != 2:
        raise RankError(f"tiles are a table of (n, {len(extents)}) integers, not {brief(given)}")
    return ordinals_of_tiles(table, extents)


def _is_table(tiles: object) -> bool:
    return isinstance(tiles, list | tuple) or has_type(tiles)


def _listed(tiles: object) -> list[object]:
    if isinstance(tiles, Iterable) and not isinstance(tiles, str | bytes):
        return list(cast("Iterable[object]", tiles))
    raise ConversionError(
        f"tiles are given as a table of integers, or one after the other, not {brief(tiles)}"
    )
