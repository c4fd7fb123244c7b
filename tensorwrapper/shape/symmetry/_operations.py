"""Operations of a group and their closure.

Internally an operation is a permutation of ``rank + 4`` points, written as bytes. The first points are the
modes. The next two are exchanged by a sign of -1, the last two by a conjugation. So one call of
``bytes.translate`` composes two operations, and sorted bytes are sorted by permutation, sign (+1 first) and
conjugation (none first).
"""

from collections.abc import Iterable
from typing import Final, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import SizeOverflowError, SymmetryError

MOST_RANK: Final = 8
"""The highest rank of a symmetry."""

MOST_OPERATIONS: Final = 40_320
"""The most operations of a symmetry: 8!"""

_BYTES: Final = 256  # entries of a table of `bytes.translate`


@final
@frozen
class Operation:
    """One operation of a symmetry: ``sign * x.transpose(permutation)``, conjugated or not, equals ``x``.

    Examples
    --------
    >>> Operation((1, 0), -1)
    Operation(permutation=(1, 0), sign=-1, conjugate=False)
    """

    permutation: tuple[int, ...]
    """The modes in their new order, as `numpy.transpose` takes them."""

    sign: int = 1
    """1 or -1."""

    conjugate: bool = False
    """True if elements are conjugated as well."""

    @property
    def code(self) -> bytes:
        """The operation as bytes."""
        return encode(self.permutation, self.sign, conjugate=self.conjugate)


def encode(permutation: Iterable[int], sign: int, *, conjugate: bool) -> bytes:
    """Return an operation as bytes.

    Examples
    --------
    >>> list(encode((1, 0), -1, conjugate=False))
    [1, 0, 3, 2, 4, 5]
    """
    modes = bytes(permutation)
    rank = len(modes)
    signs = (rank, rank + 1) if sign > 0 else (rank + 1, rank)
    kinds = (rank + 3, rank + 2) if conjugate else (rank + 2, rank + 3)
    return modes + bytes((*signs, *kinds))


def decode(code: bytes) -> Operation:
    """Return the operation that `encode` wrote.

    Examples
    --------
    >>> decode(encode((1, 0), -1, conjugate=False))
    Operation(permutation=(1, 0), sign=-1, conjugate=False)
    """
    rank = len(code) - 4
    return Operation(tuple(code[:rank]), 1 if code[rank] == rank else -1, code[rank + 2] != rank + 2)


def negation(rank: int) -> bytes:
    """Return the operation that only changes the sign: what only the zero tensor allows."""
    return encode(range(rank), -1, conjugate=False)


def close(
    rank: int, generators: Iterable[bytes], group: Iterable[bytes] = (), *, allow_zero: bool = False
) -> set[bytes]:
    """Return the smallest group that has these operations and those of a group; O(order * generators).

    Raises
    ------
    SymmetryError
        If an index would equal its negative everywhere, unless `allow_zero`.
    SizeOverflowError
        If there are more than 40 320 operations.
    """
    steps = list(dict.fromkeys(generators))
    tables = [step.ljust(_BYTES, b"\0") for step in steps]
    found = {bytes(range(rank + 4)), *group}
    frontier: list[bytes] = list(found)
    zero = negation(rank)
    while frontier:
        products = {code.translate(table) for table in tables for code in frontier}
        frontier = list(products - found)
        found |= products
        if zero in found and not allow_zero:
            raise SymmetryError(
                f"these generators of rank {rank} make every element equal to its negative: only the zero "
                f"tensor has this symmetry"
            )
        if len(found) > MOST_OPERATIONS << allow_zero:
            raise SizeOverflowError(
                f"these generators of rank {rank} make more than {MOST_OPERATIONS} operations; that many are "
                f"allowed"
            )
    return found


def table_of(
    codes: tuple[bytes, ...], rank: int
) -> "tuple[npt.NDArray[np.uint8], npt.NDArray[np.int8], npt.NDArray[np.bool_]]":
    """Return the permutations, one row each, the signs and the conjugations of operations.

    Examples
    --------
    >>> [part.tolist() for part in table_of((encode((1, 0), -1, conjugate=True),), 2)]
    [[[1, 0]], [-1], [True]]
    """
    table = np.frombuffer(b"".join(codes), np.uint8).reshape(len(codes), rank + 4)
    signs = np.where(table[:, rank] == rank, 1, -1).astype(np.int8)
    return table[:, :rank], signs, table[:, rank + 2] != rank + 2
