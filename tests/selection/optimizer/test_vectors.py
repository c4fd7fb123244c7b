"""Views whose elements and normal form are known: each with its elements, and what is left to run."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.layout.axes._axis import Cycle, Stride, Table
from tests.support.selection.brute import elements_of

X = np.arange(24).reshape(4, 6)


def x():
    return sel.as_view(tw.as_tensor(X))


def parts():
    return sel.concat([[0, 1, 2], [10, 11, 12, 13, 14], [20, 21]])


def turns():
    return sel.interleave([[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22]])


def padded():
    return sel.pad([1, 2, 3, 4], [(2, 3)], fill_value=9)


def kind_of(view):
    """What runs: "strided", "sep" with a letter per mode, "route n" with its pieces, or the node's name."""
    normal = view.normal_form()
    if normal.node.name == "route":
        return f"route {len(normal.node.pieces)}"
    if normal.node.name != "source":
        return normal.node.name
    letters = {Stride: "A", Cycle: "U", Table: "T"}
    _, axes = normal.layout.implementation.mode_maps("a test")
    found = "".join(letters[type(axis)] for axis in axes)
    return "strided" if set(found) <= {"A"} else f"sep {found}"


ROWS = {
    "permute, slice, chip": (
        lambda: x().permute([1, 0])[5::-2][:, 1],
        [11, 9, 7],
        "strided",
    ),
    "rotated, sliced": (lambda: x().rotate([1, 2])[::3, ::2], [[22, 18, 20], [16, 12, 14]], "sep AU"),
    "a slice of what is rotated that does not wrap": (
        lambda: x().rotate([0, 2])[:, 2:5],
        [[0, 1, 2], [6, 7, 8], [12, 13, 14], [18, 19, 20]],
        "strided",
    ),
    "repeated, sliced": (
        lambda: x().repeat([1, 2])[:, 4:10:3],
        [[4, 1], [10, 7], [16, 13], [22, 19]],
        "strided",
    ),
    "repeated, sliced, three turns": (
        lambda: x().repeat([1, 3])[:2, 4:18:3],
        [[4, 1, 4, 1, 4], [10, 7, 10, 7, 10]],
        "sep AU",
    ),
    "each repeated, sliced by a multiple": (
        lambda: x().repeat_each(1, 3)[:, 1::6],
        [[0, 2, 4], [6, 8, 10], [12, 14, 16], [18, 20, 22]],
        "strided",
    ),
    "each repeated, a row backwards": (lambda: x().repeat_each(1, 3)[0, ::-1][::5], [5, 4, 2, 0], "sep U"),
    "wrapped pad": (
        lambda: x()[1].pad([(2, 3)], boundary="wrap"),
        [10, 11, 6, 7, 8, 9, 10, 11, 6, 7, 8],
        "sep U",
    ),
    "reflected pad": (
        lambda: x()[0].pad([(2, 3)], boundary="reflect"),
        [2, 1, 0, 1, 2, 3, 4, 5, 4, 3, 2],
        "sep T",
    ),
    "symmetric pad": (
        lambda: x()[0].pad([(2, 3)], boundary="symmetric"),
        [1, 0, 0, 1, 2, 3, 4, 5, 5, 4, 3],
        "sep T",
    ),
    "edge pad": (
        lambda: x()[0].pad([(2, 3)], boundary="edge"),
        [0, 0, 0, 1, 2, 3, 4, 5, 5, 5, 5],
        "sep T",
    ),
    "reflected several times": (
        lambda: sel.as_view([0, 1, 2]).pad([(7, 8)], boundary="reflect"),
        [1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2],
        "sep T",
    ),
    "symmetric several times": (
        lambda: sel.as_view([0, 1, 2]).pad([(7, 8)], boundary="symmetric"),
        [0, 0, 1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1, 2, 2, 1],
        "sep T",
    ),
    "outer positions": (
        lambda: x().oindex[[3, 0, 3], [5, 5, 0]],
        [[23, 23, 18], [5, 5, 0], [23, 23, 18]],
        "sep TT",
    ),
    "points": (lambda: x().vindex[[3, 0, 3], [5, 5, 0]], [23, 5, 18], "sep T"),
    "points, as NumPy": (lambda: x()[[3, 0, 3], [5, 5, 0]], [23, 5, 18], "sep T"),
    "concat, backwards": (lambda: parts()[8:1:-3], [20, 12, 2], "route 3"),
    "concat, every fourth": (lambda: parts()[1::4], [1, 12, 21], "route 3"),
    "interleave": (turns, [0, 10, 20, 1, 11, 21, 2, 12, 22, 3, 13], "route 3"),
    "interleave, every second": (lambda: turns()[2:11:2], [20, 11, 2, 22, 13], "route 3"),
    "interleave, backwards": (lambda: turns()[10::-4], [13, 2, 20], "route 3"),
    "interleave, backwards by a multiple": (lambda: turns()[9::-6], [3, 1], "strided"),
    "interleave, one of them": (lambda: turns()[::3], [0, 1, 2, 3], "strided"),
    "constant pad": (padded, [9, 9, 1, 2, 3, 4, 9, 9, 9], "route 3"),
    "constant pad, backwards": (lambda: padded()[8::-3], [9, 4, 1], "route 2"),
    "inside a constant pad": (lambda: padded()[2:6], [1, 2, 3, 4], "strided"),
    "outside of what is padded": (lambda: padded()[6:], [9, 9, 9], "full"),
    "sliding window": (
        lambda: sel.as_view(np.arange(8)).sliding_window(0, 3)[::2],
        [[0, 1, 2], [2, 3, 4], [4, 5, 6]],
        "strided",
    ),
    "diagonal": (x()[:, 1:].diagonal, [1, 8, 15, 22], "strided"),
    "nearest neighbours, more": (
        lambda: sel.as_view(np.arange(4)).repeat_each(0, 6)[2::4],
        [0, 1, 1, 2, 3, 3],
        "sep U",
    ),
    "nearest neighbours, fewer": (
        lambda: sel.as_view(np.arange(6)).repeat_each(0, 4)[3::6],
        [0, 2, 3, 5],
        "sep U",
    ),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_the_elements_and_the_normal_form(row):
    make, elements, kind = row
    view = make()
    assert elements_of(view._expression).tolist() == elements
    assert elements_of(view.normal_form()).tolist() == elements
    assert view.compute().tolist() == elements
    assert kind_of(view) == kind


def test_a_permuted_slice_has_the_offset_and_stride_of_its_source():
    view = x().permute([1, 0])[5::-2][:, 1]
    layout = view.normal_form().layout
    assert (layout.offset, layout.strides) == (11, (-2,))


def test_a_slice_of_what_is_rotated_begins_where_the_source_does():
    assert x().rotate([0, 2])[:, 2:5].normal_form().layout.offset == 0


def test_a_diagonal_has_the_sum_of_the_strides():
    layout = x()[:, 1:].diagonal().normal_form().layout
    assert (layout.offset, layout.strides) == (1, (7,))


@pytest.mark.parametrize("count", range(1, 8))
@pytest.mark.parametrize("many", [1, 2, 3])
def test_turns_of_one_source_are_the_source_itself(count, many):
    tensor = tw.as_tensor(np.arange(count))
    turns = sel.interleave([tensor[k::many] for k in range(many)])
    assert turns.normal_form() == sel.as_view(tensor).normal_form()


def test_random_numbers_do_not_depend_on_the_selection():
    field = sel.random((12, 9), seed=3)
    part = field[5:9, ::-2]
    np.testing.assert_array_equal(elements_of(part.normal_form()), np.asarray(field.compute())[5:9, ::-2])
    assert part.normal_form().node == field.normal_form().node


def test_no_pad_is_left_inside():
    view = padded()[2:6]
    assert "pad" in repr(view._expression.node.name)
    assert view.normal_form() == sel.as_view(view._expression.node.operand.node.source).normal_form()
