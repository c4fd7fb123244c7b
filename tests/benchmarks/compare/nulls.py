"""Missing values beside Awkward and Arrow: a million elements, a tenth of which are nulls."""

from collections.abc import Iterator
from typing import Any

import numpy as np

import tensorwrapper as tw
from tests.benchmarks.compare.measure import Row, Run, library

SIZE = 10**6


def _option(ak: Any, values: Any, valid: Any) -> Any:
    marks = ak.index.Index8(valid.astype("i1"))
    return ak.Array(ak.contents.ByteMaskedArray(marks, ak.contents.NumpyArray(values), valid_when=True))


def flat() -> Iterator[Row]:
    """Operators, masks and fills of a box."""
    ak, pa, pc = library("awkward"), library("pyarrow"), library("pyarrow.compute")
    rng = np.random.default_rng(0)
    values, valid = rng.random(SIZE), rng.random(SIZE) > 0.1
    t = tw.nullable(values, valid)
    z = tw.nullable(np.where(valid, values, 0), valid)
    u = tw.nullable(values[::-1].copy(), valid[::-1].copy())
    a = _option(ak, values, valid) if ak else None
    b = _option(ak, values[::-1].copy(), valid[::-1].copy()) if ak else None
    p = pa.array(values, mask=~valid) if pa else None
    q = pa.array(values[::-1].copy(), mask=~valid[::-1]) if pa else None
    calls: dict[str, tuple[Run, Run, Run]] = {
        "x + 1": (lambda: t + 1, lambda: a + 1, lambda: pc.add(p, 1)),
        "x + y": (lambda: t + u, lambda: a + b, lambda: pc.add(p, q)),
        # Zeros under nulls: the elements that are valid are gathered first.
        "1 / x": (lambda: 1 / z, lambda: 1 / a, lambda: pc.divide(1, p)),
        "x > 0.5": (lambda: t > 0.5, lambda: a > 0.5, lambda: pc.greater(p, 0.5)),
        "x[x > 0.5]": (lambda: t[t > 0.5], lambda: a[a > 0.5], lambda: p.filter(pc.greater(p, 0.5))),
        "fill_null": (lambda: t.fill_null(0), lambda: ak.fill_none(a, 0), lambda: pc.fill_null(p, 0)),
    }
    for name, (ours, awkward, arrow) in calls.items():
        yield Row(
            "N", name, ours, {"Awkward": awkward} if ak else {}, times=1.0, missing=None if ak else "awkward"
        )
        # Arrow computes on what is under nulls, too, in one pass of C.
        yield Row("N", name, ours, {"Arrow": arrow} if pa else {}, missing=None if pa else "pyarrow")


def in_rows() -> Iterator[Row]:
    """Work within rows of 0 to 7 elements."""
    ak = library("awkward")
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 8, SIZE * 2 // 7)
    size = int(counts.sum())
    values, valid = rng.random(size), rng.random(size) > 0.1
    t = tw.nullable(tw.as_tensor(values).unflatten(counts).copy(), valid)
    a = ak.unflatten(_option(ak, values, valid), counts) if ak else None
    calls: dict[str, tuple[Run, Run, float]] = {
        "sum of each row": (lambda: np.sum(t, axis=-1), lambda: ak.sum(a, axis=-1), 2),
        "sort": (lambda: t.rows().sort(), lambda: ak.sort(a, axis=-1), 1.3),
        "argmax": (lambda: t.rows().argmax(empty=None), lambda: ak.argmax(a, axis=-1), 3.5),
        "drop_null": (t.drop_null, lambda: ak.drop_none(a, axis=-1), 1.0),
        "rows turned round": (t[::-1].copy, lambda: ak.to_packed(a[::-1]), 1.5),
    }
    for name, (ours, awkward, times) in calls.items():
        peers = {"Awkward": awkward} if ak else {}
        yield Row("N", f"{name}, rows of 0 to 7", ours, peers, times=times, missing=None if ak else "awkward")


ROWS = {"N": lambda: [*flat(), *in_rows()]}
