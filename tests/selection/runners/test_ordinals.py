"""Elements by their number, in any order."""

import numpy as np
import pytest

from tensorwrapper import selection as sel

RNG = np.random.default_rng(3)


BIG = np.arange(1500 * 1600).reshape(1500, 1600)


ORDER = RNG.permutation(2 * 1500 * 1600)


FAR = {
    "rows that lie far apart": (
        lambda v: v.reshape((1600, 3000)).permute((1, 0)),
        lambda x: x.reshape((1600, 3000)).T,
    ),
    "a column": (lambda v: v.reshape((4800, 1000))[:, 3], lambda x: x.reshape((4800, 1000))[:, 3]),
    "few points": (
        lambda v: v.reshape((4_800_000,)).gather(0, ORDER[:5000]),
        lambda x: x.reshape(-1)[ORDER[:5000]],
    ),
    "all in another order": (
        lambda v: v.reshape((4_800_000,)).gather(0, ORDER),
        lambda x: x.reshape(-1)[ORDER],
    ),
    "rows in another order": (
        lambda v: v.reshape((3200, 1500)).gather(0, np.arange(3200)[::-1] ** 2 % 3203 % 3200),
        lambda x: x.reshape((3200, 1500))[np.arange(3200)[::-1] ** 2 % 3203 % 3200],
    ),
}


SOURCES = {
    "joined": (lambda: sel.concat([BIG, BIG + 7]), lambda: np.concatenate([BIG, BIG + 7])),
    "in turns": (
        lambda: sel.interleave([BIG, BIG[::-1]], mode=1).reshape((3000, 1600)),
        lambda: np.stack([BIG, BIG[::-1]], 2).reshape((3000, 1600)),
    ),
    "chosen": (
        lambda: sel.where(np.arange(1600) % 2 == 0, sel.concat([BIG, BIG]), 5),
        lambda: np.where(np.arange(1600) % 2 == 0, np.concatenate([BIG, BIG]), 5),
    ),
    "least, cast": (
        lambda: sel.minimum(sel.concat([BIG, BIG]), 900_000).astype("f8"),
        lambda: np.minimum(np.concatenate([BIG, BIG]), 900_000).astype("f8"),
    ),
    "rotated": (
        lambda: sel.concat([BIG, BIG]).rotate((3, 5)),
        lambda: np.roll(np.concatenate([BIG, BIG]), (3, 5), (0, 1)),
    ),
    "coordinates": (
        lambda: sel.compute((3000, 1600), lambda i, j: 1600 * i + j, dtype="i8"),
        lambda: np.arange(4_800_000).reshape((3000, 1600)),
    ),
}


@pytest.mark.parametrize("way", FAR)
@pytest.mark.parametrize("source", SOURCES)
def test_elements_that_lie_far_apart_in_order_are_found(source, way):
    (view, array), (ours, theirs) = SOURCES[source], FAR[way]
    np.testing.assert_array_equal(np.asarray(ours(view()).compute()), theirs(array()))
