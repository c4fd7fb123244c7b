"""Views of every kind, by name: what JSON, explanations and writes are tried on."""

import numpy as np

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel

__all__ = ["JSON_REFUSED", "VIEWS"]


def _a():
    return sel.as_view(tw.as_tensor(np.arange(6).reshape(2, 3)))


def _b():
    return tw.as_tensor(np.array([[9, 8, 7]]))


VIEWS = {
    "source": _a,
    "slice": lambda: _a()[:, ::-2],
    "slice of one": lambda: _a()[1:0:-2],
    "empty slice": lambda: _a()[1:1],
    "chip": lambda: _a()[1],
    "no modes": lambda: _a()[1, 1],
    "points": lambda: _a()[[1, 0], [2, 2]],
    "gather": lambda: _a().gather(1, [2, 0, -1]),
    "long gather": lambda: _a().gather(1, np.arange(100) ** 2 % 3),
    "permute": lambda: _a().permute((1, 0)),
    "reverse": lambda: _a().reverse(0),
    "squeeze": lambda: _a()[:1].squeeze(0),
    "unsqueeze": lambda: _a().unsqueeze(-1),
    "rotate": lambda: _a().rotate((0, 1)),
    "repeat": lambda: _a().repeat((2, 1)),
    "repeat_each": lambda: _a().repeat_each(1, 2),
    "broadcast": lambda: _a().broadcast((2, 2, 3)),
    "sliding_window": lambda: _a().sliding_window(1, 2),
    "diagonal": lambda: _a().diagonal(),
    "reshape": lambda: _a().reshape((3, 2)),
    "reshape of what turns": lambda: _a().permute((1, 0)).reshape((6,)),
    "split_mode": lambda: _a().split_mode(1, (3, 1)),
    "merge_modes": lambda: _a().merge_modes(0, 1),
    "pad": lambda: _a().pad([(0, 0), (1, 2)], boundary="reflect"),
    "window": lambda: _a().window(Shape(1, 2, origin=(1, 1))),
    "concat": lambda: sel.concat([_a(), _b()]),
    "interleave": lambda: sel.interleave([_a(), _b()]),
    "stack": lambda: sel.stack([_a()[0], _b()[0]], mode=1),
    "constant pad": lambda: sel.pad(_b(), [(1, 0), (0, 0)], fill_value=4),
    "where": lambda: sel.where(tw.as_tensor([True, False, True]), _a()[0], 0),
    "minimum": lambda: sel.minimum(_a()[0], _b()),
    "maximum": lambda: sel.maximum(_a()[0], 3),
    "cast": lambda: _a().astype("<f4"),
    "unsafe cast": lambda: _a().astype("<i2", casting="unsafe"),
    "full": lambda: sel.full((2,), 1.5, dtype="<f8"),
    "full of bools": lambda: sel.full((2,), True),
    "full of nan": lambda: sel.full((2,), float("nan"), dtype="<f4"),
    "full of infinity": lambda: sel.full((2,), -np.inf),
    "full of complex": lambda: sel.full((), 1 - 2j, dtype="<c16"),
    "full of times": lambda: sel.full((1,), np.datetime64("2020-01-01"), dtype="<M8[D]"),
    "full of no time": lambda: sel.full((1,), np.timedelta64("NaT", "s"), dtype="<m8[s]"),
    "full of strings": lambda: sel.full((1,), "x\u00e9"),
    "iota": lambda: sel.iota(Shape(2, 3, origin=(0, 5)), 1, start=2, step=-1),
    "linspace": lambda: sel.linspace(0, 1, 5),
    "eye": lambda: sel.eye(2, 3, diagonal=1, dtype="<i2"),
    "random": lambda: sel.random(Shape(2, origin=(7,)), seed=11),
    "normal": lambda: sel.normal((2,), 0, np.float32(2.5), seed=2**64 - 1, dtype="<f4"),
    "bernoulli": lambda: sel.bernoulli((3,), 0.25, seed=1),
    "random of a view": lambda: sel.uniform((2,), tw.as_tensor([1.0, 2.0]), 3, seed=5),
    "integers": lambda: sel.integers((2,), 0, 2**64, seed=5, dtype="<u8"),
    "part of what is huge": lambda: sel.random((10**6, 10**6), seed=3)[-2:, 5],
    "strings": lambda: sel.as_view(tw.strings(["a", "b"]))[::-1],
    "bytes": lambda: sel.as_view(tw.strings([b"a", b"b"]))[::-1],
    "strings joined": lambda: sel.pad(tw.strings(["a", "b"]), [(1, 0)], fill_value="-"),
    "optimized": lambda: sel.pad(_b(), [(0, 1), (0, 0)])[:1].optimize()[:, 1:],
    "one buffer twice": lambda: sel.concat([_b()[:, :2], _b()[:, 1:]], mode=1),
    "an origin": lambda: sel.concat([tw.from_buffer(np.arange(3), Shape(3, origin=(5,)))]),
    "columns first": lambda: sel.as_view(tw.as_tensor(np.arange(6).reshape(3, 2).T)).rotate((0, 1)),
    "tiles": lambda: sel.as_view(
        tw.as_tensor(np.arange(16).reshape(4, 4)).to_layout(tw.Layout.tiled(tw.Tiling([2, 2], [2, 2])))
    ),
}
"""Each makes a view, over tensors of its own."""

JSON_REFUSED = {("random of a view", "normal")}
"""What is written as steps only."""
