"""Tensor operations that Tapestry gets wrong, on ours: each row is a defect that must not come back."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape, sharding
from tensorwrapper import selection as sel
from tensorwrapper.errors import (
    OutOfBoundsError,
    ParseError,
    RankError,
    SelectionError,
    TensorWrapperError,
)

ROWS = tw.as_tensor(np.arange(6).reshape(2, 3))
STEPS = (
    '{"dtype":"<i8","of":{"source":"x"},"ops":[["slice",1,0,1,%s]],'
    '"range":{"end":[2,2],"start":[0,0]},"view":1}'
)


@pytest.mark.parametrize(
    ("extent", "most", "wanted"),
    [(11, 3, [3, 3, 3, 2]), (10, 4, [4, 4, 2]), (12, 5, [5, 5, 2]), (8, 3, [3, 3, 2]), (10, 3, [3, 3, 3, 1])],
)
def test_the_last_part_is_shorter(extent, most, wanted):
    copied = sharding.BlockOperation(
        "copy", (2, extent), {}, {"y": sharding.Operand.result((2, extent), "(i, j) -> (i, j)")}
    )
    shards = copied.split(1, most)

    assert [part.extents for part in Shape(2, extent).split_by_extents(most, 1)] == [(2, n) for n in wanted]
    assert shards.blocks.extents[:, 1].tolist() == wanted
    assert shards.findings() == ()


@pytest.mark.parametrize("stop", [(3, 2), (-1, 9), (-1, -1)])
def test_no_range_ends_before_it_starts(stop):
    with pytest.raises(OutOfBoundsError):
        Shape.from_bounds((0, 5), stop)


@pytest.mark.parametrize("order", [(1, 1, 1), (0, 0, 2), (0, 0, 3), (0, 1), (0, 1, 2, 3)])
def test_a_permutation_names_every_mode_once(order):
    for permute in (
        Shape(2, 3, 4).permute,
        tw.zeros((2, 3, 4)).permute,
        sharding.IndexMap.identity(3).permute_input,
        sharding.IndexMap.identity(3).permute_output,
    ):
        with pytest.raises(RankError):
            permute(order)


@pytest.mark.parametrize("index", [(2, 0), (1, 3), (0, 3), (-1, 0), (2, 3)])
def test_an_index_is_inside_only_if_it_is_in_every_mode(index):
    assert index not in Shape(2, 3)


def test_an_ellipsis_stands_for_all_modes_that_are_left():
    assert ROWS[..., 0].tolist() == [0, 3]
    assert ROWS[..., ::2].tolist() == [[0, 2], [3, 5]]


def test_an_empty_slice_is_a_view():
    ten = tw.as_tensor(np.arange(10))
    part = ten[10:10]

    assert (part.shape.extents, part.tolist()) == ((0,), [])
    assert sel.as_view(ten)[10:10].compute().tolist() == []
    for whole in (slice(None), slice(0, 0), slice(0, None), slice(None, None, -1)):
        assert tw.as_tensor(np.zeros((0, 3)))[whole].shape.extents == (0, 3)


def test_a_slice_of_one_element_is_squeezed_and_broadcast():
    one = tw.as_tensor(np.arange(10))[4:5]

    assert one.squeeze(0).item() == 4
    assert one.broadcast((3,)).tolist() == [4, 4, 4]


def test_a_mode_of_three_elements_is_not_squeezed_though_they_are_one():
    with pytest.raises(TensorWrapperError, match="3"):
        tw.as_tensor(np.array([7])).broadcast((3,)).squeeze(0)


@pytest.mark.parametrize(("extent", "wanted"), [(0, 5), (3, 5), (2, 4)])
def test_only_an_extent_of_one_is_broadcast(extent, wanted):
    with pytest.raises(TensorWrapperError):
        tw.as_tensor(np.zeros(extent)).broadcast((wanted,))


def test_one_element_is_broadcast_to_none():
    assert tw.as_tensor(np.array([7])).broadcast((0,)).shape.extents == (0,)


def test_rows_of_different_lengths_are_jagged_not_cut_short():
    assert tw.jagged([[1], [3, 4]]).tolist() == [[1], [3, 4]]


def test_a_step_of_two_up_to_two_takes_the_first_alone():
    assert ROWS[:, :2:2].tolist() == [[0], [3]]


def test_positions_count_from_the_end_once_and_never_wrap():
    view = sel.as_view(ROWS)

    assert ROWS[-1, -3].item() == view[-1, -3].compute().item() == 3
    for part in (ROWS, view):
        for index in [(-3, 0), (2, 0), (0, -4), (0, 3), (-(2**64) + 1, 0)]:
            with pytest.raises(OutOfBoundsError):
                part[index]


@pytest.mark.parametrize("number", ["1.5", "2.0", "true", '"2"', "null", "1e0"])
def test_json_has_no_integers_but_integers(number):
    box = f'{{"extents":[2,{number}],"kind":"smooth","origin":[0,0]}}'
    region = f'{{"tensorId":"x","range":{{"start":[0,0],"end":[2,{number}]}}}}'
    steps = STEPS % number
    with pytest.raises(ParseError):
        Shape.from_json(box)
    for text in (region, steps):
        with pytest.raises(SelectionError):
            sel.from_json(text, sources={"x": ROWS})


def test_what_is_refused_for_its_number_is_read_with_an_integer():
    assert Shape.from_json('{"extents":[2,2],"kind":"smooth","origin":[0,0]}') == Shape(2, 2)
    region = '{"tensorId":"x","range":{"start":[0,0],"end":[2,2]}}'
    for text in (region, STEPS % 2):
        assert sel.from_json(text, sources={"x": ROWS}).compute().tolist() == [[0, 1], [3, 4]]
