"""Views of numbers that count up: what a layout shows of memory, and what is written through it."""

import numpy as np
import pytest

from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape

ALL = slice(None)
SQUARE = Layout(Shape(3, 3))
TWICE = SQUARE.repeat((2, 1))


def write(memory, layout, values):
    """Put values, which may be broadcast, where a layout says."""
    memory[layout.to_numpy()] = values


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        pytest.param(
            Layout(Shape(3), offset=5).broadcast((3, 3)), [[5, 6, 7]] * 3, id="a row broadcast to a square"
        ),
        pytest.param(TWICE, [[0, 1, 2], [3, 4, 5], [6, 7, 8]] * 2, id="a square, twice"),
        pytest.param(
            TWICE.rotate((0, 1)), [[2, 0, 1], [5, 3, 4], [8, 6, 7]] * 2, id="twice, columns rotated"
        ),
        pytest.param(TWICE.rotate((1, 0)), [[6, 7, 8], [0, 1, 2], [3, 4, 5]] * 2, id="twice, rows rotated"),
        pytest.param(
            TWICE.permute((1, 0)), [[0, 3, 6] * 2, [1, 4, 7] * 2, [2, 5, 8] * 2], id="twice, transposed"
        ),
        pytest.param(TWICE[1], [3, 4, 5], id="twice, a row"),
        pytest.param(TWICE[:, 2], [2, 5, 8] * 2, id="twice, a column"),
        pytest.param(
            SQUARE.gather(0, [0, 1, 0, 2]), [[0, 1, 2], [3, 4, 5], [0, 1, 2], [6, 7, 8]], id="rows 0 1 0 2"
        ),
        pytest.param(
            Layout(Shape(20, 3)).gather(0, [12, 16, 19]),
            [[36, 37, 38], [48, 49, 50], [57, 58, 59]],
            id="rows 12 16 19",
        ),
        pytest.param(Layout(Shape(10))[::-1], [*range(9, -1, -1)], id="back to front"),
        pytest.param(
            Layout(Shape(32768)).reshape((1, 128, 256))[0, :3, :3],
            [[0, 1, 2], [256, 257, 258], [512, 513, 514]],
            id="corner of a reshape",
        ),
    ],
)
def test_what_a_view_shows(layout, expected):
    assert layout.to_numpy().tolist() == expected


def test_new_modes_come_first_when_a_view_is_broadcast():
    layout = Layout(Shape(4), offset=1).broadcast((2, 3, 4))

    assert layout.shape == Shape(2, 3, 4)
    assert layout.to_numpy().tolist() == [[[1, 2, 3, 4]] * 3] * 2


def test_writes_through_a_reshape_and_a_gather_reach_just_those_places():
    image = np.zeros(10 * 10 * 4, dtype=np.uint8)
    chosen = np.random.default_rng(7).permutation(100)[:20]
    pixels = Layout(Shape(10, 10, 4)).reshape((100, 4)).gather(0, chosen)
    write(image, pixels[:, 3], 255)

    assert np.flatnonzero(image).tolist() == sorted(4 * k + 3 for k in chosen.tolist())


@pytest.mark.parametrize("layout", [SQUARE, SQUARE.permute((1, 0)), TWICE.rotate((0, 1)), SQUARE[::-1, ::2]])
def test_rows_and_columns_are_those_of_the_table(layout):
    table = layout.to_numpy()
    rows, columns = table.shape

    assert [layout[k].to_numpy().tolist() for k in range(rows)] == table.tolist()
    assert [layout[:, k].to_numpy().tolist() for k in range(columns)] == table.T.tolist()
    assert [layout.permute((1, 0))[k].to_numpy().tolist() for k in range(columns)] == table.T.tolist()


def test_arrays_copied_into_rows():
    memory = np.full(20, -1)
    table = Layout(Shape(4, 5))
    for k in range(4):
        write(memory, table[k], np.arange(5))

    assert memory.reshape(4, 5).tolist() == [[0, 1, 2, 3, 4]] * 4


def test_a_row_of_one_is_written_across_a_longer_row():
    source, memory = np.array([[2], [3]]), np.zeros(4, dtype=int)
    target = Layout(Shape(2, 2))
    write(memory, target[0], source[Layout(Shape(2, 1))[0].to_numpy()].ravel())
    assert memory.reshape(2, 2).tolist() == [[2, 2], [0, 0]]
    write(memory, target[1], source[Layout(Shape(2, 1))[1].to_numpy()].ravel())
    assert memory.reshape(2, 2).tolist() == [[2, 2], [3, 3]]


def test_a_row_can_be_taken_apart():
    a, b, c = SQUARE[0].to_numpy()

    assert (a, b, c) == (0, 1, 2)


def test_a_matrix_times_its_transpose():
    layout = Layout(Shape(2, 5))
    here, there = layout.to_numpy(), layout.permute((1, 0)).to_numpy()

    assert (here @ there).tolist() == [[30, 80], [80, 255]]
    assert (there @ here).tolist() == [
        [25, 30, 35, 40, 45],
        [30, 37, 44, 51, 58],
        [35, 44, 53, 62, 71],
        [40, 51, 62, 73, 84],
        [45, 58, 71, 84, 97],
    ]


