"""The index system: positions of repeated, rotated and gathered modes, forward and back.

Each row has extents, strides, how far each mode is read ahead (a rotation the other way), how often it is
repeated, and the places in row-major order.
"""

import numpy as np
import pytest

from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape

TURNED = (1, 0)


def made(entries, strides, ahead, visible):
    """Return the layout; an entry is an extent or the positions of a gather."""
    bases = [entry if isinstance(entry, int) else max(entry) + 1 for entry in entries]
    layout = Layout(Shape(*bases), strides=strides)
    for mode, entry in enumerate(entries):
        if not isinstance(entry, int):
            layout = layout.gather(mode, entry)
    layout = layout.rotate([-n for n in ahead])
    return layout.repeat([n // m for n, m in zip(visible, layout.shape.extents, strict=True)])


CHANNELS_FIRST = [
    12 * row + 3 * column + channel for channel in range(3) for row in range(4) for column in range(4)
]

ROWS = [
    ((2, 2), (2, 1), (0, 0), (2, 2), [0, 1, 2, 3]),
    ((2, 2), (2, 1), (0, 1), (2, 2), [1, 0, 3, 2]),
    ((3, 3), (3, 1), (0, 1), (3, 3), [1, 2, 0, 4, 5, 3, 7, 8, 6]),
    ((3, 3), (3, 1), (2, 0), (3, 3), [6, 7, 8, 0, 1, 2, 3, 4, 5]),
    ((2, 2), (2, 1), (0, 0), (2, 4), [0, 1, 0, 1, 2, 3, 2, 3]),
    ((2, 2), (2, 1), (0, 0), (2, 6), [0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3]),
    ((2, 2), (2, 1), (0, 0), (4, 4), [0, 1, 0, 1, 2, 3, 2, 3] * 2),
    ((2, 2), (1, 2), (0, 0), (2, 2), [0, 2, 1, 3]),
    ((2, 2), (1, 2), (0, 0), (2, 4), [0, 2, 0, 2, 1, 3, 1, 3]),
    ((2, 2), (1, 2), (0, 0), (4, 2), [0, 2, 1, 3] * 2),
    ((2, TURNED), (2, 1), (0, 0), (4, 2), [1, 0, 3, 2] * 2),
    ((2, TURNED), (1, 2), (0, 0), (4, 6), [2, 0, 2, 0, 2, 0, 3, 1, 3, 1, 3, 1] * 2),
    ((2, TURNED), (2, 1), (0, 1), (4, 2), [0, 1, 2, 3] * 2),
    ((2, TURNED), (1, 2), (0, 1), (4, 6), [0, 2, 0, 2, 0, 2, 1, 3, 1, 3, 1, 3] * 2),
    ((2, 2), (2, 4), (0, 0), (2, 2), [0, 4, 2, 6]),
    ((2, 2), (2, 4), (0, 0), (2, 4), [0, 4, 0, 4, 2, 6, 2, 6]),
    ((2, 2), (2, 4), (0, 0), (4, 2), [0, 4, 2, 6] * 2),
    ((2, 2), (4, 2), (0, 0), (2, 2), [0, 2, 4, 6]),
    ((2, 2), (4, 2), (0, 0), (2, 4), [0, 2, 0, 2, 4, 6, 4, 6]),
    ((2, 2), (4, 2), (0, 0), (4, 6), [0, 2, 0, 2, 0, 2, 4, 6, 4, 6, 4, 6] * 2),
    ((2, TURNED), (4, 2), (0, 0), (2, 2), [2, 0, 6, 4]),
    ((2, 2), (3, 1), (0, 0), (2, 2), [0, 1, 3, 4]),
    ((2, 2), (3, 1), (0, 0), (2, 4), [0, 1, 0, 1, 3, 4, 3, 4]),
    ((2, 2), (1, 3), (0, 0), (4, 4), [0, 3, 0, 3, 1, 4, 1, 4] * 2),
    ((4, 4, 3), (12, 3, 1), (0, 0, 0), (4, 4, 3), [*range(48)]),
    ((3, 4, 4), (1, 12, 3), (0, 0, 0), (3, 4, 4), CHANNELS_FIRST),
    ((3, 4, 4), (1, 12, 3), (0, 0, 0), (12, 4, 4), CHANNELS_FIRST * 4),
    ((3, (1, 2)), (1, 3), (0, 0), (3, 2), [3, 6, 4, 7, 5, 8]),
]
IDS = [f"{entries}/{strides} ahead {ahead} as {visible}" for entries, strides, ahead, visible, _ in ROWS]


@pytest.mark.parametrize(("entries", "strides", "ahead", "visible", "places"), ROWS, ids=IDS)
def test_all_ways_forward_agree(entries, strides, ahead, visible, places):
    layout = made(entries, strides, ahead, visible)
    shape = layout.shape

    assert shape == Shape(*visible)
    assert [layout.offset_of_ordinal(k) for k in range(shape.size)] == places
    assert [layout.offset_of(index) for index in np.ndindex(*visible)] == places
    assert layout.offsets_of(np.argwhere(np.ones(visible))).tolist() == places
    # By coordinates: as grids, one array per mode.
    grids = np.meshgrid(*map(np.arange, visible), indexing="ij")
    assert layout.offsets_of(np.stack(grids, axis=-1)).ravel().tolist() == places
    assert layout.to_numpy().ravel().tolist() == places
    assert layout.offsets_of_ordinals().tolist() == places


@pytest.mark.parametrize(("entries", "strides", "ahead", "visible", "places"), ROWS, ids=IDS)
def test_the_inverse_has_the_pairs_of_the_forward_map(entries, strides, ahead, visible, places):
    layout = made(entries, strides, ahead, visible)
    least, greatest = min(places), max(places)
    forward = sorted((place, ordinal) for ordinal, place in enumerate(places))
    inverse = [
        (offset, layout.shape.ordinal(index))
        for offset in range(least, greatest + 1)
        if offset in set(places)
        for index in layout.indices_of(offset)
    ]

    assert inverse == forward
    assert layout.bounds() == (least, greatest)
    assert layout.is_injective == (len(set(places)) == len(places))
    wanted = sorted(set(places))
    assert layout.indices_at(wanted).tolist() == [list(layout.index_of(offset)) for offset in wanted]
    assert [layout.shape.ordinal(layout.index_of(offset)) for offset in wanted] == [
        places.index(offset) for offset in wanted
    ]


@pytest.mark.parametrize(("entries", "strides", "ahead", "visible", "places"), ROWS, ids=IDS)
def test_no_index_leads_to_what_is_left_out(entries, strides, ahead, visible, places):
    layout = made(entries, strides, ahead, visible)
    for offset in set(range(-1, max(places) + 2)) - set(places):
        with pytest.raises(IndexError, match=f"offset {offset}"):
            layout.index_of(offset)
        with pytest.raises(IndexError, match=f"offset {offset}"):
            layout.indices_of(offset)
