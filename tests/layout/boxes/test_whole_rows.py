"""Whole rows turned round and repeated: as lists of rows are."""

import pytest

from tensorwrapper import Layout, Shape
from tensorwrapper.errors import JaggedModeError, RankError

ROWS = Layout(Shape.jagged([2, 0, 3, 1]))


def rows(layout):
    """The offsets of each row."""
    return [
        [layout.offset_of((j, k)) for k in range(n)] for j, n in enumerate(layout.shape.lengths(1).tolist())
    ]


@pytest.mark.parametrize(
    ("made", "order"),
    [
        (lambda: ROWS.rotate((1, 0)), [3, 0, 1, 2]),
        (lambda: ROWS.rotate((-5, 0)), [1, 2, 3, 0]),
        (lambda: ROWS.repeat((2, 1)), [0, 1, 2, 3, 0, 1, 2, 3]),
        (lambda: ROWS.repeat((0, 1)), []),
        (lambda: ROWS.repeat_each(0, 2), [0, 0, 1, 1, 2, 2, 3, 3]),
    ],
)
def test_rows_stay_as_they_are(made, order):
    assert rows(made()) == [rows(ROWS)[j] for j in order]


@pytest.mark.parametrize(
    "made", [lambda: ROWS.rotate((0, 1)), lambda: ROWS.repeat((1, 2)), lambda: ROWS.repeat_each(1, 2)]
)
def test_modes_inside_rows_are_refused(made):
    with pytest.raises(JaggedModeError, match="moves whole rows along mode 0, and mode 1"):
        made()


def test_there_is_one_number_for_each_mode():
    with pytest.raises(RankError, match="for each of 2 modes, not 1"):
        ROWS.rotate((1,))
