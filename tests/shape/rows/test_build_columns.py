"""How somebody else's representation makes its rows: from lengths and origins, mode by mode."""

import numpy as np
import pytest

from tensorwrapper.errors import ConversionError, ExtentError, RankError, SizeOverflowError
from tensorwrapper.shape import Jagged, Rows, Shape, as_shape

HUGE = 2**63 - 1


@pytest.mark.parametrize(
    ("lengths", "options", "expected"),
    [
        (([3, 1, 2],), {}, Shape.jagged([3, 1, 2])),
        ((range(3),), {}, Shape.jagged([0, 1, 2])),
        ((np.array([3, 1, 2], dtype=">u2"),), {}, Shape.jagged([3, 1, 2])),
        (([],), {}, Shape.jagged([], rank=2)),
        (([3, 1],), {"first": 5}, Shape.jagged([3, 1], origin=(5, 0))),
        (([3, 1],), {"first": np.int8(-5)}, Shape.jagged([3, 1], origin=(-5, 0))),
        (([3, 1],), {"origins": [4]}, Shape.jagged([3, 1], origin=(0, 4))),
        (([3, 1],), {"origins": [[4, 7]]}, Shape.jagged([Shape(3, origin=(4,)), Shape(1, origin=(7,))])),
        (([1, 2], [10, 20, 30]), {}, Shape.jagged([[10], [20, 30]])),
        (([0, 0], []), {}, Shape.jagged([[], []], rank=3)),
        (
            ([1, 2], [10, 20, 30]),
            {"first": 1, "origins": [[5, 6], 7]},
            Shape.jagged(
                [Shape.jagged([10], origin=(5, 7)), Shape.jagged([20, 30], origin=(6, 7))], origin=(1, 0, 0)
            ),
        ),
        (([1, 1], [2, 1], [1, 2, 3]), {}, Shape.jagged([[[1, 2]], [[3]]])),
        (([(1, 2), (3, 4)],), {}, Shape.jagged([Shape(1, 2), Shape(3, 4)])),
        (([(1,), (3,)],), {}, Shape.jagged([1, 3])),
        (([(1, 2)] * 2,), {"origins": [(5, 6)]}, Shape.jagged([Shape(1, 2, origin=(5, 6))] * 2)),
        (
            ([(1, 2), (3, 4)],),
            {"origins": [[(5, 6), (7, 8)]]},
            Shape.jagged([Shape(1, 2, origin=(5, 6)), Shape(3, 4, origin=(7, 8))]),
        ),
        (([2], [(1, 2), (3, 4)]), {}, Shape.jagged([[Shape(1, 2), Shape(3, 4)]])),
        ((np.zeros((0, 2), dtype=np.int64),), {}, Shape.jagged([], rank=3)),
    ],
)
def test_rows_have_the_lengths_and_origins_given(lengths, options, expected):
    assert as_shape(Jagged(Rows.of_lengths(*lengths, **options))) == expected


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (Rows.of_lengths, RankError, "lengths of one mode"),
        (lambda: Rows.of_lengths([1], origins=[0, 0]), RankError, "2 modes, but lengths for 1"),
        (lambda: Rows.of_lengths([3, -1]), ExtentError, "row 1 of mode 1 has -1"),
        (lambda: Rows.of_lengths([1, 2], [1, -5, 3]), ExtentError, "row 1 of mode 2 has -5"),
        (lambda: Rows.of_lengths([1, 2], [1, 2]), ExtentError, r"mode 2 .* 3 prefixes, .*\(2,\)"),
        (lambda: Rows.of_lengths([[1, 2]], [1, 2, 3]), ExtentError, r"mode 1 .*\(1, 2\)"),
        (lambda: Rows.of_lengths([1], [(1, 2), (3, 4)]), ExtentError, r"1 cells .*\(2, 2\)"),
        (lambda: Rows.of_lengths([(1, 2), (3, -4)]), ExtentError, "row 1 of mode 2 has -4"),
        (lambda: Rows.of_lengths([[[1]]]), ExtentError, r"\(1, 1, 1\)"),
        (lambda: Rows.of_lengths([1, 2], origins=[[1, 2, 3]]), ExtentError, r"mode 1 .* 2, .*\(3,\)"),
        (
            lambda: Rows.of_lengths([(1, 2)], origins=[[1, 2, 3]]),
            ExtentError,
            r"\(1, 2\) or \(2,\), .*\(3,\)",
        ),
        (lambda: Rows.of_lengths([1.5]), ConversionError, "float64"),
        (lambda: Rows.of_lengths([True]), ConversionError, "bool"),
        (lambda: Rows.of_lengths([1], first=1.0), ConversionError, r"1\.0"),
        (lambda: Rows.of_lengths([2**63]), SizeOverflowError, "64 bits"),
        (lambda: Rows.of_lengths([HUGE, HUGE]), SizeOverflowError, "64 bits"),
        (lambda: Rows.of_lengths([1, 5], origins=[[0, HUGE - 1]]), SizeOverflowError, "mode 1"),
        (lambda: Rows.of_lengths([5], origins=[HUGE - 1]), SizeOverflowError, "mode 1"),
        (lambda: Rows.of_lengths([1, 1], first=HUGE), SizeOverflowError, "mode 0"),
    ],
)
def test_rows_that_cannot_be_are_refused(make, error, match):
    with pytest.raises(error, match=match):
        make()


def test_arrays_that_are_given_may_change_afterwards():
    lengths, origins, cells = np.array([1, 2]), np.array([3, 4]), np.array([(1, 2), (3, 4)])
    rows = [Rows.of_lengths(lengths, origins=[origins]), Rows.of_lengths(cells, origins=[cells])]
    before = [as_shape(Jagged(r)) for r in rows]
    texts = [repr(shape) for shape in before]
    lengths[:], origins[:], cells[:] = 9, 9, 9

    assert [repr(shape) for shape in before] == texts
    for r in rows:
        arrays = [r.columns.leaf, *r.columns.origins, *r.columns.leaf_origins]
        assert not any(a.flags.writeable for a in arrays if isinstance(a, np.ndarray))
