"""`Symmetry`: permutations of modes, with sign and conjugation, that leave a tensor as it is."""

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, SupportsIndex, TypeAlias, cast, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import check_kind_of
from tensorwrapper._error_text import brief
from tensorwrapper._integers import one_sequence, to_count, to_counts, to_int, to_ints
from tensorwrapper._value_class import frozen, token_of, value_class
from tensorwrapper.errors import ConversionError, OutOfBoundsError, RankError, SymmetryError
from tensorwrapper.shape.boxes._common import to_index, to_index_array
from tensorwrapper.shape.boxes._smooth import to_permutation
from tensorwrapper.shape.symmetry._blocks import Block, Folded, block_of
from tensorwrapper.shape.symmetry._canonical import Canonical, canonical_indices, orient, ranks_of
from tensorwrapper.shape.symmetry._operations import (
    MOST_RANK,
    Operation,
    close,
    decode,
    encode,
    negation,
    table_of,
)
from tensorwrapper.shape.symmetry._packing import (
    check_equal_modes,
    check_ordinals,
    count_of,
    fold,
    multiplicities_of,
    stored_ordinals,
)
from tensorwrapper.shape.symmetry._text import NAMES, read_json, read_text, symmetry_text, symmetry_to_json
from tensorwrapper.typing import Extents, Index, IntArray

Generator: TypeAlias = (
    Operation
    | tuple[Iterable[SupportsIndex], SupportsIndex]
    | tuple[Iterable[SupportsIndex], SupportsIndex, bool]
)
"""A permutation of the modes, a sign, and whether elements are conjugated (not, if left out)."""


@final
@frozen(eq=False)
class PackedOffsets:
    """Offsets of packed elements, and how these become the elements at the given indices."""

    offsets: IntArray
    """The offset of each element; -1 where the symmetry forces it to be zero."""

    signs: npt.NDArray[np.int8]
    """1 or -1; 0 where the symmetry forces the element to be zero."""

    conjugate: npt.NDArray[np.bool_]
    """True where the element is the conjugate of the packed one."""


