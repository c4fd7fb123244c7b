"""Tests of pictures of masks: each part of the source is as dark as much of it is picked."""

import itertools

import numpy as np
import pytest

from tensorwrapper import Mask, Shape
from tensorwrapper.shape.masks._picture import _share, _shares_of_points, draw_mask
from tensorwrapper.shape.masks._positions import Positions
from tests.support.pictures import Picture, near


@pytest.mark.parametrize("first", [0, -5])
@pytest.mark.parametrize("extent", [1, 7, 64, 65, 200])
@pytest.mark.parametrize("step", [1, 3, -2])
def test_shares_of_ranges_and_arrays_are_counted(first, extent, step):
    places = range(first, first + extent)[::step]
    wanted = np.isin(np.arange(first, first + extent), list(places))
    parts = np.array_split(wanted, 1) if extent == 1 else None

    for pick in (Positions.of_range(places), Positions(np.array(list(places)))):
        shares = _share(pick, first, extent)
        bounds = [extent * k // len(shares) for k in range(len(shares) + 1)]
        cut = [wanted[a:b].mean() for a, b in itertools.pairwise(bounds)]
        assert shares.tolist() == pytest.approx(cut if parts is None else [wanted.mean()])


def test_points_are_counted_where_they_lie():
    mask = Mask.of_points(Shape(4, 6), [(0, 0), (3, 5), (3, 4)])
    shares, notes = _shares_of_points(mask, [(0, 4), (0, 6)])

    assert np.argwhere(shares).tolist() == [[0, 0], [3, 4], [3, 5]]
    assert notes == []


@pytest.mark.parametrize(
    "mask",
    [
        Mask(Shape(4, 6), slice(None, None, 2), [1, 4]),
        Mask(Shape(2, 3, 4), 1, [0, 2], slice(None)),
        Mask(Shape(2**60, 2**60), slice(None, None, 3), slice(2**59)),
        Mask(Shape.jagged([3, 1, 2]), [0, 2]),
        Mask.of_points(Shape.jagged([3, 1, 2]), [(2, 1), (0, 0)]),
        Mask(Shape(0, 3), [], [1]),
        Mask(Shape(4), 2),
        Mask(Shape()),
        Mask.of_ordinals(Shape(), [0]),
    ],
    ids=str,
)
def test_every_mask_has_a_picture(mask):
    found = Picture(mask.to_svg())

    assert found.label.startswith("picked ")
    assert bool(found.boxes("part")) == bool(mask.size)


def test_half_of_a_plane_is_half_of_the_picture():
    found = Picture(draw_mask(Mask(Shape(8, 8), slice(None), slice(4))).to_svg())
    (plane,) = found.boxes("plane")

    assert sum(box.area for box in found.boxes("part")) / plane.area == near(0.5)
