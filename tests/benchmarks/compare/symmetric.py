"""Symmetric tensors: packing and unpacking beside PySCF, or beside NumPy where PySCF is not installed."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tensorwrapper as tw
from tests.benchmarks.compare.measure import Row, Run, library

MATRIX = 1000
WHOLE = 60
"""Functions of integrals that are unpacked: 104 MB."""
BASIS = 114
"""Functions of benzene in cc-pVDZ: 172 MB as s8, 344 MB as s4."""


def _pairs(n: int) -> "np.ndarray[Any, np.dtype[np.int64]]":
    k = np.arange(n)
    high, low = np.maximum(k[:, None], k), np.minimum(k[:, None], k)
    return high * (high + 1) // 2 + low


def _to_s1(values: Any, n: int) -> Any:
    """Unpack s8 by NumPy: tables of pairs, twice."""
    pairs = _pairs(n).reshape(-1)
    return values[_pairs(n * (n + 1) // 2)].take(pairs, axis=1).take(pairs, axis=0)


def _to_s8(x: Any, n: int) -> Any:
    rows, columns = np.tril_indices(n)
    matrix = x[rows, columns][:, rows, columns]
    return matrix[np.tri(len(rows), dtype=bool)]


def _square_to_s8(matrix: Any) -> Any:
    return matrix[np.tri(len(matrix), dtype=bool)]


def symmetric() -> Iterator[Row]:
    """Between packings, each aim that of the reference beside PySCF."""
    restore, lib = _pyscf()
    rng = np.random.default_rng(0)
    pairs = WHOLE * (WHOLE + 1) // 2
    packed = tw.from_packed(rng.random(pairs * (pairs + 1) // 2), "s8", (WHOLE,) * 4)
    values, dense = packed.packed_values(), packed.to_dense()
    x = np.asarray(dense)
    yield _row(
        "s8 to s1, n = 60", packed.to_dense, lambda: _to_s1(values, WHOLE), restore, (1, values, WHOLE), 1.6
    )
    yield _row(
        "s1 to s8, n = 60, checked", lambda: dense.to_packed("s8"), lambda: _to_s8(x, WHOLE), restore,
        (8, x, WHOLE), 20,
    )  # fmt: skip
    a = rng.random((MATRIX, MATRIX))
    a += a.T
    t = tw.as_tensor(a)
    s2 = t.to_packed("s2")
    mask = np.tri(MATRIX, dtype=bool)
    pack, unpack = (None, None) if lib is None else (lib.pack_tril, lib.unpack_tril)
    both = None if pack is None else lambda: (pack(a), np.array_equal(a, a.T))
    yield _row(
        "pack_tril, n = 1000, checked",
        lambda: t.to_packed("s2"),
        lambda: (a[mask], np.array_equal(a, a.T)),
        both,
        (),
        1.5,
    )
    yield _row(
        "unpack_tril, n = 1000",
        s2.to_dense,
        lambda: s2.packed_values()[_pairs(MATRIX)],
        unpack,
        (s2.packed_values(),),
        1.2,
    )
    pairs = BASIS * (BASIS + 1) // 2
    s8 = tw.from_packed(rng.random(pairs * (pairs + 1) // 2), "s8", (BASIS,) * 4)
    eight = s8.packed_values()
    places = rng.integers(0, BASIS**4, 10**5)
    yield Row("S1", "10^5 elements of s8, n = 114", lambda: s8.buffer.read(places), aim=5e-3)
    yield Row("S1", "(ij| square of s8, n = 114", lambda: s8[50, 20].elements(), aim=3e-4)  # noqa: PLW0108 - with the slice
    # No row for NumPy: its table of pairs of pairs would double the memory.
    yield _row("s8 to s4, n = 114", lambda: s8.to_packed("s4"), None, restore, (4, eight, BASIS), 1.2)
    s4 = s8.to_packed("s4")
    four = s4.packed_values().reshape(pairs, pairs)
    yield _row(
        "s4 to s8, n = 114, checked", lambda: s4.to_packed("s8"), lambda: _square_to_s8(four), restore,
        (8, four, BASIS), 6,
    )  # fmt: skip


def _pyscf() -> tuple[Callable[..., Any] | None, Any]:
    ao2mo, lib = library("pyscf.ao2mo"), library("pyscf.lib")
    return None if ao2mo is None else ao2mo.restore, lib


def _row(
    work: str,
    ours: Run,
    numpy: Run | None,
    theirs: Callable[..., Any] | None,
    arguments: tuple[Any, ...],
    times: float,
) -> Row:
    """Return a row whose aim is so many times PySCF, which NumPy stands in for where it is missing."""
    if theirs is not None:
        return Row("S1", work, ours, {"PySCF": lambda: theirs(*arguments)}, times=times, once=True)
    peers = {} if numpy is None else {"NumPy": numpy}
    return Row("S1", work, ours, peers, once=True, missing="PySCF")


ROWS = {"S1": symmetric}
