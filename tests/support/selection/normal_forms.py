"""Views that are written in several ways and have one normal form."""

import numpy as np

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel

T = tw.as_tensor(np.arange(60).reshape(3, 4, 5))


U = tw.as_tensor(np.arange(100, 160).reshape(3, 4, 5))


LINE = tw.as_tensor(np.arange(12))


MASK = tw.as_tensor(np.arange(60).reshape(3, 4, 5) % 3 == 0)


def t():
    return sel.as_view(T)


def u():
    return sel.as_view(U)


def line():
    return sel.as_view(LINE)


def joined():
    return sel.concat([t(), u()])


SAME = {
    "permute, permute": (
        lambda: t().permute([2, 0, 1]).permute([1, 2, 0]),
        lambda: t().permute([0, 1, 2]),
    ),
    "slice, slice": (lambda: line()[1::2][1:5:2], lambda: line()[3:10:4]),
    "slice backwards, slice": (lambda: line()[10:1:-2][1:4:2], lambda: line()[8:3:-4]),
    "reverse, reverse": (lambda: t().reverse(0, 2).reverse(2), lambda: t().reverse(0)),
    "reverse is a slice": (lambda: t().reverse(1), lambda: t()[:, ::-1]),
    "squeeze, unsqueeze": (lambda: t().unsqueeze(1).squeeze(1), t),
    "rotate, rotate": (lambda: line().rotate([5]).rotate([9]), lambda: line().rotate([2])),
    "reverse, rotate": (lambda: line().rotate([5]).reverse(), lambda: line().reverse().rotate([-5])),
    "rotate, repeat": (lambda: line().repeat([3]).rotate([5]), lambda: line().rotate([5]).repeat([3])),
    "repeat, repeat": (lambda: line().repeat([3]).repeat([2]), lambda: line().repeat([6])),
    "slice of what is rotated, no wrap": (lambda: line().rotate([2])[2:6], lambda: line()[0:4]),
    "slice of what is repeated, no wrap": (lambda: line().repeat([3])[13:20], lambda: line()[1:8]),
    "slice of a wrapped pad, inside": (
        lambda: line().pad([(3, 3)], boundary="wrap")[3:9],
        lambda: line()[0:6],
    ),
    "slice by a multiple of what each is repeated": (
        lambda: line().repeat_each(0, 3)[1::6],
        lambda: line()[0::2],
    ),
    "slice of a broadcast mode": (
        lambda: t().broadcast((7, 3, 4, 5))[2:6:2],
        lambda: t().broadcast((2, 3, 4, 5)),
    ),
    "chip of a broadcast mode": (lambda: t().broadcast((7, 3, 4, 5))[4], t),
    "broadcast, broadcast": (
        lambda: line().broadcast((4, 12)).broadcast((3, 4, 12)),
        lambda: line().broadcast((3, 4, 12)),
    ),
    "permute past broadcast": (
        lambda: t().broadcast((2, 3, 4, 5)).permute([0, 3, 1, 2]),
        lambda: t().permute([2, 0, 1]).broadcast((2, 5, 3, 4)),
    ),
    "positions of positions": (
        lambda: line().gather(0, [7, 1, 1, 4]).gather(0, [3, 0, 1]),
        lambda: line().gather(0, [4, 7, 1]),
    ),
    "positions of a slice": (lambda: line()[1::3].gather(0, [3, 0, 1]), lambda: line().gather(0, [10, 1, 4])),
    "even positions are a slice": (lambda: line().gather(0, [9, 6, 3, 0]), lambda: line()[9::-3]),
    "a mask that is even is a slice": (lambda: line()[np.arange(12) % 4 == 1], lambda: line()[1::4]),
    "slice of one part of a concat": (lambda: joined()[4:6], lambda: u()[1:3]),
    "slice across parts": (
        lambda: joined()[1:5:2],
        lambda: sel.concat([t()[1:2], u()[0:1]]),
    ),
    "slice backwards across parts": (
        lambda: joined()[4:0:-2],
        lambda: sel.concat([u()[1:2], t()[2:3]]),
    ),
    "a step on another mode of a concat": (
        lambda: joined()[:, ::-2].rotate([0, 0, 2]),
        lambda: sel.concat([t()[:, ::-2].rotate([0, 0, 2]), u()[:, ::-2].rotate([0, 0, 2])]),
    ),
    "a permuted concat": (
        lambda: joined().permute([2, 0, 1]),
        lambda: sel.concat([t().permute([2, 0, 1]), u().permute([2, 0, 1])], mode=1),
    ),
    "a step on another mode of turns": (
        lambda: sel.interleave([t(), u()])[:, 1:3].permute([1, 0, 2]),
        lambda: sel.interleave([t()[:, 1:3].permute([1, 0, 2]), u()[:, 1:3].permute([1, 0, 2])], mode=1),
    ),
    "a step on another mode of a stack": (
        lambda: sel.stack([t(), u()], mode=1)[:, :, ::2],
        lambda: sel.stack([t()[:, ::2], u()[:, ::2]], mode=1),
    ),
    "a chip of a stack": (lambda: sel.stack([t(), u()], mode=2)[:, :, 1], u),
    "concat of concats": (
        lambda: sel.concat([sel.concat([t(), u()]), t()]),
        lambda: sel.concat([t(), u(), t()]),
    ),
    "neighbouring slices": (
        lambda: sel.concat([line()[2:5], line()[5:6], line()[6:11]]),
        lambda: line()[2:11],
    ),
    "slices of one step": (lambda: sel.concat([line()[1:7:2], line()[7::2]]), lambda: line()[1::2]),
    "a mode out of its chips": (lambda: sel.stack([t()[k] for k in range(3)]), t),
    "a later mode out of its chips": (lambda: sel.stack([t()[:, :, k] for k in range(5)], mode=2), t),
    "turns of all turns": (lambda: sel.interleave([line()[0::3], line()[1::3], line()[2::3]]), line),
    "a slice of turns by a multiple": (
        lambda: sel.interleave([line()[:6], line()[6:]])[3::4],
        lambda: line()[7::2],
    ),
    "inside a constant pad": (lambda: sel.pad(line(), [(2, 3)], fill_value=7)[2:14], line),
    "across a constant pad": (
        lambda: sel.pad(line(), [(2, 3)], fill_value=7)[1:5],
        lambda: sel.concat([sel.full((1,), 7), line()[:3]]),
    ),
    "pads of one constant": (
        lambda: sel.pad(sel.pad(line(), [(1, 2)], fill_value=7), [(3, 4)], fill_value=7),
        lambda: sel.pad(line(), [(4, 6)], fill_value=7),
    ),
    "pads of one constant, two modes": (
        lambda: sel.pad(
            sel.pad(t(), [(1, 2), (0, 0), (2, 0)], fill_value=7), [(0, 1), (0, 0), (3, 0)], fill_value=7
        ),
        lambda: sel.pad(t(), [(1, 3), (0, 0), (5, 0)], fill_value=7),
    ),
    "reverse, constant pad": (
        lambda: sel.pad(line(), [(2, 3)], fill_value=7)[::-1],
        lambda: sel.pad(line()[::-1], [(3, 2)], fill_value=7)[:],
    ),
    "inside a reflected pad": (lambda: line().pad([(4, 4)], boundary="reflect")[4:10], lambda: line()[:6]),
    "a pad of positions": (
        lambda: line().gather(0, [3, 1, 7]).pad([(1, 1)], boundary="edge")[:],
        lambda: line().gather(0, [3, 3, 1, 7, 7]),
    ),
    "a slice of a choice": (
        lambda: sel.where(MASK, t(), u())[1, ::2],
        lambda: sel.where(MASK[1, ::2], t()[1, ::2], u()[1, ::2]),
    ),
    "a slice of what a choice broadcasts": (
        lambda: sel.where(MASK, t(), u()[:, :1])[:, 2],
        lambda: sel.where(MASK[:, 2], t()[:, 2], u()[:, 0]),
    ),
    "a constant mask": (lambda: sel.where(sel.full((3, 4, 5), True), t(), u()), t),
    "a constant mask, no": (lambda: sel.where(sel.full((4, 1), False), t(), u()), u),
    "equal branches": (lambda: sel.where(MASK, t(), T), t),
    "a mask that becomes constant": (
        lambda: sel.where(sel.concat([sel.full((2, 4, 5), True), MASK[:1]]), t(), u())[:2],
        lambda: t()[:2],
    ),
    "a slice of a minimum": (lambda: sel.minimum(t(), u())[1:], lambda: sel.minimum(t()[1:], u()[1:])),
    "the maximum of one view with itself": (lambda: sel.maximum(t(), T), t),
    "a slice of a cast": (lambda: t().astype("f4")[::-1, 2], lambda: t()[::-1, 2].astype("f4")),
    "a cast of pieces": (
        lambda: joined().astype("f4"),
        lambda: sel.concat([t().astype("f4"), u().astype("f4")]),
    ),
    "a cast of a constant": (lambda: sel.full((3,), 7).astype("f4"), lambda: sel.full((3,), 7, dtype="f4")),
    "a slice of a constant": (lambda: sel.full((9, 9), 7)[::2, 3], lambda: sel.full((5,), 7)),
    "constants that follow one another": (
        lambda: sel.concat([sel.full((2, 3), 7), sel.full((4, 3), 7)]),
        lambda: sel.full((6, 3), 7),
    ),
    "reshape, reshape": (lambda: t().reshape((5, 12)).reshape((20, 3)), lambda: t().reshape((20, 3))),
    "reshape inside a run of memory": (
        lambda: t()[:, :2].reshape((3, 10)),
        lambda: t().merge_modes(1, 2)[:, :10],
    ),
    "reshape across, and back": (
        lambda: t()[:, ::-1].reshape((60,)).reshape((3, 4, 5)),
        lambda: t()[:, ::-1],
    ),
    "outer slices of what is reshaped across": (
        lambda: t()[:, ::-1].reshape((3, 2, 10))[1:2],
        lambda: t()[1:2, ::-1].reshape((1, 2, 10)),
    ),
    "a window is a slice": (lambda: t().window(Shape(2, 2, 5, origin=(1, 1, 0)))[...], lambda: t()[1:, 1:3]),
    "a cast to the same type": (lambda: t().astype("i8"), t),
    "nothing is asked of what is empty": (lambda: joined()[3:3], lambda: sel.zeros((0, 4, 5), dtype="i8")),
}
