"""Each operation says one thing in three ways: what it makes of a layout, the way back, and JSON."""

from itertools import product

import numpy as np
import pytest

from tensorwrapper import Layout, Shape
from tensorwrapper import selection as sel
from tensorwrapper.selection.operations._operation import OPERATIONS, Operation, atoms_of, positions_before

BOX = Shape(3, 1, 4)
CALLS = {
    "__getitem__": [((slice(None, None, -2), 0, None, slice(1, 3)),), (Ellipsis,)],
    "window": [(Shape(2, 1, 3, origin=(1, 0, 1)),), (BOX,)],
    "slice": [(0, 2, -1, 3), (2, 1, 2, 2), (2, 0, 1, 4), (0, 0, 1, 0)],
    "chip": [(0, 2), (1, 0)],
    "points": [([5, 0, 11, 5],)],
    "gather": [(2, [3, 0, 0])],
    "permute": [((2, 0, 1),), ((0, 1, 2),), (2, 0, 1)],
    "reverse": [((0, 2),), (1,), ()],
    "squeeze": [((1,),), ()],
    "unsqueeze": [(0,), (3,)],
    "rotate": [((1, 0, -5),), ((3, 0, 4),)],
    "repeat": [((2, 1, 1),), ((1, 1, 1),)],
    "repeat_each": [(2, 3)],
    "broadcast": [((2, 3, 5, 4),)],
    "sliding_window": [(2, 3)],
    "diagonal": [(0, 2), ()],
    "reshape": [((6, 2),), ((3, 1, 4),)],
    "split_mode": [(2, (2, 2))],
    "merge_modes": [(0, 2)],
    "pad": [(((1, 0), (0, 0), (2, 5)), boundary) for boundary in ("edge", "wrap", "reflect", "symmetric")],
}
ROWS = [(name, arguments) for name, own in CALLS.items() for arguments in own]


@pytest.mark.parametrize(("name", "arguments"), ROWS, ids=lambda value: str(value)[:40])
def test_the_way_back_agrees_with_the_layout(name, arguments):
    layout = Layout(BOX)
    made = OPERATIONS[name].on_layout(layout, *arguments)
    indices = np.array(list(product(*map(range, made.shape.extents))), dtype=np.int64)
    indices = indices.reshape(made.shape.size, made.shape.rank)
    before = positions_before((name, arguments, BOX), indices)
    expected = made.offsets_of(indices + np.array(made.shape.origin, dtype=np.int64))
    assert layout.offsets_of(before).tolist() == expected.tolist()


@pytest.mark.parametrize(("name", "arguments"), ROWS, ids=lambda value: str(value)[:40])
def test_simple_steps_are_written_and_read_as_the_same(name, arguments):
    x = np.arange(12).reshape(3, 1, 4)
    view = sel.as_view(x)._step(name, arguments)
    read = sel.from_json(sel.to_json(view), sources=sel.sources(view))
    assert read.compute().tolist() == view.compute().tolist()
    assert sel.to_json(read) == sel.to_json(view)
    for atom in atoms_of((name, arguments, BOX)):
        assert str(atom).startswith(f"{atom.operation}(")


def test_every_operation_has_a_row():
    assert set(CALLS) == set(OPERATIONS)
    assert all(isinstance(own, Operation) and own.name == name for name, own in OPERATIONS.items())
