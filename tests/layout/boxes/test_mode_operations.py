"""Operations on top of one another: what comes out, and in which form it is held."""

import numpy as np
import pytest

from tensorwrapper.layout import Layout
from tensorwrapper.layout.axes._axis import Cycle, Stride, Table
from tensorwrapper.shape import Shape

X = Layout(Shape(4, 6))
N = 12


def forms(layout):
    return [type(axis) for axis in layout.implementation.mode_maps("forms")[1]]


@pytest.mark.parametrize(
    ("layout", "expected", "held"),
    [
        pytest.param(X.permute((1, 0))[5::-2][:, 1], [11, 9, 7], [Stride], id="permute, step back, select"),
        pytest.param(
            X.rotate((1, 2))[::3, ::2], [[22, 18, 20], [16, 12, 14]], [Stride, Cycle], id="rotate, steps"
        ),
        pytest.param(
            X.rotate((0, 2))[:, 2:5],
            [[0, 1, 2], [6, 7, 8], [12, 13, 14], [18, 19, 20]],
            [Stride, Stride],
            id="rotate, slice that does not wrap",
        ),
        pytest.param(
            X.repeat((1, 2))[:, 4:10:3], [[4, 1], [10, 7], [16, 13], [22, 19]], None, id="repeat, steps"
        ),
        pytest.param(
            X.repeat_each(1, 3)[:, 1::6],
            [[0, 2, 4], [6, 8, 10], [12, 14, 16], [18, 20, 22]],
            [Stride, Stride],
            id="repeat each, whole steps",
        ),
        pytest.param(
            X.repeat_each(1, 3)[0].reverse(0)[::5], [5, 4, 2, 0], [Cycle], id="repeat each, back, steps"
        ),
        pytest.param(
            X[1].pad([(2, 3)], boundary="wrap"), [10, 11, 6, 7, 8, 9, 10, 11, 6, 7, 8], [Cycle], id="wrap"
        ),
        pytest.param(
            X[0].pad([(2, 3)], boundary="reflect"), [2, 1, 0, 1, 2, 3, 4, 5, 4, 3, 2], [Table], id="reflect"
        ),
        pytest.param(
            X[0].pad([(2, 3)], boundary="symmetric"),
            [1, 0, 0, 1, 2, 3, 4, 5, 5, 4, 3],
            [Table],
            id="symmetric",
        ),
        pytest.param(
            X[0].pad([(2, 3)], boundary="edge"), [0, 0, 0, 1, 2, 3, 4, 5, 5, 5, 5], [Table], id="edge"
        ),
        pytest.param(
            Layout(Shape(3)).pad([(7, 8)], boundary="reflect"),
            [1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2],
            [Table],
            id="reflect, several folds",
        ),
        pytest.param(
            Layout(Shape(3)).pad([(7, 8)], boundary="symmetric"),
            [0, 0, 1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1, 2, 2, 1],
            [Table],
            id="symmetric, several folds",
        ),
        pytest.param(
            X.gather(0, [3, 0, 3]).gather(1, [5, 5, 0]),
            [[23, 23, 18], [5, 5, 0], [23, 23, 18]],
            [Table, Table],
            id="outer gathers",
        ),
        pytest.param(
            Layout(Shape(8)).sliding_window(0, 3)[::2],
            [[0, 1, 2], [2, 3, 4], [4, 5, 6]],
            [Stride, Stride],
            id="windows at every second place",
        ),
        pytest.param(X[:, 1:].diagonal(), [1, 8, 15, 22], [Stride], id="second diagonal"),
    ],
)
def test_vectors(layout, expected, held):
    assert layout.to_numpy().tolist() == expected
    if held is not None:
        assert forms(layout) == held


def test_what_is_strided_has_the_strides_that_one_expects():
    assert (X.rotate((0, 2))[:, 2:5].offset, X.rotate((0, 2))[:, 2:5].strides) == (0, (6, 1))
    assert (X[:, 1:].diagonal().offset, X[:, 1:].diagonal().strides) == (1, (7,))
    assert X.permute((1, 0))[5::-2][:, 1].strides == (-2,)


@pytest.mark.parametrize(("old", "new", "places"), [(4, 6, [0, 1, 1, 2, 3, 3]), (6, 4, [0, 2, 3, 5])])
def test_the_nearest_neighbour_is_a_cycle_without_a_modulus(old, new, places):
    # Of half-pixel centres: (old + 2 * old * j) div (2 * new).
    axis = Cycle(new, old, 2 * old, None, 2 * new, 1)
    centres = (np.arange(new) + 0.5) * old / new

    assert axis.offsets().tolist() == places == np.floor(centres).astype(int).tolist()
    assert axis.simplify() == (0, axis)


def row(extent=N):
    return Layout(Shape(extent))


