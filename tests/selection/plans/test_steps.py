"""The steps of a plan: what each writes, from what, and how it prints."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel

# ruff: noqa: ARG005 - the functions of the table take the same arguments

X = np.arange(24).reshape(4, 6)


def facts(view):
    return [(step.kind, step.nbytes, step.runs) for step in view.plan().steps]


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        (lambda v: v, [("copy", 192, 1)]),
        (lambda v: v[:, 1:4], [("copy", 96, 4)]),
        (lambda v: v.permute((1, 0)), [("copy", 192, 24)]),
        (lambda v: v[:1].broadcast((3, 6)), [("copy", 144, 3)]),
        (lambda v: v.rotate((0, 1)), [("take", 192, 8)]),
        (lambda v: v.gather(1, [5, 0, 3]), [("take", 96, 12)]),
        (lambda v: sel.pad(v, [(1, 0), (0, 0)], fill_value=1), [("fill", 48, 1), ("copy", 192, 1)]),
        (lambda v: sel.concat([v, v], mode=1), [("copy", 192, 4), ("copy", 192, 4)]),
        (lambda v: sel.interleave([v, v]), [("copy", 192, 4), ("copy", 192, 4)]),
        (lambda v: sel.minimum(v, 3), [("compute", 192, 1)]),
        (lambda v: v.astype("f8"), [("compute", 192, 1)]),
        (lambda v: sel.concat([v, v]).reshape((2, 24)), [("compute", 384, 1)]),
        (lambda v: sel.iota((3, 4)), [("compute", 96, 1)]),
    ],
)
def test_each_way_of_writing_has_its_word_bytes_and_runs(view, expected):
    assert facts(view(sel.as_view(tw.as_tensor(X)))) == expected


def test_a_plan_prints_its_steps():
    v = sel.pad(tw.as_tensor(np.array([1, 2, 3])), [(0, 2)], fill_value=9)
    assert str(v.plan()).splitlines() == [
        "2 steps, 2 runs: 40 bytes of Shape(5) written, 24 read",
        "  copy [0:3]: 24 bytes in 1 run, reads 24 of tensor(Shape(3), int64)",
        "  fill [3:5]: 16 bytes in 1 run",
    ]
    assert repr(v.plan()) == "<Plan of Shape(5) int64: 2 steps, 24 bytes read>"
    many = sel.concat([np.array([k]) for k in range(30)])
    assert str(many.plan()).splitlines()[-1] == "  ... 10 more"