@final
@value_class(repr=False, getstate_setstate=False)
class Symmetry:
    """A finite group of operations on the modes of a tensor, closed when it is made.

    An operation is a permutation, a sign and a conjugation: ``sign * x.transpose(permutation)``, conjugated
    or not, equals ``x``. The *canonical* index of an orbit is its lexicographically greatest one. Packed
    elements are those at canonical indices, in row-major order: PySCF's order for s2, s4 and s8.

    Parameters
    ----------
    rank
        The number of modes, at most 8.
    generators
        Operations that generate the group, as ``(permutation, sign)`` or ``(permutation, sign, conjugate)``.

    Raises
    ------
    RankError
        If the rank is over 8, or a permutation is not one of the modes.
    SymmetryError
        If a sign is neither 1 nor -1, or only the zero tensor has the symmetry.
    SizeOverflowError
        If there are more than 40 320 operations.

    Examples
    --------
    >>> from tensorwrapper import Symmetry
    >>> pairs = Symmetry(4, [((1, 0, 3, 2), 1)])
    >>> pairs.order, pairs <= Symmetry.parse("s8"), pairs.canonical((0, 3, 2, 1))
    (2, True, ((3, 0, 1, 2), 1, False))
    """

    rank: int
    """The number of modes."""

    _codes: tuple[bytes, ...]

    def __init__(self, rank: SupportsIndex, generators: Iterable[Generator] = ()) -> None:
        modes = _to_rank(rank)
        codes = close(modes, [_to_code(generator, modes) for generator in generators])
        object.__setattr__(self, "rank", modes)
        object.__setattr__(self, "_codes", tuple(sorted(codes)))

    # Other ways to make one.

    @classmethod
    def symmetric(cls, *modes: SupportsIndex, rank: SupportsIndex) -> "Symmetry":
        """Return the symmetry of a tensor that no exchange of these modes changes.

        Raises
        ------
        RankError
            If a mode is not below the rank, or comes twice.

        Examples
        --------
        >>> from tensorwrapper import Symmetry
        >>> Symmetry.symmetric(0, 1, rank=2)
        Symmetry.parse('s2')
        """
        return _of_modes(modes, rank, 1, conjugate=False)

    @classmethod
    def antisymmetric(cls, *modes: SupportsIndex, rank: SupportsIndex) -> "Symmetry":
        """Return the symmetry of a tensor that each exchange of two of these modes negates.

        Raises as `symmetric` does.

        Examples
        --------
        >>> from tensorwrapper import Symmetry
        >>> Symmetry.antisymmetric(0, 1, 2, rank=3).canonical((3, 1, 2))
        ((3, 2, 1), -1, False)
        """
        return _of_modes(modes, rank, -1, conjugate=False)

    @classmethod
    def hermitian(cls, *modes: SupportsIndex, rank: SupportsIndex) -> "Symmetry":
        """Return the symmetry of a tensor that each exchange of two of these modes conjugates.

        Raises as `symmetric` does.

        Examples
        --------
        >>> from tensorwrapper import Symmetry
        >>> Symmetry.hermitian(0, 1, rank=2).canonical((0, 1))
        ((1, 0), 1, True)
        """
        return _of_modes(modes, rank, 1, conjugate=True)

    @classmethod
    def parse(cls, text: str) -> "Symmetry":
        """Return the symmetry of a name or of a text: the inverse of `str`.

        Names are ``s1 s2 s4 s8 s2ij s2kl`` as in PySCF, where ``s1`` has rank 4, and ``a2 h2 ah2`` for
        antisymmetric, Hermitian and anti-Hermitian matrices.

        Raises
        ------
        ParseError
            If it is not the text of a symmetry. It may come from an untrusted source.
        SymmetryError, SizeOverflowError
            As the constructor.

        Examples
        --------
        >>> from tensorwrapper import Symmetry
        >>> Symmetry.parse("4: +(0 1)(2 3)* +(0 2)(1 3)").order
        4
        """
        return cls(*read_text(text))

    @classmethod
    def from_json(cls, text: str | bytes) -> "Symmetry":
        """Return the symmetry that `to_json` wrote; raises as `parse` does.

        Examples
        --------
        >>> from tensorwrapper import Symmetry
        >>> Symmetry.from_json(Symmetry.parse("a2").to_json())
        Symmetry.parse('a2')
        """
        return cls(*read_json(text))

    @classmethod
    def _make(cls, rank: int, codes: Iterable[bytes]) -> "Symmetry":
        """Return the symmetry of operations that are a group."""
        symmetry = object.__new__(cls)
        object.__setattr__(symmetry, "rank", rank)
        object.__setattr__(symmetry, "_codes", tuple(sorted(codes)))
        return symmetry

    # What it is.

    @property
    def order(self) -> int:
        """The number of operations."""
        return len(self._codes)

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The operations, sorted by permutation, sign (1 first) and conjugation (none first). O(order)."""
        return tuple(map(decode, self._codes))

    @property
    def generators(self) -> tuple[Operation, ...]:
        """Operations that generate the group: in sorted order each that the earlier ones do not make.

        Equal symmetries have equal generators. There are at most 16.

        Examples
        --------
        >>> from tensorwrapper import Symmetry
        >>> Symmetry.parse("h2").generators
        (Operation(permutation=(1, 0), sign=1, conjugate=True),)
        """
        found = set(self._codes[:1])
        chosen: list[bytes] = []
        for code in self._codes:
            if code not in found:
                chosen.append(code)
                found = close(self.rank, chosen, found, allow_zero=True)
        return tuple(map(decode, chosen))

    @property
    def is_trivial(self) -> bool:
        """True if the group has the identity alone."""
        return len(self._codes) == 1

    @property
    def is_zero(self) -> bool:
        """True if every element is its own negative: then the tensor is zero, and no element is stored.

        No constructor makes such a symmetry. It may come out where a tensor is sliced or contracted.
        """
        return negation(self.rank) in self._codes

    # Where elements are.

    def canonical(self, index: Iterable[SupportsIndex]) -> tuple[Index, int, bool]:
        """Return the greatest index of an orbit, and how its element becomes the one at `index`.

        Returns
        -------
        index, sign, conjugate
            ``x[given] == sign * x[index]``, conjugated or not. The sign is 0 if the symmetry forces the
            element to be zero.

        Raises
        ------
        RankError
            If the index has another number of modes.

        Examples
        --------
        >>> from tensorwrapper import Symmetry
        >>> Symmetry.parse("s8").canonical((0, 1, 2, 3)), Symmetry.parse("a2").canonical((4, 4))
        (((3, 2, 1, 0), 1, False), ((4, 4), 0, False))
        """
        given = to_index(index, self.rank, "an index")
        # The numbers themselves may exceed 64 bits; their order does not.
        places = sorted(set(given))
        ranks = np.array([[places.index(number) for number in given]], np.int64).reshape(1, self.rank)
        chosen, zero = orient(self._codes, ranks_of(ranks))
        operation = decode(self._codes[int(chosen[0])])
        greatest = tuple([given[mode] for mode in operation.permutation])
        return greatest, 0 if zero[0] else operation.sign, operation.conjugate

    def canonical_indices(self, indices: npt.ArrayLike) -> Canonical:
        """Return what `canonical` does for each row of an (n, rank) array.

        O(n * rank**2 + m * order) for m rows whose numbers are ordered in different ways.

        Raises
        ------
        RankError
            If the rows have another number of modes.
        ConversionError
            If a number is not an integer.

        Examples
        --------
        >>> from tensorwrapper import Symmetry
        >>> found = Symmetry.parse("a2").canonical_indices([[0, 3], [3, 0], [2, 2]])
        >>> found.indices.tolist(), found.signs.tolist()
        ([[3, 0], [3, 0], [2, 2]], [-1, 1, 0])
        """
        return canonical_indices(self._codes, self._to_rows(indices))

    def count(self, extents: Iterable[SupportsIndex]) -> int:
        """Return the number of packed elements of a tensor with these extents; exact for any extents.

        Raises
        ------
        ExtentMismatchError
            If exchanged modes have different extents; the text names both.
        RankError
            If there is another number of extents.

        Examples
        --------
        >>> from tensorwrapper import Symmetry
        >>> Symmetry.parse("s8").count((7, 7, 7, 7)), Symmetry.parse("a2").count((4, 4))
        (406, 6)
        """
        return count_of(self._codes, self._to_extents(extents))

    def offset_of(
        self, index: Iterable[SupportsIndex], extents: Iterable[SupportsIndex]
    ) -> tuple[int, int, bool]:
        """Return where an element is packed, its sign, and whether it is conjugated; indices start at 0.

        The sign is 0 and the offset -1 if the symmetry forces the element to be zero.

        Raises
        ------
        OutOfBoundsError
            If an index is negative or not below its extent.
        ExtentMismatchError, RankError
            As `count`.

        Examples
        --------
        >>> from tensorwrapper import Symmetry
        >>> Symmetry.parse("s8").offset_of((5, 1, 2, 2), (7, 7, 7, 7))
        (141, 1, False)
        """
        given = to_index(index, self.rank, "an index")
        found = self.offsets([given], extents)
        return int(found.offsets[0]), int(found.signs[0]), bool(found.conjugate[0])

    def offsets(self, indices: npt.ArrayLike, extents: Iterable[SupportsIndex]) -> PackedOffsets:
        """Return what `offset_of` does for each row of an (n, rank) array.

        O(n) if the group is built of neighbouring modes, as all are that have a name. Other groups search a
        table of 8 bytes per packed element; to make it takes O(size * order).

        Raises
        ------
        OutOfBoundsError, ExtentMismatchError, RankError
            As `offset_of`.
        SizeOverflowError
            If the box has ordinals beyond 64 bits.

        Examples
        --------
        >>> from tensorwrapper import Symmetry
        >>> found = Symmetry.parse("a2").offsets([[0, 3], [3, 0], [2, 2]], (4, 4))
        >>> found.offsets.tolist(), found.signs.tolist()
        ([3, 3, -1], [-1, 1, 0])
        """
        sizes = self._to_extents(extents)
        check_equal_modes(self._codes, sizes, "extents")
        check_ordinals(sizes)
        rows = self._to_rows(indices)
        for mode, (column, size) in enumerate(zip(rows.T, sizes, strict=True)):
            if column.size and not (column.min() >= 0 and column.max() < size):
                wrong = column[(column < 0) | (column >= size)][0]
                raise OutOfBoundsError(f"index {wrong} of mode {mode} is not from 0 to {size - 1}")
        found = fold(self._codes, tuple(rows.T), sizes)
        # Without modes there is one element for all rows.
        negative, conjugate, zero = [
            np.zeros(len(rows), np.bool_) if part is None else np.broadcast_to(part, len(rows))
            for part in (found.negative, found.conjugate, found.zero)
        ]
        signs = np.where(zero, np.int8(0), np.where(negative, np.int8(-1), np.int8(1)))
        return PackedOffsets(np.broadcast_to(found.offsets, len(rows)), signs, conjugate)

    def ordinals(self, extents: Iterable[SupportsIndex]) -> IntArray:
        """Return the row-major ordinals of the packed elements, ascending.

        Raises
        ------
        ExtentMismatchError, RankError
            As `count`.
        SizeOverflowError
            If the box has ordinals beyond 64 bits.

        Examples
        --------
        >>> from tensorwrapper import Symmetry
        >>> Symmetry.parse("s2").ordinals((3, 3)).tolist()
        [0, 3, 4, 6, 7, 8]
        """
        sizes = self._to_extents(extents)
        check_equal_modes(self._codes, sizes, "extents")
        return stored_ordinals(self._codes, sizes)

    def multiplicities(self, extents: Iterable[SupportsIndex]) -> IntArray:
        """Return for each packed element how many elements of the tensor it gives; raises as `ordinals`.

        Examples
        --------
        >>> from tensorwrapper import Symmetry
        >>> Symmetry.parse("s2").multiplicities((3, 3)).tolist()
        [1, 2, 1, 2, 2, 1]
        """
        sizes = self._to_extents(extents)
        check_equal_modes(self._codes, sizes, "extents")
        return multiplicities_of(self._codes, sizes)

    def _to_extents(self, extents: Iterable[SupportsIndex]) -> Extents:
        sizes = to_counts(extents, "extents")
        if len(sizes) != self.rank:
            raise RankError(f"a symmetry of rank {self.rank} does not fit {len(sizes)} extents {sizes}")
        return sizes

    def _to_rows(self, indices: npt.ArrayLike) -> IntArray:
        rows = to_index_array(indices, self.rank)
        if rows.ndim != 2:
            raise RankError(f"indices are an (n, {self.rank}) array, not one of extents {rows.shape}")
        return rows

    # Groups of groups.

    def permute(self, *order: SupportsIndex | Iterable[SupportsIndex]) -> "Symmetry":
        """Return the symmetry of ``x.transpose(order)``, if `x` has this one.

        Raises
        ------
        RankError
            If `order` is not a permutation of the modes.

        Examples
        --------
        >>> from tensorwrapper import Symmetry
        >>> str(Symmetry.symmetric(0, 1, rank=3).permute(2, 0, 1))
        '3: +(1 2)'
        """
        modes = to_permutation(one_sequence(order), self.rank)
        inverse = sorted(range(self.rank), key=modes.__getitem__)
        tail = range(self.rank, self.rank + 4)
        places = bytes((*modes, *tail))
        table = bytes((*inverse, *tail)).ljust(256, b"\0")
        # New mode k is old mode modes[k], so the operation is the inverse after p after the order.
        codes = [places.translate(code.ljust(256, b"\0")).translate(table) for code in self._codes]
        return self._make(self.rank, codes)

    def select(self, *selections: object) -> "Symmetry":
        """Return the symmetry of a part of a tensor, from a selection along each mode.

        An operation stays if it moves each mode to one of which the same is selected. An integer pins its
        mode, which the result lacks. The result may be `is_zero`: ``x[3, 3]`` of an antisymmetric matrix.

        Parameters
        ----------
        *selections
            For each mode an integer, or any value that equals those of equal selections, such as a slice.

        Raises
        ------
        RankError
            If there is another number of selections.

        Examples
        --------
        >>> from tensorwrapper import Symmetry
        >>> s8, rows = Symmetry.parse("s8"), slice(0, 2)
        >>> str(s8.select(3, slice(None), slice(None), slice(None)))
        '3: +(1 2)'
        >>> s8.select(slice(None), slice(None), rows, rows) == Symmetry.parse("s4")
        True
        """
        if len(selections) != self.rank:
            raise RankError(
                f"a symmetry of rank {self.rank} needs {self.rank} selections, not {len(selections)}"
            )
        kept = [mode for mode, own in enumerate(selections) if not isinstance(own, int)]
        kinds = [next(k for k, own in enumerate(selections) if _same(own, other)) for other in selections]
        codes: set[bytes] = set()
        for own in self.operations:
            if all(kinds[mode] == kind for mode, kind in zip(own.permutation, kinds, strict=True)):
                moved = [kept.index(own.permutation[mode]) for mode in kept]
                codes.add(encode(moved, own.sign, conjugate=own.conjugate))
        return self._make(len(kept), codes)

    def widen(self, rank: SupportsIndex) -> "Symmetry":
        """Return the same operations for a tensor with further modes at the end, which none moves.

        Raises
        ------
        RankError
            If the rank is less than before, or over 8.

        Examples
        --------
        >>> from tensorwrapper import Symmetry
        >>> str(Symmetry.parse("s2").widen(3))
        '3: +(0 1)'
        """
        total = _to_rank(rank)
        if total < self.rank:
            raise RankError(f"a symmetry of rank {self.rank} is not widened to {total} modes")
        more = range(self.rank, total)
        codes = [
            encode((*own.permutation, *more), own.sign, conjugate=own.conjugate) for own in self.operations
        ]
        return self._make(total, codes)

    @property
    def real(self) -> "Symmetry":
        """The same operations without conjugation: their meaning for real elements. It may be `is_zero`.

        Examples
        --------
        >>> from tensorwrapper import Symmetry
        >>> Symmetry.parse("h2").real, Symmetry.parse("ah2").real
        (Symmetry.parse('s2'), Symmetry.parse('a2'))
        """
        codes = {encode(own.permutation, own.sign, conjugate=False) for own in self.operations}
        return self._make(self.rank, codes)

    @property
    def positive(self) -> "Symmetry":
        """The operations of sign 1.

        Examples
        --------
        >>> from tensorwrapper import Symmetry
        >>> str(Symmetry.antisymmetric(0, 1, 2, rank=3).positive)
        '3: +(0 1 2)'
        """
        return self._make(self.rank, [own.code for own in self.operations if own.sign > 0])

    def __or__(self, other: "Symmetry") -> "Symmetry":
        """Return the smallest symmetry that has the operations of both.

        Raises
        ------
        SymmetryError
            If only the zero tensor has both.
        RankError
            If the ranks differ.

        Examples
        --------
        >>> from tensorwrapper import Symmetry
        >>> both = Symmetry.symmetric(0, 1, rank=4) | Symmetry.symmetric(2, 3, rank=4)
        >>> both == Symmetry.parse("s4")
        True
        """
        if not isinstance(cast("object", other), Symmetry):
            return NotImplemented
        self._check_rank(other)
        small, large = sorted((self, other), key=lambda own: own.order)
        steps = [one.code for own in (small, large) for one in own.generators]
        return self._make(self.rank, close(self.rank, steps, large._codes))

    def __and__(self, other: "Symmetry") -> "Symmetry":
        """Return the symmetry of the operations that both have; raises `RankError` if the ranks differ.

        Examples
        --------
        >>> from tensorwrapper import Symmetry
        >>> (Symmetry.parse("s8") & Symmetry.antisymmetric(0, 1, rank=4)).is_trivial
        True
        """
        if not isinstance(cast("object", other), Symmetry):
            return NotImplemented
        self._check_rank(other)
        return self._make(self.rank, set(self._codes).intersection(other._codes))

    def __le__(self, other: "Symmetry") -> bool:
        """Tell whether `other` has all operations; raises `RankError` if the ranks differ.

        Examples
        --------
        >>> from tensorwrapper import Symmetry
        >>> Symmetry.parse("s4") <= Symmetry.parse("s8")
        True
        """
        if not isinstance(cast("object", other), Symmetry):
            return NotImplemented
        self._check_rank(other)
        return set(self._codes).issubset(other._codes)

    def __lt__(self, other: "Symmetry") -> bool:
        """Tell whether `other` has all operations and more; raises `RankError` if the ranks differ."""
        if not isinstance(cast("object", other), Symmetry):
            return NotImplemented
        return self <= other and self.order < other.order

    def _check_rank(self, other: "Symmetry") -> None:
        if other.rank != self.rank:
            raise RankError(f"symmetries of rank {self.rank} and of rank {other.rank} are not comparable")

    # Texts.

    def to_json(self) -> str:
        """Return the rank and the generators as JSON, compact and with sorted keys.

        Examples
        --------
        >>> from tensorwrapper import Symmetry
        >>> Symmetry.parse("a2").to_json()
        '{"generators":[[[1,0],-1,false]],"rank":2}'
        """
        return symmetry_to_json(self.rank, self.generators)

    def __str__(self) -> str:
        return symmetry_text(self.rank, self.generators)

    def __repr__(self) -> str:
        text = str(self)
        return f"Symmetry.parse({next((name for name, own in NAMES.items() if own == text), text)!r})"

    def __reduce__(self) -> "tuple[Callable[..., Symmetry], tuple[int, tuple[Operation, ...]]]":
        return _restore, (self.rank, self.generators)

    def __dask_tokenize__(self) -> object:
        return token_of("tensorwrapper.Symmetry", str(self))


SymmetryLike: TypeAlias = "Symmetry | str"
"""A symmetry, or its name or text."""


def as_symmetry(symmetry: SymmetryLike) -> Symmetry:
    """Return a symmetry, also of its name or text; raises as `Symmetry.parse` does.

    Examples
    --------
    >>> as_symmetry("s2") == as_symmetry(Symmetry.parse("s2"))
    True
    """
    if isinstance(symmetry, str):
        return Symmetry.parse(symmetry)
    check_kind_of(symmetry, Symmetry, "a symmetry is a Symmetry or its text")
    return symmetry


# For the floors above, without checks of arguments.


def closed_form(symmetry: Symmetry) -> Block | None:
    """Return how a symmetry is built of neighbouring modes, or None if it is not."""
    return block_of(symmetry._codes, symmetry.rank)


def fold_columns(symmetry: Symmetry, columns: tuple[IntArray, ...], extents: Extents) -> Folded:
    """Return where elements of a box are packed, by one array of indices per mode; these broadcast."""
    return fold(symmetry._codes, columns, extents)


def check_exchanged(symmetry: Symmetry, numbers: tuple[int, ...], what: str) -> None:
    """Raise ExtentMismatchError unless exchanged modes have equal numbers; `what` names these."""
    check_equal_modes(symmetry._codes, numbers, what)


@final
@frozen(eq=False)
class Orientations:
    """The greatest indices of the orbits of some indices, and the operations that lead there."""

    indices: IntArray
    permutations: IntArray
    """A row for each: number k of the greatest index is that of mode ``permutation[k]`` of the given one."""
    signs: npt.NDArray[np.int8]
    conjugate: npt.NDArray[np.bool_]


def orientations(symmetry: Symmetry, rows: IntArray) -> Orientations:
    """Return which operation takes each index to the greatest one of its orbit: the first that does."""
    permutations, signs, conjugate = table_of(symmetry._codes, symmetry.rank)
    chosen = orient(symmetry._codes, ranks_of(rows)).operations
    orders = permutations[chosen].astype(np.int64)
    return Orientations(np.take_along_axis(rows, orders, axis=1), orders, signs[chosen], conjugate[chosen])


def without_conjugation(symmetry: Symmetry) -> Symmetry:
    """Return the operations that do not conjugate."""
    return symmetry._make(symmetry.rank, [own.code for own in symmetry.operations if not own.conjugate])


def _restore(rank: int, generators: tuple[Operation, ...]) -> Symmetry:
    codes = [own.code for own in generators]
    return Symmetry._make(rank, close(rank, codes, allow_zero=True))


def _same(one: object, two: object) -> bool:
    return isinstance(one, int) == isinstance(two, int) and one == two


def _to_rank(rank: SupportsIndex) -> int:
    modes = to_count(rank, "the rank of a symmetry")
    if modes > MOST_RANK:
        raise RankError(f"a symmetry has at most {MOST_RANK} modes, not {modes}")
    return modes


def _to_code(generator: Generator, rank: int) -> bytes:
    given: Any = generator
    if isinstance(given, Operation):
        given = given.permutation, given.sign, given.conjugate
    if not isinstance(given, tuple | list) or len(cast("tuple[object, ...]", given)) not in (2, 3):
        raise ConversionError(
            f"a generator is (permutation, sign) or (permutation, sign, conjugate), not {brief(generator)}"
        )
    permutation, sign, conjugate = cast("tuple[Any, Any, Any]", (*given, False)[:3])
    modes = to_permutation(permutation, rank)
    number = to_int(sign, "the sign of a generator")
    if number not in (1, -1):
        raise SymmetryError(f"the sign of a generator is 1 or -1, not {number}")
    check_kind_of(conjugate, bool, "the conjugation of a generator is True or False")
    return encode(modes, number, conjugate=conjugate)


def _of_modes(
    modes: tuple[SupportsIndex, ...], rank: SupportsIndex, sign: int, *, conjugate: bool
) -> Symmetry:
    total, given = _to_rank(rank), to_ints(modes, "modes")
    if len(set(given)) < len(given) or not set(given) <= set(range(total)):
        raise RankError(f"modes {given} are not different modes of rank {total}")
    generators: list[Operation] = []
    for left, right in pairwise(given):
        permutation = list(range(total))
        permutation[left], permutation[right] = right, left
        generators.append(Operation(tuple(permutation), sign, conjugate))
    return Symmetry(total, generators)