@pytest.mark.parametrize(
    ("values", "first"),
    [
        (0, [[0, 0, 2], [0, 0, 5], [0, 0, 8]]),
        (np.array([[1], [2], [3]]), [[1, 1, 2], [2, 2, 5], [3, 3, 8]]),
    ],
)
def test_writing_to_two_of_three_columns(values, first):
    memory = np.arange(27)
    cube = Layout(Shape(3, 3, 3))
    write(memory, cube[:, :, :2], values)
    table = memory.reshape(3, 3, 3)

    assert table[0].tolist() == first
    assert table[1].tolist() == [[*row[:2], 11 + 3 * k] for k, row in enumerate(first)]
    # A gather of the same columns has the same places.
    assert cube.gather(2, [0, 1]) == cube[:, :, :2]


def test_every_pixel_gets_the_colour():
    memory = np.zeros(64, dtype=np.uint8)
    write(memory, Layout(Shape(4, 4, 4)), [32, 32, 32, 255])

    assert memory.reshape(16, 4).tolist() == [[32, 32, 32, 255]] * 16


@pytest.mark.parametrize(
    ("key", "extents"),
    [
        (2, (0, 10)),
        ((2, slice(None, None, -1)), (0, 10)),
        ((2, ALL, 4), (0,)),
        ((slice(2, 4), ALL, slice(6, 9)), (2, 0, 3)),
    ],
    ids=str,
)
def test_modes_without_positions_stay_what_they_are(key, extents):
    layout = Layout(Shape(10, 0, 10))

    assert layout.shape.extents == (10, 0, 10)
    assert layout[key].shape.extents == extents
    assert layout[key].to_numpy().shape == extents


@pytest.mark.parametrize(
    ("extents", "mode", "sums"),
    [
        ((4, 3), 0, [18, 22, 26]),
        ((4, 3), 1, [3, 12, 21, 30]),
        ((2, 3, 5), 0, [[15, 17, 19, 21, 23], [25, 27, 29, 31, 33], [35, 37, 39, 41, 43]]),
        ((2, 3, 5), 1, [[15, 18, 21, 24, 27], [60, 63, 66, 69, 72]]),
        ((2, 3, 5), 2, [[10, 35, 60], [85, 110, 135]]),
    ],
)
def test_sums_along_a_mode(extents, mode, sums):
    layout = Layout(Shape(*extents))
    turned = layout.permute([*[m for m in range(len(extents)) if m != mode], mode])

    assert layout.to_numpy().sum(axis=mode).tolist() == sums
    assert turned.to_numpy().sum(axis=-1).tolist() == sums


def test_the_algebra_of_one_mode():
    counted = Layout(Shape(4), offset=1)
    turned = counted.rotate([-2]).repeat([2])[1:5]

    assert turned.to_numpy().tolist() == [4, 1, 2, 3]
    assert turned.repeat([2]).to_numpy().tolist() == [4, 1, 2, 3] * 2
    back = turned.repeat([2]).rotate([-3])[2:6]
    assert back.to_numpy().tolist() == [1, 2, 3, 4]
    assert back == counted
    assert (turned[2].shape.rank, turned[2].offset) == (0, 2)


def taken(values, sizes):
    """The leading items of each mode, filled with 0 after them, or before them where a size is negative."""
    kept = [min(old, abs(new)) for old, new in zip(values.shape, sizes, strict=True)]
    source = Layout(Shape(*values.shape))[tuple([slice(n) for n in kept])]
    starts = [abs(new) - n if new < 0 else 0 for n, new in zip(kept, sizes, strict=True)]
    whole = Shape(*[abs(new) for new in sizes])
    target = Layout(whole).window(Shape(*kept, origin=starts))
    memory = np.zeros(whole.size, dtype=values.dtype)
    memory[target.to_numpy()] = values.ravel()[source.to_numpy()]
    return memory.reshape(whole.extents)


def rotated(values, shifts):
    return values.ravel()[Layout(Shape(*values.shape)).rotate(shifts).to_numpy()]


def test_taking_more_fills_and_taking_less_cuts():
    square = np.arange(1, 5).reshape(2, 2)

    assert taken(square, (3, -3)).tolist() == [[0, 1, 2], [0, 3, 4], [0, 0, 0]]
    assert taken(square, (1, -1)).tolist() == [[1]]


def test_the_game_of_life_on_a_torus_of_rotations():
    board = np.isin(SQUARE.to_numpy(), [1, 2, 3, 4, 7]).astype(np.int64)
    board = rotated(rotated(taken(board, (5, 7)), (0, 2)), (1, 0))
    board = taken(taken(board, (-10, -20)), (15, 35))
    torus = Layout(Shape(15, 35))
    around = np.stack([torus.rotate((i, j)).to_numpy() for i in (1, 0, -1) for j in (1, 0, -1)])
    for _ in range(999):
        near = board.ravel()[around].sum(axis=0)
        board = ((near == 3) | ((near == 4) & (board == 1))).astype(np.int64)

    assert [tuple(place) for place in np.argwhere(board).tolist()] == [
        *[(7, 15), (7, 16), (8, 15), (8, 16)],
        *[(10, 5), (11, 4), (11, 6), (11, 32), (11, 33), (12, 4), (12, 6), (12, 31), (12, 34)],
        *[(13, 5), (13, 31), (13, 34), (14, 32), (14, 33)],
    ]
