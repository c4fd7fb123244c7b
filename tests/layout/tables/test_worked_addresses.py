"""Addresses of small views, worked out by hand elsewhere: forward, and back."""

import numpy as np
import pytest

from tensorwrapper.errors import OutOfBoundsError
from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape

IMAGE = Layout(Shape(2048, 2048, 4))[:256, 255:511]
"""256 x 256 pixels out of a larger image."""


def two_planes():
    """Two planes of 4 x 4 with a gap as large as a plane between them."""
    return Layout(Shape(2, 4, 4), strides=(32, 4, 1))


@pytest.mark.parametrize(
    ("layout", "places", "back"),
    [
        pytest.param(
            Layout(Shape(2, 2), strides=(2, 1)),
            [0, 1, 2, 3],
            {0: [0], 1: [1], 2: [2], 3: [3]},
            id="packed",
        ),
        pytest.param(
            Layout(Shape(2, 2), strides=(1, 2)),
            [0, 2, 1, 3],
            {0: [0], 1: [2], 2: [1], 3: [3]},
            id="transposed",
        ),
        pytest.param(
            Layout(Shape(2, 2), strides=(3, 1)),
            [0, 1, 3, 4],
            {0: [0], 1: [1], 2: [], 3: [2], 4: [3]},
            id="padded rows",
        ),
        pytest.param(
            Layout(Shape(2, 2), strides=(1, 2)).repeat((2, 1)),
            [0, 2, 1, 3, 0, 2, 1, 3],
            {0: [0, 4], 1: [2, 6], 2: [1, 5], 3: [3, 7]},
            id="transposed, twice",
        ),
        pytest.param(
            Layout(Shape(2, 2)).gather(1, [1, 0]).repeat((2, 1)),
            [1, 0, 3, 2, 1, 0, 3, 2],
            {0: [1, 5], 1: [0, 4], 2: [3, 7], 3: [2, 6]},
            id="gathered, twice",
        ),
        pytest.param(
            Layout(Shape(3, 3)).rotate((0, -1)),
            [1, 2, 0, 4, 5, 3, 7, 8, 6],
            {0: [2], 1: [0], 2: [1], 3: [5], 4: [3], 5: [4], 6: [8], 7: [6], 8: [7]},
            id="rotated",
        ),
    ],
)
def test_forward_and_back(layout, places, back):
    assert layout.to_numpy().ravel().tolist() == places
    for offset, ordinals in back.items():
        if not ordinals:
            with pytest.raises(OutOfBoundsError, match=f"offset {offset}"):
                layout.indices_of(offset)
            continue
        assert [layout.shape.ordinal(index) for index in layout.indices_of(offset)] == ordinals
        assert layout.shape.ordinal(layout.index_of(offset)) == ordinals[0]


@pytest.mark.parametrize(
    ("layout", "places"),
    [
        pytest.param(IMAGE, [1020, 1021, 1022, 1023, 8192, 8193, 8194, 8195, 8196, 8197], id="crop"),
        pytest.param(
            IMAGE[..., ::-1],
            [1023, 1022, 1021, 1020, 8195, 8194, 8193, 8192, 8199, 8198],
            id="crop with the channels reversed",
        ),
    ],
)
def test_a_crop_of_an_image(layout, places):
    # Counted from the first element of the crop, at the ordinals 1020 to 1029.
    start = IMAGE.bounds()[0]

    assert [layout.offset_of_ordinal(k) - start for k in range(1020, 1030)] == places
    assert layout.is_strided


PLANES = [*range(16), *range(32, 48)]
ROTATED = [32 * plane + 4 * row + k for plane in range(2) for row in range(4) for k in (1, 2, 3, 0)]


@pytest.mark.parametrize(
    ("layout", "places"),
    [
        pytest.param(two_planes(), PLANES, id="planes with a gap"),
        pytest.param(
            two_planes().reverse(2),
            [32 * plane + 4 * row + k for plane in range(2) for row in range(4) for k in (3, 2, 1, 0)],
            id="rows reversed",
        ),
        pytest.param(two_planes().gather(0, [1, 0]), [*range(32, 48), *range(16)], id="planes exchanged"),
        pytest.param(two_planes().repeat((2, 1, 1)), PLANES * 2, id="twice"),
        pytest.param(Layout(Shape(2, 4, 4)).repeat((2, 1, 1)), [*range(32)] * 2, id="dense, twice"),
        pytest.param(two_planes().rotate((0, 0, -1)).repeat((2, 1, 1)), ROTATED * 2, id="rotated, twice"),
        pytest.param(
            Layout(Shape(4, 4)).rotate((-1, -1)),
            [5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12, 1, 2, 3, 0],
            id="rotated both ways",
        ),
        *[
            pytest.param(Layout(Shape(*extents)), [*range(16)], id=f"dense {extents}")
            for extents in [(4, 4), (2, 2, 4), (2, 2, 2, 2)]
        ],
    ],
)
def test_what_reduction_must_keep(layout, places):
    assert layout.to_numpy().ravel().tolist() == places
    assert [layout.offset_of(index) for index in layout.shape.indices()] == places


@pytest.mark.parametrize(
    "layout", [IMAGE, IMAGE[..., ::-1], two_planes().gather(0, [1, 0]), two_planes().reverse(2)]
)
def test_every_address_leads_back(layout):
    some = layout.to_numpy().ravel()[:: max(layout.shape.size // 500, 1)]
    found = layout.indices_at(some)

    assert np.array_equal(layout.offsets_of(found), some)
