"""The table of operators: what NumPy's protocol gives for each kind of tensor, computed beforehand.

A result is written as ``shape dtype: elements``; a refusal as the class of the error.
"""

import re
from pathlib import Path

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling, errors
from tensorwrapper import selection as sel


def names():
    """Return the operands of the table, fresh for each row."""
    x = np.arange(6.0).reshape(2, 3)
    t = tw.as_tensor(x)
    b = tw.as_tensor(np.arange(24.0).reshape(4, 6))
    h = tw.jagged([[5, 1, 7], [], [2, 9]])
    box = np.arange(9).reshape(3, 3)
    return {
        "np": np,
        "tw": tw,
        "Shape": Shape,
        "x": x,
        "t": t,
        "v": sel.as_view(t),
        "e": tw.as_tensor(np.zeros((2, 0))),
        "b": b,
        "w": b.window(Shape(4, 6)[2:4, 1:3]),
        "w2": b.window(Shape(4, 6)[0:2, 1:3]),
        "h": h,
        "g": tw.jagged([[1, 1, 1], [], [2, 2]]),
        "hv": h[::-1],
        "p": tw.as_tensor([1, 0, 2]),
        "k": tw.jagged([[[1, 2], [3]], [], [[4]]]),
        "m": tw.jagged([np.array([[1, 2], [3, 4]]), np.array([[5]])]),
        "q": tw.as_tensor(box).tiled(Tiling([1, 2], [2, 1])),
        "q2": tw.as_tensor(box).tiled(Tiling([1, 2], [1, 2])),
        "tri": tw.from_buffer(np.arange(6.0), Shape.triangular(3)),
        "trij": tw.jagged([[10.0], [20.0, 30.0], [40.0, 50.0, 60.0]]),
        "s": tw.sparse([(0, 1), (2, 3)], [5.0, 7.0], Shape(3, 4)),
        "s2": tw.sparse([(0, 1), (1, 0)], [1.0, 2.0], Shape(3, 4)),
        "sr": tw.sparse([(0, 1)], [1.0], Shape(1, 4)),
        "c": tw.strings([["a", "bc"], ["", "héllo"]]),
        "cn": tw.strings(["a", None, ""]),
        "cj": tw.strings([["a"], ["b", "a"]]),
        "i8": tw.as_tensor(np.array([1, 100], "i1")),
        "z": tw.as_tensor(3),
        "ro": t.broadcast(Shape(4, 2, 3)),
        "n": tw.from_buffer(np.arange(6), Shape.nested(Shape(2, 3), layers=(1, 1))),
        "nj": tw.from_buffer(np.arange(5), Shape.nested(h.shape, layers=(1, 1))),
    }


ROWS = [
    line.split("\t")
    for line in (Path(__file__).parent / "table.tsv").read_text(encoding="utf-8").splitlines()
]

ASSIGNMENT = re.compile(r"^[a-z0-9]+(\[.*\])? [-+*]= ")


def said(value):
    """Return a result as the table writes it."""
    if isinstance(value, tuple):
        return " and ".join(map(said, value))
    if isinstance(value, sel.View):
        return f"View {said(value.compute())}"
    if isinstance(value, tw.Tensor):
        sparse = isinstance(value.buffer, tw.buffer.Sparse)
        text = isinstance(value.buffer, tw.buffer.Strings)
        fill = f", fill {value.fill_value!s}" if sparse else ""
        shown = (value.to_dense() if sparse else value).tolist()
        dtype = "str" if text else value.dtype.name
        return f"{'sparse ' if sparse else ''}`{value.shape!r}` {dtype}{fill}: `{shown}`"
    if isinstance(value, np.ndarray):
        return f"ndarray {value.shape} {value.dtype}: `{value.tolist()}`"
    if isinstance(value, np.bool_):
        return f"bool `{value!r}`"
    return f"{type(value).__name__} `{value!r}`"


@pytest.mark.parametrize(
    ("expression", "expected"), [row[1:] for row in ROWS], ids=[f"row{row[0]}" for row in ROWS]
)
def test_row_of_the_table(expression, expected):
    space = names()
    refused = re.match(r"\*\*(\w+)\*\*", expected)
    if refused:
        builtin = {"TypeError": TypeError}
        kind = builtin.get(refused[1]) or getattr(errors, refused[1])
        with pytest.raises(kind) as caught:
            run(expression, space)
        assert type(caught.value) is kind
        return
    wanted = expected
    found = run(expression, space)
    if found is None:
        # The table tells what a target is afterwards, and what lies under it.
        for part in wanted.split("; "):
            name, _, rest = part.partition(" ")
            if rest.startswith(("is ", "`")):
                check(space[name].tolist() if rest.startswith("`") else space[name], rest.removeprefix("is "))
        return
    check(found, wanted)


def run(expression, space):
    with np.errstate(all="ignore"):
        return run_as_written(expression, space)


def run_as_written(expression, space):
    if ASSIGNMENT.match(expression):
        exec(expression, space)
        return None
    return eval(expression, space)


def check(found, wanted):
    text = f"`{found}`" if isinstance(found, list) else said(found)
    if wanted.endswith("...`"):
        assert text.startswith(wanted.removesuffix("...`"))
    else:
        assert text == wanted
