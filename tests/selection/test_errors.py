"""What is said of wrong input: what was given, what is allowed, and where."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.errors import (
    ConversionError,
    DistributionError,
    DTypeError,
    ExtentError,
    ExtentMismatchError,
    IndexTypeError,
    JaggedModeError,
    LayerError,
    LayoutError,
    OutOfBoundsError,
    RankError,
    SizeOverflowError,
    StepError,
    TensorWrapperError,
    TooManyIndicesError,
)

T = tw.as_tensor(np.arange(24).reshape(4, 6))
V = sel.as_view(T)
MASK = tw.as_tensor(np.ones((4, 6), dtype=bool))
ROWS = tw.jagged([[1, 2], [3]])
TEXT = tw.strings(["a", "b"])
LONG = sel.zeros((2**62,), dtype="i1")
JOINED = sel.concat([T, T])

# What is done, the error, and a part of its text.
TABLE = {
    "concat of none": (lambda: sel.concat([]), ConversionError, "concat needs at least one view"),
    "concat of no list": (lambda: sel.concat(5), ConversionError, "a list of views, not 5"),
    "concat of text": (lambda: sel.concat("ab"), ConversionError, "a list of views"),
    "concat of ranks": (lambda: sel.concat([T, T[0]]), RankError, "operand 0 has 2 modes, operand 1 has 1"),
    "concat of ranks along a later mode": (
        lambda: sel.concat([T, T[0]], mode=1),
        RankError,
        "operand 0 has 2 modes, operand 1 has 1",
    ),
    "concat of one number among rows": (
        lambda: sel.concat([T[0], T[0, 0]]),
        RankError,
        "operand 0 has 1 modes, operand 1 has 0",
    ),
    "concat of a class": (lambda: sel.concat(list), ConversionError, "a list of views, not"),
    "stack of an array without modes": (
        lambda: sel.stack(np.array(3)),
        ConversionError,
        "a list of views, not",
    ),
    "concat of extents": (
        lambda: sel.concat([T, T, T[:, 1:]]),
        ExtentMismatchError,
        "mode 1 has extent 6 in operand 0, 5 in operand 2",
    ),
    "concat along no mode": (lambda: sel.concat([T, T], mode=2), RankError, "mode 2 does not exist"),
    "concat along a half": (lambda: sel.concat([T, T], mode=0.5), ConversionError, "an integer, not 0.5"),
    "concat of numbers": (lambda: sel.concat([1, 2]), RankError, "mode 0 does not exist"),
    "concat of rows": (lambda: sel.concat([T[0], ROWS]), RankError, "rank"),
    "concat of text and numbers": (lambda: sel.concat([TEXT, T[0]]), DTypeError, "no type in common"),
    "concat of objects": (lambda: sel.concat([[object()]]), DTypeError, "object"),
    "concat of too many": (lambda: sel.concat([LONG, LONG, LONG]), SizeOverflowError, "13835058055282163712"),
    "interleave of none": (lambda: sel.interleave([]), ConversionError, "interleave needs at least one"),
    "interleave out of turn": (
        lambda: sel.interleave([[1], [2, 3]]),
        ExtentMismatchError,
        r"extents \[1, 2\] along mode 0 .* are \[2, 1\]",
    ),
    "interleave of extents": (
        lambda: sel.interleave([T, T[:, 1:]]),
        ExtentMismatchError,
        "mode 1 has extent 6",
    ),
    "interleave along no mode": (lambda: sel.interleave([T, T], mode=-3), RankError, "mode -3"),
    "stack of none": (lambda: sel.stack([]), ConversionError, "stack needs at least one view"),
    "stack of shapes": (
        lambda: sel.stack([T, T[1:]]),
        ExtentMismatchError,
        "stack: mode 0 has extent 4 in operand 0, 3 in operand 1",
    ),
    "stack along no mode": (lambda: sel.stack([T, T], mode=3), RankError, "mode 3 .* modes are 0 to 2"),
    "pad of one width": (lambda: sel.pad(T, [(1, 1)]), RankError, "one pair per mode, 2 in all"),
    "pad by a number": (lambda: sel.pad(T, 3), ConversionError, "one pair .* not 3"),
    "pad by less": (lambda: sel.pad(T, [(1, -1), (0, 0)]), ExtentError, "-1"),
    "pad by a half": (lambda: sel.pad(T, [(1, 1.5), (0, 0)]), ConversionError, "1.5"),
    "pad by three": (lambda: sel.pad(T, [(1, 1, 1), (0, 0)]), RankError, r"\(1, 1, 1\)"),
    "pad with text": (lambda: sel.pad(T, [(1, 1)] * 2, fill_value="a"), ConversionError, "'a'"),
    "pad with much": (
        lambda: sel.pad(np.zeros(3, "i1"), [(1, 1)], fill_value=300),
        SizeOverflowError,
        "300 does not fit elements of type int8",
    ),
    "pad with an array": (lambda: sel.pad(T, [(1, 1)] * 2, fill_value=[1, 2]), ConversionError, "one number"),
    "pad in no way": (lambda: sel.pad(T, [(1, 1)] * 2, boundary="mirror"), ConversionError, "'mirror'"),
    "pad of nothing": (
        lambda: V[:0].pad([(1, 0), (0, 0)], boundary="edge"),
        LayoutError,
        "mode 0 has extent 0",
    ),
    "pad of rows": (lambda: sel.pad(ROWS, [(1, 1)] * 2), JaggedModeError, "nothing says how long they are"),
    "where of numbers": (lambda: sel.where(T, T, T), DTypeError, "type bool, not int64"),
    "where of extents": (lambda: sel.where(MASK, T, T[:, 1:]), ExtentMismatchError, r"where: .*\(4, 5\)"),
    "where of rows": (lambda: sel.where(MASK, ROWS, T), ExtentMismatchError, "nor that of its first modes"),
    "where of text and numbers": (lambda: sel.where(MASK[0, :2], TEXT, 1), DTypeError, "no type in common"),
    "minimum of none": (sel.minimum, ConversionError, "minimum needs at least one view"),
    "maximum of extents": (lambda: sel.maximum(T, T[1:]), ExtentMismatchError, r"maximum: .*\(3, 6\)"),
    "a position outside": (lambda: V[4], OutOfBoundsError, "position 4 is outside mode 0, .* extent 4"),
    "a position before": (lambda: V[0, -7], OutOfBoundsError, "position -7 is outside mode 1"),
    "too many positions": (lambda: V[0, 0, 0], TooManyIndicesError, "3 indices .* 2 modes"),
    "two ellipses": (lambda: V[..., ...], RankError, "one ellipsis"),
    "half a position": (lambda: V[1.0], IndexTypeError, "must hold positions, .* not 1.0"),
    "no step": (lambda: V[::0], StepError, "mode 0 is 0"),
    "a list outside": (lambda: V[[0, 4]], OutOfBoundsError, "position 4 is outside mode 0"),
    "a mask of other extents": (lambda: V[np.ones(5, bool)], OutOfBoundsError, "size of axis is 4 .* is 5"),
    "points that do not fit": (lambda: V[[0, 1], [0, 1, 2]], OutOfBoundsError, "broadcast"),
    "outer positions outside": (lambda: V.oindex[[9], :], OutOfBoundsError, "position 9 is outside mode 0"),
    "outer positions of rank 2": (lambda: V.oindex[[[0, 1]], :], RankError, "mode 0 must have one mode"),
    "points outside": (lambda: V.vindex[[0, 1], [1, 9]], OutOfBoundsError, "index 9"),
    "positions of rows": (lambda: sel.as_view(ROWS)[[0, 9]], OutOfBoundsError, "9"),
    "points of rows": (
        lambda: sel.as_view(ROWS).vindex[[0], [1]],
        JaggedModeError,
        "no positions of its own",
    ),
    "no permutation": (lambda: V.permute([0, 0]), RankError, r"\(0, 0\) is not a permutation"),
    "reverse no mode": (lambda: V.reverse(2), RankError, "mode 2 does not exist"),
    "rotate one mode": (lambda: V.rotate([1]), RankError, "one entry per mode, 2 in all"),
    "repeat less than never": (lambda: V.repeat([-1, 1]), ExtentError, "-1"),
    "repeat each of no mode": (lambda: V.repeat_each(2, 1), RankError, "mode 2"),
    "gather outside": (lambda: V.gather(0, [4]), OutOfBoundsError, "position 4 is outside mode 0"),
    "gather halves": (lambda: V.gather(0, [1.5]), ConversionError, "1.5"),
    "broadcast a mode": (lambda: V.broadcast((4, 7)), LayoutError, "extent 6, .* broadcast to 7"),
    "broadcast of pieces": (lambda: JOINED.broadcast((8, 7)), LayoutError, "extent 6, .* broadcast to 7"),
    "broadcast to less": (lambda: V.broadcast((6,)), LayoutError, "fewer modes"),
    "squeeze a long mode": (lambda: V.squeeze(0), ExtentError, "mode 0 has extent 4"),
    "unsqueeze far away": (lambda: V.unsqueeze(4), RankError, r"modes \(4,\) are outside"),
    "reshape to other sizes": (lambda: V.reshape((5, 5)), ExtentError, "25 elements.* 24"),
    "reshape two unknowns": (lambda: V.reshape((-1, -1)), ExtentError, r"\(-1, -1\)"),
    "reshape to no multiple": (lambda: JOINED.reshape((5, -1)), ExtentError, r"\(5, -1\) .* 48"),
    "reshape of rows": (lambda: sel.as_view(ROWS).reshape((3,)), LayoutError, "reshape"),
    "split to other sizes": (lambda: V.split_mode(1, (4, 2)), ExtentError, "mode 1 of extent 6"),
    "merge backwards": (lambda: V.merge_modes(1, 0), RankError, "from 1 to 0"),
    "merge beyond": (lambda: JOINED.merge_modes(0, 2), RankError, "mode 2"),
    "a window that is too long": (lambda: JOINED.sliding_window(1, 7), ExtentError, "1 to 6, not 7"),
    "one mode twice": (lambda: V.diagonal(0, 0), RankError, "two different modes"),
    "a window outside": (lambda: V.window(Shape(2, 2, origin=(3, 5))), OutOfBoundsError, r"\[3, 5\)"),
    "a window of another rank": (lambda: V.window(Shape(2)), LayoutError, "same rank"),
    "no type": (lambda: V.astype("nonsense"), DTypeError, "'nonsense' is not a type"),
    "a type of objects": (lambda: V.astype(object), DTypeError, "object"),
    "a type of texts of one length": (lambda: V.astype("U3"), DTypeError, "strings"),
    "a constant of another type": (lambda: sel.full((2,), "x", dtype="i4"), ConversionError, "'x'"),
    "a constant that does not fit": (lambda: sel.full((2,), 300, dtype="i1"), SizeOverflowError, "300"),
    "constants": (lambda: sel.full((2,), [1, 2]), ConversionError, "one number"),
    "constants of no type": (lambda: sel.zeros((2,), dtype="nonsense"), DTypeError, "'nonsense'"),
    "an extent below 0": (lambda: sel.full((-2,), 1), ExtentError, "-2"),
    "counts over layers": (
        lambda: sel.iota(Shape.nested(Shape(2, 2), layers=(1, 1))),
        LayerError,
        "flatten",
    ),
    "iota of no mode": (lambda: sel.iota((2, 3), 2), RankError, "mode 2"),
    "iota that does not fit": (lambda: sel.iota((300,), dtype="i1"), SizeOverflowError, "element at 299"),
    "iota below 0": (
        lambda: sel.iota(Shape(3, origin=(-1,)), dtype="u1"),
        SizeOverflowError,
        "element at -1",
    ),
    "linspace of less than none": (lambda: sel.linspace(0, 1, -1), ExtentError, "-1"),
    "eye of less than none": (lambda: sel.eye(-1), ExtentError, "-1"),
    "computed by no function": (lambda: sel.compute((2, 2), 3), ConversionError, "not by 3"),
    "half a seed": (lambda: sel.random((2,), seed=1.5), ConversionError, "1.5"),
    "a seed below 0": (lambda: sel.random((2,), seed=-1), DistributionError, "-1"),
    "random integers as floats": (lambda: sel.random((2,), seed=1, dtype="i4"), DTypeError, "int32"),
    "random in an empty range": (lambda: sel.integers((2,), 5, 2, seed=1), DistributionError, "5 and 2"),
    "more than surely": (lambda: sel.bernoulli((2,), 1.5, seed=1), DistributionError, "1.5"),
    "parameters of extents": (
        lambda: sel.uniform((2,), np.zeros(3), 1.0, seed=1),
        ExtentMismatchError,
        r"\(3,?\).*\(2,\)",
    ),
    "more random numbers than ranks": (
        lambda: sel.random((2**40, 2**40), seed=1),
        SizeOverflowError,
        "1208925819614629174706176 places",
    ),
    "a view of nothing": (lambda: sel.as_view(None), DTypeError, "object"),
    "a view of lists of two lengths": (lambda: sel.as_view([[1], [2, 3]]), ConversionError, "array"),
}


@pytest.mark.parametrize("row", TABLE.values(), ids=TABLE)
def test_wrong_input_is_named(row):
    act, error, text = row
    with pytest.raises(error, match=text) as caught:
        act()
    # What a property is asked is an AttributeError, too.
    assert error in type(caught.value).__mro__[:2]
    assert isinstance(caught.value, TensorWrapperError)


# Boxes of more places than 64 bits count are no error in themselves: parts of them can be computed.
@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: sel.zeros((2**40, 2**40), dtype="i1")[2**39, 5:8], [0, 0, 0]),
        (lambda: sel.iota((2**40, 2**40), 0)[2**39 : 2**39 + 2, 5], [2**39, 2**39 + 1]),
        (lambda: V.broadcast((2**61, 4, 6))[2**60, 1, :2], [6, 7]),
        (lambda: JOINED.broadcast((2**61, 8, 6))[2**60, 5, :2], [6, 7]),
        (lambda: V.repeat((2**62, 2))[2**63 + 1, 5:8], [11, 6, 7]),
        (lambda: V.repeat_each(0, 2**62)[2**62 - 1 : 2**62 + 1, 0], [0, 6]),
        (lambda: JOINED.repeat_each(0, 2**62)[2**62 - 1 : 2**62 + 1, 0], [0, 6]),
        (lambda: sel.interleave([LONG, LONG, LONG])[2**62 :: 2**62], [0, 0]),
    ],
)
def test_parts_of_what_is_longer_than_64_bits(make, expected):
    assert make().compute().tolist() == expected


def test_a_table_of_more_places_than_64_bits_is_refused_before_it_is_made():
    with pytest.raises(SizeOverflowError):
        JOINED.repeat_each(0, 2**62).gather(0, [0, 2**62, 5])


def test_a_constant_pad_of_more_positions_than_64_bits_is_refused_before_it_is_made():
    with pytest.raises(SizeOverflowError, match="positions"):
        sel.pad(LONG, [(2**62, 2**62)]).normal_form()


def test_views_that_are_nested_deeply_have_a_normal_form():
    view = V[0]
    for k in range(300):
        view = sel.pad(view, [(0, 1)], fill_value=k)
    assert view.compute().tolist()[6:] == list(range(300))
    assert sel.concat([V[0], *[[k] for k in range(3000)]]).compute().shape.extents == (3006,)