@pytest.mark.parametrize(
    ("fused", "direct"),
    [
        pytest.param(lambda: X.permute((1, 0)).permute((1, 0)), lambda: X, id="permute twice is nothing"),
        pytest.param(
            lambda: Layout(Shape(2, 3, 4)).permute((2, 0, 1)).permute((1, 2, 0)),
            lambda: Layout(Shape(2, 3, 4)),
            id="permute, back",
        ),
        pytest.param(
            lambda: Layout(Shape(2, 3, 4)).permute((1, 2, 0)).permute((1, 0, 2)),
            lambda: Layout(Shape(2, 3, 4)).permute((2, 1, 0)),
            id="permute q after p is p[q]",
        ),
        pytest.param(lambda: row()[1::2][2::2], lambda: row()[5::4], id="slice of a slice"),
        pytest.param(lambda: row()[10::-2][1:4], lambda: row()[8:2:-2], id="slice of a slice that goes back"),
        pytest.param(lambda: X.reverse(1).reverse(1), lambda: X, id="reverse twice"),
        pytest.param(lambda: X.unsqueeze(1).squeeze(1), lambda: X, id="squeeze after unsqueeze"),
        pytest.param(lambda: row().reverse(0), lambda: row()[::-1], id="reverse is a slice"),
        pytest.param(lambda: row().rotate([5]).rotate([9]), lambda: row().rotate([2]), id="rotations add up"),
        pytest.param(lambda: row().rotate([N]), row, id="a whole turn"),
        pytest.param(
            lambda: row().rotate([5]).reverse(0),
            lambda: row().reverse(0).rotate([-5]),
            id="reverse past rotate",
        ),
        pytest.param(
            lambda: row(4).repeat([3]).rotate([5]),
            lambda: row(4).rotate([1]).repeat([3]),
            id="rotate past repeat",
        ),
        pytest.param(
            lambda: row(4).repeat([3]).repeat([2]), lambda: row(4).repeat([6]), id="repeats multiply"
        ),
        pytest.param(
            lambda: row(4).repeat_each(0, 3).repeat_each(0, 2),
            lambda: row(4).repeat_each(0, 6),
            id="each multiplies",
        ),
        pytest.param(lambda: row().rotate([3])[3:], lambda: row()[:9], id="slice after the seam"),
        pytest.param(
            lambda: row().rotate([3])[2::-1], lambda: row()[:8:-1], id="slice before the seam, back"
        ),
        pytest.param(lambda: row(4).repeat([3])[4:8], lambda: row(4), id="one cycle of a repeat"),
        pytest.param(
            lambda: row().pad([(3, 4)], boundary="wrap")[3:-4], row, id="slice inside a wrapped pad"
        ),
        *[
            pytest.param(
                lambda mode=mode: row().pad([(3, 4)], boundary=mode)[3:-4],
                row,
                id=f"slice inside a pad, {mode}",
            )
            for mode in ("edge", "reflect", "symmetric")
        ],
        pytest.param(
            lambda: row(4).repeat_each(0, 3)[7::-3], lambda: row(4)[2::-1], id="steps that skip all repeats"
        ),
        pytest.param(
            lambda: row(4).repeat_each(0, 6)[1::12], lambda: row(4)[::2], id="steps over several repeats"
        ),
        pytest.param(
            lambda: Layout(Shape(1, 6)).broadcast((9, 6))[2:7:2],
            lambda: Layout(Shape(1, 6)).broadcast((3, 6)),
            id="slice of a broadcast mode",
        ),
        pytest.param(
            lambda: Layout(Shape(1, 6)).broadcast((9, 6))[4], lambda: row(6), id="integer in a broadcast mode"
        ),
        pytest.param(
            lambda: Layout(Shape(1, 1)).broadcast((1, 5)).broadcast((4, 5)),
            lambda: Layout(Shape(1, 1)).broadcast((4, 5)),
            id="broadcast twice",
        ),
        pytest.param(
            lambda: row().gather(0, [7, 1, 4, 4]).gather(0, [3, 0]),
            lambda: row().gather(0, [4, 7]),
            id="gather twice",
        ),
        pytest.param(
            lambda: row()[1::2].gather(0, [4, 0, 1]),
            lambda: row().gather(0, [9, 1, 3]),
            id="gather of a slice",
        ),
        pytest.param(
            lambda: row().gather(0, [9, 6, 3, 0]), lambda: row()[9::-3], id="gather at equal distances"
        ),
        pytest.param(
            lambda: Layout(Shape(4, 6)).reshape((24,)).reshape((3, 8)),
            lambda: Layout(Shape(3, 8)),
            id="reshape twice",
        ),
    ],
)
def test_chains_are_the_one_operation_that_they_amount_to(fused, direct):
    one, other = fused(), direct()

    assert one.to_numpy().tolist() == other.to_numpy().tolist()
    assert one.offset == other.offset
    assert forms(one) == forms(other)
    if one.is_strided:
        wide = [mode for mode, extent in enumerate(one.shape.extents) if extent > 1]
        assert [one.strides[m] for m in wide] == [other.strides[m] for m in wide]
    if forms(one) == [Cycle]:
        assert one == other


@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric"])
@pytest.mark.parametrize(("before", "after"), [(2, 3), (0, 5), (7, 0)])
def test_reversing_a_pad_exchanges_its_ends(mode, before, after):
    one = row(5).pad([(before, after)], boundary=mode).reverse(0)
    other = row(5).reverse(0).pad([(after, before)], boundary=mode)

    assert one.to_numpy().tolist() == other.to_numpy().tolist()


def test_a_pad_of_a_gather_is_one_table():
    chosen = Layout(Shape(9)).gather(0, [8, 0, 3]).pad([(1, 2)], boundary="symmetric")

    assert chosen.to_numpy().tolist() == [8, 8, 0, 3, 3, 0]
    assert forms(chosen) == [Table]
