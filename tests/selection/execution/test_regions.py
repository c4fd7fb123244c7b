"""Regions of a view: of bounded volume, and long where the memory of the source runs."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.selection.facade._view_compute import region_extents, regions

SOURCE = tw.as_tensor(np.zeros((200, 300), dtype=np.int8))


@pytest.mark.parametrize(
    ("made", "most", "extents"),
    [
        (lambda v: v, 640, (2, 300)),
        (lambda v: v, 100, (1, 64)),
        (lambda v: v, 10**9, (200, 300)),
        (lambda v: v.permute(1, 0), 128, (64, 2)),  # a run along mode 0 first
        (lambda v: v.permute(1, 0), 10, (10, 1)),
        (lambda v: v[:1].broadcast((200, 300)), 640, (2, 300)),
        (lambda v: sel.concat([v, v]), 600, (2, 300)),
    ],
)
def test_regions_are_as_large_as_they_may_be(made, most, extents):
    assert region_extents(made(sel.as_view(SOURCE)).normal_form(), most) == extents


def test_regions_share_out_the_box_in_row_major_order():
    box = Shape(3, 5, origin=(1, -2))
    parts = list(regions(box, (2, 2)))

    assert parts[0] == Shape(2, 2, origin=(1, -2))
    assert parts[-1] == Shape(1, 1, origin=(3, 2))
    assert sorted(index for part in parts for index in part.indices()) == list(box.indices())
