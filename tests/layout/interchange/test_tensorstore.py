"""Index transforms: the layouts behind them, and theirs, with TensorStore itself as the judge."""

import numpy as np
import pytest

from tensorwrapper import Layout, Shape
from tensorwrapper.errors import OutOfBoundsError, RankError
from tensorwrapper.layout import IndexTransform, OutputMap


def maps(transform):
    return [
        (
            one.offset,
            one.stride,
            one.input_dimension,
            None if one.index_array is None else one.index_array.tolist(),
        )
        for one in transform.output
    ]


WHOLE = Layout(Shape(4, 6))


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        (WHOLE, [(0, 1, 0, None), (0, 1, 1, None)]),
        (WHOLE[2], [(2, 1, None, None), (0, 1, 0, None)]),
        (WHOLE[1:, ::-2], [(1, 1, 0, None), (5, -2, 1, None)]),
        (WHOLE.permute((1, 0)), [(0, 1, 1, None), (0, 1, 0, None)]),
        (WHOLE.diagonal(), [(0, 1, 0, None), (0, 1, 0, None)]),
        (WHOLE.gather(1, [5, 0, 1]), [(0, 1, 0, None), (0, 1, None, [[5, 0, 1]])]),
        (WHOLE.gather(1, [1, 3, 5]), [(0, 1, 0, None), (1, 2, 1, None)]),
        (WHOLE.broadcast((2, 4, 6)), [(0, 1, 1, None), (0, 1, 2, None)]),
        (
            WHOLE[0].sliding_window(0, 5),
            [(0, 1, None, None), (0, 1, None, [[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]])],
        ),
        # One mode through both of the base, as the digits of one number.
        (Layout(Shape(24))[4:9], [(0, 1, None, [0, 0, 1, 1, 1]), (0, 1, None, [4, 5, 0, 1, 2])]),
        (Layout(Shape(3), strides=(5,), offset=5), [(0, 1, 0, None), (5, -1, 0, None)]),
        (Layout(Shape(2, 3, origin=(7, 1)), strides=(6, 1)), [(-7, 1, 0, None), (-1, 1, 1, None)]),
        (Layout(Shape(), offset=9), [(1, 1, None, None), (3, 1, None, None)]),
        (Layout(Shape(0, 2)), [(0, 1, None, None), (0, 1, None, None)]),
    ],
)
def test_the_maps_of_a_transform(layout, expected):
    assert maps(layout.to_tensorstore(Shape(4, 6))) == expected


def over(extents, *output, origin=None):
    return {"input_inclusive_min": origin or [0] * len(extents), "input_shape": extents, "output": [*output]}


@pytest.mark.parametrize(
    ("document", "offsets"),
    [
        # Constants, a diagonal, an input mode that nothing reads, an outer product.
        (over([], {"offset": 1}, {"offset": 2}), 8),
        (
            over([4], {"input_dimension": 0}, {"input_dimension": 0, "offset": 5, "stride": -1}),
            [5, 10, 15, 20],
        ),
        (over([2, 2], {"offset": 1}, {"input_dimension": 0}), [[6, 6], [7, 7]]),
        (over([2, 2], {"index_array": [[3], [0]]}, {"index_array": [[5, 1]]}), [[23, 19], [5, 1]]),
        (over([2], {"index_array": [3, 0]}, {"index_array": [5, 1]}), [23, 1]),
        (over([2], {"index_array": [1, 0], "stride": 2, "offset": 1}, {"offset": 0}), [18, 6]),
        (over([2], {"input_dimension": 0, "stride": 0, "offset": 3}, {"offset": 0}), [18, 18]),
        (over([2], {"input_dimension": 0, "offset": -7}, {"offset": 0}, origin=[8]), [6, 12]),
        # Points that happen to be sums over the modes.
        (over([2, 2], {"index_array": [[0, 1], [2, 3]]}, {"offset": 0}), [[0, 6], [12, 18]]),
        (
            over([2, 2], {"index_array": [[0, 0], [0, 1]]}, {"index_array": [[0, 3], [4, 1]]}),
            [[0, 3], [4, 7]],
        ),
        # An empty domain means nothing, whatever its maps say.
        (
            over([0, 2], {"offset": 99}, {"input_dimension": 1, "stride": 10**9}),
            np.empty((0, 2), int).tolist(),
        ),
    ],
)
def test_transforms_by_example(document, offsets):
    assert Layout.from_tensorstore(document, Shape(4, 6)).to_numpy().tolist() == offsets


def test_a_transform_made_by_hand_is_checked():
    domain = Layout(Shape(2, 3)).to_tensorstore(Shape(2, 3)).domain
    with pytest.raises(RankError, match="reads mode 2"):
        IndexTransform(domain, (OutputMap(0, 1, 2),))
    with pytest.raises(RankError, match=r"extents \(3,\)"):
        IndexTransform(domain, (OutputMap(0, 1, None, np.arange(3)),))
    with pytest.raises(OutOfBoundsError, match="is not in"):
        IndexTransform(domain, ()).index_of((2, 0))


def test_maps_are_values():
    table = np.arange(3)
    one, other = OutputMap(index_array=table), OutputMap(index_array=np.arange(3))
    assert one == other
    assert hash(one) == hash(other)
    assert one != OutputMap(index_array=np.arange(3).reshape(3, 1))
    assert one != OutputMap(index_array=None)
    assert not one.index_array.flags.writeable
    assert table.flags.writeable


def test_a_billion_rows_are_arithmetic():
    whole = Layout(Shape(10**9, 4))
    part = whole[5::7, ::-1].to_tensorstore(whole)
    assert maps(part) == [(5, 7, 0, None), (3, -1, 1, None)]
    assert Layout.from_tensorstore(part, whole) == whole[5::7, ::-1]
