"""Tests of pictures of indices: the later an index comes, the darker is its part."""

import itertools

import numpy as np
import pytest

from tensorwrapper import Shape
from tensorwrapper.shape.pictures import _indices
from tensorwrapper.shape.pictures._indices import _looked_at, _means
from tests.support.pictures import Picture, near

SMALL = [
    Shape.jagged([3, 1, 2]),
    Shape(4, 5, origin=(-2, 3)),
    Shape(6),
    Shape.triangular(4),
    Shape.triangular(5, half="upper"),
]


def drawn(indices):
    return Picture(indices.to_svg())


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", SMALL, ids=str)
def test_a_line_leads_through_the_indices_in_their_order(shape, order):
    run = shape.indices(order=order)[1::2]
    found = drawn(run)
    (plane,), (line,) = found.boxes("plane"), found.runs("walk")
    ends, low = shape.implementation.bounding_box()
    extents, low = (1, *ends)[-2:], (0, *low)[-2:]
    unit = plane.width / extents[1], plane.height / extents[0]

    assert line == [
        (near(plane.x + (j - low[1] + 0.5) * unit[0]), near(plane.y + (i - low[0] + 0.5) * unit[1]))
        for i, j in ((0, *index)[-2:] for index in run)
    ]
    assert {str(k) for k in range(len(run))} <= set(found.texts)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    "shape",
    [Shape(70, 65), Shape.jagged([64 - k % 7 for k in range(80)]), Shape(3, 40, 50)],
    ids=["box", "rows", "solid"],
)
@pytest.mark.parametrize("key", [slice(None), slice(700, 4400), slice(None, None, -1), slice(4400, 900, -2)])
def test_a_sample_looks_as_all_indices_do(shape, order, key, monkeypatch):
    run = shape.indices(order=order)[key]
    flat, counts = shape.implementation, (8, 8)

    def shares(each):
        monkeypatch.setattr(_indices, "_EACH", each)
        where, moments = _looked_at(flat, order, run.places, run._at)
        parts = [np.minimum((part * 8).astype(int), 7) for part in where.T[-2:]]
        return _means(parts, moments, counts)

    exact, sampled = shares(10**6), shares(16)

    assert exact[exact > 0] == pytest.approx(sampled[exact > 0], abs=0.1)
    assert not sampled[exact == 0].any()


@pytest.mark.parametrize(
    "run",
    [
        Shape().indices(),
        Shape(0, 3).indices(),
        Shape(2**70, 2**70).indices(order="F")[: 2**139],
        Shape(2**70, 2**70).indices()[5 : 10**5],
        Shape(10**6, 10**6).indices()[-7:],
        Shape(*[2] * 30).indices(),
        Shape.tiled([200, 300], [400]).indices(order="F"),
        Shape.jagged(np.arange(10**5) % 3).indices()[10**4 : 10**4 + 5000],
    ],
    ids=str,
)
def test_runs_of_any_size_are_drawn(run):
    found = drawn(run)

    assert bool(found.boxes("part")) == bool(run)
    assert found.width < 600
    assert "indices" in found.label


def test_the_first_index_is_fainter_than_the_last():
    fills = [box.fill for box in drawn(Shape(8, 8).indices()).boxes("part")]
    shades = [sum(int(fill[k : k + 2], 16) for k in (1, 3, 5)) for fill in fills]

    assert all(a >= b for a, b in itertools.pairwise(shades))
    assert shades[0] > shades[-1]
