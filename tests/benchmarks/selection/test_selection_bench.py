"""Views of many sources, beside what NumPy does at once, and Dask over as many shards."""

import dask.array as da
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel

N = 4096
X = np.arange(N * N * 2.0).reshape(N, 2 * N)  # 256 MiB
HALF, REST, PART = X[: N // 2], X[N // 2 :], X[: N // 2, :N]
V, A, B, P = [sel.as_view(tw.as_tensor(array)) for array in (X, HALF, REST, PART)]
WIDTHS = [(100, 100), (100, 100)]
COLUMNS = np.random.default_rng(0).permutation(2 * N)
SMALL = sel.as_view(tw.as_tensor(np.arange(100.0).reshape(10, 10)))


def chain(view):
    """Eight affine steps."""
    return view[::-1].permute((1, 0))[1:9].reverse(1)[:, ::2].unsqueeze(0).permute((1, 0, 2))[2:]


def wrapping(view):
    """Eight steps, one of which wraps."""
    return view[::-1].permute((1, 0))[1:9].rotate((1, 2))[::2].unsqueeze(0).reverse(1)[0, :, 2:]


def interleaved(mode):
    extents = list(HALF.shape)
    extents[mode] *= 2
    out = np.empty(extents)
    for k, part in enumerate((HALF, REST)):
        out[(*[slice(None)] * mode, slice(k, None, 2))] = part
    return out


WRAPPED, JOINED = wrapping(SMALL), chain(SMALL)
SHARDS = sel.concat([tw.as_tensor(np.arange(100.0)) for _ in range(100_000)])
MIDDLE = slice(4_999_950, 5_000_050)


def slice_of_shards():
    return SHARDS[MIDDLE].compute()


WORK = {
    "a chain of 8 affine steps is built and fused": lambda: chain(SMALL).normal_form(),
    "10 x 10, 8 affine steps, built and computed": lambda: chain(SMALL).compute(),
    "10 x 10, 8 steps of which one wraps, computed": WRAPPED.compute,
    "10 x 10, 8 affine steps, computed": JOINED.compute,
    "affine, 128 MiB": V[::-1].permute((1, 0))[::2].permute((1, 0))[:, ::-1].compute,
    "affine, 128 MiB, NumPy": X[::-1].T[::2].T[:, ::-1].copy,
    "transposed": V.permute((1, 0)).compute,
    "transposed, NumPy": lambda: np.ascontiguousarray(X.T),
    "joined rows": lambda: sel.concat([A, B]).compute(),
    "joined rows, NumPy": lambda: np.concatenate([HALF, REST]),
    "joined columns": lambda: sel.concat([A, B], mode=1).compute(),
    "joined columns, NumPy": lambda: np.concatenate([HALF, REST], 1),
    "interleaved rows": lambda: sel.interleave([A, B]).compute(),
    "interleaved rows, NumPy": lambda: interleaved(0),
    "interleaved columns": lambda: sel.interleave([A, B], mode=1).compute(),
    "interleaved columns, NumPy": lambda: interleaved(1),
    "padded with a constant": lambda: sel.pad(P, WIDTHS, fill_value=7).compute(),
    "padded with a constant, NumPy": lambda: np.pad(PART, WIDTHS, constant_values=7),
    "padded with edges": lambda: sel.pad(P, WIDTHS, boundary="edge").compute(),
    "padded with edges, NumPy": lambda: np.pad(PART, WIDTHS, mode="edge"),
    "reflected": lambda: sel.pad(P, WIDTHS, boundary="reflect").compute(),
    "reflected, NumPy": lambda: np.pad(PART, WIDTHS, mode="reflect"),
    "repeated": lambda: P.repeat((2, 2)).compute(),
    "repeated, NumPy": lambda: np.tile(PART, (2, 2)),
    "each repeated": lambda: P.repeat_each(1, 4).compute(),
    "each repeated, NumPy": lambda: np.repeat(PART, 4, 1),
    "rotated": lambda: V.rotate((100, 1000)).compute(),
    "rotated, NumPy": lambda: np.roll(X, (100, 1000), (0, 1)),
    "columns in another order": lambda: V.gather(1, COLUMNS).compute(),
    "columns in another order, NumPy": lambda: np.take(X, COLUMNS, 1),
    "least of a view and a number": lambda: sel.minimum(V, 3e6).compute(),
    "least of a view and a number, NumPy": lambda: np.minimum(X, 3e6),
    "100 of 10^7 elements in 10^5 shards": slice_of_shards,
}


@pytest.mark.parametrize("name", WORK)
def test_selections(benchmark, name):
    benchmark(WORK[name])


def test_a_slice_of_shards_in_dask(benchmark):
    shards = da.concatenate([da.from_array(np.arange(100.0), chunks=100) for _ in range(100_000)])
    benchmark(lambda: shards[MIDDLE].compute(scheduler="sync"))
