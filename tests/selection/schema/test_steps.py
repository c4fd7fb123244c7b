"""Steps from JSON: each with its arguments, or refused with the reason and the place."""

import json

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import SelectionError

X = np.arange(12).reshape(3, 4)
VIEW = sel.as_view(X)
TEXT = json.loads(sel.to_json(VIEW[1:]))
STEPS = {
    "slice": (VIEW[:, ::-2], X[:, ::-2]),
    "chip": (VIEW[2], X[2]),
    "permute": (VIEW.permute(1, 0), X.T),
    "reverse": (VIEW.reverse(0), X[::-1]),
    "gather": (VIEW.gather(1, [3, 0, 3]), X[:, [3, 0, 3]]),
    "reshape": (VIEW.reshape(2, 6), X.reshape(2, 6)),
    "pad": (VIEW.pad([(1, 0), (0, 2)], boundary="edge"), np.pad(X, [(1, 0), (0, 2)], mode="edge")),
}
REFUSED = {
    "nothing": ([], "schema", "must begin with one of"),
    "a step that there is not": (["sort", 0], "schema", "must begin with one of"),
    "a number for its name": ([1, 0], "schema", "must begin with one of"),
    "too few arguments": (["slice", 0], "schema", "slice takes"),
    "a text for a number": (["reverse", ["a"]], "schema", "must be an integer"),
    "half a width": (["pad", [[1], [0, 2]], "edge"], "schema", r"\[1\]\[0\]"),
    "widths of one mode": (["pad", [[1, 0]], "edge"], "bounds", "does not fit extents"),
}


def read(steps):
    text = json.dumps(TEXT | {"ops": steps}, sort_keys=True, separators=(",", ":"))
    return sel.from_json(text, sources={"0": X})


@pytest.mark.parametrize(("view", "expected"), STEPS.values(), ids=STEPS)
def test_a_step_is_read_as_it_was_taken(view, expected):
    found = sel.from_json(sel.to_json(view), sources=sel.sources(view))

    assert found.shape == view.shape
    assert found.compute().tolist() == expected.tolist()


@pytest.mark.parametrize(("step", "reason", "words"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_step_is_refused_with_its_place(step, reason, words):
    with pytest.raises(SelectionError, match=words) as caught:
        read([step])

    assert str(caught.value).startswith(f"[{reason}]")
    assert "ops[0]" in str(caught.value)


def test_steps_of_no_modes_change_nothing():
    """The format says that modes are reversed, or go, if they are named; all of them were."""
    column = X.reshape(12, 1)[:4]
    given = {"view": 1, "dtype": "<i8", "of": {"source": "0"}, "range": {"start": [0, 0], "end": [4, 1]}}
    for steps in ([["reverse", []]], [["squeeze", []]], [["squeeze", []], ["reverse", []]]):
        found = sel.from_json(json.dumps(given | {"ops": steps}), sources={"0": column})
        assert found.compute().tolist() == column.tolist()
    rows = tw.jagged([[1, 2], [3]])
    text = json.loads(sel.to_json(sel.as_view(rows).reverse(0)))
    found = sel.from_json(json.dumps(text | {"ops": [["reverse", []]]}), sources={"0": rows})
    assert found.tolist() == rows.tolist()
